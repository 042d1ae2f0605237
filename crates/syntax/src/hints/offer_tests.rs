//! Tests that help texts are sound: code offered in a message parses, and contains no name that the author did not write.
//!
//! They cover the examples of all rows, every mistake recorded in the repository, the invalid files of its tests, and example rules in which one word
//! or sign is removed, doubled, swapped with the next or quoted.

use super::row::{HintRow, RowScope};
use super::tests::said;
use super::{intended_statement, rows, words_of_the_language};
use crate::grammar;
use crate::recover::can_be_read;
use crate::token::{TokenKind, scan_tokens};
use averment_base::limits::Limits;
use averment_fixtures as fixtures;
use std::collections::BTreeSet;

/// Only one of this many mutations of the example rules is tested.
const EVERY: usize = 97;

/// Returns the texts in backticks that a help tells the author to write; a text after `such as` is only an illustration.
fn offers(help: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut left = help;
    while let Some((before, rest)) = left.split_once('`') {
        let Some((code, behind)) = code_before(rest) else { break };
        let shown = ["such as ", "as in ", "for example ", "as ", "is missing before "]
            .iter()
            .any(|word| before.ends_with(word));
        if !shown && code.contains(' ') {
            found.push(code);
        }
        left = behind;
    }
    found
}

/// Returns the code at the start of a text, up to its backtick, and the rest. A backtick inside of quotes belongs to the code.
fn code_before(text: &str) -> Option<(&str, &str)> {
    let ends = || text.match_indices('`').map(|(at, _)| at);
    let is_outside = |at: &usize| text[..*at].matches('"').count().is_multiple_of(2);
    let first = ends().next()?;
    let end = if text[..first].contains(' ') { ends().find(is_outside).unwrap_or(first) } else { first };
    Some((&text[..end], &text[end + 1..]))
}

/// Returns the words of a text in lowercase, without joining signs.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
    words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect()
}

/// True for a word in capitals, which is a placeholder.
fn is_placeholder(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns a name in the code that neither the author wrote nor the language has.
fn invented(code: &str, written: &str) -> Option<String> {
    let known = words(written);
    let squeezed: String = known.iter().cloned().collect::<Vec<_>>().concat();
    let numbered = written.bytes().any(|byte| byte.is_ascii_digit())
        || ["once", "twice", "one", "two", "three", "four", "five", "thrice"].iter().any(|word| known.contains(*word));
    let limits = Limits::default();
    let scan = scan_tokens(code, limits.rule_depth, limits.rule_tokens);
    for token in &scan.tokens {
        let text = code.get(token.start..token.end)?;
        let bare = text.trim_start_matches('$');
        let foreign = match token.kind {
            TokenKind::Word | TokenKind::Binding => {
                let told = is_placeholder(bare)
                    || words_of_the_language(bare)
                    || known.contains(&bare.to_ascii_lowercase())
                    || bare == "amount" && written.contains('$');
                !told && !bare.split(['-', '_']).all(|part| squeezed.contains(&part.to_ascii_lowercase()))
            }
            TokenKind::Text => {
                !words(text).iter().all(|word| squeezed.contains(word.as_str()) || words_of_the_language(word))
            }
            // Numbers with a fixed meaning: exit code 0, a duplicate, and at least one step.
            TokenKind::Number => {
                let is_once = code.contains("more than 1 times") && known.contains("duplicate");
                let is_any = code.starts_with("when count ") && code.contains(" > 0 {");
                !numbered && !is_once && !is_any && !code.contains("exits 0")
            }
            _ => false,
        };
        if foreign {
            return Some(text.to_owned());
        }
    }
    None
}

fn complaints(text: &str, wrong: &mut BTreeSet<String>) {
    let told = said(text);
    for one in &told {
        let Some(help) = one.help.as_deref() else { continue };
        for code in offers(help) {
            let place = one.span.as_range();
            if can_be_read(code) && invented(code, text).is_none() {
                continue;
            }
            let placed = text.get(..place.start).zip(text.get(place.end..));
            let placed = placed.is_some_and(|(before, behind)| {
                let whole = format!("{before}{code}{behind}");
                said(&whole).len() < told.len()
            });
            if !can_be_read(code) && !placed && !code.ends_with('…') {
                wrong.insert(format!("{text:?}: `{code}` cannot be read ({})", one.message));
            }
            if let Some(name) = invented(code, text) {
                wrong.insert(format!("{text:?}: `{code}` names {name}"));
            }
        }
    }
}

fn recorded() -> Vec<String> {
    let mut texts: Vec<String> = rows().iter().flat_map(HintRow::example_texts).collect();
    for file in ["tests/data/newcomers.txt", "tests/data/newcomers_second.txt"] {
        let text = std::fs::read_to_string(fixtures::project(file)).unwrap_or_default();
        let rows = text.lines().filter_map(|line| line.rsplit_once(" => "));
        texts.extend(rows.map(|(written, _)| written.replace("\\n", "\n")));
    }
    let mistakes = fixtures::lines(&fixtures::project("tests/data/mistakes.jsonl"));
    texts.extend(mistakes.into_iter().filter_map(|entry| Some(entry.get("written")?.as_str()?.to_owned())));
    for folder in ["tests/golden", "tests/conformance/language"] {
        let files = fixtures::rule_files_below(&fixtures::project(folder));
        texts.extend(files.iter().filter_map(|path| std::fs::read_to_string(path).ok()));
    }
    texts
}

/// Returns lines of the examples with one mistake each.
fn mutated() -> Vec<String> {
    let mut lines = BTreeSet::new();
    for path in fixtures::rule_files_below(&fixtures::project("examples")) {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        lines.extend(text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.ends_with('{')));
    }
    let mut texts = Vec::new();
    let mut turn = 0_usize;
    for line in lines.iter().filter(|line| line.len() < 100 && !line.starts_with('#')) {
        let parts: Vec<&str> = line.split(' ').collect();
        for at in 0..parts.len() {
            let quoted = format!("\"{}\"", parts[at].trim_matches(['"', '\'']));
            let mut changes = vec![parts.clone(), parts.clone(), parts.clone(), parts.clone()];
            changes[0].remove(at);
            changes[1].insert(at, parts[at]);
            changes[2].swap(at, (at + 1).min(parts.len() - 1));
            changes[3][at] = &quoted;
            for change in changes {
                turn += 1;
                if turn.is_multiple_of(EVERY) {
                    texts.push(change.join(" "));
                }
            }
        }
    }
    texts
}

#[test]
fn no_help_leads_astray() {
    let mut wrong = BTreeSet::new();
    let texts = recorded();
    assert!(texts.len() > 1_000, "{}", texts.len());
    for text in texts.iter().chain(&mutated()) {
        complaints(text, &mut wrong);
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "{} offers lead astray:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_certain_is_read() {
    let examples = rows().iter().filter(|row| row.scope != RowScope::Hints).flat_map(HintRow::example_texts);
    let wrong: Vec<String> = examples
        .filter(|example| {
            let meant = intended_statement(example);
            meant.is_some_and(|meant| grammar::parse_rule(grammar::Rule::file, &meant.text, 2_000).is_err())
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
