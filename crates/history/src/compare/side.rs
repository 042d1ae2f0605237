//! One side of a comparison.

use averment_engine::vm::outcome::Status;
use averment_report::change::BlockReport;
use averment_report::change::RunMeasures;
use indexmap::IndexMap;
use rustc_hash::FxHashSet;

/// Identifies an assertion on both sides: its rule (may be empty) and text, since ids may contain an index.
pub type AssertionKey = (String, String);

/// A run of a side.
#[derive(Debug, Clone, Default)]
pub struct SideRun {
    /// Its name in reports.
    pub name: String,
    /// Its own id, where that is known.
    pub own: Option<String>,
    /// Pass, score, cost and tokens.
    pub standing: RunMeasures,
    /// The duration in milliseconds.
    pub duration: Option<f64>,
    /// Its results: the number of the assertion in [`CompareSide::assertions`], and the status.
    pub results: Vec<(usize, Status)>,
    /// The blocks of a workflow of another system in it, by rule.
    pub blocks: Vec<(String, BlockReport)>,
}

/// A side.
#[derive(Debug, Default)]
pub struct CompareSide {
    /// The name it was given.
    pub name: String,
    /// The assertions of its runs, with their ids.
    pub assertions: IndexMap<AssertionKey, String>,
    /// Its runs, in order.
    pub runs: Vec<SideRun>,
    /// For each report, its name and its results over all runs.
    pub over_runs: Vec<(String, Vec<(usize, Status)>)>,
    /// The assertions that fail no run, for a statement over all runs speaks for them.
    pub rated: FxHashSet<usize>,
}

impl CompareSide {
    /// The index of an assertion; `rated` says that a statement over all runs decides instead.
    pub(super) fn assertion_number(&mut self, rule: Option<String>, id: String, text: String, rated: bool) -> usize {
        let number = self.assertions.insert_full((rule.unwrap_or_default(), text), id).0;
        if rated {
            self.rated.insert(number);
        }
        number
    }
}
