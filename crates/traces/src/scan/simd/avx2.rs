//! The loops with AVX2.

use super::{BlockCarry, BlockMasks, ScanWord, bad_escapes, over_blocks, over_candidates, report_candidates};
use crate::scan::BitPositions;
use std::arch::x86_64::*;
use std::sync::OnceLock;

/// Proof that the CPU supports this module's functions: only detection creates one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// Called for every container of a line.
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        static KNOWN: OnceLock<Option<Avx2>> = OnceLock::new();
        *KNOWN.get_or_init(|| {
            let all = std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("pclmulqdq")
                && std::arch::is_x86_feature_detected!("bmi1")
                && std::arch::is_x86_feature_detected!("bmi2")
                && std::arch::is_x86_feature_detected!("popcnt");
            all.then_some(Self(()))
        })
    }
}

#[expect(unsafe_code, reason = "instructions that only some machines have")]
pub(super) fn index_blocks(_: Avx2, bytes: &[u8], words: &mut Vec<ScanWord>, ends: &mut Vec<usize>) -> (bool, bool) {
    // SAFETY: the token says that the machine has the instructions.
    unsafe { index_avx2(bytes, words, ends) }
}

#[target_feature(enable = "avx2,pclmulqdq,bmi1,bmi2,popcnt")]
fn index_avx2(bytes: &[u8], words: &mut Vec<ScanWord>, ends: &mut Vec<usize>) -> (bool, bool) {
    over_blocks!(bytes, words, ends, block_masks, prefix_parity)
}

#[inline]
#[expect(unsafe_code, reason = "instructions that only some machines have")]
pub(super) fn closing_bracket(_: Avx2, words: &[ScanWord], at: usize, most: u32) -> Option<usize> {
    // SAFETY: the token says that the machine has the instructions.
    unsafe { closing_popcnt(words, at, most) }
}

/// Uses the popcount instruction.
#[target_feature(enable = "bmi1,bmi2,popcnt")]
fn closing_popcnt(words: &[ScanWord], at: usize, most: u32) -> Option<usize> {
    super::closing_from(words, at, most)
}

#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "a load of 32 bytes at a time")]
fn load_halves(block: &[u8; 64]) -> (__m256i, __m256i) {
    let start = block.as_ptr();
    // SAFETY: both loads lie inside of the 64 bytes of the block, and they ask for no alignment.
    unsafe { (_mm256_loadu_si256(start.cast()), _mm256_loadu_si256(start.add(32).cast())) }
}

#[target_feature(enable = "avx2")]
fn mask_bits(low: __m256i, high: __m256i) -> u64 {
    u64::from(_mm256_movemask_epi8(low).cast_unsigned()) | (u64::from(_mm256_movemask_epi8(high).cast_unsigned()) << 32)
}

#[target_feature(enable = "avx2")]
fn block_masks(block: &[u8; 64]) -> BlockMasks {
    let (a, b) = load_halves(block);
    let is = |a: __m256i, b: __m256i, byte: u8| {
        let wanted = _mm256_set1_epi8(byte.cast_signed());
        mask_bits(_mm256_cmpeq_epi8(a, wanted), _mm256_cmpeq_epi8(b, wanted))
    };
    let fold = _mm256_set1_epi8(0x20);
    let (low_a, low_b) = (_mm256_or_si256(a, fold), _mm256_or_si256(b, fold));
    let least = _mm256_set1_epi8(0x1F);
    let control = |a| _mm256_cmpeq_epi8(_mm256_max_epu8(a, least), least);
    BlockMasks {
        quote: is(a, b, b'"'),
        slash: is(a, b, b'\\'),
        open: is(low_a, low_b, b'{'),
        close: is(low_a, low_b, b'}'),
        newline: is(a, b, b'\n'),
        control: mask_bits(control(a), control(b)),
        high: mask_bits(a, b),
    }
}

#[target_feature(enable = "pclmulqdq")]
pub(super) fn prefix_parity(bits: u64) -> u64 {
    let product = _mm_clmulepi64_si128(_mm_set_epi64x(0, bits.cast_signed()), _mm_set1_epi8(-1), 0);
    _mm_cvtsi128_si64(product).cast_unsigned()
}

#[expect(unsafe_code, reason = "instructions that only some machines have")]
pub(super) fn find_candidates(
    _: Avx2,
    bytes: &[u8],
    low: &[[u8; 16]; 3],
    high: &[[u8; 16]; 3],
    found: &mut dyn FnMut(usize, u8) -> bool,
) {
    // SAFETY: the token says that the machine has the instructions.
    unsafe { candidates_avx2(bytes, low, high, found) }
}

#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "a load of a table of 16 bytes")]
fn load_table(halves: &[u8; 16]) -> __m256i {
    // SAFETY: the load lies inside of the 16 bytes and asks for no alignment.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(halves.as_ptr().cast()) })
}

#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "a load of 32 bytes")]
fn load_bytes(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the load lies inside of the 32 bytes and asks for no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,bmi1,popcnt")]
fn candidates_avx2(bytes: &[u8], low: &[[u8; 16]; 3], high: &[[u8; 16]; 3], found: &mut dyn FnMut(usize, u8) -> bool) {
    let [low_0, low_1, low_2] = [load_table(&low[0]), load_table(&low[1]), load_table(&low[2])];
    let [high_0, high_1, high_2] = [load_table(&high[0]), load_table(&high[1]), load_table(&high[2])];
    let half = _mm256_set1_epi8(15);
    let one = |bytes: __m256i, low: __m256i, high: __m256i| {
        let upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
        _mm256_and_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)), _mm256_shuffle_epi8(high, upper))
    };
    let hits = |block: &[u8; 34]| {
        let (Some(first), Some(second), Some(third)) =
            (block.first_chunk::<32>(), block[1..].first_chunk::<32>(), block[2..].first_chunk::<32>())
        else {
            return 0;
        };
        let both = _mm256_and_si256(one(load_bytes(first), low_0, high_0), one(load_bytes(second), low_1, high_1));
        let all = _mm256_and_si256(both, one(load_bytes(third), low_2, high_2));
        let none = _mm256_cmpeq_epi8(all, _mm256_setzero_si256());
        u64::from(!_mm256_movemask_epi8(none).cast_unsigned())
    };
    over_candidates!(bytes, low, high, found, 32, hits);
}
