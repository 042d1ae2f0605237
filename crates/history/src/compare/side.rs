//! One side of a comparison.

use averment_engine::vm::outcome::Status;
use averment_report::change::BlockReport;
use averment_report::change::Standing;
use indexmap::IndexMap;
use rustc_hash::FxHashSet;

/// What an assertion is the same by on both sides: its rule, empty where it has none, and its text. Its id may count its place among others.
pub type Key = (String, String);

/// A run of a side.
#[derive(Debug, Clone, Default)]
pub struct SideRun {
    /// Its name in reports.
    pub name: String,
    /// Its own id, where that is known.
    pub own: Option<String>,
    /// Whether it passed, its score, cost and tokens.
    pub standing: Standing,
    /// How long it took, in milliseconds.
    pub duration: Option<f64>,
    /// Its results: the number of the assertion in [`Side::assertions`], and the status.
    pub results: Vec<(usize, Status)>,
    /// The blocks of a workflow of another system in it, by rule.
    pub blocks: Vec<(String, BlockReport)>,
}

/// A side.
#[derive(Debug, Default)]
pub struct Side {
    /// What it was given as.
    pub name: String,
    /// The assertions of its runs, with their ids.
    pub assertions: IndexMap<Key, String>,
    /// Its runs, in order.
    pub runs: Vec<SideRun>,
    /// What each of its reports says of all of its runs together, and how that is called there.
    pub over_runs: Vec<(String, Vec<(usize, Status)>)>,
    /// The assertions that fail no run, for a statement over all runs speaks for them.
    pub rated: FxHashSet<usize>,
}

impl Side {
    /// The number of an assertion; `rated` says that a statement over all runs speaks for it.
    pub(super) fn number(&mut self, rule: Option<String>, id: String, text: String, rated: bool) -> usize {
        let number = self.assertions.insert_full((rule.unwrap_or_default(), text), id).0;
        if rated {
            self.rated.insert(number);
        }
        number
    }
}
