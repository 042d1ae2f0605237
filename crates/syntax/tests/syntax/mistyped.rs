//! Tests of misspelled keywords: the first diagnostic names the intended word.

use averment_base::diagnostic::{Diagnostic, Fix};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_fixtures as fixtures;
use averment_syntax as syntax;
use std::collections::BTreeMap;

/// Returns the first diagnostic of the parser for a text.
fn first_said(text: &str) -> Option<Diagnostic> {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("rules.assert", None, text));
    let (_, _, diagnostics) = syntax::parse(&map, file, &Limits::default());
    diagnostics.0.into_iter().next()
}

/// Applies the edits of a fix.
fn fixed(text: &str, fix: &Fix) -> String {
    let mut edits: Vec<_> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.span.as_range(), &edit.text);
    }
    text
}

/// Returns true if a message has the word in backticks, alone or with others.
fn names(said: &str, word: &str) -> bool {
    let mut quoted = said.split('`').skip(1).step_by(2);
    quoted
        .any(|text| text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').any(|one| one == word))
}

/// Returns the keywords of the grammar file with at least three letters.
fn keywords() -> Vec<String> {
    let path = averment_fixtures::root().join("crates/syntax/grammar/assert.pest");
    let pest = std::fs::read_to_string(path).unwrap();
    let own = pest.lines().filter_map(|line| Some(line.strip_prefix("k_")?.split(' ').next()?.to_owned()));
    let kinds = ["read", "write", "skill", "user", "assistant", "thinking", "span", "exactly"].map(str::to_owned);
    own.chain(kinds).filter(|word| word.len() >= 3).collect()
}

/// Returns a word with one typo: a letter dropped, two swapped, one doubled.
fn slips(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut found = Vec::new();
    for at in 0..letters.len() {
        let mut dropped = letters.clone();
        dropped.remove(at);
        found.push(dropped);
        let mut doubled = letters.clone();
        doubled.insert(at, letters[at]);
        found.push(doubled);
        if at + 1 < letters.len() && letters[at] != letters[at + 1] {
            let mut swapped = letters.clone();
            swapped.swap(at, at + 1);
            found.push(swapped);
        }
    }
    let mut found: Vec<String> = found.into_iter().map(String::from_iter).collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the words of a line that are not in a text, a regular expression or a comment, with their offsets.
fn words(line: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut quote, mut start, mut before) = (None, None, ' ');
    for (at, letter) in line.char_indices().chain([(line.len(), ' ')]) {
        if let Some(open) = quote {
            quote = (letter != open || before == '\\').then_some(open);
            before = letter;
            continue;
        }
        if letter.is_ascii_alphanumeric() || letter == '_' {
            start = start.or(Some(at));
        } else if let Some(start) = start.take() {
            let touching = line[..start].ends_with(['.', '-', '*', '$', '/', '?'])
                || matches!(letter, '*' | '-' | '?' | '/' | ':' | '.');
            if !touching {
                found.push((start, &line[start..at]));
            }
        }
        if letter == '#' {
            break;
        }
        if letter == '"' || letter == '\'' || letter == '/' {
            quote = Some(letter);
        }
        before = letter;
    }
    found
}

#[test]
fn a_mistyped_keyword_is_named_by_the_first_thing_that_is_said() {
    let keywords = keywords();
    let mut seen = std::collections::BTreeSet::new();
    let (mut tried, mut named, mut silent) = (0_u32, 0_u32, 0_u32);
    let mut missed: BTreeMap<String, u32> = BTreeMap::new();
    let mut examples = Vec::new();
    let mut quiet = Vec::new();
    let (mut fixes, mut broken, mut others) = (0_usize, Vec::new(), Vec::new());
    // Testing every typo of every word takes a minute, so only a part is tested by default.
    let every = if std::env::var("AVERMENT_ALL_SLIPS").is_ok() { 1 } else { 9 };
    let mut turn = 0_usize;
    for path in fixtures::rule_files_below(&fixtures::project("tests/conformance/language/good")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut base = 0;
        for line in text.split_inclusive('\n') {
            for (at, word) in words(line.trim_end_matches('\n')) {
                if !keywords.iter().any(|keyword| keyword == word) || !seen.insert((line.trim().to_owned(), at)) {
                    continue;
                }
                for slip in slips(word).into_iter().skip(turn % every).step_by(every) {
                    turn += 1;
                    if keywords.contains(&slip) {
                        continue;
                    }
                    let changed = format!("{}{slip}{}", &text[..base + at], &text[base + at + word.len()..]);
                    let Some(said) = first_said(&changed) else {
                        silent += 1;
                        quiet.push(format!("quiet {slip}: {}", line.trim()));
                        continue;
                    };
                    tried += 1;
                    if let Some(fix) = &said.fix {
                        fixes += 1;
                        let mended = fixed(&changed, fix);
                        if let Some(again) = first_said(&mended) {
                            broken.push(format!("{slip}: {} => {}, then {}", line.trim(), fix.title, again.message));
                        }
                        if mended != text {
                            others.push(format!("other {slip}: {} => {}", line.trim(), fix.title));
                        }
                    }
                    let said = format!("{} ({})", said.message, said.help.as_deref().unwrap_or(""));
                    if names(&said, word) {
                        named += 1;
                    } else {
                        *missed.entry(word.to_owned()).or_default() += 1;
                        examples.push(format!("{slip}: {} => {said}", line.trim()));
                    }
                }
            }
            base += line.len();
        }
    }
    println!("{named} of {tried} mistyped keywords are named ({silent} are names that can be read)");
    println!("{} of {fixes} fixes bring back what was meant", fixes - others.len());
    if std::env::var("AVERMENT_SHOW_MISSED").is_ok() {
        println!("{missed:?}");
        for example in examples.iter().chain(&others).chain(&quiet) {
            println!("{example}");
        }
    }
    assert!(broken.is_empty(), "fixes that cannot be read:\n{}", broken.join("\n"));
    assert!(others.len() * 100 <= fixes, "fixes that say something else:\n{}", others.join("\n"));
    assert!(named * 100 >= tried * 99, "{named} of {tried}");
}
