//! Counts how often each verdict was expected and found: the four cells of pass and fail, and those of other verdicts that occur.

use super::outcome::TrialReport;
use super::trial::STATED;
use averment_base::truth::Verdict;
use serde_json::{Map, Value, json};

/// A confusion matrix of verdicts: expected by found. Tests that could not be run are not counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictMatrix {
    /// The verdicts with a row: always pass and fail, because testing only one of them is half a test; others if they occur.
    pub expected: Vec<Verdict>,
    /// The verdicts with a column.
    pub found: Vec<Verdict>,
    counts: Vec<(Verdict, Verdict, usize)>,
}

impl VerdictMatrix {
    /// Builds the matrix of these tests.
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

    /// Returns the number of tests that expected one verdict and found the other.
    #[must_use]
    pub fn cell_count(&self, expected: Verdict, found: Verdict) -> usize {
        self.counts.iter().find(|(a, b, _)| (*a, *b) == (expected, found)).map_or(0, |(_, _, count)| *count)
    }

    /// Returns the matrix as data: `{"fail": {"pass": 1, "fail": 4}, …}`.
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
