//! Sets of values: kind by kind.

use super::numbers::Numbers;
use super::texts::{TextTest, Texts};
use serde_json::{Number, Value, json};

/// A set of values. It may hold more than it has to, never less.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// Nothing there.
    pub missing: bool,
    /// `null`.
    pub null: bool,
    /// `false`.
    pub no: bool,
    /// `true`.
    pub yes: bool,
    /// Numbers.
    pub numbers: Numbers,
    /// Only whole ones.
    pub whole: bool,
    /// Texts.
    pub texts: Texts,
    /// The empty list, other lists.
    pub lists: [bool; 2],
    /// The empty object, other objects.
    pub objects: [bool; 2],
    /// Tests of texts; the same test of a list or object has one answer.
    pub tests: Vec<(TextTest, bool)>,
}

impl Values {
    /// No value.
    #[must_use]
    pub fn none() -> Self {
        Self {
            missing: false,
            null: false,
            no: false,
            yes: false,
            numbers: Numbers::none(),
            whole: false,
            texts: Texts::none(),
            lists: [false; 2],
            objects: [false; 2],
            tests: Vec::new(),
        }
    }

    /// Every value.
    #[must_use]
    pub fn all() -> Self {
        Self {
            missing: true,
            null: true,
            no: true,
            yes: true,
            numbers: Numbers::all(),
            whole: false,
            texts: Texts::all(),
            lists: [true; 2],
            objects: [true; 2],
            tests: Vec::new(),
        }
    }

    /// `true` and `false`.
    #[must_use]
    pub fn booleans() -> Self {
        Self { no: true, yes: true, ..Self::none() }
    }

    /// Numbers alone.
    #[must_use]
    pub fn of_numbers(numbers: Numbers) -> Self {
        Self { numbers, ..Self::none() }
    }

    /// Texts alone.
    #[must_use]
    pub fn of_texts(texts: Texts) -> Self {
        Self { texts, ..Self::none() }
    }

    /// All values that are not in it. Only for sets without tests, which have an exact opposite; other sets give everything.
    #[must_use]
    pub fn not(&self) -> Self {
        if !self.tests.is_empty() || self.whole {
            return Self::all();
        }
        Self {
            missing: !self.missing,
            null: !self.null,
            no: !self.no,
            yes: !self.yes,
            numbers: self.numbers.not(),
            whole: false,
            texts: self.texts.not(),
            lists: self.lists.map(|one| !one),
            objects: self.objects.map(|one| !one),
            tests: Vec::new(),
        }
    }

    /// Values in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let both = |a: [bool; 2], b: [bool; 2]| [a[0] && b[0], a[1] && b[1]];
        let mut tests = self.tests.clone();
        tests.extend(other.tests.iter().filter(|test| !self.tests.contains(test)).cloned());
        Self {
            missing: self.missing && other.missing,
            null: self.null && other.null,
            no: self.no && other.no,
            yes: self.yes && other.yes,
            numbers: self.numbers.and(&other.numbers),
            whole: self.whole || other.whole,
            texts: self.texts.and(&other.texts),
            lists: both(self.lists, other.lists),
            objects: both(self.objects, other.objects),
            tests,
        }
    }

    /// Values in either. Only for sets without tests.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let either = |a: [bool; 2], b: [bool; 2]| [a[0] || b[0], a[1] || b[1]];
        Self {
            missing: self.missing || other.missing,
            null: self.null || other.null,
            no: self.no || other.no,
            yes: self.yes || other.yes,
            numbers: self.numbers.or(&other.numbers),
            whole: self.whole && other.whole,
            texts: self.texts.not().and(&other.texts.not()).not(),
            lists: either(self.lists, other.lists),
            objects: either(self.objects, other.objects),
            tests: Vec::new(),
        }
    }

    /// About how much work and memory it takes: what it lists, and its tests against each other.
    #[must_use]
    pub fn weight(&self) -> usize {
        let (Texts::Only(texts) | Texts::Except(texts)) = &self.texts;
        let tests = self.tests.len();
        let pairs = tests.saturating_mul(tests) / 8;
        texts.len().saturating_add(self.numbers.0.len()).saturating_add(tests).saturating_add(pairs)
    }

    /// Whether surely no value is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let simple = self.missing || self.null || self.no || self.yes;
        let parts = (self.lists.contains(&true) || self.objects.contains(&true)) && !self.contradicts_itself();
        !simple && !parts && self.numbers.is_empty(self.whole) && self.texts.is_empty(&self.tests)
    }

    /// Whether one test is wanted both ways.
    fn contradicts_itself(&self) -> bool {
        self.tests.iter().any(|(test, wanted)| *wanted && self.tests.contains(&(test.clone(), false)))
    }

    /// Some value of it: `Some(None)` is nothing at all. `None` where none is easily found.
    #[must_use]
    pub fn example(&self) -> Option<Option<Value>> {
        if let Some(number) = self.numbers.example(self.whole) {
            return Some(Some(of_number(number)?));
        }
        if let Some(text) = self.texts.example(&self.tests) {
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

/// A number as JSON, whole ones without a fraction.
#[expect(clippy::cast_possible_truncation, reason = "only whole numbers far below the limit are converted")]
fn of_number(number: f64) -> Option<Value> {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Some(Value::from(number as i64));
    }
    Number::from_f64(number).map(Value::Number)
}
