//! Operators of other languages, and words for operators.

use super::Find;
use super::view::{View, Write};
use crate::words;
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Find] = &[
    foreign_sign,
    exclamation,
    ternary,
    single_equals,
    is_not_in,
    comparison_words,
    exists_in_front,
    test_word,
    spaced_unit,
    joined_sign,
];

/// Signs and what they are written as here.
const SIGNS: &[(&str, &str)] = &[
    ("&&", "and"),
    ("||", "or"),
    ("&", "and"),
    ("<>", "!="),
    ("=<", "<="),
    ("=>", ">="),
    ("=!", "!="),
    ("??", "or"),
    ("...", ".."),
    ("=~", "matches"),
    ("~", "matches"),
];

fn foreign_sign(view: &View<'_, '_>) -> Option<Diagnostic> {
    for at in 0..view.len() {
        if at > view.failed + 1 {
            return None;
        }
        let pair = format!("{}{}", view.word(at), if view.touches(at + 1) { view.word(at + 1) } else { "" });
        let row = SIGNS
            .iter()
            .find(|(sign, _)| view.is(at, sign) || (sign.len() == 2 && pair == *sign && !view.is(at, "<=")));
        let Some((sign, right)) = row else { continue };
        let end = if view.is(at, sign) { at + 1 } else { at + 2 };
        let text = spaced(view, at, end, right);
        let shown = format!(
            "{} {right} {}",
            view.source(operand_start(view, at), at),
            view.source(end, operand_end(view, end))
        );
        let message = match *sign {
            "&&" | "&" | "||" => format!("`{sign}` is written `{right}`"),
            "??" => "there is no `??`: a field that is not there is missing, and a test on it is false".to_owned(),
            _ => format!("the sign is `{right}`, not `{sign}`"),
        };
        let diagnostic = view.wrong(at, end, message);
        return Some(if *sign == "??" {
            diagnostic.help("write `if output.a exists then output.a else 0`")
        } else {
            diagnostic.write(shown.trim().to_owned(), vec![view.edit(at, end, text)])
        });
    }
    None
}

/// The text with a space on either side where none stands.
fn spaced(view: &View<'_, '_>, from: usize, to: usize, text: &str) -> String {
    if text.starts_with('.') {
        return text.to_owned();
    }
    let left = if view.touches(from) { " " } else { "" };
    let right = if view.touches(to) { " " } else { "" };
    format!("{left}{text}{right}")
}

/// Where the comparison in front of a token begins, for a short example.
fn operand_start(view: &View<'_, '_>, at: usize) -> usize {
    const STOPS: &[&str] =
        &["(", "[", "{", ",", ":", "and", "or", "&&", "||", "then", "else", "when", "if", "not", "="];
    let mut here = at;
    while let Some(before) = here.checked_sub(1) {
        if view.is_any(before, STOPS) {
            break;
        }
        here = if view.is_any(before, &[")", "]", "}"]) { view.opening_bracket(before) } else { before };
    }
    here
}

/// Where the value behind a token ends.
fn operand_end(view: &View<'_, '_>, from: usize) -> usize {
    const STOPS: &[&str] = &[")", "]", "}", ",", ":", "and", "or", "&&", "||", "then", "else", "{"];
    let mut here = from;
    while here < view.len() && (here == from || !view.is_any(here, STOPS)) {
        here = if view.is_any(here, &["(", "[", "{"]) { view.behind_bracket(here) } else { here + 1 };
    }
    here
}

/// `!output.ok`, `! (…)`.
fn exclamation(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| view.is(at, "!"))?;
    let operand = view.source(at + 1, operand_end(view, at + 1));
    if view.is(at + 1, "in") || view.is(at + 1, "contains") || view.is(at + 1, "matches") {
        let test = view.word(at + 1);
        return Some(
            view.wrong(at, at + 1, "`!` is written `not`")
                .write(format!("not {test}"), vec![view.edit(at, at + 1, spaced(view, at, at + 1, "not"))]),
        );
    }
    if view.is_any(at.checked_sub(1).map_or(view.len(), |before| before), &["never", "require", "only"]) {
        return Some(
            view.wrong(at, at + 1, "`!` means nothing in front of a step")
                .help("what must not occur is said with `never`"),
        );
    }
    Some(view.wrong(at, at + 1, "`!` is written `not`").write(
        format!("not {operand}"),
        vec![view.edit(at, at + 1, if view.touches(at + 1) { "not " } else { "not" })],
    ))
}

/// `a ? b : c`.
fn ternary(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| view.is(at, "?") && !view.touches(at))?;
    let colon = (at + 1..view.len()).find(|&here| view.is(here, ":"))?;
    let start = operand_start(view, at);
    let end = operand_end(view, colon + 1);
    let text = format!(
        "if {} then {} else {}",
        view.source(start, at),
        view.source(at + 1, colon),
        view.source(colon + 1, end)
    );
    let edits = vec![view.insert(start, "if "), view.edit(at, at + 1, "then"), view.edit(colon, colon + 1, "else")];
    Some(view.wrong(at, at + 1, "a choice between two values is written `if … then … else …`").write(text, edits))
}

