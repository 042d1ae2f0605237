//! Hints for mistakes in windows and bounds: `until`, `between`, `within`.

use super::hint::{Hint, not};

pub(super) const TABLE: &[Hint] = &[
    not("never a between b until c", "never x:.. before|between a:P? .. < until @unread > b:P?")
        .says("`until` closes only a window that `after` opened")
        .help("write `never {x} between {a?step} and {b?step}`"),
    not("never a until b", "never !..before|between x:.. < until @unread > b:P?")
        .says("`until` closes only a window that `after` opened")
        .help("write `never {x} before {b?step}`"),
    not("require a until b", "never|before|between|each|require|only|count|no .. < until @unread > b:P?")
        .says("`until` closes only a window that `after` opened")
        .help("write a block: `after start until {b?step} { … }`"),
    not("if refund then notify within 3 calls", "@unmeasured w:if a:.. then b:.. v[ < @read within > ... ]")
        .says(WITHIN)
        .help("write `after {a} -> {b} {v}`"),
    not("require notify within 3 calls", "@unmeasured w:require|never a:P? .. v[ < @read within > ... ]")
        .says(WITHIN)
        .help("write `after start -> {a?step} {v}`"),
    not("only notify within 3 calls", "@unmeasured w:X .. v[ < @read within > ... ]").says(WITHIN).help("remove `{v}`"),
    not("after a -> b within two calls", "@measured .. @read within < n:WORDED >")
        .says("`within` needs calls, turns or a duration")
        .help("write `within {n|digits} calls`, `within {n|digits} turns` or `within {n|digits}s`"),
    not("after a -> b within", "@measured .. @read within < !N X? >")
        .says("`within` needs calls, turns or a duration")
        .help("write `within 3 calls`, `within 3 turns` or `within 3s`"),
    not("after a -> b within 3 minutes", "@measured .. @read within n:N < @failed !SPAN u:UNIT >")
        .says("`within` needs calls, turns or a duration")
        .write("within {n}{u|unit}"),
    not("after a -> b within 3 dogs", "@measured h:.. @read within n:N < @failed !SPAN X? >")
        .says("`within` needs calls, turns or a duration")
        .help("write `{h} within {n|whole} calls`, `within {n|whole} turns` or `within {n|whole}s`"),
    not("between a to c { never b }", "&between|never h[ .. between S ] < ,|to|->|until|..|'&&'|or|- > &S ...")
        .says("the two steps of `between` are joined with `and`")
        .write("{h} and {...}"),
    not("between a c { never b }", "&between|never h[ .. between S ] !and|where|'|' b[ < &S X > ... ]")
        .says("the two steps of `between` are joined with `and`")
        .write("{h} and {b}"),
    not("never b between a", "&between|never h[ .. between S ] !and|where|'|' <>")
        .says("`between` needs two steps with `and` between them")
        .help("write `{h} and other`"),
];

const WITHIN: &str =
    "`within` stands after before, after, sequence or `never … after`; a bare `{w}` has no start to measure from";
