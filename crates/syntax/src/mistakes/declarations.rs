//! Mistakes in declarations: names, quotes, signs that are missing, bodies.

use super::Find;
use super::view::{View, Write};
use crate::words;
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Find] = &[text_for_a_name, quoted_name, name_missing, name_of_two_words, test_declaration];

/// `suite nightly {`, `test approval expect …`: the name is a text.
fn text_for_a_name(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if !matches!(word, "suite" | "test")
        || !view.is_word(1)
        || view.is_any(1, &["expect", "expects"]) && !view.is(2, "expect")
    {
        return None;
    }
    let end = view.find_any(1, &["{", "expect"]).unwrap_or_else(|| view.behind_name(1)).max(2);
    let name = view.source(1, end);
    let edits = vec![view.insert(1, "\""), view.append(end - 1, "\"")];
    let text = if word == "suite" {
        format!("suite \"{name}\" {{ … }}")
    } else {
        format!("test \"{name}\" {}", view.source(end, view.len()))
    };
    Some(view.wrong(1, end, format!("the name of a {word} is text")).write(text, edits))
}

/// `rule "approval" {`, `case "x" {`: the name is bare.
fn quoted_name(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if !matches!(word, "rule" | "case" | "invariant" | "runner" | "workspace") || !view.is_text(1) {
        return None;
    }
    let inner = view.word(1).trim_matches(['"', '\'']);
    let name = label_of(inner);
    let sentence = matches!(word, "rule" | "invariant") && inner.contains(' ') && !view.is_text(2);
    let instead = if sentence { format!("{name} {}", view.word(1)) } else { name };
    let text = format!("{word} {instead} {{ … }}");
    Some(
        view.wrong(1, 2, format!("the name of a {word} stands without quotes"))
            .write(text, vec![view.edit(1, 2, instead)]),
    )
}

/// A name made of any text.
fn label_of(text: &str) -> String {
    let mut name = String::new();
    for part in text
        .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '-'))
        .filter(|part| !part.is_empty())
    {
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(&part.to_ascii_lowercase());
    }
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well { name } else { format!("the-{name}") }
}

/// `rule {`.
fn name_missing(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    let needs = matches!(word, "rule" | "case" | "invariant" | "suite" | "runner" | "workspace");
    if !needs || !view.is(1, "{") {
        return None;
    }
    let name = match word {
        "suite" => "\"nightly\"",
        "workspace" => "isolated",
        "runner" => "codex",
        _ => "approval",
    };
    Some(view.wrong(1, 2, format!("a name is missing behind `{word}`")).help(format!("write `{word} {name} {{ … }}`")))
}

/// `rule my rule {`, `rule 2nd {`.
fn name_of_two_words(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if !matches!(word, "rule" | "case" | "invariant") {
        return None;
    }
    let end = view.find_any(1, &["{", ":"]).unwrap_or(view.len());
    let colon = view.is(end, ":");
    let one = view.behind_name(1);
    if view.is_number(1) {
        let name = view.source(1, one);
        let text = format!("{word} the-{name} {{ … }}");
        return Some(
            view.wrong(1, 2, format!("the name of a {word} starts with a letter"))
                .write(text, vec![view.insert(1, "the-")]),
        );
    }
    if colon && end == one {
        let text = format!("{word} {} {{ … }}", view.source(1, end));
        return Some(
            view.wrong(end, end + 1, format!("the body of a {word} stands in braces, not behind a colon"))
                .help(format!("write `{text}`")),
        );
    }
    if word == "case" && view.is_text(one) {
        let text = format!("prompt {}", view.word(one));
        return Some(
            view.wrong(one, one + 1, "a case has no sentence behind its name")
                .help(format!("remove it, or write `{text}` in the body of the case"))
                .fix("remove it", view.span(one), ""),
        );
    }
    let sentence = view.is_text(one);
    if sentence || one >= end || words::MODIFIERS.contains(&view.word(one)) || !view.is_word(one) {
        return None;
    }
    let name = label_of(&view.source(1, end));
    Some(
        view.wrong(one, end, format!("the name of a {word} is one word"))
            .write(format!("{word} {name} {{ … }}"), vec![view.edit(1, end, name.clone())]),
    )
}

