//! Mistakes in expressions: quantifiers, lists, operands that are missing, two statements on one line.

use super::Find;
use super::view::{View, Write};
use crate::token::Kind;
use crate::words;
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Find] =
    &[numbered_field, half_number, bare_dollar, missing_field, missing_operand, not_behind_test, two_operands];

/// `output.items.0`.
fn numbered_field(view: &View<'_, '_>) -> Option<Diagnostic> {
    if words::STATEMENTS.contains(&view.word(0)) && view.is_word(1) && view.failed > view.behind_step(1) {
        return None;
    }
    let dot = (1..view.len()).find(|&at| {
        let path = view.is(at, ".") && view.touches(at) && view.ends_operand(at - 1) && !view.is_number(at - 1);
        path && view.is_number(at + 1) && view.touches(at + 1)
    })?;
    let (path, index) = (view.word(dot - 1), view.word(dot + 1));
    Some(
        view.wrong(dot, dot + 2, "an element of a list is taken with brackets")
            .write(format!("{path}[{index}]"), vec![view.edit(dot, dot + 2, format!("[{index}]"))]),
    )
}

/// `.5`, `5.`, `+5`.
fn half_number(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    if view.is(at, ".") && view.is_number(at + 1) && view.touches(at + 1) {
        let text = format!("0.{}", view.word(at + 1));
        return Some(view.wrong(at, at + 2, "a number begins with a digit").write(text, vec![view.insert(at, "0")]));
    }
    if view.is(at, ".") && at > 0 && view.is_number(at - 1) {
        let text = format!("{}.0", view.word(at - 1));
        return Some(
            view.wrong(at, at + 1, "a digit is missing behind the point").write(text, vec![view.append(at, "0")]),
        );
    }
    if view.is(at, "+") && view.is_number(at + 1) {
        return Some(
            view.wrong(at, at + 1, "a number has no `+` in front of it")
                .write(view.word(at + 1), vec![view.edit(at, at + 1, "")]),
        );
    }
    None
}

/// `$`, `${x}` outside of a string.
fn bare_dollar(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| view.is(at, "$"))?;
    if view.is(at + 1, "{") {
        let end = view.behind_bracket(at + 1);
        let inner = view.source(at + 2, end.saturating_sub(1));
        let edits = vec![view.edit(at, end, inner.clone())];
        return Some(
            view.wrong(at, at + 1, "`${…}` puts a value into a string; outside of one the value stands alone")
                .write(inner, edits),
        );
    }
    Some(
        view.wrong(at, at + 1, "`$` begins a binding or an amount")
            .help("write `$id` for a binding, `$0.05` for an amount, `\"…\"` for a JSONPath"),
    )
}

/// `output.`, `output..status`, `output.0`.
fn missing_field(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    let dot = if view.is(at, ".") { at } else { at.checked_sub(1)? };
    if !view.is(dot, ".") || dot == 0 {
        return None;
    }
    let path = view.source(dot.saturating_sub(1), dot);
    if view.is_text(dot + 1) {
        let key = view.word(dot + 1);
        return Some(
            view.wrong(dot, dot + 2, "a quoted field is taken with brackets")
                .write(format!("{path}[{key}]"), vec![view.edit(dot, dot + 2, format!("[{key}]"))]),
        );
    }
    if view.is(dot + 1, "[") || view.is(dot + 1, "*") {
        return Some(
            view.wrong(dot, dot + 1, "no `.` stands in front of brackets")
                .write(format!("{path}["), vec![view.edit(dot, dot + 1, "")]),
        );
    }
    Some(
        view.wrong(dot, dot + 1, "the name of a field is missing behind `.`")
            .help("write `output.status`, or `output[\"any key\"]`"),
    )
}

const INFIX: &[&str] = &[
    "==",
    "!=",
    "===",
    "!==",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "and",
    "or",
    "implies",
    "in",
    "contains",
    "icontains",
    "matches",
    "with",
    "|",
    "not",
    "=",
    ":",
];

