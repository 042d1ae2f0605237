//! `--format csv`: a row per verdict, as RFC 4180 writes tables, for DuckDB, pandas and spreadsheets.

use super::model::{ResultReport, RuleReport, RunReport, Unreadable};
use super::standing::{self, Standing};
use super::table::Table;
use super::{Ending, Options, Report};
use averment_base::diagnostic::render::one_line;
use std::io::{self, Write};

/// The report.
pub struct Csv {
    out: Box<dyn Write>,
    options: Options,
    row: String,
}

/// The columns.
const COLUMNS: [&str; 23] = [
    "run",
    "file",
    "line",
    "rule",
    "assertion",
    "rule_file",
    "rule_line",
    "severity",
    "verdict",
    "status",
    "fails_run",
    "known",
    "score",
    "weight",
    "threshold",
    "violations",
    "class",
    "tags",
    "step",
    "message",
    "reason",
    "kind",
    "text",
];

/// What a row says of a run without a verdict.
#[derive(Default)]
struct Cells<'a> {
    run: &'a str,
    file: &'a str,
    line: Option<usize>,
    rule: &'a str,
    assertion: &'a str,
    place: Option<(&'a str, usize)>,
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
    tags: &'a str,
    step: Option<u32>,
    message: &'a str,
    reason: &'a str,
    /// What the row is about: `assertion`, `threshold`, `trace`.
    kind: &'a str,
    /// The assertion as it is written.
    text: &'a str,
}

impl Csv {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, row: String::new() }
    }

    fn row(&mut self, cells: &Cells<'_>) -> io::Result<()> {
        self.row.clear();
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let whole = |value: Option<usize>| value.map(|value| value.to_string()).unwrap_or_default();
        let texts = [cells.run, cells.file];
        texts.iter().for_each(|text| self.text(text));
        self.plain(&whole(cells.line));
        [cells.rule, cells.assertion, cells.place.map_or("", |at| at.0)].iter().for_each(|text| self.text(text));
        self.plain(&whole(cells.place.map(|at| at.1)));
        [cells.severity, cells.verdict, cells.status].iter().for_each(|word| self.plain(word));
        [cells.fails, cells.known].iter().for_each(|flag| self.plain(if *flag { "true" } else { "false" }));
        [cells.score, cells.weight, cells.threshold].into_iter().for_each(|value| self.plain(&number(value)));
        self.plain(&cells.violations.to_string());
        [cells.class, cells.tags].iter().for_each(|text| self.text(text));
        self.plain(&cells.step.map(|step| step.to_string()).unwrap_or_default());
        [cells.message, cells.reason].iter().for_each(|text| self.text(text));
        self.plain(cells.kind);
        self.text(cells.text);
        self.row.push_str("\r\n");
        self.out.write_all(self.row.as_bytes())
    }

    fn plain(&mut self, word: &str) {
        self.between();
        self.row.push_str(word);
    }

    fn between(&mut self) {
        if !self.row.is_empty() {
            self.row.push(',');
        }
    }

    /// Foreign text: on one line, in quotes, and never a formula of a spreadsheet.
    fn text(&mut self, text: &str) {
        self.between();
        let text = one_line(text);
        let guard = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
        self.row.extend(["\"", guard, &text.replace('"', "\"\""), "\""]);
    }

    fn result(&mut self, table: &Table, run: &RunReport, result: &ResultReport) -> io::Result<()> {
        let Some(item) = table.items.get(result.item) else { return Ok(()) };
        let tags = item.tags.join(" ");
        let evidence = || result.evidence.iter();
        self.row(&Cells {
            run: &run.run,
            file: &run.file,
            line: evidence().find_map(|one| one.source).map(|at| at.line),
            rule: table.rule_of(item).map_or("", |rule| &rule.id),
            assertion: &item.id,
            place: Some((&item.location.file, item.location.line)),
            severity: item.severity.as_str(),
            verdict: result.verdict.as_str(),
            status: result.status.as_str(),
            fails: Standing::of(table, result, self.options.policy).fails(),
            known: result.known,
            score: result.score,
            weight: Some(item.weight),
            threshold: None,
            violations: result.violation_count(),
            class: item.class_of(result).map_or("", |class| &class.id),
            tags: &tags,
            step: evidence().find_map(|one| one.step),
            message: result.message.as_deref().unwrap_or_default(),
            reason: &result.reason,
            kind: "assertion",
            text: &item.text,
        })
    }

    fn rule(&mut self, table: &Table, run: &RunReport, rule: &RuleReport) -> io::Result<()> {
        let Some(item) = table.rules.get(rule.rule) else { return Ok(()) };
        let reason = standing::missed(table, rule).unwrap_or_default();
        self.row(&Cells {
            run: &run.run,
            file: &run.file,
            rule: &item.id,
            place: Some((&item.location.file, item.location.line)),
            severity: item.severity.as_str(),
            verdict: rule.verdict.as_str(),
            status: if rule.passed { "passed" } else { "failed" },
            fails: standing::rule_fails(table, rule, self.options.policy),
            known: rule.known,
            score: rule.score,
            threshold: item.threshold,
            reason: &reason,
            kind: "threshold",
            ..Cells::default()
        })
    }
}

impl Report for Csv {
    fn begin(&mut self, _: &Table) -> io::Result<()> {
        write!(self.out, "{}\r\n", COLUMNS.join(","))
    }

    fn run(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        run.results.iter().try_for_each(|result| self.result(table, run, result))?;
        standing::judged_rules(table, run).try_for_each(|rule| self.rule(table, run, rule))
    }

    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()> {
        let (file, line, reason) = (what.file.as_str(), Some(what.line), what.message.as_str());
        self.row(&Cells { file, line, status: "unreadable", fails: true, reason, kind: "trace", ..Cells::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, _: &Table, ending: &Ending<'_>) -> io::Result<()> {
        if let Some(missing) = ending.totals.missing() {
            let reason = format!("{missing} of the runs were not judged: the evaluation broke down or was interrupted");
            self.row(&Cells { status: "not_judged", fails: true, reason: &reason, kind: "trace", ..Cells::default() })?;
        }
        self.out.flush()
    }
}
