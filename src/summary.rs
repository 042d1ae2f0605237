//! Counts over many runs.

use crate::error::RunError;
use averment_bulk::judge::RunResult;
use averment_bulk::pipeline::Pipeline;
use averment_bulk::workers::MissingRuns;
use averment_report::gate::Gate;
use averment_report::totals::{Counts, RunTotals};

/// Counts over the runs of a batch.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    pub(crate) totals: RunTotals,
    /// True if there may be more runs without verdicts than were counted.
    more: bool,
    /// True if some assertion applies to every run.
    asks_every_run: bool,
}

impl Summary {
    pub(crate) fn new(pipeline: &Pipeline) -> Self {
        Self { asks_every_run: pipeline.table.asks_every_run(), ..Self::default() }
    }

    /// Returns the number of judged runs.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.totals.runs
    }

    /// Returns the number of failed runs.
    #[must_use]
    pub fn runs_failed(&self) -> u64 {
        self.totals.runs_failed
    }

    /// Returns the number of traces or runs that could not be read.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.totals.unreadable
    }

    /// Returns the known number of runs without verdicts, because their evaluation or a thread panicked. Zero means that no run was lost.
    #[must_use]
    pub fn not_judged(&self) -> u64 {
        self.totals.not_judged.max(u64::from(self.more))
    }

    /// Returns the results of all runs by status.
    #[must_use]
    pub fn results(&self) -> Counts {
        self.totals.counts
    }

    /// Returns the mean score of all runs that have one.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        self.totals.mean_score()
    }

    /// Returns true if every run was read and judged, none failed, and something was checked. `aver check` has exit code 0 in this case.
    #[must_use]
    pub fn passed(&self) -> bool {
        let counts = &self.totals.counts;
        let judged = self.totals.unreadable == 0 && self.not_judged() == 0;
        let asked = counts.all_results() > counts.skipped || counts.skipped > 0 && self.asks_every_run;
        judged && self.totals.gate.unwrap_or(Gate::Open) == Gate::Open && asked
    }

    /// Adds the counts of other runs that were judged by the same rules.
    pub fn add_summary(&mut self, other: &Self) {
        self.totals.add_totals(&other.totals);
        self.more |= other.more;
        self.asks_every_run |= other.asks_every_run;
    }

    pub(crate) fn count_result(&mut self, done: &RunResult) {
        match done {
            RunResult::Run(report) => self.totals.add_run(report),
            RunResult::Unreadable(_) => self.totals.unreadable += 1,
            RunResult::Fault(_) => self.totals.not_judged += 1,
            RunResult::Lines(_) | RunResult::Example(_) => {}
        }
    }

    /// Counts runs without verdicts; returns the error if there are any.
    pub(crate) fn count_lost(&mut self, runs: u64, more: bool) -> Option<RunError> {
        self.totals.not_judged += runs;
        self.more |= more;
        (runs > 0 || more).then_some(RunError::Lost { runs, more })
    }

    /// Counts the runs that panicked threads lost. A thread that panics after all runs were judged lost none.
    pub(crate) fn count_missing(&mut self, broken: MissingRuns) -> Option<RunError> {
        self.count_lost(broken.lost.runs, broken.lost.more)
    }
}
