//! The route of `aver check`: what it makes of the rules and of what is wanted of a report, threads that judge, results in their order.

use crate::full::{Buffer, ending};
use averment_base::diagnostic::render::Style;
use averment_base::limits::Limits;
use averment_bulk::faults::Faults;
use averment_bulk::feed::{Input, Reading};
use averment_bulk::judge::{Done, Reads, observer};
use averment_bulk::near_names::NearNames;
use averment_bulk::pipeline::Pipeline;
use averment_bulk::unused::Unused;
use averment_bulk::workers::{self, Finished, Judging};
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::EvaluateOptions;
use averment_engine::vm::select::Selection;
use averment_report::drawn::DrawnLimits;
use averment_report::gate::Policy;
use averment_report::model::Detail;
use averment_report::table::Table;
use averment_report::totals::Totals;
use averment_report::{self as report, Format, Options, Report, Wanted};
use averment_traces::read::CHUNK_SIZE;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// How runs are checked.
#[derive(Debug, Clone, Default)]
pub struct Check {
    pub selection: Selection,
    pub policy: Policy,
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
pub const STYLE: Style = Style { width: 100, ..Style::PLAIN };
/// What stands beside the chunks of a trace.
const MARGIN: usize = 8;

/// The table of programs with what is selected of them.
pub fn table(programs: &[Program], selection: &Selection) -> Table {
    Table::new(programs, |program, number| {
        let program = &programs[program];
        selection.selects(program, &program.assertions[number as usize])
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
    pub fn run(&self, programs: &[Program], traces: &[PathBuf], formats: &[Format]) -> (Vec<String>, Reads) {
        let pipeline = Arc::new(self.pipeline(programs, formats));
        let buffers: Vec<Buffer> = formats.iter().map(|_| Buffer::default()).collect();
        let opened = formats.iter().zip(&buffers);
        let reports =
            opened.map(|(format, out)| report::open(*format, Box::new(out.clone()), self.options())).collect();
        let mut writer = Writer { table: &pipeline.table, reports, totals: Totals::default(), reads: Reads::default() };
        writer.write(workers::start(&pipeline, traces.iter().cloned().map(Input::File).collect(), None));
        let reads = writer.reads;
        drop(writer);
        let inputs: Vec<Input> = traces.iter().cloned().map(Input::File).collect();
        let warnings = pipeline.near_names.warnings(&pipeline.table, &inputs, |_| false, programs);
        (buffers.iter().map(Buffer::text).chain([warnings]).collect(), reads)
    }

    /// What the command makes of the formats that are asked for.
    fn pipeline(&self, programs: &[Program], formats: &[Format]) -> Pipeline {
        let wanted = Wanted::of(formats.iter().copied());
        let findings = wanted.findings();
        Pipeline {
            table: Arc::new(table(programs, &self.selection)),
            programs: Arc::new(programs.to_vec()),
            options: EvaluateOptions {
                selection: self.selection.clone(),
                violations: Some(if findings { self.violations.0 } else { 0 }),
                ..EvaluateOptions::default()
            },
            policy: self.policy,
            drawn: wanted.only_drawn().then(|| DrawnLimits::new(self.max_failures)),
            detail: Detail {
                excerpt: wanted.excerpts.then_some(STYLE.width - MARGIN),
                findings,
                violations: self.violations.1,
                steps: false,
                measured: false,
            },
            reading: Reading { limits: Limits::default(), strict: self.strict, ..Reading::default() },
            unused: Unused::default(),
            understood: averment_bulk::understood::Understood::default(),
            near_names: NearNames::new(programs, &self.selection),
            threads: NonZeroUsize::new(self.threads),
            chunk: if self.small_chunks { 1 << 10 } else { CHUNK_SIZE },
            compact: wanted.compact,
            lines: wanted.lines,
            large: Mutex::default(),
            timed: false,
            profile: self.profiled.then(|| Mutex::new(observer::begin(programs, Instant::now()))),
            faults: Faults::default(),
        }
    }
}

/// Writes results in the order of the traces.
struct Writer<'a> {
    table: &'a Table,
    reports: Vec<Box<dyn Report>>,
    totals: Totals,
    reads: Reads,
}

impl Writer<'_> {
    fn write(&mut self, judging: Judging) {
        self.each(|report, table| report.begin(table).unwrap());
        let (mut next, mut early) = (0, BTreeMap::new());
        for finished in &judging.finished {
            early.insert(finished.number, finished);
            while let Some(finished) = early.remove(&next) {
                self.chunk(&finished);
                next += 1;
                let _ = judging.permits.try_recv();
            }
        }
        let broken = judging.workers.join(next);
        assert!(broken.dead == 0 && broken.lost.runs == 0, "{broken:?}");
        let ending = ending(&self.totals);
        self.reports.iter_mut().for_each(|report| report.end(self.table, &ending).unwrap());
    }

    fn chunk(&mut self, finished: &Finished) {
        for done in &finished.done {
            match done {
                Done::Run(run) => {
                    self.totals.add(run);
                    self.each(|report, table| report.run(table, run).unwrap());
                }
                Done::Lines(lines) => self.each(|report, _| report.lines(lines).unwrap()),
                Done::Unreadable(what) => {
                    self.totals.unreadable += 1;
                    self.each(|report, _| report.unreadable(what).unwrap());
                }
                Done::Fault(name) => panic!("the evaluation of {name} broke down"),
            }
        }
        self.totals.add_chunk(&finished.totals);
        self.each(|report, _| report.chunk(&finished.totals));
        self.reads.add(finished.reads);
    }

    fn each(&mut self, tell: impl Fn(&mut dyn Report, &Table)) {
        self.reports.iter_mut().for_each(|report| tell(report.as_mut(), self.table));
    }
}
