//! The lines of a file that are read and not cut yet.

use super::line_numbers::LineNumbers;

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
}

impl LineBuffer {
    pub(super) fn new(pending: Vec<u8>, offset: u64) -> Self {
        Self { pending, offset, numbers: LineNumbers::new(), line: 1, found: false, skipping: false }
    }
}
