//! One thread's work: takes chunks of traces, judges their runs, and says what came of them.
//!
//! Whole lines are indexed and prefiltered; a run is read in full only for what the prefilter leaves open, and for the reasons of what does
//! not pass. Both ways give the same verdicts.

mod matched;
pub mod observer;
mod over_runs;
mod partly;
mod prefiltered;
mod run_time;
mod segments;
mod settle;
mod walk;

use super::pipeline::Pipeline;
use crate::faults::Point;
use crate::incremental_totals::IncrementalTotals;
use crate::prefilter::{Answer, Compiled, Prefilter, Scratch, Source};
use crate::understood::FileRecords;
use averment_base::limits::{LARGE, LONG, OWN_BLOCK};
use averment_base::memory::{self, asking};
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::AssertionOutcome;
use averment_engine::vm::prepare::Prepared;
use averment_engine::vm::profile::Profile;
use averment_engine::vm::score;
use averment_report::chunk_totals::{ChunkTotals, Memory};
use averment_report::drawn::Drawn;
use averment_report::model::{RunReport, Unreadable};
use averment_report::profile::Phase;
pub use averment_report::profile::Reads;
use averment_runs::run::{Run, RunSource};
use averment_traces::error::ReadError;
use averment_traces::names::Names;
use averment_traces::projection::{Chunk, LineReader, Projection, ReadSet};
use averment_traces::read::{FilePart, LinesOrigin, RawRun, WholeLines};
use averment_traces::scan::{Cursor, Index};
use bumpalo::Bump;
use observer::JudgeObserver;
use over_runs::OverRunsOf;
use prefiltered::Prefiltered;
use run_time::RunTime;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;
use walk::{Line, each_line, let_go};

/// What came of a chunk of a trace.
pub enum Done {
    /// A run, for reports that show single runs.
    Run(Box<RunReport>),
    /// Finished lines of `jsonl`.
    Lines(Vec<u8>),
    /// What cannot be read.
    Unreadable(Unreadable),
    /// The evaluation broke down: the run's name.
    Fault(String),
}

/// What one thread keeps between runs.
pub struct Judge<'p> {
    pipeline: &'p Pipeline,
    programs: Vec<Prefiltered<'p>>,
    read_set: ReadSet,
    lines: Option<LineReader>,
    index: Index,
    /// Values of the lines of a chunk.
    arena: Bump,
    /// Values of a run that is read in full.
    full: Bump,
    memory: Memory,
    answers: Vec<Answer>,
    wanted: partly::Wanted,
    verdicts: Vec<u8>,
    totals: ChunkTotals,
    reads: Reads,
    records: FileRecords,
    /// Counts of runs of which nothing but counts is wanted.
    incremental: IncrementalTotals,
    /// What reports have room for.
    drawn: Drawn,
    done: Vec<Done>,
    /// Finished lines, written after the entries of `done`.
    written: Vec<u8>,
    time: RunTime,
    observer: JudgeObserver<'p>,
}

/// What reads lines without reading their runs in full; `None` where every run has to be read in full whatever stands in it.
fn line_reader<'s>(
    pipeline: &Pipeline,
    mut prefilters: impl Iterator<Item = &'s Prefilter>,
    read_set: &ReadSet,
) -> Option<LineReader> {
    // What is not to be shown is known only of a run that is read in full, and so is what its tokens cost.
    if pipeline.reading.is_in_full() || prefilters.any(|prefilter| !prefilter.always_read().is_empty()) {
        return None;
    }
    LineReader::new(read_set, pipeline.reading.names.as_deref().unwrap_or(Names::known()))
}

