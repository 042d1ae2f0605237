//! Sentences that a reader would understand and that are said otherwise here: `never delete unless confirm`, `all refund: …`.

use super::hint::{Hint, ask, not};
use super::view::{View, Write};
use crate::token::Kind;
use averment_base::diagnostic::{Diagnostic, Edit};
use averment_base::source::Span;

/// Asked before an open string is told.
pub(super) const FIRST: &[Hint] = &[ask("output doesn't contain \"x\"", apostrophe)];

pub(super) const TABLE: &[Hint] = &[
    not(
        "never refund without approve",
        "never &P b:.. < unless|without|except > a|an|prior|first|after? a:P @modifiers ...",
    )
    .says("`never` has no `{wrong}`: what has to come first is said with `before`")
    .write("before {a} -> {b} {...}"),
    not("require notify if refund", "require a:P < if > b:P @modifiers ...")
        .says("an implication between steps begins with `if`")
        .write("if {b} then {a} {...}"),
    not("never refund if cancel", "never a:P < if > b:P @modifiers ...")
        .says("`never` takes no `if`")
        .help("write `never {a} after {b}`, or `not both {a}, {b}` for any order of them"),
    not("never refund if output.ok == true", "never|require P < if >")
        .says("a statement has no `if` behind it")
        .help("for a condition on the run write `when` in its place"),
    not("open is followed by close", "!STATEMENT a:S < soon:FILLER* followed by > b:P ...")
        .says("a statement about an order begins with `before` or `after`")
        .write("{soon|soon}after {a} -> {b} {...}"),
    not("refund must be preceded by approve", "!STATEMENT b:S < soon:FILLER* preceded|guarded by > a:P ...")
        .says("a statement about an order begins with `before` or `after`")
        .write("{soon|soon}before {a} -> {b} {...}"),
    not("all calls: ok == true", "< q:all|any > calls|call : !'{' &X ...")
        .says("`{q}` quantifies the values of a list; steps are taken with `{q|quantifier}`")
        .write("{q|quantifier} any: {...}"),
    not("all refund: args.amount <= 100", "< q:all|any > !of|x a:P : !'{' &X ...")
        .says("`{q}` quantifies the values of a list; steps are taken with `{q|quantifier}`")
        .write("{q|quantifier} {a}: {...}"),
    not("no call failed", "< no|never tool? CALLS FAILS > @modifiers ...")
        .says("calls that failed are `any failed`")
        .write("never any failed {...}"),
    not("no failed calls", "< no|never tool? failed CALLS > @modifiers ...")
        .says("calls that failed are `any failed`")
        .write("never any failed {...}"),
    not("require refund succeeded", "!run|file|env|tool|http|test @steps X ..( !expect S @failed < w:STATUS > !ROUTE")
        .says("how a call ended is `ok` or `failed`, not `{w}`")
        .swap("{w|status}"),
    not("args.amount between 1 and 100", "..( @valued < between > n:N and|to|-|, m:N")
        .says("a range is written `1..100`")
        .write("in {n}..{m}"),
    not("never refund(amount: > 100)", "..( n:W < @inner @read : > v[ TEST !'('|.|,|')'|== A ]")
        .says("a test stands behind its argument without `:`")
        .write("{n} {v}"),
    not("count search < = 3", "X ..( < @read '<'|'>'|'!' @apart = >")
        .says("`{wrong|joined}` is one sign, without a space")
        .swap("{wrong|joined}"),
    not("output.a = = 3", "!DECLARATION X ..( < @read = @apart = >")
        .says("`{wrong|joined}` is one sign, without a space")
        .swap("{wrong|joined}"),
    not(
        "output.text contains one of \"a\", \"b\"",
        "..( ^X c:contains|contain < q:any|all|none|one|either of > l:VALUES",
    )
    .says("this test is written `contains {q|choice}` with a list")
    .write("{c} {q|choice} {l|list}"),
    not(
        "output.text contains any of [\"a\", \"b\"]",
        "..( ^X c:contains|contain < q:any|all|none|one|either of > l:B?",
    )
    .says("this test is written `contains {q|choice}` with a list")
    .write("{c} {q|choice} {l}"),
    not("no std.secrets in output", "no < m[ W . n:W ] > in")
        .says("a predicate is named without its module")
        .swap("{n}")
        .help("write `{n}`, and `use {m}` at the top of the file"),
    not(
        "require: search",
        "w:require|never|only|count|before|after|sequence|flow|together|apart|either|first|last < : > &S ...",
    )
    .says("no `:` stands behind `{w}`")
    .write("{w} {...}"),
    not("if refund then notify or log", "c[ if P ] then a:P < or > b:P @end")
        .says("one step stands behind `then`, and `or` adds a second")
        .write("{c} then {a} | {b}"),
    not("if refund then notify and log", "c[ if P ] then a:P < and|, > b:P @end")
        .says("one step stands behind `then`, and `{wrong}` adds a second")
        .write("{c} then {a}; {c} then {b}"),
    not("when output.ok == true then notify", "when !..if c:.. < then > !STATEMENT b:P @end")
        .says("the body of `when` stands in braces")
        .write("when {c} { require {b} }"),
    not("when output.ok == true then require notify", "when !..if c:.. < then > &X ...")
        .says("the body of `when` stands in braces")
        .write("when {c} { {...} }"),
    not("never b within 3 calls after a", "never b:.. w[ < within > N SPAN? ] after|of a:P ...")
        .says("`within` stands behind the steps that it bounds")
        .write("never {b} after {a} {w} {...}"),
    not(
        "after a -> b in 3 calls",
        "before|after|sequence|immediately|never ..( @failed < in|inside|under|for > v[ N &SPAN|END B? ]",
    )
    .says("how far apart steps may be is said with `within`")
    .write("within {v}")
    .swap("within"),
    not(
        "before (a or b) -> c",
        "&require|never|only|count|before|after|sequence|first|last|flow ..( @apart '(' a:S < or|'||' > b:S ')'",
    )
    .says("a choice of steps is written with `|`")
    .write("({a} | {b})"),
    not("flow plan -> [search] -> answer", "&flow ..( ^->|flow|'|' < '[' > s:IN ']'")
        .says("what may be left out stands in parentheses with `?`")
        .write("({s})?"),
];

/// `output doesn't contain "x"`: the apostrophe opens a text.
fn apostrophe(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = |at: usize| match view.word(at) {
        "doesn" => Some("does not"),
        "isn" => Some("is not"),
        _ => None,
    };
    let at = (1..view.len()).find(|&at| {
        matches!(view.kind(at), Kind::OpenText | Kind::Text)
            && view.word(at).starts_with("'t ")
            && view.touches(at)
            && word(at - 1).is_some()
    })?;
    let right = word(at - 1)?;
    let start = view.span(at - 1);
    let place = Span { end: view.span(at).start + 2, ..start };
    let mut diagnostic = view.wrong(at - 1, at, format!("`{}'t` is written `{right}`", view.word(at - 1)));
    diagnostic.span = place;
    Some(diagnostic.write(right, vec![Edit { span: place, text: right.to_owned() }]))
}
