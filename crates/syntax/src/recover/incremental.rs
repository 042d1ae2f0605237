//! Incremental parsing: if a similar text was parsed before, only the statements between the first and the last changed one are parsed.

use super::segments::{self, TokenSegment};
use super::text::TokenText;
use super::{RecoveryReader, brackets, cap_diagnostics};
use crate::ast::{Name, SyntaxItem, move_items};
use crate::token::TokenScan;
use averment_base::diagnostic::{Diagnostic, Diagnostics};
use averment_base::limits::Limits;
use averment_base::source::{FileId, Span};
use std::ops::Range;

/// The locations and diagnostics of the statements of a text.
#[derive(Debug, Clone, Default)]
pub struct FileOutline {
    segments: Vec<OutlineEntry>,
}

#[derive(Debug, Clone)]
struct OutlineEntry {
    bytes: Range<usize>,
    items: usize,
    unread: Vec<Name>,
    diagnostics: Vec<Diagnostic>,
}

/// The result of an earlier parse of the text.
pub struct PreviousParse<'b> {
    /// The text.
    pub text: &'b str,
    /// Its statements.
    pub outline: FileOutline,
    /// Their items.
    pub items: Vec<SyntaxItem>,
}

/// The result of an incremental parse.
#[derive(Debug, Default)]
pub struct IncrementalParse {
    /// The statements of the text.
    pub outline: FileOutline,
    /// All items. Items that were not parsed again are moved to their new locations.
    pub items: Vec<SyntaxItem>,
    /// The range of items that were parsed.
    pub fresh: Range<usize>,
    /// The byte ranges that were parsed: in this text, and the corresponding range of the previous text.
    pub bytes: (Range<usize>, Range<usize>),
    /// Names that unreadable declarations would have declared.
    pub unread: Vec<Name>,
    /// The diagnostics of the text.
    pub diagnostics: Diagnostics,
}

pub(crate) fn read_incremental(
    file: FileId,
    source: &str,
    scan: TokenScan,
    limits: &Limits,
    before: Option<PreviousParse<'_>>,
) -> IncrementalParse {
    let text = TokenText::new(file, source, scan.tokens);
    let found = brackets::match_brackets(&text);
    let all = segments::split_segments(&text, &found, 0, text.tokens.len());
    let bytes: Vec<Range<usize>> = all.iter().map(|segment| bytes_of(&text, *segment)).collect();
    let before = before.unwrap_or(PreviousParse { text: "", outline: FileOutline::default(), items: Vec::new() });
    let PreviousParse { text: old_text, outline: FileOutline { segments: mut old }, mut items } = before;
    let (front, back) = count_unchanged(source, &bytes, old_text, &old);
    let mut reader = RecoveryReader::begin(&text, &found, &scan.too_deep, limits);
    let of_brackets = std::mem::take(&mut reader.diagnostics).0;
    let (mut fresh, mut marked) = (Vec::new(), Vec::new());
    let middle = front..all.len().saturating_sub(back);
    for (segment, bytes) in all.get(middle.clone()).unwrap_or(&[]).iter().zip(bytes.get(middle.clone()).unwrap_or(&[]))
    {
        let read = reader.read_segment(*segment, 0);
        marked.push(OutlineEntry {
            bytes: bytes.clone(),
            items: read.len(),
            unread: std::mem::take(&mut reader.unread),
            diagnostics: std::mem::take(&mut reader.diagnostics).0,
        });
        fresh.extend(read);
    }
    // The old statements after the change, moved.
    let tail = old.len().saturating_sub(back);
    let old_read = gap_bounds(&old, front..tail, old_text.len());
    let new_read = byte_bounds(&bytes, middle, source.len());
    let (Ok(from), Ok(to)) = (i64::try_from(old_read.end), i64::try_from(new_read.end)) else {
        return IncrementalParse::default();
    };
    let moved = |span: &mut Span| {
        let shift = |offset: u32| u32::try_from(i64::from(offset) + to - from).unwrap_or(offset);
        (span.start, span.end) = (shift(span.start), shift(span.end));
    };
    let mut last = old.split_off(tail);
    let count = |segments: &[OutlineEntry]| segments.iter().map(|one| one.items).sum::<usize>();
    let first_items = count(old.get(..front).unwrap_or(&[]));
    let mut last_items = items.split_off(items.len().saturating_sub(count(&last)));
    items.truncate(first_items);
    if from != to {
        move_items(&mut last_items, &mut |span| moved(span));
        last.iter_mut().for_each(|one| one.move_to(&moved, to - from));
    }
    let fresh_range = first_items..first_items.saturating_add(fresh.len());
    items.extend(fresh);
    items.extend(last_items);
    old.truncate(front);
    old.extend(marked);
    old.extend(last);
    let outline = FileOutline { segments: old };
    let (unread, diagnostics) = outline.collect_diagnostics(of_brackets, file, source);
    IncrementalParse { outline, items, fresh: fresh_range, bytes: (new_read, old_read), unread, diagnostics }
}

