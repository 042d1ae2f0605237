//! Judging for a profile: judges like every check, with a clock around each part, and says what it cost.
//!
//! Every run is read in full and every assertion evaluated, so that each has a cost of its own, the same however many threads there
//! are. The first look, which lets a check without a profile pass over most of that, is taken and measured too, but nothing is left out for it.

use crate::faults::Point;
use crate::judge::run_time::nanoseconds;
use crate::judge::{Done, OverRunsOf, each_line, file_of, line_reader};
use crate::pipeline::Pipeline;
use crate::prefilter::{Answer, Compiled, Prefilter, Scratch, Source};
use crate::understood::FileRecords;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::evaluate_profiled;
use averment_engine::vm::outcome::Outcome;
use averment_engine::vm::over_runs::Tally;
use averment_engine::vm::prepare::Prepared;
use averment_report::chunk_totals::ChunkTotals;
use averment_report::profile::{Costs, Phase, ProgramCosts};
use averment_report::{model, report_builder};
use averment_runs::run::Run;
use averment_traces::projection::{Chunk, LineReader, Projection, ReadSet};
use averment_traces::read::{FilePart, LinesOrigin, RawRun, WholeLines};
use averment_traces::scan::{Cursor, Index};
use bumpalo::Bump;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// One thread's work while a profile is made.
pub struct ProfilingJudge<'p> {
    pipeline: &'p Pipeline,
    programs: Vec<One<'p>>,
    read_set: ReadSet,
    lines: Option<LineReader>,
    index: Index,
    arena: Bump,
    full: Bump,
    answers: Vec<Answer>,
    done: Vec<Done>,
    records: FileRecords,
    costs: Costs,
    all: &'p Mutex<Costs>,
}

/// A program with what judges it.
struct One<'p> {
    rules: Compiled<'p>,
    prefilter: Prefilter,
    scratch: Scratch,
    over_runs: OverRunsOf<'p>,
    tally: Tally,
}

/// Empty notes for programs.
fn empty(programs: &[Program]) -> Costs {
    Costs::of_programs(programs.iter().map(|program| program.assertions.len()), clock)
}

/// The time since the first look at it.
fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// The notes of all threads, with what the rules have cost until now.
pub fn begin(programs: &[Program], started: Instant) -> Costs {
    let mut costs = empty(programs);
    costs.spend(Phase::Rules, started.elapsed());
    costs
}

impl<'p> ProfilingJudge<'p> {
    /// A judge for the programs of a pipeline, which adds its costs to those of all.
    pub fn new(pipeline: &'p Pipeline, prepared: &'p [Prepared], all: &'p Mutex<Costs>) -> Self {
        let since = Instant::now();
        let mut read_set = ReadSet::default();
        let programs: Vec<One<'p>> = pipeline
            .programs
            .iter()
            .zip(prepared)
            .map(|(program, prepared)| {
                let rules = Compiled { program, prepared, options: &pipeline.options };
                let prefilter = Prefilter::new(rules, &mut read_set);
                let over_runs = OverRunsOf::new(program, &pipeline.options, prefilter.assertions());
                One { rules, prefilter, scratch: Scratch::default(), over_runs, tally: Tally::default() }
            })
            .collect();
        let lines = line_reader(pipeline, programs.iter().map(|one| &one.prefilter), &read_set);
        let mut costs = Costs { threads: 1, ..empty(&pipeline.programs) };
        costs.spend(Phase::Preparing, since.elapsed());
        Self {
            pipeline,
            programs,
            read_set,
            lines,
            index: Index::default(),
            arena: Bump::new(),
            full: Bump::new(),
            answers: Vec::new(),
            done: Vec::new(),
            records: FileRecords::default(),
            costs,
            all,
        }
    }

    /// Judges a chunk whose lines, if it has any, are in `buffer`.
    pub fn part(&mut self, part: FilePart, buffer: &mut Vec<u8>) -> (Vec<Done>, ChunkTotals) {
        match part {
            FilePart::Runs(runs) => {
                for run in runs {
                    self.records.add(file_of(&run), 1);
                    self.unlooked(run.as_ref().map_err(model::Unreadable::of));
                }
            }
            FilePart::Lines(lines) => self.chunk(lines, buffer),
        }
        let costs = std::mem::replace(&mut self.costs, empty(&self.pipeline.programs));
        self.all.lock().unwrap_or_else(PoisonError::into_inner).add(&costs);
        let over_runs = self.programs.iter_mut().map(|one| std::mem::take(&mut one.tally)).collect();
        (std::mem::take(&mut self.done), ChunkTotals { over_runs, ..ChunkTotals::default() })
    }

    /// How many records there were since this was asked last.
    pub fn take_records(&mut self) -> FileRecords {
        std::mem::take(&mut self.records)
    }

    fn chunk(&mut self, lines: WholeLines, buffer: &mut Vec<u8>) {
        let since = Instant::now();
        let mut index = std::mem::take(&mut self.index);
        if index.build(buffer).is_err() {
            let count = memchr::memchr_iter(b'\n', buffer).count();
            self.done.push(Done::Unreadable(model::Unreadable::of(&lines.counted(count).no_memory(count))));
            return;
        }
        let place = &lines.counted(index.line_ends().count());
        let text = simdutf8::basic::from_utf8(buffer);
        self.costs.spend(Phase::FirstLook, since.elapsed());
        match text {
            Ok(text) => self.lines(place, text, &index),
            Err(_) => {
                for run in place.broken(std::mem::take(buffer)) {
                    self.records.add(&place.file, 1);
                    self.unlooked(run.as_ref().map_err(model::Unreadable::of));
                }
            }
        }
        self.index = index;
        self.arena.reset();
    }

