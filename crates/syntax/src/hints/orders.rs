//! Hints for mistakes in statements about the order of steps: arrows, lists of steps, orders said in other words.

use super::hint::{Hint, function_hint, pattern_hint};
use super::view::{StatementView, SuggestText};
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Hint] = &[
    pattern_hint("immediately before each a -> b", "immediately before < each > v[ .. -> s:P? ... ]")
        .with_message("`immediately before` already speaks of every `{s?step}` and takes no `each`")
        .with_rewrite("immediately before {v}"),
    pattern_hint("immediately after each a -> b", "immediately after < each > v[ s:.. -> ... ]")
        .with_message("`immediately after` already speaks of every `{s}` and takes no `each`")
        .with_rewrite("immediately after {v}"),
    pattern_hint("immediately a -> b", "< immediately > !before|after")
        .with_message("`immediately` stands before `before` or `after`")
        .with_help("write `immediately before A -> B` or `immediately after A -> B`"),
    pattern_hint("before a ->", "..( -> <> @end")
        .with_message("a step is missing behind `->`")
        .with_help("name a tool behind the arrow, or remove the arrow"),
    pattern_hint(
        "never a after",
        "@steps !..==|:|<=|>= X .. w:after|before|between|until|iff|then|or|and|,|'|'|each|proposed <> @end @failed",
    )
    .with_message("a step is missing behind `{w}`")
    .with_help("name a tool behind `{w}`, or remove it"),
    pattern_hint("before -> b", "h[ immediately? w:before|after|sequence|flow ] v[ < -> > ... ]")
        .with_message("a step is missing between `{w}` and `->`")
        .with_help("name a tool in front of the arrow: `{h} A {v}`"),
    pattern_hint("before a -> -> b", "..( -> < ->|,|')'|'|' >")
        .with_message("a step is missing between `->` and `{wrong}`")
        .with_help("name a tool behind the arrow, or remove the arrow"),
    pattern_hint("sequence strictly a -> b", "sequence < strictly|strict|exact|directly|immediately|precisely > &S ...")
        .with_message("a sequence of neighbours is `sequence exactly`, not `{wrong}`")
        .with_rewrite("sequence exactly {...}"),
    pattern_hint("sequence a -> b exactly", "sequence a:.. < ^!-> w:exactly|only > @modifiers")
        .with_message("`{w}` stands behind `sequence`")
        .with_rewrite("sequence {w|moved} {a}"),
    pattern_hint(
        "before a or b -> c",
        "h[ immediately? before|after|sequence|flow each|only|exactly? CHAIN ] < or|'||' > &S ...",
    )
    .with_message("a choice of steps is written with `|`, not with `{wrong}`")
    .with_rewrite("{h} | {...}"),
    pattern_hint(
        "before a and b -> c",
        "h[ immediately? before|after each|only|exactly? ] a:CHAIN < and|'&&'|, > &S b:.. v[ -> ... ]",
    )
    .with_message("one step stands before the arrow, and `{wrong}` adds a second")
    .with_help("write `{h} {a} {v}` and `{h} {b} {v}` on two lines; for either of them `{h} {a} | {b} {v}`"),
    function_hint("before a => b", missing_arrow),
    pattern_hint("not both a and b", "not both a:P < or|and|nor|'&&'|'||' > ...")
        .with_message("`not both` takes two steps with a comma between them")
        .with_rewrite("not both {a}, {...}"),
    pattern_hint("either a and b", "either a:S < and|'&&' > b:P?")
        .with_message("`either` joins its steps with `or`, found `and`")
        .with_help("write `either {a} or {b?B}`, or `require {a}` and `require {b?B}` on two lines"),
    pattern_hint("either a, b", "either a:S < ,|'|'|'||' > ...")
        .with_message("`either` joins its steps with `or`, found `{wrong}`")
        .with_rewrite("either {a} or {...}"),
    pattern_hint("either a", "either a:S <> @end")
        .with_message("`either` needs a second step")
        .with_help("write `either {a} or B`, or `require {a}`"),
    pattern_hint("together a and b", "w:together|apart a:P < and|with|or|'&&'|from|'|' > &S ...")
        .with_message("`{w}` takes two steps with a comma between them")
        .with_rewrite("{w} {a}, {...}"),
    pattern_hint("together a b", "w:together|apart a:P !,|and|with|or|'&&'|from|'|' b[ < &S X > ... ]")
        .with_message("`{w}` takes two steps with a comma between them")
        .with_rewrite("{w} {a}, {b}"),
    pattern_hint("b only before a", "a:S < only before > b:P?")
        .with_message("`only before` is no order of steps; there is `only after`")
        .with_help("write `never {a} after {b?B}`, or `before {a} -> {b?B}`"),
    pattern_hint("b only when a", "a:S < only w:within|when|if|between > b:P?")
        .with_message("`only {w}` is no order of steps; there is `only after`")
        .with_help("write `{a} only after {b?B}`"),
    pattern_hint("a never after b", "!STATEMENT a:S @begun < ORDER* never|not ORDER* w:before|after > &P ...")
        .with_message("a statement begins with its word, and `{w}` stands between two steps")
        .with_rewrite("never {a} {w} {...}"),
    pattern_hint("a must come before b", "!STATEMENT a:S @begun < f:ORDER* w:before|precedes > &P ...")
        .with_message("a statement begins with its word, and `{w}` stands between two steps")
        .with_rewrite("{f|soon}before {a} -> {...}"),
    pattern_hint("a after b", "!STATEMENT a:S @begun < f:ORDER* w:after > &P ...")
        .with_message("a statement begins with its word, and `{w}` stands between two steps")
        .with_rewrite("{f|soon}before {...} -> {a}"),
    pattern_hint("a requires b", "!STATEMENT a:S @begun < ORDER* w:requires|needs > &P ...")
        .with_message("a statement begins with its word, and `{w}` stands between two steps")
        .with_rewrite("{a} only after {...}"),
    pattern_hint("a -> b", "!STATEMENT a:S @begun < ->|=> > b:P ...")
        .with_message("a statement begins with its word, and `{wrong}` stands between two steps")
        .with_help("write `before {a} -> {b}` when {a} has to come first, `after {a} -> {b}` when {b} has to follow, or `sequence {a} -> {b}` for both"),
    pattern_hint("a then b", "!STATEMENT a:S @begun < ORDER* w:then > &P ...")
        .with_message("a statement begins with its word, and `{w}` stands between two steps")
        .with_rewrite("sequence {a} -> {...}"),
    pattern_hint("require a and not b", "h[ require STEPS ] < JOINT > not ...")
        .with_message("the steps of `require` are not joined with `{wrong}`")
        .with_rewrite("{h}; never {...}"),
    pattern_hint("never a and b", "h[ w:never|only STEPS ] < JOINT > &S ...")
        .with_message("the steps of `{w}` are not joined with `{wrong}`")
        .with_rewrite("{h}, {...}"),
    pattern_hint("require a and b", "h[ require STEPS ] < and|'&&' > &S ...")
        .with_message("the steps of `require` are not joined with `{wrong}`")
        .with_help("write `{h}` and `require {...}` on two lines"),
    pattern_hint("require a or b", "h[ w:require|first|last STEPS ] < JOINT > &S ...")
        .with_message("the steps of `{w}` are not joined with `{wrong}`")
        .with_rewrite("{h} | {...}"),
    pattern_hint("require no a", "< require not|no|never > &P ...")
        .with_message("what must not occur is said with `never`")
        .with_rewrite("never {...}"),
    pattern_hint("never not a", "< never not|no > &P ...").with_message("what must occur is said with `require`").with_rewrite("require {...}"),
];

