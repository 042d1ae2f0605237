//! One thread's work: takes chunks of traces, judges their runs, and says what came of them.
//!
//! Whole lines are indexed and prefiltered; a run is read in full only for what the prefilter leaves open, and for the reasons of what does
//! not pass. Both ways give the same verdicts.

mod finish_run;
mod judge_way;
mod matched_steps;
pub mod observer;
mod over_runs;
mod partial_read;
mod prefiltered;
mod run_telling;
mod run_time;
mod segments;
mod walk;

use super::pipeline::Pipeline;
use crate::faults::FaultPoint;
use crate::incremental_totals::IncrementalTotals;
use crate::prefilter::{EvaluationRules, Prefilter, PrefilterAnswer, PrefilterScratch, ProjectionSource};
use crate::reading_notes::FileRecords;
use averment_base::limits::{LARGE, LONG, OWN_BLOCK};
use averment_base::memory::{self, allow_failure};
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::profile::Profile;
use averment_report::chunk_totals::{ChunkTotals, VerdictMemory};
use averment_report::draw_limits::DrawnFindings;
use averment_report::model::{ExampleRun, RunReport, UnreadableTrace};
use averment_report::profile::ProfilePhase;
pub use averment_report::profile::ReadCounts;
use averment_runs::run::Run;
use averment_traces::error::ReadError;
use averment_traces::projection::{LineReader, ReadSet, RunProjection, ScannedChunk};
use averment_traces::read::{FilePart, LinesOrigin, RawRun, WholeLines};
use averment_traces::scan::{ByteIndex, ScanCursor};
use bumpalo::Bump;
use judge_way::{FullReadCause, JudgeWay};
use observer::JudgeObserver;
use over_runs::ProgramOverRuns;
use partial_read::SeenRun;
use prefiltered::PrefilteredProgram;
use run_telling::RunTelling;
use run_time::RunTime;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;
use walk::{DeferredLine, NonBlankLine, each_line, let_go};

/// The result of judging part of a trace.
pub enum RunResult {
    /// A run, for reports that show single runs.
    Run(Box<RunReport>),
    /// One of the runs that were counted, for reports that take examples from it.
    Example(Box<ExampleRun>),
    /// Finished lines of `jsonl`.
    Lines(Vec<u8>),
    /// Something that cannot be read.
    Unreadable(UnreadableTrace),
    /// The evaluation broke down: the run's name.
    Fault(String),
}

/// State that a thread keeps between runs.
pub struct ThreadJudge<'p> {
    pipeline: &'p Pipeline,
    programs: Vec<PrefilteredProgram<'p>>,
    read_set: ReadSet,
    lines: Option<LineReader>,
    /// Why a run is read in full that `lines` does not see; `None` until `lines` is made.
    unseen_cause: Option<FullReadCause>,
    index: ByteIndex,
    arena: Bump,
    full: Bump,
    memory: VerdictMemory,
    answers: Vec<PrefilterAnswer>,
    wanted: partial_read::RequiredParts,
    verdicts: Vec<u8>,
    totals: ChunkTotals,
    reads: ReadCounts,
    records: FileRecords,
    incremental: IncrementalTotals,
    drawn: DrawnFindings,
    telling: RunTelling,
    done: Vec<RunResult>,
    /// Finished lines, to be written after `done`.
    written: Vec<u8>,
    time: RunTime,
    observer: JudgeObserver<'p>,
    /// The place in its chunk of the cut run that is being judged: where it broke down.
    pub(crate) place: Option<usize>,
}

