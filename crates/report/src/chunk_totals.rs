//! Totals of a chunk of runs, for reports that show no single run, and lines of `jsonl` without a detour over objects.

use super::gate::{Gate, Policy};
use super::model::{ResultReport, RuleReport};
use super::table::Table;
use super::unjudged::{UnjudgedReport, UnjudgedTotals};
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::{Outcome, Status};
use averment_engine::vm::over_runs::Tally;
use rustc_hash::FxHashMap;

/// The totals of a chunk of runs.
#[derive(Debug, Default)]
pub struct ChunkTotals {
    /// How many runs.
    pub runs: u64,
    /// How many of them did not pass.
    pub failed: u64,
    /// How many of them passed without that anything was exercised.
    pub idle: u32,
    /// The gravest gate.
    pub gate: Option<Gate>,
    /// The score of every run that has one, in order: sums depend on the order.
    pub scores: Vec<f64>,
    /// How often each item has each status.
    pub counts: Vec<[u32; Status::ALL.len()]>,
    /// What could not be judged of assertions that pass.
    pub unjudged: UnjudgedTotals,
    /// What its runs give to the assertions over runs, by program.
    pub over_runs: Vec<Tally>,
}

/// What the verdicts of a run make of it.
#[derive(Debug, Clone)]
pub struct Judged {
    /// What it does to the exit code.
    pub gate: Gate,
    /// Its score.
    pub score: Option<f64>,
    /// The statuses by item; `None` for one that does not apply.
    statuses: Vec<Option<Status>>,
    /// What could not be judged, by item.
    unjudged: Vec<(usize, UnjudgedReport)>,
    /// What a line of `jsonl` says behind the name of the run, where lines are wanted.
    pub line: Option<Behind>,
}

/// What a line says behind the name of its run.
#[derive(Debug, Clone, Default)]
pub struct Behind {
    /// Up to the findings.
    pub head: Vec<u8>,
    /// The findings, where nothing of them depends on the run.
    pub findings: Option<Vec<u8>>,
}

/// Sets of verdicts that were seen before, with what they make of a run.
#[derive(Debug, Default)]
pub struct Memory {
    known: FxHashMap<Box<[u8]>, Judged>,
    bytes: usize,
}

/// Sets of verdicts are kept in so much memory, about.
const MOST: usize = 2 << 20;

impl Memory {
    /// What is known of a set of verdicts.
    #[must_use]
    pub fn get(&self, verdicts: &[u8]) -> Option<&Judged> {
        self.known.get(verdicts)
    }

    /// Keeps what a set of verdicts makes of a run.
    pub fn keep(&mut self, verdicts: &[u8], judged: Judged) {
        let finished = |judged: &Judged| judged.line.as_ref().is_some_and(|line| line.findings.is_some());
        if !finished(&judged) && self.known.contains_key(verdicts) {
            return;
        }
        let line = judged.line.as_ref().map_or(0, |line| line.head.len() + line.findings.as_ref().map_or(0, Vec::len));
        self.bytes += 128 + 2 * verdicts.len() + line;
        if self.bytes > MOST {
            self.known.clear();
            self.bytes = 0;
            return;
        }
        self.known.insert(verdicts.into(), judged);
    }
}

impl Judged {
    /// What outcomes make of a run; `said` is what could not be judged, by item.
    #[must_use]
    pub fn of(table: &Table, outcomes: &[Outcome], policy: Policy, said: Vec<(usize, UnjudgedReport)>) -> Self {
        let mut statuses = vec![None; table.items.len()];
        let (mut results, mut rules) = (Vec::with_capacity(table.items.len()), Vec::new());
        for (program, outcome) in outcomes.iter().enumerate() {
            for one in &outcome.results {
                let Some(item) = table.item(program, one.assertion) else { continue };
                if let Some(status) = statuses.get_mut(item) {
                    *status = Some(one.status);
                }
                let bare = ResultReport::bare(item, one.verdict, one.status, one.score);
                let said = said.iter().find(|(other, _)| *other == item).map(|(_, said)| said.clone());
                results.push(ResultReport { unjudged: said, ..bare });
            }
            rules.extend(outcome.rules.iter().filter_map(|one| {
                let rule = table.rule(program, one.rule)?;
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
        let score = super::model::mean(outcomes.iter().filter_map(|outcome| outcome.score));
        Self { gate, score, statuses, unjudged: said, line: None }
    }
}

impl ChunkTotals {
    /// Counts a run.
    pub fn add(&mut self, judged: &Judged) {
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
        judged.unjudged.iter().for_each(|(item, unjudged)| self.unjudged.add(*item, unjudged));
    }
}

/// The byte of a verdict in a set of them.
#[must_use]
pub fn byte(verdict: Verdict) -> u8 {
    verdict as u8
}
