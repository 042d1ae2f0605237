//! Lines of `jsonl` from segments: where an earlier run had the same verdicts, the segments of its line are used again and only the findings of
//! this run are written.

use super::prefiltered::pair_outcomes;
use super::{PrefilteredProgram, ThreadJudge};
use crate::pipeline::Pipeline;
use crate::prefilter::PrefilterAnswer;
use averment_base::truth::Verdict;
use averment_engine::vm::evaluate::known_outcome;
use averment_engine::vm::outcome::AssertionOutcome;
use averment_engine::vm::score;
use averment_report::RunGranularity;
use averment_report::chunk_totals;
use averment_report::chunk_totals::LineTail;
use averment_report::line;
use averment_report::model::RunReport;
use averment_report::report_builder::RunFindings;
use averment_runs::run::Run;

impl ThreadJudge<'_> {
    /// Returns the segments that later runs with equal verdicts can reuse; with `alike`, findings are included.
    pub(super) fn write_line(&mut self, run: &RunReport, alike: bool) -> LineTail {
        let table = &self.pipeline.table;
        let (mut head, mut findings) = (Vec::new(), Vec::new());
        // Text into memory: this cannot fail.
        let _ = line::write_name(&run.run, &mut self.written);
        let _ = line::write_head(table, run, &mut head);
        for result in &run.results {
            let _ = line::write_finding(table, result, &mut findings);
        }
        for segment in [&head, &findings] {
            self.written.extend_from_slice(segment);
        }
        let _ = line::write_end(table, run, &mut self.written);
        LineTail { head, findings: alike.then_some(findings) }
    }

    /// Returns false if more of the report is needed.
    pub(super) fn write_segments(&mut self, run: &Run<'_>, evaluated: &[Vec<AssertionOutcome>]) -> bool {
        let Pipeline { table, detail, runs, .. } = self.pipeline;
        if *runs != RunGranularity::Lines || !evaluated.iter().flatten().all(is_plain) || !self.note_verdicts(evaluated)
        {
            return false;
        }
        let Some(judged) = self.memory.get(&self.verdicts) else { return false };
        let Some(behind) = &judged.line else { return false };
        let numbered = evaluated.iter().enumerate();
        let all = numbered.flat_map(|(program, outcomes)| outcomes.iter().map(move |one| (program, one)));
        let findings = RunFindings::new(table, run, all, *detail);
        if findings.withholds_anything() {
            return false;
        }
        let into = &mut self.written;
        let _ = line::name_of(&run.source, into);
        into.extend_from_slice(&behind.head);
        let mut answers = self.answers.iter();
        for ((place, one), outcomes) in self.programs.iter_mut().enumerate().zip(evaluated) {
            let mut outcomes = outcomes.iter().peekable();
            let count = one.prefilter.assertion_numbers().len();
            for at in 0..count {
                let (Some(number), Some(answer)) = (one.prefilter.assertion_number(at), answers.next()) else {
                    continue;
                };
                match outcomes.next_if(|outcome| outcome.assertion == number) {
                    Some(outcome) => {
                        if let Some(result) = findings.finding_result(place, outcome) {
                            let _ = line::write_finding(table, &result, into);
                        }
                    }
                    None => line::append_finished(one.assertion_segment(place, number, *answer, &findings), into),
                }
            }
        }
        into.extend_from_slice(line::END);
        self.totals.add_run(judged);
        true
    }

    /// Returns false if an unexercised statement was evaluated for the first time and has to be stored.
    fn note_verdicts(&mut self, evaluated: &[Vec<AssertionOutcome>]) -> bool {
        self.verdicts.clear();
        let mut answers = self.answers.iter();
        for (one, outcomes) in self.programs.iter().zip(evaluated) {
            for (_, answer, outcome) in pair_outcomes(&one.prefilter, answers.by_ref(), outcomes) {
                let verdict = match outcome {
                    Some(_) if *answer == PrefilterAnswer::Idle => return false,
                    Some(outcome) => Some(outcome.verdict),
                    None => answer.as_verdict(),
                };
                self.verdicts.extend(verdict.map(chunk_totals::verdict_byte));
            }
        }
        true
    }
}

impl PrefilteredProgram<'_> {
    fn assertion_segment(
        &mut self,
        place: usize,
        number: u32,
        answer: PrefilterAnswer,
        findings: &RunFindings<'_, '_>,
    ) -> &[u8] {
        let outcome = || match answer {
            PrefilterAnswer::Idle => self.idle.get(number as usize).cloned().flatten(),
            answer => known_outcome(self.rules.program, number, answer.as_verdict()?),
        };
        let at = usize::from(answer == PrefilterAnswer::Idle);
        let Some(said) = self.said.get_mut(number as usize).and_then(|said| said.get_mut(at)) else { return &[] };
        said.get_or_insert_with(|| {
            let mut written = Vec::new();
            if let Some(result) = outcome().and_then(|outcome| findings.finding_result(place, &outcome)) {
                let _ = line::write_finding(findings.table(), &result, &mut written);
            }
            written.into_boxed_slice()
        })
    }
}

/// True if the verdict determines the score and everything that a pass reports.
pub(super) fn is_plain(outcome: &AssertionOutcome) -> bool {
    let own = score::of_verdict(outcome.verdict);
    outcome.verdict != Verdict::Error
        && outcome.unjudged.is_none()
        && outcome.score == score::counted_score(outcome.status, own)
}
