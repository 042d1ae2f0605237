//! The values of many runs: kept as they are up to a number, from there on in a sketch whose error is known.

use crate::vm::fault::Fault;
use averment_base::value::{Number, Value};
use averment_checker::ir::RunFoldFunction;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Values kept exactly for all runs: one mebibyte.
const ALONE: usize = 1 << 17;
/// Values kept exactly per group.
const GROUPED: usize = 1 << 10;

pub(super) fn exact_limit(grouped: bool) -> usize {
    if grouped { GROUPED } else { ALONE }
}

/// Relative error of a percentile from a sketch.
pub(super) const ERROR: f64 = 0.001;

/// The value of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RunValue {
    Number(f64),
    /// Missing or not recorded.
    None,
    /// Not a number.
    Other,
    /// A whole number that a double cannot represent exactly, so that aggregates could be wrong.
    Inexact,
    Fault,
}

impl RunValue {
    pub(super) fn of_evaluation(value: Result<Value<'_>, Fault>) -> Self {
        match value {
            Err(_) => Self::Fault,
            Ok(Value::Absent | Value::Missing | Value::Null) => Self::None,
            Ok(Value::Number(number)) if is_exact(number) => Self::Number(number.to_f64()),
            Ok(Value::Number(_)) => Self::Inexact,
            Ok(_) => Self::Other,
        }
    }
}

/// True if a double represents this number; whole numbers must match exactly.
pub(super) fn is_exact(number: Number<'_>) -> bool {
    let double = number.to_f64();
    double.fract() != 0.0 || double.abs() < EXACT || Number::from_f64(double).is_some_and(|double| double == number)
}

/// Every smaller whole number is exact, and no other number rounds to it.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct FoldValues {
    /// All values in run order; empty once there is a sketch.
    exact: Vec<f64>,
    sketch: Option<Box<QuantileSketch>>,
    pub(super) count: u64,
    sum: CompensatedSum,
    pub(super) least: Option<(f64, Box<str>)>,
    pub(super) greatest: Option<(f64, Box<str>)>,
    /// Number of runs with a missing, non-numeric or inexact value, or an error.
    pub(super) none: u64,
    pub(super) other: u64,
    pub(super) inexact: u64,
    pub(super) faults: u64,
    /// The first run that is not counted.
    pub(super) without: Option<Box<str>>,
}

impl FoldValues {
    pub(super) fn add_value(&mut self, value: RunValue, most: usize, name: &dyn Fn() -> String) {
        let count = match value {
            RunValue::Number(number) => return self.add_number(number, most, name),
            RunValue::None => &mut self.none,
            RunValue::Other => &mut self.other,
            RunValue::Inexact => &mut self.inexact,
            RunValue::Fault => &mut self.faults,
        };
        super::add_one(count);
        self.without.get_or_insert_with(|| name().into());
    }

    fn add_number(&mut self, number: f64, most: usize, name: &dyn Fn() -> String) {
        super::add_one(&mut self.count);
        self.sum.add(number);
        if self.least.as_ref().is_none_or(|(least, _)| number < *least) {
            self.least = Some((number, name().into()));
        }
        if self.greatest.as_ref().is_none_or(|(greatest, _)| number > *greatest) {
            self.greatest = Some((number, name().into()));
        }
        match &mut self.sketch {
            Some(sketch) => sketch.add_count(number, 1),
            None => {
                self.exact.push(number);
                self.move_to_sketch(most);
            }
        }
    }

