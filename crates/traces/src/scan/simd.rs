//! The inner loops that look at many bytes at once: the one place with instructions of a particular machine.
//!
//! Each loop is written once as a macro over some ways to look at a block: a portable one, and those for x86-64 with AVX2 and with AVX-512
//! that are taken where the machine has them: each asks for a token which only detection gives. A test compares all on random bytes and on every border.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use super::{BitPositions, ScanWord};
#[cfg(target_arch = "x86_64")]
use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use avx512::Avx512;

/// Bits of a 64-byte block, ignoring strings.
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

#[derive(Debug, Default)]
struct BlockCarry {
    /// The next block's first byte is escaped.
    escaped: u64,
    /// All ones inside a string.
    inside: u64,
    bad: u64,
    high: u64,
}

impl BlockCarry {
    #[inline(always)]
    fn mask_quotes(&mut self, masks: BlockMasks) -> (u64, u64) {
        let escaped = self.escaped_in(masks.slash);
        (masks.quote & !escaped, escaped)
    }

    /// `odd` marks bytes with an odd number of quotes up to them.
    #[inline(always)]
    fn build_word(&mut self, masks: BlockMasks, quote: u64, odd: u64) -> ScanWord {
        let within = odd ^ self.inside;
        self.inside = 0_u64.wrapping_sub(within >> 63);
        self.bad |= (masks.control & within) | (masks.slash & !within);
        self.high |= masks.high;
        let (open, close) = (masks.open & !within, masks.close & !within);
        ScanWord { quote, slash: masks.slash, open, close }
    }

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

    fn finish_blocks(&self) -> (bool, bool) {
        (self.bad == 0 && self.inside == 0 && self.escaped == 0, self.high == 0)
    }
}

