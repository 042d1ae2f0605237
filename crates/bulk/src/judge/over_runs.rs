//! What each run gives to the assertions over runs: its verdicts of what they count, and what they look at in it.

use super::{PrefilteredProgram, ThreadJudge};
use crate::prefilter::{EvaluationRules, PrefilterAnswer};
use averment_base::truth::Verdict;
use averment_checker::ir::{OverRunsCheck, OverRunsQuestion, RateSubject, Severity};
use averment_engine::bytecode::program::{CodeId, CompiledAssertion, Program};
use averment_engine::vm::evaluate::EvaluateOptions;
use averment_engine::vm::outcome::{AssertionOutcome, Status};
use averment_engine::vm::over_runs::{self, RunContribution, RunsTally};
use averment_engine::vm::score::{self, JudgedAssertion};
use averment_engine::vm::summary;
use averment_runs::run::Run;
use bumpalo::Bump;

pub(super) struct ProgramOverRuns<'p> {
    program: &'p Program,
    each: Vec<OverRunsAssertion<'p>>,
}

struct OverRunsAssertion<'p> {
    number: u32,
    assertion: &'p CompiledAssertion,
    over: &'p OverRunsCheck<CodeId>,
    members: Vec<(usize, &'p CompiledAssertion)>,
    rule: Option<u32>,
}

impl<'p> ProgramOverRuns<'p> {
    /// `judged` are the numbers of assertions on single runs, in answer order.
    pub(super) fn new(program: &'p Program, options: &EvaluateOptions, judged: impl Iterator<Item = u32>) -> Self {
        let judged: Vec<u32> = judged.collect();
        let all = over_runs::of_program(program).filter(|(_, one, _)| options.selection.is_selected(program, one));
        let each = all.map(|(number, assertion, over)| {
            let rated = match over.asks {
                OverRunsQuestion::Rate { rated, .. } => Some(rated),
                OverRunsQuestion::Folds { .. } => None,
            };
            let counts = |place: usize, number: u32| {
                let assertion = program.assertions.get(number as usize)?;
                let counted = match rated? {
                    RateSubject::Rule(rule) => assertion.rule == Some(rule),
                    RateSubject::Assertion(rated) => rated == number,
                };
                counted.then_some((place, assertion))
            };
            let members = judged.iter().enumerate().filter_map(|(place, number)| counts(place, *number)).collect();
            let rule = rated.and_then(|rated| if let RateSubject::Rule(rule) = rated { Some(rule) } else { None });
            OverRunsAssertion { number, assertion, over, members, rule }
        });
        Self { program, each: each.collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    fn read_values<'a>(&self, rules: EvaluationRules<'p>, run: &'a Run<'a>, arena: &'a Bump) -> Vec<RunContribution>
    where
        'p: 'a,
    {
        let mut machine = rules.machine(run, arena);
        self.each.iter().map(|one| over_runs::contribution_of(&mut machine, one.assertion, one.over)).collect()
    }

    /// `judged` yields an assertion's verdict by answer position, and its own score if it has one.
    fn add_run(
        &self,
        given: impl IntoIterator<Item = RunContribution>,
        judged: &dyn Fn(usize) -> Option<(Verdict, Option<f64>)>,
        name: &dyn Fn() -> String,
        tally: &mut RunsTally,
    ) {
        for (one, given) in self.each.iter().zip(given) {
            let verdict = one.counted_verdict(self.program, judged);
            tally.add_run(one.number, one.over, given, verdict, name);
        }
    }
}

impl OverRunsAssertion<'_> {
    fn counted_verdict(
        &self,
        program: &Program,
        judged: &dyn Fn(usize) -> Option<(Verdict, Option<f64>)>,
    ) -> Option<Verdict> {
        let one = |(place, assertion): &(usize, &CompiledAssertion)| {
            let (verdict, own) = judged(*place)?;
            let settings = &assertion.settings;
            let status = Status::of_verdict(verdict, settings.expect_fail.is_some());
            Some(JudgedAssertion {
                verdict: summary::counted_verdict(status, verdict),
                score: score::counted_score(status, own.or_else(|| score::of_verdict(verdict))),
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

impl<'p> ThreadJudge<'p> {
    pub(super) fn gather_run(&mut self, evaluated: &[Vec<AssertionOutcome>], name: &dyn Fn() -> String) {
        let mut begin = 0;
        self.totals.over_runs.resize_with(self.programs.len(), RunsTally::default);
        for (place, (one, tally)) in self.programs.iter_mut().zip(&mut self.totals.over_runs).enumerate() {
            let answers = self.answers.get(begin..).unwrap_or_default();
            let PrefilteredProgram { prefilter, scratch, over_runs, .. } = one;
            begin += prefilter.assertion_numbers().len();
            if over_runs.is_empty() {
                continue;
            }
            let outcomes = evaluated.get(place).map_or(&[][..], Vec::as_slice);
            let judged = |at: usize| {
                let number = prefilter.assertion_number(at)?;
                let known = outcomes.binary_search_by_key(&number, |outcome| outcome.assertion);
                match known.ok().and_then(|known| outcomes.get(known)) {
                    Some(outcome) => Some((outcome.verdict, outcome.score)),
                    None => {
                        answers.get(at).copied().and_then(PrefilterAnswer::as_verdict).map(|verdict| (verdict, None))
                    }
                }
            };
            over_runs.add_run(scratch.given.drain(..), &judged, name, tally);
        }
    }

    pub(super) fn read_run<'a>(&mut self, run: &'a Run<'a>, arena: &'a Bump)
    where
        'p: 'a,
    {
        for one in self.programs.iter_mut().filter(|one| !one.over_runs.is_empty() && !one.scratch.looked) {
            one.scratch.given = one.over_runs.read_values(one.rules, run, arena);
            one.scratch.looked = true;
        }
    }

    pub(super) fn has_looked(&self) -> bool {
        self.programs.iter().all(|one| one.over_runs.is_empty() || one.scratch.looked)
    }
}
