//! A program with its prefilter, and what one thread remembers of its assertions.

use super::over_runs::ProgramOverRuns;
use crate::prefilter::{AssertionReads, EvaluationRules, Prefilter, PrefilterAnswer, PrefilterScratch};
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::{AssertionOutcome, Status};
use std::borrow::Borrow;

pub(super) struct PrefilteredProgram<'p> {
    pub(super) rules: EvaluationRules<'p>,
    pub(super) prefilter: Prefilter,
    pub(super) assertion_reads: Vec<AssertionReads>,
    pub(super) scratch: PrefilterScratch,
    pub(super) over_runs: ProgramOverRuns<'p>,
    /// Outcomes of unexercised assertions, which are equal for every run.
    pub(super) idle: Vec<Option<AssertionOutcome>>,
    /// Text for passing and unexercised assertions, which is equal for every run.
    pub(super) said: Vec<[Option<Box<[u8]>>; 2]>,
    pub(super) named: usize,
    pub(super) skipped: usize,
}

/// The assertions of a program, each with its answer and, where it was evaluated, its outcome. `answers` may go on with those of the next program.
pub(super) fn pair_outcomes<A: Iterator, O: IntoIterator<Item: Borrow<AssertionOutcome>>>(
    prefilter: &Prefilter,
    answers: A,
    outcomes: O,
) -> impl Iterator<Item = (u32, A::Item, Option<O::Item>)> {
    let mut outcomes = outcomes.into_iter().peekable();
    // The assertions come first in `zip`: their end is the end, before an answer of the next program is taken.
    prefilter.assertion_numbers().zip(answers).map(move |(number, answer)| {
        let outcome = outcomes.next_if(|outcome| outcome.borrow().assertion == number);
        (number, answer, outcome)
    })
}

impl PrefilteredProgram<'_> {
    /// The assertions, each with what its evaluation reads.
    pub(super) fn numbered_reads(&self) -> impl Iterator<Item = (u32, &AssertionReads)> {
        self.prefilter.assertion_numbers().zip(&self.assertion_reads)
    }

    pub(super) fn is_known(&self, number: u32) -> bool {
        self.idle.get(number as usize).is_some_and(Option::is_some)
    }

    pub(super) fn needs_evaluation(&self, number: u32, answer: PrefilterAnswer, findings: bool) -> bool {
        match answer {
            PrefilterAnswer::Open => true,
            PrefilterAnswer::Pass => findings && self.speaks_of_a_pass(number),
            PrefilterAnswer::Idle => findings && !self.is_known(number),
            _ => findings,
        }
    }

    /// The status of an assertion whose answer is not open.
    pub(super) fn known_status(&self, number: u32, answer: PrefilterAnswer) -> Option<Status> {
        let assertion = self.rules.program.assertions.get(number as usize)?;
        Some(Status::of_verdict(answer.as_verdict()?, assertion.settings.expect_fail.is_some()))
    }

    /// True if a pass has a message, as with an expected failure.
    pub(super) fn speaks_of_a_pass(&self, number: u32) -> bool {
        let assertion = self.rules.program.assertions.get(number as usize);
        assertion.is_some_and(|one| one.settings.expect_fail.is_some() && one.settings.message.is_some())
    }

    /// Caches the outcome of an unexercised assertion, unless it depends on the run.
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
