//! From answers to reports: what the prefilter left open is evaluated, and either counted or reported.

use super::{Done, Judge, is_plain};
use crate::pipeline::Pipeline;
use crate::prefilter::Answer;
use averment_base::truth::Verdict;
use averment_engine::vm::evaluate::{conclude, evaluate_some, known};
use averment_engine::vm::outcome::{AssertionOutcome, Outcome};
use averment_report::chunk_totals::{self, Judged};
use averment_report::drawn::Drawn;
use averment_report::line;
use averment_report::report_builder::{self, RunText};
use averment_report::profile::Phase;
use averment_runs::run::{Run, RunSource};
use bumpalo::Bump;

impl<'p> Judge<'p> {
    /// Whether nothing but counts is wanted of a run.
    pub(super) fn counts_only(&self) -> bool {
        self.pipeline.compact && !self.pipeline.lines && !self.pipeline.detail.findings
    }

    /// Whether the answers leave something open, or need reasons that only the run gives.
    pub(super) fn needs_run(&self) -> bool {
        let findings = self.pipeline.detail.findings;
        if self.pipeline.detail.takes_whole_runs() {
            return true;
        }
        let mut answers = self.answers.iter();
        self.programs.iter().any(|one| {
            let mut assertions = one.prefilter.assertions();
            assertions.any(|number| answers.next().is_none_or(|answer| one.asks(number, *answer, findings)))
        })
    }

    /// Reports a run of which the answers say everything.
    pub(super) fn answered(&mut self, line: &str, source: &dyn Fn() -> RunSource) {
        self.observer.enter(Phase::Reporting);
        self.verdicts.clear();
        self.verdicts.extend(self.answers.iter().filter_map(|answer| answer.verdict().map(chunk_totals::byte)));
        self.gather(&[], &|| source().name());
        if !self.remembered(source) {
            let outcomes = self.outcomes(Vec::new());
            self.report(outcomes, None, line, source);
        }
        self.observer.enter(Phase::FirstLook);
    }

