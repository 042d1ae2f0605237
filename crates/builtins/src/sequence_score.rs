//! Translation scores: the number of sequences of one to four words that a text shares with a reference, or with the nearest of several.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult, first_gap};
use super::score::{common_sequences, give_score, ratio, split_signs};
use super::text::split_words;
use averment_base::limits::{FuelMeter, LimitError};
use averment_base::value::{Node, Value};
use rustc_hash::FxHashMap;

/// Maximum number of words in a sequence.
const LONGEST: usize = 4;

/// Returns the number of sequences of a length.
fn sequence_count(words: &[u32], length: usize) -> usize {
    words.len().saturating_add(1).saturating_sub(length)
}

/// Maps words to numbers; equal words have the same number.
#[derive(Default)]
struct WordNumbers {
    numbers: FxHashMap<String, u32>,
}

impl WordNumbers {
    fn number_words<'a>(
        &mut self,
        words: impl Iterator<Item = &'a str>,
        meter: &mut FuelMeter,
    ) -> Result<Vec<u32>, LimitError> {
        let mut list = Vec::new();
        for word in words {
            meter.charge_fuel(2)?;
            meter.charge_memory(word.len().saturating_add(size_of::<u32>()))?;
            let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
            let number = match self.numbers.get(word) {
                Some(number) => *number,
                None => *self.numbers.entry(word.to_owned()).or_insert(next),
            };
            list.push(number);
        }
        Ok(list)
    }
}

struct ComparedWords {
    text: Vec<u32>,
    references: Vec<Vec<u32>>,
}

impl ComparedWords {
    /// Returns the lengths of both sides. If one is zero, the score is vacuous.
    fn sides(&self) -> [usize; 2] {
        [self.text.len(), self.references.iter().map(Vec::len).max().unwrap_or(0)]
    }

    /// Returns the number of sequences that the text shares with the reference that has most of them.
    fn most_common(&self, length: usize, meter: &mut FuelMeter) -> Result<usize, LimitError> {
        let mut most = 0;
        for reference in &self.references {
            most = most.max(common_sequences(&self.text, reference, length, meter)?);
        }
        Ok(most)
    }

    /// Returns the length of the reference that is nearest to that of the text; of equally near ones, the shorter one.
    fn nearest_length(&self) -> usize {
        let lengths = self.references.iter().map(Vec::len);
        lengths.min_by_key(|length| (length.abs_diff(self.text.len()), *length)).unwrap_or(0)
    }
}

/// Returns the texts of the second argument. Returns the result of the call as an error if there is none, or if one is no text.
fn reference_texts<'run>(call: &BuiltinCall<'_, 'run>) -> Result<Vec<&'run str>, Value<'run>> {
    if let Value::Text(text) = call.argument_node(1).value {
        return Ok(vec![text.as_str()]);
    }
    let items = call.list_argument(1);
    if let Some(gap) = first_gap(items) {
        return Err(gap);
    }
    let text = |item: &Node<'run>| match item.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let texts: Option<Vec<&str>> = items.iter().map(text).collect();
    texts.filter(|texts| !texts.is_empty()).ok_or(Value::Missing)
}

type SplitWords = for<'a> fn(&'a str) -> Vec<&'a str>;

fn plain_words(text: &str) -> Vec<&str> {
    split_words(text).collect()
}

fn words_and_signs(text: &str) -> Vec<&str> {
    split_signs(split_words(text)).collect()
}

fn words_without_stops(text: &str) -> Vec<&str> {
    split_words(text).map(|word| word.trim_end_matches('.')).collect()
}

/// Returns the words of all texts in lower case, split by a function.
fn compared_words<'run>(
    call: &mut BuiltinCall<'_, 'run>,
    split: SplitWords,
) -> Result<Result<ComparedWords, Value<'run>>, LimitError> {
    let references = match reference_texts(call) {
        Ok(references) => references,
        Err(value) => return Ok(Err(value)),
    };
    let mut numbers = WordNumbers::default();
    let mut words = |text: &str, meter: &mut FuelMeter| {
        meter.charge_scan(text.len())?;
        meter.check_memory(text.len().saturating_mul(16))?;
        numbers.number_words(split(&text.to_lowercase()).into_iter(), meter)
    };
    let text = words(call.text_argument(0), call.meter)?;
    let references =
        references.into_iter().map(|text| words(text, call.meter)).collect::<Result<Vec<_>, LimitError>>()?;
    Ok(Ok(ComparedWords { text, references }))
}

pub(super) fn bleu<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let floor = call.has_argument(2).then(|| call.number_argument(2).to_f64());
    if floor.is_some_and(|floor| !(floor > 0.0 && floor <= 1.0)) {
        return call.give_missing();
    }
    let split: SplitWords = if floor.is_some() { plain_words } else { words_and_signs };
    let words = match compared_words(call, split)? {
        Ok(words) => words,
        Err(value) => return Ok(Node::computed(value)),
    };
    let score = match words.sides() {
        [0, _] => 0.0,
        [_, 0] if floor.is_none() => 0.0,
        _ => bleu_score(&words, floor, call.meter)?,
    };
    give_score(call, score, words.sides())
}

/// Returns the BLEU score. With a floor, sequence lengths beyond the text are ignored, and zero matches count as the floor.
fn bleu_score(words: &ComparedWords, floor: Option<f64>, meter: &mut FuelMeter) -> Result<f64, LimitError> {
    let (mut logarithm, mut lengths) = (0.0, 0_usize);
    for length in 1..=LONGEST {
        let (common, all) = (words.most_common(length, meter)?, sequence_count(&words.text, length));
        let share = match (floor, common) {
            (Some(_), _) if all == 0 => continue,
            (Some(floor), 0) => floor,
            (Some(_), _) => ratio(common, all),
            (None, 0) if length == 1 => return Ok(0.0),
            (None, _) if length == 1 => ratio(common, all),
            (None, _) => ratio(common.saturating_add(1), all.saturating_add(1)),
        };
        lengths = lengths.saturating_add(1);
        // All lengths have the same weight. The order of the sum must stay, so that the last bit is the same.
        logarithm += share.ln() / if floor.is_some() { 1.0 } else { ratio(LONGEST, 1) };
    }
    if floor.is_some() {
        logarithm /= ratio(lengths.max(1), 1);
    }
    let (own, wanted) = (words.text.len(), words.nearest_length());
    let penalty = if own >= wanted { 1.0 } else { (1.0 - ratio(wanted, own)).exp() };
    Ok(penalty * logarithm.exp())
}

pub(super) fn gleu<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let words = match compared_words(call, words_without_stops)? {
        Ok(words) => words,
        Err(value) => return Ok(Node::computed(value)),
    };
    let mut best = 0.0_f64;
    for reference in &words.references {
        best = best.max(gleu_score(&words.text, reference, call.meter)?);
    }
    give_score(call, best, words.sides())
}

/// Returns the number of common sequences of all lengths, divided by the number of sequences of the longer side.
fn gleu_score(text: &[u32], reference: &[u32], meter: &mut FuelMeter) -> Result<f64, LimitError> {
    let (mut common, mut own, mut wanted) = (0_usize, 0_usize, 0_usize);
    for length in 1..=LONGEST {
        common = common.saturating_add(common_sequences(text, reference, length, meter)?);
        own = own.saturating_add(sequence_count(text, length));
        wanted = wanted.saturating_add(sequence_count(reference, length));
    }
    Ok(ratio(common, own.max(wanted).max(1)))
}
