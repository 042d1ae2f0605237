//! Decides whether a text continues on the next line. The REPL parses its input once it is complete.

use super::brackets::{self, BracketError};
use super::segments::joins_next;
use super::text::TokenText;
use crate::token::{TokenKind, TokenScan};
use averment_base::source::FileId;

pub(crate) fn is_unfinished(source: &str, scan: TokenScan) -> bool {
    let text = TokenText::new(FileId(0), source, scan.tokens);
    let brackets = brackets::match_brackets(&text);
    // A bracket that can no longer be closed is a mistake, so waiting for more input does not help.
    if brackets.errors.iter().any(|trouble| !matches!(trouble, BracketError::Unclosed(..))) {
        return false;
    }
    let given_up = |trouble: &BracketError| matches!(trouble, BracketError::Unclosed(_, outside) if text.opens_line(*outside) && text.token_kind(*outside) != TokenKind::LineEnd);
    if brackets.errors.iter().any(given_up) {
        return false;
    }
    if !brackets.errors.is_empty() {
        return true;
    }
    let Some(last) = text.token_before(text.tokens.len()) else { return false };
    let open_text = text.token_kind(last) == TokenKind::OpenText && text.token_text(last).starts_with("\"\"\"");
    open_text || joins_next(&text, last)
}
