//! Mistakes around steps that no pattern can tell.

use super::table::list;
use super::view::{StatementView, SuggestText};
use averment_base::diagnostic::{Diagnostic, SourceEdit};

/// `before A B`, `before A => B`, `sequence A, B`.
pub(super) fn missing_arrow(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
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
    let modifier = super::words::meant_modifier(view.token_text(end)).is_some() || view.is_number(end + 1);
    if end == step
        || end >= view.len()
        || view.is_any(end, &["->", "{", "until", "within"])
        || arrow && (word != "sequence" || modifier)
    {
        return None;
    }
    let mut next = end;
    while view.is_any(next, list("ARROW")) && view.behind_step(next + 1) > next + 1 {
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
        if !view.is_any(end, list("ARROW")) && !view.token_is(end, "->") {
            here = end;
            break;
        }
        here = end + 1;
    }
    let rest = view.source_text(here, view.len());
    let joined = steps.join(" -> ");
    if rest.is_empty() { joined } else { format!("{joined} {rest}") }
}

/// `rule approval`, `after login until logout` without a body.
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
