//! The loops with AVX-512.

use super::avx2::Avx2;
use super::{BlockCarry, BlockMasks, ScanWord, bad_escapes, over_blocks, over_candidates, report_candidates};
use crate::scan::BitPositions;
use std::arch::x86_64::*;

/// Proof that the CPU supports this module's functions: only detection creates one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        let _less = Avx2::detect()?;
        let all = std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512bw");
        all.then_some(Self(()))
    }
}

#[expect(unsafe_code, reason = "instructions that only some machines have")]
pub(super) fn index_blocks(_: Avx512, bytes: &[u8], words: &mut Vec<ScanWord>, ends: &mut Vec<usize>) -> (bool, bool) {
    // SAFETY: the token says that the machine has the instructions.
    unsafe { index_avx512(bytes, words, ends) }
}

#[target_feature(enable = "avx512f,avx512bw,avx2,pclmulqdq,bmi1,bmi2,popcnt")]
fn index_avx512(bytes: &[u8], words: &mut Vec<ScanWord>, ends: &mut Vec<usize>) -> (bool, bool) {
    over_blocks!(bytes, words, ends, block_masks, super::avx2::prefix_parity)
}

#[target_feature(enable = "avx512f")]
#[expect(unsafe_code, reason = "a load of 64 bytes")]
fn load_block(block: &[u8; 64]) -> __m512i {
    // SAFETY: the load lies inside of the 64 bytes and asks for no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn block_masks(block: &[u8; 64]) -> BlockMasks {
    let bytes = load_block(block);
    let folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
    let is = |bytes: __m512i, byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()));
    BlockMasks {
        quote: is(bytes, b'"'),
        slash: is(bytes, b'\\'),
        open: is(folded, b'{'),
        close: is(folded, b'}'),
        newline: is(bytes, b'\n'),
        control: _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20)),
        high: _mm512_movepi8_mask(bytes),
    }
}

#[expect(unsafe_code, reason = "instructions that only some machines have")]
pub(super) fn find_candidates(
    _: Avx512,
    bytes: &[u8],
    low: &[[u8; 16]; 3],
    high: &[[u8; 16]; 3],
    found: &mut dyn FnMut(usize, u8) -> bool,
) {
    // SAFETY: the token says that the machine has the instructions.
    unsafe { candidates_avx512(bytes, low, high, found) }
}

#[target_feature(enable = "avx512f")]
#[expect(unsafe_code, reason = "a load of a table of 16 bytes")]
fn load_table(halves: &[u8; 16]) -> __m512i {
    // SAFETY: the load lies inside of the 16 bytes and asks for no alignment.
    _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(halves.as_ptr().cast()) })
}

#[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
fn candidates_avx512(
    bytes: &[u8],
    low: &[[u8; 16]; 3],
    high: &[[u8; 16]; 3],
    found: &mut dyn FnMut(usize, u8) -> bool,
) {
    let [low_0, low_1, low_2] = [load_table(&low[0]), load_table(&low[1]), load_table(&low[2])];
    let [high_0, high_1, high_2] = [load_table(&high[0]), load_table(&high[1]), load_table(&high[2])];
    let half = _mm512_set1_epi8(15);
    let one = |bytes: __m512i, low: __m512i, high: __m512i| {
        let upper = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), half);
        _mm512_and_si512(_mm512_shuffle_epi8(low, _mm512_and_si512(bytes, half)), _mm512_shuffle_epi8(high, upper))
    };
    let hits = |block: &[u8; 66]| {
        let (Some(first), Some(second), Some(third)) =
            (block.first_chunk::<64>(), block[1..].first_chunk::<64>(), block[2..].first_chunk::<64>())
        else {
            return 0;
        };
        let both = _mm512_and_si512(one(load_block(first), low_0, high_0), one(load_block(second), low_1, high_1));
        _mm512_test_epi8_mask(both, one(load_block(third), low_2, high_2))
    };
    over_candidates!(bytes, low, high, found, 64, hits);
}
