//! Judging for a profile: judges like every check, with a clock around each part, and says what it cost.
//!
//! Every run is read in full and every assertion evaluated, so that each has a cost of its own, the same however many threads there
//! are. The first look, which lets a check without a profile pass over most of that, is taken and measured too, but nothing is left out for it.

use crate::faults::FaultPoint;
use crate::feed;
use crate::judge::run_time::as_nanoseconds;
use crate::judge::{ProgramOverRuns, RunResult, each_line, file_of, line_reader};
use crate::pipeline::Pipeline;
use crate::prefilter::{EvaluationRules, Prefilter, PrefilterAnswer, PrefilterScratch, ProjectionSource};
use crate::reading_notes::FileRecords;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::evaluate_profiled;
use averment_engine::vm::outcome::RunOutcome;
use averment_engine::vm::over_runs::RunsTally;
use averment_engine::vm::prepare::PreparedProgram;
use averment_report::chunk_totals::ChunkTotals;
use averment_report::model;
use averment_report::profile::{CheckCosts, ProfilePhase, ProgramCosts};
use averment_runs::run::Run;
use averment_traces::projection::{LineReader, ReadSet, RunProjection, ScannedChunk};
use averment_traces::read::{FilePart, LinesOrigin, RawRun, WholeLines};
use averment_traces::scan::{ByteIndex, ScanCursor};
use bumpalo::Bump;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// One thread's work while a profile is made.
pub struct ProfilingJudge<'p> {
    pipeline: &'p Pipeline,
    programs: Vec<ProfiledProgram<'p>>,
    read_set: ReadSet,
    lines: Option<LineReader>,
    index: ByteIndex,
    arena: Bump,
    full: Bump,
    answers: Vec<PrefilterAnswer>,
    done: Vec<RunResult>,
    records: FileRecords,
    costs: CheckCosts,
    all: &'p Mutex<CheckCosts>,
}

struct ProfiledProgram<'p> {
    rules: EvaluationRules<'p>,
    prefilter: Prefilter,
    scratch: PrefilterScratch,
    over_runs: ProgramOverRuns<'p>,
    tally: RunsTally,
}

fn empty_costs(programs: &[Program]) -> CheckCosts {
    CheckCosts::of_programs(programs.iter().map(|program| program.assertions.len()), elapsed_time)
}

fn elapsed_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// The notes of all threads, with what the rules have cost until now.
pub fn begin_costs(programs: &[Program], started: Instant) -> CheckCosts {
    let mut costs = empty_costs(programs);
    costs.add_time(ProfilePhase::Rules, started.elapsed());
    costs
}

