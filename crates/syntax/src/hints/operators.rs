//! Operators of other languages, and words for operators.

use super::hint::{Hint, ask, not};
use super::view::{View, Write};
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Hint] = &[
    ask("output.a && output.b", foreign_sign),
    not("output.a ! in [1]", "..( < '!' > w:in|contains|matches").says("`!` is written `not`").write("not {w}"),
    not("never !refund", "..( never|require|only < '!' >")
        .says("`!` means nothing in front of a step")
        .help("what must not occur is said with `never`"),
    not("!output.ok", "..( < '!' > a:E?").says("`!` is written `not`").write("not {a}"),
    ask("output.a == (output.b ? 1 : 2)", ternary),
    not("status = \"ok\"", "!DECLARATION n:W < :? = > ...")
        .says("a comparison is written `==`")
        .write("{left} == {right}")
        .swap("==")
        .help("write `{left} == {right}`; to give a value a name write `let {n} = {...}`"),
    not("output.status := \"ok\"", "..( < @comparing @near : @touching = >")
        .says("a comparison is written `==`")
        .write("{left} == {right}")
        .swap("=="),
    not("output.status = \"ok\"", "..( < @comparing @near = >")
        .says("a comparison is written `==`")
        .write("{left} == {right}")
        .swap("=="),
    not("output.a is not one of [1]", "X ..( < is|are|was not? MEMBER of|in* >")
        .says("this test is written `{wrong|membership}`")
        .write("{left} {wrong|membership} {right}")
        .swap("{wrong|membership}"),
    ask("output.a equals 3", comparison_words),
    not("exists output.a", "..( @fronted < w[ not? exists|missing|empty ] > &W|'(' v:E")
        .says("`{w|behind}` stands behind its value")
        .write("{v} {w|behind}"),
    ask("output.a includes \"x\"", test_word),
    not("turns < 2 minutes", "..( n:PLAIN < @apart @counting u:UNIT >").says("a count has no unit").write("{n}"),
    not("duration < 2 minutes", "..( n:PLAIN < @apart u:UNIT >").says("a unit touches its number").write("{n}{u|unit}"),
    not("output.a > 95 %", "..( n:PLAIN < @apart % > @end").says("a unit touches its number").write("{n}%"),
    not("output.text /x/", "a:..( b[ < @apart / > ..( @touching / ] @end")
        .says("a regular expression follows `matches`")
        .write("{a} matches {b}"),
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

/// A sign of another language.
pub(super) fn foreign_sign(view: &View<'_, '_>) -> Option<Diagnostic> {
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
        let shown =
            format!("{} {right} {}", view.source(view.operand_start(at), at), view.source(end, view.operand_end(end)));
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

/// `a ? b : c`.
fn ternary(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| view.is(at, "?") && !view.touches(at))?;
    let colon = (at + 1..view.len()).find(|&here| view.is(here, ":"))?;
    let start = view.operand_start(at);
    let end = view.operand_end(colon + 1);
    let text = format!(
        "if {} then {} else {}",
        view.source(start, at),
        view.source(at + 1, colon),
        view.source(colon + 1, end)
    );
    let edits = vec![view.insert(start, "if "), view.edit(at, at + 1, "then"), view.edit(colon, colon + 1, "else")];
    Some(view.wrong(at, at + 1, "a choice between two values is written `if … then … else …`").write(text, edits))
}

/// `x equals 3`, `x is greater than 3`, `x is equal to 3`, `x less than 3`.
fn comparison_words(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| comparison(view, at).is_some())?;
    if at > view.failed + 1 {
        return None;
    }
    let (end, sign) = comparison(view, at)?;
    let start = view.operand_start(at);
    let text = format!("{} {sign} {}", view.source(start, at), view.source(end, view.operand_end(end)));
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
    let start = view.operand_start(at - negated);
    let end = view.operand_end(at + 1);
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
