//! The plain way: every run is read in full, every assertion is evaluated on it, and reports are given all of that.

use crate::check::table;
use averment_base::limits::Limits;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate};
use averment_engine::vm::outcome::RunOutcome;
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::select::RuleSelection;
use averment_report::gate::{Gate, GatePolicy};
use averment_report::model::{ReportDetail, RunReport, StatusSet, UnreadableTrace};
use averment_report::table::ReportTable;
use averment_report::totals::RunTotals;
use averment_report::{self as report, Format, Options, ReportEnding, report_builder};
use averment_traces::error::ReadError;
use averment_traces::read::{self, RawRun, TraceRuns};
use bumpalo::Bump;
use std::cell::RefCell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;

/// The runs of files, not read yet.
pub fn raw_runs(paths: &[PathBuf]) -> Vec<Result<RawRun, ReadError>> {
    let limits = Limits::default();
    paths.iter().flat_map(|path| TraceRuns::open_file(path.to_str().unwrap(), &limits).unwrap()).collect()
}

/// Whether something of a run is odd: `--strict` refuses it.
pub fn is_odd(text: &str) -> bool {
    let runs = TraceRuns::new("odd", io::Cursor::new(text.to_owned().into_bytes()), &Limits::default());
    let arena = Bump::new();
    runs.into_iter().any(|raw| match raw {
        Ok(raw) => read::parse_run(&raw, &arena, &Limits::default()).is_ok_and(|run| !run.warnings.is_empty()),
        Err(_) => true,
    })
}

/// What comes of some programs on some runs.
pub struct Full {
    table: ReportTable,
    runs: Vec<Result<RunReport, UnreadableTrace>>,
    /// The outcomes of each run that can be read, by program.
    pub outcomes: Vec<Vec<RunOutcome>>,
}

impl Full {
    /// Evaluates all assertions that are selected on all runs.
    pub fn new(
        programs: &[Program],
        raw: &[Result<RawRun, ReadError>],
        selection: &RuleSelection,
        policy: GatePolicy,
    ) -> Full {
        let table = table(programs, selection);
        let prepared: Vec<PreparedProgram> = programs.iter().map(PreparedProgram::new).collect();
        let options = EvaluateOptions { selection: selection.clone(), ..EvaluateOptions::default() };
        let detail = ReportDetail {
            excerpt: Some(92),
            findings: true,
            violations: 100,
            steps: false,
            measured: false,
            shapes: false,
            told: StatusSet::ALL,
        };
        let mut full = Full { table, runs: Vec::new(), outcomes: Vec::new() };
        for raw in raw {
            let arena = Bump::new();
            let run = match raw.as_ref().map(|raw| read::parse_run(raw, &arena, &Limits::default())) {
                Ok(Ok(run)) => run,
                Ok(Err(error)) => {
                    full.runs.push(Err(UnreadableTrace::of_error(&error)));
                    continue;
                }
                Err(error) => {
                    full.runs.push(Err(UnreadableTrace::of_error(error)));
                    continue;
                }
            };
            let each = programs.iter().zip(&prepared);
            let outcomes: Vec<RunOutcome> =
                each.map(|(program, prepared)| evaluate(program, prepared, &run, &arena, &options)).collect();
            full.runs.push(Ok(report_builder::build_report(&full.table, &run, &outcomes, policy, detail)));
            full.outcomes.push(outcomes);
        }
        full
    }

    /// The report in a format.
    pub fn report(&self, format: Format, options: Options) -> String {
        let out = Buffer::default();
        let mut report = report::open(format, Box::new(out.clone()), options);
        report.begin_report(&self.table).unwrap();
        for run in &self.runs {
            match run {
                Ok(run) => report.add_run(&self.table, run).unwrap(),
                Err(unreadable) => report.add_unreadable(unreadable).unwrap(),
            }
        }
        report.finish_report(&self.table, &ending(&self.totals())).unwrap();
        drop(report);
        out.text()
    }

    /// Counts over all runs.
    pub fn totals(&self) -> RunTotals {
        let mut totals = RunTotals::default();
        for run in &self.runs {
            match run {
                Ok(run) => totals.add_run(run),
                Err(_) => totals.unreadable += 1,
            }
        }
        totals
    }
}

/// What reports are told at the end.
pub fn ending(totals: &RunTotals) -> ReportEnding<'_> {
    let nothing = totals.counts.all_results() == totals.counts.skipped;
    let passed = totals.gate.is_none_or(|gate| gate == Gate::Open) && totals.unreadable == 0 && !nothing;
    ReportEnding { totals, passed, exit: u8::from(!passed) }
}

/// What a report writes.
#[derive(Clone, Default)]
pub struct Buffer(Rc<RefCell<Vec<u8>>>);

impl Buffer {
    /// What was written.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
