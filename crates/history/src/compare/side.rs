//! One side of a comparison.

use averment_engine::vm::outcome::Status;
use averment_report::change::BlockReport;
use averment_report::change::RunMeasures;
use indexmap::IndexMap;
use rustc_hash::FxHashSet;

/// Identifies an assertion on both sides: its rule (may be empty) and text, since ids may contain an index.
pub type AssertionKey = (String, String);

/// A run on one side of a comparison.
#[derive(Debug, Clone, Default)]
pub struct SideRun {
    /// Name in reports.
    pub name: String,
    /// The run's own id, if known.
    pub own: Option<String>,
    /// Passed or not, score, cost and tokens.
    pub standing: RunMeasures,
    /// Duration in milliseconds.
    pub duration: Option<f64>,
    /// Results: each is an index into [`CompareSide::assertions`] and a status.
    pub results: Vec<(usize, Status)>,
    /// Blocks of another system's workflow in this run, by rule.
    pub blocks: Vec<(String, BlockReport)>,
}

/// One side of a comparison.
#[derive(Debug, Default)]
pub struct CompareSide {
    /// Name as given on the command line.
    pub name: String,
    /// Assertions of its runs, with their ids.
    pub assertions: IndexMap<AssertionKey, String>,
    /// Runs, in order.
    pub runs: Vec<SideRun>,
    /// For each report, its name and its results over all runs.
    pub over_runs: Vec<(String, Vec<(usize, Status)>)>,
    /// Assertions that cannot fail a single run, because a statement over all runs decides about them.
    pub rated: FxHashSet<usize>,
}

impl CompareSide {
    /// Returns the index of an assertion, adding it if it is new; `rated` is true if a statement over all runs decides about it.
    pub(super) fn assertion_number(&mut self, rule: Option<String>, id: String, text: String, rated: bool) -> usize {
        let number = self.assertions.insert_full((rule.unwrap_or_default(), text), id).0;
        if rated {
            self.rated.insert(number);
        }
        number
    }
}