    fn lines(&mut self, place: &LinesOrigin, text: &str, index: &Index) {
        let mut reader = self.lines.take();
        let arena = std::mem::take(&mut self.arena);
        let limits = self.pipeline.reading.limits;
        let cursor = Cursor::new(text.as_bytes(), index, limits.json_depth);
        let chunk = Chunk { text, cursor, arena: &arena, limits: &limits };
        // What a line takes begins where the one before it is done.
        let mut since = Instant::now();
        let mut records = 0;
        each_line(reader.as_mut(), chunk, index, |line, projection| {
            records += 1;
            if let Some(projection) = projection {
                self.look(projection, Source::Line(chunk));
            }
            self.costs.spend(Phase::FirstLook, since.elapsed());
            let text = line.text.trim_end_matches('\r');
            match RawRun::copied(text, place.source(line.start, line.number)) {
                Ok(raw) if projection.is_some() => self.looked(&raw),
                raw => self.unlooked(raw.as_ref().map_err(model::Unreadable::of)),
            }
            since = Instant::now();
        });
        self.records.add(&place.file, records);
        self.lines = reader;
        self.arena = arena;
    }

    /// Has the prefilter answer what it can.
    fn look<'a>(&mut self, projection: &Projection<'a>, source: Source<'a>)
    where
        'p: 'a,
    {
        self.pipeline.faults.reach(Point::Line);
        self.answers.clear();
        for one in &mut self.programs {
            one.prefilter.judge(one.rules, projection, source, &mut one.scratch, &mut self.answers);
        }
    }

    /// A run that the prefilter has seen as a line.
    fn looked(&mut self, raw: &RawRun) {
        self.guarded(raw, false);
    }

    /// A run that it has not seen.
    fn unlooked(&mut self, raw: Result<&RawRun, model::Unreadable>) {
        match raw {
            Ok(raw) => self.guarded(raw, true),
            Err(unreadable) => self.done.push(Done::Unreadable(unreadable)),
        }
    }

    /// A defect in one evaluation must not take the other runs with it.
    fn guarded(&mut self, raw: &RawRun, look: bool) {
        let mut full = std::mem::take(&mut self.full);
        let done = catch_unwind(AssertUnwindSafe(|| {
            self.pipeline.faults.reach(Point::Run);
            self.run(raw, &full, look)
        }));
        self.done.push(done.unwrap_or_else(|_| Done::Fault(raw.source.name())));
        full.reset();
        self.full = full;
    }

    /// Reads a run in full, evaluates every assertion on it, and reports it.
    fn run(&mut self, raw: &RawRun, full: &Bump, look: bool) -> Done {
        let since = Instant::now();
        let begun = since;
        let read = self.pipeline.reading.parse(raw, full);
        let time = self.costs.spend(Phase::Reading, since.elapsed());
        let run = match read {
            Ok(run) => run,
            Err(failure) => return Done::Unreadable(failure.into()),
        };
        self.pipeline.understood.note(&run);
        self.count(run.format, raw.length(), time);
        if look {
            let since = Instant::now();
            let mut projection = Projection::default();
            projection.of_run(&run, &self.read_set);
            self.look(&projection, Source::Run(&run, full));
            self.costs.spend(Phase::FirstLook, since.elapsed());
        }
        self.count_answers();
        let since = Instant::now();
        let mut outcomes = Vec::with_capacity(self.programs.len());
        for (one, ProgramCosts { profile, .. }) in self.programs.iter().zip(&mut self.costs.programs) {
            let options = &self.pipeline.options;
            outcomes.push(evaluate_profiled(one.rules.program, one.rules.prepared, &run, full, options, profile));
        }
        self.gather(&run, &outcomes, full);
        self.costs.spend(Phase::Evaluating, since.elapsed());
        let since = Instant::now();
        let Pipeline { table, policy, detail, .. } = self.pipeline;
        let mut report = report_builder::build(table, &run, &outcomes, *policy, *detail);
        self.costs.spend(Phase::Reporting, since.elapsed());
        report.nanoseconds = self.pipeline.timed.then(|| nanoseconds(begun.elapsed()));
        Done::Run(Box::new(report))
    }

    /// Adds a run to what is kept for the assertions over runs.
    fn gather<'a>(&mut self, run: &'a Run<'a>, outcomes: &[Outcome], full: &'a Bump)
    where
        'p: 'a,
    {
        for (One { rules, prefilter, over_runs, tally, .. }, outcome) in self.programs.iter_mut().zip(outcomes) {
            if over_runs.is_empty() {
                continue;
            }
            let given = over_runs.look(rules.prepared, run, full, rules.options);
            let judged = |at: usize| {
                let number = prefilter.assertion(at)?;
                let known = outcome.results.binary_search_by_key(&number, |one| one.assertion).ok()?;
                outcome.results.get(known).map(|one| (one.verdict, one.score))
            };
            over_runs.add(given, &judged, &|| run.source.name(), tally);
        }
    }

    fn count(&mut self, format: &'static str, bytes: usize, time: u64) {
        self.costs.runs += 1;
        let reading = self.costs.formats.entry(format).or_default();
        reading.runs += 1;
        reading.bytes += u64::try_from(bytes).unwrap_or(u64::MAX);
        reading.time += time;
    }

    /// Counts what the first look has decided.
    fn count_answers(&mut self) {
        let mut answers = self.answers.iter();
        let mut all = true;
        for (one, costs) in self.programs.iter().zip(&mut self.costs.programs) {
            for number in one.prefilter.assertions() {
                let decided = answers.next().is_some_and(|answer| answer.verdict().is_some());
                all &= decided;
                if let Some(count) = costs.decided.get_mut(number as usize) {
                    *count += u64::from(decided);
                }
            }
        }
        self.costs.decided += u64::from(all);
    }
}
