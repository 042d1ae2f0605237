//! A look at many bytes at once: where quotes, brackets and line ends stand outside of strings.
//!
//! A chunk of a file is indexed in one pass, 64 bytes at a time, with the best instructions that the machine has. A [`ScanCursor`] then
//! walks the values of a line by counting bits, so that what nobody asks for costs little more than reading it. The pass checks what
//! can be checked without a parser: strings are closed on their line, hold no control characters and only known escapes.
//! [`ByteIndex::is_clean`] is false where that does not hold, and the full reader has to look.

mod any_word;
mod cursor;
mod digits;
mod simd;
mod teddy;

pub(crate) use any_word::AnyWord;
use averment_base::limits::{LONG, give_own_block};
use averment_base::memory::allow_failure;
pub use cursor::ScanCursor;
pub(crate) use digits::few_digits;
use std::collections::TryReserveError;
pub use teddy::{ByteSet, TeddySearcher};

/// Structural bits of a 64-byte block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanWord {
    /// Quotes that open or close a string.
    pub(crate) quote: u64,
    pub(crate) slash: u64,
    /// `{` and `[` outside of strings.
    pub(crate) open: u64,
    /// `}` and `]` outside of strings.
    pub(crate) close: u64,
}

/// The index of a chunk of bytes. Its memory is kept from one chunk to the next.
#[derive(Debug, Default)]
pub struct ByteIndex {
    words: Vec<ScanWord>,
    ends: Vec<usize>,
    clean: bool,
    ascii: bool,
}

impl ByteIndex {
    /// Indexes these bytes; what was known before is forgotten.
    ///
    /// # Errors
    /// No memory.
    pub fn build_index(&mut self, bytes: &[u8]) -> Result<(), TryReserveError> {
        if bytes.len() > LONG {
            give_own_block(&mut self.words);
            self.ends.clear();
            allow_failure(|| self.ends.try_reserve(memchr::memchr_iter(b'\n', bytes).count()))?;
        }
        allow_failure(|| self.words.try_reserve((bytes.len() / 64 + 1).saturating_sub(self.words.len())))?;
        let (clean, ascii) = simd::index_blocks(bytes, &mut self.words, &mut self.ends);
        (self.clean, self.ascii) = (clean, ascii);
        Ok(())
    }

    /// True if all strings are closed on their lines, without control characters or unknown escapes.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.clean
    }

    /// Whether all bytes are ASCII.
    #[must_use]
    pub fn is_ascii(&self) -> bool {
        self.ascii
    }

    /// One per 64 bytes.
    pub(crate) fn words(&self) -> &[ScanWord] {
        &self.words
    }

    /// The offsets of line ends, in order.
    pub fn line_ends(&self) -> impl Iterator<Item = usize> + '_ {
        self.ends.iter().copied()
    }
}

/// The positions of set bits, in order.
pub struct BitPositions(pub u64);

impl Iterator for BitPositions {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        Some(bit)
    }
}
