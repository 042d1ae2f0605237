//! Hints for mistakes in groups and bodies: `of`, braces, what separates and joins statements.

use super::hint::{Hint, pattern_hint};

pub(super) const TABLE: &[Hint] = &[
    pattern_hint("any { require a }", "w:any|all|none < '{' >")
        .with_message("`of` is missing behind `{w}`")
        .with_rewrite("{w} of { … }")
        .with_swap("of {wrong}"),
    pattern_hint("at most 2 of { require a }", "at < most >")
        .with_message("a group says how many hold at least")
        .with_help("write `not at least 3 of { … }` for at most 2, or `none of { … }`"),
    pattern_hint("at least two of { require a }", "at least < n:WORDED >")
        .with_message("how many is written with digits")
        .with_rewrite("at least {n|digits} of { … }")
        .with_swap("{n|digits}"),
    pattern_hint("at least 2 { require a }", "at least n:N < '{' >")
        .with_message("`of` is missing behind the number")
        .with_rewrite("at least {n} of { … }")
        .with_swap("of {wrong}"),
    pattern_hint("at least 2", "at least n:N <> @end")
        .with_message("`of` and a body are missing behind the number")
        .with_help("write `at least {n} of { … }`"),
    pattern_hint("at least 2 from { require a }", "at least n:N !of < X >")
        .with_message("`of` is missing behind the number")
        .with_help("write `at least {n} of { … }`"),
    pattern_hint("exactly 2 of { require a }", "< exactly|only n:M of > '{'|'['")
        .with_message("a group is one of `any of`, `all of`, `none of` and `at least … of`")
        .with_help("write `at least {n|digits} of { … }`; for exactly {n|digits} add `not at least {n|next} of { … }`"),
    pattern_hint("one of { require a }", "< n:M of > '{'|'['")
        .with_message("a group is one of `any of`, `all of`, `none of` and `at least … of`")
        .with_rewrite("at least {n|digits} of { … }")
        .with_swap("at least {n|digits} of"),
    pattern_hint("all of [require a, require b]", "h[ any|all|none|at .. of ] < '['|'(' > s:IN ']'|')'")
        .with_message("the statements of a group stand in braces")
        .with_rewrite("{h} { {s|statements} }"),
    pattern_hint("pre: { env A is set }", "@bodied h[ X .. ] < : @unread > '{'")
        .with_message("no `:` stands before `{`")
        .with_rewrite("{h} { … }")
        .with_swap(""),
    pattern_hint("after login until logout:", "@bodied h[ w:X .. ] < : @unread > @end")
        .with_message("the body of `{w}` stands in braces, not behind a colon")
        .with_help("write `{h} { … }`"),
    pattern_hint("after login until logout: never x", "@bodied h[ w:X .. ] < : @unread > ...")
        .with_message("the body of `{w}` stands in braces, not behind a colon")
        .with_rewrite("{h} { {...} }"),
    pattern_hint("after each a -> b and never c", "a:.. < @failed and|'&&' > b[ not? !not STATEMENT W|T ... ]")
        .with_message("statements are not joined with `{wrong}`")
        .with_rewrite("{a}; {b}"),
    pattern_hint("after each a -> b or never c", "a:.. < @failed or|'||' > b[ not? !not STATEMENT W|T ... ]")
        .with_message("statements are not joined with `{wrong}`")
        .with_rewrite("any of { {a}; {b} }"),
];

/// Asked if no other row explains a comma.
pub(super) const LAST: &[Hint] = &[
    pattern_hint(
        "output.a in \"x\", \"y\"",
        "!let|param|use|tags ..( ^in|any|all|none < l[ T|N @failed @outer ELEMENT ELEMENT* ] >",
    )
    .with_message("a list is written in brackets")
    .with_rewrite("[{l}]"),
    pattern_hint("a iff b, c iff d", "!let|param|use|tags &X .. iff .. < @failed , > &X")
        .with_message("`iff` stands between two steps")
        .with_help("write a statement of its own for each pair of steps"),
    pattern_hint("require a 2 times, b", "a[ require .. ] < @failed , > !STATEMENT &P ...")
        .with_message("`require` takes no list of steps")
        .with_rewrite("{a}; require {...}"),
    pattern_hint("together a, b, c", "w:together|apart|not .. < @failed , > !STATEMENT &P")
        .with_message("`{w}` takes two steps")
        .with_help("write a statement of its own for each step"),
    pattern_hint("first plan, search", "w:STATEMENT .. < @failed , > !STATEMENT &P")
        .with_message("`{w}` takes no list of steps")
        .with_help("write a statement of its own for each step"),
    pattern_hint("output.amount > 0, output.x == 1", "!let|param|use|tags a:.. < @failed , > &X ...")
        .with_message("statements on one line are separated by `;`")
        .with_rewrite("{a}; {...}"),
];
