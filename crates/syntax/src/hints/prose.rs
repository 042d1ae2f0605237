//! Classes for prose, which patterns can use.

use super::table::list;
use super::view::{StatementView, TakeFn};
use crate::token::TokenKind;
use crate::words;

pub(super) const TAKES: &[(&str, TakeFn)] = &[
    // A step in prose: `a call to refund`, `the refund tool`.
    ("C", spoken_step),
    // A single word that may be the name of a tool.
    ("D", |view, at| {
        is_name(view, at)
            .then_some(at + 1)
            .filter(|&end| !view.touches_previous(end) || !view.is_any(end, &["-", "/", "*", "?"]))
    }),
    // A single word that may be the name of a tool and is not a root such as `output`.
    ("TOOL", |view, at| (is_name(view, at) && !words::ROOTS.contains(&view.token_text(at))).then_some(at + 1)),
    // A tool whose name indicates that it ends something: `close_ticket`.
    ("CLOSER", |view, at| {
        let first = view.token_text(at).split(['_', '-', '.']).next().unwrap_or("");
        (is_name(view, at) && list("CLOSERS").contains(&first)).then_some(at + 1)
    }),
    // A path from a root of the run.
    ("RUNPATH", |view, at| words::ROOTS.contains(&view.token_text(at)).then(|| behind_path(view, at))),
    // Names separated by dots.
    ("BASE", |view, at| {
        let mut end = at + 1;
        while view.token_is(end, ".") && view.touches_previous(end) && view.is_word(end + 1) {
            end += 2;
        }
        (view.is_word(at) && !is_word_of_a_sentence(view.token_text(at))).then_some(end)
    }),
    // A path: a root or a name, with fields and indexes.
    ("O", |view, at| {
        let begins = view.is_word(at) && !is_word_of_a_sentence(view.token_text(at));
        begins.then(|| behind_path(view, at))
    }),
    // An amount of money.
    ("MONEY", |view, at| (view.is_number(at) && view.token_text(at).starts_with('$')).then_some(at + 1)),
    // Three digits after a comma: `,000`.
    ("THOUSAND", |view, at| {
        let digits = view.token_text(at + 1);
        let whole = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
        (view.token_is(at, ",") && view.touches_previous(at) && view.touches_previous(at + 1) && whole)
            .then_some(at + 2)
    }),
    // A literal value.
    ("VALUE", |view, at| {
        let literal = matches!(view.token_kind(at), TokenKind::Text | TokenKind::Number)
            || view.is_any(at, &["true", "false", "null"]);
        literal.then_some(at + 1)
    }),
    // A text for `LIKE` with `%` at its ends; with `%` at both ends.
    ("LIKE", |view, at| like_text(view, at).map(|_| at + 1)),
    ("LIKEIN", |view, at| like_text(view, at).filter(|test| *test == "contains").map(|_| at + 1)),
    // The path before a method: everything but the last name.
    ("OBJECT", |view, at| {
        let end = view.is_word(at).then(|| behind_path(view, at))?;
        let before = end.checked_sub(2)?;
        (before > at && view.token_is(before, ".")).then_some(before)
    }),
    // Steps separated by commas, `and`, `or` or `|`.
    ("CHOICES", |view, at| {
        let mut end = view.behind_step(at);
        while end > at && view.is_any(end, &[",", "and", "or", "|"]) {
            let next = end + 1 + usize::from(view.is_any(end + 1, &["and", "or", "then"]));
            end = Some(view.behind_step(next)).filter(|&behind| behind > next)?;
        }
        Some(end)
    }),
];

fn like_text(view: &StatementView<'_, '_>, at: usize) -> Option<&'static str> {
    let text = view.token_text(at);
    let inner = text.get(1..text.len().saturating_sub(1)).filter(|_| view.is_text(at) && text.contains('%'))?;
    super::words::like_test(inner).map(|(test, _)| test)
}

/// Words that cannot be tool names: keywords and connectives.
fn is_word_of_a_sentence(word: &str) -> bool {
    [words::STATEMENTS, words::OPERATORS, words::LITERALS, list("NONAME")].iter().any(|words| words.contains(&word))
}

fn is_name(view: &StatementView<'_, '_>, at: usize) -> bool {
    let word = view.token_text(at);
    view.is_word(at) && !is_word_of_a_sentence(word)
}

fn spoken_step(view: &StatementView<'_, '_>, at: usize) -> Option<usize> {
    let mut start = at;
    while start < at + 5
        && view.is_any(start, list("STEPFILLER"))
        && view.is_word(start + 1)
        && !view.touches_previous(start + 1)
    {
        start += 1;
    }
    let kind = words::KINDS.contains(&view.token_text(start))
        && matches!(view.token_kind(start + 1), TokenKind::Text | TokenKind::Regex);
    let value = words::ROOTS.contains(&view.token_text(start)) && !words::KINDS.contains(&view.token_text(start));
    // A bare kind is not a tool, and a failure word is not a name.
    let other =
        !kind && words::KINDS.contains(&view.token_text(start)) || view.is_any(start, &["failed", "fails", "errors"]);
    let named =
        kind || is_name(view, start) || view.is_text(start) || start > at && view.is_any(start, list("STEPTAIL"));
    let adjective = view.is_any(start, list("ADJECTIVE")) && (view.is_word(start + 1) || view.is_text(start + 1));
    if value || other || adjective || !named {
        return None;
    }
    let end = view.behind_step(start);
    (end > start).then(|| end + usize::from(view.is_any(end, list("STEPTAIL"))))
}

fn behind_path(view: &StatementView<'_, '_>, at: usize) -> usize {
    let mut end = at + 1;
    while end < view.len() && view.touches_previous(end) {
        let next = match view.token_text(end) {
            "." if view.is_word(end + 1) && view.touches_previous(end + 1) => end + 2,
            "[" => view.behind_bracket(end),
            _ => break,
        };
        end = next;
    }
    end
}
