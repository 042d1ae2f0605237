//! Hints for mistakes in saying how often a step occurs.

use super::bounds::{WordedBound, number_word, opposite_sign, read_bound};
use super::hint::{Hint, function_hint, pattern_hint};
use super::view::{StatementView, SuggestText};
use averment_base::diagnostic::Diagnostic;

/// Asked before the first word: `max` and `at least` begin no statement here.
pub(super) const EARLY: &[Hint] = &[
    function_hint("at most 3 search", bound_in_front),
    pattern_hint("never search more than 3 times", "never !repeat|repeats call|tool? a:P < n:LIMIT > ...")
        .with_message("`never` takes no number: how often a step may occur is said with `count`")
        .with_rewrite("count {a} {n|limit} {...}"),
];

pub(super) const TABLE: &[Hint] = &[
    function_hint("never repeat search", repeat_bound),
    function_hint("require 2 search", times_in_front),
    function_hint("require search twice", times_in_words),
    function_hint("count search =< 3", foreign_sign),
    pattern_hint("count search at most 3", "count a:P !SIGN|in|not|: < n:BOUND > ...")
        .with_message("`count` needs a comparison behind its step")
        .with_rewrite("count {a} {n|bound} {...}"),
    pattern_hint("count search 3", "count a:P !SIGN|in|not|: < n:M times|x|time? >")
        .with_message("`count` needs a comparison behind its step")
        .with_rewrite("count {a} == {n|digits}"),
    pattern_hint("count search often", "count a:P !SIGN|in|not|: < X >")
        .with_message("`count` needs a comparison behind its step")
        .with_help("write `count {a} <= …`"),
];

/// `count A =< 3`.
fn foreign_sign(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    if view.token_is(0, "count") { super::operators::foreign_sign(view) } else { None }
}

/// `never repeat A`, `never repeat A 3 times`.
fn repeat_bound(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let (start, message) = match (view.token_text(0), view.token_text(1)) {
        ("never", "repeat" | "repeats") => (2, "`never repeat` needs a number"),
        ("repeat", _) => (1, "`never repeat` says how often the same call may follow itself"),
        _ => return None,
    };
    let end = view.behind_pattern(start);
    let step = view.step_or(start, "A");
    let number =
        (end..view.len()).find(|&at| view.is_number(at)).map_or("…".to_owned(), |at| view.token_text(at).to_owned());
    let mut help = format!("write `never repeat {step} more than {number} times`");
    if number == "…" {
        help.push_str(&format!(", such as `never repeat {step} more than 3 times`"));
    }
    if end >= view.len() {
        return Some(view.wrong_behind(end, message).with_help(help));
    }
    Some(view.syntax_error(end, end + 1, "how often is said with `more than … times`").with_help(help))
}

/// `require 2 search`, `never 3 search`.
fn times_in_front(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    if !view.token_is(0, "require") {
        return None;
    }
    let mut at = 1;
    let (mut low, mut high) = (String::new(), String::new());
    if view.tokens_are(at, &["at", "least"]) || view.tokens_are(at, &["at", "most"]) {
        (low, high) = if view.token_is(at + 1, "least") {
            (String::new(), "..".to_owned())
        } else {
            ("..".to_owned(), String::new())
        };
        at += 2;
    } else if view.token_is(at, "exactly") {
        at += 1;
    }
    let number =
        if view.is_number(at) { view.token_text(at).to_owned() } else { number_word(view.token_text(at))?.to_string() };
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
    let text = format!("require {} {low}{number}{high} times", view.source_text(step, end));
    let edit = view.replace_tokens(0, end, text.clone());
    Some(view.syntax_error(1, at + 1, "how often stands behind the step").suggest_text(text, vec![edit]))
}

