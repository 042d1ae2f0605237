//! Hints for mistakes in expressions: quantifiers, lists, operands that are missing, two statements on one line.

use super::hint::{Hint, ask, not};
use super::view::View;
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Hint] = &[
    not("output.items.0 == 1", "@indexable ..( !N a:X < @valued @touching . @touching n:N >")
        .says("an element of a list is taken with brackets")
        .write("{a}[{n}]"),
    not("output.a > .5", "..( < @failed . @touching n:N >").says("a number begins with a digit").write("0.{n}"),
    not("output.a > 5.", "..( n:N < @read @begun . >").says("a digit is missing behind the point").write("{n}.0"),
    not("output.a > +5", "..( < @failed + > n:N").says("a number has no `+` in front of it").write("{n}"),
    not("output.a == ${x}", "..( < '$' > '{' a:IN '}'")
        .says("`${…}` puts a value into a string; outside of one the value stands alone")
        .write("{a}"),
    not("output.a == $", "..( < '$' >")
        .says("`$` begins a binding or an amount")
        .help("write `$id` for a binding, `$0.05` for an amount, `\"…\"` for a JSONPath"),
    not("output.\"a b\" == 1", "..( a:X < @read @begun . k:T >")
        .says("a quoted field is taken with brackets")
        .write("{a}[{k}]"),
    not("output.[0] == 1", "..( a:X < @read @begun . > &'['|'*'")
        .says("no `.` stands in front of brackets")
        .write("{a}[")
        .swap(""),
    not("output. == 1", "..( X < @read @begun . >")
        .says("the name of a field is missing behind `.`")
        .help("write `output.status`, or `output[\"any key\"]`"),
    ask("output.a ==", missing_operand),
    not("output.a == not output.b", "..( b:X a[ < @failed not > CLAUSE? ]")
        .says("`not` behind `{b}` needs parentheses")
        .write("({a})")
        .line("{b} ({a})"),
    not("output.a == 1 require b", "a:.. b[ < @second @apart STATEMENT|DECLARATION > X ... ]")
        .says("a second statement begins with `{wrong}`")
        .write("{a}; {b}")
        .help("write `{a}` and `{b}` on two lines, or put `;` between them"),
    not("output.a == f\"x\"", "..( < w:W > @second @touching t:T")
        .says("strings have no prefix `{w}`")
        .write("{t}")
        .help("`\"…${value}…\"` puts a value into a string, `'…'` is a raw string"),
    not("length calls < 3", "a:W < @second b:W > BEHIND")
        .says("`{b}` follows `{a}` without an operator")
        .help("a function takes its argument in parentheses: `{a}({b})`; two conditions are joined with `and`"),
    not("output.a == 1 output.b == 2", "a:.. b[ < @second w:W > BEHIND ... ]")
        .says("a second condition begins with `{w}`")
        .help("join them with `and` or `or`, or write `{a}` and `{b}` on two lines")
        .line("{a} and {b}")
        .title("join them with `and`"),
    not("output.status \"ok\"", "a:.. v[ < @second !W w:X > PLACE? ]")
        .says("`{w}` follows without an operator")
        .help("write an operator in front of it, for example `{a} == {v}`"),
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
fn missing_operand(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    let before = at.checked_sub(1).filter(|&before| view.is_any(before, INFIX))?;
    let operator = view.word(before);
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
