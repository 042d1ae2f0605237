//! Mistakes around steps that no pattern can recognize.

use super::table::list;
use super::view::{StatementView, SuggestText};
use averment_base::diagnostic::{Diagnostic, SourceEdit};

/// Diagnoses `sequence A, B` and `flow A B`, in which any step may lack its arrow.
pub(super) fn missing_arrow(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let word = view.token_text(0);
    let step = 1 + usize::from(view.is_any(1, &["each", "only", "exactly"]) && view.behind_step(2) > 2);
    let mut end = view.behind_pattern(step);
    while end > step && view.token_is(end, "->") && view.behind_pattern(end + 1) > end + 1 {
        end = view.behind_pattern(end + 1);
    }
    let arrow = view.find_word(step, "->").is_some_and(|arrow| arrow < end);
    let modifier = super::words::meant_modifier(view.token_text(end)).is_some() || view.is_number(end + 1);
    let stops = end == step || end >= view.len() || view.is_any(end, &["->", "{", "until", "within"]);
    if !matches!(word, "sequence" | "flow") || stops || arrow && (word == "flow" || modifier) {
        return None;
    }
    let mut next = end;
    while view.is_any(next, list("ARROW")) && view.behind_step(next + 1) > next + 1 {
        next += 1;
    }
    next += usize::from(view.token_is(next, "by"));
    if view.behind_pattern(next) == next {
        return None;
    }
    let listed = view.find_any(end, &["(", "|"]).is_none();
    let rest = if listed { arrows_in_sequence(view, next) } else { view.whole_source(next, view.len()) };
    let message = if next == end {
        format!("`{word}` needs `->` between its steps")
    } else {
        format!("the arrow is `->`, not `{}`", view.source_text(end, next))
    };
    let space = if view.touches_previous(end) { " " } else { "" };
    let edit = view.replace_tokens(end, view.len(), format!("{space}-> {rest}"));
    let text = format!("{} -> {rest}", view.source_text(0, end));
    Some(view.syntax_error(end, next.max(end + 1), message).suggest_text(text, vec![edit]))
}

fn arrows_in_sequence(view: &StatementView<'_, '_>, at: usize) -> String {
    let (mut steps, mut here) = (Vec::new(), at);
    while view.behind_pattern(here) > here {
        let end = view.behind_pattern(here);
        steps.push(view.source_text(here, end));
        here = end + usize::from(view.is_any(end, list("ARROW")) || view.token_is(end, "->"));
        if here == end {
            break;
        }
    }
    format!("{} {}", steps.join(" -> "), view.source_text(here, view.len())).trim_end().to_owned()
}

/// Diagnoses `rule approval` or `after login until logout` without a body.
pub(super) fn missing_block(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let ends = view.failed >= view.len();
    let bodied = view
        .is_any(0, &["when", "between", "pre", "post", "rule", "suite", "case", "invariant", "workspace", "runner"])
        || view.tokens_are(0, &["any", "of"])
        || view.tokens_are(0, &["all", "of"])
        || view.tokens_are(0, &["none", "of"])
        || view.tokens_are(0, &["at", "least"])
        || (view.token_is(0, "after") && view.find_word(1, "until").is_some());
    if !ends || !bodied || view.find_word(1, "{").is_some() || view.len() < 2 && view.is_any(0, &["when", "between"]) {
        return None;
    }
    if view.tokens_are(0, &["at", "least"]) && !view.token_is(3, "of") {
        return Some(
            view.missing_at_end("`of` and a body are missing")
                .with_help("write `at least 2 of { require A; require B }`"),
        );
    }
    if let Some(gap) = view.gap_before_brace() {
        let message = format!("the `{{` of a body stands on the line of its `{}`", view.token_text(0));
        let shown = format!("{} {{ … }}", view.source_text(0, view.len()));
        return Some(
            view.missing_at_end(message).suggest_text(shown, vec![SourceEdit { span: gap, text: " ".to_owned() }]),
        );
    }
    let head = view.source_text(0, view.len());
    let message = format!("a body in braces is missing behind `{}`", view.token_text(0));
    Some(view.missing_at_end(message).with_help(format!("write `{head} {{ … }}`")))
}
