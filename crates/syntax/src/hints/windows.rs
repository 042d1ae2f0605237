//! Hints for mistakes in windows and bounds: `until`, `between`, `within`.

use super::hint::{Hint, pattern_hint};

pub(super) const TABLE: &[Hint] = &[
    pattern_hint("never a between b until c", "never x:.. before|between a:P? .. < until @unread > b:P?")
        .with_message("`until` closes only a window that `after` opened")
        .with_help("write `never {x} between {a?A} and {b?B}`"),
    pattern_hint("never a until b", "never !..before|between x:.. < until @unread > b:P?")
        .with_message("`until` closes only a window that `after` opened")
        .with_help("write `never {x} before {b?B}`"),
    pattern_hint("require a until b", "never|before|between|each|require|only|count|no .. < until @unread > b:P?")
        .with_message("`until` closes only a window that `after` opened")
        .with_help("write a block: `after A until {b?B} { … }`"),
    pattern_hint("if refund then notify within 3 calls", "@unmeasured w:if a:.. then b:.. v[ < @read within > ... ]")
        .with_message(WITHIN)
        .with_help("write `after {a} -> {b} {v}`"),
    pattern_hint("require notify within 3 calls", "@unmeasured w:require|never a:P? .. v[ < @read within > ... ]")
        .with_message(WITHIN)
        .with_help("write `after A -> {a?B} {v}`"),
    pattern_hint("only notify within 3 calls", "@unmeasured w:X .. v[ < @read within > ... ]")
        .with_message(WITHIN)
        .with_help("remove `{v}`"),
    pattern_hint("after a -> b within two calls", "@measured .. @read within < n:WORDED >")
        .with_message("`within` needs calls, turns or a duration")
        .with_help("write `within {n|digits} calls`, `within {n|digits} turns` or `within {n|digits}s`"),
    pattern_hint("after a -> b within", "@measured .. @read within < !N X? >")
        .with_message("`within` needs calls, turns or a duration")
        .with_help("write `within … calls`, `within … turns` or `within …s`"),
    pattern_hint("after a -> b within 3 minutes", "@measured .. @read within n:N < @failed !SPAN u:UNIT >")
        .with_message("`within` needs calls, turns or a duration")
        .with_rewrite("within {n}{u|unit}"),
    pattern_hint("after a -> b within 3 dogs", "@measured h:.. @read within n:N < @failed !SPAN X? >")
        .with_message("`within` needs calls, turns or a duration")
        .with_help("write `{h} within {n|whole} calls`, `within {n|whole} turns` or `within {n|whole}s`"),
    pattern_hint(
        "between a to c { never b }",
        "&between|never h[ .. between S ] < ,|to|->|until|..|'&&'|or|- > &S ...",
    )
    .with_message("the two steps of `between` are joined with `and`")
    .with_rewrite("{h} and {...}"),
    pattern_hint("between a c { never b }", "&between|never h[ .. between S ] !and|where|'|' b[ < &S X > ... ]")
        .with_message("the two steps of `between` are joined with `and`")
        .with_rewrite("{h} and {b}"),
    pattern_hint("never b between a", "&between|never h[ .. between S ] !and|where|'|' <>")
        .with_message("`between` needs two steps with `and` between them")
        .with_help("write `{h} and B`"),
];

const WITHIN: &str =
    "`within` stands after before, after, sequence or `never … after`; a bare `{w}` has no start to measure from";
