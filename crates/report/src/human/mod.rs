//! `--format human`: what failed, each with the rule and the trace; then what could not be decided or held for nothing, and one line that says
//! it all.
//!
//! Of a few runs every failure is drawn, in order. Of many, what is said fits a screen: each assertion that failed, the commonest first,
//! with an example. Which of both it is shows only at the end, so nothing is written before, unless `--max-failures` says how much is drawn.

mod headline;
mod lists;
mod screen;
mod tally;

use super::drawn::{Drawn, DrawnLimits, Wanted};
use super::gate::Gate;
use super::model::{ResultReport, RunReport, Unreadable};
use super::show::Section;
use super::table::Table;
use super::unjudged::UnjudgedTotals;
use super::unread::Unread;
use super::warnings::Warnings;
use super::{Ending, Options, Report, failure, over_runs};
use averment_base::diagnostic::render::{Ink, one_line, paint};
use averment_engine::vm::outcome::Status;
pub use headline::{headline, score_text};
pub(super) use lists::unjudged;
use std::io::{self, Write};
use tally::{Example, ItemTally, NAMES, RuleTally};

/// More runs than this are many: their failures are summed up.
const FEW: u64 = 10;

/// The report.
pub struct Human {
    out: Box<dyn Write>,
    options: Options,
    /// What few runs have to say, in order.
    written: Vec<u8>,
    runs: u64,
    drawn: Drawn,
    items: Vec<ItemTally>,
    rules: Vec<RuleTally>,
    warnings: Warnings,
    unread: Unread,
    unjudged: UnjudgedTotals,
    /// What is said of all runs together.
    over_runs: String,
}

impl Human {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        let drawn = Drawn::new(Some(DrawnLimits::new(options.max_failures)));
        let (written, runs, items, rules) = Default::default();
        let (warnings, unread, unjudged, over_runs) = Default::default();
        Self { out, options, written, runs, drawn, items, rules, warnings, unread, unjudged, over_runs }
    }

    /// Whether failures are written as they come: how many are drawn was said.
    fn streams(&self) -> bool {
        self.options.max_failures.is_some()
    }

    /// Whether runs are told of one by one.
    fn few(&self) -> bool {
        self.streams() || self.runs <= FEW
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        if self.streams() {
            return self.out.write_all(text);
        }
        if self.few() {
            self.written.extend_from_slice(text);
        } else {
            self.written = Vec::new();
        }
        Ok(())
    }

    fn warning(&mut self, run: &RunReport, line: usize, message: &str) -> io::Result<()> {
        self.warnings.add(run, line, message);
        let word = paint(self.options.style, Ink::Yellow, "warning");
        let text = format!("{word}: {}:{line}: {}\n", one_line(&run.file), one_line(message));
        self.write(text.as_bytes())
    }

    fn failure(&mut self, table: &Table, run: &RunReport, result: &ResultReport) -> io::Result<()> {
        let wanted = self.drawn.failure(result.item);
        let few = self.few();
        let gating = table.result_gate(result, self.options.policy) != Gate::Open;
        let Some(tally) = self.items.get_mut(result.item) else { return Ok(()) };
        tally.gating += u64::from(gating);
        if tally.failed_in.len() < NAMES {
            tally.failed_in.push(run.run.clone());
        }
        if wanted == Wanted::Nothing || (!few && tally.example.is_some()) {
            return Ok(());
        }
        let draws = wanted == Wanted::Picture;
        let picture = if draws { failure::draw(table, run, result, &self.options) } else { String::new() };
        tally.drawn += u64::from(draws);
        if tally.example.is_none() {
            tally.example = Some(Example::of(table, run, result, picture.clone()));
        }
        self.write(picture.as_bytes())
    }

    fn below_threshold(&mut self, table: &Table, run: &RunReport) {
        for rule in run.rules.iter().filter(|rule| !rule.passed && !rule.known) {
            let threshold = table.rules.get(rule.rule).and_then(|item| item.threshold);
            if let (Some(tally), Some(_)) = (self.rules.get_mut(rule.rule), threshold) {
                tally.below += 1;
                tally.first.get_or_insert_with(|| (run.run.clone(), rule.score));
            }
        }
    }

    /// Whether a section is shown.
    fn shows(&self, section: Section) -> bool {
        let Options { show, policy, .. } = &self.options;
        show.includes(section) && !(show.quiet && section == Section::Undecided && policy.allow_undecided)
    }
}

impl Report for Human {
    fn begin(&mut self, table: &Table) -> io::Result<()> {
        self.items = vec![ItemTally::default(); table.items.len()];
        self.rules = vec![RuleTally::default(); table.rules.len()];
        Ok(())
    }

    fn run(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        self.runs += 1;
        if self.shows(Section::Warnings) {
            for (line, message) in &run.warnings {
                self.warning(run, *line, message)?;
            }
        }
        for result in run.results.iter().filter(|result| !table.fails_as_asked(result)) {
            if let Some(tally) = self.items.get_mut(result.item) {
                tally.add(run, result);
            }
            if let Some(unjudged) = result.unjudged.as_ref().filter(|_| !result.known) {
                self.unjudged.add(result.item, unjudged);
            }
            let failed = matches!(result.status, Status::Failed | Status::UnexpectedPassed) && !result.known;
            if failed && self.shows(Section::Fail) {
                self.failure(table, run, result)?;
            }
        }
        self.below_threshold(table, run);
        Ok(())
    }

    fn over_runs(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        self.over_runs = over_runs::section(table, run, self.options.style, self.options.show.quiet);
        Ok(())
    }

    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()> {
        let mut text = Vec::new();
        self.unread.show(&mut text, self.options.style, what)?;
        self.write(&text)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, table: &Table, ending: &Ending<'_>) -> io::Result<()> {
        if self.options.show.quiet && ending.passed {
            return self.out.flush();
        }
        if self.few() {
            self.out.write_all(&self.written)?;
            self.unread.end(&mut self.out, self.options.style)?;
        }
        // What nothing exercised is the first thing to say: no failure stands above it.
        let idle = ending.totals.counts.nothing_exercised();
        if idle {
            headline(&mut self.out, self.options.style, ending)?;
        }
        if self.few() {
            self.lists(table, ending.totals.runs)?;
        } else {
            let screen = self.screen(table, ending.totals.runs);
            self.out.write_all(screen.as_bytes())?;
        }
        self.out.write_all(self.over_runs.as_bytes())?;
        if !idle {
            headline(&mut self.out, self.options.style, ending)?;
        }
        self.out.flush()
    }
}
