//! `--format human`: failures as they come, each with the rule and the trace; then what held for nothing or could not be decided, and a summary.

use super::model::{ResultReport, RunReport, Unreadable};
use super::table::Table;
use super::totals::{Counts, Totals};
use super::unjudged::UnjudgedTotals;
use super::unread::Unread;
use super::value::counted;
use super::{Ending, Options, Report, failure, value};
use averment_base::diagnostic::render::{Ink, Style, one_line, paint};
use averment_engine::vm::outcome::Status;
use std::io::{self, Write};

/// The report.
pub struct Human {
    out: Box<dyn Write>,
    options: Options,
    drawn: usize,
    hidden: u64,
    items: Vec<ItemTotals>,
    rules: Vec<RuleTotals>,
    unread: Unread,
    unjudged: UnjudgedTotals,
}

/// What is kept of an assertion over all runs.
#[derive(Default, Clone)]
struct ItemTotals {
    drawn: usize,
    counts: Counts,
    /// Names of the first runs that failed.
    failed_in: Vec<String>,
    /// The first run and reason of each status that is listed.
    reasons: Vec<(Status, String, String)>,
}

#[derive(Default, Clone)]
struct RuleTotals {
    below: u64,
    first: Option<(String, Option<f64>)>,
}

/// Failures of one assertion that are drawn when many runs fail for the same reason.
const OF_ONE: usize = 3;
/// Failures that are drawn unless the command line says otherwise.
pub const DRAWN: usize = 10;
/// How many failures are drawn, in all and of one assertion.
#[must_use]
pub fn drawn_of(max_failures: Option<usize>) -> (usize, usize) {
    max_failures.map_or((DRAWN, OF_ONE), |most| (most, most))
}

/// Names of runs in a list.
const NAMES: usize = 5;
/// Width of the column of ids.
const ID: usize = 30;

impl Human {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        let (items, rules, unread, unjudged) = Default::default();
        Self { out, options, drawn: 0, hidden: 0, items, rules, unread, unjudged }
    }

    fn failure(&mut self, table: &Table, run: &RunReport, result: &ResultReport) -> io::Result<()> {
        let (all, of_one) = drawn_of(self.options.max_failures);
        let Some(totals) = self.items.get_mut(result.item) else { return Ok(()) };
        if totals.failed_in.len() < NAMES {
            totals.failed_in.push(run.run.clone());
        }
        if self.drawn >= all || totals.drawn >= of_one {
            self.hidden += 1;
            return Ok(());
        }
        totals.drawn += 1;
        self.drawn += 1;
        self.out.write_all(failure::draw(table, run, result, &self.options).as_bytes())
    }
}

impl Report for Human {
    fn begin(&mut self, table: &Table) -> io::Result<()> {
        self.items = vec![ItemTotals::default(); table.items.len()];
        self.rules = vec![RuleTotals::default(); table.rules.len()];
        Ok(())
    }

    fn run(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        for (line, message) in &run.warnings {
            let word = paint(self.options.style, Ink::Yellow, "warning");
            writeln!(self.out, "{word}: {}:{line}: {}", one_line(&run.file), one_line(message))?;
        }
        for result in &run.results {
            if let Some(totals) = self.items.get_mut(result.item) {
                totals.counts.add(result.status);
                let known = totals.reasons.iter().any(|(status, ..)| *status == result.status);
                if !known && result.is_finding() {
                    totals.reasons.push((result.status, run.run.clone(), result.reason.clone()));
                }
            }
            if let Some(unjudged) = &result.unjudged {
                self.unjudged.add(result.item, unjudged);
            }
            if matches!(result.status, Status::Failed | Status::UnexpectedPassed) {
                self.failure(table, run, result)?;
            }
        }
        for rule in run.rules.iter().filter(|rule| !rule.passed) {
            let threshold = table.rules.get(rule.rule).and_then(|item| item.threshold);
            if let (Some(totals), Some(_)) = (self.rules.get_mut(rule.rule), threshold) {
                totals.below += 1;
                totals.first.get_or_insert_with(|| (run.run.clone(), rule.score));
            }
        }
        Ok(())
    }

    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()> {
        self.unread.show(&mut self.out, self.options.style, what)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, table: &Table, ending: &Ending<'_>) -> io::Result<()> {
        self.unread.end(&mut self.out, self.options.style)?;
        // What nothing exercised is the first thing to say: no failure stands above it.
        let idle = ending.totals.counts.nothing_exercised();
        if idle {
            headline(&mut self.out, self.options.style, ending)?;
        }
        let many = ending.totals.runs > 1;
        if many {
            self.failed(table, ending.totals.runs)?;
        }
        self.thresholds(table, many)?;
        for (status, title) in LISTS {
            self.list(table, status, title, ending.totals.runs)?;
        }
        unjudged(&mut self.out, table, self.options.style, (&self.unjudged, many))?;
        if !idle {
            headline(&mut self.out, self.options.style, ending)?;
        }
        self.out.flush()
    }
}

