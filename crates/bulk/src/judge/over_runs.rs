//! What each run gives to the assertions over runs: its verdicts of what they count, and what they look at in it.

use super::{Judge, Prefiltered};
use crate::prefilter::{Answer, Compiled};
use averment_base::truth::Verdict;
use averment_engine::bytecode::program::{Assertion, CodeId, Program};
use averment_engine::ir::{AsksOfRuns, OverRuns, RatedBy, Severity};
use averment_engine::vm::evaluate::EvaluateOptions;
use averment_engine::vm::outcome::{AssertionOutcome, Status};
use averment_engine::vm::over_runs::{self, Given, Tally};
use averment_engine::vm::score::{self, JudgedAssertion};
use averment_engine::vm::summary;
use averment_runs::run::Run;
use bumpalo::Bump;

/// The assertions over runs of a program that are selected, with what they count.
pub(super) struct OverRunsOf<'p> {
    program: &'p Program,
    each: Vec<One<'p>>,
}

struct One<'p> {
    number: u32,
    assertion: &'p Assertion,
    over: &'p OverRuns<CodeId>,
    /// The assertions that decide what is counted, by their places among the answers, and the rule that they belong to.
    members: Vec<(usize, &'p Assertion)>,
    rule: Option<u32>,
}

impl<'p> OverRunsOf<'p> {
    /// Those of a program; `judged` gives the numbers of the assertions that judge runs, in the order of their answers.
    pub(super) fn new(program: &'p Program, options: &EvaluateOptions, judged: impl Iterator<Item = u32>) -> Self {
        let judged: Vec<u32> = judged.collect();
        let all = over_runs::of_program(program).filter(|(_, one, _)| options.selection.selects(program, one));
        let each = all.map(|(number, assertion, over)| {
            let rated = match over.asks {
                AsksOfRuns::Rate { rated, .. } => Some(rated),
                AsksOfRuns::Folds { .. } => None,
            };
            let counts = |place: usize, number: u32| {
                let assertion = program.assertions.get(number as usize)?;
                let counted = match rated? {
                    RatedBy::Rule(rule) => assertion.rule == Some(rule),
                    RatedBy::Assertion(rated) => rated == number,
                };
                counted.then_some((place, assertion))
            };
            let members = judged.iter().enumerate().filter_map(|(place, number)| counts(place, *number)).collect();
            let rule = rated.and_then(|rated| if let RatedBy::Rule(rule) = rated { Some(rule) } else { None });
            One { number, assertion, over, members, rule }
        });
        Self { program, each: each.collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// What a run that was read gives to each of them.
    fn look<'a>(&self, rules: Compiled<'p>, run: &'a Run<'a>, arena: &'a Bump) -> Vec<Given>
    where
        'p: 'a,
    {
        let mut machine = rules.machine(run, arena);
        self.each.iter().map(|one| over_runs::look(&mut machine, one.assertion, one.over)).collect()
    }

    /// Adds a run to the tally; `judged` gives the verdict of an assertion, by its place among the answers, and its score where it has one
    /// of its own.
    fn add(
        &self,
        given: impl IntoIterator<Item = Given>,
        judged: &dyn Fn(usize) -> Option<(Verdict, Option<f64>)>,
        name: &dyn Fn() -> String,
        tally: &mut Tally,
    ) {
        for (one, given) in self.each.iter().zip(given) {
            let verdict = one.verdict(self.program, judged);
            tally.add(one.number, one.over, given, verdict, name);
        }
    }
}

impl One<'_> {
    /// The verdict of what is counted.
    fn verdict(&self, program: &Program, judged: &dyn Fn(usize) -> Option<(Verdict, Option<f64>)>) -> Option<Verdict> {
        let one = |(place, assertion): &(usize, &Assertion)| {
            let (verdict, own) = judged(*place)?;
            let settings = &assertion.settings;
            let status = Status::of(verdict, settings.expect_fail.is_some());
            Some(JudgedAssertion {
                verdict: summary::counted(status, verdict),
                score: score::counted(status, own.or_else(|| score::of_verdict(verdict))),
                weight: settings.weight,
                is_error: settings.severity == Severity::Error,
                must: settings.must,
            })
        };
        let Some(rule) = self.rule else { return one(self.members.first()?).map(|one| one.verdict) };
        let members: Option<Vec<JudgedAssertion>> = self.members.iter().map(one).collect();
        Some(score::rule_verdict(program.rules.get(rule as usize)?.threshold, &members?))
    }
}

impl<'p> Judge<'p> {
    /// Adds a run to what is kept for the assertions over runs: the answers, and what was evaluated beside them.
    pub(super) fn gather(&mut self, evaluated: &[Vec<AssertionOutcome>], name: &dyn Fn() -> String) {
        let mut begin = 0;
        self.totals.over_runs.resize_with(self.programs.len(), Tally::default);
        for (place, (one, tally)) in self.programs.iter_mut().zip(&mut self.totals.over_runs).enumerate() {
            let answers = self.answers.get(begin..).unwrap_or_default();
            let Prefiltered { prefilter, scratch, over_runs, .. } = one;
            begin += prefilter.assertions().len();
            if over_runs.is_empty() {
                continue;
            }
            let outcomes = evaluated.get(place).map_or(&[][..], Vec::as_slice);
            let judged = |at: usize| {
                let number = prefilter.assertion(at)?;
                let known = outcomes.binary_search_by_key(&number, |outcome| outcome.assertion);
                match known.ok().and_then(|known| outcomes.get(known)) {
                    Some(outcome) => Some((outcome.verdict, outcome.score)),
                    None => answers.get(at).copied().and_then(Answer::verdict).map(|verdict| (verdict, None)),
                }
            };
            over_runs.add(scratch.given.drain(..), &judged, name, tally);
        }
    }

    /// Looks at a run that was read for what the prefilter could not tell of it.
    pub(super) fn look<'a>(&mut self, run: &'a Run<'a>, arena: &'a Bump)
    where
        'p: 'a,
    {
        for one in self.programs.iter_mut().filter(|one| !one.over_runs.is_empty() && !one.scratch.looked) {
            one.scratch.given = one.over_runs.look(one.rules, run, arena);
            one.scratch.looked = true;
        }
    }

    /// Whether all that assertions over runs look at is known of the run at hand.
    pub(super) fn has_looked(&self) -> bool {
        self.programs.iter().all(|one| one.over_runs.is_empty() || one.scratch.looked)
    }
}
