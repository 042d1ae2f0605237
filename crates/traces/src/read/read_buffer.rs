//! What is read of a file and not cut yet, in one block of memory: room that was written to once is not cleared again.

use super::bytes::UpToBreak;
use super::stream::CHUNK_SIZE;
use averment_base::memory::allow_failure;
use std::io::{self, Read};

#[derive(Default)]
pub(super) struct ReadBuffer {
    bytes: Vec<u8>,
    /// What stands behind is room.
    filled: usize,
}

/// A block that a long line has made larger is given back.
const MOST_KEPT: usize = 4 * CHUNK_SIZE;

impl ReadBuffer {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { filled: bytes.len(), bytes }
    }

    pub(super) fn filled(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or_default()
    }

    /// Reads a chunk, or all that is left. True at the end of the input.
    pub(super) fn read_more(&mut self, input: &mut UpToBreak) -> io::Result<bool> {
        let before = self.filled;
        let end = before.saturating_add(CHUNK_SIZE);
        if self.bytes.len() < end {
            allow_failure(|| self.bytes.try_reserve(end - self.bytes.len()))?;
            self.bytes.resize(end, 0);
        }
        while self.filled < end {
            let room = self.bytes.get_mut(self.filled..end).unwrap_or_default();
            match input.read(room) {
                Ok(0) => break,
                Ok(count) => self.filled += count.min(end - self.filled),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.filled == before)
    }

    /// Forgets the first bytes.
    pub(super) fn drop_front(&mut self, length: usize) {
        let left = self.filled.saturating_sub(length);
        if self.bytes.len() > MOST_KEPT && left < CHUNK_SIZE {
            self.bytes = self.filled().get(length..).unwrap_or_default().to_vec();
        } else {
            self.bytes.copy_within(length.min(self.filled)..self.filled, 0);
        }
        self.filled = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_all_of_the_input_whatever_is_dropped_between() {
        let long: Vec<u8> = (0..6 * CHUNK_SIZE).map(|at| u8::try_from(at % 251).unwrap_or_default()).collect();
        for step in [1000, CHUNK_SIZE - 1, CHUNK_SIZE, 2 * CHUNK_SIZE + 7, 5 * CHUNK_SIZE] {
            let mut input = UpToBreak::new(Box::new(io::Cursor::new(long.clone())));
            let (mut buffer, mut taken, mut ended) = (ReadBuffer::new(b"before".to_vec()), Vec::new(), false);
            while !ended {
                while !ended && buffer.filled().len() < step {
                    ended = buffer.read_more(&mut input).unwrap();
                }
                let length = if ended { buffer.filled().len() } else { step };
                taken.extend_from_slice(&buffer.filled()[..length]);
                buffer.drop_front(length);
                assert!(buffer.bytes.len() <= MOST_KEPT.max(step + CHUNK_SIZE), "{step}");
            }
            assert_eq!(taken, [b"before".as_slice(), &long].concat(), "{step}");
        }
    }
}