    /// Judges what the answers leave open on the run, and counts or reports it.
    pub(super) fn settle<'a>(&mut self, run: &'a Run<'a>, full: &'a Bump)
    where
        'p: 'a,
    {
        self.observer.enter(Phase::Evaluating);
        let evaluated = self.evaluated(run, full);
        self.look(run, full);
        self.observer.enter(Phase::Reporting);
        self.gather(&evaluated, &|| run.source.name());
        if self.counts_only() && self.counted(&evaluated) {
            return;
        }
        if self.write_segments(run, &evaluated) {
            return;
        }
        let outcomes = self.outcomes(evaluated);
        let findings = self.pipeline.detail.findings;
        let compact = self.pipeline.compact && run.warnings.is_empty();
        let unjudged = outcomes.iter().flat_map(|outcome| &outcome.results).any(|one| one.unjudged.is_some());
        let source = || run.source.clone();
        self.report(outcomes, Some(run).filter(|_| !compact || findings || unjudged), run.text, &source);
        if self.pipeline.detail.steps {
            self.add_matched(run, full);
        }
    }

    /// Evaluates the assertions of each program that the answers leave open.
    fn evaluated<'a>(&self, run: &'a Run<'a>, full: &'a Bump) -> Vec<Vec<AssertionOutcome>>
    where
        'p: 'a,
    {
        let findings = self.pipeline.detail.findings;
        let options = &self.pipeline.options;
        let mut answers = self.answers.iter();
        let mut asked = Vec::new();
        let each = self.programs.iter().enumerate().map(|(place, one)| {
            asked.clear();
            // The assertions come first: they say where the answers of the next program begin.
            for (number, answer) in one.prefilter.assertions().zip(answers.by_ref()) {
                if one.asks(number, *answer, findings) {
                    asked.push(number);
                }
            }
            if asked.is_empty() {
                return Vec::new();
            }
            let outcomes = evaluate_some(one.rules.machine(run, full), options, &asked);
            self.note(place, &outcomes);
            outcomes
        });
        each.collect()
    }

    /// Hands on what is said of names at the end.
    pub(super) fn note_names(&mut self) {
        let near_names = &self.pipeline.near_names;
        for (number, one) in self.programs.iter_mut().enumerate() {
            let names = one.scratch.name_count();
            if names != one.named {
                one.named = names;
                near_names.add_tools(one.scratch.names());
            }
            if one.skipped < one.scratch.skipped.len() {
                one.skipped = one.scratch.skipped.len();
                one.scratch.skipped.iter().for_each(|assertion| near_names.add_skipped(number, *assertion));
            }
        }
    }

    /// Notes what is said of assertions at the end.
    fn note(&self, program: usize, outcomes: &[AssertionOutcome]) {
        let near_names = &self.pipeline.near_names;
        for one in outcomes {
            if one.by_missing && one.verdict == Verdict::Skipped {
                near_names.add_skipped(program, one.assertion);
            }
            near_names.add_gates(program, one.assertion, &one.gates);
            if let Some(remark) = &one.remark {
                near_names.add_remark(program, one.assertion, remark);
            }
        }
    }

    /// Counts a run by its answers and by what was evaluated beside them; false where these do not say everything.
    fn counted(&mut self, evaluated: &[Vec<AssertionOutcome>]) -> bool {
        if !evaluated.iter().flatten().all(is_plain) {
            return false;
        }
        let mut answers = self.answers.iter_mut();
        for (one, outcomes) in self.programs.iter().zip(evaluated) {
            let mut outcomes = outcomes.iter().peekable();
            for (number, answer) in one.prefilter.assertions().zip(answers.by_ref()) {
                if let Some(known) = outcomes.next_if(|outcome| outcome.assertion == number) {
                    *answer = Answer::of_verdict(known.verdict);
                }
            }
        }
        let complete = self.incremental.compare(&self.answers);
        if complete {
            self.incremental.add(&self.answers, &mut self.totals);
        }
        complete
    }

    /// The outcomes of all programs: what was evaluated, and what the prefilter said of the others.
    fn outcomes(&mut self, evaluated: Vec<Vec<AssertionOutcome>>) -> Vec<Outcome> {
        let findings = self.pipeline.detail.findings;
        let mut answers = self.answers.iter();
        let mut all = Vec::with_capacity(self.programs.len());
        let mut evaluated = evaluated.into_iter();
        self.verdicts.clear();
        for one in &mut self.programs {
            let mut evaluated = evaluated.next().unwrap_or_default().into_iter().peekable();
            let mut results = Vec::with_capacity(one.prefilter.assertions().len());
            let mut learnt = Vec::new();
            for (number, answer) in one.prefilter.assertions().zip(answers.by_ref()) {
                let outcome = match evaluated.next_if(|outcome| outcome.assertion == number) {
                    Some(outcome) => {
                        if *answer == Answer::Idle {
                            learnt.push((number, outcome.clone()));
                        }
                        Some(outcome)
                    }
                    None if findings && *answer == Answer::Idle => one.idle.get(number as usize).cloned().flatten(),
                    None => answer.verdict().and_then(|verdict| known(one.rules.program, number, verdict)),
                };
                self.verdicts.extend(outcome.iter().map(|outcome| chunk_totals::byte(outcome.verdict)));
                results.extend(outcome);
            }
            for (number, outcome) in learnt {
                one.learn(number, outcome);
            }
            all.push(conclude(one.rules.program, results));
        }
        all
    }

    /// Reports a run from what was stored of an earlier run with the same verdicts; false where there is none.
    fn remembered(&mut self, source: &dyn Fn() -> RunSource) -> bool {
        if !self.pipeline.compact {
            return false;
        }
        let Some(judged) = self.memory.get(&self.verdicts) else { return false };
        if self.pipeline.lines {
            let Some((head, findings)) =
                judged.line.as_ref().and_then(|line| Some((&line.head, line.findings.as_ref()?)))
            else {
                return false;
            };
            let _ = line::name_of(&source(), &mut self.written);
            for segment in [head, findings, line::END] {
                self.written.extend_from_slice(segment);
            }
        }
        self.totals.add(judged);
        true
    }

    fn report(&mut self, outcomes: Vec<Outcome>, run: Option<&Run<'_>>, text: &str, source: &dyn Fn() -> RunSource) {
        let Pipeline { table, policy, detail, compact, lines, .. } = self.pipeline;
        let drawn = &mut self.drawn;
        let made = |drawn: &mut Drawn| match run {
            Some(run) => report_builder::build_some(table, run, &outcomes, *policy, *detail, drawn),
            None => report_builder::build_of(
                table,
                RunText { text, source: &source(), run: None },
                &outcomes,
                *policy,
                *detail,
                drawn,
            ),
        };
        if !compact {
            let mut made = made(drawn);
            made.nanoseconds = self.time.take();
            return self.push(Done::Run(Box::new(made)));
        }
        let unjudged = outcomes.iter().flat_map(|outcome| &outcome.results).any(|one| one.unjudged.is_some());
        let report = (*lines || unjudged).then(|| made(drawn));
        let results = report.iter().flat_map(|report| &report.results);
        let said = results.filter_map(|result| Some((result.item, result.unjudged.clone()?))).collect();
        let mut judged = Judged::of(table, &outcomes, *policy, said);
        self.totals.add(&judged);
        if let Some(made) = report.filter(|_| *lines) {
            judged.line = Some(self.line(&made, run.is_none()));
        }
        if outcomes.iter().flat_map(|outcome| &outcome.results).all(is_plain) {
            self.memory.keep(&self.verdicts, judged);
        }
    }
}
