//! The inner loops that look at many bytes at once: the one place with instructions of a particular machine.
//!
//! Each loop is written once as a macro over two ways to look at a block: a portable one, and one for x86-64 with AVX2 that is taken
//! where the machine has it. A test compares the two on random bytes and on every border.

use super::{Bits, Word};

/// What stands in a block of 64 bytes, strings not taken into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
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
struct State {
    /// The first byte of the next block is escaped.
    escaped: u64,
    /// All ones inside of a string.
    inside: u64,
    bad: u64,
    high: u64,
}

impl State {
    /// The quotes of a block that open or close a string, and the bytes that are escaped.
    #[inline(always)]
    fn quotes(&mut self, seen: Seen) -> (u64, u64) {
        let escaped = self.escaped_in(seen.slash);
        (seen.quote & !escaped, escaped)
    }

    /// The word of a block. `odd` has a bit for every byte with an odd number of quotes up to it.
    #[inline(always)]
    fn word(&mut self, seen: Seen, quote: u64, odd: u64) -> Word {
        let within = odd ^ self.inside;
        self.inside = 0_u64.wrapping_sub(within >> 63);
        self.bad |= (seen.control & within) | (seen.slash & !within);
        self.high |= seen.high;
        let (open, close) = (seen.open & !within, seen.close & !within);
        Word { quote, slash: seen.slash, open, close }
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
        let mut state = State::default();
        let mut at = 0_usize;
        let mut last = [b' '; 64];
        for (place, byte) in last.iter_mut().zip(rest) {
            *place = *byte;
        }
        for (block, word) in blocks.iter().chain(std::slice::from_ref(&last)).zip($words.iter_mut()) {
            let seen = $look(block);
            let (quote, escaped) = state.quotes(seen);
            if escaped != 0 {
                state.bad |= bad_escapes($bytes, at, escaped);
            }
            if seen.newline != 0 {
                $ends.extend(Bits(seen.newline).map(|bit| at.wrapping_add(bit)));
            }
            *word = state.word(seen, quote, $parity(quote));
            at = at.wrapping_add(64);
        }
        state.end()
    }};
}

/// Fills the words of these bytes and the offsets of their line ends. Tells whether the strings are clean and whether all is ASCII.
pub(super) fn index(bytes: &[u8], words: &mut Vec<Word>, ends: &mut Vec<usize>) -> (bool, bool) {
    #[cfg(target_arch = "x86_64")]
    if x86::available() {
        return x86::index(bytes, words, ends);
    }
    portable(bytes, words, ends)
}

/// The same on every machine.
fn portable(bytes: &[u8], words: &mut Vec<Word>, ends: &mut Vec<usize>) -> (bool, bool) {
    over_blocks!(bytes, words, ends, look, parity)
}

