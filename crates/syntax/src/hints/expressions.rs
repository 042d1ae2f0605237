//! Hints for mistakes in expressions: quantifiers, lists, operands that are missing, two statements on one line.

use super::hint::{Hint, function_hint, pattern_hint};
use super::view::StatementView;
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Hint] = &[
    pattern_hint("output.items.0 == 1", "@indexable ..( !N a:X < @valued @touching . @touching n:N >")
        .with_message("an element of a list is taken with brackets")
        .with_rewrite("{a}[{n}]"),
    pattern_hint("output.a > .5", "..( < @failed . @touching n:N >")
        .with_message("a number begins with a digit")
        .with_rewrite("0.{n}"),
    pattern_hint("output.a > 5.", "..( n:N < @read @begun . >")
        .with_message("a digit is missing behind the point")
        .with_rewrite("{n}.0"),
    pattern_hint("output.a > +5", "..( < @failed + > n:N")
        .with_message("a number has no `+` in front of it")
        .with_rewrite("{n}"),
    pattern_hint("output.a == ${x}", "..( < '$' > '{' a:IN '}'")
        .with_message("`${…}` puts a value into a string; outside of one the value stands alone")
        .with_rewrite("{a}"),
    pattern_hint("output.a == $", "..( < '$' >")
        .with_message("`$` begins a binding or an amount")
        .with_help("a binding is `$` and a name, an amount `$` and digits; a JSONPath is a text"),
    pattern_hint("output.\"a b\" == 1", "..( a:X < @read @begun . k:T >")
        .with_message("a quoted field is taken with brackets")
        .with_rewrite("{a}[{k}]"),
    pattern_hint("output.[0] == 1", "..( a:X < @read @begun . > &'['|'*'")
        .with_message("no `.` stands in front of brackets")
        .with_rewrite("{a}[")
        .with_swap(""),
    pattern_hint("output. == 1", "..( X < @read @begun . >")
        .with_message("the name of a field is missing behind `.`")
        .with_help("a point has the name of a field behind it; any other key stands in brackets: `[\"…\"]`"),
    function_hint("output.a ==", missing_operand),
    pattern_hint("output.a == not output.b", "..( b:X a[ < @failed not > CLAUSE? ]")
        .with_message("`not` behind `{b}` needs parentheses")
        .with_rewrite("({a})")
        .with_line_edit("{b} ({a})"),
    pattern_hint("output.a == 1 require b", "a:.. b[ < @second @apart STATEMENT|DECLARATION > X ... ]")
        .with_message("a second statement begins with `{wrong}`")
        .with_rewrite("{a}; {b}")
        .with_help("write `{a}` and `{b}` on two lines, or put `;` between them"),
    pattern_hint("output.a == f\"x\"", "..( < w:W > @second @touching t:T")
        .with_message("strings have no prefix `{w}`")
        .with_rewrite("{t}")
        .with_help("`\"…${value}…\"` puts a value into a string, `'…'` is a raw string"),
    pattern_hint("length calls < 3", "a:W < @second b:W > BEHIND")
        .with_message("`{b}` follows `{a}` without an operator")
        .with_help("a function takes its argument in parentheses: `{a}({b})`; two conditions are joined with `and`"),
    pattern_hint("output.a == 1 output.b == 2", "a:.. b[ < @second w:W > BEHIND ... ]")
        .with_message("a second condition begins with `{w}`")
        .with_help("join them with `and` or `or`, or write each on a line of its own")
        .with_line_edit("{a} and {b}")
        .with_title("join them with `and`"),
    pattern_hint("output.status \"ok\"", "a:.. v[ < @second !W w:X > PLACE? ]")
        .with_message("`{w}` follows without an operator")
        .with_help("write an operator in front of it, for example `{a} == {v}`"),
];

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
    "mentions",
    "matches",
    "with",
    "|",
    "not",
    "=",
    ":",
];

/// `output.a ==`, `a and`, `(1 + )`, `a == == b`, `and b`.
fn missing_operand(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    let before = at.checked_sub(1).filter(|&before| view.is_any(before, INFIX))?;
    let operator = view.token_text(before);
    let example = match operator {
        "matches" => "a regular expression such as `/^ok$/`",
        "in" => "a list `[1, 2]` or a range `1..3`",
        "with" | "contains" | "icontains" | "mentions" => "a text such as `\"ok\"`",
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
        return Some(view.missing_at_end(message).with_help(help));
    }
    let closes = view.is_any(at, &[")", "]", "}", ","]) || view.is_any(at, INFIX) && !view.token_is(at, "not");
    if !closes {
        return None;
    }
    if view.is_any(at, &["==", "=", ">", "<"]) && view.is_any(before, &["=", "<", ">", "!=", "=="]) {
        return Some(
            view.syntax_error(before, at + 1, format!("`{}` is no operator", view.source_text(before, at + 1)))
                .with_help("the comparisons are == != < <= > >= in contains matches"),
        );
    }
    Some(view.syntax_error(at, at + 1, message).with_help(help))
}
