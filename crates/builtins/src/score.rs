//! Text similarity: edit distance, ROUGE, and shared code for scores based on common word sequences.
//!
//! ROUGE equals the common implementation to the last bit: words are runs of ASCII letters and digits in the lower-case text.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult};
use averment_base::limits::{FuelMeter, LimitError};
use averment_base::value::Node;
use rustc_hash::FxHashMap;

pub(super) fn levenshtein<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let (distance, longer) = text_distance(call.text_argument(0), call.text_argument(1), call.meter)?;
    let node = call.give_count(distance)?;
    Ok(if longer == 0 { Node::from_nowhere(node.value) } else { node })
}

pub(super) fn similarity<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let (distance, longer) = text_distance(call.text_argument(0), call.text_argument(1), call.meter)?;
    let score = if longer == 0 { 1.0 } else { 1.0 - ratio(distance, longer) };
    give_score(call, score, [call.text_argument(0).len(), call.text_argument(1).len()])
}

#[expect(clippy::cast_precision_loss, reason = "counts of characters and words are exact in a double")]
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// Returns the edit distance in code points, and the length of the longer text.
fn text_distance(left: &str, right: &str, meter: &mut FuelMeter) -> Result<(usize, usize), LimitError> {
    meter.charge_scan(left.len().saturating_add(right.len()))?;
    meter.check_memory((left.len().saturating_add(right.len())).saturating_mul(size_of::<char>()))?;
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let longer = left.len().max(right.len());
    let (a, b) = without_common_ends(&left, &right);
    let (pattern, text) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if pattern.is_empty() {
        return Ok((text.len(), longer));
    }
    let rows = SymbolRows::new(pattern, meter)?;
    meter.charge_fuel((text.len() as u64).saturating_mul(rows.blocks as u64))?;
    Ok((edit_distance(&rows, pattern.len(), text), longer))
}

fn without_common_ends<'a>(left: &'a [char], right: &'a [char]) -> (&'a [char], &'a [char]) {
    let start = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (left, right) = (left.get(start..).unwrap_or_default(), right.get(start..).unwrap_or_default());
    let end = left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count();
    let cut = |text: &'a [char]| text.get(..text.len().saturating_sub(end)).unwrap_or_default();
    (cut(left), cut(right))
}

struct SymbolRows<T> {
    blocks: usize,
    index: FxHashMap<T, usize>,
    bits: Vec<u64>,
    none: Vec<u64>,
}

impl<T: Copy + Eq + std::hash::Hash> SymbolRows<T> {
    fn new(pattern: &[T], meter: &mut FuelMeter) -> Result<Self, LimitError> {
        let blocks = pattern.len().div_ceil(64);
        let mut index: FxHashMap<T, usize> = FxHashMap::default();
        for &symbol in pattern {
            let next = index.len();
            index.entry(symbol).or_insert(next);
        }
        meter.check_memory(index.len().saturating_mul(blocks).saturating_mul(size_of::<u64>()))?;
        let mut bits = vec![0_u64; index.len().saturating_mul(blocks)];
        for (position, symbol) in pattern.iter().enumerate() {
            let row = index.get(symbol).copied().unwrap_or(0);
            if let Some(word) = bits.get_mut(row.saturating_mul(blocks).saturating_add(position / 64)) {
                *word |= 1 << (position % 64);
            }
        }
        Ok(Self { blocks, index, bits, none: vec![0; blocks] })
    }

    fn row_of(&self, symbol: T) -> &[u64] {
        let start = self.index.get(&symbol).map(|row| row.saturating_mul(self.blocks));
        let row = start.and_then(|start| self.bits.get(start..start.saturating_add(self.blocks)));
        row.unwrap_or(&self.none)
    }
}

/// The vertical differences of 64 table rows: bit sets of +1 and of -1.
#[derive(Clone, Copy)]
struct DistanceBlock {
    plus: u64,
    minus: u64,
}

/// Bit-parallel edit distance (Myers 1999, in Hyyrö's form), 64 cells at a time.
fn edit_distance(rows: &SymbolRows<char>, length: usize, text: &[char]) -> usize {
    let mut blocks = vec![DistanceBlock { plus: u64::MAX, minus: 0 }; rows.blocks];
    let last_bit = 1_u64 << (length.saturating_sub(1) % 64);
    let mut distance = length;
    for &symbol in text {
        let (mut plus_in, mut minus_in) = (1, 0);
        let mut ends = (0, 0);
        for (block, &matches) in blocks.iter_mut().zip(rows.row_of(symbol)) {
            let open = matches | minus_in;
            let diagonal = ((open & block.plus).wrapping_add(block.plus) ^ block.plus) | open | block.minus;
            let plus = block.minus | !(diagonal | block.plus);
            let minus = diagonal & block.plus;
            ends = (plus & last_bit, minus & last_bit);
            let (shifted_plus, shifted_minus) = ((plus << 1) | plus_in, (minus << 1) | minus_in);
            (plus_in, minus_in) = (plus >> 63, minus >> 63);
            *block = DistanceBlock { plus: shifted_minus | !(diagonal | shifted_plus), minus: shifted_plus & diagonal };
        }
        // `ends` was set last by the last block.
        distance = distance.saturating_add(usize::from(ends.0 != 0)).saturating_sub(usize::from(ends.1 != 0));
    }
    distance
}

