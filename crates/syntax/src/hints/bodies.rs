//! Hints for mistakes in groups and bodies: `of`, braces, what separates and joins statements.

use super::hint::{Hint, not};

pub(super) const TABLE: &[Hint] = &[
    not("any { require a }", "w:any|all|none < '{' >")
        .says("`of` is missing behind `{w}`")
        .write("{w} of { … }")
        .swap("of {wrong}"),
    not("at most 2 of { require a }", "at < most >")
        .says("a group says how many hold at least")
        .help("write `not at least 3 of { … }` for at most 2, or `none of { … }`"),
    not("at least two of { require a }", "at least < n:WORDED >")
        .says("how many is written with digits")
        .write("at least {n|digits} of { … }")
        .swap("{n|digits}"),
    not("at least 2 { require a }", "at least n:N < '{' >")
        .says("`of` is missing behind the number")
        .write("at least {n} of { … }")
        .swap("of {wrong}"),
    not("at least 2", "at least n:N <> @end")
        .says("`of` and a body are missing behind the number")
        .help("write `at least {n} of { … }`"),
    not("at least 2 from { require a }", "at least n:N !of < X >")
        .says("`of` is missing behind the number")
        .help("write `at least {n} of { … }`"),
    not("exactly 2 of { require a }", "< exactly|only n:M of > '{'|'['")
        .says("a group is one of `any of`, `all of`, `none of` and `at least … of`")
        .help("write `at least {n|digits} of { … }`; for exactly {n|digits} add `not at least {n|next} of { … }`"),
    not("one of { require a }", "< n:M of > '{'|'['")
        .says("a group is one of `any of`, `all of`, `none of` and `at least … of`")
        .write("at least {n|digits} of { … }")
        .swap("at least {n|digits} of"),
    not("all of [require a, require b]", "h[ any|all|none|at .. of ] < '['|'(' > s:IN ']'|')'")
        .says("the statements of a group stand in braces")
        .write("{h} { {s|statements} }"),
    not("pre: { env A is set }", "@bodied h[ X .. ] < : @unread > '{'")
        .says("no `:` stands before `{`")
        .write("{h} { … }")
        .swap(""),
    not("after login until logout:", "@bodied h[ w:X .. ] < : @unread > @end")
        .says("the body of `{w}` stands in braces, not behind a colon")
        .help("write `{h} { … }`"),
    not("after login until logout: never x", "@bodied h[ w:X .. ] < : @unread > ...")
        .says("the body of `{w}` stands in braces, not behind a colon")
        .write("{h} { {...} }"),
    not("after each a -> b and never c", "a:.. < @failed and|'&&' > b[ not? !not STATEMENT W|T ... ]")
        .says("statements are not joined with `{wrong}`")
        .write("{a}; {b}"),
    not("after each a -> b or never c", "a:.. < @failed or|'||' > b[ not? !not STATEMENT W|T ... ]")
        .says("statements are not joined with `{wrong}`")
        .write("any of { {a}; {b} }"),
];

/// Asked when nothing else is known of a comma.
pub(super) const LAST: &[Hint] = &[
    not(
        "output.a in \"x\", \"y\"",
        "!let|param|use|tags ..( ^in|any|all|none < l[ T|N @failed @outer ELEMENT ELEMENT* ] >",
    )
    .says("a list is written in brackets")
    .write("[{l}]"),
    not("a iff b, c iff d", "!let|param|use|tags &X .. iff .. < @failed , > &X")
        .says("`iff` stands between two steps")
        .help("write a statement of its own for each pair of steps"),
    not("require a 2 times, b", "a[ require .. ] < @failed , > !STATEMENT &P ...")
        .says("`require` takes no list of steps")
        .write("{a}; require {...}"),
    not("together a, b, c", "w:together|apart|not .. < @failed , > !STATEMENT &P")
        .says("`{w}` takes two steps")
        .help("write a statement of its own for each step"),
    not("first plan, search", "w:STATEMENT .. < @failed , > !STATEMENT &P")
        .says("`{w}` takes no list of steps")
        .help("write a statement of its own for each step"),
    not("args.amount > 0, args.x == 1", "!let|param|use|tags a:.. < @failed , > &X ...")
        .says("statements on one line are separated by `;`")
        .write("{a}; {...}"),
];