    pub(super) fn append(&mut self, other: Self, most: usize) {
        for (own, other) in [
            (&mut self.count, other.count),
            (&mut self.none, other.none),
            (&mut self.other, other.other),
            (&mut self.inexact, other.inexact),
            (&mut self.faults, other.faults),
        ] {
            *own = own.saturating_add(other);
        }
        self.without = self.without.take().or(other.without);
        self.sum.append(other.sum);
        if let Some(least) = other.least
            && self.least.as_ref().is_none_or(|(own, _)| least.0 < *own)
        {
            self.least = Some(least);
        }
        if let Some(greatest) = other.greatest
            && self.greatest.as_ref().is_none_or(|(own, _)| greatest.0 > *own)
        {
            self.greatest = Some(greatest);
        }
        match (&mut self.sketch, other.sketch) {
            (None, None) => self.exact.extend(other.exact),
            (None, Some(theirs)) => {
                let mut sketch = theirs;
                self.exact.drain(..).for_each(|number| sketch.add_count(number, 1));
                self.sketch = Some(sketch);
            }
            (Some(sketch), None) => other.exact.iter().for_each(|number| sketch.add_count(*number, 1)),
            (Some(sketch), Some(theirs)) => sketch.append(&theirs),
        }
        self.move_to_sketch(most);
    }

    fn move_to_sketch(&mut self, most: usize) {
        if self.exact.len() > most {
            let mut sketch = QuantileSketch::default();
            std::mem::take(&mut self.exact).into_iter().for_each(|number| sketch.add_count(number, 1));
            self.sketch = Some(Box::new(sketch));
        }
    }

    pub(super) fn estimate_range(&self, estimate: f64) -> (f64, f64) {
        let room = estimate.abs() * ERROR;
        let end = |end: &Option<(f64, Box<str>)>, otherwise: f64| end.as_ref().map_or(otherwise, |(value, _)| *value);
        let (least, greatest) = (end(&self.least, estimate), end(&self.greatest, estimate));
        ((estimate - room).max(least), (estimate + room).min(greatest))
    }

    pub(super) fn exact_values(&self) -> Option<&[f64]> {
        self.sketch.is_none().then_some(self.exact.as_slice())
    }

    /// A function's value, and whether it may be off by [`ERROR`].
    pub(super) fn fold_with(&self, function: RunFoldFunction) -> Option<(f64, bool)> {
        #[expect(clippy::cast_precision_loss, reason = "nobody has so many runs that their number is not exact")]
        let count = self.count as f64;
        Some(match function {
            RunFoldFunction::Length => (count, false),
            RunFoldFunction::Sum => (self.sum.value(), false),
            RunFoldFunction::Average => (self.sum.value() / count, false),
            RunFoldFunction::Least => (self.least.as_ref()?.0, false),
            RunFoldFunction::Greatest => (self.greatest.as_ref()?.0, false),
            RunFoldFunction::Percentile(share) => {
                let (least, greatest) = (self.least.as_ref()?.0, self.greatest.as_ref()?.0);
                match share {
                    _ if least >= greatest => (least, false),
                    0.0 => (least, false),
                    1.0 => (greatest, false),
                    _ => (self.sketch.as_ref()?.percentile(share, self.count).clamp(least, greatest), true),
                }
            }
        })
    }
}

/// A sum whose error does not grow with the number of its parts (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation
/// endlicher Summen", 1974).
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    fn add(&mut self, number: f64) {
        let sum = self.sum + number;
        self.lost += if self.sum.abs() >= number.abs() { (self.sum - sum) + number } else { (number - sum) + self.sum };
        self.sum = sum;
    }

    fn append(&mut self, other: Self) {
        self.add(other.sum);
        self.lost += other.lost;
    }

    fn value(self) -> f64 {
        self.sum + self.lost
    }
}

/// Counts of values in buckets that are as wide as the error that is allowed (Masson, Rim, Lee, "DDSketch", VLDB 2019).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct QuantileSketch {
    /// Buckets of negative numbers, the nearest to zero last.
    below: BTreeMap<i32, u64>,
    zero: u64,
    above: BTreeMap<i32, u64>,
}

/// Ratio of the widths of adjacent buckets.
const WIDER: f64 = (1.0 + ERROR) / (1.0 - ERROR);
/// Buckets per side; smaller numbers share the last one.
const BUCKETS: i32 = 1 << 19;

impl QuantileSketch {
    fn add_count(&mut self, number: f64, count: u64) {
        let bucket = |number: f64| {
            let at = (number.ln() / WIDER.ln()).ceil();
            #[expect(clippy::cast_possible_truncation, reason = "kept within the number of buckets")]
            let at = at.clamp(f64::from(-BUCKETS), f64::from(BUCKETS)) as i32;
            at
        };
        let place = if number > 0.0 {
            self.above.entry(bucket(number)).or_default()
        } else if number < 0.0 {
            self.below.entry(bucket(-number).saturating_neg()).or_default()
        } else {
            &mut self.zero
        };
        *place = place.saturating_add(count);
    }

