//! Data about every assertion and rule, collected until the report is written.

use crate::model::{ResultReport, RunReport};
use crate::table::ReportTable;
use crate::totals::Counts;
use averment_base::diagnostic::render::one_line;
use averment_engine::vm::outcome::{Role, Status};

/// Maximum number of run names in a list.
pub(super) const NAMES: usize = 5;

#[derive(Debug, Default, Clone)]
pub(super) struct ItemTally {
    pub(super) counts: Counts,
    /// True if a statement over all runs expects failures, so that they are no findings.
    pub(super) is_to_fail: bool,
    pub(super) drawn: u64,
    pub(super) failed_in: Vec<String>,
    pub(super) example: Option<FirstFailure>,
    pub(super) reasons: Vec<(ResultList, String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultList {
    Status(Status),
    Known,
}

impl ResultList {
    fn of_result(result: &ResultReport) -> Self {
        if result.known { Self::Known } else { Self::Status(result.status) }
    }
}

impl ItemTally {
    pub(super) fn listed_count(&self, listed: ResultList) -> u64 {
        match listed {
            ResultList::Status(status) => self.counts.with_status(status),
            ResultList::Known => self.counts.known,
        }
    }

    /// Returns the number of failures, including passes of assertions that are expected to fail.
    pub(super) fn failed_count(&self) -> u64 {
        self.counts.fail + self.counts.unexpected_passed
    }

    pub(super) fn never_exercised(&self) -> bool {
        let Counts { pass, vacuous, expected_failed, undecided, error, known, .. } = self.counts;
        vacuous > 0 && self.failed_count() + pass + expected_failed + undecided + error + known == 0
    }

    /// Counts results of many runs, by status.
    pub(super) fn add_counts(&mut self, counts: &[u32; Status::ALL.len()]) {
        let told =
            Status::ALL.into_iter().zip(counts).filter(|(status, _)| *status != Status::Failed || !self.is_to_fail);
        told.for_each(|(status, count)| self.counts.add_many(status, u64::from(*count)));
    }

    /// Keeps the first reason for each list.
    pub(super) fn keep_reason(&mut self, run: &RunReport, result: &ResultReport) {
        let listed = self.reasons.iter().any(|(listed, ..)| *listed == ResultList::of_result(result));
        if !listed && result.status != Status::Skipped {
            self.reasons.push((ResultList::of_result(result), run.run.clone(), result.reason.clone()));
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct FirstFailure {
    pub(super) said: String,
    /// The step or value that decided, as drawn; empty if there is none.
    pub(super) step: String,
    /// A file and line, or the name of the run.
    pub(super) place: String,
    /// The complete drawing; empty if it is too long to keep.
    pub(super) picture: String,
}

impl FirstFailure {
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

#[derive(Debug, Default, Clone)]
pub(super) struct RuleTally {
    pub(super) below: u64,
    pub(super) first: Option<(String, Option<f64>)>,
}
