//! The lines of a file that are read and not cut yet.

use super::line_cutter::LineCutter;
use super::line_numbers::LineNumbers;

pub(super) struct LineBuffer {
    pub(super) pending: Vec<u8>,
    pub(super) numbers: LineNumbers,
    /// At the first line of `pending`; its number is known while lines are cut one by one.
    pub(super) cutter: LineCutter,
}

impl LineBuffer {
    pub(super) fn new(pending: Vec<u8>, offset: u64) -> Self {
        Self { pending, numbers: LineNumbers::new(), cutter: LineCutter::new(offset) }
    }
}