    fn append(&mut self, other: &Self) {
        self.zero = self.zero.saturating_add(other.zero);
        for (own, other) in [(&mut self.below, &other.below), (&mut self.above, &other.above)] {
            for (bucket, count) in other {
                let place = own.entry(*bucket).or_default();
                *place = place.saturating_add(*count);
            }
        }
    }

    /// Interpolates like the function `percentile` does.
    fn percentile(&self, share: f64, count: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "nobody has so many runs that their number is not exact")]
        let position = share * count.saturating_sub(1) as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the number of values"
        )]
        let below = position.floor() as u64;
        let (low, high) = (self.value_at(below), self.value_at(below.saturating_add(1).min(count.saturating_sub(1))));
        low + (high - low) * (position - position.floor())
    }

    fn value_at(&self, rank: u64) -> f64 {
        let middle = |bucket: i32| 2.0 * WIDER.powi(bucket) / (WIDER + 1.0);
        let below = self.below.iter().map(|(bucket, count)| (-middle(bucket.saturating_neg()), *count));
        let above = self.above.iter().map(|(bucket, count)| (middle(*bucket), *count));
        let mut passed = 0_u64;
        let mut last = 0.0;
        for (value, count) in below.chain(std::iter::once((0.0, self.zero))).chain(above) {
            passed = passed.saturating_add(count);
            if count > 0 {
                last = value;
            }
            if passed > rank {
                return value;
            }
        }
        last
    }
}

/// Converts to a language number; whole values become integers.
pub(super) fn number_value<'a>(value: f64) -> Option<Number<'a>> {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and far from the ends")]
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return Some(Number::Integer(value as i64));
    }
    Number::from_f64(value)
}

#[cfg(test)]
mod tests {
    use super::{ERROR, FoldValues, RunValue};
    use averment_checker::ir::RunFoldFunction;

    fn values(all: impl IntoIterator<Item = f64>, most: usize) -> FoldValues {
        let mut values = FoldValues::default();
        all.into_iter().for_each(|one| values.add_value(RunValue::Number(one), most, &String::new));
        values
    }

    #[test]
    fn a_sketch_tells_percentiles_within_its_error() {
        let all: Vec<f64> = (1..=10_000).map(|one| f64::from(one * 7919 % 10_007 - 3000)).collect();
        let mut sorted = all.clone();
        sorted.sort_by(f64::total_cmp);
        let sketched = values(all, 10);
        for (share, rank) in [(0.0, 0), (0.25, 2499), (0.5, 4999), (0.95, 9499), (1.0, 9999)] {
            let (found, off) = sketched.fold_with(RunFoldFunction::Percentile(share)).unwrap();
            let (low, high) = (sorted[rank], sorted[(rank + 1).min(9999)]);
            let room = low.abs().max(high.abs()) * ERROR * 1.01;
            assert!(
                off == (0.1..0.99).contains(&share) && (low - room..=high + room).contains(&found),
                "{share}: {found}, {low} to {high}"
            );
        }
    }

    #[test]
    fn it_does_not_matter_how_the_runs_are_cut() {
        let all: Vec<f64> = (0..5_000).map(|one| f64::from(one * 37 % 1013) / 7.0).collect();
        let whole = values(all.iter().copied(), 100);
        let mut parts = FoldValues::default();
        all.chunks(33).for_each(|part| parts.append(values(part.iter().copied(), 100), 100));
        for function in
            [RunFoldFunction::Percentile(0.9), RunFoldFunction::Sum, RunFoldFunction::Least, RunFoldFunction::Greatest]
        {
            let (one, other) = (whole.fold_with(function).unwrap().0, parts.fold_with(function).unwrap().0);
            assert!((one - other).abs() <= 1e-9 * one.abs(), "{function:?}: {one} and {other}");
        }
    }
}
