//! `--format summary`: counts per rule over all runs. An assertion outside of rules has its own row.

use super::by_rule::ByRule;
use super::chunk_totals::ChunkTotals;
use super::model::{RunReport, UnreadableTrace};
use super::table::ReportTable;
use super::totals::Counts;
use super::unjudged::UnjudgedTotals;
use super::unread_traces::UnreadTraces;
use super::{Options, Report, ReportEnding, human, over_runs, value};
use averment_base::diagnostic::render::one_line;
use std::io::{self, Write};

/// The `summary` report.
pub struct SummaryReport {
    out: Box<dyn Write>,
    options: Options,
    by_rule: ByRule,
    unread: UnreadTraces,
    unjudged: UnjudgedTotals,
    over_runs: String,
}

/// Maximum length of a name, in characters.
const NAME: usize = 48;

impl SummaryReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        let (by_rule, unread, unjudged, over_runs) = Default::default();
        Self { out, options, by_rule, unread, unjudged, over_runs }
    }
}

impl Report for SummaryReport {
    fn begin_report(&mut self, table: &ReportTable) -> io::Result<()> {
        self.by_rule = ByRule::new(table);
        for row in &mut self.by_rule.rows {
            row.name = value::shorten_text(&one_line(&row.name), NAME);
        }
        Ok(())
    }

    fn add_run(&mut self, _: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.by_rule.add_run(run);
        for result in &run.results {
            if let Some(unjudged) = &result.unjudged {
                self.unjudged.add_report(result.item, unjudged);
            }
        }
        Ok(())
    }

    fn add_over_runs(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.over_runs = over_runs::over_runs_section(table, run, self.options.style, false);
        self.add_run(table, run)
    }

    fn add_chunk(&mut self, chunk: &ChunkTotals) {
        self.unjudged.add_all(&chunk.unjudged);
        self.by_rule.add_chunk(chunk);
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        self.unread.show_unread(&mut self.out, self.options.style, what)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, table: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        self.unread.show_rest(&mut self.out, self.options.style)?;
        human::write_unjudged(&mut self.out, table, &self.options, &self.unjudged, ending.totals.runs > 1)?;
        human::write_headline(&mut self.out, self.options.style, ending)?;
        if !self.by_rule.rows.is_empty() {
            writeln!(self.out)?;
            self.write_table()?;
        }
        if !self.over_runs.is_empty() {
            write!(self.out, "\n{}", self.over_runs)?;
        }
        self.out.flush()
    }
}

impl SummaryReport {
    fn write_table(&mut self) -> io::Result<()> {
        let columns = summary_columns();
        // Columns with only zeros are left out, except pass and fail.
        let used: Vec<&SummaryColumn> = columns
            .iter()
            .enumerate()
            .filter(|(index, (_, count))| *index < 2 || self.by_rule.rows.iter().any(|row| count(&row.counts) > 0))
            .map(|(_, column)| column)
            .collect();
        let name = self.by_rule.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(4);
        let width = |title: &str, count: fn(&Counts) -> u64| {
            let widest = self.by_rule.rows.iter().map(|row| count(&row.counts).to_string().len()).max().unwrap_or(1);
            widest.max(title.len())
        };
        let widths: Vec<usize> = used.iter().map(|(title, count)| width(title, *count)).collect();
        let mut line = format!("{:name$}", "rule");
        for ((title, _), width) in used.iter().zip(&widths) {
            line.push_str(&format!("  {title:>width$}"));
        }
        writeln!(self.out, "{line}")?;
        for row in &self.by_rule.rows {
            let mut line = format!("{:name$}", row.name);
            for ((_, count), width) in used.iter().zip(&widths) {
                line.push_str(&format!("  {:>width$}", count(&row.counts)));
            }
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }
}

type SummaryColumn = (&'static str, fn(&Counts) -> u64);

fn summary_columns() -> [SummaryColumn; 9] {
    [
        ("pass", |counts| counts.pass),
        ("fail", |counts| counts.fail),
        ("vacuous", |counts| counts.vacuous),
        ("undecided", |counts| counts.undecided),
        ("error", |counts| counts.error),
        ("skipped", |counts| counts.skipped),
        ("failed as expected", |counts| counts.expected_failed),
        ("passed unexpectedly", |counts| counts.unexpected_passed),
        ("known", |counts| counts.known),
    ]
}