/// `output.status = "ok"`.
fn single_equals(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len())
        .find(|&at| view.is(at, "=") || view.is(at, ":") && view.is(at + 1, "=") && view.touches(at + 1))?;
    if words::DECLARATIONS.contains(&view.word(0)) && view.is_outer(at) || at > view.failed + 1 {
        return None;
    }
    let end = at + 1 + usize::from(view.is(at, ":"));
    let (start, stop) = (operand_start(view, at), operand_end(view, end));
    let shown = format!("{} == {}", view.source(start, at), view.source(end, stop));
    let mut diagnostic = view
        .wrong(at, end, "a comparison is written `==`")
        .write(shown.clone(), vec![view.edit(at, end, spaced(view, at, end, "=="))]);
    if view.is_word(0) && at == 1 {
        diagnostic.help =
            Some(format!("write `{shown}`; to give a value a name write `let {}`", view.source(0, view.len())));
    }
    Some(diagnostic)
}

/// `x is not in [1]`, `x is in [1]`, `x is contained in`, `x not is in`.
fn is_not_in(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| view.is_any(at, &["is", "are", "was"]))?;
    let not = usize::from(view.is(at + 1, "not"));
    let test = at + 1 + not;
    let right = match view.word(test) {
        "in" => "in",
        "one" | "among" | "within" | "between" | "contained" | "part" | "any" => "in",
        "matching" => "matches",
        "containing" => "contains",
        _ => return None,
    };
    let mut end = test + 1;
    while view.is_any(end, &["of", "in"]) {
        end += 1;
    }
    let right = if not == 1 { format!("not {right}") } else { right.to_owned() };
    let start = operand_start(view, at);
    let text = format!("{} {right} {}", view.source(start, at), view.source(end, operand_end(view, end)));
    Some(view.wrong(at, end, format!("this test is written `{right}`")).write(text, vec![view.edit(at, end, right)]))
}

/// `x equals 3`, `x is greater than 3`, `x is equal to 3`, `x less than 3`.
fn comparison_words(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| comparison(view, at).is_some())?;
    if at > view.failed + 1 {
        return None;
    }
    let (end, sign) = comparison(view, at)?;
    let start = operand_start(view, at);
    let text = format!("{} {sign} {}", view.source(start, at), view.source(end, operand_end(view, end)));
    Some(
        view.wrong(at, end, format!("this comparison is written `{sign}`")).write(text, vec![view.edit(at, end, sign)]),
    )
}

/// A comparison in words from a token on: the token behind it and its sign.
fn comparison(view: &View<'_, '_>, at: usize) -> Option<(usize, &'static str)> {
    let mut here = at + usize::from(view.is_any(at, &["is", "was", "be"]));
    let negated = view.is(here, "not");
    here += usize::from(negated);
    let (length, sign, opposite) = match view.word(here) {
        "equals" | "eq" => (1, "==", "!="),
        "equal" => (1, "==", "!="),
        "same" if view.is(here + 1, "as") => (1, "==", "!="),
        "greater" | "more" | "larger" | "bigger" | "higher" | "over" | "above" | "exceeds" => (1, ">", "<="),
        "less" | "fewer" | "smaller" | "lower" | "under" | "below" => (1, "<", ">="),
        "at" if view.is(here + 1, "least") => (2, ">=", "<"),
        "at" if view.is(here + 1, "most") => (2, "<=", ">"),
        "gt" => (1, ">", "<="),
        "lt" => (1, "<", ">="),
        "gte" | "ge" => (1, ">=", "<"),
        "lte" | "le" => (1, "<=", ">"),
        "ne" | "neq" => (1, "!=", "=="),
        // `is "ok"`: a value where a type belongs.
        _ if here > at && (view.is_text(here) || view.is_number(here)) => (0, "==", "!="),
        _ => return None,
    };
    here += length;
    let mut sign = if negated { opposite } else { sign };
    here += usize::from(view.is_any(here, &["than", "to", "as"]));
    if view.is(here, "or") && view.is_any(here + 1, &["equal", "equals"]) {
        here += 2 + usize::from(view.is(here + 2, "to"));
        sign = match sign {
            ">" => ">=",
            "<" => "<=",
            other => other,
        };
    }
    let value = view.is_number(here) || view.is_text(here) || view.is_word(here) || view.is_any(here, &["(", "[", "-"]);
    if value && view.ends_operand(at.checked_sub(1)?) { Some((here, sign)) } else { None }
}

