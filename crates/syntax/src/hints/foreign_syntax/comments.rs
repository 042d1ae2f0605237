//! Comments of other languages.

use super::row::{RewriteRow, function_row};
use crate::hints::view::StatementView;
use std::ops::Range;

pub(super) const TABLE: &[RewriteRow] =
    &[function_row("-- a comment", line_comment), function_row("never refund // none", trailing_comment)];

const OPENING: &[&str] = &["--", "//", "/**", "/*", "<!--", "%", ";;", ";", "REM ", "rem "];

fn line_comment(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let range = view.token_range(0, view.len());
    let text = view.whole_text().get(range.clone())?;
    let sign = OPENING.iter().find(|sign| text.starts_with(**sign))?;
    let rest = text.get(sign.len()..)?.trim_end_matches("-->").trim_end_matches("*/").trim();
    let words = rest.chars().filter(|sign| sign.is_alphabetic()).count();
    (words > 1 && !rest.contains('\n')).then(|| (range, format!("# {rest}")))
}

/// `/* … */`, which can be read as a regular expression.
pub(super) fn block_comment(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let text = view.whole_text();
    if text.starts_with("/*") { line_comment(view) } else { None }
}

fn trailing_comment(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let text = view.whole_text();
    let at = [" // ", " -- ", " /* "].iter().filter_map(|sign| text.find(sign)).min()?;
    let rest = text.get(at + 4..)?.trim_end().trim_end_matches("*/").trim_end();
    let quoted = text.get(..at)?.matches('"').count() % 2 == 1;
    (!quoted && !rest.contains(['"', '\n'])).then(|| (at..text.len(), format!(" # {rest}")))
}