fn number_words<'a>(
    left: impl Iterator<Item = &'a str>,
    right: impl Iterator<Item = &'a str>,
    meter: &mut FuelMeter,
) -> Result<(Vec<u32>, Vec<u32>), LimitError> {
    let mut numbers: FxHashMap<&'a str, u32> = FxHashMap::default();
    let mut sides = (Vec::new(), Vec::new());
    let mut number = |word, side: &mut Vec<u32>| {
        meter.charge_fuel(2)?;
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        side.push(*numbers.entry(word).or_insert(next));
        Ok(())
    };
    left.into_iter().try_for_each(|word| number(word, &mut sides.0))?;
    right.into_iter().try_for_each(|word| number(word, &mut sides.1))?;
    meter.check_memory(sides.0.len().saturating_add(sides.1.len()).saturating_mul(16))?;
    Ok(sides)
}

/// Clipped n-gram overlap.
pub(super) fn common_sequences(
    left: &[u32],
    right: &[u32],
    n: usize,
    meter: &mut FuelMeter,
) -> Result<usize, LimitError> {
    let (small, large) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    meter.charge_fuel((left.len().saturating_add(right.len()) as u64).saturating_mul(n as u64))?;
    meter.check_memory(small.len().saturating_mul(48))?;
    let mut counts: FxHashMap<&[u32], usize> = FxHashMap::default();
    for sequence in small.windows(n) {
        let count = counts.entry(sequence).or_insert(0);
        *count = count.saturating_add(1);
    }
    let mut common = 0_usize;
    for sequence in large.windows(n) {
        if let Some(count) = counts.get_mut(sequence).filter(|count| **count > 0) {
            (*count, common) = (count.saturating_sub(1), common.saturating_add(1));
        }
    }
    Ok(common)
}

fn rouge_words(lower: &str) -> impl Iterator<Item = &str> {
    split_signs(lower.split(|letter: char| !letter.is_alphanumeric() || is_accented_latin(letter)))
}

/// True for accented Latin letters. The common implementation only knows ASCII letters: it reads `café` as `caf`, and ignores other scripts.
fn is_accented_latin(letter: char) -> bool {
    matches!(letter, '\u{aa}' | '\u{ba}' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// Splits words so that each character of a script without spaces is a word.
pub(super) fn split_signs<'a>(words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    let parts = |word: &'a str| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let end = if is_sign(first) { first.len_utf8() } else { rest.find(is_sign).unwrap_or(rest.len()) };
            let (part, behind) = rest.split_at_checked(end)?;
            rest = behind;
            Some(part)
        })
    };
    words.flat_map(parts)
}

/// True for Han, Hiragana, Katakana and Thai.
fn is_sign(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns a score. If one side has no words, it is marked as vacuous.
pub(super) fn give_score<'run>(call: &BuiltinCall<'_, 'run>, score: f64, sides: [usize; 2]) -> BuiltinResult<'run> {
    let node = call.give_real(score)?;
    Ok(if sides.contains(&0) { Node::from_nowhere(node.value) } else { node })
}

fn rouge_sides(call: &mut BuiltinCall<'_, '_>) -> Result<(Vec<u32>, Vec<u32>), LimitError> {
    let (text, reference) = (call.text_argument(0), call.text_argument(1));
    call.meter.charge_scan(text.len().saturating_add(reference.len()))?;
    let (text, reference) = (text.to_lowercase(), reference.to_lowercase());
    number_words(rouge_words(&text), rouge_words(&reference), call.meter)
}

fn f_measure(common: usize, text: usize, reference: usize) -> f64 {
    let (precision, recall) = (ratio(common, text.max(1)), ratio(common, reference.max(1)));
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

pub(super) fn rouge_n<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let n = if call.has_argument(2) { call.number_argument(2).as_i64() } else { Some(1) };
    let Some(n) = n.and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=1_000).contains(n)) else {
        return call.give_missing();
    };
    let (text, reference) = rouge_sides(call)?;
    let sequences = |words: &[u32]| words.len().saturating_add(1).saturating_sub(n);
    let common = common_sequences(&text, &reference, n, call.meter)?;
    give_score(call, f_measure(common, sequences(&text), sequences(&reference)), [text.len(), reference.len()])
}

pub(super) fn rouge_l<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let (text, reference) = rouge_sides(call)?;
    let common = common_subsequence(&text, &reference, call.meter)?;
    give_score(call, f_measure(common, text.len(), reference.len()), [text.len(), reference.len()])
}

/// Bit-parallel length of the longest common subsequence (Hyyrö 2004).
fn common_subsequence(left: &[u32], right: &[u32], meter: &mut FuelMeter) -> Result<usize, LimitError> {
    let (pattern, text) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    let rows = SymbolRows::new(pattern, meter)?;
    meter.charge_fuel((text.len() as u64).saturating_mul(rows.blocks as u64))?;
    let mut column = vec![u64::MAX; rows.blocks];
    for &symbol in text {
        let mut carry = false;
        for (word, &matches) in column.iter_mut().zip(rows.row_of(symbol)) {
            let both = *word & matches;
            let (sum, over) = word.overflowing_add(both);
            let (sum, carried) = sum.overflowing_add(u64::from(carry));
            carry = over || carried;
            *word = sum | word.wrapping_sub(both);
        }
    }
    // Each zero bit is one common word. Bits beyond the pattern are never zero.
    Ok(column.iter().map(|word| word.count_zeros() as usize).sum())
}
