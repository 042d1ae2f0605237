//! Looking for very many literals at once.
//!
//! Of each literal some windows of eight bytes, or of four, are kept, at places in a row: so many that one of them stands where the search
//! looks, though it looks only at every fourth byte, or at every eighth. A window that is there is found by its number in a table of bits,
//! which is small enough to stay near the processor however many literals there are. Letters are looked for in either case; who asks
//! compares the bytes.

/// A byte in lower case; `None` where several bytes fit.
pub(super) type FoldedByte = Option<u8>;

#[derive(Debug)]
pub(super) struct LiteralWindows {
    bits: Box<[u64; WORDS]>,
    heads: Vec<u32>,
    entries: Vec<WindowEntry>,
    size: WindowSize,
}

#[derive(Debug, Clone, Copy)]
struct WindowEntry {
    window: u64,
    literal: u32,
    offset: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowSize {
    Longest,
    Long,
    Middle,
    Short,
}

/// Bits of a window's hash.
const BITS: u32 = 16;
/// Words of the table of bits.
const WORDS: usize = 1 << (BITS - 6);
/// Bits of a bucket's number.
const BUCKETS: u32 = 12;
/// Upper and lower case differ in this bit.
const CASE: u64 = 0x2020_2020_2020_2020;

pub(super) fn fold_byte(byte: u8) -> u8 {
    byte | 0x20
}

#[inline]
fn mix_window(window: u64) -> u64 {
    window.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline]
fn top_bits(mixed: u64, bits: u32) -> usize {
    usize::try_from(mixed >> (64 - bits)).unwrap_or(0)
}

impl WindowSize {
    /// The cheapest first.
    pub(super) const ALL: [Self; 4] = [Self::Longest, Self::Long, Self::Middle, Self::Short];

    /// `None` without enough consecutive plain bytes.
    pub(super) fn for_literal(literal: &[FoldedByte]) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.plain_blocks(literal).next().is_some())
    }

    fn byte_width(self) -> usize {
        match self {
            Self::Longest | Self::Long => 8,
            Self::Middle | Self::Short => 4,
        }
    }

    fn stride(self) -> usize {
        match self {
            Self::Longest => 8,
            Self::Long | Self::Middle => 4,
            Self::Short => 1,
        }
    }

    fn plain_blocks(self, literal: &[FoldedByte]) -> impl Iterator<Item = (usize, Vec<u8>)> + '_ {
        let block = |bytes: &[FoldedByte]| bytes.iter().copied().collect::<Option<Vec<u8>>>();
        let places = literal.windows(self.byte_width() + self.stride() - 1).enumerate();
        places.filter_map(move |(at, bytes)| Some((at, block(bytes)?)))
    }

    fn byte_windows(self, bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
        bytes.windows(self.byte_width()).map(|window| {
            let shifted = |at: u32, byte: u8| u64::from(fold_byte(byte)) << (8 * at);
            (0..).zip(window).fold(0, |all, (at, byte)| all | shifted(at, *byte))
        })
    }
}

impl LiteralWindows {
    /// All literals must be long enough for the size.
    pub(super) fn new(literals: &[(u32, Vec<FoldedByte>)], size: WindowSize) -> Self {
        let mut common = rustc_hash::FxHashMap::<u64, u32>::default();
        let blocks = |bytes| size.plain_blocks(bytes).map(|(_, block)| size.byte_windows(&block).next());
        for window in literals.iter().flat_map(|(_, bytes)| blocks(bytes)).flatten() {
            *common.entry(window).or_default() += 1;
        }
        let mut entries = Vec::new();
        for (literal, bytes) in literals {
            // The block that the fewest literals share, and that the fewest texts have.
            let cost = |block: &[u8]| {
                let shared: u32 =
                    size.byte_windows(block).map(|window| common.get(&window).copied().unwrap_or(0)).sum();
                (shared, block.iter().map(|byte| byte_frequency(*byte)).sum::<u32>())
            };
            let best = size.plain_blocks(bytes).min_by_key(|(_, block)| cost(block));
            let Some((at, block)) = best else { continue };
            entries.extend(size.byte_windows(&block).zip(at..).filter_map(|(window, offset)| {
                Some(WindowEntry { window, literal: *literal, offset: u32::try_from(offset).ok()? })
            }));
        }
        Self::of_entries(entries, size)
    }

