//! Methods and functions of other languages: `output.includes("x")`, `len(x)`, `expect(x).toBe(1)`.

use super::table::meant;
use super::view::{StatementView, strip_quotes};
use std::ops::Range;

/// `o.includes("x")`, and `o.indexOf("x") >= 0`.
pub(super) fn method_call(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    for at in 1..view.len() {
        if !(view.token_is(at, ".")
            && view.touches_previous(at)
            && view.is_word(at + 1)
            && view.token_is(at + 2, "(")
            && view.touches_previous(at + 2))
        {
            continue;
        }
        let start = object_start(view, at);
        let close = view.behind_bracket(at + 2);
        let (object, argument) = (view.source_text(start, at), view.source_text(at + 3, close.saturating_sub(1)));
        if start == at || close <= at + 3 && argument.is_empty() && view.token_is(close, "(") {
            continue;
        }
        let name = view.token_text(at + 1);
        if name == "indexOf" || name == "find" && view.is_text(at + 3) {
            let (end, negated) = found_comparison(view, close)?;
            let not = if negated { "not " } else { "" };
            return Some((view.token_range(start, end), format!("{object} {not}contains {argument}")));
        }
        if name == "test" && object.starts_with('/') {
            return Some((view.token_range(start, close), format!("{argument} matches {object}")));
        }
        if name == "join" && view.is_text(start) {
            return Some((view.token_range(start, close), format!("join({argument}, {object})")));
        }
        if name == "count" && view.token_is(start, "calls") && view.is_text(at + 3) {
            let tool = strip_quotes(&argument).to_owned();
            return Some((view.token_range(start, close), format!("count {tool}")));
        }
        let Some(template) = meant("METHOD", name) else { continue };
        if template.contains("2}") == argument.is_empty() {
            continue;
        }
        return Some((view.token_range(start, close), fill_arguments(template, &[object, argument])));
    }
    None
}

fn to_regex(text: &str) -> String {
    let bare = text.trim_start_matches('r');
    let quoted = bare.len() >= 2 && bare.starts_with(['"', '\'']) && bare.ends_with(['"', '\'']);
    match bare.get(1..bare.len().saturating_sub(1)).filter(|_| quoted) {
        Some(inner) => format!("/{}/", inner.replace('/', "\\/")),
        None => text.to_owned(),
    }
}

/// After `indexOf(…)`: the comparison that says whether something was found.
fn found_comparison(view: &StatementView<'_, '_>, at: usize) -> Option<(usize, bool)> {
    let minus = view.token_is(at + 1, "-") && view.token_is(at + 2, "1");
    let negative = minus || view.token_is(at + 1, "-1");
    let end = at + 2 + usize::from(minus);
    match (view.token_text(at), negative, view.token_text(at + 1)) {
        (">=", false, "0") => Some((end, false)),
        ("!=" | "!==" | ">", true, _) => Some((end, false)),
        ("==" | "===", true, _) | ("<", false, "0") => Some((end, true)),
        _ => None,
    }
}

fn object_start(view: &StatementView<'_, '_>, dot: usize) -> usize {
    let mut start = dot;
    while start > 0 && view.touches_previous(start) {
        let before = start - 1;
        let bracket = view.is_any(before, &[")", "]"]);
        let joins = bracket
            || view.token_is(before, ".")
            || view.is_word(before)
            || view.is_number(before)
            || view.is_text(before);
        let regex = view.token_text(before).starts_with('/') && view.token_text(before).len() > 1;
        if !joins && !regex {
            break;
        }
        start = if bracket { view.opening_bracket(before) } else { before };
    }
    start
}

/// `output.items.length`.
pub(super) fn length_property(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let at = (1..view.len()).find(|&at| {
        view.token_is(at, ".")
            && view.touches_previous(at)
            && view.is_any(at + 1, &["length", "size", "len"])
            && !view.is_any(at + 2, &["(", ".", "["])
            && view.is_any(at + 2, &["<", "<=", ">", ">=", "==", "!=", "===", "in", ")"])
    })?;
    let start = object_start(view, at);
    (start < at).then(|| (view.token_range(start, at + 2), format!("length({})", view.source_text(start, at))))
}

