//! How other tools ask whether a tool was called: `called("refund")`, `"refund" in tool_calls`, `deny if tool == "refund"`.

use super::row::{RewriteRow, function_row, pattern_row};
use crate::hints::view::{StatementView, strip_quotes};
use crate::words;
use std::ops::Range;

const CALLED: &str = "whether a tool is called is said with `require`, `never` and `count`";

/// Also of statements that can be read.
pub(super) const TABLE: &[RewriteRow] = &[
    pattern_row("count[refund] <= 1", "count '['|'{'|'<' a:S ']'|'}'|'>' s[ SIGN|in ... ]", "count {a} {s}")
        .with_message("a step stands without these brackets"),
    pattern_row("output.total is not null", "..( p:O is not null", "{p} != null"),
    pattern_row("output.total is null", "..( p:O is null", "{p} == null"),
    function_row("\"output.status\" == \"ok\"", quoted_path).as_guess(),
    function_row("Output.status == \"ok\"", capital_root),
    pattern_row("not called(\"refund\")", "not|'!' CALLEDF '(' a:T|TOOL ')' @end", "never {a|tool}")
        .with_message(CALLED),
    pattern_row(
        "not_called(\"refund\")",
        "not_called|never_called|was_not_called|no_call|assert_not_called '(' a:T|TOOL ')' @end",
        "never {a|tool}",
    )
    .with_message(CALLED),
    pattern_row("called(\"refund\")", "CALLEDF '(' a:T|TOOL ')' @end", "require {a|tool}").with_message(CALLED),
    pattern_row(
        "call_count(\"refund\") <= 1",
        "COUNTF '(' a:T|TOOL ')' s[ SIGN N ] @modifiers ...",
        "count {a|tool} {s} {...}",
    )
    .with_message(CALLED),
    pattern_row(
        "assert \"refund\" not in calls",
        "assert? not? t:T not in RUNNAME? .? CALLLIST @end",
        "never {t|tool}",
    )
    .with_message(CALLED),
    pattern_row("not \"refund\" in tool_calls", "assert? not t:T in RUNNAME? .? CALLLIST @end", "never {t|tool}")
        .with_message(CALLED),
    pattern_row("\"refund\" in tool_calls", "assert? t:T in RUNNAME? .? CALLLIST @end", "require {t|tool}")
        .with_message(CALLED),
    pattern_row(
        "tool_calls not contains \"refund\"",
        "RUNNAME? .? CALLLIST does? not contains|contain|includes|include t:T @end",
        "never {t|tool}",
    )
    .with_message(CALLED),
    pattern_row(
        "tool_calls contains \"refund\"",
        "RUNNAME? .? CALLLIST contains|contain|includes|include|has t:T @end",
        "require {t|tool}",
    )
    .with_message(CALLED),
    pattern_row(
        "calls[\"refund\"] <= 3",
        "CALLLIST '[' t:T ']' s[ SIGN N ] @modifiers ...",
        "count {t|tool} {s} {...}",
    )
    .with_message(CALLED),
    pattern_row(
        "length(calls[\"refund\"]) <= 3",
        "length|len|size '(' CALLLIST '[' t:T ']' ')' s[ SIGN N ] @modifiers ...",
        "count {t|tool} {s} {...}",
    )
    .with_message(CALLED),
    pattern_row("tool_name == \"refund\"", "CALLITEM? .? TOOLNAME ==|=== t:T @end", "require {t|tool}")
        .with_message(CALLED)
        .as_guess(),
    pattern_row("tool_name != \"refund\"", "CALLITEM? .? TOOLNAME !=|!== t:T @end", "never {t|tool}")
        .with_message(CALLED)
        .as_guess(),
    pattern_row("tool_name not in [\"refund\"]", "CALLITEM? .? TOOLNAME not in '[' s:IN ']' @end", "never {s|bared}")
        .with_message(CALLED)
        .as_guess(),
    pattern_row("tool_name in [\"refund\"]", "CALLITEM? .? TOOLNAME in '[' s:IN ']' @end", "only {s|bared}")
        .with_message(CALLED)
        .as_guess(),
    pattern_row("not refund.called", "not|'!' a:TOOL . called|was_called|invoked|executed|used @end", "never {a}")
        .with_message(CALLED),
    pattern_row(
        "refund.called == false",
        "a:TOOL . called|was_called|invoked|executed|used ==|===|is false @end",
        "never {a}",
    )
    .with_message(CALLED),
    pattern_row("refund.called", "a:TOOL . called|was_called|invoked|executed|used @end", "require {a}")
        .with_message(CALLED),
    pattern_row(
        "refund.called == true",
        "a:TOOL . called|was_called|invoked|executed|used ==|===|is true @end",
        "require {a}",
    )
    .with_message(CALLED),
    pattern_row(
        "refund.call_count <= 3",
        "a:TOOL . count|calls|call_count|callCount|times s[ SIGN N ] @modifiers ...",
        "count {a} {s} {...}",
    )
    .with_message(CALLED)
    .as_guess(),
    pattern_row("not refund()", "not|'!' a:TOOL '(' ')' @end", "never {a}").with_message(CALLED).as_guess(),
    pattern_row("output.items | length <= 3", "..( p:O '|' length|len|size|count @end", "length({p})")
        .with_message("a function stands in front of its value in parentheses"),
    pattern_row("output.items | length > 3", "..( p:O '|' length|len|size|count s[ SIGN N ]", "length({p}) {s}")
        .with_message("a function stands in front of its value in parentheses"),
    pattern_row(
        "output.text | lower == \"x\"",
        "..( p:O '|' f:lower|upper|trim|keys|json|sort t[ SIGN|TEST ... ]",
        "{f}({p}) {t}",
    )
    .with_message("a function stands in front of its value in parentheses"),
];

