//! What is kept of every assertion and rule until the report is written.

use crate::model::{ResultReport, RunReport};
use crate::table::ReportTable;
use crate::totals::Counts;
use averment_base::diagnostic::render::one_line;
use averment_engine::vm::outcome::{Role, Status};

/// Names of runs in a list.
pub(super) const NAMES: usize = 5;

/// What is kept of an assertion over all runs.
#[derive(Debug, Default, Clone)]
pub(super) struct ItemTally {
    /// How often it came out how.
    pub(super) counts: Counts,
    /// Failures that fail their runs.
    pub(super) gating: u64,
    /// Failures that are drawn.
    pub(super) drawn: u64,
    /// Names of the first runs that failed.
    pub(super) failed_in: Vec<String>,
    /// The first failure.
    pub(super) example: Option<FirstFailure>,
    /// The first run and reason of each status that is listed.
    pub(super) reasons: Vec<(ResultList, String, String)>,
}

/// In which list a result stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultList {
    /// In that of its status.
    Status(Status),
    /// In that of what a baseline knows.
    Known,
}

impl ResultList {
    fn of_result(result: &ResultReport) -> Self {
        if result.known { Self::Known } else { Self::Status(result.status) }
    }
}

impl ItemTally {
    /// How many results stand in a list.
    pub(super) fn listed_count(&self, listed: ResultList) -> u64 {
        match listed {
            ResultList::Status(status) => self.counts.with_status(status),
            ResultList::Known => self.counts.known,
        }
    }

    /// How often it failed, or passed where a failure is expected.
    pub(super) fn failed_count(&self) -> u64 {
        self.counts.fail + self.counts.unexpected_passed
    }

    /// Whether no run decided it, and in some nothing exercised it.
    pub(super) fn never_exercised(&self) -> bool {
        let Counts { pass, vacuous, expected_failed, undecided, error, known, .. } = self.counts;
        vacuous > 0 && self.failed_count() + pass + expected_failed + undecided + error + known == 0
    }

    /// Counts a result, and keeps the first reason of its status.
    pub(super) fn add_result(&mut self, run: &RunReport, result: &ResultReport) {
        self.counts.add_result(result);
        let listed = self.reasons.iter().any(|(listed, ..)| *listed == ResultList::of_result(result));
        if !listed && result.status != Status::Skipped {
            self.reasons.push((ResultList::of_result(result), run.run.clone(), result.reason.clone()));
        }
    }
}

/// The first failure of an assertion, in a few words.
#[derive(Debug, Clone)]
pub(super) struct FirstFailure {
    /// The author's message where there is one, otherwise the reason.
    pub(super) said: String,
    /// The step or value of the trace that decided it, as it is drawn; empty where there is none.
    pub(super) step: String,
    /// Where that stands: a file with its line, or the name of the run.
    pub(super) place: String,
    /// The whole picture, where it is short enough to be kept.
    pub(super) picture: String,
}

impl FirstFailure {
    /// The example that a failure gives.
    pub(super) fn of_failure(table: &ReportTable, run: &RunReport, result: &ResultReport, picture: String) -> Self {
        let text = table.items.get(result.item).map_or("", |item| item.text.as_str());
        let decides = |number: &usize| result.evidence.get(*number).is_some_and(|one| one.role == Role::Decisive);
        let decisive = result.excerpts.iter().find(|one| one.marks.iter().any(|(number, _)| decides(number)));
        let excerpt = decisive.or_else(|| result.excerpts.first());
        let said = match (&result.message, result.status) {
            (_, Status::UnexpectedPassed) => "this passed, but a failure is expected",
            (Some(message), _) => message,
            (None, _) if result.reason.is_empty() => text,
            (None, _) => &result.reason,
        };
        Self {
            said: one_line(said).into_owned(),
            step: excerpt.map(|excerpt| one_line(&excerpt.text).into_owned()).unwrap_or_default(),
            place: match excerpt {
                Some(excerpt) => format!("{}:{}", one_line(&run.file), excerpt.line),
                None => one_line(&run.run).into_owned(),
            },
            picture,
        }
    }
}

/// What is kept of a rule with a threshold.
#[derive(Debug, Default, Clone)]
pub(super) struct RuleTally {
    /// Runs below the threshold.
    pub(super) below: u64,
    /// The first of them, with its score.
    pub(super) first: Option<(String, Option<f64>)>,
}