const ARROWS: &[&str] =
    &["=>", "-", ">", ",", "then", "before", "comes", "precedes", "to", "must", "followed", "implies", "<-"];

/// `before A B`, `before A => B`, `sequence A, B`.
fn missing_arrow(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let first = usize::from(view.token_is(0, "immediately"));
    let word = view.token_text(first);
    if !matches!(word, "before" | "after" | "sequence" | "flow") {
        return None;
    }
    let step = first
        + 1
        + usize::from(view.is_any(first + 1, &["each", "only", "exactly"]) && view.behind_step(first + 2) > first + 2);
    let mut end = view.behind_pattern(step);
    while end > step && view.token_is(end, "->") && view.behind_pattern(end + 1) > end + 1 {
        end = view.behind_pattern(end + 1);
    }
    let arrow = view.find_word(step, "->").is_some_and(|arrow| arrow < end);
    let modifier = super::settings::meant_modifier(view.token_text(end)).is_some() || view.is_number(end + 1);
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
    if view.token_is(next, "by") {
        next += 1;
    }
    let kind_of_step = view.behind_pattern(next);
    if kind_of_step == next || (word == "after" && view.find_word(end, "{").is_some()) {
        return None;
    }
    let listed = matches!(word, "sequence" | "flow") && view.find_any(end, &["(", "|"]).is_none();
    let whole = if listed { arrows_in_sequence(view, next) } else { view.source_text(next, view.len()) };
    let text = format!("{} -> {whole}", view.source_text(0, end));
    let message = if next == end {
        format!("`{word}` needs `->` between its steps")
    } else {
        format!("the arrow is `->`, not `{}`", view.source_text(end, next))
    };
    let space = if view.touches_previous(end) { " " } else { "" };
    let edit = match word {
        _ if listed => view.replace_tokens(end, view.len(), format!("{space}-> {whole}")),
        _ if next == end => view.insert_after(end - 1, " ->"),
        _ => view.replace_tokens(end, next, format!("{space}->")),
    };
    Some(view.syntax_error(end, next.max(end + 1), message).suggest_text(text, vec![edit]))
}

fn arrows_in_sequence(view: &StatementView<'_, '_>, at: usize) -> String {
    let mut steps = Vec::new();
    let mut here = at;
    loop {
        let end = view.behind_pattern(here);
        if end == here {
            break;
        }
        steps.push(view.source_text(here, end));
        if !view.is_any(end, ARROWS) && !view.token_is(end, "->") {
            here = end;
            break;
        }
        here = end + 1;
    }
    let rest = view.source_text(here, view.len());
    let joined = steps.join(" -> ");
    if rest.is_empty() { joined } else { format!("{joined} {rest}") }
}
