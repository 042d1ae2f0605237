//! The route of `aver check`: what it makes of the rules and of what is wanted of a report, threads that judge, results in their order.

use crate::full::{Buffer, ending};
use averment_base::diagnostic::render::TextStyle;
use averment_base::limits::Limits;
use averment_bulk::faults::FaultInjector;
use averment_bulk::feed::{RunReadOptions, TraceInput};
use averment_bulk::judge::{ReadCounts, RunResult, observer};
use averment_bulk::near_names::NearNames;
use averment_bulk::pipeline::Pipeline;
use averment_bulk::unused_names::UnusedNames;
use averment_bulk::workers::{self, FinishedChunk, JudgeThreads};
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::EvaluateOptions;
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::select::RuleSelection;
use averment_report::draw_limits::DrawnLimits;
use averment_report::gate::GatePolicy;
use averment_report::model::{ReportDetail, StatusSet};
use averment_report::table::ReportTable;
use averment_report::totals::RunTotals;
use averment_report::{self as report, CombinedNeeds, Format, Options, Report};
use averment_traces::read::CHUNK_SIZE;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// How runs are checked.
#[derive(Debug, Clone, Default)]
pub struct Check {
    pub selection: RuleSelection,
    pub policy: GatePolicy,
    pub strict: bool,
    pub threads: usize,
    /// Chunks of a kilobyte instead of the usual size.
    pub small_chunks: bool,
    /// A profile is made.
    pub profiled: bool,
    pub max_failures: Option<usize>,
    /// How many violations of a failure are listed, and how many of them are drawn.
    pub violations: (usize, usize),
}

/// How text looks in files of reports.
pub const STYLE: TextStyle = TextStyle { width: 100, ..TextStyle::PLAIN };
/// What stands beside the chunks of a trace.
const MARGIN: usize = 8;

/// The table of programs with what is selected of them.
pub fn table(programs: &[Program], selection: &RuleSelection) -> ReportTable {
    ReportTable::new(programs, |program, number| {
        let program = &programs[program];
        selection.is_selected(program, &program.assertions[number as usize])
    })
}

impl Check {
    /// What reports are told beside the runs.
    pub fn options(&self) -> Options {
        let (_, violations) = self.violations;
        let (policy, max_failures) = (self.policy, self.max_failures);
        Options { style: STYLE, policy, max_failures, violations, ..Options::default() }
    }

    /// Checks all runs of some files; gives the report in each format, what is said beside them, and how much of the runs was read.
    pub fn run(&self, programs: &[Program], traces: &[PathBuf], formats: &[Format]) -> (Vec<String>, ReadCounts) {
        let pipeline = Arc::new(self.pipeline(programs, formats));
        let buffers: Vec<Buffer> = formats.iter().map(|_| Buffer::default()).collect();
        let opened = formats.iter().zip(&buffers);
        let reports =
            opened.map(|(format, out)| report::open(*format, Box::new(out.clone()), self.options())).collect();
        let mut writer =
            Writer { table: &pipeline.table, reports, totals: RunTotals::default(), reads: ReadCounts::default() };
        let inputs: Vec<TraceInput> = traces.iter().cloned().map(TraceInput::File).collect();
        writer.write(workers::start_judging(&pipeline, Box::new(inputs.into_iter()), None));
        let reads = writer.reads;
        drop(writer);
        let inputs: Vec<TraceInput> = traces.iter().cloned().map(TraceInput::File).collect();
        let warnings = pipeline.near_names.warning_lines(&pipeline.table, &inputs, |_| false, programs);
        (buffers.iter().map(Buffer::text).chain([warnings]).collect(), reads)
    }

    /// What the command makes of the formats that are asked for.
    fn pipeline(&self, programs: &[Program], formats: &[Format]) -> Pipeline {
        let wanted = CombinedNeeds::of_formats(formats.iter().copied());
        let findings = wanted.needs_findings();
        let table = table(programs, &self.selection);
        let drawn = wanted.only_drawn().then(|| DrawnLimits::new(self.max_failures));
        Pipeline {
            programs: Arc::new(programs.to_vec()),
            prepared: programs.iter().map(PreparedProgram::new).collect(),
            options: EvaluateOptions {
                selection: self.selection.clone(),
                violations: Some(if findings { self.violations.0 } else { 0 }),
                ..EvaluateOptions::default()
            },
            policy: self.policy,
            detail: ReportDetail {
                excerpt: wanted.excerpts.then_some(STYLE.width - MARGIN),
                findings,
                violations: self.violations.1,
                steps: false,
                measured: false,
                shapes: false,
                told: StatusSet::ALL,
            },
            reading: RunReadOptions { limits: Limits::default(), strict: self.strict, ..RunReadOptions::default() },
            unused: UnusedNames::default(),
            understood: averment_bulk::reading_notes::ReadingNotes::default(),
            near_names: NearNames::new(programs, &self.selection),
            threads: NonZeroUsize::new(self.threads),
            chunk: if self.small_chunks { 1 << 10 } else { CHUNK_SIZE },
            runs: wanted.runs.fit_report(&table, drawn),
            table: Arc::new(table),
            drawn,
            large: Mutex::default(),
            timed: false,
            profile: self.profiled.then(|| Mutex::new(observer::begin_costs(programs, Instant::now()))),
            faults: FaultInjector::default(),
        }
    }
}

/// Writes results in the order of the traces.
struct Writer<'a> {
    table: &'a ReportTable,
    reports: Vec<Box<dyn Report>>,
    totals: RunTotals,
    reads: ReadCounts,
}

impl Writer<'_> {
    fn write(&mut self, judging: JudgeThreads) {
        self.each(|report, table| report.begin_report(table).unwrap());
        let (mut next, mut early) = (0, BTreeMap::new());
        for finished in &judging.finished {
            early.insert(finished.number, finished);
            while let Some(finished) = early.remove(&next) {
                self.chunk(&finished);
                next += 1;
                let _ = judging.permits.try_recv();
            }
        }
        let broken = judging.workers.join_threads(next);
        assert!(broken.dead == 0 && broken.lost.runs == 0, "{broken:?}");
        let ending = ending(&self.totals);
        self.reports.iter_mut().for_each(|report| report.finish_report(self.table, &ending).unwrap());
    }

    fn chunk(&mut self, finished: &FinishedChunk) {
        for done in &finished.done {
            match done {
                RunResult::Run(run) => {
                    self.totals.add_run(run);
                    self.each(|report, table| report.add_run(table, run).unwrap());
                }
                RunResult::Example(run) => self.each(|report, table| report.show_example(table, run).unwrap()),
                RunResult::Lines(lines) => self.each(|report, _| report.add_lines(lines).unwrap()),
                RunResult::Unreadable(what) => {
                    self.totals.unreadable += 1;
                    self.each(|report, _| report.add_unreadable(what).unwrap());
                }
                RunResult::Fault(name) => panic!("the evaluation of {name} broke down"),
            }
        }
        self.totals.add_chunk(&finished.totals);
        self.each(|report, _| report.add_chunk(&finished.totals));
        self.reads.add(finished.reads);
    }

    fn each(&mut self, tell: impl Fn(&mut dyn Report, &ReportTable)) {
        self.reports.iter_mut().for_each(|report| tell(report.as_mut(), self.table));
    }
}
