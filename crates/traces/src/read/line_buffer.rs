//! The lines of a file that are read and not cut yet.

use super::line_numbers::LineNumbers;
use super::run_gatherer::RunGatherer;

pub(super) struct LineBuffer {
    pub(super) pending: Vec<u8>,
    /// Offset of `pending` in the file.
    pub(super) offset: u64,
    pub(super) numbers: LineNumbers,
    /// First line number of `pending`, while cutting line by line.
    pub(super) line: usize,
    pub(super) found: bool,
    /// Skipping the rest of an overlong line.
    pub(super) skipping: bool,
    pub(super) scattered: Option<Box<RunGatherer>>,
}

impl LineBuffer {
    pub(super) fn new(pending: Vec<u8>, offset: u64, scattered: Option<RunGatherer>) -> Self {
        let (numbers, scattered) = (LineNumbers::new(), scattered.map(Box::new));
        Self { pending, offset, numbers, line: 1, found: false, skipping: false, scattered }
    }
}
