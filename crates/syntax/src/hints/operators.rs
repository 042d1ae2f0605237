//! Operators of other languages, and words for operators.

use super::hint::{Hint, function_hint, pattern_hint};
use super::view::{StatementView, SuggestText};
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Hint] = &[
    function_hint("output.a && output.b", foreign_sign),
    pattern_hint("output.a ! in [1]", "..( < '!' > w:in|contains|matches")
        .with_message("`!` is written `not`")
        .with_rewrite("not {w}"),
    pattern_hint("never !refund", "..( never|require|only < '!' >")
        .with_message("`!` means nothing in front of a step")
        .with_help("what must not occur is said with `never`"),
    pattern_hint("!refund", "< '!' > a:TOOL @end")
        .with_message("`!` is written `not`, and a tool that must not be called is said with `never`")
        .with_help("write `not {a}` for a value, or `never {a}` for a tool"),
    pattern_hint("!output.ok", "..( < '!' > a:E?").with_message("`!` is written `not`").with_rewrite("not {a}"),
    function_hint("output.a == (output.b ? 1 : 2)", ternary_operator),
    pattern_hint("status = \"ok\"", "!DECLARATION n:W < :? = > ...")
        .with_message("a comparison is written `==`")
        .with_rewrite("{left} == {right}")
        .with_swap("==")
        .with_help("write `{left} == {right}`; to give a value a name write `let {n} = {...}`"),
    pattern_hint("output.status := \"ok\"", "..( < @comparing @near : @touching = >")
        .with_message("a comparison is written `==`")
        .with_rewrite("{left} == {right}")
        .with_swap("=="),
    pattern_hint("output.status = \"ok\"", "..( < @comparing @near = >")
        .with_message("a comparison is written `==`")
        .with_rewrite("{left} == {right}")
        .with_swap("=="),
    pattern_hint("output.a is not one of [1]", "X ..( < is|are|was not? MEMBER of|in* >")
        .with_message("this test is written `{wrong|membership}`")
        .with_rewrite("{left} {wrong|membership} {right}")
        .with_swap("{wrong|membership}"),
    function_hint("output.a equals 3", comparison_words),
    pattern_hint("exists output.a", "..( @fronted < w[ not? exists|missing|empty ] > &W|'(' v:E")
        .with_message("`{w|behind}` stands behind its value")
        .with_rewrite("{v} {w|behind}"),
    function_hint("output.a includes \"x\"", test_word),
    pattern_hint("turns < 2 minutes", "..( n:PLAIN < @apart @counting u:UNIT >")
        .with_message("a count has no unit")
        .with_rewrite("{n}"),
    pattern_hint("duration < 2 minutes", "..( n:PLAIN < @apart u:UNIT >")
        .with_message("a unit touches its number")
        .with_rewrite("{n}{u|unit}"),
    pattern_hint("output.a > 95 %", "..( n:PLAIN < @apart % > @end")
        .with_message("a unit touches its number")
        .with_rewrite("{n}%"),
    pattern_hint("output.text /x/", "a:..( b[ < @apart / > ..( @touching / ] @end")
        .with_message("a regular expression follows `matches`")
        .with_rewrite("{a} matches {b}"),
];

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

pub(super) fn foreign_sign(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    for at in 0..view.len() {
        if at > view.failed + 1 {
            return None;
        }
        let pair = format!(
            "{}{}",
            view.token_text(at),
            if view.touches_previous(at + 1) { view.token_text(at + 1) } else { "" }
        );
        let row = SIGNS.iter().find(|(sign, _)| {
            view.token_is(at, sign) || (sign.len() == 2 && pair == *sign && !view.token_is(at, "<="))
        });
        let Some((sign, right)) = row else { continue };
        let end = if view.token_is(at, sign) { at + 1 } else { at + 2 };
        let text = space_sign(view, at, end, right);
        let shown = format!(
            "{} {right} {}",
            view.source_text(view.operand_start(at), at),
            view.source_text(end, view.operand_end(end))
        );
        let message = match *sign {
            "&&" | "&" | "||" => format!("`{sign}` is written `{right}`"),
            "??" => "there is no `??`: a field that is not there is missing, and a test on it is false".to_owned(),
            _ => format!("the sign is `{right}`, not `{sign}`"),
        };
        let diagnostic = view.syntax_error(at, end, message);
        return Some(if *sign == "??" {
            diagnostic.with_help("write `if … exists then … else …`")
        } else {
            diagnostic.suggest_text(shown.trim().to_owned(), vec![view.replace_tokens(at, end, text)])
        });
    }
    None
}

fn space_sign(view: &StatementView<'_, '_>, from: usize, to: usize, text: &str) -> String {
    if text.starts_with('.') {
        return text.to_owned();
    }
    let left = if view.touches_previous(from) { " " } else { "" };
    let right = if view.touches_previous(to) { " " } else { "" };
    format!("{left}{text}{right}")
}

