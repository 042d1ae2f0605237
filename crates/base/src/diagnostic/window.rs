//! The part of a line that is too long to be shown: what stands around a place in it.

use super::render::printable;
use crate::source::{SourceFile, Span};
use std::ops::Range;
use unicode_width::UnicodeWidthChar as _;

/// Lines with more bytes are shown in a window: nobody writes such lines by hand.
const LONGEST: usize = 1_000;
/// Bytes before the place, and after its start.
const BEFORE: usize = 30;
const BEHIND: usize = 40;
const REST: &str = "…";

/// A window into a long line of a rule file.
#[derive(Debug, Clone)]
pub struct LineWindow {
    /// The text shown; it contains no terminal control characters.
    pub text: String,
    /// Where the place lies in it.
    pub mark: Range<usize>,
    /// The line in the file, from 1.
    pub line: usize,
    /// The column of the place, in characters from 1.
    pub column: usize,
    shown: Range<usize>,
    lead: usize,
}

impl LineWindow {
    /// The window around the start of a span, where its lines, those of other spans or lines beside them are too long to be shown whole.
    #[must_use]
    pub fn around_span(file: &SourceFile, span: Span, others: impl Iterator<Item = Span>) -> Option<Self> {
        let is_long = |line: usize| file.line_start(line + 1) - file.line_start(line) > LONGEST;
        let long = std::iter::once(span).chain(others).any(|span| {
            let first = file.line_column(span.start).line.saturating_sub(1).max(1);
            let last = file.line_column(span.end).line.saturating_add(1).min(file.line_count());
            (first..=last).take(LINES).any(is_long)
        });
        let from = file.line_column(span.start);
        long.then(|| Self::of_line(file, span, from.line, from.column))
    }

    /// The window of so many columns around the start of a span that stands on one line, where that line is wider.
    #[must_use]
    pub fn of_wide_line(file: &SourceFile, span: Span, room: usize) -> Option<Self> {
        let (from, to) = (file.line_column(span.start), file.line_column(span.end));
        let line = file.text.get(file.line_start(from.line)..file.line_start(from.line + 1)).unwrap_or_default();
        let wide = from.line == to.line && text_columns(line.trim_end()) > room;
        let before = BEFORE.min(room / 4);
        wide.then(|| Self::cut_line(file, span, from.line, from.column, before, room.saturating_sub(before + 2)))
    }

    fn of_line(file: &SourceFile, span: Span, line: usize, column: usize) -> Self {
        Self::cut_line(file, span, line, column, BEFORE, BEHIND)
    }

    /// At most this many columns before a place and after its start.
    fn cut_line(file: &SourceFile, span: Span, line: usize, column: usize, before: usize, behind: usize) -> Self {
        let text: &str = &file.text;
        let (start, end) = (file.line_start(line), file.line_start(line + 1));
        let end = start + text.get(start..end).map_or(0, |line| line.trim_end_matches(['\n', '\r']).len());
        let place = (span.start as usize).clamp(start, end);
        let lead = text.get(start..place).unwrap_or_default();
        let from = place - fitting_bytes(lead.chars().rev(), before);
        // What the line does not need in front of the place stands behind it.
        let behind = behind + before.saturating_sub(text_columns(text.get(from..place).unwrap_or_default()));
        let to = place + fitting_bytes(text.get(place..end).unwrap_or_default().chars(), behind);
        let lead = if from > start { REST } else { "" };
        let rest = if to < end { REST } else { "" };
        let shown = printable(text.get(from..to).unwrap_or_default()).replace('\t', " ");
        let mut window =
            Self { text: format!("{lead}{shown}{rest}"), mark: 0..0, line, column, shown: from..to, lead: lead.len() };
        window.mark = window.span_range(span).unwrap_or(0..0);
        window
    }

    /// Where a span of the same file lies in the window; `None` for one that begins elsewhere.
    #[must_use]
    pub fn span_range(&self, span: Span) -> Option<Range<usize>> {
        let start = span.start as usize;
        if start < self.shown.start || start > self.shown.end {
            return None;
        }
        let end = (span.end as usize).clamp(start, self.shown.end);
        let inside = |at: usize| at - self.shown.start + self.lead;
        Some(inside(start)..inside(end))
    }
}

fn fitting_bytes(characters: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut left = columns;
    let fits = characters.map_while(|character| {
        left = left.checked_sub(char_columns(character))?;
        Some(character.len_utf8())
    });
    fits.sum()
}

/// The columns that a text takes on a terminal.
#[must_use]
pub fn text_columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

const TAB: usize = 4;

/// Counted as terminals do.
fn char_columns(character: char) -> usize {
    match character {
        '\t' => TAB,
        // What steers is shown as a character of one column.
        other => other.width().unwrap_or(1),
    }
}

/// Lines examined; longer spans are cut by the renderer.
const LINES: usize = 100;
