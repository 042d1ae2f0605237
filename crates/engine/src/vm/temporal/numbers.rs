//! Numbers for the values of some bindings, given in the order in which the values come.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::timeline::Env;
use rustc_hash::FxHashMap;

/// Values scanned linearly; beyond that a map is faster.
const FEW: usize = 12;

/// Assigns numbers to words; small sets need no map.
#[derive(Debug, Default)]
pub(super) struct NumberedWords {
    few: Vec<(u64, u32)>,
    many: FxHashMap<u64, u32>,
}

impl NumberedWords {
    pub(super) fn get(&self, word: u64) -> Option<u32> {
        if self.many.is_empty() {
            return self.few.iter().find(|(known, _)| *known == word).map(|(_, number)| *number);
        }
        self.many.get(&word).copied()
    }

    pub(super) fn get_or_insert(&mut self, word: u64, next: u32) -> u32 {
        if !self.many.is_empty() {
            return *self.many.entry(word).or_insert(next);
        }
        if let Some((_, number)) = self.few.iter().find(|(known, _)| *known == word) {
            return *number;
        }
        self.few.push((word, next));
        if self.few.len() > FEW {
            self.many.extend(self.few.drain(..));
        }
        next
    }
}

/// Assigns numbers to values; one or two bindings, the common case, fit into a word.
#[derive(Debug, Default)]
pub(super) struct EnvNumbers {
    narrow: NumberedWords,
    wide: FxHashMap<Env, u32>,
}

impl EnvNumbers {
    pub(super) fn get(&self, values: &Env) -> Option<u32> {
        match pack_values(values) {
            Some(packed) => self.narrow.get(packed),
            None => self.wide.get(values).copied(),
        }
    }

    pub(super) fn get_or_insert(&mut self, values: &Env, next: u32) -> u32 {
        match pack_values(values) {
            Some(packed) => self.narrow.get_or_insert(packed, next),
            None => *self.wide.entry(values.clone()).or_insert(next),
        }
    }
}

fn pack_values(values: &Env) -> Option<u64> {
    match values.as_slice() {
        [] => Some(0),
        [one] => Some(u64::from(one.as_number())),
        [one, two] => Some(u64::from(one.as_number()) << 32 | u64::from(two.as_number())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::timeline::ValueId;
    use super::*;

    #[test]
    fn values_have_one_number_each_however_many_there_are() {
        for width in 0..4 {
            let mut numbers = EnvNumbers::default();
            let values =
                |value: u32| -> Env { (0..width).map(|place| ValueId::from_number(value / (place + 1))).collect() };
            let mut known: Vec<Env> = Vec::new();
            for value in 0..100 {
                let values = values(value);
                let place = known.iter().position(|other| *other == values);
                let expected = u32::try_from(place.unwrap_or(known.len())).unwrap();
                assert_eq!(numbers.get(&values), place.map(|_| expected), "{width} {value}");
                assert_eq!(numbers.get_or_insert(&values, u32::try_from(known.len()).unwrap()), expected);
                if place.is_none() {
                    known.push(values);
                }
            }
        }
    }
}