/// What is listed with a reason, gravest first.
const LISTS: [(Status, &str); 4] = [
    (Status::Error, "could not be evaluated"),
    (Status::Undecided, "undecided: the run does not record what is needed"),
    (Status::ExpectedFailed, "failed, as expected"),
    (Status::Vacuous, "vacuous: it holds, but nothing exercised it"),
];

impl Human {
    /// In many runs: each assertion that failed, how often, and where first.
    fn failed(&mut self, table: &Table, runs: u64) -> io::Result<()> {
        let failed = |totals: &ItemTotals| totals.counts.fail + totals.counts.unexpected_passed;
        if self.items.iter().all(|totals| failed(totals) == 0) {
            return Ok(());
        }
        writeln!(self.out, "{}", paint(self.options.style, Ink::Bold, "failed"))?;
        for (item, totals) in table.items.iter().zip(&self.items).filter(|(_, totals)| failed(totals) > 0) {
            let names = totals.failed_in.iter().map(|name| one_line(name)).collect::<Vec<_>>().join(", ");
            let more = if failed(totals) > u64::try_from(NAMES).unwrap_or(u64::MAX) { ", …" } else { "" };
            row(&mut self.out, item.name(), &format!("{} of {runs} runs: {names}{more}", failed(totals)))?;
        }
        if self.hidden > 0 {
            let hidden = format!("{} failures are not drawn; --max-failures N draws more", self.hidden);
            writeln!(self.out, "  {}", paint(self.options.style, Ink::Dim, &hidden))?;
        }
        writeln!(self.out)
    }

    fn thresholds(&mut self, table: &Table, many: bool) -> io::Result<()> {
        let mut any = false;
        for (item, totals) in table.rules.iter().zip(&self.rules) {
            let (Some((run, score)), Some(threshold)) = (&totals.first, item.threshold) else { continue };
            if !any {
                writeln!(self.out, "{}", paint(self.options.style, Ink::Bold, "below the threshold"))?;
            }
            any = true;
            let score = score.map_or("no score".to_owned(), |score| format!("score {}", score_text(score)));
            let place =
                if many { format!(" in {}, {} runs in all", one_line(run), totals.below) } else { String::new() };
            row(&mut self.out, &item.id, &format!("{score}, threshold {threshold}{place}"))?;
        }
        if any { writeln!(self.out) } else { Ok(()) }
    }

    fn list(&mut self, table: &Table, status: Status, title: &str, runs: u64) -> io::Result<()> {
        let mut any = false;
        for (item, totals) in table.items.iter().zip(&self.items) {
            let Some((_, run, reason)) = totals.reasons.iter().find(|(one, ..)| *one == status) else { continue };
            if !any {
                writeln!(self.out, "{}", paint(self.options.style, Ink::Bold, title))?;
            }
            any = true;
            let count = match status {
                Status::Error => totals.counts.error,
                Status::Undecided => totals.counts.undecided,
                Status::ExpectedFailed => totals.counts.expected_failed,
                _ => totals.counts.vacuous,
            };
            let why = item.expected.as_deref().filter(|why| status == Status::ExpectedFailed && !why.is_empty());
            let reason = why.unwrap_or(if reason.is_empty() { &item.text } else { reason });
            // What fails a run has to be found; what is vacuous only has to be known.
            let place = if status == Status::Vacuous { String::new() } else { format!(" ({})", one_line(run)) };
            let often = if runs > 1 { format!("{count} of {runs} runs{place}: ") } else { String::new() };
            let text = format!("{often}{}", value::shortened(&one_line(reason), REASON));
            let room = self.options.style.width.max(60).saturating_sub(ID + 2).max(40);
            // What says what to do about it is not broken: it may have to be copied.
            let lines = if status == Status::Error { text } else { failure::wrapped(&text, room) };
            for (number, line) in lines.lines().enumerate() {
                row(&mut self.out, if number == 0 { item.name() } else { "" }, line)?;
            }
        }
        if any { writeln!(self.out) } else { Ok(()) }
    }
}