/// `require A twice`, `require A 2`, `require A at least 2 times`, `require A >= 2`.
fn times_in_words(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    if !view.token_is(0, "require") {
        return None;
    }
    let end = view.behind_step(1);
    if end == 1 || end >= view.len() {
        return None;
    }
    let step = view.source_text(1, end);
    let rest = view.modifiers_start(end);
    let count = if view.is_any(end, &["at", "more", "less", "fewer", "no", "exactly", "up"]) {
        counted_words(view, end)?
    } else if view.is_any(end, &["==", ">=", "<=", ">", "<"]) && view.is_number(end + 1) {
        let text = format!("count {step} {}", view.source_text(end, view.len()));
        let edits = vec![view.replace_tokens(0, 1, "count")];
        return Some(
            view.syntax_error(end, end + 1, "`require` takes `2 times`; a comparison belongs to `count`")
                .suggest_text(text, edits),
        );
    } else if let Some(number) = number_word(view.token_text(end)) {
        number.to_string()
    } else if view.is_number(end) && !view.is_any(end + 1, &["times", ".."]) {
        view.token_text(end).trim_end_matches(['x', 'X']).to_owned()
    } else {
        return None;
    };
    let text = format!("require {step} {count} times");
    let edit = view.replace_tokens(end, rest, format!("{count} times"));
    Some(view.syntax_error(end, rest, "how often is written with a number and `times`").suggest_text(text, vec![edit]))
}

/// `at least 2 times`, `no more than 3`.
fn counted_words(view: &StatementView<'_, '_>, at: usize) -> Option<String> {
    let number = (at..view.len()).find(|&here| view.is_number(here) || number_word(view.token_text(here)).is_some())?;
    let digits = if view.is_number(number) {
        view.token_text(number).to_owned()
    } else {
        number_word(view.token_text(number))?.to_string()
    };
    let value: u32 = digits.parse().ok()?;
    Some(match view.source_text(at, number).as_str() {
        "at least" | "no less than" | "no fewer than" => format!("{value}.."),
        "at most" | "no more than" | "up to" => format!("..{value}"),
        "more than" => format!("{}..", value.saturating_add(1)),
        "less than" | "fewer than" => format!("..{}", value.saturating_sub(1)),
        "exactly" => value.to_string(),
        _ => return None,
    })
}

const SAME: &[&str] = &["identical", "same", "equal", "repeated", "consecutive", "successive"];

/// `never more than 3 search`, `at most 3 search`, `no more than 3 identical calls`, `max 5 fetch`.
fn bound_in_front(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let never = view.token_is(0, "never") || view.token_is(0, "not") && !view.is_any(1, &["more", "less"]);
    let WordedBound { sign, number, end } = read_bound(view, usize::from(never))?;
    let sign = if never { opposite_sign(sign) } else { sign };
    let same = (end..view.len()).take_while(|&at| view.is_any(at, SAME)).count();
    let filler = usize::from(view.is_any(end + same, &["call", "calls", "tool"]));
    let of = usize::from(filler > 0 && view.is_any(end + same + filler, &["of", "to"]));
    let step = end + same + filler + of;
    let last = view.modifiers_start(step);
    let named = view.behind_pattern(step);
    let whole = named == last || named + 1 == last && view.is_any(named, &["call", "calls", "times", "in"]);
    let shown = match (step < last, whole && named > step) {
        (false, _) if filler > 0 => "any".to_owned(),
        (true, true) => view.source_text(step, named),
        _ => return None,
    };
    let rest = view.source_text(last, view.len());
    let text = match (same > 0, sign) {
        (true, "<=") => format!("never repeat {shown} more than {number} times"),
        (true, _) => return None,
        _ => format!("count {shown} {sign} {number}"),
    };
    let message = "how many calls there may be is said behind the step";
    let diagnostic = view.syntax_error(
        0,
        end,
        if same > 0 { "the same call over and over is said with `never repeat`" } else { message },
    );
    let whole = if rest.is_empty() { text.clone() } else { format!("{text} {rest}") };
    Some(diagnostic.suggest_text(whole.clone(), vec![view.replace_tokens(0, view.len(), whole)]))
}
