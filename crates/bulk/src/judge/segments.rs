//! Lines of `jsonl` from segments: where an earlier run had the same verdicts, the segments of its line are used again and only the findings of
//! this run are written.

use super::{Judge, Prefiltered, is_plain};
use crate::pipeline::Pipeline;
use crate::prefilter::Answer;
use averment_engine::vm::evaluate::known;
use averment_engine::vm::outcome::AssertionOutcome;
use averment_report::chunk_totals;
use averment_report::chunk_totals::Behind;
use averment_report::line;
use averment_report::model::RunReport;
use averment_report::report_builder::Findings;
use averment_runs::run::Run;

impl Judge<'_> {
    /// Writes the line of a run whose report is made. Returns the segments that later runs with the same verdicts can use; with `alike` the
    /// findings are among them.
    pub(super) fn line(&mut self, run: &RunReport, alike: bool) -> Behind {
        let table = &self.pipeline.table;
        let (mut head, mut findings) = (Vec::new(), Vec::new());
        // Text into memory: this cannot fail.
        let _ = line::name(&run.run, &mut self.written);
        let _ = line::head(table, run, &mut head);
        for result in &run.results {
            let _ = line::finding(table, result, &mut findings);
        }
        for segment in [&head, &findings] {
            self.written.extend_from_slice(segment);
        }
        let _ = line::end(table, run, &mut self.written);
        Behind { head, findings: alike.then_some(findings) }
    }

    /// Writes the line of a run by what was evaluated and the answers beside that; false where more of it has to be made.
    pub(super) fn write_segments(&mut self, run: &Run<'_>, evaluated: &[Vec<AssertionOutcome>]) -> bool {
        let Pipeline { table, detail, compact, lines, .. } = self.pipeline;
        let wanted = *compact && *lines && detail.findings;
        if !wanted || !evaluated.iter().flatten().all(is_plain) || !self.note_verdicts(evaluated) {
            return false;
        }
        let Some(judged) = self.memory.get(&self.verdicts) else { return false };
        let Some(behind) = &judged.line else { return false };
        let numbered = evaluated.iter().enumerate();
        let all = numbered.flat_map(|(program, outcomes)| outcomes.iter().map(move |one| (program, one)));
        let findings = Findings::new(table, run, all, *detail);
        if findings.withhold() {
            return false;
        }
        let into = &mut self.written;
        let _ = line::name_of(&run.source, into);
        into.extend_from_slice(&behind.head);
        let mut answers = self.answers.iter();
        for ((place, one), outcomes) in self.programs.iter_mut().enumerate().zip(evaluated) {
            let mut outcomes = outcomes.iter().peekable();
            let count = one.prefilter.assertions().len();
            for at in 0..count {
                let (Some(number), Some(answer)) = (one.prefilter.assertion(at), answers.next()) else { continue };
                match outcomes.next_if(|outcome| outcome.assertion == number) {
                    Some(outcome) => {
                        if let Some(result) = findings.result(place, outcome) {
                            let _ = line::finding(table, &result, into);
                        }
                    }
                    None => line::finished(one.said(place, number, *answer, &findings), into),
                }
            }
        }
        into.extend_from_slice(line::END);
        self.totals.add(judged);
        true
    }

    /// Notes the verdicts of a run; false where the outcome of a statement that nothing exercised was evaluated for the first
    /// time, so that it has to be stored.
    fn note_verdicts(&mut self, evaluated: &[Vec<AssertionOutcome>]) -> bool {
        self.verdicts.clear();
        let mut answers = self.answers.iter();
        for (one, outcomes) in self.programs.iter().zip(evaluated) {
            let mut outcomes = outcomes.iter().peekable();
            for (number, answer) in one.prefilter.assertions().zip(answers.by_ref()) {
                let verdict = match outcomes.next_if(|outcome| outcome.assertion == number) {
                    Some(_) if *answer == Answer::Idle => return false,
                    Some(outcome) => Some(outcome.verdict),
                    None => answer.verdict(),
                };
                self.verdicts.extend(verdict.map(chunk_totals::byte));
            }
        }
        true
    }
}

impl Prefiltered<'_> {
    /// What lines say of an assertion that passes, or that nothing exercised.
    fn said(&mut self, place: usize, number: u32, answer: Answer, findings: &Findings<'_, '_>) -> &[u8] {
        let outcome = || match answer {
            Answer::Idle => self.idle.get(number as usize).cloned().flatten(),
            answer => known(self.rules.program, number, answer.verdict()?),
        };
        let at = usize::from(answer == Answer::Idle);
        let Some(said) = self.said.get_mut(number as usize).and_then(|said| said.get_mut(at)) else { return &[] };
        said.get_or_insert_with(|| {
            let mut written = Vec::new();
            if let Some(result) = outcome().and_then(|outcome| findings.result(place, &outcome)) {
                let _ = line::finding(findings.table(), &result, &mut written);
            }
            written.into_boxed_slice()
        })
    }
}
