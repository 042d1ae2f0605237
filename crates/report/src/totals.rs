//! Counts over all runs.

use super::chunk_totals::ChunkTotals;
use super::gate::Gate;
use super::model::{ResultReport, RunReport};
use averment_engine::vm::outcome::Status;
use serde::Serialize;

/// Counts over results, by status. Every result is counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "each is the word itself")]
pub struct Counts {
    pub pass: u64,
    pub fail: u64,
    pub vacuous: u64,
    pub undecided: u64,
    pub error: u64,
    pub skipped: u64,
    pub expected_failed: u64,
    pub unexpected_passed: u64,
    /// Number of failures that a [baseline](super::baseline) knows, whatever their status.
    #[serde(skip_serializing_if = "is_zero")]
    pub known: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    /// Counts one result.
    pub fn add_result(&mut self, result: &ResultReport) {
        if result.known {
            self.known += 1;
        } else {
            self.add_many(result.status, 1);
        }
    }

    /// Counts results of one status.
    pub fn add_many(&mut self, status: Status, number: u64) {
        let count = match status {
            Status::Passed => &mut self.pass,
            Status::Failed => &mut self.fail,
            Status::Vacuous => &mut self.vacuous,
            Status::Undecided => &mut self.undecided,
            Status::Error => &mut self.error,
            Status::Skipped => &mut self.skipped,
            Status::ExpectedFailed => &mut self.expected_failed,
            Status::UnexpectedPassed => &mut self.unexpected_passed,
        };
        *count += number;
    }

    /// Returns the number of results with a status.
    #[must_use]
    pub fn with_status(&self, status: Status) -> u64 {
        match status {
            Status::Passed => self.pass,
            Status::Failed => self.fail,
            Status::Vacuous => self.vacuous,
            Status::Undecided => self.undecided,
            Status::Error => self.error,
            Status::Skipped => self.skipped,
            Status::ExpectedFailed => self.expected_failed,
            Status::UnexpectedPassed => self.unexpected_passed,
        }
    }

    /// Returns the number of results.
    #[must_use]
    pub fn all_results(&self) -> u64 {
        self.pass
            + self.fail
            + self.vacuous
            + self.undecided
            + self.error
            + self.skipped
            + self.expected_failed
            + self.unexpected_passed
            + self.known
    }

    /// True if there are results, and all are vacuous or skipped.
    #[must_use]
    pub fn nothing_exercised(&self) -> bool {
        self.all_results() > 0 && self.vacuous + self.skipped == self.all_results()
    }

    /// Returns words such as `4 passed, 1 failed, 1 vacuous`: the nonzero counts, in the order of reports.
    #[must_use]
    pub fn in_words(&self) -> String {
        let parts: Vec<String> = [
            (self.fail, "failed"),
            (self.unexpected_passed, "passed unexpectedly"),
            (self.error, "could not be evaluated"),
            (self.undecided, "undecided"),
            (self.pass, "passed"),
            (self.expected_failed, "failed as expected"),
            (self.known, "known"),
            (self.vacuous, "vacuous"),
            (self.skipped, "skipped"),
        ]
        .into_iter()
        .filter(|&(count, _)| count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
        parts.join(", ")
    }
}

/// Counts over runs.
#[derive(Debug, Clone, Default)]
pub struct RunTotals {
    /// Number of judged runs.
    pub runs: u64,
    /// The number of these runs that failed.
    pub runs_failed: u64,
    /// Number of runs that passed without exercising anything.
    pub runs_idle: u64,
    /// Number of traces or lines that could not be read.
    pub unreadable: u64,
    /// Number of runs without verdicts, because their evaluation panicked or was interrupted.
    pub not_judged: u64,
    /// True if there may be more of them; the number is then a lower bound.
    pub not_judged_at_least: bool,
    /// The results of all runs.
    pub counts: Counts,
    /// The most severe gate of all runs, and of the results over all runs.
    pub gate: Option<Gate>,
    /// The gate of the results over all runs.
    pub over_runs: Option<Gate>,
    scores: f64,
    scored: u64,
}

impl RunTotals {
    /// Counts a run.
    pub fn add_run(&mut self, run: &RunReport) {
        if run.over_runs {
            self.over_runs = Some(run.gate);
        } else {
            self.runs += 1;
            self.runs_failed += u64::from(!run.passed());
            self.runs_idle += u64::from(run.passed() && !run.results.iter().any(|one| one.status.is_exercised()));
        }
        for result in &run.results {
            self.counts.add_result(result);
        }
        if let Some(score) = run.score {
            self.scores += score;
            self.scored += 1;
        }
        self.gate = self.gate.max(Some(run.gate));
    }

    /// Counts a chunk of runs.
    pub fn add_chunk(&mut self, chunk: &ChunkTotals) {
        self.runs += chunk.runs;
        self.runs_failed += chunk.failed;
        self.runs_idle += u64::from(chunk.idle);
        self.gate = self.gate.max(chunk.gate);
        let mut sums = [0_u64; Status::ALL.len()];
        for counts in &chunk.counts {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.wrapping_add(u64::from(*count)));
        }
        Status::ALL.into_iter().zip(sums).for_each(|(status, sum)| self.counts.add_many(status, sum));
        for score in &chunk.scores {
            self.scores += score;
            self.scored += 1;
        }
    }

    /// Adds the counts of other runs of the same rules.
    pub fn add_totals(&mut self, other: &Self) {
        self.runs += other.runs;
        self.runs_failed += other.runs_failed;
        self.runs_idle += other.runs_idle;
        self.unreadable += other.unreadable;
        self.not_judged += other.not_judged;
        self.not_judged_at_least |= other.not_judged_at_least;
        for status in Status::ALL {
            self.counts.add_many(status, other.counts.with_status(status));
        }
        self.counts.known += other.counts.known;
        self.gate = self.gate.max(other.gate);
        self.over_runs = self.over_runs.max(other.over_runs);
        self.scores += other.scores;
        self.scored += other.scored;
    }

    /// Returns the number of runs without verdicts, as `3` or `at least 3`; `None` if all were judged.
    #[must_use]
    pub fn missing_count(&self) -> Option<String> {
        let least = if self.not_judged_at_least { "at least " } else { "" };
        (self.not_judged > 0).then(|| format!("{least}{}", self.not_judged))
    }

    /// Returns the number of runs without verdicts, with the noun: `at least 3 runs`.
    #[must_use]
    pub fn missing_runs(&self) -> Option<String> {
        self.missing_count().map(|count| format!("{count} run{}", if self.not_judged == 1 { "" } else { "s" }))
    }

    /// Returns the mean score of all runs that have one.
    #[must_use]
    pub fn mean_score(&self) -> Option<f64> {
        (self.scored > 0).then(|| self.scores / self.scored as f64)
    }
}
