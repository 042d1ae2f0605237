//! `--format json`: one object, written incrementally. The output is flushed after every run.

use super::model::{RunReport, UnreadableTrace};
use super::table::ReportTable;
use super::wire::{RunObject, SummaryObject, VERSION};
use super::{Options, Report, ReportEnding};
use std::io::{self, Write};

/// The `json` report.
pub struct JsonReport {
    out: Box<dyn Write>,
    options: Options,
    runs: u64,
    unreadable: Vec<UnreadableTrace>,
    /// Buffer for one run, reused.
    buffer: Vec<u8>,
    over_runs: Option<String>,
}

impl JsonReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, runs: 0, unreadable: Vec::new(), buffer: Vec::new(), over_runs: None }
    }
}

impl Report for JsonReport {
    fn begin_report(&mut self, _: &ReportTable) -> io::Result<()> {
        write!(self.out, "{{\"version\":{VERSION},\n\"runs\":[")
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.extend_from_slice(if self.runs == 0 { b"\n" } else { b",\n" });
        self.runs += 1;
        serde_json::to_writer(&mut self.buffer, &RunObject::new(table, run))?;
        self.out.write_all(&self.buffer)
    }

    fn add_over_runs(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.over_runs = Some(serde_json::to_string(&RunObject::new(table, run))?);
        Ok(())
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        self.unreadable.push(what.clone());
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, _: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        writeln!(self.out, "],")?;
        if let Some(over_runs) = &self.over_runs {
            writeln!(self.out, "\"over_runs\":{over_runs},")?;
        }
        writeln!(
            self.out,
            "\"summary\":{},\n\"score\":{},\"passed\":{},\n\"unreadable\":{},\n\"diagnostics\":{}}}",
            serde_json::to_string(&SummaryObject::new(ending.totals))?,
            serde_json::to_string(&ending.totals.mean_score())?,
            ending.passed,
            serde_json::to_string(&self.unreadable)?,
            self.options.diagnostics
        )?;
        self.out.flush()
    }
}
