//! Sets of values, by type.

use super::numbers::NumberSet;
use super::texts::{TextSet, TextTest};
use serde_json::{Number, Value, json};

/// A set of values. It may be larger than exact, but never smaller.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueSet {
    /// True if the value may be missing.
    pub missing: bool,
    /// `null`.
    pub null: bool,
    /// `false`.
    pub no: bool,
    /// `true`.
    pub yes: bool,
    /// Numbers.
    pub numbers: NumberSet,
    /// True if only whole numbers are included.
    pub whole: bool,
    /// Texts.
    pub texts: TextSet,
    /// True if the empty list is included, and true if other lists are.
    pub lists: [bool; 2],
    /// True if the empty object is included, and true if other objects are.
    pub objects: [bool; 2],
    /// Tests of texts with their outcome. Applied to a list or object, a test has one outcome too.
    pub tests: Vec<(TextTest, bool)>,
}

impl ValueSet {
    /// Returns the empty set.
    #[must_use]
    pub fn empty_set() -> Self {
        Self {
            missing: false,
            null: false,
            no: false,
            yes: false,
            numbers: NumberSet::empty_set(),
            whole: false,
            texts: TextSet::empty_set(),
            lists: [false; 2],
            objects: [false; 2],
            tests: Vec::new(),
        }
    }

    /// Returns the set of all values.
    #[must_use]
    pub fn full_set() -> Self {
        Self {
            missing: true,
            null: true,
            no: true,
            yes: true,
            numbers: NumberSet::full_set(),
            whole: false,
            texts: TextSet::full_set(),
            lists: [true; 2],
            objects: [true; 2],
            tests: Vec::new(),
        }
    }

    /// Returns the set of `true` and `false`.
    #[must_use]
    pub fn boolean_set() -> Self {
        Self { no: true, yes: true, ..Self::empty_set() }
    }

    /// Returns a set of only these numbers.
    #[must_use]
    pub fn from_numbers(numbers: NumberSet) -> Self {
        Self { numbers, ..Self::empty_set() }
    }

    /// Returns a set of only these texts.
    #[must_use]
    pub fn from_texts(texts: TextSet) -> Self {
        Self { texts, ..Self::empty_set() }
    }

    /// Returns all values outside of the set. This is exact only for sets without tests; for others it returns the full set.
    #[must_use]
    pub fn complement(&self) -> Self {
        if !self.tests.is_empty() || self.whole {
            return Self::full_set();
        }
        Self {
            missing: !self.missing,
            null: !self.null,
            no: !self.no,
            yes: !self.yes,
            numbers: self.numbers.complement(),
            whole: false,
            texts: self.texts.complement(),
            lists: self.lists.map(|one| !one),
            objects: self.objects.map(|one| !one),
            tests: Vec::new(),
        }
    }

    /// Returns the values in both sets.
    #[must_use]
    pub fn intersect_with(&self, other: &Self) -> Self {
        let both = |a: [bool; 2], b: [bool; 2]| [a[0] && b[0], a[1] && b[1]];
        let mut tests = self.tests.clone();
        tests.extend(other.tests.iter().filter(|test| !self.tests.contains(test)).cloned());
        Self {
            missing: self.missing && other.missing,
            null: self.null && other.null,
            no: self.no && other.no,
            yes: self.yes && other.yes,
            numbers: self.numbers.intersect_with(&other.numbers),
            whole: self.whole || other.whole,
            texts: self.texts.intersect_with(&other.texts),
            lists: both(self.lists, other.lists),
            objects: both(self.objects, other.objects),
            tests,
        }
    }

    /// Returns the values in any of these sets. Halves are joined, so that a list of `n` values takes `n log n` time.
    #[must_use]
    pub fn union_of(sets: &[Self]) -> Self {
        match sets.split_at(sets.len() / 2) {
            (_, []) => Self::empty_set(),
            ([], [one]) => Self::empty_set().union_with(one),
            (left, right) => Self::union_of(left).union_with(&Self::union_of(right)),
        }
    }

    /// Returns the values in either set; only for sets without tests.
    #[must_use]
    pub fn union_with(&self, other: &Self) -> Self {
        let either = |a: [bool; 2], b: [bool; 2]| [a[0] || b[0], a[1] || b[1]];
        Self {
            missing: self.missing || other.missing,
            null: self.null || other.null,
            no: self.no || other.no,
            yes: self.yes || other.yes,
            numbers: self.numbers.union_with(&other.numbers),
            whole: self.whole && other.whole,
            texts: self.texts.complement().intersect_with(&other.texts.complement()).complement(),
            lists: either(self.lists, other.lists),
            objects: either(self.objects, other.objects),
            tests: Vec::new(),
        }
    }

    /// Returns an estimate of the work and memory of the set: its listed values, and its tests compared with each other.
    #[must_use]
    pub fn weight(&self) -> usize {
        let (TextSet::Only(texts) | TextSet::Except(texts)) = &self.texts;
        let tests = self.tests.len();
        let pairs = tests.saturating_mul(tests) / 8;
        texts.len().saturating_add(self.numbers.0.len()).saturating_add(tests).saturating_add(pairs)
    }

    /// Returns true if the set certainly contains no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let simple = self.missing || self.null || self.no || self.yes;
        let parts = (self.lists.contains(&true) || self.objects.contains(&true)) && !self.contradicts_itself();
        !simple && !parts && self.numbers.is_empty(self.whole) && self.texts.is_empty(&self.tests)
    }

    fn contradicts_itself(&self) -> bool {
        self.tests.iter().any(|(test, wanted)| *wanted && self.tests.contains(&(test.clone(), false)))
    }

    /// Returns some value of the set; `Some(None)` is a missing value, `None` means that none is easily found.
    #[must_use]
    pub fn pick_value(&self) -> Option<Option<Value>> {
        if let Some(number) = self.numbers.pick_number(self.whole) {
            return Some(Some(number_value(number)?));
        }
        if let Some(text) = self.texts.pick_text(&self.tests) {
            return Some(Some(Value::String(text)));
        }
        let simple = [
            (self.yes, Some(json!(true))),
            (self.no, Some(json!(false))),
            (self.null, Some(Value::Null)),
            (self.lists[0] && self.tests.iter().all(|(_, wanted)| !wanted), Some(json!([]))),
            (self.objects[0] && self.tests.iter().all(|(_, wanted)| !wanted), Some(json!({}))),
            (self.missing, None),
        ];
        simple.into_iter().find(|(is_in, _)| *is_in).map(|(_, value)| value)
    }
}

/// Returns a number as JSON; integers have no fraction.
#[expect(clippy::cast_possible_truncation, reason = "only whole numbers far below the limit are converted")]
fn number_value(number: f64) -> Option<Value> {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Some(Value::from(number as i64));
    }
    Number::from_f64(number).map(Value::Number)
}
