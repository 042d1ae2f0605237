//! Looking for very many literals at once.
//!
//! Of each literal some windows of four bytes are kept, at places in a row: so many that one of them stands where the search looks, though
//! it looks only at every fourth byte. A window that is there is found by its number in a table of bits, which is small enough to stay
//! near the processor however many literals there are. Letters are looked for in either case; who asks compares the bytes.

/// One byte of a literal, in lower case; `None` for a place where several bytes fit.
pub(super) type Folded = Option<u8>;

/// Finds where literals may stand.
#[derive(Debug)]
pub(super) struct Windows {
    /// One bit for each number that a window can have.
    bits: Vec<u64>,
    /// The first entry of each bucket.
    heads: Vec<u32>,
    entries: Vec<Entry>,
    /// Every so many bytes are looked at.
    stride: usize,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    window: u32,
    literal: u32,
    /// Where the window stands in the literal.
    offset: u32,
}

/// The bytes of a window.
const WIDTH: usize = 4;
/// Literals that are long enough are looked for at every fourth byte.
const STRIDE: usize = 4;
/// Numbers of windows have so many bits.
const BITS: u32 = 16;
/// Numbers of buckets.
const BUCKETS: u32 = 12;
/// Upper and lower case of a letter differ in this bit.
const CASE: u32 = 0x2020_2020;

/// A byte without its case.
pub(super) fn folded(byte: u8) -> u8 {
    byte | 0x20
}

#[inline]
fn number(window: u32, bits: u32) -> usize {
    (window.wrapping_mul(0x9E37_79B1) >> (32 - bits)) as usize
}

/// How many bytes of a literal must be plain, for a search that looks at every `stride`th byte.
fn needed(stride: usize) -> usize {
    WIDTH + stride - 1
}

/// The stride with which a literal can be looked for; `None` for one without enough plain bytes in a row.
pub(super) fn stride(literal: &[Folded]) -> Option<usize> {
    let fits = |stride: &usize| blocks(literal, *stride).next().is_some();
    [STRIDE, 1].into_iter().find(fits)
}

/// The places of a literal where enough plain bytes stand in a row, with these.
fn blocks(literal: &[Folded], stride: usize) -> impl Iterator<Item = (usize, Vec<u8>)> + '_ {
    let block = |(at, bytes): (usize, &[Folded])| Some((at, bytes.iter().copied().collect::<Option<Vec<u8>>>()?));
    literal.windows(needed(stride)).enumerate().filter_map(block)
}

fn windows_of(block: &[u8]) -> impl Iterator<Item = u32> + '_ {
    block.windows(WIDTH).filter_map(|window| Some(u32::from_le_bytes(*window.first_chunk()?) | CASE))
}

impl Windows {
    /// A search for literals by their numbers, all of which can be looked for with this stride.
    pub(super) fn new(literals: &[(u32, Vec<Folded>)], stride: usize) -> Self {
        let mut common = rustc_hash::FxHashMap::<u32, u32>::default();
        for window in
            literals.iter().flat_map(|(_, bytes)| blocks(bytes, 1)).flat_map(|(_, block)| windows_of(&block).next())
        {
            *common.entry(window).or_default() += 1;
        }
        let mut entries = Vec::new();
        for (literal, bytes) in literals {
            // The block that the fewest literals share, and that the fewest texts have.
            let cost = |block: &[u8]| {
                let shared: u32 = windows_of(block).map(|window| common.get(&window).copied().unwrap_or(0)).sum();
                (shared, block.iter().map(|byte| frequency(*byte)).sum::<u32>())
            };
            let best = blocks(bytes, stride).min_by_key(|(_, block)| cost(block));
            let Some((at, block)) = best else { continue };
            entries.extend(windows_of(&block).zip(at..).filter_map(|(window, offset)| {
                Some(Entry { window, literal: *literal, offset: u32::try_from(offset).ok()? })
            }));
        }
        Self::of_entries(entries, stride)
    }

    fn of_entries(mut entries: Vec<Entry>, stride: usize) -> Self {
        entries.sort_by_key(|entry| (number(entry.window, BUCKETS), entry.window, entry.literal, entry.offset));
        let mut bits = vec![0_u64; 1 << (BITS - 6)];
        let mut heads = vec![0_u32; (1 << BUCKETS) + 1];
        for entry in &entries {
            let number = number(entry.window, BITS);
            if let Some(word) = bits.get_mut(number / 64) {
                *word |= 1 << (number % 64);
            }
        }
        let mut next = 0;
        for (bucket, head) in heads.iter_mut().enumerate() {
            while entries.get(next).is_some_and(|entry| number(entry.window, BUCKETS) < bucket) {
                next += 1;
            }
            *head = u32::try_from(next).unwrap_or(u32::MAX);
        }
        Self { bits, heads, entries, stride }
    }

