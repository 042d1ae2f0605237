//! Reports brackets that are not closed, closed by another kind of bracket, or close nothing.

use super::{BracketError, TokenText, can_be_read, ends_operand};
use crate::token::TokenKind;
use averment_base::diagnostic::{Diagnostic, Slug};

pub(super) fn bracket_mistake(text: &TokenText<'_>, trouble: BracketError, inner: &[usize]) -> Diagnostic {
    match trouble {
        BracketError::Unclosed(open, outside) if text.token_is(open, "{") => unclosed_brace(text, open, outside),
        BracketError::Unclosed(open, outside) => unclosed_bracket(text, open, outside, inner),
        BracketError::Crossed(open, close) => {
            let right = closing_bracket(text.token_text(open));
            let message = format!("this `{}` is closed by `{}`", text.token_text(open), text.token_text(close));
            Diagnostic::new(Slug::Unclosed, text.span(close), message)
                .with_help(format!("write `{right}`"))
                .with_other(text.span(open), "opened here")
                .with_fix(format!("write `{right}`"), text.span(close), right)
        }
        BracketError::Stray(close) => {
            let sign = text.token_text(close);
            Diagnostic::new(Slug::Unclosed, text.span(close), format!("this `{sign}` closes nothing"))
                .with_help(format!("remove it, or open it with `{}` where it belongs", opening_bracket(sign)))
                .with_fix("remove it", text.span(close), "")
        }
    }
}

fn closing_bracket(open: &str) -> &'static str {
    match open {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

fn opening_bracket(close: &str) -> &'static str {
    match close {
        ")" => "(",
        "]" => "[",
        _ => "{",
    }
}

fn unclosed_brace(text: &TokenText<'_>, open: usize, outside: usize) -> Diagnostic {
    let place = if outside >= text.tokens.len() {
        "the end of the file".to_owned()
    } else {
        format!("`{}` in line {}", text.source_line(outside), text.source_line_number(outside))
    };
    let diagnostic = Diagnostic::new(Slug::Unclosed, text.span(open), "this `{` is not closed")
        .with_help(format!("a `}}` is missing before {place}"));
    let last = text.last_before(text.tokens.len());
    let end = text.span(last).as_range().end;
    if outside < text.tokens.len() || last <= open || !text.source.is_char_boundary(end) {
        return diagnostic;
    }
    let apart = text.source_line_number(open) != text.source_line_number(last);
    diagnostic.with_fix("add `}`", text.span(last).at_end(), if apart { "\n}" } else { " }" })
}

fn unclosed_bracket(text: &TokenText<'_>, open: usize, outside: usize, inner: &[usize]) -> Diagnostic {
    const LONGEST: usize = 80;
    let message = format!("this `{}` is not closed", text.token_text(open));
    let diagnostic = Diagnostic::new(Slug::Unclosed, text.span(open), message);
    let last = text.last_before(outside.min(open + LONGEST)).max(open);
    let line_end = text.last_before(text.line_end(open));
    let last = if line_end > open { last.min(line_end) } else { last };
    let last = last_inside(text, open, last);
    let unclosed = inner.iter().rev().filter(|&&bracket| bracket <= last).chain([&open]);
    let close: String = unclosed.take(LONGEST).map(|&bracket| closing_bracket(text.token_text(bracket))).collect();
    let touching = open
        .checked_sub(1)
        .filter(|&before| text.span(before).end == text.span(open).start && text.token_kind(before) == TokenKind::Word);
    let start = text.span(touching.unwrap_or(open)).start as usize;
    let end = text.span(last).end as usize;
    let operator = text.token_kind(open + 1) == TokenKind::Sign
        && !matches!(text.token_text(open + 1), "(" | "[" | "{" | "-" | "/" | "*" | "..");
    if end - start > LONGEST || outside > open + LONGEST || operator {
        return diagnostic.with_help(format!("add `{}`", closing_bracket(text.token_text(open))));
    }
    let written: String = text.source.get(start..end).unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
    let code = format!("{written}{close}");
    let help = if can_be_read(&code) { format!("write `{code}`") } else { format!("add `{close}`") };
    diagnostic.with_help(help).with_fix(format!("add `{close}`"), text.span(last).at_end(), close)
}

/// Returns the last token that an unclosed bracket can contain.
fn last_inside(text: &TokenText<'_>, open: usize, last: usize) -> usize {
    const BEHIND: &[&str] =
        &["->", "after", "before", "between", "until", "within", "iff", "then", "weight", "severity", "must", "{"];
    let index = text.token_is(open, "[") && open > 0 && text.span(open - 1).end == text.span(open).start;
    if index && matches!(text.token_kind(open + 1), TokenKind::Number | TokenKind::Text) {
        return last.min(open + 1);
    }
    let mut depth = 0_usize;
    for at in open + 1..=last {
        match text.token_text(at) {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            word if depth == 0 && at > open + 1 && BEHIND.contains(&word) => {
                let before = text.last_before(at);
                if ends_operand(text.token_kind(before), text.token_text(before)) {
                    return before;
                }
            }
            _ => {}
        }
    }
    last
}
