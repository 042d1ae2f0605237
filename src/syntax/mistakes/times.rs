//! Mistakes in saying how often a step occurs.

use super::Find;
use super::view::{View, Write};
use crate::diagnostic::Diagnostic;

pub(super) const TABLE: &[Find] = &[repeat, times_in_front, times_in_words, count_without_comparison];

/// `never repeat A`, `never repeat A 3 times`.
fn repeat(view: &View<'_, '_>) -> Option<Diagnostic> {
    let (start, message) = match (view.word(0), view.word(1)) {
        ("never", "repeat" | "repeats") => (2, "`never repeat` needs a number"),
        ("repeat", _) => (1, "`never repeat` says how often the same call may follow itself"),
        _ => return None,
    };
    let end = view.behind_pattern(start);
    let step = view.step_or(start, "search");
    let number = (end..view.len()).find(|&at| view.is_number(at)).map_or("3".to_owned(), |at| view.word(at).to_owned());
    let help = format!("write `never repeat {step} more than {number} times`");
    if end >= view.len() {
        return Some(view.wrong_behind(end, message).help(help));
    }
    Some(view.wrong(end, end + 1, "how often is said with `more than … times`").help(help))
}

/// `require 2 search`, `never 3 search`.
fn times_in_front(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "require") {
        return None;
    }
    let mut at = 1;
    let (mut low, mut high) = (String::new(), String::new());
    if view.are(at, &["at", "least"]) || view.are(at, &["at", "most"]) {
        (low, high) =
            if view.is(at + 1, "least") { (String::new(), "..".to_owned()) } else { ("..".to_owned(), String::new()) };
        at += 2;
    } else if view.is(at, "exactly") {
        at += 1;
    }
    let number = if view.is_number(at) { view.word(at).to_owned() } else { number_word(view.word(at))?.to_string() };
    if !view.is_number(at) && at == 1 && view.behind_step(at + 1) == at + 1 {
        return None;
    }
    let mut step = at + 1;
    while view.is_any(step, &["x", "times", "calls", "call", "of", "to", "*"]) && view.behind_step(step + 1) > step + 1
    {
        step += 1;
    }
    let end = view.behind_pattern(step);
    if end == step {
        return None;
    }
    let text = format!("require {} {low}{number}{high} times", view.source(step, end));
    let edit = view.edit(0, end, text.clone());
    Some(view.wrong(1, at + 1, "how often stands behind the step").write(text, vec![edit]))
}

/// `require A twice`, `require A 2`, `require A at least 2 times`, `require A >= 2`.
fn times_in_words(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "require") {
        return None;
    }
    let end = view.behind_step(1);
    if end == 1 || end >= view.len() {
        return None;
    }
    let step = view.source(1, end);
    let rest = view.modifiers(end);
    let count = if view.is_any(end, &["at", "more", "less", "fewer", "no", "exactly", "up"]) {
        counted_words(view, end)?
    } else if view.is_any(end, &["==", ">=", "<=", ">", "<"]) && view.is_number(end + 1) {
        let text = format!("count {step} {}", view.source(end, view.len()));
        let edits = vec![view.edit(0, 1, "count")];
        return Some(
            view.wrong(end, end + 1, "`require` takes `2 times`; a comparison belongs to `count`").write(text, edits),
        );
    } else if let Some(number) = number_word(view.word(end)) {
        number.to_string()
    } else if view.is_number(end) && !view.is_any(end + 1, &["times", ".."]) {
        view.word(end).trim_end_matches(['x', 'X']).to_owned()
    } else {
        return None;
    };
    let text = format!("require {step} {count} times");
    let edit = view.edit(end, rest, format!("{count} times"));
    Some(view.wrong(end, rest, "how often is written with a number and `times`").write(text, vec![edit]))
}

/// `at least 2 times`, `no more than 3`.
fn counted_words(view: &View<'_, '_>, at: usize) -> Option<String> {
    let number = (at..view.len()).find(|&here| view.is_number(here) || number_word(view.word(here)).is_some())?;
    let digits =
        if view.is_number(number) { view.word(number).to_owned() } else { number_word(view.word(number))?.to_string() };
    let value: u32 = digits.parse().ok()?;
    Some(match view.source(at, number).as_str() {
        "at least" | "no less than" | "no fewer than" => format!("{value}.."),
        "at most" | "no more than" | "up to" => format!("..{value}"),
        "more than" => format!("{}..", value.saturating_add(1)),
        "less than" | "fewer than" => format!("..{}", value.saturating_sub(1)),
        "exactly" => value.to_string(),
        _ => return None,
    })
}

pub(super) fn number_word(word: &str) -> Option<u32> {
    match word {
        "once" | "one" => Some(1),
        "twice" | "two" => Some(2),
        "thrice" | "three" => Some(3),
        "four" => Some(4),
        "five" => Some(5),
        _ => None,
    }
}

/// `count search`, `count search 3`, `count search at most 3`.
fn count_without_comparison(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "count") {
        return None;
    }
    let end = view.behind_pattern(1);
    if end == 1 || view.is_any(end, &["<=", ">=", "==", "!=", "<", ">", "in", "not", ":"]) {
        return None;
    }
    let step = view.source(1, end);
    let message = "`count` needs a comparison behind its step";
    if end >= view.len() {
        return Some(view.missing_at_end(message).help(format!("write `count {step} <= 3`")));
    }
    let number = (end..view.len()).find(|&at| view.is_number(at));
    let Some(number) = number.filter(|&at| at <= end + 4) else {
        return Some(view.wrong(end, end + 1, message).help(format!("write `count {step} <= 3`")));
    };
    let sign = match view.source(end, number).as_str() {
        "at least" | "is at least" | "no less than" => ">=",
        "at most" | "is at most" | "no more than" | "up to" => "<=",
        "more than" | "is more than" | "greater than" | "is greater than" | "over" => ">",
        "less than" | "is less than" | "fewer than" | "under" | "below" => "<",
        _ => "==",
    };
    let text = format!("count {step} {sign} {}", view.word(number));
    Some(view.wrong(end, number.max(end + 1), message).write(text, vec![view.edit(end, number, format!("{sign} "))]))
}