/// What passes and could not judge every step, a line for each assertion.
pub(super) fn unjudged(
    out: &mut dyn Write,
    table: &Table,
    style: Style,
    (all, many): (&UnjudgedTotals, bool),
) -> io::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", paint(style, Ink::Bold, "passed, but did not judge every step"))?;
    for (item, sum) in all.iter() {
        if let Some(item) = table.items.get(item) {
            row(out, item.name(), &one_line(&sum.in_words(many)))?;
        }
    }
    writeln!(out)
}

/// Characters of a reason.
const REASON: usize = 400;

fn row(out: &mut dyn Write, id: &str, text: &str) -> io::Result<()> {
    let id = value::shortened(&one_line(id), ID - 2);
    let gap = ID.saturating_sub(id.chars().count());
    writeln!(out, "  {id}{:gap$}{text}", "")
}

/// One line on a trace that cannot be read.
pub fn unreadable(out: &mut dyn Write, style: Style, what: &Unreadable) -> io::Result<()> {
    let word = paint(style, Ink::Red, "cannot be read");
    writeln!(out, "{word}: {}:{}:{}: {}", one_line(&what.file), what.line, what.column, one_line(&what.message))?;
    if what.help.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {}: {}", paint(style, Ink::Green, "help"), one_line(&what.help))
}

/// The line that says it all.
pub fn headline(out: &mut dyn Write, style: Style, ending: &Ending<'_>) -> io::Result<()> {
    let totals = ending.totals;
    let (runs, assertions) = (counted(totals.runs, "run"), totals.counts.all());
    if totals.counts.nothing_exercised() {
        let said = format!("nothing was exercised: every verdict is vacuous ({} in {runs})", totals.counts.in_words());
        let missing = not_judged(totals).unwrap_or_default();
        return writeln!(out, "{}{missing}", paint(style, Ink::Yellow, &said));
    }
    let (ink, verdict) = match (ending.passed, totals.runs_failed) {
        (true, _) => (Ink::Green, "passed".to_owned()),
        (false, 0) => (Ink::Red, "failed".to_owned()),
        (false, _) if totals.runs == 1 => (Ink::Red, "failed".to_owned()),
        (false, failed) => (Ink::Red, format!("failed in {failed} of {runs}")),
    };
    let mut line = paint(style, ink, &verdict);
    if assertions > 0 {
        line.push_str(&format!(": {}", totals.counts.in_words()));
    }
    if totals.runs != 1 && (ending.passed || totals.runs_failed == 0) {
        line.push_str(&format!(" in {runs}"));
    }
    if totals.unreadable > 0 {
        line.push_str(&format!("; {} cannot be read", counted(totals.unreadable, "trace")));
    }
    line.extend(not_judged(totals));
    if let Some(score) = totals.score() {
        line.push_str(&format!("; score {}", score_text(score)));
    }
    writeln!(out, "{line}")
}

/// What the headline says of runs without verdicts.
fn not_judged(totals: &Totals) -> Option<String> {
    (totals.not_judged > 0).then(|| format!("; {} not judged", counted(totals.not_judged, "run")))
}

/// A score for people: two decimals, cut and not rounded, so that only a whole 1 reads as one.
pub fn score_text(score: f64) -> String {
    format!("{:.2}", (score * 100.0 + 1e-9).floor() / 100.0)
}
