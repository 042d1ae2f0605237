//! The inner loops that look at many bytes at once: the one place with instructions of a particular machine.
//!
//! Each loop is written once as a macro over some ways to look at a block: a portable one, and those for x86-64 with AVX2 and with AVX-512
//! that are taken where the machine has them: each asks for a token which only detection gives. A test compares all on random bytes and on every border.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use super::{Bits, Word};
#[cfg(target_arch = "x86_64")]
use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use avx512::Avx512;

/// What stands in a block of 64 bytes, strings not taken into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BlockMasks {
    quote: u64,
    slash: u64,
    open: u64,
    close: u64,
    newline: u64,
    /// Bytes below 0x20.
    control: u64,
    /// Bytes above 0x7F.
    high: u64,
}

/// Carried from block to block.
#[derive(Debug, Default)]
struct Carry {
    /// The first byte of the next block is escaped.
    escaped: u64,
    /// All ones inside of a string.
    inside: u64,
    bad: u64,
    high: u64,
}

impl Carry {
    /// The quotes of a block that open or close a string, and the bytes that are escaped.
    #[inline(always)]
    fn quotes(&mut self, masks: BlockMasks) -> (u64, u64) {
        let escaped = self.escaped_in(masks.slash);
        (masks.quote & !escaped, escaped)
    }

    /// The word of a block. `odd` has a bit for every byte with an odd number of quotes up to it.
    #[inline(always)]
    fn word(&mut self, masks: BlockMasks, quote: u64, odd: u64) -> Word {
        let within = odd ^ self.inside;
        self.inside = 0_u64.wrapping_sub(within >> 63);
        self.bad |= (masks.control & within) | (masks.slash & !within);
        self.high |= masks.high;
        let (open, close) = (masks.open & !within, masks.close & !within);
        Word { quote, slash: masks.slash, open, close }
    }

    /// The bytes that a backslash before them escapes.
    #[inline(always)]
    fn escaped_in(&mut self, slash: u64) -> u64 {
        if slash == 0 {
            return std::mem::take(&mut self.escaped);
        }
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let starts = slash & !self.escaped;
        let follows = (starts << 1) | self.escaped;
        let odd_starts = starts & !EVEN & !follows;
        let (runs, carried) = odd_starts.overflowing_add(starts);
        self.escaped = u64::from(carried);
        (EVEN ^ (runs << 1)) & follows
    }

    fn end(&self) -> (bool, bool) {
        (self.bad == 0 && self.inside == 0 && self.escaped == 0, self.high == 0)
    }
}

/// Bits of `escaped` whose byte is no escape of JSON; `at` is where the block starts.
#[inline(never)]
fn bad_escapes(bytes: &[u8], at: usize, escaped: u64) -> u64 {
    let mut bad = 0;
    for bit in Bits(escaped) {
        let good = match bytes.get(at.wrapping_add(bit)) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => true,
            Some(b'u') => {
                let start = at.wrapping_add(bit).wrapping_add(1);
                bytes.get(start..start.wrapping_add(4)).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
            }
            _ => false,
        };
        bad |= u64::from(!good) << bit;
    }
    bad
}

/// Runs the loop over all blocks; the last one is filled up with blanks.
macro_rules! over_blocks {
    ($bytes:ident, $words:ident, $ends:ident, $look:expr, $parity:expr) => {{
        let (blocks, rest) = $bytes.as_chunks::<64>();
        // Every word is written below: what is there already need not be cleared.
        $words.resize(blocks.len() + 1, Word::default());
        $ends.clear();
        let mut state = Carry::default();
        let mut at = 0_usize;
        let mut last = [b' '; 64];
        for (place, byte) in last.iter_mut().zip(rest) {
            *place = *byte;
        }
        for (block, word) in blocks.iter().chain(std::slice::from_ref(&last)).zip($words.iter_mut()) {
            let masks = $look(block);
            let (quote, escaped) = state.quotes(masks);
            if escaped != 0 {
                state.bad |= bad_escapes($bytes, at, escaped);
            }
            if masks.newline != 0 {
                $ends.extend(Bits(masks.newline).map(|bit| at.wrapping_add(bit)));
            }
            *word = state.word(masks, quote, $parity(quote));
            at = at.wrapping_add(64);
        }
        state.end()
    }};
}

use over_blocks;

/// Fills the words of these bytes and the offsets of their line ends. Tells whether the strings are clean and whether all is ASCII.
pub(super) fn index(bytes: &[u8], words: &mut Vec<Word>, ends: &mut Vec<usize>) -> (bool, bool) {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = Avx512::detect() {
        return avx512::index(token, bytes, words, ends);
    } else if let Some(token) = Avx2::detect() {
        return avx2::index(token, bytes, words, ends);
    }
    portable(bytes, words, ends)
}

/// The same on every machine.
fn portable(bytes: &[u8], words: &mut Vec<Word>, ends: &mut Vec<usize>) -> (bool, bool) {
    over_blocks!(bytes, words, ends, look, parity)
}