impl<'p> ThreadJudge<'p> {
    /// A judge for the programs of a pipeline, with what was prepared of each, and where the costs of each are noted.
    pub fn new(pipeline: &'p Pipeline, prepared: &'p [PreparedProgram], profiles: &'p [RefCell<Profile>]) -> Self {
        let mut observer = JudgeObserver::new(pipeline.profile.as_ref(), profiles);
        let mut read_set = ReadSet::default();
        let programs: Vec<PrefilteredProgram<'p>> = pipeline
            .programs
            .iter()
            .zip(prepared)
            .enumerate()
            .map(|(number, (program, prepared))| {
                let profile = profiles.get(number);
                let rules = EvaluationRules { program, prepared, options: &pipeline.options, profile };
                let prefilter = Prefilter::new(rules, &mut read_set);
                let idle = vec![None; program.assertions.len()];
                let assertion_reads = prefilter.assertion_reads(program);
                let said = vec![[None, None]; program.assertions.len()];
                let scratch = PrefilterScratch::default();
                let over_runs = ProgramOverRuns::new(program, &pipeline.options, prefilter.assertion_numbers());
                PrefilteredProgram {
                    rules,
                    prefilter,
                    assertion_reads,
                    scratch,
                    over_runs,
                    idle,
                    said,
                    named: 0,
                    skipped: 0,
                }
            })
            .collect();
        let selected = programs.iter().map(|one| (one.rules.program, one.prefilter.assertion_numbers().collect()));
        let incremental = IncrementalTotals::new(selected, &pipeline.table, pipeline.policy);
        observer.enter(ProfilePhase::FirstLook);
        Self {
            pipeline,
            incremental,
            drawn: DrawnFindings::new(pipeline.drawn),
            telling: RunTelling::new(&pipeline.options),
            programs,
            read_set,
            unseen_cause: None,
            lines: None,
            index: ByteIndex::default(),
            arena: Bump::new(),
            full: Bump::new(),
            memory: VerdictMemory::default(),
            answers: Vec::new(),
            wanted: partial_read::RequiredParts::default(),
            verdicts: Vec::new(),
            totals: ChunkTotals::default(),
            reads: ReadCounts::default(),
            records: FileRecords::default(),
            done: Vec::new(),
            written: Vec::new(),
            time: RunTime::default(),
            observer,
            place: None,
        }
    }

    /// Finished lines are flushed first, to keep the order.
    fn push_result(&mut self, done: RunResult) {
        self.flush_lines();
        self.done.push(done);
    }

    fn flush_lines(&mut self) {
        if !self.written.is_empty() {
            // The next ones are mostly as long.
            let next = Vec::with_capacity(self.written.len().min(LONG));
            self.done.push(RunResult::Lines(std::mem::replace(&mut self.written, next)));
        }
    }

    /// Takes the amount read since the last call.
    pub fn take_reads(&mut self) -> ReadCounts {
        std::mem::take(&mut self.reads)
    }

    /// Takes the record counts since the last call.
    pub fn take_records(&mut self) -> FileRecords {
        std::mem::take(&mut self.records)
    }

    /// Judges a chunk whose lines, if it has any, are in `buffer`. Runs that were cut already stay in it: after a breakdown they are judged
    /// again, and those at the places in `broken` are told as such.
    pub fn judge_part(
        &mut self,
        part: &mut FilePart,
        buffer: &mut Vec<u8>,
        broken: &[usize],
    ) -> (Vec<RunResult>, ChunkTotals) {
        self.time = RunTime::begin_chunk(self.pipeline.timed);
        self.observer.begin_chunk(|| match &*part {
            FilePart::Runs(runs) => runs.iter().flatten().map(RawRun::text_length).sum(),
            FilePart::Lines(_) => buffer.len(),
        });
        if let FilePart::Runs(runs) = part {
            for (place, run) in runs.iter().enumerate() {
                self.place = Some(place);
                self.records.add_records(file_of(run), 1);
                match run {
                    Ok(raw) if broken.contains(&place) => self.push_result(RunResult::Fault(raw.source.run_name())),
                    run => self.judge_raw(run.as_ref().map_err(UnreadableTrace::of_error)),
                }
            }
            self.place = None;
        } else if let FilePart::Lines(lines) = std::mem::replace(part, FilePart::Runs(Vec::new())) {
            self.judge_chunk(lines, buffer);
        }
        self.flush_lines();
        self.note_names();
        self.incremental.flush_counts(&mut self.totals);
        self.observer.end_chunk(self.reads);
        (std::mem::take(&mut self.done), std::mem::take(&mut self.totals))
    }

    fn judge_chunk(&mut self, lines: WholeLines, buffer: &mut Vec<u8>) {
        let mut index = std::mem::take(&mut self.index);
        if index.build_index(buffer).is_err() {
            let count = memchr::memchr_iter(b'\n', buffer).count();
            return self.push_result(RunResult::Unreadable(UnreadableTrace::of_error(
                &lines.with_lines(count).no_memory(count),
            )));
        }
        let place = &lines.with_lines(memory::hold_lines(index.line_ends().count()));
        let left = match simdutf8::basic::from_utf8(buffer) {
            Ok(text) => self.judge_lines(place, text, &index),
            Err(_) => {
                for run in place.broken_runs(std::mem::take(buffer)) {
                    self.records.add_records(&place.file, 1);
                    self.judge_raw(run.as_ref().map_err(UnreadableTrace::of_error));
                }
                None
            }
        };
        self.index = index;
        match left {
            Some(left) => {
                // What was needed to look at its bytes is let go first, and the text is not copied.
                (self.index, self.arena) = (ByteIndex::default(), Bump::new());
                let text = String::from_utf8(std::mem::take(buffer)).unwrap_or_default();
                self.judge_unseen(&RawRun::part_of(text, left.range, left.source), left.way);
            }
            None => let_go(&mut self.arena),
        }
        if buffer.capacity() > LONG {
            (*buffer, self.index) = (Vec::new(), ByteIndex::default());
        }
    }

