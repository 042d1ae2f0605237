//! `--format gitlab`: the code quality report of GitLab, a list with an issue per violation.

use super::digest::{hashed, hex};
use super::fingerprint::Fingerprints;
use super::model::{ResultReport, RunReport, Unreadable};
use super::standing::{self, Level, Standing};
use super::table::{Location, Table};
use super::{Command, Ending, Options, Report};
use serde_json::json;
use std::io::{self, Write};

/// The report.
pub struct Gitlab {
    out: Box<dyn Write>,
    options: Options,
    fingerprints: Fingerprints,
    any: bool,
}

/// A description is cut to this many characters.
const DESCRIPTION: usize = 1_000;

impl Gitlab {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, fingerprints: Fingerprints::default(), any: false }
    }

    fn issue(&mut self, what: &str, check: &str, mark: &str, severity: &str, at: (&str, usize)) -> io::Result<()> {
        let (path, line) = at;
        let issue = json!({
            "description": standing::line(what, DESCRIPTION),
            "check_name": check,
            "fingerprint": mark,
            "severity": severity,
            "location": {"path": relative(path), "lines": {"begin": line.max(1)}},
        });
        self.out.write_all(if self.any { b",\n" } else { b"\n" })?;
        self.any = true;
        Ok(serde_json::to_writer(&mut self.out, &issue)?)
    }

    fn result(&mut self, table: &Table, run: &RunReport, result: &ResultReport) -> io::Result<()> {
        let standing = Standing::of(table, result, self.options.policy);
        let Some(item) = table.items.get(result.item) else { return Ok(()) };
        if !(standing.fails() || standing == Standing::Tolerated) {
            return Ok(());
        }
        let severity = match (standing, Level::of(standing, item)) {
            (Standing::Broken, _) => "critical",
            (_, Level::Error) => "major",
            (_, Level::Warning) => "minor",
            (_, Level::Note) => "info",
        };
        for violation in standing::violations(result) {
            let sentence = standing::sentence(self.options.command, item, result, violation);
            let place = violation.evidence.iter().find_map(|one| one.source).map(|at| format!(":{}", at.line));
            let what = match self.options.command {
                Command::Check if run.run == run.file => {
                    format!("{sentence} [{}{}]", run.file, place.unwrap_or_default())
                }
                Command::Check => format!("{sentence} [{}]", run.run),
                Command::Test | Command::Lint => sentence,
            };
            let mark = self.fingerprints.of(item, run, violation);
            self.issue(&what, &item.id, &mark, severity, (&item.location.file, item.location.line))?;
        }
        Ok(())
    }
}

/// A path as GitLab compares it with those of a change.
fn relative(path: &str) -> String {
    let path = path.replace('\\', "/");
    path.strip_prefix("./").unwrap_or(&path).to_owned()
}

impl Report for Gitlab {
    fn begin(&mut self, _: &Table) -> io::Result<()> {
        self.out.write_all(b"[")
    }

    fn run(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        run.results.iter().try_for_each(|result| self.result(table, run, result))?;
        for rule in standing::judged_rules(table, run).filter(|rule| !rule.known) {
            let fails = standing::rule_fails(table, rule, self.options.policy);
            let (Some(item), Some(missed)) = (table.rules.get(rule.rule), standing::missed(table, rule)) else {
                continue;
            };
            let severity = if fails { "major" } else { "minor" };
            let mark = hex(&hashed::<16>(&[&item.id, &run.run, "threshold"]));
            let at = (item.location.file.as_str(), item.location.line);
            self.issue(&format!("fail: {missed} [{}]", run.run), &item.id, &mark, severity, at)?;
        }
        Ok(())
    }

    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()> {
        let mark = hex(&hashed::<16>(&[&what.file, &what.line.to_string(), &what.message]));
        self.issue(&what.message, "unreadable", &mark, "critical", (&what.file, what.line))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, table: &Table, ending: &Ending<'_>) -> io::Result<()> {
        if let Some(missing) = ending.totals.missing() {
            let nowhere = Location { file: "rules".to_owned(), line: 1, column: 1 };
            let at = table.items.first().map_or(&nowhere, |item| &item.location);
            let what = format!("{missing} of the runs were not judged: the evaluation broke down or was interrupted");
            let mark = hex(&hashed::<16>(&["not-judged"]));
            self.issue(&what, "not-judged", &mark, "critical", (&at.file, at.line))?;
        }
        writeln!(self.out, "{}]", if self.any { "\n" } else { "" })?;
        self.out.flush()
    }
}
