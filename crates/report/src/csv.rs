//! `--format csv`: a row per verdict, as RFC 4180 writes tables, for DuckDB, pandas and spreadsheets.

use super::model::{ResultReport, RuleReport, RunReport, UnreadableTrace};
use super::standing::{self, ResultStanding};
use super::table::ReportTable;
use super::{Options, Report, ReportEnding};
use averment_base::diagnostic::render::one_line;
use std::io::{self, Write};

/// The report.
pub struct CsvReport {
    out: Box<dyn Write>,
    options: Options,
    row: String,
}

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

#[derive(Default)]
struct RowCells<'a> {
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
    kind: &'a str,
    text: &'a str,
}

impl CsvReport {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, row: String::new() }
    }

    fn write_row(&mut self, cells: &RowCells<'_>) -> io::Result<()> {
        self.row.clear();
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let whole = |value: Option<usize>| value.map(|value| value.to_string()).unwrap_or_default();
        let texts = [cells.run, cells.file];
        texts.iter().for_each(|text| self.write_text(text));
        self.write_plain(&whole(cells.line));
        [cells.rule, cells.assertion, cells.place.map_or("", |at| at.0)].iter().for_each(|text| self.write_text(text));
        self.write_plain(&whole(cells.place.map(|at| at.1)));
        [cells.severity, cells.verdict, cells.status].iter().for_each(|word| self.write_plain(word));
        [cells.fails, cells.known].iter().for_each(|flag| self.write_plain(if *flag { "true" } else { "false" }));
        [cells.score, cells.weight, cells.threshold].into_iter().for_each(|value| self.write_plain(&number(value)));
        self.write_plain(&cells.violations.to_string());
        [cells.class, cells.tags].iter().for_each(|text| self.write_text(text));
        self.write_plain(&cells.step.map(|step| step.to_string()).unwrap_or_default());
        [cells.message, cells.reason].iter().for_each(|text| self.write_text(text));
        self.write_plain(cells.kind);
        self.write_text(cells.text);
        self.row.push_str("\r\n");
        self.out.write_all(self.row.as_bytes())
    }

    fn write_plain(&mut self, word: &str) {
        self.write_separator();
        self.row.push_str(word);
    }

    fn write_separator(&mut self) {
        if !self.row.is_empty() {
            self.row.push(',');
        }
    }

    /// Foreign text on one line, quoted, and never a spreadsheet formula.
    fn write_text(&mut self, text: &str) {
        self.write_separator();
        let text = one_line(text);
        let guard = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
        self.row.extend(["\"", guard, &text.replace('"', "\"\""), "\""]);
    }

    fn write_result(&mut self, table: &ReportTable, run: &RunReport, result: &ResultReport) -> io::Result<()> {
        let Some(item) = table.items.get(result.item) else { return Ok(()) };
        let tags = item.tags.join(" ");
        let evidence = || result.evidence.iter();
        self.write_row(&RowCells {
            run: &run.run,
            file: &run.file,
            line: evidence().find_map(|one| one.source).map(|at| at.line),
            rule: table.rule_of(item).map_or("", |rule| &rule.id),
            assertion: &item.id,
            place: Some((&item.location.file, item.location.line)),
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
            tags: &tags,
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
        self.write_row(&RowCells {
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
            ..RowCells::default()
        })
    }
}

impl Report for CsvReport {
    fn begin_report(&mut self, _: &ReportTable) -> io::Result<()> {
        write!(self.out, "{}\r\n", COLUMNS.join(","))
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        run.results.iter().try_for_each(|result| self.write_result(table, run, result))?;
        standing::judged_rules(table, run).try_for_each(|rule| self.write_rule(table, run, rule))
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        let (file, line, reason) = (what.file.as_str(), Some(what.line), what.message.as_str());
        self.write_row(&RowCells {
            file,
            line,
            status: "unreadable",
            fails: true,
            reason,
            kind: "trace",
            ..RowCells::default()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, _: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        if let Some(missing) = ending.totals.missing_count() {
            let reason = format!("{missing} of the runs were not judged: the evaluation broke down or was interrupted");
            self.write_row(&RowCells {
                status: "not_judged",
                fails: true,
                reason: &reason,
                kind: "trace",
                ..RowCells::default()
            })?;
        }
        self.out.flush()
    }
}
