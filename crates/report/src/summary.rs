//! `--format summary`: counts per rule over all runs; a bare assertion is a row of its own.

use super::chunk_totals::ChunkTotals;
use super::model::{RunReport, Unreadable};
use super::table::Table;
use super::totals::Counts;
use super::unjudged::UnjudgedTotals;
use super::unread::Unread;
use super::{Ending, Options, Report, human, value};
use averment_base::diagnostic::render::one_line;
use averment_engine::vm::outcome::Status;
use std::io::{self, Write};

/// The report.
pub struct Summary {
    out: Box<dyn Write>,
    options: Options,
    rows: Vec<SummaryRow>,
    /// The row of each item.
    of_item: Vec<usize>,
    unread: Unread,
    unjudged: UnjudgedTotals,
}

struct SummaryRow {
    name: String,
    counts: Counts,
}

/// Names are cut to this many characters.
const NAME: usize = 48;

impl Summary {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        let (rows, of_item, unread, unjudged) = Default::default();
        Self { out, options, rows, of_item, unread, unjudged }
    }
}

impl Report for Summary {
    fn begin(&mut self, table: &Table) -> io::Result<()> {
        let mut of_rule = vec![None; table.rules.len()];
        for item in &table.items {
            let known = item.rule.and_then(|rule| of_rule.get(rule).copied().flatten());
            let row = known.unwrap_or(self.rows.len());
            if known.is_none() {
                let name = table.rule_of(item).map_or(item.name(), |rule| &rule.id);
                self.rows.push(SummaryRow { name: value::shortened(&one_line(name), NAME), counts: Counts::default() });
            }
            if let Some(slot) = item.rule.and_then(|rule| of_rule.get_mut(rule)) {
                *slot = Some(row);
            }
            self.of_item.push(row);
        }
        Ok(())
    }

    fn run(&mut self, _: &Table, run: &RunReport) -> io::Result<()> {
        for result in &run.results {
            let row = self.of_item.get(result.item).and_then(|&row| self.rows.get_mut(row));
            if let Some(row) = row {
                row.counts.add(result.status);
            }
            if let Some(unjudged) = &result.unjudged {
                self.unjudged.add(result.item, unjudged);
            }
        }
        Ok(())
    }

    fn chunk(&mut self, chunk: &ChunkTotals) {
        self.unjudged.add_all(&chunk.unjudged);
        for (row, counts) in self.of_item.iter().zip(&chunk.counts) {
            let Some(row) = self.rows.get_mut(*row) else { continue };
            for (status, count) in Status::ALL.into_iter().zip(counts) {
                row.counts.add_many(status, u64::from(*count));
            }
        }
    }

    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()> {
        self.unread.show(&mut self.out, self.options.style, what)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, table: &Table, ending: &Ending<'_>) -> io::Result<()> {
        self.unread.end(&mut self.out, self.options.style)?;
        human::unjudged(&mut self.out, table, self.options.style, (&self.unjudged, ending.totals.runs > 1))?;
        human::headline(&mut self.out, self.options.style, ending)?;
        if !self.rows.is_empty() {
            writeln!(self.out)?;
            self.table()?;
        }
        self.out.flush()
    }
}

impl Summary {
    fn table(&mut self) -> io::Result<()> {
        let columns = columns();
        // A column that is zero everywhere is left out, except those of pass and fail.
        let used: Vec<&Column> = columns
            .iter()
            .enumerate()
            .filter(|(index, (_, count))| *index < 2 || self.rows.iter().any(|row| count(&row.counts) > 0))
            .map(|(_, column)| column)
            .collect();
        let name = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(4);
        let width = |title: &str, count: fn(&Counts) -> u64| {
            let widest = self.rows.iter().map(|row| count(&row.counts).to_string().len()).max().unwrap_or(1);
            widest.max(title.len())
        };
        let widths: Vec<usize> = used.iter().map(|(title, count)| width(title, *count)).collect();
        let mut line = format!("{:name$}", "rule");
        for ((title, _), width) in used.iter().zip(&widths) {
            line.push_str(&format!("  {title:>width$}"));
        }
        writeln!(self.out, "{line}")?;
        for row in &self.rows {
            let mut line = format!("{:name$}", row.name);
            for ((_, count), width) in used.iter().zip(&widths) {
                line.push_str(&format!("  {:>width$}", count(&row.counts)));
            }
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }
}

/// A column: title and count.
type Column = (&'static str, fn(&Counts) -> u64);

/// The columns in their order.
fn columns() -> [Column; 8] {
    [
        ("pass", |counts| counts.pass),
        ("fail", |counts| counts.fail),
        ("vacuous", |counts| counts.vacuous),
        ("undecided", |counts| counts.undecided),
        ("error", |counts| counts.error),
        ("skipped", |counts| counts.skipped),
        ("failed as expected", |counts| counts.expected_failed),
        ("passed unexpectedly", |counts| counts.unexpected_passed),
    ]
}
