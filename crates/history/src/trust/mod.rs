//! Measures how far runs can be trusted: STOP's trust score over the latest runs of each group, its confidence interval and trend, and flaky or
//! regressed assertions.

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

/// Default number of latest runs that count.
pub const LAST: usize = 100;

/// The categories of results in the trust score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedAs {
    /// As passed.
    Passed,
    /// In the total, but not as passed.
    NotPassed,
    /// Not at all, because the assertion did not apply to the run.
    Left,
}

impl CountedAs {
    /// Returns how a status counts. Expected failures count as passed; undecided results and errors do not.
    #[must_use]
    pub fn from_status(status: Status) -> Self {
        match status {
            Status::Passed | Status::ExpectedFailed => Self::Passed,
            Status::Failed | Status::UnexpectedPassed | Status::Undecided | Status::Error => Self::NotPassed,
            Status::Vacuous | Status::Skipped => Self::Left,
        }
    }
}

/// A query for the trust scores of a history.
#[derive(Debug, Clone)]
pub struct TrustQuery {
    /// Number of latest runs that count in each group.
    pub last: usize,
    /// Criterion by which runs are grouped; `None` for all runs together.
    pub by: Option<GroupBy>,
}

/// Trust scores of groups of runs. The JSON schema is `docs/schema/trust.schema.json`.
#[derive(Debug, Serialize)]
pub struct TrustReport {
    /// Version of the JSON format.
    pub version: u32,
    /// Number of latest runs that count in each group.
    pub last: usize,
    /// Criterion by which runs are grouped.
    pub by: Option<String>,
    /// All runs together.
    pub all: TrustGroup,
    /// The groups, sorted by name.
    pub groups: Vec<TrustGroup>,
    /// Assertions with different results for the same run under the same rules.
    pub flaky: Vec<FlakyResult>,
    /// Assertions that passed before and fail now.
    pub regressions: Vec<TrustRegression>,
}

impl TrustReport {
    /// Computes the trust report of a history.
    ///
    /// # Errors
    /// If the history cannot be read, or no run has the label to group by.
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

    /// Returns true if every group has at least this score. A group without a score has not.
    #[must_use]
    pub fn reaches_score(&self, least: f64) -> bool {
        let reaches = |group: &TrustGroup| group.score.is_some_and(|score| score >= least);
        match self.by {
            None => reaches(&self.all),
            Some(_) => !self.groups.is_empty() && self.groups.iter().all(reaches),
        }
    }

    /// Returns the report as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).map_or_else(|_| String::new(), |text| text + "\n")
    }
}