    /// A long last line that has to be read in full is left for later.
    fn judge_lines(&mut self, place: &LinesOrigin, text: &str, index: &ByteIndex) -> Option<DeferredLine> {
        self.make_line_reader();
        let mut reader = self.lines.take();
        let arena = std::mem::take(&mut self.arena);
        let limits = self.pipeline.reading.limits;
        let cursor = ScanCursor::new(text.as_bytes(), index, limits.json_depth);
        let chunk = ScannedChunk { text, cursor, arena: &arena, limits: &limits };
        let (mut left, mut records) = (None, 0);
        each_line(reader.as_mut(), chunk, index, |NonBlankLine { number, start, end, text: line }, projection| {
            records += 1;
            let source = || place.line_source(start, number);
            self.pipeline.faults.reach_point(FaultPoint::Line);
            let line = line.trim_end_matches('\r');
            let way = match projection {
                Some(projection) => {
                    let seen = SeenRun { projection, chunk, start: Some(start), text: line, source: &source };
                    let Some(way) = self.judge_seen(seen) else { return };
                    Some(way)
                }
                None => None,
            };
            if line.len() > LONG && end + 1 >= text.len() {
                left = Some(DeferredLine { range: start..start + line.len(), source: source(), way });
            } else {
                match RawRun::copy_of(line, source()) {
                    Ok(raw) => self.judge_unseen(&raw, way),
                    Err(error) => self.push_result(RunResult::Unreadable(UnreadableTrace::of_error(&error))),
                }
            }
        });
        self.records.add_records(&place.file, records);
        self.lines = reader;
        self.arena = arena;
        left
    }

    /// Judges a run by what is seen of it in its bytes; where that is not enough, returns the way in which it is to be judged.
    fn judge_seen<'a>(&mut self, seen: SeenRun<'_, 'a>) -> Option<JudgeWay>
    where
        'p: 'a,
    {
        self.begin_run();
        for one in &mut self.programs {
            let source = ProjectionSource::Line(seen.chunk);
            one.prefilter.judge_run(one.rules, seen.projection, source, &mut one.scratch, &mut self.answers);
        }
        self.note_answers();
        let by_default = self.programs.iter().all(|one| !one.scratch.has_read);
        match self.find_way(&seen) {
            JudgeWay::Counted => {
                self.incremental.add_run(&self.answers, &mut self.totals);
                self.gather_run(&[], &|| (seen.source)().run_name());
            }
            JudgeWay::Answered => self.report_answered(seen.text, seen.source),
            JudgeWay::InParts => {
                let is_judged = self.judge_by_parts(&seen);
                self.reads.projected += u64::from(is_judged);
                return (!is_judged).then_some(JudgeWay::InFull(FullReadCause::Run));
            }
            way @ (JudgeWay::InFull(_) | JudgeWay::Unseen(_)) => return Some(way),
        }
        self.reads.prefiltered += 1;
        self.reads.by_default += u64::from(by_default);
        None
    }

    /// Judges a run that no answers are known of, unless `way` says otherwise.
    fn judge_unseen(&mut self, raw: &RawRun, way: Option<JudgeWay>) {
        if let Some(way) = way.or_else(|| self.judge_projected(raw)) {
            self.judge_full(raw, way);
        }
    }

    fn judge_raw(&mut self, raw: Result<&RawRun, UnreadableTrace>) {
        match raw {
            Ok(raw) => self.judge_unseen(raw, None),
            Err(unreadable) => self.push_result(RunResult::Unreadable(unreadable)),
        }
    }

    /// Reads a run in full and judges it.
    fn judge_full(&mut self, raw: &RawRun, way: JudgeWay) {
        self.note_cause(way);
        self.catch_faults(raw.text_length(), &|| raw.source.run_name(), |this, full| {
            let run = this.read(raw, full)?;
            if matches!(way, JudgeWay::Unseen(_)) {
                this.answer_run(&run, full);
            }
            this.settle_run(&run, full);
            Ok(())
        });
    }

