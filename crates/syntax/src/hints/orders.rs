//! Hints for mistakes in statements about the order of steps: arrows, lists of steps, orders said in other words.

use super::hint::{Hint, ask, not};
use super::view::{View, Write};
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Hint] = &[
    not("immediately before each a -> b", "immediately before < each > v[ .. -> s:P? ... ]")
        .says("`immediately before` already speaks of every `{s?step}` and takes no `each`")
        .write("immediately before {v}"),
    not("immediately after each a -> b", "immediately after < each > v[ s:.. -> ... ]")
        .says("`immediately after` already speaks of every `{s}` and takes no `each`")
        .write("immediately after {v}"),
    not("immediately a -> b", "< immediately > !before|after")
        .says("`immediately` stands before `before` or `after`")
        .help("write `immediately before check -> save` or `immediately after save -> log`"),
    not("before a ->", "..( -> <> @end")
        .says("a step is missing behind `->`")
        .help("name a tool behind the arrow, or remove the arrow"),
    not(
        "never a after",
        "@steps !..==|:|<=|>= X .. w:after|before|between|until|iff|then|or|and|,|'|'|each|proposed <> @end @failed",
    )
    .says("a step is missing behind `{w}`")
    .help("name a tool behind `{w}`, or remove it"),
    not("before -> b", "h[ immediately? w:before|after|sequence|flow ] v[ < -> > ... ]")
        .says("a step is missing between `{w}` and `->`")
        .help("name a tool in front of the arrow: `{h} approve {v}`"),
    not("before a -> -> b", "..( -> < ->|,|')'|'|' >")
        .says("a step is missing between `->` and `{wrong}`")
        .help("name a tool behind the arrow, or remove the arrow"),
    not("sequence strictly a -> b", "sequence < strictly|strict|exact|directly|immediately|precisely > &S ...")
        .says("a sequence of neighbours is `sequence exactly`, not `{wrong}`")
        .write("sequence exactly {...}"),
    not("sequence a -> b exactly", "sequence a:.. < ^!-> w:exactly|only > @modifiers")
        .says("`{w}` stands behind `sequence`")
        .write("sequence {w|moved} {a}"),
    not(
        "before a or b -> c",
        "h[ immediately? before|after|sequence|flow each|only|exactly? CHAIN ] < or|'||' > &S ...",
    )
    .says("a choice of steps is written with `|`, not with `{wrong}`")
    .write("{h} | {...}"),
    not(
        "before a and b -> c",
        "h[ immediately? before|after each|only|exactly? ] a:CHAIN < and|'&&'|, > &S b:.. v[ -> ... ]",
    )
    .says("one step stands before the arrow, and `{wrong}` adds a second")
    .help("write `{h} {a} {v}` and `{h} {b} {v}` on two lines; for either of them `{h} {a} | {b} {v}`"),
    ask("before a => b", missing_arrow),
    not("not both a and b", "not both a:P < or|and|nor|'&&'|'||' > ...")
        .says("`not both` takes two steps with a comma between them")
        .write("not both {a}, {...}"),
    not("either a and b", "either a:S < and|'&&' > b:P?")
        .says("`either` joins its steps with `or`, found `and`")
        .help("write `either {a} or {b?step}`, or `require {a}` and `require {b?step}` on two lines"),
    not("either a, b", "either a:S < ,|'|'|'||' > ...")
        .says("`either` joins its steps with `or`, found `{wrong}`")
        .write("either {a} or {...}"),
    not("either a", "either a:S <> @end")
        .says("`either` needs a second step")
        .help("write `either {a} or other`, or `require {a}`"),
    not("together a and b", "w:together|apart a:P < and|with|or|'&&'|from|'|' > &S ...")
        .says("`{w}` takes two steps with a comma between them")
        .write("{w} {a}, {...}"),
    not("together a b", "w:together|apart a:P !,|and|with|or|'&&'|from|'|' b[ < &S X > ... ]")
        .says("`{w}` takes two steps with a comma between them")
        .write("{w} {a}, {b}"),
    not("b only before a", "a:S < only before > b:P?")
        .says("`only before` is no order of steps; there is `only after`")
        .help("write `never {a} after {b?step}`, or `before {a} -> {b?step}`"),
    not("b only when a", "a:S < only w:within|when|if|between > b:P?")
        .says("`only {w}` is no order of steps; there is `only after`")
        .help("write `{a} only after {b?step}`"),
    not("a never after b", "!STATEMENT a:S @begun < ORDER* never|not ORDER* w:before|after > &P ...")
        .says("a statement begins with its word, and `{w}` stands between two steps")
        .write("never {a} {w} {...}"),
    not("a must come before b", "!STATEMENT a:S @begun < f:ORDER* w:before|precedes > &P ...")
        .says("a statement begins with its word, and `{w}` stands between two steps")
        .write("{f|soon}before {a} -> {...}"),
    not("a after b", "!STATEMENT a:S @begun < f:ORDER* w:after > &P ...")
        .says("a statement begins with its word, and `{w}` stands between two steps")
        .write("{f|soon}before {...} -> {a}"),
    not("a requires b", "!STATEMENT a:S @begun < ORDER* w:requires|needs > &P ...")
        .says("a statement begins with its word, and `{w}` stands between two steps")
        .write("{a} only after {...}"),
    not("a -> b", "!STATEMENT a:S @begun < ->|=> > b:P ...")
        .says("a statement begins with its word, and `{wrong}` stands between two steps")
        .help("write `before {a} -> {b}` when {a} has to come first, `after {a} -> {b}` when {b} has to follow, or `sequence {a} -> {b}` for both"),
    not("a then b", "!STATEMENT a:S @begun < ORDER* w:then > &P ...")
        .says("a statement begins with its word, and `{w}` stands between two steps")
        .write("sequence {a} -> {...}"),
    not("require a and not b", "h[ require STEPS ] < JOINT > not ...")
        .says("the steps of `require` are not joined with `{wrong}`")
        .write("{h}; never {...}"),
    not("never a and b", "h[ w:never|only STEPS ] < JOINT > &S ...")
        .says("the steps of `{w}` are not joined with `{wrong}`")
        .write("{h}, {...}"),
    not("require a and b", "h[ require STEPS ] < and|'&&' > &S ...")
        .says("the steps of `require` are not joined with `{wrong}`")
        .help("write `{h}` and `require {...}` on two lines"),
    not("require a or b", "h[ w:require|first|last STEPS ] < JOINT > &S ...")
        .says("the steps of `{w}` are not joined with `{wrong}`")
        .write("{h} | {...}"),
    not("require no a", "< require not|no|never > &P ...")
        .says("what must not occur is said with `never`")
        .write("never {...}"),
    not("never not a", "< never not|no > &P ...").says("what must occur is said with `require`").write("require {...}"),
];

