//! Hints for mistakes in quantifiers and conditional expressions.

use super::hint::{Hint, not};

pub(super) const TABLE: &[Hint] = &[
    not("all x of output.items: x > 0", "..( q:QUANTIFIER v:W < of|from|at|on|among|=|within|inside|<- > @colon ...")
        .says("a quantifier names its values with `in`")
        .write("{q} {v} in {...}"),
    not(
        "all x in output.items, x.ok == true",
        "..( @uncoloned h[ q:QUANTIFIER v:W in PATH ] < COLON > that? !')'|']'|'}' &X ...",
    )
    .says("`{q} {v} in …` needs `:` and a condition")
    .write("{h}: {...}"),
    not(
        "all x in output.items x.ok == true",
        "..( @uncoloned h[ q:QUANTIFIER v:W in PATH ] b[ < !COLON|')'|']'|'}' X > ... ]",
    )
    .says("`{q} {v} in …` needs `:` and a condition")
    .write("{h}: {b}"),
    not("any x in output.items", "..( @uncoloned h[ q:QUANTIFIER v:W in PATH ] <>")
        .says("`{q} {v} in …` needs `:` and a condition")
        .help("write `{h}: {v}.ok == true`"),
    not("any(x in output.items: x > 0)", "..( q:QUANTIFIER < @touching '(' > a[ W in IN ] ')'")
        .says("`{q}` is no function: the parentheses stand around all of it")
        .help("write `({q} {a})`"),
    not("all(x.ok for x in output.items)", "..( q:QUANTIFIER < @touching @quantifying '(' >")
        .says("`{q}` is no function: the parentheses stand around all of it")
        .help("write `({q} x in output.items: x.ok == true)`"),
    not("let x = any output.items", "..( @read q:QUANTIFIER < v[ ROOT &.|'[' TOUCHING ] > :? @end")
        .says("`{q}` looks at the values of a list by a name, and none is given")
        .help("write `{q} x in {v}: x == true`"),
    not("any output.items > 2", "..( @read q:QUANTIFIER < v[ ROOT &.|'[' TOUCHING ] > :? ...")
        .says("`{q}` looks at the values of a list by a name, and none is given")
        .help("write `{q} x in {v}: x {...}`"),
    not("let x = if a: b", "X ..( ^!. if !..(if|then ..( < :|'{'|'?' >")
        .says("`then` is missing")
        .help("write `if c then a else b`"),
    not("let x = if a", "X ..( ^!. if !..(if|then X* <>").says("`then` is missing").help("write `if c then a else b`"),
    not("let x = if a then b", "X ..( ^!. v[ if !..(if ..( then !..(ELSE X* ] <>")
        .says("`else` is missing: a value has to be given for both cases")
        .help("write `{v} else …`"),
    not("let x = if a then b otherwise c", "X ..( ^!. if !..(if ..( then ..( < otherwise >")
        .says("this is written `else`")
        .swap("else"),
    not("let x = if a then b elif c then d else e", "X ..( ^!. if !..(if ..( then ..( < elif|elsif|elseif >")
        .says("this is written `else if`")
        .swap("else if"),
];
