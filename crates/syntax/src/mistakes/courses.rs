//! Mistakes in statements about the course of a run: arrows, lists of steps, windows, times.

use super::Find;
use super::view::{View, Write};
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Find] = &[
    immediately_each,
    immediately_alone,
    missing_step_behind_arrow,
    sequence_mode,
    alternatives_before_arrow,
    missing_arrow,
    not_both,
    either,
    pair_with_and,
    only_before,
    infix_order,
    list_with_and,
    require_not,
];

/// Words with which people write the arrow.
const ARROWS: &[&str] =
    &["=>", "-", ">", ",", "then", "before", "comes", "precedes", "to", "must", "followed", "implies", "<-"];

fn immediately_each(view: &View<'_, '_>) -> Option<Diagnostic> {
    let order = view.word(1);
    if !view.is(0, "immediately") || !matches!(order, "before" | "after") || !view.is(2, "each") {
        return None;
    }
    let arrow = view.find(3, "->").unwrap_or(view.len());
    let side = if order == "before" { view.step_or(arrow + 1, "step") } else { view.source(3, arrow) };
    let rest = view.source(3, view.len());
    Some(
        view.wrong(2, 3, format!("`immediately {order}` already speaks of every `{side}` and takes no `each`"))
            .write(format!("immediately {order} {rest}"), vec![view.edit(2, 3, "")]),
    )
}

fn immediately_alone(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "immediately") || view.is_any(1, &["before", "after"]) {
        return None;
    }
    Some(
        view.wrong(0, 1, "`immediately` stands before `before` or `after`")
            .help("write `immediately before check -> save` or `immediately after save -> log`"),
    )
}

fn missing_step_behind_arrow(view: &View<'_, '_>) -> Option<Diagnostic> {
    let last = view.len().checked_sub(1)?;
    if view.is(last, "->") {
        return Some(
            view.missing_at_end("a step is missing behind `->`")
                .help("name a tool behind the arrow, or remove the arrow"),
        );
    }
    const WORDS: &[&str] =
        &["after", "before", "between", "until", "iff", "then", "or", "and", ",", "|", "each", "proposed"];
    let stepped = crate::words::STATEMENTS.contains(&view.word(0)) || view.find(0, "iff").is_some();
    if stepped
        && last > 0
        && view.is_any(last, WORDS)
        && view.failed > last
        && view.find_any(1, &["==", ":", "<=", ">="]).is_none()
    {
        let word = view.word(last);
        return Some(
            view.missing_at_end(format!("a step is missing behind `{word}`"))
                .help(format!("name a tool behind `{word}`, or remove it")),
        );
    }
    let first = usize::from(view.is(0, "immediately"));
    let opener = first + usize::from(view.is_any(first + 1, &["each", "only", "exactly"]));
    if view.is_any(first, &["before", "after", "sequence", "flow"]) && view.is(opener + 1, "->") {
        let word = view.word(opener);
        return Some(view.wrong(opener + 1, opener + 2, format!("a step is missing between `{word}` and `->`")).help(
            format!(
                "name a tool in front of the arrow: `{} approve {}`",
                view.source(0, opener + 1),
                view.source(opener + 1, view.len())
            ),
        ));
    }
    let doubled = (0..last).find(|&at| view.is(at, "->") && view.is_any(at + 1, &["->", ",", ")", "|"]))?;
    Some(
        view.wrong(
            doubled + 1,
            doubled + 2,
            format!("a step is missing between `->` and `{}`", view.word(doubled + 1)),
        )
        .help("name a tool behind the arrow, or remove the arrow"),
    )
}

/// `sequence strictly A -> B`, `sequence A -> B exactly`.
fn sequence_mode(view: &View<'_, '_>) -> Option<Diagnostic> {
    const MODES: &[&str] = &["strictly", "strict", "exact", "directly", "immediately", "precisely"];
    if !view.is(0, "sequence") {
        return None;
    }
    if view.is_any(1, MODES) && view.behind_step(2) > 2 {
        let text = format!("sequence exactly {}", view.source(2, view.len()));
        let message = format!("a sequence of neighbours is `sequence exactly`, not `{}`", view.word(1));
        return Some(view.wrong(1, 2, message).write(text, vec![view.edit(1, 2, "exactly")]));
    }
    let end = view.modifiers(1);
    let last = end.checked_sub(1)?;
    if !view.is_any(last, &["exactly", "only"]) || view.is(last - 1, "->") || last < 2 {
        return None;
    }
    let mode = view.word(last);
    let text = format!("sequence {mode} {}", view.source(1, last));
    Some(
        view.wrong(last, last + 1, format!("`{mode}` stands behind `sequence`"))
            .write(text, vec![view.append(0, format!(" {mode}")), view.edit(last, last + 1, "")]),
    )
}

