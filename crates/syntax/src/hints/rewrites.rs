//! Rewrites that a template cannot express, because they work on letters or repeat.

use super::table::list;
use super::view::StatementView;
use crate::token::TokenKind;
use crate::words;
use std::ops::Range;

const OPENING: &[&str] = &["--", "//", "/**", "/*", "<!--", "%", ";;", ";", "REM ", "rem "];

pub(super) fn line_comment(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let range = view.token_range(0, view.len());
    let text = view.whole_text().get(range.clone())?;
    let sign = OPENING.iter().find(|sign| text.starts_with(**sign))?;
    let rest = text.get(sign.len()..)?.trim_end_matches("-->").trim_end_matches("*/").trim();
    let words = rest.chars().filter(|sign| sign.is_alphabetic()).count();
    (words > 1 && !rest.contains('\n')).then(|| (range, format!("# {rest}")))
}

/// Rewrites `/* … */`, which can parse as a regular expression.
pub(super) fn block_comment(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let text = view.whole_text();
    if text.starts_with("/*") { line_comment(view) } else { None }
}

pub(super) fn trailing_comment(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let text = view.whole_text();
    let at = [" // ", " -- ", " /* "].iter().filter_map(|sign| text.find(sign)).min()?;
    let rest = text.get(at + 4..)?.trim_end().trim_end_matches("*/").trim_end();
    let quoted = text.get(..at)?.matches('"').count() % 2 == 1;
    (!quoted && !rest.contains(['"', '\n'])).then(|| (at..text.len(), format!(" # {rest}")))
}

/// Rewrites `50'000`, in which the apostrophe opens a text.
pub(super) fn apostrophe_amount(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let at = (1..view.len())
        .find(|&at| view.is_number(at - 1) && view.touches_previous(at) && view.token_text(at).starts_with('\''))?;
    let digits: String = view.token_text(at).chars().skip(1).take_while(char::is_ascii_digit).collect();
    let range = view.token_range(at - 1, at);
    (digits.len() == 3).then(|| (range.start..range.end + 4, format!("{}{digits}", view.token_text(at - 1))))
}

/// Rewrites `isn't`, `don't`, `mustn't`, in which the apostrophe opens a text.
pub(super) fn negated_verb(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let opens = |at: usize| {
        matches!(view.token_kind(at), TokenKind::OpenText | TokenKind::Text) && view.token_text(at).starts_with("'t")
    };
    let at = (1..view.len()).find(|&at| opens(at) && view.touches_previous(at) && view.is_word(at - 1))?;
    let word = view.token_text(at - 1).to_ascii_lowercase();
    let verb = match word.as_str() {
        "can" => "can",
        "won" => "will",
        "shan" => "shall",
        other => other.strip_suffix('n')?,
    };
    let range = view.token_range(at - 1, at);
    Some((range.start..range.end + 2, format!("{verb} not")))
}

/// Rewrites keywords in capitals: `NEVER`, `Always`, `IS NULL`.
pub(super) fn lower_case(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let capital = |at: usize| {
        let word = view.token_text(at);
        let whole = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
        let starts = (at == 0 || matches!(word, "Then" | "And" | "Or"))
            && word.starts_with(|sign: char| sign.is_ascii_uppercase());
        view.is_word(at)
            && (whole || starts)
            && !view.token_is(at.wrapping_sub(1), ".")
            && list("CAPITAL").contains(&word.to_ascii_lowercase().as_str())
    };
    let at = (0..view.len()).find(|&at| capital(at))?;
    Some((view.token_range(at, at + 1), view.token_text(at).to_ascii_lowercase()))
}

/// Rewrites `call login, then search, then logout` and `login then search`.
pub(super) fn call_chain(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    if words::STATEMENTS.contains(&view.token_text(0)) && !view.is_any(0, &["first", "run"]) {
        return None;
    }
    let mut at = usize::from(view.is_any(0, &["call", "use", "first", "run"]))
        + usize::from(view.tokens_are(0, &["first", "call"]));
    let mut steps = Vec::new();
    let mut thens = 0;
    loop {
        let end = view.behind_step(at);
        if end == at || !view.is_word(at) {
            return None;
        }
        steps.push(view.source_text(at, end));
        if end >= view.len() {
            break;
        }
        let mut next = end;
        while view.is_any(next, &[",", "then", "and", "call", "->"]) {
            thens += usize::from(view.token_is(next, "then"));
            next += 1;
        }
        if next == end {
            return None;
        }
        at = next;
    }
    (thens > 0 && steps.len() > 1)
        .then(|| (view.token_range(0, view.len()), format!("sequence {}", steps.join(" -> "))))
}