impl<'p> Judge<'p> {
    /// A judge for the programs of a pipeline, with what was prepared of each, and where the costs of each are noted.
    pub fn new(pipeline: &'p Pipeline, prepared: &'p [Prepared], profiles: &'p [RefCell<Profile>]) -> Self {
        let mut observer = JudgeObserver::new(pipeline.profile.as_ref(), profiles);
        let mut read_set = ReadSet::default();
        let programs: Vec<Prefiltered<'p>> = pipeline
            .programs
            .iter()
            .zip(prepared)
            .enumerate()
            .map(|(number, (program, prepared))| {
                let profile = profiles.get(number);
                let rules = Compiled { program, prepared, options: &pipeline.options, profile };
                let prefilter = Prefilter::new(rules, &mut read_set);
                let idle = vec![None; program.assertions.len()];
                let assertion_reads = prefilter.assertion_reads(program);
                let said = vec![[None, None]; program.assertions.len()];
                let scratch = Scratch::default();
                let over_runs = OverRunsOf::new(program, &pipeline.options, prefilter.assertions());
                Prefiltered { rules, prefilter, assertion_reads, scratch, over_runs, idle, said, named: 0, skipped: 0 }
            })
            .collect();
        let lines = line_reader(pipeline, programs.iter().map(|one| &one.prefilter), &read_set);
        let selected = programs.iter().map(|one| (one.rules.program, one.prefilter.assertions().collect()));
        let incremental = IncrementalTotals::new(selected, &pipeline.table, pipeline.policy);
        observer.enter(Phase::FirstLook);
        Self {
            pipeline,
            incremental,
            drawn: Drawn::new(pipeline.drawn),
            programs,
            read_set,
            lines,
            index: Index::default(),
            arena: Bump::new(),
            full: Bump::new(),
            memory: Memory::default(),
            answers: Vec::new(),
            wanted: partly::Wanted::default(),
            verdicts: Vec::new(),
            totals: ChunkTotals::default(),
            reads: Reads::default(),
            records: FileRecords::default(),
            done: Vec::new(),
            written: Vec::new(),
            time: RunTime::default(),
            observer,
        }
    }

    /// Adds what is no line; finished lines stand before it.
    fn push(&mut self, done: Done) {
        self.flush();
        self.done.push(done);
    }

    fn flush(&mut self) {
        if !self.written.is_empty() {
            self.done.push(Done::Lines(std::mem::take(&mut self.written)));
        }
    }

    /// How much was read since this was asked last.
    pub fn take_reads(&mut self) -> Reads {
        std::mem::take(&mut self.reads)
    }

    /// How many records there were since this was asked last.
    pub fn take_records(&mut self) -> FileRecords {
        std::mem::take(&mut self.records)
    }

    /// Judges a chunk whose lines, if it has any, are in `buffer`.
    pub fn part(&mut self, part: FilePart, buffer: &mut Vec<u8>) -> (Vec<Done>, ChunkTotals) {
        self.time = RunTime::begin(self.pipeline.timed);
        self.observer.begin_chunk(|| match &part {
            FilePart::Runs(runs) => runs.iter().flatten().map(RawRun::length).sum(),
            FilePart::Lines(_) => buffer.len(),
        });
        match part {
            FilePart::Runs(runs) => {
                for run in runs {
                    self.records.add(file_of(&run), 1);
                    self.raw(run.as_ref().map_err(Unreadable::of));
                }
            }
            FilePart::Lines(lines) => self.chunk(lines, buffer),
        }
        self.flush();
        self.note_names();
        self.incremental.finish(&mut self.totals);
        self.observer.end_chunk(self.reads);
        (std::mem::take(&mut self.done), std::mem::take(&mut self.totals))
    }

    fn chunk(&mut self, lines: WholeLines, buffer: &mut Vec<u8>) {
        let mut index = std::mem::take(&mut self.index);
        if index.build(buffer).is_err() {
            let count = memchr::memchr_iter(b'\n', buffer).count();
            return self.push(Done::Unreadable(Unreadable::of(&lines.counted(count).no_memory(count))));
        }
        let place = &lines.counted(memory::holding(index.line_ends().count()));
        let left = match simdutf8::basic::from_utf8(buffer) {
            Ok(text) => self.lines(place, text, &index),
            Err(_) => {
                for run in place.broken(std::mem::take(buffer)) {
                    self.records.add(&place.file, 1);
                    self.raw(run.as_ref().map_err(Unreadable::of));
                }
                None
            }
        };
        self.index = index;
        match left {
            Some(left) => {
                // What was needed to look at its bytes is let go first, and the text is not copied.
                (self.index, self.arena) = (Index::default(), Bump::new());
                let text = String::from_utf8(std::mem::take(buffer)).unwrap_or_default();
                self.full(&RawRun::part_of(text, left.range, left.source), left.prefiltered);
            }
            None => let_go(&mut self.arena),
        }
        if buffer.capacity() > LONG {
            (*buffer, self.index) = (Vec::new(), Index::default());
        }
    }