    /// Whether it looks for nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Tells where a literal may start, and its number.
    #[inline]
    pub(super) fn find(&self, bytes: &[u8], found: &mut dyn FnMut(usize, u32)) {
        if self.stride == STRIDE {
            self.scan::<STRIDE, { 3 * STRIDE + WIDTH }>(bytes, found);
        } else {
            self.scan::<1, { 3 + WIDTH }>(bytes, found);
        }
    }

    /// Looks at every `EACH`th byte: at four windows, which fill `FOUR` bytes, at a time, and at each on its own only where one of them may
    /// be some literal's.
    #[inline]
    fn scan<const EACH: usize, const FOUR: usize>(&self, bytes: &[u8], found: &mut dyn FnMut(usize, u32)) {
        let mut at = 0_usize;
        while let Some(four) = bytes.get(at..).and_then(<[u8]>::first_chunk::<FOUR>) {
            let bit =
                |one: usize| four.get(one * EACH..).and_then(<[u8]>::first_chunk).map_or(0, |window| self.bit(*window));
            if bit(0) | bit(1) | bit(2) | bit(3) != 0 {
                (0..4).for_each(|one| self.look(bytes, at.wrapping_add(one * EACH), found));
            }
            at = at.wrapping_add(4 * EACH);
        }
        while at.wrapping_add(WIDTH) <= bytes.len() {
            self.look(bytes, at, found);
            at = at.wrapping_add(EACH);
        }
    }

    /// Not 0 where the table of bits has a window.
    #[inline]
    fn bit(&self, window: [u8; WIDTH]) -> u64 {
        let number = number(u32::from_le_bytes(window) | CASE, BITS);
        self.bits.get(number / 64).map_or(0, |word| (word >> (number % 64)) & 1)
    }

    #[inline]
    fn look(&self, bytes: &[u8], at: usize, found: &mut dyn FnMut(usize, u32)) {
        let Some(window) = bytes.get(at..).and_then(<[u8]>::first_chunk) else { return };
        if self.bit(*window) != 0 {
            self.tell(u32::from_le_bytes(*window) | CASE, at, found);
        }
    }

    #[inline(never)]
    fn tell(&self, window: u32, at: usize, found: &mut dyn FnMut(usize, u32)) {
        let bucket = number(window, BUCKETS);
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

/// How often texts have a byte, without its case: roughly, for the choice between places of a literal.
fn frequency(byte: u8) -> u32 {
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

    fn literal(text: &str) -> Vec<Folded> {
        text.bytes().map(|byte| Some(folded(byte))).collect()
    }

    proptest! {
        #[test]
        fn what_stands_in_a_text_is_found_wherever_it_stands(
            words in prop::collection::vec("[abAB_ ]{4,12}", 1..30),
            parts in prop::collection::vec((any::<prop::sample::Index>(), "[abAB_ ]{0,9}"), 0..12),
        ) {
            let text: String = parts.iter().map(|(index, more)| format!("{}{more}", words[index.index(words.len())])).collect();
            for wanted in [4, 1] {
                let numbered = words.iter().map(|word| literal(word)).enumerate().map(|(number, word)| (number as u32, word));
                let these: Vec<_> = numbered.filter(|(_, word)| stride(word).is_some_and(|stride| stride >= wanted)).collect();
                let windows = Windows::new(&these, wanted);
                let mut found = std::collections::BTreeSet::new();
                windows.find(text.as_bytes(), &mut |at, number| { found.insert((number, at)); });
                for (number, _) in &these {
                    let word = words[*number as usize].to_ascii_lowercase();
                    let lower = text.to_ascii_lowercase();
                    let places = (0..lower.len()).filter(|at| lower[*at..].starts_with(&word));
                    for place in places {
                        prop_assert!(found.contains(&(*number, place)), "{word} at {place} in {text} with {wanted}");
                    }
                }
            }
        }
    }

    #[test]
    fn literals_with_open_places_are_found_by_their_plain_bytes() {
        let mut word = literal("key-");
        word.extend([None, None]);
        word.extend(literal("-value"));
        assert_eq!(stride(&word), Some(1));
        let windows = Windows::new(&[(7, word)], 1);
        let mut found = Vec::new();
        windows.find(b"a KEY-12-Value", &mut |at, number| found.push((at, number)));
        assert_eq!(found, [(2, 7)]);
        assert_eq!(stride(&literal("abc")), None);
    }
}