impl<'p> ProfilingJudge<'p> {
    /// A judge for the programs of a pipeline, which adds its costs to those of all.
    pub fn new(pipeline: &'p Pipeline, prepared: &'p [PreparedProgram], all: &'p Mutex<CheckCosts>) -> Self {
        let since = Instant::now();
        let mut read_set = ReadSet::default();
        let programs: Vec<ProfiledProgram<'p>> = pipeline
            .programs
            .iter()
            .zip(prepared)
            .map(|(program, prepared)| {
                let rules = EvaluationRules { program, prepared, options: &pipeline.options };
                let prefilter = Prefilter::new(rules, &mut read_set);
                let over_runs = ProgramOverRuns::new(program, &pipeline.options, prefilter.assertion_numbers());
                ProfiledProgram {
                    rules,
                    prefilter,
                    scratch: PrefilterScratch::default(),
                    over_runs,
                    tally: RunsTally::default(),
                }
            })
            .collect();
        let lines = line_reader(pipeline, programs.iter().map(|one| &one.prefilter), &read_set);
        let mut costs = CheckCosts { threads: 1, ..empty_costs(&pipeline.programs) };
        costs.add_time(ProfilePhase::Preparing, since.elapsed());
        Self {
            pipeline,
            programs,
            read_set,
            lines,
            index: ByteIndex::default(),
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
    pub fn judge_part(&mut self, part: FilePart, buffer: &mut Vec<u8>) -> (Vec<RunResult>, ChunkTotals) {
        match part {
            FilePart::Runs(runs) => {
                for run in runs {
                    self.records.add_records(file_of(&run), 1);
                    self.profile_raw(run.as_ref().map_err(model::UnreadableTrace::of_error));
                }
            }
            FilePart::Lines(lines) => self.judge_chunk(lines, buffer),
        }
        let costs = std::mem::replace(&mut self.costs, empty_costs(&self.pipeline.programs));
        self.all.lock().unwrap_or_else(PoisonError::into_inner).add_costs(&costs);
        let over_runs = self.programs.iter_mut().map(|one| std::mem::take(&mut one.tally)).collect();
        (std::mem::take(&mut self.done), ChunkTotals { over_runs, ..ChunkTotals::default() })
    }

    /// Takes the record counts since the last call.
    pub fn take_records(&mut self) -> FileRecords {
        std::mem::take(&mut self.records)
    }

    fn judge_chunk(&mut self, lines: WholeLines, buffer: &mut Vec<u8>) {
        let since = Instant::now();
        let mut index = std::mem::take(&mut self.index);
        if index.build_index(buffer).is_err() {
            let count = memchr::memchr_iter(b'\n', buffer).count();
            self.done.push(RunResult::Unreadable(model::UnreadableTrace::of_error(
                &lines.with_lines(count).no_memory(count),
            )));
            return;
        }
        let place = &lines.with_lines(index.line_ends().count());
        let text = simdutf8::basic::from_utf8(buffer);
        self.costs.add_time(ProfilePhase::FirstLook, since.elapsed());
        match text {
            Ok(text) => self.judge_lines(place, text, &index),
            Err(_) => {
                for run in place.broken_runs(std::mem::take(buffer)) {
                    self.records.add_records(&place.file, 1);
                    self.profile_raw(run.as_ref().map_err(model::UnreadableTrace::of_error));
                }
            }
        }
        self.index = index;
        self.arena.reset();
    }

    fn judge_lines(&mut self, place: &LinesOrigin, text: &str, index: &ByteIndex) {
        let mut reader = self.lines.take();
        let arena = std::mem::take(&mut self.arena);
        let limits = self.pipeline.reading.limits;
        let cursor = ScanCursor::new(text.as_bytes(), index, limits.json_depth);
        let chunk = ScannedChunk { text, cursor, arena: &arena, limits: &limits };
        // What a line takes begins where the one before it is done.
        let mut since = Instant::now();
        let mut records = 0;
        each_line(reader.as_mut(), chunk, index, |line, projection| {
            records += 1;
            if let Some(projection) = projection {
                self.run_prefilter(projection, ProjectionSource::Line(chunk));
            }
            self.costs.add_time(ProfilePhase::FirstLook, since.elapsed());
            let text = line.text.trim_end_matches('\r');
            match RawRun::copy_of(text, place.line_source(line.start, line.number)) {
                Ok(raw) if projection.is_some() => self.profile_prefiltered(&raw),
                raw => self.profile_raw(raw.as_ref().map_err(model::UnreadableTrace::of_error)),
            }
            since = Instant::now();
        });
        self.records.add_records(&place.file, records);
        self.lines = reader;
        self.arena = arena;
    }

    fn run_prefilter<'a>(&mut self, projection: &RunProjection<'a>, source: ProjectionSource<'a>)
    where
        'p: 'a,
    {
        self.pipeline.faults.reach_point(FaultPoint::Line);
        self.answers.clear();
        for one in &mut self.programs {
            one.prefilter.judge_run(one.rules, projection, source, &mut one.scratch, &mut self.answers);
        }
    }

    fn profile_prefiltered(&mut self, raw: &RawRun) {
        self.catch_faults(raw, false);
    }

    fn profile_raw(&mut self, raw: Result<&RawRun, model::UnreadableTrace>) {
        match raw {
            Ok(raw) => self.catch_faults(raw, true),
            Err(unreadable) => self.done.push(RunResult::Unreadable(unreadable)),
        }
    }

    /// A defect in one evaluation must not affect other runs.
    fn catch_faults(&mut self, raw: &RawRun, look: bool) {
        let mut full = std::mem::take(&mut self.full);
        let done = catch_unwind(AssertUnwindSafe(|| {
            self.pipeline.faults.reach_point(FaultPoint::Run);
            self.profile_run(raw, &full, look)
        }));
        self.done.push(done.unwrap_or_else(|_| RunResult::Fault(raw.source.run_name())));
        full.reset();
        self.full = full;
    }

    fn profile_run(&mut self, raw: &RawRun, full: &Bump, look: bool) -> RunResult {
        let since = Instant::now();
        let begun = since;
        let read = feed::parse_run(raw, full, &self.pipeline.reading);
        let time = self.costs.add_time(ProfilePhase::Reading, since.elapsed());
        let run = match read {
            Ok(run) => run,
            Err(unreadable) => return RunResult::Unreadable(unreadable),
        };
        self.pipeline.understood.note_run(&run);
        self.count_read(run.format, raw.text_length(), time);
        if look {
            let since = Instant::now();
            let mut projection = RunProjection::default();
            projection.project_run(&run, &self.read_set);
            self.run_prefilter(&projection, ProjectionSource::Run(&run, full));
            self.costs.add_time(ProfilePhase::FirstLook, since.elapsed());
        }
        self.count_answers();
        let since = Instant::now();
        let mut outcomes = Vec::with_capacity(self.programs.len());
        for (one, ProgramCosts { profile, .. }) in self.programs.iter().zip(&mut self.costs.programs) {
            let options = &self.pipeline.options;
            outcomes.push(evaluate_profiled(one.rules.program, one.rules.prepared, &run, full, options, profile));
        }
        self.gather_run(&run, &outcomes, full);
        self.costs.add_time(ProfilePhase::Evaluating, since.elapsed());
        let since = Instant::now();
        let Pipeline { table, policy, detail, .. } = self.pipeline;
        let mut report = model::build_report(table, &run, &outcomes, *policy, *detail);
        self.costs.add_time(ProfilePhase::Reporting, since.elapsed());
        report.nanoseconds = self.pipeline.timed.then(|| as_nanoseconds(begun.elapsed()));
        RunResult::Run(Box::new(report))
    }

    fn gather_run<'a>(&mut self, run: &'a Run<'a>, outcomes: &[RunOutcome], full: &'a Bump)
    where
        'p: 'a,
    {
        for (ProfiledProgram { rules, prefilter, over_runs, tally, .. }, outcome) in
            self.programs.iter_mut().zip(outcomes)
        {
            if over_runs.is_empty() {
                continue;
            }
            let given = over_runs.read_values(rules.prepared, run, full, rules.options);
            let judged = |at: usize| {
                let number = prefilter.assertion_number(at)?;
                let known = outcome.results.binary_search_by_key(&number, |one| one.assertion).ok()?;
                outcome.results.get(known).map(|one| (one.verdict, one.score))
            };
            over_runs.add_run(given, &judged, &|| run.source.run_name(), tally);
        }
    }

    fn count_read(&mut self, format: &'static str, bytes: usize, time: u64) {
        self.costs.runs += 1;
        let reading = self.costs.formats.entry(format).or_default();
        reading.runs += 1;
        reading.bytes += u64::try_from(bytes).unwrap_or(u64::MAX);
        reading.time += time;
    }

    fn count_answers(&mut self) {
        let mut answers = self.answers.iter();
        let mut all = true;
        for (one, costs) in self.programs.iter().zip(&mut self.costs.programs) {
            for number in one.prefilter.assertion_numbers() {
                let decided = answers.next().is_some_and(|answer| answer.as_verdict().is_some());
                all &= decided;
                if let Some(count) = costs.decided.get_mut(number as usize) {
                    *count += u64::from(decided);
                }
            }
        }
        self.costs.decided += u64::from(all);
    }
}
