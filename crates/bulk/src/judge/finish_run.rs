//! From answers to reports: what the prefilter left open is evaluated, and either counted or reported.

use super::prefiltered::pair_outcomes;
use super::segments::is_plain;
use super::{RunResult, ThreadJudge};
use crate::pipeline::Pipeline;
use crate::prefilter::PrefilterAnswer;
use averment_base::truth::Verdict;
use averment_engine::vm::evaluate::{combine_outcomes, evaluate_some, known_outcome};
use averment_engine::vm::outcome::{AssertionOutcome, RunOutcome};
use averment_report::RunGranularity;
use averment_report::chunk_totals::{self, RunEffect};
use averment_report::draw_limits::DrawnFindings;
use averment_report::gate::Gate;
use averment_report::line;
use averment_report::model::{ExampleRun, ReportDetail, RunReport, StatusSet};
use averment_report::profile::ProfilePhase;
use averment_report::redact;
use averment_report::report_builder::{self, RunText};
use averment_runs::run::{Run, RunSource};
use bumpalo::Bump;

impl<'p> ThreadJudge<'p> {
    pub(super) fn report_answered(&mut self, line: &str, source: &dyn Fn() -> RunSource) {
        self.observer.enter(ProfilePhase::Reporting);
        self.verdicts.clear();
        self.verdicts
            .extend(self.answers.iter().filter_map(|answer| answer.as_verdict().map(chunk_totals::verdict_byte)));
        self.gather_run(&[], &|| source().run_name());
        if self.shows_example() || !self.report_remembered(source) {
            let outcomes = self.merge_outcomes(Vec::new());
            self.report_run(outcomes, None, line, source);
        }
        self.observer.enter(ProfilePhase::FirstLook);
    }