    /// Judges lines. A long last one that has to be read in full is left.
    fn lines(&mut self, place: &LinesOrigin, text: &str, index: &Index) -> Option<Left> {
        let mut reader = self.lines.take();
        let arena = std::mem::take(&mut self.arena);
        let limits = self.pipeline.reading.limits;
        let cursor = Cursor::new(text.as_bytes(), index, limits.json_depth);
        let chunk = Chunk { text, cursor, arena: &arena, limits: &limits };
        let (mut left, mut records) = (None, 0);
        each_line(reader.as_mut(), chunk, index, |Line { number, start, end, text: line }, projection| {
            records += 1;
            let source = || place.source(start, number);
            self.pipeline.faults.reach(Point::Line);
            if projection.is_some_and(|projection| self.prefiltered(projection, chunk, Some(start), line, &source)) {
                return;
            }
            let (line, prefiltered) = (line.trim_end_matches('\r'), projection.is_some());
            if line.len() > LONG && end + 1 >= text.len() {
                left = Some(Left { range: start..start + line.len(), source: source(), prefiltered });
            } else {
                match RawRun::copied(line, source()) {
                    Ok(raw) => self.full(&raw, prefiltered),
                    Err(error) => self.push(Done::Unreadable(Unreadable::of(&error))),
                }
            }
        });
        self.records.add(&place.file, records);
        self.lines = reader;
        self.arena = arena;
        left
    }