/// Words with which people write the arrow.
const ARROWS: &[&str] =
    &["=>", "-", ">", ",", "then", "before", "comes", "precedes", "to", "must", "followed", "implies", "<-"];

/// `before A B`, `before A => B`, `sequence A, B`.
fn missing_arrow(view: &View<'_, '_>) -> Option<Diagnostic> {
    let first = usize::from(view.is(0, "immediately"));
    let word = view.word(first);
    if !matches!(word, "before" | "after" | "sequence" | "flow") {
        return None;
    }
    let step = first
        + 1
        + usize::from(view.is_any(first + 1, &["each", "only", "exactly"]) && view.behind_step(first + 2) > first + 2);
    let mut end = view.behind_pattern(step);
    while end > step && view.is(end, "->") && view.behind_pattern(end + 1) > end + 1 {
        end = view.behind_pattern(end + 1);
    }
    let arrow = view.find(step, "->").is_some_and(|arrow| arrow < end);
    let modifier = super::settings::meant_modifier(view.word(end)).is_some() || view.is_number(end + 1);
    if end == step
        || end >= view.len()
        || view.is_any(end, &["->", "{", "until", "within"])
        || arrow && (word != "sequence" || modifier)
    {
        return None;
    }
    let mut next = end;
    while view.is_any(next, ARROWS) && view.behind_step(next + 1) > next + 1 {
        next += 1;
    }
    if view.is(next, "by") {
        next += 1;
    }
    let kind_of_step = view.behind_pattern(next);
    if kind_of_step == next || (word == "after" && view.find(end, "{").is_some()) {
        return None;
    }
    let listed = matches!(word, "sequence" | "flow") && view.find_any(end, &["(", "|"]).is_none();
    let whole = if listed { arrows_in_sequence(view, next) } else { view.source(next, view.len()) };
    let text = format!("{} -> {whole}", view.source(0, end));
    let message = if next == end {
        format!("`{word}` needs `->` between its steps")
    } else {
        format!("the arrow is `->`, not `{}`", view.source(end, next))
    };
    let space = if view.touches(end) { " " } else { "" };
    let edit = match word {
        _ if listed => view.edit(end, view.len(), format!("{space}-> {whole}")),
        _ if next == end => view.append(end - 1, " ->"),
        _ => view.edit(end, next, format!("{space}->")),
    };
    Some(view.wrong(end, next.max(end + 1), message).write(text, vec![edit]))
}

/// The steps of a sequence from `at` on, with arrows between them.
fn arrows_in_sequence(view: &View<'_, '_>, at: usize) -> String {
    let mut steps = Vec::new();
    let mut here = at;
    loop {
        let end = view.behind_pattern(here);
        if end == here {
            break;
        }
        steps.push(view.source(here, end));
        if !view.is_any(end, ARROWS) && !view.is(end, "->") {
            here = end;
            break;
        }
        here = end + 1;
    }
    let rest = view.source(here, view.len());
    let joined = steps.join(" -> ");
    if rest.is_empty() { joined } else { format!("{joined} {rest}") }
}