/// Escaped bytes that form no JSON escape; `at` is the block's offset.
#[inline(never)]
fn bad_escapes(bytes: &[u8], at: usize, escaped: u64) -> u64 {
    let mut bad = 0;
    for bit in BitPositions(escaped) {
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

/// The last block is padded with blanks.
macro_rules! over_blocks {
    ($bytes:ident, $words:ident, $ends:ident, $look:expr, $parity:expr) => {{
        let (blocks, rest) = $bytes.as_chunks::<64>();
        // Every word is written below: what is there already need not be cleared.
        $words.resize(blocks.len() + 1, ScanWord::default());
        $ends.clear();
        let mut state = BlockCarry::default();
        let mut at = 0_usize;
        let mut last = [b' '; 64];
        for (place, byte) in last.iter_mut().zip(rest) {
            *place = *byte;
        }
        for (block, word) in blocks.iter().chain(std::slice::from_ref(&last)).zip($words.iter_mut()) {
            let masks = $look(block);
            let (quote, escaped) = state.mask_quotes(masks);
            // Most escapes are quotes and backslashes, which JSON in a text is full of.
            let others = escaped & !(masks.quote | masks.slash);
            if others != 0 {
                state.bad |= bad_escapes($bytes, at, others);
            }
            if masks.newline != 0 {
                $ends.extend(BitPositions(masks.newline).map(|bit| at.wrapping_add(bit)));
            }
            *word = state.build_word(masks, quote, $parity(quote));
            at = at.wrapping_add(64);
        }
        state.finish_blocks()
    }};
}

#[cfg(target_arch = "x86_64")]
use over_blocks;

/// Fills words and line ends; returns whether strings are clean and all is ASCII.
pub(super) fn index_blocks(bytes: &[u8], words: &mut Vec<ScanWord>, ends: &mut Vec<usize>) -> (bool, bool) {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = Avx512::detect() {
        return avx512::index_blocks(token, bytes, words, ends);
    } else if let Some(token) = Avx2::detect() {
        return avx2::index_blocks(token, bytes, words, ends);
    }
    index_portable(bytes, words, ends)
}

fn index_portable(bytes: &[u8], words: &mut Vec<ScanWord>, ends: &mut Vec<usize>) -> (bool, bool) {
    over_blocks!(bytes, words, ends, block_masks, prefix_parity)
}

fn block_masks(block: &[u8; 64]) -> BlockMasks {
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

fn prefix_parity(bits: u64) -> u64 {
    [1, 2, 4, 8, 16, 32].into_iter().fold(bits, |bits, by| bits ^ (bits << by))
}

/// `None` if unclosed, or nested deeper than `most`.
#[inline]
pub(super) fn closing_bracket(words: &[ScanWord], at: usize, most: u32) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = Avx2::detect() {
        return avx2::closing_bracket(token, words, at, most);
    }
    closing_from(words, at, most)
}

#[inline(always)]
fn closing_from(words: &[ScanWord], at: usize, most: u32) -> Option<usize> {
    let mut number = at / 64;
    let mut mask = u64::MAX << (at % 64);
    let mut depth = 0_u32;
    loop {
        let word = words.get(number)?;
        let (open, close) = (word.open & mask, word.close & mask);
        let closes = close.count_ones();
        // Fewer than are open cannot close the outermost.
        if closes >= depth
            && let Some(bit) = closing_bit(open, close, depth)
        {
            return Some(number.wrapping_mul(64).wrapping_add(bit + 1));
        }
        depth = depth.wrapping_add(open.count_ones());
        if depth > most {
            return None;
        }
        depth = depth.checked_sub(closes)?;
        number = number.wrapping_add(1);
        mask = u64::MAX;
    }
}

/// The bit of the bracket that closes all, where `depth` are open in front of the word.
#[inline(always)]
fn closing_bit(open: u64, mut close: u64, depth: u32) -> Option<usize> {
    let mut closed = 0_u32;
    while close != 0 {
        let lowest = close & close.wrapping_neg();
        let opened = (open & lowest.wrapping_sub(1)).count_ones();
        closed = closed.wrapping_add(1);
        if depth.wrapping_add(opened) == closed {
            return Some(lowest.trailing_zeros() as usize);
        }
        close &= close.wrapping_sub(1);
    }
    None
}

/// Finds three-byte sequences by nibble masks: per position, the buckets that allow a low and a high nibble.
pub(super) fn find_candidates(
    bytes: &[u8],
    low: &[[u8; 16]; 3],
    high: &[[u8; 16]; 3],
    found: &mut dyn FnMut(usize, u8) -> bool,
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = Avx512::detect() {
        return avx512::find_candidates(token, bytes, low, high, found);
    } else if let Some(token) = Avx2::detect() {
        return avx2::find_candidates(token, bytes, low, high, found);
    }
    candidates_from(bytes, 0, low, high, found);
}

fn candidates_from(
    bytes: &[u8],
    from: usize,
    low: &[[u8; 16]; 3],
    high: &[[u8; 16]; 3],
    found: &mut dyn FnMut(usize, u8) -> bool,
) {
    let rest = bytes.get(from..).unwrap_or_default();
    for (at, window) in rest.windows(3).enumerate() {
        let buckets = candidate_buckets(window, low, high);
        if buckets != 0 && found(from + at, buckets) {
            return;
        }
    }
}

/// The tail is padded; matches in the padding do not count.
#[cfg(target_arch = "x86_64")]
macro_rules! over_candidates {
    ($bytes:ident, $low:ident, $high:ident, $found:ident, $size:literal, $hits:expr) => {{
        let mut at = 0_usize;
        while let Some((block, _)) = $bytes.get(at..).and_then(|rest| rest.split_first_chunk::<{ $size + 2 }>()) {
            if report_candidates(block, at, $hits(block), $low, $high, $found) {
                return;
            }
            at = at.wrapping_add($size);
        }
        let mut last = [0_u8; $size + 2];
        let rest = $bytes.get(at..).unwrap_or_default();
        last.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
        let starts = rest.len().saturating_sub(2);
        let hits = $hits(&last) & 1_u64.unbounded_shl(u32::try_from(starts).unwrap_or(64)).wrapping_sub(1);
        report_candidates(&last, at, hits, $low, $high, $found);
    }};
}
#[cfg(target_arch = "x86_64")]
use over_candidates;

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn report_candidates(
    block: &[u8],
    at: usize,
    hits: u64,
    low: &[[u8; 16]; 3],
    high: &[[u8; 16]; 3],
    found: &mut dyn FnMut(usize, u8) -> bool,
) -> bool {
    BitPositions(hits).any(|bit| {
        let window = block.get(bit..bit.wrapping_add(3)).unwrap_or_default();
        found(at.wrapping_add(bit), candidate_buckets(window, low, high))
    })
}

#[inline]
fn candidate_buckets(window: &[u8], low: &[[u8; 16]; 3], high: &[[u8; 16]; 3]) -> u8 {
    let half = |table: &[u8; 16], half: u8| table.get(usize::from(half)).copied().unwrap_or(0);
    let each = window.iter().zip(low).zip(high);
    each.fold(0xFF, |all, ((byte, low), high)| all & half(low, byte & 15) & half(high, byte >> 4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Words, line ends, and whether strings are clean and all is ASCII.
    type Looked = (Vec<ScanWord>, Vec<usize>, (bool, bool));

    type Finding = fn(&[u8], &[[u8; 16]; 3], &[[u8; 16]; 3], &mut dyn FnMut(usize, u8) -> bool);
    type Way = fn(&[u8], &mut Vec<ScanWord>, &mut Vec<usize>) -> (bool, bool);

    /// All ways to look that the machine has.
    fn ways() -> Vec<Way> {
        let mut ways: Vec<Way> = vec![index_portable, index_blocks];
        #[cfg(target_arch = "x86_64")]
        if Avx2::detect().is_some() {
            ways.push(|bytes, words, ends| avx2::index_blocks(Avx2::detect().unwrap(), bytes, words, ends));
        }
        ways
    }

    fn looked(bytes: &[u8]) -> Vec<Looked> {
        let each = ways().into_iter().map(|way| {
            // What was there before is not seen again.
            let (mut words, mut ends) = (vec![ScanWord { quote: 1, ..ScanWord::default() }; 3], vec![7]);
            let found = way(bytes, &mut words, &mut ends);
            (words, ends, found)
        });
        each.collect()
    }

    /// Every candidate, by each way that the machine has.
    fn found(bytes: &[u8], low: &[[u8; 16]; 3], high: &[[u8; 16]; 3]) -> Vec<Vec<(usize, u8)>> {
        let mut ways: Vec<Finding> =
            vec![|bytes, low, high, note| candidates_from(bytes, 0, low, high, note), find_candidates];
        #[cfg(target_arch = "x86_64")]
        if Avx2::detect().is_some() {
            ways.push(|bytes, low, high, note| avx2::find_candidates(Avx2::detect().unwrap(), bytes, low, high, note));
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
            index_portable(&bytes, &mut words, &mut ends);
            for at in 0..bytes.len() + 3 {
                prop_assert_eq!(closing_bracket(&words, at, most), closing_from(&words, at, most));
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
