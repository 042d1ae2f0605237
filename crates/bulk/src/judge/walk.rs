//! The lines of a chunk of a trace, each with what the line reader takes out of it: for whoever judges them.

use super::judge_way::JudgeWay;
use averment_base::limits::LONG;
use averment_runs::run::RunSource;
use averment_traces::projection::{LineReader, RunProjection, ScannedChunk};
use averment_traces::scan::ByteIndex;
use bumpalo::Bump;

/// A line that is not blank.
#[derive(Debug, Clone, Copy)]
pub struct NonBlankLine<'a> {
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
    chunk: ScannedChunk<'a>,
    index: &ByteIndex,
    mut each: impl FnMut(NonBlankLine<'a>, Option<&RunProjection<'a>>),
) {
    let mut projection = RunProjection::default();
    let mut start = 0;
    for (number, end) in index.line_ends().enumerate() {
        let from = chunk.cursor.blank_in_line(start, end);
        if from < end {
            let fits = index.is_clean() && end - from <= chunk.limits.run_bytes;
            let fast = reader.as_deref_mut().filter(|_| fits);
            let read = fast.and_then(|reader| reader.read_line(chunk, from, end, &mut projection));
            let text = chunk.text.get(start..end).unwrap_or_default();
            each(NonBlankLine { number, start, end, text }, read.map(|()| &projection));
        }
        start = end + 1;
    }
}

/// Empties an arena but keeps the memory of a typical run.
pub(super) fn let_go(arena: &mut Bump) {
    arena.reset();
    if arena.allocated_bytes() > 4 * LONG {
        *arena = Bump::new();
    }
}

/// A line read in full after all others of its chunk.
pub(super) struct DeferredLine {
    pub(super) range: std::ops::Range<usize>,
    pub(super) source: RunSource,
    /// How it is to be judged, where that is known.
    pub(super) way: Option<JudgeWay>,
}