fn look(block: &[u8; 64]) -> Seen {
    let mask = |is: fn(u8) -> bool| block.iter().rev().fold(0_u64, |bits, byte| (bits << 1) | u64::from(is(*byte)));
    Seen {
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

/// Looks for three bytes of given sets in a row. `low` and `high` hold for each of the three positions which of eight buckets allow
/// a lower and an upper half of a byte. `found` is told the position and the buckets of every candidate, until it says stop.
pub(super) fn candidates(
    bytes: &[u8],
    low: &[[u8; 16]; 3],
    high: &[[u8; 16]; 3],
    found: &mut dyn FnMut(usize, u8) -> bool,
) {
    #[cfg(target_arch = "x86_64")]
    if x86::available() {
        x86::candidates(bytes, low, high, found);
        return;
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
    let half = |table: &[u8; 16], half: u8| table.get(usize::from(half)).copied().unwrap_or(0);
    let rest = bytes.get(from..).unwrap_or_default();
    for (at, window) in rest.windows(3).enumerate() {
        let buckets = window
            .iter()
            .zip(low)
            .zip(high)
            .fold(0xFF, |all, ((byte, low), high)| all & half(low, byte & 15) & half(high, byte >> 4));
        if buckets != 0 && found(from + at, buckets) {
            return;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Bits, Seen, State, Word, bad_escapes};
    use std::arch::x86_64::*;

    /// Whether the machine has what the functions of this module need.
    #[inline]
    pub(super) fn available() -> bool {
        std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("pclmulqdq")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("popcnt")
    }

    #[expect(unsafe_code, reason = "instructions that only some machines have")]
    pub(super) fn index(bytes: &[u8], words: &mut Vec<Word>, ends: &mut Vec<usize>) -> (bool, bool) {
        debug_assert!(available());
        // SAFETY: `available` was asked by the only caller: the machine has the instructions.
        unsafe { index_avx2(bytes, words, ends) }
    }

    #[target_feature(enable = "avx2,pclmulqdq,bmi1,bmi2,popcnt")]
    fn index_avx2(bytes: &[u8], words: &mut Vec<Word>, ends: &mut Vec<usize>) -> (bool, bool) {
        over_blocks!(bytes, words, ends, look, parity)
    }

    #[target_feature(enable = "avx2")]
    #[expect(unsafe_code, reason = "a load of 32 bytes at a time")]
    fn halves(block: &[u8; 64]) -> (__m256i, __m256i) {
        let start = block.as_ptr();
        // SAFETY: both loads lie inside of the 64 bytes of the block, and they ask for no alignment.
        unsafe { (_mm256_loadu_si256(start.cast()), _mm256_loadu_si256(start.add(32).cast())) }
    }

    #[target_feature(enable = "avx2")]
    fn bits(low: __m256i, high: __m256i) -> u64 {
        u64::from(_mm256_movemask_epi8(low).cast_unsigned())
            | (u64::from(_mm256_movemask_epi8(high).cast_unsigned()) << 32)
    }

    #[target_feature(enable = "avx2")]
    fn look(block: &[u8; 64]) -> Seen {
        let (a, b) = halves(block);
        let is = |a: __m256i, b: __m256i, byte: u8| {
            let wanted = _mm256_set1_epi8(byte.cast_signed());
            bits(_mm256_cmpeq_epi8(a, wanted), _mm256_cmpeq_epi8(b, wanted))
        };
        let fold = _mm256_set1_epi8(0x20);
        let (low_a, low_b) = (_mm256_or_si256(a, fold), _mm256_or_si256(b, fold));
        let least = _mm256_set1_epi8(0x1F);
        let control = |a| _mm256_cmpeq_epi8(_mm256_max_epu8(a, least), least);
        Seen {
            quote: is(a, b, b'"'),
            slash: is(a, b, b'\\'),
            open: is(low_a, low_b, b'{'),
            close: is(low_a, low_b, b'}'),
            newline: is(a, b, b'\n'),
            control: bits(control(a), control(b)),
            high: bits(a, b),
        }
    }

    #[target_feature(enable = "pclmulqdq")]
    fn parity(bits: u64) -> u64 {
        let product = _mm_clmulepi64_si128(_mm_set_epi64x(0, bits.cast_signed()), _mm_set1_epi8(-1), 0);
        _mm_cvtsi128_si64(product).cast_unsigned()
    }

    #[expect(unsafe_code, reason = "instructions that only some machines have")]
    pub(super) fn candidates(
        bytes: &[u8],
        low: &[[u8; 16]; 3],
        high: &[[u8; 16]; 3],
        found: &mut dyn FnMut(usize, u8) -> bool,
    ) {
        debug_assert!(available());
        // SAFETY: `available` was asked by the only caller: the machine has the instructions.
        unsafe { candidates_avx2(bytes, low, high, found) }
    }

    #[target_feature(enable = "avx2")]
    #[expect(unsafe_code, reason = "a load of a table of 16 bytes")]
    fn table(halves: &[u8; 16]) -> __m256i {
        // SAFETY: the load lies inside of the 16 bytes and asks for no alignment.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(halves.as_ptr().cast()) })
    }

    #[target_feature(enable = "avx2")]
    #[expect(unsafe_code, reason = "a load of 32 bytes")]
    fn load(bytes: &[u8; 32]) -> __m256i {
        // SAFETY: the load lies inside of the 32 bytes and asks for no alignment.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    fn candidates_avx2(
        bytes: &[u8],
        low: &[[u8; 16]; 3],
        high: &[[u8; 16]; 3],
        found: &mut dyn FnMut(usize, u8) -> bool,
    ) {
        let [low_0, low_1, low_2] = [table(&low[0]), table(&low[1]), table(&low[2])];
        let [high_0, high_1, high_2] = [table(&high[0]), table(&high[1]), table(&high[2])];
        let half = _mm256_set1_epi8(15);
        let one = |bytes: __m256i, low: __m256i, high: __m256i| {
            let upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
            _mm256_and_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)), _mm256_shuffle_epi8(high, upper))
        };
        let mut at = 0_usize;
        while let Some((block, _)) = bytes.get(at..).and_then(|rest| rest.split_first_chunk::<34>()) {
            let (Some(first), Some(second), Some(third)) =
                (block.first_chunk::<32>(), block[1..].first_chunk::<32>(), block[2..].first_chunk::<32>())
            else {
                break;
            };
            let both = _mm256_and_si256(one(load(first), low_0, high_0), one(load(second), low_1, high_1));
            let all = _mm256_and_si256(both, one(load(third), low_2, high_2));
            let none = _mm256_cmpeq_epi8(all, _mm256_setzero_si256());
            let mut hits = !_mm256_movemask_epi8(none).cast_unsigned();
            while hits != 0 {
                let bit = hits.trailing_zeros() as usize;
                hits &= hits.wrapping_sub(1);
                let buckets = buckets(block.get(bit..bit.wrapping_add(3)).unwrap_or_default(), low, high);
                if found(at.wrapping_add(bit), buckets) {
                    return;
                }
            }
            at = at.wrapping_add(32);
        }
        super::candidates_from(bytes, at, low, high, found);
    }

    /// The buckets of a candidate, from its three bytes.
    fn buckets(window: &[u8], low: &[[u8; 16]; 3], high: &[[u8; 16]; 3]) -> u8 {
        let half = |table: &[u8; 16], half: u8| table.get(usize::from(half)).copied().unwrap_or(0);
        let each = window.iter().zip(low).zip(high);
        each.fold(0xFF, |all, ((byte, low), high)| all & half(low, byte & 15) & half(high, byte >> 4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Words, line ends, and whether strings are clean and all is ASCII.
    type Looked = (Vec<Word>, Vec<usize>, (bool, bool));

    fn both(bytes: &[u8]) -> [Looked; 2] {
        // What was there before is not seen again.
        let (mut plain, mut best) = (vec![Word { quote: 1, ..Word::default() }; 3], Vec::new());
        let (mut plain_ends, mut best_ends) = (vec![7], Vec::new());
        let found = (portable(bytes, &mut plain, &mut plain_ends), index(bytes, &mut best, &mut best_ends));
        [(plain, plain_ends, found.0), (best, best_ends, found.1)]
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
        fn both_ways_see_the_same(bytes in bytes()) {
            let [plain, best] = both(&bytes);
            let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
            prop_assert_eq!(&plain.1, &ends);
            prop_assert_eq!(plain, best);
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
            let all = |best: bool| {
                let mut found = Vec::new();
                let mut note = |at, buckets| { found.push((at, buckets)); false };
                match best {
                    true => candidates(&bytes, &tables.0, &tables.1, &mut note),
                    false => candidates_from(&bytes, 0, &tables.0, &tables.1, &mut note),
                }
                found
            };
            prop_assert_eq!(all(true), all(false));
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
                for (_, _, (found, _)) in both(text.as_bytes()) {
                    assert_eq!(found, clean, "{text:?}");
                }
            }
        }
    }
}
