//! Sentences that a reader would understand and that are said otherwise here: `never delete unless confirm`, `all refund: …`.

use super::hint::{Hint, function_hint, pattern_hint};
use super::view::{StatementView, SuggestText};
use crate::token::TokenKind;
use averment_base::diagnostic::{Diagnostic, SourceEdit};
use averment_base::source::Span;

/// Asked before an unclosed string is reported.
pub(super) const FIRST: &[Hint] = &[
    function_hint("output doesn't contain \"x\"", negated_contraction),
    pattern_hint("@severity(\"warn\")", "< '@' m:severity|as|id|tags > '(' v:IN ')' @end")
        .with_message("there are no decorators: `{m}` stands behind its assertion")
        .with_help("write `{m} {v|unquoted}` at the end of the line that it belongs to"),
    pattern_hint("@weight(2)", "< '@' m:MODIFIER > '(' v:IN ')' @end")
        .with_message("there are no decorators: `{m}` stands behind its assertion")
        .with_help("write `{m} {v}` at the end of the line that it belongs to"),
    pattern_hint("@must", "< '@' m:MODIFIER > @end")
        .with_message("there are no decorators: `{m}` stands behind its assertion")
        .with_help("write `{m}` at the end of the line that it belongs to"),
];

pub(super) const TABLE: &[Hint] = &[
    pattern_hint(
        "never refund without approve",
        "never &P b:.. < unless|without|except > a|an|prior|first|after? a:P @modifiers ...",
    )
    .with_message("`never` has no `{wrong}`: what has to come first is said with `before`")
    .with_rewrite("before {a} -> {b} {...}"),
    pattern_hint("require notify if refund", "require a:P < if > b:P @modifiers ...")
        .with_message("an implication between steps begins with `if`")
        .with_rewrite("if {b} then {a} {...}"),
    pattern_hint("never refund if cancel", "never a:P < if > b:P @modifiers ...")
        .with_message("`never` takes no `if`")
        .with_help("write `never {a} after {b}`, or `not both {a}, {b}` for any order of them"),
    pattern_hint("never refund if output.ok == true", "never|require P < if >")
        .with_message("a statement has no `if` behind it")
        .with_help("for a condition on the run write `when` in its place"),
    pattern_hint("open is followed by close", "!STATEMENT a:S < soon:FILLER* followed by > b:P ...")
        .with_message("a statement about an order begins with `before` or `after`")
        .with_rewrite("{soon|soon}after {a} -> {b} {...}"),
    pattern_hint("refund must be preceded by approve", "!STATEMENT b:S < soon:FILLER* preceded|guarded by > a:P ...")
        .with_message("a statement about an order begins with `before` or `after`")
        .with_rewrite("{soon|soon}before {a} -> {b} {...}"),
    pattern_hint("all calls: ok == true", "< q:all|any > calls|call : !'{' &X ...")
        .with_message("`{q}` quantifies the values of a list; steps are taken with `{q|quantifier}`")
        .with_rewrite("{q|quantifier} any: {...}"),
    pattern_hint("all refund: args.amount <= 100", "< q:all|any > !of|x a:P : !'{' &X ...")
        .with_message("`{q}` quantifies the values of a list; steps are taken with `{q|quantifier}`")
        .with_rewrite("{q|quantifier} {a}: {...}"),
    pattern_hint("no call failed", "< no|never tool? CALLS FAILS > @modifiers ...")
        .with_message("calls that failed are `any failed`")
        .with_rewrite("never any failed {...}"),
    pattern_hint("no failed calls", "< no|never tool? failed CALLS > @modifiers ...")
        .with_message("calls that failed are `any failed`")
        .with_rewrite("never any failed {...}"),
    pattern_hint(
        "require refund succeeded",
        "!run|file|env|tool|http|test @steps X ..( !expect S @failed < w:STATUS > !ROUTE",
    )
    .with_message("how a call ended is `ok` or `failed`, not `{w}`")
    .with_swap("{w|status}"),
    pattern_hint("output.amount between 1 and 100", "..( @valued < between > n:N and|to|-|, m:N")
        .with_message("a range is written `1..100`")
        .with_rewrite("in {n}..{m}"),
    pattern_hint("never refund(amount: > 100)", "..( n:W < @inner @read : > v[ TEST !'('|.|,|')'|== A ]")
        .with_message("a test stands behind its argument without `:`")
        .with_rewrite("{n} {v}"),
    pattern_hint("count search < = 3", "X ..( < @read '<'|'>'|'!' @apart = >")
        .with_message("`{wrong|joined}` is one sign, without a space")
        .with_swap("{wrong|joined}"),
    pattern_hint("output.a = = 3", "!DECLARATION X ..( < @read = @apart = >")
        .with_message("`{wrong|joined}` is one sign, without a space")
        .with_swap("{wrong|joined}"),
    pattern_hint(
        "output.text contains one of \"a\", \"b\"",
        "..( ^X c:contains|contain < q:any|all|none|one|either of > l:VALUES",
    )
    .with_message("this test is written `contains {q|choice}` with a list")
    .with_rewrite("{c} {q|choice} {l|list}"),
    pattern_hint(
        "output.text contains any of [\"a\", \"b\"]",
        "..( ^X c:contains|contain < q:any|all|none|one|either of > l:B?",
    )
    .with_message("this test is written `contains {q|choice}` with a list")
    .with_rewrite("{c} {q|choice} {l}"),
    pattern_hint("no std.secrets in output", "no < m[ W . n:W ] > in")
        .with_message("a predicate is named without its module")
        .with_swap("{n}")
        .with_help("write `{n}`, and `use {m}` at the top of the file"),
    pattern_hint(
        "require: search",
        "w:require|never|only|count|before|after|sequence|flow|together|apart|either|first|last < : > &S ...",
    )
    .with_message("no `:` stands behind `{w}`")
    .with_rewrite("{w} {...}"),
    pattern_hint("if refund then notify or log", "c[ if P ] then a:P < or > b:P @end")
        .with_message("one step stands behind `then`, and `or` adds a second")
        .with_rewrite("{c} then {a} | {b}"),
    pattern_hint("if refund then notify and log", "c[ if P ] then a:P < and|, > b:P @end")
        .with_message("one step stands behind `then`, and `{wrong}` adds a second")
        .with_rewrite("{c} then {a}; {c} then {b}"),
    pattern_hint("when output.ok == true then notify", "when !..if c:.. < then > !STATEMENT b:P @end")
        .with_message("the body of `when` stands in braces")
        .with_rewrite("when {c} { require {b} }"),
    pattern_hint("when output.ok == true then require notify", "when !..if c:.. < then > &X ...")
        .with_message("the body of `when` stands in braces")
        .with_rewrite("when {c} { {...} }"),
    pattern_hint("never b within 3 calls after a", "never b:.. w[ < within > N SPAN? ] after|of a:P ...")
        .with_message("`within` stands behind the steps that it bounds")
        .with_rewrite("never {b} after {a} {w} {...}"),
    pattern_hint(
        "after a -> b in 3 calls",
        "before|after|sequence|immediately|never ..( @failed < in|inside|under|for > v[ N &SPAN|END B? ]",
    )
    .with_message("how far apart steps may be is said with `within`")
    .with_rewrite("within {v}")
    .with_swap("within"),
    pattern_hint(
        "before (a or b) -> c",
        "&require|never|only|count|before|after|sequence|first|last|flow ..( @apart '(' a:S < or|'||' > b:S ')'",
    )
    .with_message("a choice of steps is written with `|`")
    .with_rewrite("({a} | {b})"),
    pattern_hint("flow plan -> [search] -> answer", "&flow ..( ^->|flow|'|' < '[' > s:IN ']'")
        .with_message("what may be left out stands in parentheses with `?`")
        .with_rewrite("({s})?"),
];

/// `output doesn't contain "x"`: the apostrophe opens a text.
fn negated_contraction(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let word = |at: usize| match view.token_text(at) {
        "doesn" => Some("does not"),
        "isn" => Some("is not"),
        _ => None,
    };
    let at = (1..view.len()).find(|&at| {
        matches!(view.token_kind(at), TokenKind::OpenText | TokenKind::Text)
            && view.token_text(at).starts_with("'t ")
            && view.touches_previous(at)
            && word(at - 1).is_some()
    })?;
    let right = word(at - 1)?;
    let start = view.span(at - 1);
    let place = Span { end: view.span(at).start + 2, ..start };
    let mut diagnostic = view.syntax_error(at - 1, at, format!("`{}'t` is written `{right}`", view.token_text(at - 1)));
    diagnostic.span = place;
    Some(diagnostic.suggest_text(right, vec![SourceEdit { span: place, text: right.to_owned() }]))
}
