//! Table reports with a row per verdict. This module defines the columns and their values; formats only write cells.

use super::model::{ResultReport, RuleReport, RunReport, UnreadableTrace};
use super::standing::{self, ResultStanding};
use super::table::ReportTable;
use super::{Options, Report, ReportEnding};
use std::io::{self, Write};

/// A cell. An empty text or word means that there is no value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VerdictCell<'a> {
    /// Untrusted text from rules or runs.
    Text(&'a str),
    /// A word that this program defines.
    Word(&'a str),
    Whole(Option<u64>),
    Number(Option<f64>),
    Flag(bool),
    Texts(&'a [String]),
}

/// A row: a verdict on an assertion, the score of a rule, or a trace without verdicts.
#[derive(Default)]
pub struct VerdictRow<'a> {
    run: &'a str,
    file: &'a str,
    line: Option<usize>,
    rule: &'a str,
    assertion: &'a str,
    rule_file: &'a str,
    rule_line: Option<usize>,
    severity: &'a str,
    verdict: &'a str,
    status: &'a str,
    fails: bool,
    known: bool,
    score: Option<f64>,
    weight: Option<f64>,
    threshold: Option<f64>,
    violations: u64,
    class: &'a str,
    tags: &'a [String],
    step: Option<u32>,
    message: &'a str,
    reason: &'a str,
    kind: &'a str,
    text: &'a str,
}

impl<'a> VerdictRow<'a> {
    /// Returns the cells with their column names, in column order.
    pub fn named_cells(&self) -> [(&'static str, VerdictCell<'a>); 23] {
        use VerdictCell::{Flag, Number, Text, Texts, Whole, Word};
        let whole = |number: Option<usize>| Whole(number.and_then(|number| u64::try_from(number).ok()));
        [
            ("run", Text(self.run)),
            ("file", Text(self.file)),
            ("line", whole(self.line)),
            ("rule", Text(self.rule)),
            ("assertion", Text(self.assertion)),
            ("rule_file", Text(self.rule_file)),
            ("rule_line", whole(self.rule_line)),
            ("severity", Word(self.severity)),
            ("verdict", Word(self.verdict)),
            ("status", Word(self.status)),
            ("fails_run", Flag(self.fails)),
            ("known", Flag(self.known)),
            ("score", Number(self.score)),
            ("weight", Number(self.weight)),
            ("threshold", Number(self.threshold)),
            ("violations", Whole(Some(self.violations))),
            ("class", Text(self.class)),
            ("tags", Texts(self.tags)),
            ("step", Whole(self.step.map(u64::from))),
            ("message", Text(self.message)),
            ("reason", Text(self.reason)),
            ("kind", Word(self.kind)),
            ("text", Text(self.text)),
        ]
    }

    fn of_trace(status: &'a str, reason: &'a str) -> Self {
        Self { status, fails: true, reason, kind: "trace", ..Self::default() }
    }
}

/// A format that writes rows.
pub trait RowFormat: Sized {
    fn open_rows(out: Box<dyn Write>) -> Self;
    fn begin_rows(&mut self) -> io::Result<()>;
    fn write_row(&mut self, row: &VerdictRow<'_>) -> io::Result<()>;
    /// Flushes the rows that can already be read.
    fn flush_rows(&mut self) -> io::Result<()>;
    fn finish_rows(&mut self) -> io::Result<()>;
}

/// The report for a row format.
pub struct RowReport<F> {
    format: F,
    options: Options,
}

impl<F: RowFormat> RowReport<F> {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { format: F::open_rows(out), options }
    }

    fn write_result(&mut self, table: &ReportTable, run: &RunReport, result: &ResultReport) -> io::Result<()> {
        let Some(item) = table.items.get(result.item) else { return Ok(()) };
        let evidence = || result.evidence.iter();
        self.format.write_row(&VerdictRow {
            run: &run.run,
            file: &run.file,
            line: evidence().find_map(|one| one.source).map(|at| at.line),
            rule: table.rule_of(item).map_or("", |rule| &rule.id),
            assertion: &item.id,
            rule_file: &item.location.file,
            rule_line: Some(item.location.line),
            severity: item.severity.as_str(),
            verdict: result.verdict.as_str(),
            status: result.status.as_str(),
            fails: ResultStanding::of_result(table, result, self.options.policy).fails_run(),
            known: result.known,
            score: result.score,
            weight: Some(item.weight),
            threshold: None,
            violations: result.violation_count(),
            class: item.class_of(result).map_or("", |class| &class.id),
            tags: &item.tags,
            step: evidence().find_map(|one| one.step),
            message: result.message.as_deref().unwrap_or_default(),
            reason: &result.reason,
            kind: "assertion",
            text: &item.text,
        })
    }

    fn write_rule(&mut self, table: &ReportTable, run: &RunReport, rule: &RuleReport) -> io::Result<()> {
        let Some(item) = table.rules.get(rule.rule) else { return Ok(()) };
        let reason = standing::missed_threshold(table, rule).unwrap_or_default();
        self.format.write_row(&VerdictRow {
            run: &run.run,
            file: &run.file,
            rule: &item.id,
            rule_file: &item.location.file,
            rule_line: Some(item.location.line),
            severity: item.severity.as_str(),
            verdict: rule.verdict.as_str(),
            status: if rule.passed { "passed" } else { "failed" },
            fails: standing::rule_fails(table, rule, self.options.policy),
            known: rule.known,
            score: rule.score,
            threshold: item.threshold,
            reason: &reason,
            kind: "threshold",
            ..VerdictRow::default()
        })
    }
}

impl<F: RowFormat> Report for RowReport<F> {
    fn begin_report(&mut self, _: &ReportTable) -> io::Result<()> {
        self.format.begin_rows()
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        run.results.iter().try_for_each(|result| self.write_result(table, run, result))?;
        standing::judged_rules(table, run).try_for_each(|rule| self.write_rule(table, run, rule))
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        let (file, line) = (what.file.as_str(), Some(what.line));
        self.format.write_row(&VerdictRow { file, line, ..VerdictRow::of_trace("unreadable", &what.message) })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.format.flush_rows()
    }

    fn finish_report(&mut self, _: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        if let Some(missing) = ending.totals.missing_count() {
            let reason = format!("{missing} of the runs were not judged: the evaluation broke down or was interrupted");
            self.format.write_row(&VerdictRow::of_trace("not_judged", &reason))?;
        }
        self.format.finish_rows()
    }
}
