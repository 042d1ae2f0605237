//! How far runs can be trusted: STOP's trust score over the last runs of each group, how sure it is, where it goes, and what became unsure.

mod groups;
mod html;
mod human;
mod unstable_results;

pub use groups::{GroupBy, TrustGroup, TrustLabel};
pub use unstable_results::{FlakyResult, TrustRegression};

use crate::error::HistoryError;
use crate::read::HistorySnapshot;
use averment_engine::vm::outcome::Status;
use serde::Serialize;

/// So many of the latest runs count, where nobody says otherwise.
pub const LAST: usize = 100;

/// How a result counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedAs {
    /// As passed.
    Passed,
    /// In the total, but not as passed.
    NotPassed,
    /// Not at all: the assertion did not apply to the run.
    Left,
}

impl CountedAs {
    /// Expected failures count as passed; undecided results and errors do not.
    #[must_use]
    pub fn from_status(status: Status) -> Self {
        match status {
            Status::Passed | Status::ExpectedFailed => Self::Passed,
            Status::Failed | Status::UnexpectedPassed | Status::Undecided | Status::Error => Self::NotPassed,
            Status::Vacuous | Status::Skipped => Self::Left,
        }
    }
}

/// A query of a history.
#[derive(Debug, Clone)]
pub struct TrustQuery {
    /// The number of latest runs to count in each group.
    pub last: usize,
    /// The criterion for groups.
    pub by: Option<GroupBy>,
}

/// Trust in groups of runs. The JSON form is `docs/schema/trust.schema.json`.
#[derive(Debug, Serialize)]
pub struct TrustReport {
    /// The version of the format.
    pub version: u32,
    /// The number of latest runs counted in each group.
    pub last: usize,
    /// The criterion for groups.
    pub by: Option<String>,
    /// All runs together.
    pub all: TrustGroup,
    /// The groups, by name.
    pub groups: Vec<TrustGroup>,
    /// Results of one run under the same rules that differ.
    pub flaky: Vec<FlakyResult>,
    /// Assertions that passed and now fail.
    pub regressions: Vec<TrustRegression>,
}

impl TrustReport {
    /// Computes it.
    ///
    /// # Errors
    /// Where the history cannot be read, or no run has the label that is to make groups.
    pub fn compute_trust(snapshot: &mut HistorySnapshot, query: &TrustQuery) -> Result<Self, HistoryError> {
        if matches!(query.by, Some(GroupBy::Skill | GroupBy::Tool)) {
            snapshot.load_used()?;
        }
        let snapshot = &*snapshot;
        if let Some(GroupBy::Label(name)) = &query.by {
            snapshot.require_label(name)?;
        }
        let all = groups::group_all(snapshot, query.last)?;
        let groups = query.by.as_ref().map_or(Ok(Vec::new()), |by| groups::group_by(snapshot, by, query.last))?;
        Ok(Self {
            version: 1,
            last: query.last,
            by: query.by.as_ref().map(GroupBy::in_words),
            all,
            groups,
            flaky: unstable_results::find_flaky(snapshot, query.last)?,
            regressions: unstable_results::find_regressions(snapshot)?,
        })
    }

    /// True if every group reaches this score. A group without evidence does not.
    #[must_use]
    pub fn reaches_score(&self, least: f64) -> bool {
        let reaches = |group: &TrustGroup| group.score.is_some_and(|score| score >= least);
        match self.by {
            None => reaches(&self.all),
            Some(_) => !self.groups.is_empty() && self.groups.iter().all(reaches),
        }
    }

    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).map_or_else(|_| String::new(), |text| text + "\n")
    }
}
