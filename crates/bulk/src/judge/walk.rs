//! The lines of a stretch of a trace, each with what the line reader takes out of it: for whoever judges them.

use averment_traces::projection::{Chunk as Stretch, LineReader, Projection as Facts};
use averment_traces::scan::Index;

/// A line that is not blank.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Its number in the stretch, from 0.
    pub number: usize,
    /// Its first byte in the stretch.
    pub start: usize,
    /// The byte behind it, which ends it.
    pub end: usize,
    /// Its text, without that byte.
    pub text: &'a str,
}

/// Shows every line of a stretch that is not blank, in order: with its facts where the reader can give them.
pub fn each_line<'a>(
    mut reader: Option<&mut LineReader>,
    stretch: Stretch<'a>,
    index: &Index,
    mut each: impl FnMut(Line<'a>, Option<&Facts<'a>>),
) {
    let mut facts = Facts::default();
    let mut start = 0;
    for (number, end) in index.line_ends().enumerate() {
        let from = stretch.cursor.blank_in_line(start, end);
        if from < end {
            let fits = index.is_clean() && end - from <= stretch.limits.run_bytes;
            let fast = reader.as_deref_mut().filter(|_| fits);
            let read = fast.and_then(|reader| reader.read(stretch, from, end, &mut facts));
            let text = stretch.text.get(start..end).unwrap_or_default();
            each(Line { number, start, end, text }, read.map(|()| &facts));
        }
        start = end + 1;
    }
}
