//! `--format jsonl`: a header, a line per run, a summary.

use super::model::{RunReport, UnreadableTrace};
use super::table::ReportTable;
use super::wire::{HeaderItem, RunObject, SummaryObject, VERSION};
use super::{Options, Report, ReportEnding, line};
use serde::Serialize;
use std::io::{self, Write};

/// The `jsonl` report.
pub struct JsonlReport {
    out: Box<dyn Write>,
    options: Options,
    /// Buffer for one line, reused.
    buffer: Vec<u8>,
}

#[derive(Serialize)]
struct JsonlHeader<'a> {
    version: u32,
    rules: Vec<HeaderItem<'a>>,
    diagnostics: &'a serde_json::Value,
}

#[derive(Serialize)]
struct UnreadableLine<'a> {
    unreadable: &'a UnreadableTrace,
}

#[derive(Serialize)]
struct OverRunsLine<'a> {
    over_runs: RunObject<'a>,
}

#[derive(Serialize)]
struct SummaryLine {
    summary: SummaryObject,
    unreadable: u64,
    score: Option<f64>,
    passed: bool,
}

impl JsonlReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, buffer: Vec::new() }
    }

    fn write_line(&mut self, line: &impl Serialize) -> io::Result<()> {
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, line)?;
        self.buffer.push(b'\n');
        self.out.write_all(&self.buffer)
    }
}

impl Report for JsonlReport {
    fn begin_report(&mut self, table: &ReportTable) -> io::Result<()> {
        let header = JsonlHeader {
            version: VERSION,
            rules: HeaderItem::of_table(table),
            diagnostics: &self.options.diagnostics,
        };
        serde_json::to_writer(&mut self.out, &header)?;
        self.out.write_all(b"\n")
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.buffer.clear();
        line::write_whole(table, run, &mut self.buffer)?;
        self.out.write_all(&self.buffer)
    }

    fn add_over_runs(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.write_line(&OverRunsLine { over_runs: RunObject::new(table, run) })
    }

    fn add_lines(&mut self, lines: &[u8]) -> io::Result<()> {
        self.out.write_all(lines)
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        self.write_line(&UnreadableLine { unreadable: what })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, _: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        self.write_line(&SummaryLine {
            summary: SummaryObject::new(ending.totals),
            unreadable: ending.totals.unreadable,
            score: ending.totals.mean_score(),
            passed: ending.passed,
        })?;
        self.out.flush()
    }
}
