//! How a run is judged, and why no less of it is read: decided once for a run, for whoever judges it and for a profile.

use super::ThreadJudge;
use super::partial_read::{RequiredParts, SeenRun};
use crate::pipeline::Pipeline;
use crate::prefilter::{AssertionReads, Prefilter, PrefilterAnswer};
use averment_report::profile::FullReadFor;
use averment_traces::names::PartNames;
use averment_traces::projection::{LineReader, ReadSet};

/// How a run is judged.
#[derive(Debug, Clone, Copy)]
pub(super) enum JudgeWay {
    /// Its answers are counted: no report shows single runs, and none is open.
    Counted,
    /// Reports are made of its answers: none is open, and no reason looks at the run.
    Answered,
    /// The parts are read that open answers and reasons look at.
    InParts,
    /// It is read in full, with the answers of the first look.
    InFull(FullReadCause),
    /// It is read in full, and the first look at it is taken then.
    Unseen(FullReadCause),
}

/// Why a run is read in full.
#[derive(Debug, Clone, Copy)]
pub(super) enum FullReadCause {
    /// Assertions of which the verdict, the reason or the picture needs it.
    Assertions,
    /// Assertions that have every run read in full.
    EveryRun,
    /// An option of the command.
    Option,
    /// A report that shows whole runs.
    Report,
    /// Its format, or something unusual in it.
    Run,
}

/// What reads lines in part; otherwise why every run has to be read in full.
fn line_reader<'s>(
    pipeline: &Pipeline,
    mut prefilters: impl Iterator<Item = &'s Prefilter>,
    read_set: &ReadSet,
) -> Result<LineReader, FullReadCause> {
    // What is not to be shown is known only of a run that is read in full, and so is what its tokens cost.
    if pipeline.reading.is_in_full() {
        return Err(FullReadCause::Option);
    }
    if prefilters.any(|prefilter| !prefilter.always_read().is_empty()) {
        return Err(FullReadCause::EveryRun);
    }
    // The names of a map may lead where the reader of lines does not follow.
    let names = pipeline.reading.names.as_deref().unwrap_or(PartNames::known_names());
    LineReader::new(read_set, names).ok_or(FullReadCause::Option)
}

impl ThreadJudge<'_> {
    /// Makes what reads lines in part. It is made when a line first comes that it may read: that takes longer than to judge many a run.
    pub(super) fn make_line_reader(&mut self) {
        if self.unseen_cause.is_none() {
            let prefilters = self.programs.iter().map(|one| &one.prefilter);
            // A run that the reader does not see is one that it gave up on.
            let made = line_reader(self.pipeline, prefilters, &self.read_set);
            self.unseen_cause = Some(made.as_ref().err().copied().unwrap_or(FullReadCause::Run));
            self.lines = made.ok();
        }
    }

    /// How a run is judged of which nothing is seen in its bytes; `fits` says that something may be.
    pub(super) fn unseen_way(&mut self, fits: bool) -> JudgeWay {
        // A profile tells why a run is read in full.
        if fits || self.observer.is_on() {
            self.make_line_reader();
        }
        JudgeWay::Unseen(self.unseen_cause.unwrap_or(FullReadCause::Run))
    }

    /// How a run is judged whose first look gave `self.answers`. Which parts of it are read stands in `self.wanted` then.
    pub(super) fn find_way(&mut self, seen: &SeenRun<'_, '_>) -> JudgeWay {
        if !self.has_looked() {
            return JudgeWay::InFull(FullReadCause::Run);
        }
        if !self.tells_runs() {
            // What an example says may need other parts than what is open: it is known only then whether there is one.
            if !self.incremental.compare_answers(&self.answers) {
                return JudgeWay::InFull(FullReadCause::Assertions);
            }
            if !self.wants_example() {
                return JudgeWay::Counted;
            }
        }
        if self.pipeline.detail.takes_whole_runs() {
            return JudgeWay::InFull(FullReadCause::Report);
        }
        let mut wanted = std::mem::take(&mut self.wanted);
        let way = self.find_parts(&mut wanted);
        self.wanted = wanted;
        let is_plain = seen.start.is_some() && !seen.projection.conversation && !seen.projection.unusual;
        match way {
            JudgeWay::InParts if !is_plain => JudgeWay::InFull(FullReadCause::Run),
            way => way,
        }
    }

    /// Finds what the evaluation of all that is open looks at.
    fn find_parts(&self, wanted: &mut RequiredParts) -> JudgeWay {
        wanted.clear_parts();
        let findings = self.telling.explains;
        let mut way = JudgeWay::Answered;
        let mut answers = self.answers.iter();
        for (place, one) in self.programs.iter().enumerate() {
            for ((number, reads), answer) in one.numbered_reads().zip(answers.by_ref()) {
                if !one.needs_evaluation(number, *answer, findings) {
                    continue;
                }
                if self.obstacle(place, number, reads, *answer).is_some() {
                    return JudgeWay::InFull(FullReadCause::Assertions);
                }
                wanted.add_reads(place, reads);
                way = JudgeWay::InParts;
            }
        }
        way
    }

    /// What a run has to be read in full for because of an assertion with this answer; `None` where parts of it are enough.
    pub(super) fn obstacle(
        &self,
        place: usize,
        number: u32,
        reads: &AssertionReads,
        answer: PrefilterAnswer,
    ) -> Option<FullReadFor> {
        let (findings, draws) = (self.telling.explains, self.pipeline.detail.excerpt.is_some());
        if !self.programs.get(place)?.needs_evaluation(number, answer, findings) {
            return None;
        }
        // A picture shows whole steps.
        let item = self.pipeline.table.item_index(place, number);
        let is_drawn = draws && !matches!(answer, PrefilterAnswer::Pass | PrefilterAnswer::Idle);
        match answer {
            PrefilterAnswer::Open if *reads == AssertionReads::Run || !self.tells_runs() => Some(FullReadFor::Verdict),
            _ if *reads == AssertionReads::Run => Some(FullReadFor::Reason),
            _ if is_drawn && item.is_some_and(|item| self.drawn.has_room(item)) => Some(FullReadFor::Excerpt),
            _ => None,
        }
    }
}