/// Of statements that can be read, where nothing else is known of them.
pub(super) const LAST: &[RewriteRow] = &[
    pattern_row("args.amount <= 100", "r[ args . W ... ]", "each any: {r}")
        .with_message("`args` are those of a call, and calls are looked at with `each`")
        .as_guess(),
    pattern_row("refund(amount > 100)", "s[ TOOL '(' W SIGN|: IN ')' ] @end", "require {s}")
        .with_message("a step alone is no statement")
        .as_guess(),
    pattern_row("not refund", "not a:TOOL @end", "never {a}").with_message(CALLED).as_guess(),
    pattern_row("refund == false", "a:TOOL ==|===|is false @end", "never {a}").with_message(CALLED).as_guess(),
    pattern_row("refund == true", "a:TOOL ==|===|is true @end", "require {a}").with_message(CALLED).as_guess(),
    pattern_row("refund <= 3", "!total|sum|amount|price|score|n|x|y a:TOOL s[ SIGN PLAIN ] @end", "count {a} {s}")
        .with_message("how often a tool is called is said with `count`")
        .as_guess(),
];

/// Rules of other policy languages and queries.
pub(super) const POLICIES: &[RewriteRow] = &[
    pattern_row(
        "deny[msg] { input.tool == \"refund\" }",
        "DENY !..(and|;|or|&&|'||' ..( TOOLNAME ==|===|= t:T '}'? @end",
        "never {t|tool}",
    )
    .with_message(CALLED),
    pattern_row(
        "deny if input.tool in [\"refund\"]",
        "DENY !..(and|;|or|&&|'||' ..( TOOLNAME in '['|'{' s:IN ']'|'}' '}'? @end",
        "never {s|bared}",
    )
    .with_message(CALLED),
    pattern_row(
        "allow if input.tool == \"refund\"",
        "ALLOW !..(and|;|or|&&|'||' ..( TOOLNAME ==|===|= t:T '}'? @end",
        "only {t|tool}",
    )
    .with_message(CALLED)
    .as_guess(),
    pattern_row(
        "allow if input.tool in [\"refund\"]",
        "ALLOW !..(and|;|or|&&|'||' ..( TOOLNAME in '['|'{' s:IN ']'|'}' '}'? @end",
        "only {s|bared}",
    )
    .with_message(CALLED)
    .as_guess(),
    pattern_row(
        "some i; calls[i].tool == \"refund\"",
        "some|exists i:W ;|,|:|in p:BASE '[' W ']' . c[ W SIGN|TEST ... ]",
        "any {i} in {p}: {i}.{c}",
    ),
    pattern_row(
        "select count(*) from calls where tool = \"refund\" <= 3",
        "select|SELECT count|COUNT '(' '*' ')' from|FROM CALLLIST where|WHERE TOOLNAME =|== t:T s[ SIGN N ] ;? @end",
        "count {t|tool} {s}",
    )
    .with_message(CALLED),
    pattern_row(
        "select * from calls where tool = \"refund\"",
        "select|SELECT ..( from|FROM CALLLIST where|WHERE TOOLNAME =|== t:T ;? @end",
        "require {t|tool}",
    )
    .with_message(CALLED)
    .as_guess(),
    pattern_row(
        "not exists (select * from calls where tool = \"refund\")",
        "not|NOT exists|EXISTS '(' select|SELECT ..( TOOLNAME =|== t:T ')' @end",
        "never {t|tool}",
    )
    .with_message(CALLED),
    pattern_row("where output.status == \"ok\"", "where r[ RUNPATH SIGN|TEST|= ... ]", "{r}")
        .with_message("a condition stands on a line by itself"),
    pattern_row("return output.status == \"ok\"", "return|yield r[ &ROOT|not|'(' ... ]", "{r}")
        .with_message("a condition stands on a line by itself"),
    pattern_row(
        "if refund: assert approve",
        "if a:S < :|, > then? assert|require|must|check b:S @end",
        "if {a} then {b}",
    ),
];

/// A path of a run or a call.
fn is_path(text: &str) -> bool {
    let (root, rest) = text.split_once('.').unwrap_or((text, ""));
    let letter = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '.' | '[' | ']');
    !rest.is_empty() && rest.chars().all(letter) && (root == "args" || words::ROOTS.contains(&root))
}

/// `"output.status" == "ok"`: a path in quotes is a text.
fn quoted_path(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    const SIGNS: &[&str] = &["==", "!=", "<", "<=", ">", ">=", "of", "contains", "matches", "is", "exists", "in"];
    let at = (0..view.len())
        .find(|&at| view.is_text(at) && is_path(strip_quotes(view.token_text(at))) && view.is_any(at + 1, SIGNS))?;
    Some((view.token_range(at, at + 1), strip_quotes(view.token_text(at)).to_owned()))
}

/// `Output.status`: names begin with a small letter.
fn capital_root(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let at = (0..view.len()).find(|&at| {
        let word = view.token_text(at);
        let small = word.to_ascii_lowercase();
        let field = at > 0 && view.token_is(at - 1, ".");
        small != word
            && !field
            && view.token_is(at + 1, ".")
            && (small == "args" || words::ROOTS.contains(&small.as_str()))
    })?;
    Some((view.token_range(at, at + 1), view.token_text(at).to_ascii_lowercase()))
}