/// `exists output.a`, `not exists output.a`.
fn exists_in_front(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| {
        view.is_any(at, &["exists", "missing", "empty"])
            && (view.is_word(at + 1) || view.is(at + 1, "("))
            && !words::is_joining(view.word(at + 1))
    })?;
    let fresh = at == 0 || view.is_any(at - 1, &["not", "and", "or", "(", ":", "when", "if", "where"]);
    let modifier = words::MODIFIERS.contains(&view.word(at + 1)) && !view.is(at + 2, ".");
    if !fresh || modifier {
        return None;
    }
    let not = usize::from(at > 0 && view.is(at - 1, "not"));
    let end = operand_end(view, at + 1);
    let value = view.source(at + 1, end);
    let test = match (view.word(at), not) {
        ("exists", 0) => "exists",
        ("exists", _) => "not exists",
        ("missing", 0) => "is missing",
        ("missing", _) => "is not missing",
        (_, 0) => "is empty",
        _ => "is not empty",
    };
    let text = format!("{value} {test}");
    let edit = view.edit(at - not, end, text.clone());
    Some(view.wrong(at - not, at + 1, format!("`{test}` stands behind its value")).write(text, vec![edit]))
}

/// Near misses of the words of tests: `contain`, `startswith`, `match`, `includes`.
const TESTS: &[(&str, &str)] = &[
    ("contain", "contains"),
    ("includes", "contains"),
    ("include", "contains"),
    ("has", "contains"),
    ("have", "contains"),
    ("containing", "contains"),
    ("match", "matches"),
    ("like", "matches"),
    ("matching", "matches"),
    ("startswith", "starts with"),
    ("starts_with", "starts with"),
    ("startsWith", "starts with"),
    ("begins", "starts"),
    ("endswith", "ends with"),
    ("ends_with", "ends with"),
    ("endsWith", "ends with"),
    ("exist", "exists"),
    ("exits", "exists"),
    ("isempty", "is empty"),
    ("is_empty", "is empty"),
    ("contians", "contains"),
    ("contans", "contains"),
    ("mathces", "matches"),
    ("macthes", "matches"),
    ("notin", "not in"),
    ("isnt", "is not"),
    ("ilike", "icontains"),
    ("imply", "implies"),
    ("xor", "!="),
    ("AND", "and"),
    ("OR", "or"),
    ("NOT", "not"),
    ("IN", "in"),
];

/// True for a word of [`TESTS`].
pub(super) fn is_other(word: &str) -> bool {
    TESTS.iter().any(|(other, _)| *other == word)
}

fn test_word(view: &View<'_, '_>) -> Option<Diagnostic> {
    let last = (view.failed + 1).min(view.len());
    let at = (1..last).rev().find(|&at| {
        view.is_word(at) && view.ends_operand(at - 1) && TESTS.iter().any(|(other, _)| view.is(at, other))
    })?;
    if view.is(at - 1, ".") || view.is(at + 1, ".") {
        return None;
    }
    let (_, right) = TESTS.iter().find(|(other, _)| view.is(at, other))?;
    let negated = usize::from(at > 1 && view.is_any(at - 1, &["not", "doesnt"]));
    let start = operand_start(view, at - negated);
    let end = operand_end(view, at + 1);
    let (mut value, mut edits) = (view.source(at + 1, end), vec![view.edit(at, at + 1, *right)]);
    if *right == "matches" && view.is_text(at + 1) {
        value = format!("/{}/", view.word(at + 1).trim_matches(['"', '\'']).replace('/', "\\/"));
        edits.push(view.edit(at + 1, at + 2, value.clone()));
    }
    let text = format!("{} {right} {value}", view.source(start, at));
    Some(
        view.wrong(at, at + 1, format!("this is written `{right}`, not `{}`", view.word(at)))
            .write(text.trim().to_owned(), edits),
    )
}

/// `2 minutes`, `95 %`: a unit touches its number.
fn spaced_unit(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| {
        let unit = view.is_word(at) && crate::number::meant_unit(view.word(at)).is_some();
        view.is_number(at - 1) && !view.touches(at) && (unit || view.is(at, "%") && at + 1 == view.len())
    })?;
    let number = view.word(at - 1);
    if !number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_')) {
        return None;
    }
    let unit = crate::number::meant_unit(view.word(at)).unwrap_or("%");
    let text = format!("{number}{unit}");
    Some(view.wrong(at, at + 1, "a unit touches its number").write(text.clone(), vec![view.edit(at - 1, at + 1, text)]))
}

/// `output.text /x/`: read as a division without an end.
fn joined_sign(view: &View<'_, '_>) -> Option<Diagnostic> {
    let last = view.len().checked_sub(1)?;
    let open = (1..last).find(|&at| view.is(at, "/") && !view.touches(at))?;
    if !view.is(last, "/") || !view.touches(last) {
        return None;
    }
    let text = format!("{} matches {}", view.source(0, open), view.source(open, view.len()));
    Some(
        view.wrong(open, open + 1, "a regular expression follows `matches`")
            .write(text, vec![view.insert(open, "matches ")]),
    )
}
