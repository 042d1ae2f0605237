//! Formatting as edits for editors: unchanged text keeps its cursors, folds and marks.

use super::{FormatOptions, format_file};
use crate::difference::{DiffOp, DiffTag, diff_operations};
use crate::{self as syntax};
use averment_base::diagnostic::Diagnostics;
use averment_base::source::{FileId, SourceMap};
use std::ops::Range;

/// Replaces bytes of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatEdit {
    /// The byte range in the old text; whole lines.
    pub range: Range<usize>,
    /// The replacement text.
    pub text: String,
}

/// Returns the line edits that turn one text into another, in order.
#[must_use]
pub fn line_edits(old: &str, new: &str) -> Vec<FormatEdit> {
    let before: Vec<&str> = old.split_inclusive('\n').collect();
    let after: Vec<&str> = new.split_inclusive('\n').collect();
    let ends = before.iter().scan(0, |at, line| {
        *at += line.len();
        Some(*at)
    });
    let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
    let at = |line: usize| starts.get(line).copied().unwrap_or(old.len());
    let edit = |op: &DiffOp| {
        let lines = after.get(op.new_range()).unwrap_or_default();
        FormatEdit { range: at(op.old_range().start)..at(op.old_range().end), text: lines.concat() }
    };
    diff_operations(&before, &after).iter().filter(|op| op.tag() != DiffTag::Equal).map(edit).collect()
}

/// Returns the edits that format the top-level items in a byte range, with the comments above them.
///
/// # Errors
/// The diagnostics of a file with errors.
pub fn edits_in(
    map: &SourceMap,
    file: FileId,
    range: Range<usize>,
    options: &FormatOptions,
) -> Result<Vec<FormatEdit>, Diagnostics> {
    let Some(source) = map.get(file) else { return Ok(Vec::new()) };
    let new = format_file(map, file, options)?;
    let (tree, ..) = syntax::parse(map, file, &options.limits);
    let ends: Vec<usize> = tree.items.iter().map(|item| item.span.end as usize).collect();
    // From the line after the last item before the range (or from that item's own line if the range begins on it) to the end of the last item in the
    // range.
    let before = ends.iter().rev().find(|&&end| end <= range.start).copied().unwrap_or(0);
    let line_behind = source.text.get(before..).and_then(|rest| rest.find('\n')).map_or(before, |at| before + at + 1);
    let own_line = source.text.get(..range.start).and_then(|front| front.rfind('\n')).map_or(0, |at| at + 1);
    let start = if before == 0 { 0 } else { line_behind.min(own_line) };
    let is_in_range = |item: &&syntax::ast::SyntaxItem| (item.span.start as usize) < range.end.max(range.start + 1);
    let end = tree.items.iter().rev().find(is_in_range).map_or(range.end, |item| item.span.end as usize).max(range.end);
    let touches = |edit: &FormatEdit| edit.range.end > start && edit.range.start < end;
    Ok(line_edits(&source.text, &new).into_iter().filter(touches).collect())
}
