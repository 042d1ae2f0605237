//! Mistakes in expressions: quantifiers, lists, operands that are missing, two statements on one line.

use super::Find;
use super::declarations::enclosing;
use super::view::{View, Write};
use crate::diagnostic::Diagnostic;
use crate::syntax::token::Kind;
use crate::syntax::words;

pub(super) const TABLE: &[Find] = &[
    quantifier_without_in,
    quantifier_without_colon,
    quantifier_in_call,
    condition_without_else,
    list_in_parentheses,
    named_argument,
    numbered_field,
    half_number,
    bare_dollar,
    missing_field,
    missing_comma,
    semicolon_in_list,
    empty_entry,
    missing_operand,
    not_behind_test,
    two_operands,
];

const QUANTIFIERS: &[&str] = &["any", "all", "no", "count"];

/// `all x of output.items: …`.
fn quantifier_without_in(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| {
        let joint = view.is_any(at + 2, &["of", "from", "at", "on", "among", "=", "within", "inside", "<-"]);
        view.is_any(at, QUANTIFIERS) && view.is_word(at + 1) && joint && (3..view.len()).any(|here| view.is(here, ":"))
    })?;
    let text = format!("{} {} in {}", view.word(at), view.word(at + 1), view.source(at + 3, view.len()));
    Some(
        view.wrong(at + 2, at + 3, "a quantifier names its values with `in`")
            .write(text, vec![view.edit(at + 2, at + 3, "in")]),
    )
}

/// `all x in output.items x.price > 0`, `all x in output.items, x.price > 0`.
fn quantifier_without_colon(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at =
        (0..view.len()).find(|&at| view.is_any(at, QUANTIFIERS) && view.is_word(at + 1) && view.is(at + 2, "in"))?;
    let depth_end = view.len();
    if (at + 3..depth_end).any(|here| view.is(here, ":") && view.is_outer(here) == view.is_outer(at)) {
        return None;
    }
    let quantifier = view.word(at);
    let mut end = at + 3;
    while end < view.len() && (end == at + 3 || view.touches(end)) && !view.is_any(end, &[",", ":", ")", "]", "}"]) {
        end = if view.is_any(end, &["(", "["]) { view.behind_bracket(end) } else { end + 1 };
    }
    let (head, variable) = (view.source(at, end), view.word(at + 1));
    let message = format!("`{quantifier} {variable} in …` needs `:` and a condition");
    let skip = usize::from(
        view.is_any(end, &[",", "=>", "->", "|", "where", "with", "if", "satisfies", "have", "has", "such"]),
    );
    let skip = skip + usize::from(view.is(end, "such") && view.is(end + 1, "that"));
    let condition = view.source(end + skip, view.len());
    if condition.is_empty() || view.is_any(end, &[")", "]", "}"]) {
        return Some(view.wrong_behind(end, message).help(format!("write `{head}: {variable}.ok == true`")));
    }
    let edit = if skip == 0 {
        view.append(end - 1, ":")
    } else {
        view.edit(end - 1, end + skip, format!("{}:", view.word(end - 1)))
    };
    Some(view.wrong(end, end + 1, message).write(format!("{head}: {condition}"), vec![edit]))
}

/// `any(x in xs: c)`, `all(x.ok for x in xs)`.
fn quantifier_in_call(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| {
        let open = view.is(at + 1, "(") && view.touches(at + 1);
        view.is_any(at, QUANTIFIERS)
            && open
            && (at + 2..view.behind_bracket(at + 1)).any(|here| view.is_any(here, &["in", "=>", "->"]))
    })?;
    let end = view.behind_bracket(at + 1);
    let quantifier = view.word(at);
    let help = if view.is_word(at + 2) && view.is(at + 3, "in") {
        let inner = view.source(at + 2, end.saturating_sub(1));
        format!("write `({quantifier} {inner})`")
    } else {
        format!("write `({quantifier} x in output.items: x.ok == true)`")
    };
    Some(
        view.wrong(at + 1, at + 2, format!("`{quantifier}` is no function: the parentheses stand around all of it"))
            .help(help),
    )
}

