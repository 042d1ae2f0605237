//! Comments of other languages.

use super::row::{Meaning, asked};
use crate::hints::view::View;
use std::ops::Range;

pub(super) const TABLE: &[Meaning] = &[asked("-- a comment", comment), asked("never refund // none", behind)];

/// Signs that begin a comment elsewhere, and those that end one.
const OPENING: &[&str] = &["--", "//", "/**", "/*", "<!--", "%", ";;", ";", "REM ", "rem "];

/// A whole line that is a comment elsewhere.
fn comment(view: &View<'_, '_>) -> Option<(Range<usize>, String)> {
    let range = view.range(0, view.len());
    let text = view.text().get(range.clone())?;
    let sign = OPENING.iter().find(|sign| text.starts_with(**sign))?;
    let rest = text.get(sign.len()..)?.trim_end_matches("-->").trim_end_matches("*/").trim();
    let words = rest.chars().filter(|sign| sign.is_alphabetic()).count();
    (words > 1 && !rest.contains('\n')).then(|| (range, format!("# {rest}")))
}

/// The same in `/* … */`, which can be read as a regular expression.
pub(super) fn block(view: &View<'_, '_>) -> Option<(Range<usize>, String)> {
    let text = view.text();
    if text.starts_with("/*") { comment(view) } else { None }
}

/// A comment behind a statement.
fn behind(view: &View<'_, '_>) -> Option<(Range<usize>, String)> {
    let text = view.text();
    let at = [" // ", " -- ", " /* "].iter().filter_map(|sign| text.find(sign)).min()?;
    let rest = text.get(at + 4..)?.trim_end().trim_end_matches("*/").trim_end();
    let quoted = text.get(..at)?.matches('"').count() % 2 == 1;
    (!quoted && !rest.contains(['"', '\n'])).then(|| (at..text.len(), format!(" # {rest}")))
}