fn look(block: &[u8; 64]) -> BlockMasks {
    let mask = |is: fn(u8) -> bool| block.iter().rev().fold(0_u64, |bits, byte| (bits << 1) | u64::from(is(*byte)));
    BlockMasks {
        quote: mask(|byte| byte == b'"'),
        slash: mask(|byte| byte == b'\\'),
        open: mask(|byte| byte | 0x20 == b'{'),
        close: mask(|byte| byte | 0x20 == b'}'),
        newline: mask(|byte| byte == b'\n'),
        control: mask(|byte| byte < 0x20),
        high: mask(|byte| byte > 0x7F),
    }
}

fn parity(bits: u64) -> u64 {
    [1, 2, 4, 8, 16, 32].into_iter().fold(bits, |bits, by| bits ^ (bits << by))
}

/// The offset behind the bracket that closes the one at an offset. `None` where there is none, or brackets are nested deeper than `most`.
#[inline]
pub(super) fn closing(words: &[Word], at: usize, most: u32) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = Avx2::detect() {
        return avx2::closing(token, words, at, most);
    }
    closing_from(words, at, most)
}

/// The same on every machine.
#[inline(always)]
fn closing_from(words: &[Word], at: usize, most: u32) -> Option<usize> {
    let mut number = at / 64;
    let mut mask = u64::MAX << (at % 64);
    let mut depth = 0_u32;
    loop {
        let word = words.get(number)?;
        let (open, mut close) = (word.open & mask, word.close & mask);
        let mut closed = 0_u32;
        while close != 0 {
            let lowest = close & close.wrapping_neg();
            let opened = (open & lowest.wrapping_sub(1)).count_ones();
            closed = closed.wrapping_add(1);
            if depth.wrapping_add(opened) == closed {
                return Some(number.wrapping_mul(64).wrapping_add(lowest.trailing_zeros() as usize + 1));
            }
            close &= close.wrapping_sub(1);
        }
        depth = depth.wrapping_add(open.count_ones());
        if depth > most {
            return None;
        }
        depth = depth.checked_sub(closed)?;
        number = number.wrapping_add(1);
        mask = u64::MAX;
    }
}

/// Looks for three bytes of given sets in a row. `low` and `high` hold for each of the three positions which of eight buckets allow
/// a lower and an upper half of a byte. `found` is told the position and the buckets of every candidate, until it says stop.
pub(super) fn candidates(
    bytes: &[u8],
    low: &[[u8; 16]; 3],
    high: &[[u8; 16]; 3],
    found: &mut dyn FnMut(usize, u8) -> bool,
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = Avx512::detect() {
        return avx512::candidates(token, bytes, low, high, found);
    } else if let Some(token) = Avx2::detect() {
        return avx2::candidates(token, bytes, low, high, found);
    }
    candidates_from(bytes, 0, low, high, found);
}

/// The same on every machine, from an offset on.
fn candidates_from(
    bytes: &[u8],
    from: usize,
    low: &[[u8; 16]; 3],
    high: &[[u8; 16]; 3],
    found: &mut dyn FnMut(usize, u8) -> bool,
) {
    let rest = bytes.get(from..).unwrap_or_default();
    for (at, window) in rest.windows(3).enumerate() {
        let buckets = buckets(window, low, high);
        if buckets != 0 && found(from + at, buckets) {
            return;
        }
    }
}

/// Runs the loop over blocks of `$size` bytes and two more; `$hits` tells where candidates start in one. The rest is looked at in a block
/// that is filled up, where what starts in the filling or reaches into it does not count.
macro_rules! over_candidates {
    ($bytes:ident, $low:ident, $high:ident, $found:ident, $size:literal, $hits:expr) => {{
        let mut at = 0_usize;
        while let Some((block, _)) = $bytes.get(at..).and_then(|rest| rest.split_first_chunk::<{ $size + 2 }>()) {
            if tell(block, at, $hits(block), $low, $high, $found) {
                return;
            }
            at = at.wrapping_add($size);
        }
        let mut last = [0_u8; $size + 2];
        let rest = $bytes.get(at..).unwrap_or_default();
        last.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
        let starts = rest.len().saturating_sub(2);
        let hits = $hits(&last) & 1_u64.unbounded_shl(u32::try_from(starts).unwrap_or(64)).wrapping_sub(1);
        tell(&last, at, hits, $low, $high, $found);
    }};
}
use over_candidates;

/// Tells the candidates that start in a block at an offset, until it is enough.
#[inline(always)]
fn tell(
    block: &[u8],
    at: usize,
    hits: u64,
    low: &[[u8; 16]; 3],
    high: &[[u8; 16]; 3],
    found: &mut dyn FnMut(usize, u8) -> bool,
) -> bool {
    Bits(hits).any(|bit| {
        let window = block.get(bit..bit.wrapping_add(3)).unwrap_or_default();
        found(at.wrapping_add(bit), buckets(window, low, high))
    })
}

