//! The lines of a chunk of a trace, each with what the line reader takes out of it: for whoever judges them.

use averment_base::limits::LONG;
use averment_traces::projection::{Chunk, LineReader, Projection};
use averment_traces::scan::Index;
use bumpalo::Bump;

/// A line that is not blank.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Its number in the chunk, from 0.
    pub number: usize,
    /// Its first byte in the chunk.
    pub start: usize,
    /// The byte behind it, which ends it.
    pub end: usize,
    /// Its text, without that byte.
    pub text: &'a str,
}

/// Shows every line of a chunk that is not blank, in order: with its projection where the reader can give them.
pub fn each_line<'a>(
    mut reader: Option<&mut LineReader>,
    chunk: Chunk<'a>,
    index: &Index,
    mut each: impl FnMut(Line<'a>, Option<&Projection<'a>>),
) {
    let mut projection = Projection::default();
    let mut start = 0;
    for (number, end) in index.line_ends().enumerate() {
        let from = chunk.cursor.blank_in_line(start, end);
        if from < end {
            let fits = index.is_clean() && end - from <= chunk.limits.run_bytes;
            let fast = reader.as_deref_mut().filter(|_| fits);
            let read = fast.and_then(|reader| reader.read(chunk, from, end, &mut projection));
            let text = chunk.text.get(start..end).unwrap_or_default();
            each(Line { number, start, end, text }, read.map(|()| &projection));
        }
        start = end + 1;
    }
}

/// Makes an arena empty. The memory of a usual run stays.
pub(super) fn let_go(arena: &mut Bump) {
    arena.reset();
    if arena.allocated_bytes() > 4 * LONG {
        *arena = Bump::new();
    }
}