/// `test "x" fail { … }`, `test "x" { … }`, `test "x" expect { … }`, a test without a run.
fn test_declaration(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "test") || !view.is_text(1) {
        return None;
    }
    let (name, run) = (view.word(1), view.find_any(2, &["{", "from"]).unwrap_or(view.len()));
    if !view.is(2, "expect") {
        let skip = usize::from(view.is_any(2, &["expects", "should", "must", "->", ":", "is"]));
        let verdict = words::meant_verdict(view.word(2 + skip)).unwrap_or("fail");
        let known = words::meant_verdict(view.word(2 + skip)).is_some();
        let edit = match (skip, known) {
            (0, true) => view.insert(2, "expect "),
            (0, false) => view.append(1, format!(" expect {verdict}")),
            (_, true) => view.edit(2, 3, "expect"),
            _ => view.edit(2, 3, format!("expect {verdict}")),
        };
        let message = "`expect` and a verdict are missing behind the name of the test";
        let diagnostic = if view.len() > 2 { view.wrong(2, 3, message) } else { view.missing_at_end(message) };
        return Some(diagnostic.write(format!("test {name} expect {verdict} {{ … }}"), vec![edit]));
    }
    if view.is_any(3, &["{", "from"]) {
        return Some(
            view.wrong(3, 4, "a verdict is missing behind `expect`")
                .write(format!("test {name} expect fail {{ … }}"), vec![view.append(2, " fail")]),
        );
    }
    if run >= view.len() {
        let message = "a test needs a run: in braces, or `from` a file";
        return Some(
            view.missing_at_end(message)
                .help(format!("write `{} {{ calls: [{{ tool: \"refund\" }}] }}`", view.source(0, view.len()))),
        );
    }
    test_rules(view, run)
}

/// Names of rules without commas, in quotes, in parentheses; a path without quotes.
fn test_rules(view: &View<'_, '_>, run: usize) -> Option<Diagnostic> {
    if view.is(run, "from") && !view.is_text(run + 1) && run + 1 < view.len() {
        let path = view.source(run + 1, view.len());
        let edits = vec![view.insert(run + 1, "\""), view.append(view.len() - 1, "\"")];
        return Some(
            view.wrong(run + 1, view.len(), "the path of a file stands in quotes")
                .write(format!("from \"{path}\""), edits),
        );
    }
    let quoted = (4..run).find(|&at| view.is_text(at));
    if let Some(at) = quoted {
        let name = label_of(view.word(at).trim_matches(['"', '\'']));
        return Some(
            view.wrong(at, at + 1, "the names of rules stand without quotes")
                .write(name.clone(), vec![view.edit(at, at + 1, name)]),
        );
    }
    let mut end = view.behind_name(4);
    while view.is(end, ",") {
        end = view.behind_name(end + 1);
    }
    if view.is_any(4, &["on", "for", "of", "in", "rule", "rules"]) && run > 5 {
        let names = view.source(5, run);
        return Some(view.wrong(4, 5, "the names of rules follow the verdict").write(names, vec![view.edit(4, 5, "")]));
    }
    if end >= run || view.len() <= 4 || run <= 4 {
        return None;
    }
    let filler = usize::from(view.is_any(end, &["and", "for", "or", "in"]));
    let text = format!("{}, {}", view.source(4, end), view.source(end + filler, run));
    let edit = if filler == 1 { view.edit(end, end + 1, ",") } else { view.append(end - 1, ",") };
    Some(view.wrong(end, end + 1, "the names of rules are joined with commas").write(text, vec![edit]))
}
