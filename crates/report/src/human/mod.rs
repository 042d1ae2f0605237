//! `--format human`: failures with the rule and the trace, then undecided and vacuous assertions, then a summary line.
//!
//! For few runs, every failure is drawn, in order. For many runs, the report fits a screen: each failed assertion with an example, most frequent
//! first. The number of runs is known only at the end, so nothing is written before, unless `--max-failures` is given.

mod headline;
mod lists;
mod screen;
mod tally;

use super::chunk_totals::ChunkTotals;
use super::draw_limits::{DrawnFindings, DrawnLimits, FEW, FailureDetail};
use super::model::{ExampleRun, ResultReport, RunReport, UnreadableTrace};
use super::show::Section;
use super::table::{ReportItem, ReportTable};
use super::unjudged::UnjudgedTotals;
use super::unread_traces::UnreadTraces;
use super::warnings::TraceWarnings;
use super::{Options, Report, ReportEnding, failure, over_runs};
use averment_base::diagnostic::render::{TextColor, one_line, paint_text};
use averment_engine::vm::outcome::Status;
pub use headline::{score_text, write_headline};
pub(super) use lists::write_unjudged;
use std::io::{self, Write};
use tally::{FirstFailure, ItemTally, NAMES, RuleTally};

/// The `human` report.
pub struct HumanReport {
    out: Box<dyn Write>,
    options: Options,
    written: Vec<u8>,
    runs: u64,
    /// Number of runs whose findings were shown, in full or as examples.
    shown: u64,
    drawn: DrawnFindings,
    items: Vec<ItemTally>,
    rules: Vec<RuleTally>,
    warnings: TraceWarnings,
    unread: UnreadTraces,
    unjudged: UnjudgedTotals,
    over_runs: String,
}

impl HumanReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        let drawn = DrawnFindings::new(Some(DrawnLimits::new(options.max_failures)));
        let (written, runs, shown, items, rules) = Default::default();
        let (warnings, unread, unjudged, over_runs) = Default::default();
        Self { out, options, written, runs, shown, drawn, items, rules, warnings, unread, unjudged, over_runs }
    }

    /// True if failures are written immediately, because the number to draw was given explicitly.
    fn streams_failures(&self) -> bool {
        self.options.max_failures.is_some()
    }

    fn has_few_runs(&self) -> bool {
        self.streams_failures() || self.runs.max(self.shown) <= FEW
    }

    fn write_text(&mut self, text: &[u8]) -> io::Result<()> {
        if self.streams_failures() {
            return self.out.write_all(text);
        }
        if self.has_few_runs() {
            self.written.extend_from_slice(text);
        } else {
            self.written = Vec::new();
        }
        Ok(())
    }

    fn write_warning(&mut self, run: &RunReport, line: usize, message: &str) -> io::Result<()> {
        self.warnings.add_warning(run, line, message);
        let word = paint_text(self.options.style, TextColor::Yellow, "warning");
        let text = format!("{word}: {}:{line}: {}\n", one_line(&run.file), one_line(message));
        self.write_text(text.as_bytes())
    }

    fn write_failure(&mut self, table: &ReportTable, run: &RunReport, result: &ResultReport) -> io::Result<()> {
        let wanted = self.drawn.failure_detail(result.item);
        let few = self.has_few_runs();
        let Some(tally) = self.items.get_mut(result.item) else { return Ok(()) };
        if tally.failed_in.len() < NAMES {
            tally.failed_in.push(run.run.clone());
        }
        if wanted == FailureDetail::Nothing || (!few && tally.example.is_some()) {
            return Ok(());
        }
        let draws = wanted != FailureDetail::Words;
        let picture = if draws { failure::draw_result(table, run, result, &self.options) } else { String::new() };
        if tally.example.is_none() {
            tally.example = Some(FirstFailure::of_failure(table, run, result, picture.clone()));
        }
        if wanted == FailureDetail::Picture {
            tally.drawn += 1;
            self.write_text(picture.as_bytes())?;
        }
        Ok(())
    }

    fn below_threshold(&mut self, table: &ReportTable, run: &RunReport) {
        for rule in run.rules.iter().filter(|rule| !rule.passed && !rule.known) {
            let threshold = table.rules.get(rule.rule).and_then(|item| item.threshold);
            if let (Some(tally), Some(_)) = (self.rules.get_mut(rule.rule), threshold) {
                tally.below += 1;
                tally.first.get_or_insert_with(|| (run.run.clone(), rule.score));
            }
        }
    }

    fn show_run(&mut self, table: &ReportTable, run: &RunReport, warns: bool) -> io::Result<()> {
        self.shown += 1;
        self.drawn.begin_run();
        if warns && self.shows_section(Section::Warnings) {
            for (line, message) in &run.warnings {
                self.write_warning(run, *line, message)?;
            }
        }
        for result in run.results.iter().filter(|result| !table.fails_as_asked(result)) {
            if let Some(tally) = self.items.get_mut(result.item) {
                tally.keep_reason(run, result);
            }
            let failed = matches!(result.status, Status::Failed | Status::UnexpectedPassed) && !result.known;
            if failed && self.shows_section(Section::Fail) {
                self.write_failure(table, run, result)?;
            }
        }
        Ok(())
    }

    fn shows_section(&self, section: Section) -> bool {
        let Options { show, policy, .. } = &self.options;
        show.includes_section(section) && !(show.quiet && section == Section::Undecided && policy.allow_undecided)
    }
}