/// The buckets of a candidate, from its three bytes.
#[inline]
fn buckets(window: &[u8], low: &[[u8; 16]; 3], high: &[[u8; 16]; 3]) -> u8 {
    let half = |table: &[u8; 16], half: u8| table.get(usize::from(half)).copied().unwrap_or(0);
    let each = window.iter().zip(low).zip(high);
    each.fold(0xFF, |all, ((byte, low), high)| all & half(low, byte & 15) & half(high, byte >> 4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Words, line ends, and whether strings are clean and all is ASCII.
    type Looked = (Vec<Word>, Vec<usize>, (bool, bool));

    type Finding = fn(&[u8], &[[u8; 16]; 3], &[[u8; 16]; 3], &mut dyn FnMut(usize, u8) -> bool);
    type Way = fn(&[u8], &mut Vec<Word>, &mut Vec<usize>) -> (bool, bool);

    /// All ways to look that the machine has.
    fn ways() -> Vec<Way> {
        let mut ways: Vec<Way> = vec![portable, index];
        #[cfg(target_arch = "x86_64")]
        if Avx2::detect().is_some() {
            ways.push(|bytes, words, ends| avx2::index(Avx2::detect().unwrap(), bytes, words, ends));
        }
        ways
    }

    fn looked(bytes: &[u8]) -> Vec<Looked> {
        let each = ways().into_iter().map(|way| {
            // What was there before is not seen again.
            let (mut words, mut ends) = (vec![Word { quote: 1, ..Word::default() }; 3], vec![7]);
            let found = way(bytes, &mut words, &mut ends);
            (words, ends, found)
        });
        each.collect()
    }

    /// Every candidate, by each way that the machine has.
    fn found(bytes: &[u8], low: &[[u8; 16]; 3], high: &[[u8; 16]; 3]) -> Vec<Vec<(usize, u8)>> {
        let mut ways: Vec<Finding> =
            vec![|bytes, low, high, note| candidates_from(bytes, 0, low, high, note), candidates];
        #[cfg(target_arch = "x86_64")]
        if Avx2::detect().is_some() {
            ways.push(|bytes, low, high, note| avx2::candidates(Avx2::detect().unwrap(), bytes, low, high, note));
        }
        let each = ways.into_iter().map(|way| {
            let mut found = Vec::new();
            way(bytes, low, high, &mut |at, buckets| {
                found.push((at, buckets));
                false
            });
            found
        });
        each.collect()
    }

    /// Bytes that matter, and some that do not.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            6 => Just(b'a'), 3 => Just(b'"'), 3 => Just(b'\\'), 1 => Just(b'{'), 1 => Just(b'}'), 1 => Just(b'['),
            1 => Just(b']'), 1 => Just(b'\n'), 1 => Just(b'u'), 1 => Just(0xC3), 2 => any::<u8>(),
        ];
        prop::collection::vec(byte, 0..400)
    }

    proptest! {
        #[test]
        fn all_ways_see_the_same(bytes in bytes()) {
            let ways = looked(&bytes);
            let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
            prop_assert_eq!(&ways[0].1, &ends);
            for way in &ways {
                prop_assert_eq!(way, &ways[0]);
            }
        }

        #[test]
        fn candidates_are_found_alike(bytes in bytes(), set in prop::collection::vec((any::<u8>(), any::<u8>()), 3)) {
            let mut tables = ([[0_u8; 16]; 3], [[0_u8; 16]; 3]);
            for (position, (byte, other)) in set.iter().enumerate() {
                for (bucket, byte) in [(1, b'a'), (2, *byte), (4, *other), (4, b'"')] {
                    tables.0[position][usize::from(byte & 15)] |= bucket;
                    tables.1[position][usize::from(byte >> 4)] |= bucket;
                }
            }
            let ways = found(&bytes, &tables.0, &tables.1);
            for way in &ways {
                prop_assert_eq!(way, &ways[0]);
            }
        }
    }

    proptest! {
        #[test]
        fn brackets_are_closed_alike(bytes in bytes(), most in 0..4_u32) {
            let (mut words, mut ends) = (Vec::new(), Vec::new());
            portable(&bytes, &mut words, &mut ends);
            for at in 0..bytes.len() + 3 {
                prop_assert_eq!(closing(&words, at, most), closing_from(&words, at, most));
            }
        }
    }

    #[test]
    fn strings_are_clean_only_with_known_escapes_on_one_line() {
        for (text, clean) in [
            (r#"{"a":"b\n\u00e9\\\""}"#, true),
            (r#"{"a":"b\q"}"#, false),
            (r#"{"a":"b\u00g0"}"#, false),
            (r#"{"a":"b"#, false),
            ("{\"a\":\"b\n\"}", false),
            ("{\"a\":\"\t\"}", false),
            ("{\"a\":\t1}\r\n", true),
            (r#"{\"a":1}"#, false),
            ("", true),
        ] {
            for padding in [0, 50, 60, 61, 62, 63, 64, 65, 127, 128] {
                let text = format!("{}{text}", " ".repeat(padding));
                for (_, _, (found, _)) in looked(text.as_bytes()) {
                    assert_eq!(found, clean, "{text:?}");
                }
            }
        }
    }
}