    /// Takes the first look at a run that is read in full.
    fn answer_run<'a>(&mut self, run: &'a Run<'a>, full: &'a Bump)
    where
        'p: 'a,
    {
        let mut projection = RunProjection::default();
        projection.project_run(run, &self.read_set);
        self.begin_run();
        for one in &mut self.programs {
            let source = ProjectionSource::Run(run, full);
            one.prefilter.judge_run(one.rules, &projection, source, &mut one.scratch, &mut self.answers);
        }
        self.note_answers();
    }

    /// Reads a run in full.
    fn read<'a>(&mut self, raw: &'a RawRun, full: &'a Bump) -> Result<Run<'a>, UnreadableTrace> {
        self.observer.enter(ProfilePhase::Reading);
        let run = self.pipeline.reading.parse_run(raw, full)?;
        self.pipeline.understood.note_run(&run);
        self.reads.full += 1;
        let time = self.observer.enter(ProfilePhase::FirstLook);
        self.observer.note_format(run.format, raw.text_length(), time);
        Ok(run)
    }

    /// Judges a run that was cut already by its bytes; where that is not enough, returns the way in which it is to be judged.
    fn judge_projected(&mut self, raw: &RawRun) -> Option<JudgeWay> {
        let limits = self.pipeline.reading.limits;
        // The index of a long line would be held beside its values.
        let is_line = raw.text_length() <= LONG && raw.is_plain_line();
        let fits = (is_line || raw.is_plain_session() || raw.may_be_trace()) && raw.text_length() <= limits.run_bytes;
        let unseen = Some(self.unseen_way(fits));
        // Without memory for an index it is read in full, which says so where there is none for that, either.
        let fits = fits && self.lines.is_some() && self.index.build_index(raw.run_text().as_bytes()).is_ok();
        let Some(mut reader) = self.lines.take_if(|_| fits) else { return unseen };
        let (index, arena) = (std::mem::take(&mut self.index), std::mem::take(&mut self.arena));
        let cursor = ScanCursor::new(raw.run_text().as_bytes(), &index, limits.json_depth);
        let chunk = ScannedChunk { text: raw.run_text(), cursor, arena: &arena, limits: &limits };
        let mut projection = RunProjection::default();
        let mut line = None;
        let read = match (index.is_clean(), raw.is_plain_session()) {
            (false, _) => None,
            (true, true) => reader.read_session(chunk, index.line_ends(), &mut projection),
            (true, false) => {
                let end = chunk.text.len();
                let from = cursor.blank_in_line(0, end);
                line = is_line.then(|| reader.read_line(chunk, from, end, &mut projection)).flatten().map(|()| 0);
                line.map(|_| ()).or_else(|| reader.read_trace(chunk, &mut projection))
            }
        };
        self.lines = Some(reader);
        self.pipeline.faults.reach_point(FaultPoint::Line);
        let source = || raw.source.clone();
        let seen = SeenRun { projection: &projection, chunk, start: line, text: raw.run_text(), source: &source };
        let way = read.map_or(unseen, |()| self.judge_seen(seen));
        drop(projection);
        (self.index, self.arena) = (index, arena);
        let_go(&mut self.arena);
        way
    }

    /// Returns false after a panic: a defect in one evaluation must not affect other runs.
    fn catch_faults(
        &mut self,
        bytes: usize,
        name: &dyn Fn() -> String,
        work: impl FnOnce(&mut Self, &Bump) -> Result<(), UnreadableTrace>,
    ) -> bool {
        // One thread at a time has such values, and keeps nothing of their memory.
        let large = (bytes > LARGE).then(|| self.pipeline.large.lock().unwrap_or_else(PoisonError::into_inner));
        let mut full = match large {
            // Where there is no such block, there may be smaller ones.
            Some(_) => allow_failure(|| Bump::try_with_capacity(OWN_BLOCK)).unwrap_or_default(),
            None => std::mem::take(&mut self.full),
        };
        let (done, written) = (self.done.len(), self.written.len());
        let worked = catch_unwind(AssertUnwindSafe(|| {
            self.pipeline.faults.reach_point(FaultPoint::Run);
            work(self, &full)
        }));
        let broke = worked.is_err();
        match worked {
            Ok(Ok(())) => {}
            Ok(Err(unreadable)) => self.push_result(RunResult::Unreadable(unreadable)),
            Err(_) => {
                if self.done.len() == done {
                    // No half line stays.
                    self.written.truncate(written);
                }
                self.push_result(RunResult::Fault(name()));
            }
        }
        if large.is_none() {
            let_go(&mut full);
            self.full = full;
        }
        self.observer.enter(ProfilePhase::FirstLook);
        !broke
    }
}

pub(crate) fn file_of(run: &Result<RawRun, ReadError>) -> &str {
    match run {
        Ok(raw) => &raw.source.file,
        Err(error) => &error.file,
    }
}
