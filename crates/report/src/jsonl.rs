//! `--format jsonl`: a header, a line per run, a summary.

use super::model::{RunReport, Unreadable};
use super::table::Table;
use super::wire::{HeaderItem, RunObject, SummaryObject, VERSION};
use super::{Ending, Options, Report, line};
use serde::Serialize;
use std::io::{self, Write};

/// The report.
pub struct Jsonl {
    out: Box<dyn Write>,
    options: Options,
    /// A line is made here and written at once.
    buffer: Vec<u8>,
}

#[derive(Serialize)]
struct Header<'a> {
    version: u32,
    rules: Vec<HeaderItem<'a>>,
    diagnostics: &'a serde_json::Value,
}

#[derive(Serialize)]
struct UnreadableLine<'a> {
    unreadable: &'a Unreadable,
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

impl Jsonl {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, buffer: Vec::new() }
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, line)?;
        self.buffer.push(b'\n');
        self.out.write_all(&self.buffer)
    }
}

impl Report for Jsonl {
    fn begin(&mut self, table: &Table) -> io::Result<()> {
        let header = Header { version: VERSION, rules: HeaderItem::all(table), diagnostics: &self.options.diagnostics };
        serde_json::to_writer(&mut self.out, &header)?;
        self.out.write_all(b"\n")
    }

    fn run(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        self.buffer.clear();
        line::whole(table, run, &mut self.buffer)?;
        self.out.write_all(&self.buffer)
    }

    fn over_runs(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        self.line(&OverRunsLine { over_runs: RunObject::new(table, run) })
    }

    fn lines(&mut self, lines: &[u8]) -> io::Result<()> {
        self.out.write_all(lines)
    }

    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()> {
        self.line(&UnreadableLine { unreadable: what })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, _: &Table, ending: &Ending<'_>) -> io::Result<()> {
        self.line(&SummaryLine {
            summary: SummaryObject::new(ending.totals),
            unreadable: ending.totals.unreadable,
            score: ending.totals.score(),
            passed: ending.passed,
        })?;
        self.out.flush()
    }
}