/// `before A or B -> C`: a choice is a bar, and both are two statements.
fn alternatives_before_arrow(view: &View<'_, '_>) -> Option<Diagnostic> {
    let first = usize::from(view.is(0, "immediately"));
    if !view.is_any(first, &["before", "after", "sequence", "flow"]) {
        return None;
    }
    let step = first + 1 + usize::from(view.is_any(first + 1, &["each", "only", "exactly"]));
    let mut end = view.behind_step(step);
    while view.is(end, "->") {
        end = view.behind_step(end + 1);
    }
    let joint = view.word(end);
    if view.behind_step(end + 1) == end + 1 || view.find(end, "->").is_none() && !matches!(joint, "or") {
        return None;
    }
    let arrow = view.find(end, "->");
    match joint {
        "or" | "||" => {
            Some(view.wrong(end, end + 1, format!("a choice of steps is written with `|`, not with `{joint}`")).write(
                format!("{} | {}", view.source(0, end), view.source(end + 1, view.len())),
                vec![view.edit(end, end + 1, "|")],
            ))
        }
        "and" | "&&" | "," if arrow.is_some() && view.is_any(first, &["before", "after"]) => {
            let (head, rest) = (view.source(0, step), view.source(arrow?, view.len()));
            let (left, right) = (view.source(step, end), view.source(end + 1, arrow?));
            Some(
                view.wrong(end, end + 1, format!("one step stands before the arrow, and `{joint}` adds a second"))
                    .help(format!("write `{head} {left} {rest}` and `{head} {right} {rest}` on two lines; for either of them `{head} {left} | {right} {rest}`")),
            )
        }
        _ => None,
    }
}

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

fn not_both(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.are(0, &["not", "both"]) {
        return None;
    }
    let end = view.behind_pattern(2);
    if end == 2 || !view.is_any(end, &["or", "and", "nor", "&&", "||"]) {
        return None;
    }
    let (left, right) = (view.source(2, end), view.source(end + 1, view.len()));
    Some(
        view.wrong(end, end + 1, "`not both` takes two steps with a comma between them")
            .write(format!("not both {left}, {right}"), vec![view.edit(end, end + 1, ",")]),
    )
}

fn either(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "either") {
        return None;
    }
    let end = view.behind_step(1);
    let left = view.source(1, end);
    match view.word(end) {
        "where" => None,
        "and" | "&&" => {
            let right = view.step_or(end + 1, "step");
            Some(view.wrong(end, end + 1, "`either` joins its steps with `or`, found `and`").help(format!(
                "write `either {left} or {right}`, or `require {left}` and `require {right}` on two lines"
            )))
        }
        "," | "|" | "||" => {
            let rest = view.source(end + 1, view.len());
            Some(
                view.wrong(end, end + 1, format!("`either` joins its steps with `or`, found `{}`", view.word(end)))
                    .write(
                        format!("either {left} or {rest}"),
                        vec![view.edit(end, end + 1, if view.touches(end) { " or" } else { "or" })],
                    ),
            )
        }
        "" if end > 1 => Some(
            view.missing_at_end("`either` needs a second step")
                .help(format!("write `either {left} or other`, or `require {left}`")),
        ),
        _ => None,
    }
}

/// `together A and B`.
fn pair_with_and(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if !matches!(word, "together" | "apart") {
        return None;
    }
    let end = view.behind_pattern(1);
    if end == 1 || view.is(end, ",") {
        return None;
    }
    let joint = usize::from(view.is_any(end, &["and", "with", "or", "&&", "from", "|"]));
    if view.behind_step(end + joint) == end + joint {
        return None;
    }
    let (left, right) = (view.source(1, end), view.source(end + joint, view.len()));
    let edit = if joint == 0 { view.append(end - 1, ",") } else { view.edit(end, end + 1, ",") };
    Some(
        view.wrong(end, end + 1, format!("`{word}` takes two steps with a comma between them"))
            .write(format!("{word} {left}, {right}"), vec![edit]),
    )
}

