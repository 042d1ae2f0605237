//! Totals of a chunk of runs, for reports that show no single runs, and lines of `jsonl` that are written without intermediate objects.

use super::gate::{Gate, GatePolicy};
use super::item_set::ItemSet;
use super::model::{ResultReport, RuleReport, RunReport, StatusSet};
use super::table::ReportTable;
use super::unjudged::{UnjudgedReport, UnjudgedTotals};
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::{RunOutcome, Status};
use averment_engine::vm::over_runs::RunsTally;
use rustc_hash::FxHashMap;

/// The totals of a chunk of runs.
#[derive(Debug, Default)]
pub struct ChunkTotals {
    /// The number of runs.
    pub runs: u64,
    /// The number of runs that did not pass.
    pub failed: u64,
    /// The number of runs that passed although nothing was exercised.
    pub idle: u32,
    /// The most severe gate.
    pub gate: Option<Gate>,
    /// The score of every run that has one, in order, since floating-point sums depend on the order.
    pub scores: Vec<f64>,
    /// For each item, the count of each status.
    pub counts: Vec<[u32; Status::ALL.len()]>,
    /// Steps that passing assertions could not judge.
    pub unjudged: UnjudgedTotals,
    /// Contributions to assertions over all runs, by program.
    pub over_runs: Vec<RunsTally>,
}

impl ChunkTotals {
    /// Adds the items to `into` that have a wanted status in some run.
    pub fn note_items(&self, is_wanted: fn(Status) -> bool, into: &mut ItemSet) {
        let wanted = Status::ALL.map(|status| if is_wanted(status) { u32::MAX } else { 0 });
        let has_wanted = |counts: &[u32; Status::ALL.len()]| {
            counts.iter().zip(&wanted).fold(0, |all, (count, wanted)| all | count & wanted) != 0
        };
        into.insert_wanted(self.counts.len(), |item| self.counts.get(item).is_some_and(has_wanted));
    }
}

/// The effect of a run's verdicts on its result.
#[derive(Debug, Clone)]
pub struct RunEffect {
    /// The effect on the exit code.
    pub gate: Gate,
    /// Its score.
    pub score: Option<f64>,
    /// By item; `None` if the assertion does not apply.
    statuses: Vec<Option<Status>>,
    unjudged: Vec<(usize, UnjudgedReport)>,
    /// The part of a `jsonl` line after the run's name, if lines are wanted.
    pub line: Option<LineTail>,
    /// The report of a run, if reports of runs are wanted and nothing of it but its name depends on the run.
    pub report: Option<Box<RunReport>>,
}

/// The part of a `jsonl` line after the run's name.
#[derive(Debug, Clone, Default)]
pub struct LineTail {
    /// The text before the findings.
    pub head: Vec<u8>,
    /// The findings, if they do not depend on the run.
    pub findings: Option<Vec<u8>>,
}

/// Cache from sets of verdicts to their effect on a run.
#[derive(Debug, Default)]
pub struct VerdictMemory {
    known: FxHashMap<Box<[u8]>, RunEffect>,
    bytes: usize,
}

/// Approximate size limit of the cache, in bytes.
const MOST: usize = 2 << 20;

impl VerdictMemory {
    /// Returns the cached effect of a set of verdicts.
    #[must_use]
    pub fn get(&self, verdicts: &[u8]) -> Option<&RunEffect> {
        self.known.get(verdicts)
    }

    /// Caches the effect of a set of verdicts.
    pub fn remember_effect(&mut self, verdicts: &[u8], judged: RunEffect) {
        let is_finished = judged.report.is_some() || judged.line.as_ref().is_some_and(|line| line.findings.is_some());
        if !is_finished && self.known.contains_key(verdicts) {
            return;
        }
        let line = judged.line.as_ref().map_or(0, |line| line.head.len() + line.findings.as_ref().map_or(0, Vec::len));
        let results = judged.report.iter().flat_map(|report| &report.results);
        let report: usize = results.map(|result| size_of::<ResultReport>() + 2 * result.reason.len()).sum();
        self.bytes += 128 + 2 * verdicts.len() + line + report;
        if self.bytes > MOST {
            self.known.clear();
            self.bytes = 0;
            return;
        }
        self.known.insert(verdicts.into(), judged);
    }
}

impl RunEffect {
    /// Computes the effect from outcomes. `said` has the unjudged steps, by item.
    #[must_use]
    pub fn from_outcomes(
        table: &ReportTable,
        outcomes: &[RunOutcome],
        policy: GatePolicy,
        said: Vec<(usize, UnjudgedReport)>,
    ) -> Self {
        let mut statuses = vec![None; table.items.len()];
        let (mut results, mut rules) = (Vec::with_capacity(table.items.len()), Vec::new());
        for (program, outcome) in outcomes.iter().enumerate() {
            for one in &outcome.results {
                let Some(item) = table.item_index(program, one.assertion) else { continue };
                if let Some(status) = statuses.get_mut(item) {
                    *status = Some(one.status);
                }
                let bare = ResultReport::bare_result(item, one.verdict, one.status, one.score);
                let said = said.iter().find(|(other, _)| *other == item).map(|(_, said)| said.clone());
                results.push(ResultReport { unjudged: said, ..bare });
            }
            rules.extend(outcome.rules.iter().filter_map(|one| {
                let rule = table.rule_index(program, one.rule)?;
                Some(RuleReport {
                    rule,
                    verdict: one.verdict,
                    passed: one.passed,
                    score: one.score,
                    known: false,
                    block: None,
                })
            }));
        }
        let gate = table.run_gate(&results, &rules, policy);
        let score = super::model::mean_score(outcomes.iter().filter_map(|outcome| outcome.score));
        Self { gate, score, statuses, unjudged: said, line: None, report: None }
    }

    /// True if a result has one of these statuses.
    #[must_use]
    pub fn has_status_in(&self, told: StatusSet) -> bool {
        self.statuses.iter().flatten().any(|status| told.contains(*status))
    }
}

impl ChunkTotals {
    /// Counts a run.
    pub fn add_run(&mut self, judged: &RunEffect) {
        self.runs += 1;
        self.failed += u64::from(judged.gate != Gate::Open);
        let mut statuses = judged.statuses.iter().flatten();
        self.idle += u32::from(judged.gate == Gate::Open && !statuses.any(|status| status.is_exercised()));
        self.gate = self.gate.max(Some(judged.gate));
        self.scores.extend(judged.score);
        self.counts.resize(judged.statuses.len(), [0; Status::ALL.len()]);
        for (counts, status) in self.counts.iter_mut().zip(&judged.statuses) {
            if let Some(count) = status.and_then(|status| counts.get_mut(status as usize)) {
                *count += 1;
            }
        }
        judged.unjudged.iter().for_each(|(item, unjudged)| self.unjudged.add_report(*item, unjudged));
    }
}

/// Returns the byte that represents a verdict in a cache key.
#[must_use]
pub fn verdict_byte(verdict: Verdict) -> u8 {
    verdict as u8
}
