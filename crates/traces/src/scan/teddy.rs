//! Looking for many short sequences of bytes at once, each byte out of a set: so that `password` and `PASSWORD` are one sequence.

use super::simd;

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// The set of one byte.
    #[must_use]
    pub fn single_byte(byte: u8) -> Self {
        let mut set = Self::default();
        set.insert(byte);
        set
    }

    /// Adds a byte.
    pub fn insert(&mut self, byte: u8) {
        if let Some(word) = self.0.get_mut(usize::from(byte / 64)) {
            *word |= 1 << (byte % 64);
        }
    }

    /// True if it contains a byte.
    #[inline]
    #[must_use]
    pub fn contains(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte / 64)).is_some_and(|word| word & (1 << (byte % 64)) != 0)
    }

    /// True if the sets intersect.
    #[must_use]
    pub fn shares_byte(&self, other: Self) -> bool {
        self.0.iter().zip(other.0).any(|(word, other)| word & other != 0)
    }

    /// How many bytes it has.
    #[must_use]
    pub fn byte_count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The value of `of` if it is the same for all bytes.
    #[must_use]
    pub fn common_image(&self, of: impl Fn(u8) -> u8) -> Option<u8> {
        let mut all = self.bytes().map(of);
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }

    fn bytes(self) -> impl Iterator<Item = u8> {
        [0_u8, 64, 128, 192].into_iter().zip(self.0).flat_map(|(first, word)| {
            let places = super::BitPositions(word).filter_map(|place| u8::try_from(place).ok());
            places.map(move |place| first | place)
        })
    }
}

/// Finds where one of many sequences of three bytes may stand. What it finds are candidates: sequences of one bucket are mixed up.
#[derive(Debug, Clone)]
pub struct TeddySearcher {
    low: [[u8; 16]; 3],
    high: [[u8; 16]; 3],
    buckets: [Vec<u32>; 8],
}

impl TeddySearcher {
    /// A finder of these sequences; a candidate names them by their positions here.
    #[must_use]
    pub fn new(sequences: &[[ByteSet; 3]]) -> Self {
        let mut teddy = Self { low: [[0; 16]; 3], high: [[0; 16]; 3], buckets: Default::default() };
        let groups = group_sequences(sequences);
        for (bucket, (group, buckets)) in (0_u32..).zip(groups.into_iter().zip(&mut teddy.buckets)) {
            let tables = teddy.low.iter_mut().zip(&mut teddy.high);
            for (halves, (low, high)) in group.halves.iter().zip(tables) {
                super::BitPositions(halves.low.into()).for_each(|half| mark_half(low, half, bucket));
                super::BitPositions(halves.high.into()).for_each(|half| mark_half(high, half, bucket));
            }
            *buckets = group.members;
        }
        teddy
    }

    /// Tells the offset of every candidate and the sequence it may be, until `found` says stop.
    #[inline]
    pub fn find_candidates(&self, bytes: &[u8], mut found: impl FnMut(usize, u32) -> bool) {
        simd::find_candidates(bytes, &self.low, &self.high, &mut |at, buckets| {
            super::BitPositions(u64::from(buckets)).any(|bucket| {
                let sequences = self.buckets.get(bucket).map_or(&[][..], Vec::as_slice);
                sequences.iter().any(|sequence| found(at, *sequence))
            })
        });
    }
}

fn mark_half(halves: &mut [u8; 16], half: usize, bucket: u32) {
    if let Some(place) = halves.get_mut(half) {
        *place |= 1 << bucket;
    }
}

/// Nibble masks of the bytes at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct HalfSets {
    low: u16,
    high: u16,
}

#[derive(Debug, Clone)]
struct BucketGroup {
    halves: [HalfSets; 3],
    members: Vec<u32>,
}

impl HalfSets {
    fn from_set(set: ByteSet) -> Self {
        set.bytes().fold(Self::default(), |all, byte| Self {
            low: all.low | (1 << (byte & 15)),
            high: all.high | (1 << (byte >> 4)),
        })
    }

    fn union_with(self, other: Self) -> Self {
        Self { low: self.low | other.low, high: self.high | other.high }
    }
}

impl BucketGroup {
    fn merged_with(&self, other: &Self) -> [HalfSets; 3] {
        std::array::from_fn(|at| match (self.halves.get(at), other.halves.get(at)) {
            (Some(one), Some(other)) => one.union_with(*other),
            _ => HalfSets::default(),
        })
    }
}

/// Three-byte sequences that a bucket would accept.
fn accepted_count(halves: [HalfSets; 3]) -> u32 {
    halves.iter().map(|halves| halves.low.count_ones() * halves.high.count_ones()).product()
}

/// At most eight groups, merged to minimize false candidates.
fn group_sequences(sequences: &[[ByteSet; 3]]) -> Vec<BucketGroup> {
    let mut groups: Vec<BucketGroup> = Vec::new();
    for (number, sequence) in (0_u32..).zip(sequences) {
        let halves = sequence.map(HalfSets::from_set);
        match groups.iter_mut().find(|group| group.halves == halves) {
            Some(group) => group.members.push(number),
            None => groups.push(BucketGroup { halves, members: vec![number] }),
        }
    }
    while groups.len() > 8 {
        let pairs = (1..groups.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
        let more = |(first, second): &(usize, usize)| match (groups.get(*first), groups.get(*second)) {
            (Some(one), Some(other)) => accepted_count(one.merged_with(other))
                .saturating_sub(accepted_count(one.halves) + accepted_count(other.halves)),
            _ => u32::MAX,
        };
        let Some((first, second)) = pairs.min_by_key(more) else { break };
        let other = groups.swap_remove(second);
        if let Some(group) = groups.get_mut(first) {
            group.halves = group.merged_with(&other);
            group.members.extend(other.members);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_is_among_the_candidates() {
        let words = ["abc", "xyz", "a-b", "ABC", "___", "pas", "sec", "api", "key", "123", "\u{e9}a"];
        let sequences: Vec<[ByteSet; 3]> =
            words.iter().map(|word| std::array::from_fn(|at| ByteSet::single_byte(word.as_bytes()[at]))).collect();
        let teddy = TeddySearcher::new(&sequences);
        for padding in 0..70 {
            let text = format!("{}{}", ".".repeat(padding), words.join(" "));
            let mut found = Vec::new();
            teddy.find_candidates(text.as_bytes(), |at, sequence| {
                if text.as_bytes()[at..].starts_with(words[sequence as usize].as_bytes()) {
                    found.push(sequence);
                }
                false
            });
            assert_eq!(found, (0..11).collect::<Vec<_>>(), "{text}");
        }
    }
}
