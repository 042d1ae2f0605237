//! Tries out candidates: each is compiled, and judged on every run by the evaluator that will judge the written file.

use super::{RuleCandidate, Topic};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_base::truth::Verdict;
use averment_checker::files::Memory;
use averment_checker::{CheckOptions, check_rules};
use averment_engine::bytecode::program::Program;
use averment_engine::compile::compile;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate};
use averment_engine::vm::prepare::PreparedProgram;
use averment_ide::lint::{LintOptions, report_file};
use averment_runs::run::Run;
use bumpalo::Bump;
use std::collections::BTreeSet;

/// A rule that held on all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleProposal {
    /// The rule.
    pub candidate: RuleCandidate,
    /// Number of runs that exercised it and in which it held; the others did not exercise it.
    pub support: u64,
}

/// From this number of runs on, a single exercised run counts as chance.
const MANY: u64 = 4;

/// The candidates that compile.
pub struct CandidateTrial {
    candidates: Vec<RuleCandidate>,
    program: Program,
    prepared: PreparedProgram,
}

/// Results of judging runs; separate from the trial, because a judged run borrows the program.
#[derive(Debug, Clone, Default)]
pub struct TrialTotals {
    /// Number of runs in which each candidate was exercised and held; `None` once it failed.
    held: Vec<Option<u64>>,
    runs: u64,
}

impl TrialTotals {
    /// Adds the verdicts of one run.
    pub fn record_run(&mut self, verdicts: &[Verdict]) {
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
    /// Keeps the candidates that compile without any lint finding.
    #[must_use]
    pub fn new(candidates: Vec<RuleCandidate>) -> Self {
        let fine = |candidate: &RuleCandidate| compile_candidates(std::slice::from_ref(candidate)).is_some();
        let mut candidates: Vec<RuleCandidate> = candidates.into_iter().filter(fine).collect();
        let program = compile_candidates(&candidates).unwrap_or_else(|| {
            // Together, some candidates cause a lint finding. So they are added one by one, and a candidate that causes one is dropped.
            let mut kept: Vec<RuleCandidate> = Vec::new();
            for candidate in std::mem::take(&mut candidates) {
                kept.push(candidate);
                if compile_candidates(&kept).is_none() {
                    kept.pop();
                }
            }
            candidates = kept;
            compile_candidates(&candidates).unwrap_or_default()
        });
        Self { prepared: PreparedProgram::new(&program), program, candidates }
    }

    /// Judges one run; pass the result to [`TrialTotals::record_run`]. `arena` must be the one that the run was read into.
    #[must_use]
    pub fn judge_run<'run>(&'run self, run: &'run Run<'run>, arena: &'run Bump) -> Vec<Verdict> {
        let outcome = evaluate(&self.program, &self.prepared, run, arena, &EvaluateOptions::default());
        outcome.results.into_iter().map(|result| result.verdict).collect()
    }

    /// Returns the candidates that held on all runs and were exercised, without redundant ones; limited per topic.
    #[must_use]
    pub fn held_proposals(&self, totals: &TrialTotals) -> Vec<RuleProposal> {
        let least = if totals.runs >= MANY { 2 } else { 1 };
        let held = self.candidates.iter().zip(&totals.held);
        let exercised = |candidate: &RuleCandidate, held: Option<u64>| {
            let support = held.filter(|&count| count >= least)?;
            Some(RuleProposal { candidate: candidate.clone(), support })
        };
        let mut held: Vec<RuleProposal> = held.filter_map(|(candidate, held)| exercised(candidate, *held)).collect();
        let covered: BTreeSet<String> = held.iter().flat_map(|one| one.candidate.covers.clone()).collect();
        held.retain(|one| !covered.contains(&one.candidate.text));
        let mut all = Vec::new();
        for topic in Topic::ALL {
            let mut own: Vec<RuleProposal> = held.iter().filter(|one| one.candidate.topic == topic).cloned().collect();
            own.sort_by_key(|one| std::cmp::Reverse(one.support));
            own.truncate(topic.most_proposals());
            all.extend(own);
        }
        all
    }
}

/// Compiles candidates to one assertion each; returns `None` if there is any diagnostic.
fn compile_candidates(candidates: &[RuleCandidate]) -> Option<Program> {
    let needs: BTreeSet<&str> = candidates.iter().map(|candidate| candidate.needs.as_str()).collect();
    let lines: Vec<&str> =
        needs.into_iter().chain(candidates.iter().map(|candidate| candidate.text.as_str())).collect();
    compile_text(&lines.join("\n"))
}

/// Compiles a text; returns `None` if there is any diagnostic.
pub(super) fn compile_text(text: &str) -> Option<Program> {
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new("proposed.assert", None, text));
    let files = Memory::default();
    let checked = check_rules(&mut sources, root, &CheckOptions { limits: Limits::default(), files: &files });
    let said = report_file(&sources, root, &checked, &LintOptions::default());
    said.0.is_empty().then(|| compile(&checked.module, &sources))
}
