//! How often each verdict was expected and came out: the four cells of pass and fail, and those of the other verdicts that occur.

use super::outcome::TrialReport;
use super::trial::STATED;
use averment_base::truth::Verdict;
use serde_json::{Map, Value, json};

/// A matrix of verdicts: what was expected by what was found. Tests that could not be run are in none of its cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictMatrix {
    /// The verdicts with a row: pass and fail always (rules that are tried on one side only are half tested), others where they occur.
    pub expected: Vec<Verdict>,
    /// The verdicts with a column.
    pub found: Vec<Verdict>,
    counts: Vec<(Verdict, Verdict, usize)>,
}

impl VerdictMatrix {
    /// The matrix of these tests.
    #[must_use]
    pub fn from_tests(tested: &[TrialReport]) -> Self {
        let pairs: Vec<(Verdict, Verdict)> =
            tested.iter().filter_map(|test| Some((test.expect?, test.observed?))).collect();
        let occurs = |verdict: &Verdict| {
            matches!(verdict, Verdict::Pass | Verdict::Fail) || pairs.iter().any(|(a, b)| a == verdict || b == verdict)
        };
        let found: Vec<Verdict> = Verdict::ALL.into_iter().filter(occurs).collect();
        let expected: Vec<Verdict> = STATED.into_iter().filter(occurs).collect();
        let mut counts: Vec<(Verdict, Verdict, usize)> = Vec::new();
        for (expect, observed) in pairs {
            match counts.iter_mut().find(|(a, b, _)| (*a, *b) == (expect, observed)) {
                Some((_, _, count)) => *count += 1,
                None => counts.push((expect, observed, 1)),
            }
        }
        Self { expected, found, counts }
    }

    /// How many tests expected the one and found the other.
    #[must_use]
    pub fn cell_count(&self, expected: Verdict, found: Verdict) -> usize {
        self.counts.iter().find(|(a, b, _)| (*a, *b) == (expected, found)).map_or(0, |(_, _, count)| *count)
    }

    /// The matrix as data: `{"fail": {"pass": 1, "fail": 4}, …}`.
    #[must_use]
    pub fn matrix_data(&self) -> Value {
        let row = |expected: Verdict| {
            self.found
                .iter()
                .map(|found| (found.as_str().to_owned(), json!(self.cell_count(expected, *found))))
                .collect::<Map<_, _>>()
        };
        self.expected.iter().map(|&expected| (expected.as_str().to_owned(), Value::Object(row(expected)))).collect()
    }
}