/// `output.a ==`, `a and`, `(1 + )`, `a == == b`, `and b`.
fn missing_operand(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    let before = at.checked_sub(1).filter(|&before| view.is_any(before, INFIX))?;
    let operator = view.word(before);
    let example = match operator {
        "matches" => "a regular expression such as `/^ok$/`",
        "in" => "a list `[1, 2]` or a range `1..3`",
        "with" | "contains" | "icontains" => "a text such as `\"ok\"`",
        "and" | "or" | "implies" | "not" => "a condition",
        "|" => "a function such as `lower()`, or a step",
        _ => "a value",
    };
    let message = format!(
        "{} is missing behind `{operator}`",
        example.split(" such").next().unwrap_or("a value").split(" `").next().unwrap_or("a value")
    );
    let help = format!("write {example} behind `{operator}`");
    if at >= view.len() {
        return Some(view.missing_at_end(message).help(help));
    }
    let closes = view.is_any(at, &[")", "]", "}", ","]) || view.is_any(at, INFIX) && !view.is(at, "not");
    if !closes {
        return None;
    }
    if view.is_any(at, &["==", "=", ">", "<"]) && view.is_any(before, &["=", "<", ">", "!=", "=="]) {
        return Some(
            view.wrong(before, at + 1, format!("`{}` is no operator", view.source(before, at + 1)))
                .help("the comparisons are == != < <= > >= in contains matches"),
        );
    }
    Some(view.wrong(at, at + 1, message).help(help))
}

/// `a == not b`, `a + not b`.
fn not_behind_test(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    if !view.is(at, "not") || at == 0 {
        return None;
    }
    let end = (at + 1..view.len())
        .find(|&here| view.is_any(here, &["and", "or", ")", ",", "]", "}", "{", "implies"]))
        .unwrap_or(view.len());
    let inner = view.source(at, end);
    let edits = vec![view.insert(at, "("), view.append(end - 1, ")")];
    Some(
        view.wrong(at, at + 1, format!("`not` behind `{}` needs parentheses", view.word(at - 1)))
            .write(format!("({inner})"), edits),
    )
}

/// Two complete things side by side.
fn two_operands(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    let begins = matches!(view.kind(at), Kind::Text | Kind::Number | Kind::Binding | Kind::Regex | Kind::Word);
    if at == 0
        || at >= view.len()
        || !view.is_outer(at)
        || !begins
        || !view.ends_operand(at - 1)
        || words::is_joining(view.word(at))
    {
        return None;
    }
    let (left, right) = (view.source(0, at), view.source(at, view.len()));
    let word = view.word(at);
    let statement = words::STATEMENTS.contains(&word) || words::DECLARATIONS.contains(&word);
    if statement && view.len() > at + 1 && !view.touches(at) {
        let edits = vec![view.append(at - 1, ";")];
        return Some(
            view.wrong(at, at + 1, format!("a second statement begins with `{word}`"))
                .write(format!("{left}; {right}"), edits),
        )
        .map(|mut diagnostic| {
            diagnostic.help = Some(format!("write `{left}` and `{right}` on two lines, or put `;` between them"));
            diagnostic
        });
    }
    if view.touches(at) && view.is_text(at) && view.is_word(at - 1) {
        let prefix = view.word(at - 1);
        return Some(
            view.wrong(at - 1, at, format!("strings have no prefix `{prefix}`"))
                .write(view.word(at), vec![view.edit(at - 1, at, "")]),
        )
        .map(|mut diagnostic| {
            diagnostic.help = Some("`\"…${value}…\"` puts a value into a string, `'…'` is a raw string".to_owned());
            diagnostic
        });
    }
    const OPERATORS: &[&str] =
        &[".", "==", "!=", "<", ">", "<=", ">=", "in", "contains", "matches", "is", "exists", "("];
    if view.is_word(at) && view.is_any(at + 1, OPERATORS) {
        if at == 1 && view.is_word(0) {
            let text = format!("{left}({})", view.word(at));
            return Some(view.wrong(at, at + 1, format!("`{word}` follows `{left}` without an operator")).help(
                format!("a function takes its argument in parentheses: `{text}`; two conditions are joined with `and`"),
            ));
        }
        return Some(
            view.wrong(at, at + 1, format!("a second condition begins with `{word}`"))
                .help(format!("join them with `and` or `or`, or write `{left}` and `{right}` on two lines"))
                .fix("join them with `and`", view.span(at).at_start(), "and "),
        );
    }
    let operator = match view.kind(at) {
        Kind::Regex => "matches",
        Kind::Text | Kind::Number | Kind::Binding => "==",
        _ => return None,
    };
    let stop = (at..view.len()).find(|&here| view.is_any(here, &["and", "or"])).unwrap_or(view.len());
    let text = format!("{left} {operator} {}", view.source(at, stop));
    Some(
        view.wrong(at, at + 1, format!("`{word}` follows without an operator"))
            .help(format!("write an operator in front of it, for example `{text}`")),
    )
}
