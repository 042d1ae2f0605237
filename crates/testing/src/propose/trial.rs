//! Candidates on trial: each is compiled, and judged on every run by the evaluator that will judge the written file.

use super::{Candidate, Topic};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_base::truth::Verdict;
use averment_engine::bytecode::program::Program;
use averment_engine::check::files::Memory;
use averment_engine::check::{CheckOptions, check};
use averment_engine::compile::compile;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate};
use averment_engine::vm::prepare::Prepared;
use averment_ide::lint::{LintOptions, report};
use averment_runs::run::Run;
use bumpalo::Bump;
use std::collections::BTreeSet;

/// A rule that held on all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The rule.
    pub candidate: Candidate,
    /// On how many runs it was exercised and held; on all others there was nothing to exercise it.
    pub support: u64,
}

/// From so many runs on, what only one of them exercised is chance.
const MANY: u64 = 4;

/// Candidates that can be judged.
pub struct CandidateTrial {
    candidates: Vec<Candidate>,
    program: Program,
    prepared: Prepared,
}

/// What came of judging runs. It stands beside the trial, because a run that is judged holds on to the program.
#[derive(Debug, Clone, Default)]
pub struct TrialTotals {
    /// For each candidate the runs on which it was exercised and held; `None` after one on which it did not hold.
    held: Vec<Option<u64>>,
    runs: u64,
}

impl TrialTotals {
    /// Remembers the verdicts of one run.
    pub fn record(&mut self, verdicts: &[Verdict]) {
        self.runs += 1;
        self.held.resize(self.held.len().max(verdicts.len()), Some(0));
        for (held, verdict) in self.held.iter_mut().zip(verdicts) {
            *held = match verdict {
                Verdict::Pass => held.map(|count| count + 1),
                Verdict::Vacuous => *held,
                _ => None,
            };
        }
    }
}

impl CandidateTrial {
    /// Candidates that compile, without any remark of the linter.
    #[must_use]
    pub fn new(candidates: Vec<Candidate>) -> Self {
        let fine = |candidate: &Candidate| compiled(std::slice::from_ref(candidate)).is_some();
        let mut candidates: Vec<Candidate> = candidates.into_iter().filter(fine).collect();
        let program = compiled(&candidates).unwrap_or_else(|| {
            // Two of them say something about each other: they are taken one by one as long as nothing is to be said.
            let mut kept: Vec<Candidate> = Vec::new();
            for candidate in std::mem::take(&mut candidates) {
                kept.push(candidate);
                if compiled(&kept).is_none() {
                    kept.pop();
                }
            }
            candidates = kept;
            compiled(&candidates).unwrap_or_default()
        });
        Self { prepared: Prepared::new(&program), program, candidates }
    }

    /// Judges one run; [`TrialTotals::record`] remembers what came of it. `arena` is the one that the run was read into.
    #[must_use]
    pub fn judge<'run>(&'run self, run: &'run Run<'run>, arena: &'run Bump) -> Vec<Verdict> {
        let outcome = evaluate(&self.program, &self.prepared, run, arena, &EvaluateOptions::default());
        outcome.results.into_iter().map(|result| result.verdict).collect()
    }

    /// What held on all runs and was exercised, without what others say better: as many of each topic as a person reads.
    #[must_use]
    pub fn proposals(&self, totals: &TrialTotals) -> Vec<Proposal> {
        let least = if totals.runs >= MANY { 2 } else { 1 };
        let held = self.candidates.iter().zip(&totals.held);
        let exercised = |candidate: &Candidate, held: Option<u64>| {
            let support = held.filter(|&count| count >= least)?;
            Some(Proposal { candidate: candidate.clone(), support })
        };
        let mut held: Vec<Proposal> = held.filter_map(|(candidate, held)| exercised(candidate, *held)).collect();
        let covered: BTreeSet<String> = held.iter().flat_map(|one| one.candidate.covers.clone()).collect();
        held.retain(|one| !covered.contains(&one.candidate.text));
        let mut all = Vec::new();
        for topic in Topic::ALL {
            let mut own: Vec<Proposal> = held.iter().filter(|one| one.candidate.topic == topic).cloned().collect();
            own.sort_by_key(|one| std::cmp::Reverse(one.support));
            own.truncate(topic.most());
            all.extend(own);
        }
        all
    }
}

/// The program of these candidates, an assertion each; `None` where anything is to be said about them.
fn compiled(candidates: &[Candidate]) -> Option<Program> {
    let needs: BTreeSet<&str> = candidates.iter().map(|candidate| candidate.needs.as_str()).collect();
    let lines: Vec<&str> =
        needs.into_iter().chain(candidates.iter().map(|candidate| candidate.text.as_str())).collect();
    program(&lines.join("\n"))
}

/// The program of a text about which nothing is to be said.
pub(super) fn program(text: &str) -> Option<Program> {
    let mut sources = SourceMap::default();
    let root = sources.add(SourceFile::new("proposed.assert", None, text));
    let files = Memory::default();
    let checked = check(&mut sources, root, &CheckOptions { limits: Limits::default(), files: &files });
    let said = report(&sources, root, &checked, &LintOptions::default());
    said.0.is_empty().then(|| compile(&checked.module, &sources))
}