    fn of_entries(mut entries: Vec<WindowEntry>, size: WindowSize) -> Self {
        let bucket_of = |entry: &WindowEntry| top_bits(mix_window(entry.window), BUCKETS);
        entries.sort_by_key(|entry| (bucket_of(entry), entry.window, entry.literal, entry.offset));
        let mut bits = Box::new([0_u64; WORDS]);
        let mut heads = vec![0_u32; (1 << BUCKETS) + 1];
        for entry in &entries {
            let number = top_bits(mix_window(entry.window), BITS);
            if let Some(word) = bits.get_mut(number / 64) {
                *word |= 1 << (number % 64);
            }
        }
        let mut next = 0;
        for (bucket, head) in heads.iter_mut().enumerate() {
            while entries.get(next).is_some_and(|entry| bucket_of(entry) < bucket) {
                next += 1;
            }
            *head = u32::try_from(next).unwrap_or(u32::MAX);
        }
        Self { bits, heads, entries, size }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    pub(super) fn find_literals(&self, bytes: &[u8], found: &mut dyn FnMut(usize, u32)) {
        let four = |window: &[u8; 4]| u64::from(u32::from_le_bytes(*window)) | (CASE >> 32);
        let eight = |window: &[u8; 8]| u64::from_le_bytes(*window) | CASE;
        match self.size {
            WindowSize::Longest => self.scan_windows::<8, 8, 32>(bytes, eight, found),
            WindowSize::Long => self.scan_windows::<8, 4, 20>(bytes, eight, found),
            WindowSize::Middle => self.scan_windows::<4, 4, 16>(bytes, four, found),
            WindowSize::Short => self.scan_windows::<4, 1, 7>(bytes, four, found),
        }
    }

    /// Tests four windows (`FOUR` bytes) at once, and each alone only if one of them may match.
    #[inline]
    fn scan_windows<const WIDTH: usize, const STRIDE: usize, const FOUR: usize>(
        &self,
        bytes: &[u8],
        window: impl Fn(&[u8; WIDTH]) -> u64,
        found: &mut dyn FnMut(usize, u32),
    ) {
        let mut at = 0_usize;
        while let Some(four) = bytes.get(at..).and_then(<[u8]>::first_chunk::<FOUR>) {
            let bit = |one: usize| {
                let bytes = four.get(one * STRIDE..).and_then(<[u8]>::first_chunk);
                bytes.map_or(0, |bytes| self.table_bit(mix_window(window(bytes))))
            };
            let which = bit(0) | bit(1) << 1 | bit(2) << 2 | bit(3) << 3;
            if which != 0 {
                for one in averment_traces::scan::BitPositions(which) {
                    self.check_window(bytes, at.wrapping_add(one * STRIDE), &window, found);
                }
            }
            at = at.wrapping_add(4 * STRIDE);
        }
        while at.wrapping_add(WIDTH) <= bytes.len() {
            self.check_window(bytes, at, &window, found);
            at = at.wrapping_add(STRIDE);
        }
    }

    /// Nonzero if the table contains the window.
    #[inline]
    fn table_bit(&self, mixed: u64) -> u64 {
        let number = top_bits(mixed, BITS);
        self.bits.get(number / 64).map_or(0, |word| (word >> (number % 64)) & 1)
    }

    #[inline]
    fn check_window<const WIDTH: usize>(
        &self,
        bytes: &[u8],
        at: usize,
        window: impl Fn(&[u8; WIDTH]) -> u64,
        found: &mut dyn FnMut(usize, u32),
    ) {
        let Some(window) = bytes.get(at..).and_then(<[u8]>::first_chunk).map(window) else { return };
        let bucket = top_bits(mix_window(window), BUCKETS);
        let head = |bucket: usize| self.heads.get(bucket).map_or(0, |head| *head as usize);
        for entry in self.entries.get(head(bucket)..head(bucket + 1)).unwrap_or_default() {
            if entry.window == window
                && let Some(start) = at.checked_sub(entry.offset as usize)
            {
                found(start, entry.literal);
            }
        }
    }
}

/// Approximate frequency of a byte in texts, ignoring case; ranks positions of a literal.
pub(super) fn byte_frequency(byte: u8) -> u32 {
    match byte {
        b'e' | b't' | b'a' | b'o' | b' ' => 12,
        b'i' | b'n' | b's' | b'r' | b'h' | b'l' => 8,
        b'd' | b'c' | b'u' | b'm' | b'p' | b'f' | b'g' => 4,
        b'0'..=b'9' | b'b' | b'w' | b'y' | b'v' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn literal(text: &str) -> Vec<FoldedByte> {
        text.bytes().map(|byte| Some(fold_byte(byte))).collect()
    }

    proptest! {
        #[test]
        fn what_stands_in_a_text_is_found_wherever_it_stands(
            words in prop::collection::vec("[abAB_ ]{4,16}", 1..30),
            parts in prop::collection::vec((any::<prop::sample::Index>(), "[abAB_ ]{0,9}"), 0..12),
        ) {
            let text: String = parts.iter().map(|(index, more)| format!("{}{more}", words[index.index(words.len())])).collect();
            for wanted in WindowSize::ALL {
                let numbered = words.iter().map(|word| literal(word)).zip(0u32..).map(|(word, number)| (number, word));
                let these: Vec<_> = numbered.filter(|(_, word)| wanted.plain_blocks(word).next().is_some()).collect();
                let windows = LiteralWindows::new(&these, wanted);
                let mut found = std::collections::BTreeSet::new();
                windows.find_literals(text.as_bytes(), &mut |at, number| { found.insert((number, at)); });
                for (number, _) in &these {
                    let word = words[*number as usize].to_ascii_lowercase();
                    let lower = text.to_ascii_lowercase();
                    let places = (0..lower.len()).filter(|at| lower[*at..].starts_with(&word));
                    for place in places {
                        prop_assert!(found.contains(&(*number, place)), "{word} at {place} in {text} with {wanted:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn literals_with_open_places_are_found_by_their_plain_bytes() {
        let mut word = literal("key-");
        word.extend([None, None]);
        word.extend(literal("-values"));
        assert_eq!(WindowSize::for_literal(&word), Some(WindowSize::Middle));
        for size in [WindowSize::Middle, WindowSize::Short] {
            let windows = LiteralWindows::new(&[(7, word.clone())], size);
            let mut found = Vec::new();
            windows.find_literals(b"a KEY-12-Values-12", &mut |at, number| found.push((at, number)));
            assert_eq!(found, [(2, 7)]);
        }
        assert_eq!(
            [WindowSize::for_literal(&literal("abc")), WindowSize::for_literal(&literal("a long word"))],
            [None, Some(WindowSize::Long)]
        );
    }
}
