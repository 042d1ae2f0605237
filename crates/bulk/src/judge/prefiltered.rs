//! A program with its prefilter, and what one thread remembers of its assertions.

use super::over_runs::ProgramOverRuns;
use crate::prefilter::{PrefilterAnswer, AssertionReads, EvaluationRules, Prefilter, PrefilterScratch};
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::AssertionOutcome;

/// A program with its prefilter.
pub(super) struct PrefilteredProgram<'p> {
    pub(super) rules: EvaluationRules<'p>,
    pub(super) prefilter: Prefilter,
    /// What the evaluation of each assertion looks at, in the order of the answers.
    pub(super) assertion_reads: Vec<AssertionReads>,
    pub(super) scratch: PrefilterScratch,
    /// Its assertions over runs.
    pub(super) over_runs: ProgramOverRuns<'p>,
    /// Outcomes of assertions that nothing exercised: they are the same for every run.
    pub(super) idle: Vec<Option<AssertionOutcome>>,
    /// What lines say of assertions that pass, and of those that nothing exercised, by number: it is the same for every run.
    pub(super) said: Vec<[Option<Box<[u8]>>; 2]>,
    /// How many names of calls, and how many assertions that something missing skips, were handed on.
    pub(super) named: usize,
    pub(super) skipped: usize,
}

impl PrefilteredProgram<'_> {
    pub(super) fn is_known(&self, number: u32) -> bool {
        self.idle.get(number as usize).is_some_and(Option::is_some)
    }

    /// Whether an assertion has to be evaluated on the run.
    pub(super) fn needs_evaluation(&self, number: u32, answer: PrefilterAnswer, findings: bool) -> bool {
        match answer {
            PrefilterAnswer::Open => true,
            PrefilterAnswer::Pass => findings && self.speaks_of_a_pass(number),
            PrefilterAnswer::Idle => findings && !self.is_known(number),
            _ => findings,
        }
    }

    /// Whether an assertion has a message for a pass: one that is expected to fail says it where it passes.
    pub(super) fn speaks_of_a_pass(&self, number: u32) -> bool {
        let assertion = self.rules.program.assertions.get(number as usize);
        assertion.is_some_and(|one| one.settings.expect_fail.is_some() && one.settings.message.is_some())
    }

    /// Remembers the outcome of an assertion that nothing exercised, where nothing in it is of the run.
    pub(super) fn learn_outcome(&mut self, number: u32, outcome: AssertionOutcome) {
        if outcome.verdict == Verdict::Vacuous
            && outcome.evidence.is_empty()
            && outcome.message.is_none()
            && let Some(place) = self.idle.get_mut(number as usize)
        {
            *place = Some(outcome);
        }
    }
}
