//! Looking for many short sequences of bytes at once, each byte out of a set: so that `password` and `PASSWORD` are one sequence.

use super::simd;

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// The set of one byte.
    #[must_use]
    pub fn of(byte: u8) -> Self {
        let mut set = Self::default();
        set.add(byte);
        set
    }

    /// Adds a byte.
    pub fn add(&mut self, byte: u8) {
        if let Some(word) = self.0.get_mut(usize::from(byte / 64)) {
            *word |= 1 << (byte % 64);
        }
    }

    /// Whether it has a byte.
    #[inline]
    #[must_use]
    pub fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte / 64)).is_some_and(|word| word & (1 << (byte % 64)) != 0)
    }

    /// How many bytes it has.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// What all of its bytes are to `of`, where that is the same.
    #[must_use]
    pub fn same(&self, of: impl Fn(u8) -> u8) -> Option<u8> {
        let mut all = self.bytes().map(of);
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }

    fn bytes(self) -> impl Iterator<Item = u8> {
        (0..=255).filter(move |byte| self.has(*byte))
    }
}

/// Finds where one of many sequences of three bytes may stand. What it finds are candidates: sequences of one bucket are mixed up.
#[derive(Debug, Clone)]
pub struct Teddy {
    low: [[u8; 16]; 3],
    high: [[u8; 16]; 3],
    /// The sequences in each bucket.
    buckets: [Vec<u32>; 8],
}

impl Teddy {
    /// A finder of these sequences; a candidate names them by their positions here.
    #[must_use]
    pub fn new(sequences: &[[ByteSet; 3]]) -> Self {
        let mut teddy = Self { low: [[0; 16]; 3], high: [[0; 16]; 3], buckets: Default::default() };
        for (number, sequence) in (0_u32..).zip(sequences) {
            let bucket = number % 8;
            if let Some(list) = teddy.buckets.get_mut(bucket as usize) {
                list.push(number);
            }
            for ((set, low), high) in sequence.iter().zip(&mut teddy.low).zip(&mut teddy.high) {
                for byte in set.bytes() {
                    mark(low, byte & 15, bucket);
                    mark(high, byte >> 4, bucket);
                }
            }
        }
        teddy
    }

    /// Tells the offset of every candidate and the sequence it may be, until `found` says stop.
    #[inline]
    pub fn find(&self, bytes: &[u8], mut found: impl FnMut(usize, u32) -> bool) {
        simd::candidates(bytes, &self.low, &self.high, &mut |at, buckets| {
            super::Bits(u64::from(buckets)).any(|bucket| {
                let sequences = self.buckets.get(bucket).map_or(&[][..], Vec::as_slice);
                sequences.iter().any(|sequence| found(at, *sequence))
            })
        });
    }
}

fn mark(halves: &mut [u8; 16], half: u8, bucket: u32) {
    if let Some(place) = halves.get_mut(usize::from(half)) {
        *place |= 1 << bucket;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_is_among_the_candidates() {
        let words = ["abc", "xyz", "a-b", "ABC", "___", "pas", "sec", "api", "key", "123", "\u{e9}a"];
        let sequences: Vec<[ByteSet; 3]> =
            words.iter().map(|word| std::array::from_fn(|at| ByteSet::of(word.as_bytes()[at]))).collect();
        let teddy = Teddy::new(&sequences);
        for padding in 0..70 {
            let text = format!("{}{}", ".".repeat(padding), words.join(" "));
            let mut found = Vec::new();
            teddy.find(text.as_bytes(), |at, sequence| {
                if text.as_bytes()[at..].starts_with(words[sequence as usize].as_bytes()) {
                    found.push(sequence);
                }
                false
            });
            assert_eq!(found, (0..11).collect::<Vec<_>>(), "{text}");
        }
    }
}