    pub(super) fn settle_run<'a>(&mut self, run: &'a Run<'a>, full: &'a Bump)
    where
        'p: 'a,
    {
        self.observer.enter(ProfilePhase::Evaluating);
        let mut evaluated = self.evaluate_open(run, full);
        self.read_run(run, full);
        self.observer.enter(ProfilePhase::Reporting);
        self.gather_run(&evaluated, &|| run.source.run_name());
        if !self.tells_runs() && !self.telling.explains {
            if self.wants_evaluated(run, &evaluated) {
                evaluated = self.evaluate_open(run, full);
            } else if self.count_run(&evaluated) {
                return;
            }
        }
        if self.write_segments(run, &evaluated) {
            return;
        }
        let outcomes = self.merge_outcomes(evaluated);
        let findings = self.telling.explains;
        let compact = self.pipeline.runs != RunGranularity::Whole && run.warnings.is_empty();
        let unjudged = outcomes.iter().flat_map(|outcome| &outcome.results).any(|one| one.unjudged.is_some());
        let source = || run.source.clone();
        self.report_run(outcomes, Some(run).filter(|_| !compact || findings || unjudged), run.text, &source);
        if self.pipeline.detail.steps {
            self.add_matched(run, full);
        }
    }

    fn evaluate_open<'a>(&self, run: &'a Run<'a>, full: &'a Bump) -> Vec<Vec<AssertionOutcome>>
    where
        'p: 'a,
    {
        let findings = self.telling.explains;
        let options = if findings { &self.pipeline.options } else { &self.telling.counting };
        let mut answers = self.answers.iter();
        let mut asked = Vec::new();
        let each = self.programs.iter().enumerate().map(|(place, one)| {
            asked.clear();
            // The assertions come first: they say where the answers of the next program begin.
            for (number, answer) in one.prefilter.assertion_numbers().zip(answers.by_ref()) {
                if one.needs_evaluation(number, *answer, findings) {
                    asked.push(number);
                }
            }
            if asked.is_empty() {
                return Vec::new();
            }
            let outcomes = evaluate_some(one.rules.machine(run, full), options, &asked);
            self.note_remarks(place, &outcomes);
            outcomes
        });
        each.collect()
    }

    pub(super) fn note_names(&mut self) {
        let near_names = &self.pipeline.near_names;
        for (number, one) in self.programs.iter_mut().enumerate() {
            let names = one.scratch.name_count();
            if names != one.named {
                one.named = names;
                near_names.add_tools(one.scratch.call_names());
            }
            if one.skipped < one.scratch.skipped.len() {
                one.skipped = one.scratch.skipped.len();
                one.scratch.skipped.iter().for_each(|assertion| near_names.add_skipped(number, *assertion));
            }
        }
    }

    fn note_remarks(&self, program: usize, outcomes: &[AssertionOutcome]) {
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

    /// Returns false if answers and evaluated assertions do not suffice.
    fn count_run(&mut self, evaluated: &[Vec<AssertionOutcome>]) -> bool {
        if !evaluated.iter().flatten().all(is_plain) {
            return false;
        }
        let mut answers = self.answers.iter_mut();
        for (one, outcomes) in self.programs.iter().zip(evaluated) {
            for (_, answer, outcome) in pair_outcomes(&one.prefilter, answers.by_ref(), outcomes) {
                if let Some(outcome) = outcome {
                    *answer = PrefilterAnswer::of_verdict(outcome.verdict);
                }
            }
        }
        let complete = self.incremental.compare_answers(&self.answers);
        if complete {
            self.incremental.add_run(&self.answers, &mut self.totals);
        }
        complete
    }

    fn merge_outcomes(&mut self, evaluated: Vec<Vec<AssertionOutcome>>) -> Vec<RunOutcome> {
        let findings = self.telling.explains;
        let mut answers = self.answers.iter();
        let mut all = Vec::with_capacity(self.programs.len());
        let mut evaluated = evaluated.into_iter();
        self.verdicts.clear();
        for one in &mut self.programs {
            let evaluated = evaluated.next().unwrap_or_default();
            let mut results = Vec::with_capacity(one.prefilter.assertion_numbers().len());
            let mut learnt = Vec::new();
            for (number, answer, outcome) in pair_outcomes(&one.prefilter, answers.by_ref(), evaluated) {
                let outcome = match outcome {
                    Some(outcome) => {
                        if *answer == PrefilterAnswer::Idle {
                            learnt.push((number, outcome.clone()));
                        }
                        Some(outcome)
                    }
                    None if findings && *answer == PrefilterAnswer::Idle => {
                        one.idle.get(number as usize).cloned().flatten()
                    }
                    None => answer.as_verdict().and_then(|verdict| known_outcome(one.rules.program, number, verdict)),
                };
                self.verdicts.extend(outcome.iter().map(|outcome| chunk_totals::verdict_byte(outcome.verdict)));
                results.extend(outcome);
            }
            for (number, outcome) in learnt {
                one.learn_outcome(number, outcome);
            }
            all.push(combine_outcomes(one.rules.program, results));
        }
        all
    }

    /// Reuses the report of an earlier run with equal verdicts; false if there is none.
    fn report_remembered(&mut self, source: &dyn Fn() -> RunSource) -> bool {
        let told = self.pipeline.detail.told;
        let Some(judged) = self.memory.get(&self.verdicts) else { return false };
        if self.pipeline.runs == RunGranularity::Whole {
            let report = match &judged.report {
                _ if told != StatusSet::ALL && !judged.has_status_in(told) => None,
                Some(report) => Some(report.clone()),
                None => return false,
            };
            let (gate, score) = (judged.gate, judged.score);
            self.push_known(report, &source(), gate, score);
            return true;
        }
        if self.pipeline.runs == RunGranularity::Lines {
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
        self.totals.add_run(judged);
        true
    }

    /// Reports a run as the one before it that `report` is of, or without results.
    fn push_known(&mut self, report: Option<Box<RunReport>>, source: &RunSource, gate: Gate, score: Option<f64>) {
        let (run, file) = (redact::redact_source(source), redact::redact_file(&source.file).into_owned());
        let report = match report {
            Some(report) => Box::new(RunReport { run, file, nanoseconds: self.time.take_time(), ..*report }),
            None => Box::new(RunReport::without_results(run, file, gate, score)),
        };
        self.push_result(RunResult::Run(report));
    }

    /// Reports a run without the results of which none is told, and remembers its verdicts; false if some are told.
    fn report_untold(
        &mut self,
        outcomes: &[RunOutcome],
        run: Option<&Run<'_>>,
        source: &dyn Fn() -> RunSource,
    ) -> bool {
        let Pipeline { table, policy, detail, .. } = self.pipeline;
        let judged = RunEffect::from_outcomes(table, outcomes, *policy, Vec::new());
        let is_told = judged.has_status_in(detail.told) || run.is_some_and(|run| !run.warnings.is_empty());
        if !is_told {
            self.push_known(None, &source(), judged.gate, judged.score);
        }
        if all_plain(outcomes) {
            self.memory.remember_effect(&self.verdicts, judged);
        }
        !is_told
    }

    fn report_run(
        &mut self,
        outcomes: Vec<RunOutcome>,
        run: Option<&Run<'_>>,
        text: &str,
        source: &dyn Fn() -> RunSource,
    ) {
        let Pipeline { table, policy, runs, .. } = self.pipeline;
        let detail = ReportDetail { findings: self.telling.explains, ..self.pipeline.detail };
        let (is_whole, has_lines) = (*runs == RunGranularity::Whole, *runs == RunGranularity::Lines);
        if is_whole && detail.told != StatusSet::ALL && self.report_untold(&outcomes, run, source) {
            return;
        }
        let shows = self.shows_example();
        let drawn = &mut self.drawn;
        if is_whole || shows {
            drawn.begin_run();
        }
        let made = |drawn: &mut DrawnFindings| match run {
            Some(run) => report_builder::build_some(table, run, &outcomes, *policy, detail, drawn),
            None => report_builder::build_of(
                table,
                RunText { text, source: &source(), run: None },
                &outcomes,
                *policy,
                detail,
                drawn,
            ),
        };
        if is_whole {
            let mut made = made(drawn);
            // With a limit on what is drawn, two runs with equal verdicts may have different reports.
            if run.is_none() && self.pipeline.drawn.is_none() && all_plain(&outcomes) {
                let mut judged = RunEffect::from_outcomes(table, &outcomes, *policy, Vec::new());
                judged.report = Some(Box::new(made.clone()));
                self.memory.remember_effect(&self.verdicts, judged);
            }
            made.nanoseconds = self.time.take_time();
            return self.push_result(RunResult::Run(Box::new(made)));
        }
        let unjudged = outcomes.iter().flat_map(|outcome| &outcome.results).any(|one| one.unjudged.is_some());
        let report = (has_lines || shows || unjudged).then(|| made(drawn));
        let results = report.iter().flat_map(|report| &report.results);
        let said = results.filter_map(|result| Some((result.item, result.unjudged.clone()?))).collect();
        let mut judged = RunEffect::from_outcomes(table, &outcomes, *policy, said);
        self.totals.add_run(&judged);
        match report {
            Some(made) if has_lines => judged.line = Some(self.write_line(&made, run.is_none())),
            Some(report) if shows => {
                let has_own_warnings = !self.telling.only_example;
                self.push_result(RunResult::Example(Box::new(ExampleRun { report, has_own_warnings })));
            }
            _ => {}
        }
        if has_lines && all_plain(&outcomes) {
            self.memory.remember_effect(&self.verdicts, judged);
        }
    }
}

fn all_plain(outcomes: &[RunOutcome]) -> bool {
    outcomes.iter().flat_map(|outcome| &outcome.results).all(is_plain)
}
