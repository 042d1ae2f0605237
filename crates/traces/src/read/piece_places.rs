//! Lines and columns of the texts that a run is joined of.

use super::run_pieces::{CutPieces, RunPiece};
use super::split;
use averment_runs::run::TextPart;

/// Counts lines once over all pieces.
pub(super) struct PiecePlaces {
    /// Offset, line, column.
    known: Vec<(usize, usize, usize)>,
}

impl PiecePlaces {
    pub(super) fn locate_all(text: &str, found: &CutPieces) -> Self {
        let mut known: Vec<_> = found.text_starts().map(|offset| (offset, 0, 0)).collect();
        known.sort_unstable();
        let mut counter = split::LineCounter::default();
        for (offset, line, column) in &mut known {
            (*line, *column) = counter.line_and_column(text, *offset);
        }
        Self { known }
    }

    pub(super) fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let found = self.known.binary_search_by_key(&offset, |(offset, ..)| *offset);
        found.ok().and_then(|found| self.known.get(found)).map_or((1, 1), |(_, line, column)| (*line, *column))
    }

    pub(super) fn of_run(&self, pieces: &[RunPiece], offset: u64, lines: usize) -> Vec<TextPart> {
        let mut parts = Vec::new();
        let mut start = 0;
        for piece in pieces {
            match piece {
                RunPiece::Text(range) => {
                    let (line, column) = self.line_and_column(range.start);
                    parts.push(TextPart { start, line: line + lines, column, offset: offset + range.start as u64 });
                    start += range.len();
                }
                RunPiece::Glue(glue) => start += glue.len(),
            }
        }
        parts
    }
}