/// `let x = if a then b`.
fn condition_without_else(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).rev().find(|&at| view.is(at, "if") && !view.is(at - 1, "."))?;
    let then = (at + 1..view.len()).find(|&here| view.is(here, "then"));
    let Some(then) = then else {
        let colon = (at + 1..view.len()).find(|&here| view.is_any(here, &[":", "{", "?"]));
        let place = colon.unwrap_or(view.len());
        let diagnostic = if colon.is_some() {
            view.wrong(place, place + 1, "`then` is missing")
        } else {
            view.missing_at_end("`then` is missing")
        };
        return Some(diagnostic.help("write `if c then a else b`"));
    };
    let other =
        (then + 1..view.len()).find(|&here| view.is_any(here, &["else", "otherwise", "elif", "elsif", "elseif"]));
    match other {
        None => {
            let text = format!("{} else …", view.source(at, view.len()));
            Some(
                view.missing_at_end("`else` is missing: a value has to be given for both cases")
                    .help(format!("write `{text}`")),
            )
        }
        Some(other) if !view.is(other, "else") => {
            let right = if view.is(other, "otherwise") { "else" } else { "else if" };
            Some(
                view.wrong(other, other + 1, format!("this is written `{right}`"))
                    .write(right, vec![view.edit(other, other + 1, right)]),
            )
        }
        Some(_) => None,
    }
}

/// `x in (1, 2)`, `x in {1, 2}`.
fn list_in_parentheses(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| {
        let open =
            view.is_any(at, &["(", "{"]) && !(view.touches(at) && view.is_word(at - 1) && !view.is(at - 1, "in"));
        let placed = view.is_any(at - 1, &["in", "==", "!=", ":", "=", "any", "all", "none", "(", ","]);
        open && placed && comma_inside(view, at)
    })?;
    let end = view.behind_bracket(at);
    let inner = view.source(at + 1, end.saturating_sub(1));
    let edits = vec![view.edit(at, at + 1, "["), view.edit(end.saturating_sub(1), end, "]")];
    Some(view.wrong(at, at + 1, "a list is written in brackets").write(format!("[{inner}]"), edits))
}

fn comma_inside(view: &View<'_, '_>, open: usize) -> bool {
    let end = view.behind_bracket(open);
    let mut depth = 0_usize;
    let mut comma = false;
    for here in open..end {
        match view.word(here) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            ":" | "->" | "|" if depth == 1 => return false,
            "," if depth == 1 => comma = true,
            _ => {}
        }
    }
    comma
}

/// `f(a: 1)` in an expression.
fn named_argument(view: &View<'_, '_>) -> Option<Diagnostic> {
    if words::STATEMENTS.contains(&view.word(0)) && view.is_word(1) {
        return None;
    }
    let colon = (3..view.len()).find(|&at| {
        let open = at - 2;
        view.is(at, ":") && view.is_word(at - 1) && view.is(open, "(") && view.touches(open) && view.is_word(open - 1)
    })?;
    let open = colon - 2;
    let function = view.word(open - 1);
    let inner = view.source(open, view.behind_bracket(open));
    Some(
        view.wrong(colon, colon + 1, format!("the arguments of the function `{function}` have no names"))
            .help(format!("leave the name out; a tool call with arguments is a step: `require {function}{inner}`")),
    )
}

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

/// Two values side by side in brackets.
fn missing_comma(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    let begins = matches!(view.kind(at), Kind::Text | Kind::Number | Kind::Binding | Kind::Regex | Kind::Word)
        || view.is_any(at, &["{", "[", "("]);
    if at == 0
        || at >= view.len()
        || view.is_outer(at)
        || !begins
        || words::is_joining(view.word(at))
        || !view.ends_operand(at - 1)
    {
        return None;
    }
    let open = enclosing(view, at)?;
    let what = match view.word(open) {
        "[" => "elements of a list",
        "{" => "entries of an object",
        _ if open > 0 && view.touches(open) => "entries in parentheses",
        _ => return None,
    };
    // A word behind a word is more likely a mistake in a word.
    if view.is_word(at) && view.is_word(at - 1) && !view.is_any(at + 1, &[":", ","]) {
        return None;
    }
    let text = format!("{}, {}", view.word(at - 1), view.word(at));
    Some(
        view.wrong(at, at + 1, format!("a comma is missing between two {what}"))
            .write(text, vec![view.append(at - 1, ",")]),
    )
}

/// `[1; 2]`, `f(a; b)`.
fn semicolon_in_list(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| view.is(at, ";") && !view.is_outer(at))?;
    Some(
        view.wrong(at, at + 1, "inside brackets commas separate, not semicolons")
            .write(",", vec![view.edit(at, at + 1, ",")]),
    )
}

/// `[1,, 2]`, `f(, a)`.
fn empty_entry(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    if !view.is(at, ",") || at == 0 || !view.is_any(at - 1, &[",", "(", "[", "{"]) {
        return None;
    }
    Some(
        view.wrong(at, at + 1, format!("something is missing between `{}` and `,`", view.word(at - 1)))
            .help("remove the comma, or write the entry in front of it"),
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