impl Report for HumanReport {
    fn begin_report(&mut self, table: &ReportTable) -> io::Result<()> {
        let tally = |item: &ReportItem| ItemTally { is_to_fail: item.is_to_fail, ..ItemTally::default() };
        self.items = table.items.iter().map(tally).collect();
        self.rules = vec![RuleTally::default(); table.rules.len()];
        Ok(())
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.runs += 1;
        for result in run.results.iter().filter(|result| !table.fails_as_asked(result)) {
            if let Some(tally) = self.items.get_mut(result.item) {
                tally.counts.add_result(result);
            }
            if let Some(unjudged) = result.unjudged.as_ref().filter(|_| !result.known) {
                self.unjudged.add_report(result.item, unjudged);
            }
        }
        self.below_threshold(table, run);
        self.show_run(table, run, true)
    }

    fn add_chunk(&mut self, chunk: &ChunkTotals) {
        self.runs += chunk.runs;
        self.unjudged.add_all(&chunk.unjudged);
        for (tally, counts) in self.items.iter_mut().zip(&chunk.counts) {
            tally.add_counts(counts);
        }
    }

    fn show_example(&mut self, table: &ReportTable, run: &ExampleRun) -> io::Result<()> {
        // The first runs are always examples, independent of the threads.
        self.show_run(table, &run.report, run.has_own_warnings || self.shown < FEW)
    }

    fn add_over_runs(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.over_runs = over_runs::over_runs_section(table, run, self.options.style, self.options.show.quiet);
        Ok(())
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        let mut text = Vec::new();
        self.unread.show_unread(&mut text, self.options.style, what)?;
        self.write_text(&text)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, table: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        if self.options.show.quiet && ending.passed {
            return self.out.flush();
        }
        if self.has_few_runs() {
            self.out.write_all(&self.written)?;
            self.unread.show_rest(&mut self.out, self.options.style)?;
        }
        // If nothing was exercised, there are no failures, so the summary line comes first.
        let idle = ending.totals.counts.nothing_exercised();
        if idle {
            write_headline(&mut self.out, self.options.style, ending)?;
        }
        if self.has_few_runs() {
            self.write_lists(table, ending.totals.runs)?;
        } else {
            let screen = self.screen_text(table, ending.totals.runs);
            self.out.write_all(screen.as_bytes())?;
        }
        self.out.write_all(self.over_runs.as_bytes())?;
        if !idle {
            write_headline(&mut self.out, self.options.style, ending)?;
        }
        self.out.flush()
    }
}
