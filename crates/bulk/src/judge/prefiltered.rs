//! A program with its prefilter, and what one thread remembers of its assertions.

use super::over_runs::OverRunsOf;
use crate::prefilter::{Answer, AssertionReads, Compiled, Prefilter, Scratch};
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::AssertionOutcome;

/// A program with its prefilter.
pub(super) struct Prefiltered<'p> {
    pub(super) rules: Compiled<'p>,
    pub(super) prefilter: Prefilter,
    /// What the evaluation of each assertion looks at, in the order of the answers.
    pub(super) assertion_reads: Vec<AssertionReads>,
    pub(super) scratch: Scratch,
    /// Its assertions over runs.
    pub(super) over_runs: OverRunsOf<'p>,
    /// Outcomes of assertions that nothing exercised: they are the same for every run.
    pub(super) idle: Vec<Option<AssertionOutcome>>,
    /// What lines say of assertions that pass, and of those that nothing exercised, by number: it is the same for every run.
    pub(super) said: Vec<[Option<Box<[u8]>>; 2]>,
    /// How many names of calls, and how many assertions that something missing skips, were handed on.
    pub(super) named: usize,
    pub(super) skipped: usize,
}

impl Prefiltered<'_> {
    pub(super) fn is_known(&self, number: u32) -> bool {
        self.idle.get(number as usize).is_some_and(Option::is_some)
    }

    /// Whether an assertion has to be evaluated on the run.
    pub(super) fn asks(&self, number: u32, answer: Answer, findings: bool) -> bool {
        match answer {
            Answer::Open => true,
            Answer::Pass => findings && self.speaks_of_a_pass(number),
            Answer::Idle => findings && !self.is_known(number),
            _ => findings,
        }
    }

    /// Whether an assertion has a message for a pass: one that is expected to fail says it where it passes.
    pub(super) fn speaks_of_a_pass(&self, number: u32) -> bool {
        let assertion = self.rules.program.assertions.get(number as usize);
        assertion.is_some_and(|one| one.settings.expect_fail.is_some() && one.settings.message.is_some())
    }

    /// Remembers the outcome of an assertion that nothing exercised, where nothing in it is of the run.
    pub(super) fn learn(&mut self, number: u32, outcome: AssertionOutcome) {
        if outcome.verdict == Verdict::Vacuous
            && outcome.evidence.is_empty()
            && outcome.message.is_none()
            && let Some(place) = self.idle.get_mut(number as usize)
        {
            *place = Some(outcome);
        }
    }
}