/// `B only before A`.
fn only_before(view: &View<'_, '_>) -> Option<Diagnostic> {
    let end = view.behind_step(0);
    if end == 0 || !view.is(end, "only") || !view.is_any(end + 1, &["before", "within", "when", "if", "between"]) {
        return None;
    }
    let (left, order) = (view.source(0, end), view.word(end + 1));
    let right = view.step_or(end + 2, "step");
    let diagnostic = view.wrong(end, end + 2, format!("`only {order}` is no order of steps; there is `only after`"));
    Some(match order {
        "before" => diagnostic.help(format!("write `never {left} after {right}`, or `before {left} -> {right}`")),
        _ => diagnostic.help(format!("write `{left} only after {right}`")),
    })
}

/// `A before B`, `A after B`, `A never after B`, `A then B`.
fn infix_order(view: &View<'_, '_>) -> Option<Diagnostic> {
    let end = view.behind_step(0);
    if end == 0 || crate::words::STATEMENTS.contains(&view.word(0)) || view.failed > end + 1 {
        return None;
    }
    let mut order = end;
    while view.is_any(
        order,
        &["must", "should", "always", "comes", "come", "happens", "is", "be", "immediately", "never", "not"],
    ) {
        order += 1;
    }
    let never = (end..order).any(|at| view.is_any(at, &["never", "not"]));
    let immediately = if (end..order).any(|at| view.is(at, "immediately")) { "immediately " } else { "" };
    let (left, target) = (view.source(0, end), order + 1);
    if view.behind_pattern(target) == target {
        return None;
    }
    let right = view.source(target, view.len());
    let text = match view.word(order) {
        word @ ("before" | "after") if never => format!("never {left} {word} {right}"),
        "before" | "precedes" => format!("{immediately}before {left} -> {right}"),
        "after" | "follows" => format!("{immediately}before {right} -> {left}"),
        "requires" | "needs" => format!("{left} only after {right}"),
        "then" | "->" | "=>" => format!("sequence {left} -> {right}"),
        _ => return None,
    };
    let (word, all) = (view.word(order), view.len());
    let edit = view.edit(0, all, text.clone());
    Some(
        view.wrong(end, order + 1, format!("a statement begins with its word, and `{word}` stands between two steps"))
            .write(text, vec![edit]),
    )
}

/// `never A and B`, `only A or B`.
fn list_with_and(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if !matches!(word, "never" | "only" | "require" | "first" | "last") {
        return None;
    }
    let mut end = view.behind_step(1);
    while end > 1 && view.is(end, ",") {
        end = view.behind_step(end + 1);
    }
    let joint = view.word(end);
    if end == 1 || !matches!(joint, "and" | "or" | "&&" | "||" | "nor") || view.behind_step(end + 1) == end + 1 {
        return None;
    }
    let (before, rest) = (view.source(0, end), view.source(end + 1, view.len()));
    if word == "require" && view.is(end + 1, "not") {
        let text = format!("{before}; never {}", view.source(end + 2, view.len()));
        return Some(
            view.wrong(end, end + 1, format!("the steps of `require` are not joined with `{joint}`"))
                .write(text, vec![view.edit(end, end + 2, "; never")]),
        );
    }
    let diagnostic = view.wrong(end, end + 1, format!("the steps of `{word}` are not joined with `{joint}`"));
    let touching = if matches!(joint, "and" | "or" | "nor") { "," } else { " ," };
    Some(match word {
        "never" | "only" => diagnostic.write(format!("{before}, {rest}"), vec![view.edit(end, end + 1, touching)]),
        "require" if matches!(joint, "and" | "&&") => {
            diagnostic.help(format!("write `{before}` and `require {rest}` on two lines"))
        }
        _ => diagnostic.write(format!("{before} | {rest}"), vec![view.edit(end, end + 1, "|")]),
    })
}

/// `require not A`, `require no A`, `never not A`.
fn require_not(view: &View<'_, '_>) -> Option<Diagnostic> {
    let (message, word) = match (view.word(0), view.word(1)) {
        ("require", "not" | "no" | "never") => ("what must not occur is said with `never`", "never"),
        ("never", "not" | "no") => ("what must occur is said with `require`", "require"),
        _ => return None,
    };
    let end = view.behind_pattern(2);
    if end == 2 {
        return None;
    }
    let text = format!("{word} {}", view.source(2, view.len()));
    Some(view.wrong(0, 2, message).write(text, vec![view.edit(0, 2, word)]))
}
