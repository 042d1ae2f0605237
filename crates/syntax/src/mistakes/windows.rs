//! Mistakes in windows and bounds: `until`, `between`, `within`.

use super::Find;
use super::times::number_word;
use super::view::{View, Write};
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Find] = &[until_without_after, within, between_without_and];

fn until_without_after(view: &View<'_, '_>) -> Option<Diagnostic> {
    let until = view.find(1, "until")?;
    if view.failed > until + 1
        || !view.is_any(0, &["never", "before", "between", "each", "require", "only", "count", "no"])
    {
        return None;
    }
    let closing = view.step_or(until + 1, "step");
    let diagnostic = view.wrong(until, until + 1, "`until` closes only a window that `after` opened");
    Some(match view.find_any(1, &["before", "between"]) {
        Some(before) if view.is(0, "never") && before < until => {
            let (steps, opening) = (view.source(1, before), view.step_or(before + 1, "step"));
            diagnostic.help(format!("write `never {steps} between {opening} and {closing}`"))
        }
        None if view.is(0, "never") => {
            let steps = view.source(1, until);
            diagnostic.help(format!("write `never {steps} before {closing}`"))
        }
        _ => diagnostic.help(format!("write a block: `after start until {closing} {{ … }}`")),
    })
}

fn within(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.find(1, "within")?;
    if view.failed < at {
        return None;
    }
    let takes = view.is_any(0, &["before", "after", "sequence", "immediately"])
        || (view.is(0, "never") && view.find(1, "after").is_some());
    if !takes {
        let what = view.word(0);
        let why = format!(
            "`within` stands after before, after, sequence or `never … after`; a bare `{what}` has no start to measure from"
        );
        let diagnostic = view.wrong(at, at + 1, why);
        let (step, rest) = (view.step_or(1, "step"), view.source(at, view.len()));
        let then = view.find(1, "then").filter(|_| what == "if");
        return Some(match (what, then) {
            (_, Some(then)) => diagnostic.help(format!(
                "write `after {} -> {} {rest}`",
                view.source(1, then),
                view.source(then + 1, at)
            )),
            ("require" | "never", _) => diagnostic.help(format!("write `after start -> {step} {rest}`")),
            _ => diagnostic.help(format!("remove `{rest}`")),
        });
    }
    let needs = "`within` needs calls, turns or a duration";
    if !view.is_number(at + 1) {
        let number = number_word(view.word(at + 1)).unwrap_or(3);
        let diagnostic =
            if at + 1 >= view.len() { view.missing_at_end(needs) } else { view.wrong(at + 1, at + 2, needs) };
        return Some(
            diagnostic.help(format!("write `within {number} calls`, `within {number} turns` or `within {number}s`")),
        );
    }
    let number = view.word(at + 1);
    let unit = at + 2;
    if view.is_any(unit, &["call", "calls", "turn", "turns"]) || view.failed != unit {
        return None;
    }
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    if view.is_word(unit)
        && let Some(meant) = crate::number::meant_unit(view.word(unit))
    {
        let text = format!("within {number}{meant}");
        return Some(
            view.wrong(unit, unit + 1, needs)
                .write(text, vec![view.edit(at + 1, unit + 1, format!("{number}{meant}"))]),
        );
    }
    let shown = if unit < view.len() { view.wrong(unit, unit + 1, needs) } else { view.missing_at_end(needs) };
    Some(shown.help(format!("write `within {digits} calls`, `within {digits} turns` or `within {digits}s`")))
}

/// `between A to C`, `never B between A, C`.
fn between_without_and(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.find(0, "between")?;
    if at > 0 && !view.is(0, "never") {
        return None;
    }
    let end = view.behind_step(at + 1);
    if end == at + 1 || view.is_any(end, &["and", "where", "|"]) {
        return None;
    }
    let joint = usize::from(view.is_any(end, &[",", "to", "->", "until", "..", "&&", "or", "-"]));
    if view.behind_step(end + joint) == end + joint {
        let left = view.source(0, end);
        return Some(
            view.wrong_behind(end, "`between` needs two steps with `and` between them")
                .help(format!("write `{left} and other`")),
        );
    }
    let text = format!("{} and {}", view.source(0, end), view.source(end + joint, view.len()));
    let edit = if joint == 0 { view.insert(end, "and ") } else { view.edit(end, end + 1, " and") };
    Some(view.wrong(end, end + 1, "the two steps of `between` are joined with `and`").write(text, vec![edit]))
}