    /// A run of which only the projection is known. False where it has to be read in full.
    fn prefiltered<'a>(
        &mut self,
        projection: &Projection<'a>,
        chunk: Chunk<'a>,
        start: Option<usize>,
        line: &str,
        source: &dyn Fn() -> RunSource,
    ) -> bool
    where
        'p: 'a,
    {
        self.answers.clear();
        for one in &mut self.programs {
            one.prefilter.judge(one.rules, projection, Source::Line(chunk), &mut one.scratch, &mut self.answers);
        }
        self.note_answers();
        let by_default = self.programs.iter().all(|one| !one.scratch.has_read);
        if !self.has_looked() {
            return false;
        }
        if self.counts_only() {
            let same = self.incremental.compare(&self.answers);
            if same {
                self.incremental.add(&self.answers, &mut self.totals);
                self.gather(&[], &|| source().name());
            }
            self.reads.prefiltered += u64::from(same);
            self.reads.by_default += u64::from(same && by_default);
            return same;
        }
        if self.needs_run() {
            let line = line.trim_end_matches('\r');
            let settled = start.is_some_and(|start| self.by_parts(projection, chunk, start, line, source));
            self.reads.projected += u64::from(settled);
            return settled;
        }
        self.answered(line, source);
        self.reads.prefiltered += 1;
        self.reads.by_default += u64::from(by_default);
        true
    }

    /// Reads a run in full, and judges what the answers leave open where the prefilter has seen it.
    fn full(&mut self, raw: &RawRun, prefiltered: bool) {
        if !prefiltered {
            return self.raw(Ok(raw));
        }
        self.note_cause();
        self.guarded(raw.length(), &|| raw.source.name(), |this, full| {
            let run = this.read(raw, full)?;
            this.settle(&run, full);
            Ok(())
        });
    }

    /// Reads a run in full.
    fn read<'a>(&mut self, raw: &'a RawRun, full: &'a Bump) -> Result<Run<'a>, Unreadable> {
        self.observer.enter(Phase::Reading);
        let run = self.pipeline.reading.parse(raw, full)?;
        self.pipeline.understood.note(&run);
        self.reads.full += 1;
        let time = self.observer.enter(Phase::FirstLook);
        self.observer.note_format(run.format, raw.length(), time);
        Ok(run)
    }

    /// Prefilters a run that stands on several lines, or is put together of parts. False where it has to be read in full all the same.
    fn projected(&mut self, raw: &RawRun) -> bool {
        let limits = self.pipeline.reading.limits;
        let fits = (raw.is_plain_session() || raw.may_be_trace()) && raw.text().len() <= limits.run_bytes;
        // Without memory for an index it is read in full, which says so where there is none for that, either.
        let fits = fits && self.lines.is_some() && self.index.build(raw.text().as_bytes()).is_ok();
        let Some(mut reader) = self.lines.take_if(|_| fits) else { return false };
        let (index, arena) = (std::mem::take(&mut self.index), std::mem::take(&mut self.arena));
        let cursor = Cursor::new(raw.text().as_bytes(), &index, limits.json_depth);
        let chunk = Chunk { text: raw.text(), cursor, arena: &arena, limits: &limits };
        let mut projection = Projection::default();
        let read = match (index.is_clean(), raw.is_plain_session()) {
            (false, _) => None,
            (true, true) => reader.read_session(chunk, index.line_ends(), &mut projection),
            (true, false) => reader.read_trace(chunk, &mut projection),
        };
        self.lines = Some(reader);
        self.pipeline.faults.reach(Point::Line);
        let settled = read.map(|()| self.prefiltered(&projection, chunk, None, raw.text(), &|| raw.source.clone()));
        drop(projection);
        (self.index, self.arena) = (index, arena);
        let_go(&mut self.arena);
        if settled == Some(false) {
            self.full(raw, true);
        }
        settled.is_some()
    }

    /// A run that is read in full, where the prefilter does not settle it.
    fn raw(&mut self, raw: Result<&RawRun, Unreadable>) {
        let raw = match raw {
            Ok(raw) => raw,
            Err(unreadable) => return self.push(Done::Unreadable(unreadable)),
        };
        if self.projected(raw) {
            return;
        }
        self.note_cause_unseen();
        self.guarded(raw.length(), &|| raw.source.name(), |this, full| {
            let run = this.read(raw, full)?;
            let mut projection = Projection::default();
            projection.of_run(&run, &this.read_set);
            let source = Source::Run(&run, full);
            this.answers.clear();
            for one in &mut this.programs {
                one.prefilter.judge(one.rules, &projection, source, &mut one.scratch, &mut this.answers);
            }
            this.note_answers();
            this.settle(&run, full);
            Ok(())
        });
    }

    /// Works on a run of so many bytes; false where that broke down. A defect in one evaluation must not take the other runs with it.
    fn guarded(
        &mut self,
        bytes: usize,
        name: &dyn Fn() -> String,
        work: impl FnOnce(&mut Self, &Bump) -> Result<(), Unreadable>,
    ) -> bool {
        // One thread at a time has such values, and keeps nothing of their memory.
        let large = (bytes > LARGE).then(|| self.pipeline.large.lock().unwrap_or_else(PoisonError::into_inner));
        let mut full = match large {
            // Where there is no such block, there may be smaller ones.
            Some(_) => asking(|| Bump::try_with_capacity(OWN_BLOCK)).unwrap_or_default(),
            None => std::mem::take(&mut self.full),
        };
        let (done, written) = (self.done.len(), self.written.len());
        let worked = catch_unwind(AssertUnwindSafe(|| {
            self.pipeline.faults.reach(Point::Run);
            work(self, &full)
        }));
        let broke = worked.is_err();
        match worked {
            Ok(Ok(())) => {}
            Ok(Err(unreadable)) => self.push(Done::Unreadable(unreadable)),
            Err(_) => {
                if self.done.len() == done {
                    // No half line stays.
                    self.written.truncate(written);
                }
                self.push(Done::Fault(name()));
            }
        }
        if large.is_none() {
            let_go(&mut full);
            self.full = full;
        }
        self.observer.enter(Phase::FirstLook);
        !broke
    }
}

/// The file that a run, or what cannot be read, stands in.
pub(crate) fn file_of(run: &Result<RawRun, ReadError>) -> &str {
    match run {
        Ok(raw) => &raw.source.file,
        Err(error) => &error.file,
    }
}

/// Whether the verdict of an outcome says its score, and all that is said of a pass.
fn is_plain(outcome: &AssertionOutcome) -> bool {
    let own = score::of_verdict(outcome.verdict);
    outcome.verdict != Verdict::Error
        && outcome.unjudged.is_none()
        && outcome.score == score::counted(outcome.status, own)
}

/// A line that has to be read in full when all others of its chunk are done.
struct Left {
    range: std::ops::Range<usize>,
    source: RunSource,
    /// The answers are those of its projection.
    prefiltered: bool,
}