impl OutlineEntry {
    fn move_to(&mut self, moved: &dyn Fn(&mut Span), by: i64) {
        let shift = |offset: usize| {
            i64::try_from(offset).ok().and_then(|offset| usize::try_from(offset + by).ok()).unwrap_or(offset)
        };
        self.bytes = shift(self.bytes.start)..shift(self.bytes.end);
        self.unread.iter_mut().for_each(|name| moved(&mut name.span));
        for one in &mut self.diagnostics {
            moved(&mut one.span);
            one.others.iter_mut().for_each(|label| moved(&mut label.span));
            one.fix.iter_mut().flat_map(|fix| &mut fix.edits).for_each(|edit| moved(&mut edit.span));
        }
    }
}

impl FileOutline {
    fn collect_diagnostics(
        &self,
        of_brackets: Vec<Diagnostic>,
        file: FileId,
        source: &str,
    ) -> (Vec<Name>, Diagnostics) {
        let unread = self.segments.iter().flat_map(|segment| segment.unread.iter().cloned()).collect();
        let mut all: Vec<Diagnostic> = of_brackets;
        all.extend(self.segments.iter().flat_map(|segment| segment.diagnostics.iter().cloned()));
        let mut diagnostics = Diagnostics(all);
        diagnostics.0.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
        cap_diagnostics(file, source, &mut diagnostics);
        (unread, diagnostics)
    }
}

fn bytes_of(text: &TokenText<'_>, segment: TokenSegment) -> Range<usize> {
    let start = text.span(segment.start).start as usize;
    let end = text.token_before(segment.end).map_or(start, |last| text.span(last).end as usize);
    start..end.max(start)
}

/// Number of unchanged statements at the front and at the back.
fn count_unchanged(new_text: &str, new: &[Range<usize>], old_text: &str, old: &[OutlineEntry]) -> (usize, usize) {
    // Compares bytes, not characters. The common part may end inside of a character, but no statement does.
    let (new_bytes, old_bytes) = (new_text.as_bytes(), old_text.as_bytes());
    let common = new_bytes.iter().zip(old_bytes).take_while(|(new, old)| new == old).count();
    let behind = new_bytes.iter().rev().zip(old_bytes.iter().rev()).take_while(|(new, old)| new == old).count();
    // Statements adjacent to the change are parsed again, since a sign after a statement may belong to it.
    let same_front = |(new, old): &(&Range<usize>, &OutlineEntry)| **new == old.bytes && new.end < common;
    let front = new.iter().zip(old).take_while(same_front).count();
    let from_end =
        |length: usize, bytes: &Range<usize>| (length.saturating_sub(bytes.start), length.saturating_sub(bytes.end));
    let same_back = |(new, old): &(&Range<usize>, &OutlineEntry)| {
        let place = from_end(new_text.len(), new);
        place == from_end(old_text.len(), &old.bytes) && place.0 < behind
    };
    let most = new.len().min(old.len()).saturating_sub(front);
    let back = new.iter().rev().zip(old.iter().rev()).take(most).take_while(same_back).count();
    (front, back)
}

fn gap_bounds(all: &[OutlineEntry], middle: Range<usize>, length: usize) -> Range<usize> {
    let start = middle.start.checked_sub(1).and_then(|before| all.get(before)).map_or(0, |one| one.bytes.end);
    start..all.get(middle.end).map_or(length, |one| one.bytes.start).max(start)
}

fn byte_bounds(all: &[Range<usize>], middle: Range<usize>, length: usize) -> Range<usize> {
    let start = middle.start.checked_sub(1).and_then(|before| all.get(before)).map_or(0, |one| one.end);
    start..all.get(middle.end).map_or(length, |one| one.start).max(start)
}