/// `len(x)`, `re.search(r"x", y)`, `isinstance(x, str)`, `new Set(x).size`.
pub(super) fn function_call(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    for open in 1..view.len() {
        if !view.token_is(open, "(") || !view.touches_previous(open) || !view.is_word(open - 1) {
            continue;
        }
        let dotted = open > 2
            && view.token_is(open - 2, ".")
            && view.touches_previous(open - 1)
            && view.touches_previous(open - 2);
        let start = if dotted { open - 3 } else { open - 1 };
        if start > 0 && view.touches_previous(start) && view.token_is(start - 1, ".") {
            continue;
        }
        let name = view.source_text(start, open);
        let arguments = call_arguments(view, open);
        let before = if start > 0 { view.token_text(start - 1) } else { "" };
        let step = before != "not" && crate::words::STATEMENTS.contains(&before);
        // `count refund(…)` is a step.
        if step || name == "count" && !view.is_any(open + 1, crate::words::ROOTS) {
            continue;
        }
        let Some(template) = argument_template("FUNCTION", &name, arguments.len()) else { continue };
        let (template, end) = found_or_not(view, view.behind_bracket(open), template);
        return Some((view.token_range(start, end), fill_arguments(&template, &arguments)));
    }
    None
}

/// A match that is compared with nothing (`re.search(…) is None`) is a test that holds or does not.
fn found_or_not(view: &StatementView<'_, '_>, end: usize, template: &str) -> (String, usize) {
    const NOTHING: [&str; 4] = ["None", "null", "nil", "undefined"];
    let (sign, is_negated) = match view.token_text(end) {
        "is" if view.token_is(end + 1, "not") => (2, false),
        "is" | "==" | "===" => (1, true),
        "!=" | "!==" => (1, false),
        _ => return (template.to_owned(), end),
    };
    if !template.contains(" matches ") || !view.is_any(end + sign, &NOTHING) {
        return (template.to_owned(), end);
    }
    let test = if is_negated { " not matches " } else { " matches " };
    (template.replace(" matches ", test), end + sign + 1)
}

/// The template of a function that takes so many arguments.
fn argument_template(table: &str, name: &str, count: usize) -> Option<&'static str> {
    meant(table, name).filter(|template| count == if template.contains("2}") { 2 } else { 1 })
}

fn fill_arguments(template: &str, arguments: &[String]) -> String {
    let mut text = template.to_owned();
    if let ("{1}[{2}]", [object, key]) = (template, arguments) {
        // A field with a plain name needs no brackets.
        let bare = strip_quotes(key);
        if crate::words::is_label(bare) && !bare.contains(['-', '.']) && bare.len() + 2 == key.len() {
            return format!("{object}.{bare}");
        }
    }
    for (number, argument) in (1..).zip(arguments) {
        text = text.replace(&format!("{{{number}}}"), argument);
        text = text.replace(&format!("{{r{number}}}"), &to_regex(argument));
        text = text.replace(&format!("{{t{number}}}"), type_word(argument));
    }
    text
}

fn call_arguments(view: &StatementView<'_, '_>, open: usize) -> Vec<String> {
    let end = view.behind_bracket(open).saturating_sub(1);
    let (mut found, mut from) = (Vec::new(), open + 1);
    while from < end {
        let to = view.balanced_end(from, &[",", ")"]).min(end);
        found.push(view.source_text(from, to));
        from = to + 1;
    }
    found
}

/// `expect(x).not.toBe(1)`, `expect(x).to.equal(1)`.
pub(super) fn expect_call(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    if !view.token_is(0, "expect") || !view.token_is(1, "(") {
        return None;
    }
    let mut at = view.behind_bracket(1);
    let object = view.source_text(2, at - 1);
    let mut not = false;
    while view.token_is(at, ".") && view.is_word(at + 1) && !view.token_is(at + 2, "(") {
        not ^= view.token_is(at + 1, "not");
        at += 2;
    }
    let template = meant("MATCHER", view.token_text(at + 1)).filter(|_| view.token_is(at, "."))?;
    let end = view.behind_bracket(at + 2);
    let argument = view.source_text(at + 3, end - 1);
    let text = fill_arguments(template, &[object, argument]);
    let text = match text.strip_prefix("require ") {
        Some(step) if not => format!("never {step}"),
        _ if not => format!("not {text}"),
        _ => text,
    };
    Some((view.token_range(0, end), text))
}

/// `assertEqual(x, 1)`, `assert(x)`, with or without `self.`.
pub(super) fn assert_call(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let first = if view.tokens_are(0, &["self", "."]) { 2 } else { 0 };
    let open = (first + 1..view.len().min(first + 5)).find(|&at| view.token_is(at, "("))?;
    let name = view.source_text(first, open).to_ascii_lowercase().replace('_', "");
    let arguments = call_arguments(view, open);
    let template = argument_template("ASSERTION", &name, arguments.len())?;
    Some((view.token_range(0, view.behind_bracket(open)), fill_arguments(template, &arguments)))
}

/// What a type of another language is called here.
pub(super) fn type_word(name: &str) -> &'static str {
    meant("TYPE", strip_quotes(name)).unwrap_or("object")
}
