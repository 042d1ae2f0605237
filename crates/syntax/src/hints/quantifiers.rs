//! Hints for mistakes in quantifiers and conditional expressions.

use super::hint::{Hint, pattern_hint};

pub(super) const TABLE: &[Hint] = &[
    pattern_hint(
        "all x of output.items: x > 0",
        "..( q:QUANTIFIER v:W < of|from|at|on|among|=|within|inside|<- > @colon ...",
    )
    .with_message("a quantifier names its values with `in`")
    .with_rewrite("{q} {v} in {...}"),
    pattern_hint(
        "all x in output.items, x.ok == true",
        "..( @uncoloned h[ q:QUANTIFIER v:W in PATH ] < COLON > that? !')'|']'|'}' &X ...",
    )
    .with_message("`{q} {v} in …` needs `:` and a condition")
    .with_rewrite("{h}: {...}"),
    pattern_hint(
        "all x in output.items x.ok == true",
        "..( @uncoloned h[ q:QUANTIFIER v:W in PATH ] b[ < !COLON|')'|']'|'}' X > ... ]",
    )
    .with_message("`{q} {v} in …` needs `:` and a condition")
    .with_rewrite("{h}: {b}"),
    pattern_hint("any x in output.items", "..( @uncoloned h[ q:QUANTIFIER v:W in PATH ] <>")
        .with_message("`{q} {v} in …` needs `:` and a condition")
        .with_help("write `{h}: COND`"),
    pattern_hint("any(x in output.items: x > 0)", "..( q:QUANTIFIER < @touching '(' > a[ W in IN ] ')'")
        .with_message("`{q}` is no function: the parentheses stand around all of it")
        .with_help("write `({q} {a})`"),
    pattern_hint("all(x.ok for x in output.items)", "..( q:QUANTIFIER < @touching @quantifying '(' >")
        .with_message("`{q}` is no function: the parentheses stand around all of it")
        .with_help("write `({q} x in …: COND)`"),
    pattern_hint("let x = any output.items", "..( @read q:QUANTIFIER < v[ ROOT &.|'[' TOUCHING ] > :? @end")
        .with_message("`{q}` looks at the values of a list by a name, and none is given")
        .with_help("write `{q} x in {v}: COND`"),
    pattern_hint("any output.items > 2", "..( @read q:QUANTIFIER < v[ ROOT &.|'[' TOUCHING ] > :? ...")
        .with_message("`{q}` looks at the values of a list by a name, and none is given")
        .with_help("write `{q} x in {v}: x {...}`"),
    pattern_hint("let x = if a: b", "X ..( ^!. if !..(if|then ..( < :|'{'|'?' >")
        .with_message("`then` is missing")
        .with_help("write `if COND then … else …`"),
    pattern_hint("let x = if a", "X ..( ^!. if !..(if|then X* <>")
        .with_message("`then` is missing")
        .with_help("write `if COND then … else …`"),
    pattern_hint("let x = if a then b", "X ..( ^!. v[ if !..(if ..( then !..(ELSE X* ] <>")
        .with_message("`else` is missing: a value has to be given for both cases")
        .with_help("write `{v} else …`"),
    pattern_hint("let x = if a then b otherwise c", "X ..( ^!. if !..(if ..( then ..( < otherwise >")
        .with_message("this is written `else`")
        .with_swap("else"),
    pattern_hint("let x = if a then b elif c then d else e", "X ..( ^!. if !..(if ..( then ..( < elif|elsif|elseif >")
        .with_message("this is written `else if`")
        .with_swap("else if"),
];
