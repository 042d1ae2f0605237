//! What is asserted of all runs that are checked, taken together (language reference, section 12).

use averment_syntax::ast::NumberUnit;
use serde::{Deserialize, Serialize};

/// A question about all runs. `E` is the type of expressions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverRunsCheck<E> {
    /// The grouping key; the question is asked for each group.
    pub by: Option<E>,
    /// The question.
    pub asks: OverRunsQuestion<E>,
}

/// A question about the runs of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum OverRunsQuestion<E> {
    /// In how many runs something holds; with a confidence, an estimate for all possible runs.
    Rate { rated: RateSubject, share: RateBound, confidence: Option<f64> },
    /// A condition on values computed from those of the runs: its locals, in this order.
    Folds { folds: Vec<RunFold<E>>, condition: E },
}

/// The verdict counted in each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RateSubject {
    /// The verdict of a rule, by number.
    Rule(u32),
    /// The verdict of an assertion, by number.
    Assertion(u32),
}

/// In how many runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum RateBound {
    /// At least this share, between 0 and 1.
    Least(f64),
    /// At most this share, between 0 and 1.
    Most(f64),
    /// At least this many of a number of runs of the group.
    LeastOf { passes: u32, of: u32 },
    /// pass^k: mean over the groups of the probability that `power` random runs all pass.
    Power { power: u32, share: f64 },
}

/// A value that is made of one value of each run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFold<E> {
    /// The value of a run.
    pub value: E,
    /// Which function of the values.
    pub function: RunFoldFunction,
    /// The function, of a list in the first local.
    pub fold: E,
    /// As the author wrote it.
    pub text: String,
    /// The unit of what it gives.
    pub unit: NumberUnit,
}

/// A function of the values of all runs. What it means is what the function of its name means of a list.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum RunFoldFunction {
    /// `sum`.
    Sum,
    /// `avg`.
    Average,
    /// `min`.
    Least,
    /// `max`.
    Greatest,
    /// `percentile` with its share, and `median`.
    Percentile(f64),
    /// `length`: how many runs have the value.
    Length,
}

impl RunFoldFunction {
    /// The function of a name; a percentile gets its share later.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "sum" => Self::Sum,
            "avg" => Self::Average,
            "min" => Self::Least,
            "max" => Self::Greatest,
            "median" | "percentile" => Self::Percentile(0.5),
            "length" => Self::Length,
            _ => return None,
        })
    }
}

impl<E> OverRunsCheck<E> {
    /// Translates its expressions; the closure gets each expression and its number of given locals.
    pub fn map_exprs<T>(&self, mut of: impl FnMut(&E, u32) -> T) -> OverRunsCheck<T> {
        let by = self.by.as_ref().map(|by| of(by, 0));
        let asks = match &self.asks {
            OverRunsQuestion::Rate { rated, share, confidence } => {
                OverRunsQuestion::Rate { rated: *rated, share: *share, confidence: *confidence }
            }
            OverRunsQuestion::Folds { folds, condition } => {
                let given = u32::try_from(folds.len()).unwrap_or(u32::MAX);
                let folds = folds.iter().map(|one| RunFold {
                    value: of(&one.value, 0),
                    function: one.function,
                    fold: of(&one.fold, 1),
                    text: one.text.clone(),
                    unit: one.unit,
                });
                let folds = folds.collect();
                OverRunsQuestion::Folds { folds, condition: of(condition, given) }
            }
        };
        OverRunsCheck { by, asks }
    }

    /// All of its expressions: what is looked at in each run first.
    pub fn all_expressions(&self) -> Vec<&E> {
        let mut all: Vec<&E> = self.run_expressions().collect();
        if let OverRunsQuestion::Folds { folds, condition } = &self.asks {
            all.extend(folds.iter().map(|one| &one.fold));
            all.push(condition);
        }
        all
    }

    /// The expressions that are evaluated in each run.
    pub fn run_expressions(&self) -> impl Iterator<Item = &E> {
        let folds = match &self.asks {
            OverRunsQuestion::Folds { folds, .. } => folds.as_slice(),
            OverRunsQuestion::Rate { .. } => &[],
        };
        self.by.iter().chain(folds.iter().map(|one| &one.value))
    }
}