/// `a ? b : c`.
fn ternary_operator(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| view.token_is(at, "?") && !view.touches_previous(at))?;
    let colon = (at + 1..view.len()).find(|&here| view.token_is(here, ":"))?;
    let start = view.operand_start(at);
    let end = view.operand_end(colon + 1);
    let text = format!(
        "if {} then {} else {}",
        view.source_text(start, at),
        view.source_text(at + 1, colon),
        view.source_text(colon + 1, end)
    );
    let edits = vec![
        view.insert_before(start, "if "),
        view.replace_tokens(at, at + 1, "then"),
        view.replace_tokens(colon, colon + 1, "else"),
    ];
    Some(
        view.syntax_error(at, at + 1, "a choice between two values is written `if … then … else …`")
            .suggest_text(text, edits),
    )
}

/// `x equals 3`, `x is greater than 3`, `x is equal to 3`, `x less than 3`.
fn comparison_words(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| worded_comparison(view, at).is_some())?;
    if at > view.failed + 1 {
        return None;
    }
    let (end, sign) = worded_comparison(view, at)?;
    let start = view.operand_start(at);
    let text = format!("{} {sign} {}", view.source_text(start, at), view.source_text(end, view.operand_end(end)));
    Some(
        view.syntax_error(at, end, format!("this comparison is written `{sign}`"))
            .suggest_text(text, vec![view.replace_tokens(at, end, sign)]),
    )
}

fn worded_comparison(view: &StatementView<'_, '_>, at: usize) -> Option<(usize, &'static str)> {
    let mut here = at + usize::from(view.is_any(at, &["is", "was", "be"]));
    let negated = view.token_is(here, "not");
    here += usize::from(negated);
    let (length, sign, opposite) = match view.token_text(here) {
        "equals" | "eq" => (1, "==", "!="),
        "equal" => (1, "==", "!="),
        "same" if view.token_is(here + 1, "as") => (1, "==", "!="),
        "greater" | "more" | "larger" | "bigger" | "higher" | "over" | "above" | "exceeds" => (1, ">", "<="),
        "less" | "fewer" | "smaller" | "lower" | "under" | "below" => (1, "<", ">="),
        "at" if view.token_is(here + 1, "least") => (2, ">=", "<"),
        "at" if view.token_is(here + 1, "most") => (2, "<=", ">"),
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
    if view.token_is(here, "or") && view.is_any(here + 1, &["equal", "equals"]) {
        here += 2 + usize::from(view.token_is(here + 2, "to"));
        sign = match sign {
            ">" => ">=",
            "<" => "<=",
            other => other,
        };
    }
    let value = view.is_number(here) || view.is_text(here) || view.is_word(here) || view.is_any(here, &["(", "[", "-"]);
    if value && view.ends_operand(at.checked_sub(1)?) { Some((here, sign)) } else { None }
}

/// Near misses of test words: `contain`, `startswith`, `match`.
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

pub(super) fn is_other(word: &str) -> bool {
    TESTS.iter().any(|(other, _)| *other == word)
}

/// What `like "%x%"` of SQL asks; `None` where signs of it stand inside of the text.
fn like_test(text: &str) -> Option<(&'static str, String)> {
    let test = match (text.starts_with('%'), text.ends_with('%')) {
        (true, true) => "contains",
        (false, true) => "starts with",
        (true, false) => "ends with",
        (false, false) => "contains",
    };
    let part = text.trim_matches('%');
    (!part.is_empty() && !part.contains(['%', '_'])).then(|| (test, format!("\"{part}\"")))
}

fn test_word(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let last = (view.failed + 1).min(view.len());
    let at = (1..last).rev().find(|&at| {
        view.is_word(at) && view.ends_operand(at - 1) && TESTS.iter().any(|(other, _)| view.token_is(at, other))
    })?;
    if view.token_is(at - 1, ".") || view.token_is(at + 1, ".") {
        return None;
    }
    let (_, right) = TESTS.iter().find(|(other, _)| view.token_is(at, other))?;
    let negated = usize::from(at > 1 && view.is_any(at - 1, &["not", "doesnt"]));
    let start = view.operand_start(at - negated);
    let end = view.operand_end(at + 1);
    let (mut value, mut edits) = (view.source_text(at + 1, end), vec![view.replace_tokens(at, at + 1, *right)]);
    if *right == "matches" && view.is_text(at + 1) {
        value = format!("/{}/", view.token_text(at + 1).trim_matches(['"', '\'']).replace('/', "\\/"));
        edits.push(view.replace_tokens(at + 1, at + 2, value.clone()));
    }
    let mut right = *right;
    if view.token_is(at, "like") && view.is_text(at + 1) {
        (right, value) = like_test(view.token_text(at + 1).trim_matches(['"', '\'']))?;
        edits = vec![view.replace_tokens(at, at + 2, format!("{right} {value}"))];
    }
    let text = format!("{} {right} {value}", view.source_text(start, at));
    Some(
        view.syntax_error(at, at + 1, format!("this is written `{right}`, not `{}`", view.token_text(at)))
            .suggest_text(text.trim().to_owned(), edits),
    )
}
