//! What is told of a run: counts alone, or why it has its verdicts.

use super::ThreadJudge;
use super::prefiltered::pair_outcomes;
use averment_engine::vm::evaluate::EvaluateOptions;
use averment_engine::vm::outcome::AssertionOutcome;
use averment_report::RunGranularity;
use averment_report::draw_limits::ExampleRuns;
use averment_runs::run::Run;

/// What is told of the run at hand.
pub(super) struct RunTelling {
    examples: ExampleRuns,
    /// Whether it is said why it has its verdicts.
    pub(super) explains: bool,
    /// Whether it is read further only to take examples from it, and not for its verdicts.
    pub(super) only_example: bool,
    /// How a run is judged that is only counted.
    pub(super) counting: EvaluateOptions,
}

impl RunTelling {
    pub(super) fn new(options: &EvaluateOptions) -> Self {
        let counting = EvaluateOptions { violations: Some(0), ..options.clone() };
        Self { examples: ExampleRuns::default(), explains: false, only_example: false, counting }
    }
}

impl ThreadJudge<'_> {
    pub(super) fn begin_run(&mut self) {
        self.answers.clear();
        self.telling.explains = self.pipeline.detail.findings && self.pipeline.runs != RunGranularity::Examples;
    }

    /// True if something is told of every run; otherwise they are counted, and examples are taken from some.
    pub(super) fn tells_runs(&self) -> bool {
        matches!(self.pipeline.runs, RunGranularity::Lines | RunGranularity::Whole)
    }

    pub(super) fn shows_example(&self) -> bool {
        self.pipeline.runs == RunGranularity::Examples && self.telling.explains
    }

    /// Whether examples are taken from the run of the answers at hand, none of which is open.
    pub(super) fn wants_example(&mut self) -> bool {
        self.telling.explains = self.pipeline.runs == RunGranularity::Examples
            && self.telling.examples.wants_run(self.incremental.changed_statuses(&self.answers));
        self.telling.only_example = self.telling.explains;
        self.telling.explains
    }

    /// The same of a run some of whose assertions were evaluated.
    pub(super) fn wants_evaluated(&mut self, run: &Run<'_>, evaluated: &[Vec<AssertionOutcome>]) -> bool {
        if self.pipeline.runs != RunGranularity::Examples {
            return false;
        }
        let table = &self.pipeline.table;
        let mut answers = self.answers.iter();
        let mut statuses = Vec::with_capacity(self.answers.len());
        for (place, (one, outcomes)) in self.programs.iter().zip(evaluated).enumerate() {
            for (number, answer, outcome) in pair_outcomes(&one.prefilter, answers.by_ref(), outcomes) {
                let status = match outcome {
                    Some(outcome) => Some(outcome.status),
                    None => one.known_status(number, *answer),
                };
                statuses.extend(table.item_index(place, number).zip(status));
            }
        }
        self.telling.explains = self.telling.examples.wants_run(statuses) || !run.warnings.is_empty();
        self.telling.only_example = false;
        self.telling.explains
    }
}
