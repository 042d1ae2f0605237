//! `--format gitlab`: GitLab's code quality report, a list with an issue per violation.

use super::digest::{hash_texts, to_hex};
use super::fingerprint::ViolationFingerprints;
use super::model::{ResultReport, RunReport, UnreadableTrace};
use super::standing::{self, FindingLevel, ResultStanding};
use super::table::{Location, ReportTable};
use super::{Options, Report, ReportEnding, ReportedCommand};
use serde_json::json;
use std::io::{self, Write};

/// The `gitlab` report.
pub struct GitlabReport {
    out: Box<dyn Write>,
    options: Options,
    fingerprints: ViolationFingerprints,
    any: bool,
}

/// Maximum length of a description, in characters.
const DESCRIPTION: usize = 1_000;

impl GitlabReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, fingerprints: ViolationFingerprints::default(), any: false }
    }

    fn write_issue(
        &mut self,
        what: &str,
        check: &str,
        mark: &str,
        severity: &str,
        at: (&str, usize),
    ) -> io::Result<()> {
        let (path, line) = at;
        let issue = json!({
            "description": standing::shorten_line(what, DESCRIPTION),
            "check_name": check,
            "fingerprint": mark,
            "severity": severity,
            "location": {"path": relative_path(path), "lines": {"begin": line.max(1)}},
        });
        self.out.write_all(if self.any { b",\n" } else { b"\n" })?;
        self.any = true;
        Ok(serde_json::to_writer(&mut self.out, &issue)?)
    }

    fn write_result(&mut self, table: &ReportTable, run: &RunReport, result: &ResultReport) -> io::Result<()> {
        let standing = ResultStanding::of_result(table, result, self.options.policy);
        let Some(item) = table.items.get(result.item) else { return Ok(()) };
        if !(standing.fails_run() || standing == ResultStanding::Tolerated) {
            return Ok(());
        }
        let severity = match (standing, FindingLevel::of_standing(standing, item)) {
            (ResultStanding::Broken, _) => "critical",
            (_, FindingLevel::Error) => "major",
            (_, FindingLevel::Warning) => "minor",
            (_, FindingLevel::Note) => "info",
        };
        for violation in crate::model::listed_violations(result) {
            let sentence = standing::result_sentence(self.options.command, item, result, violation);
            let place = violation.evidence.iter().find_map(|one| one.source).map(|at| format!(":{}", at.line));
            let what = match self.options.command {
                ReportedCommand::Check if run.run == run.file => {
                    format!("{sentence} [{}{}]", run.file, place.unwrap_or_default())
                }
                ReportedCommand::Check => format!("{sentence} [{}]", run.run),
                ReportedCommand::Test | ReportedCommand::Lint => sentence,
            };
            let mark = self.fingerprints.violation_fingerprint(item, run, violation);
            self.write_issue(&what, &item.id, &mark, severity, (&item.location.file, item.location.line))?;
        }
        Ok(())
    }
}

/// Returns the path in the form of the paths in a merge request, which GitLab compares it with.
fn relative_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    path.strip_prefix("./").unwrap_or(&path).to_owned()
}

impl Report for GitlabReport {
    fn begin_report(&mut self, _: &ReportTable) -> io::Result<()> {
        self.out.write_all(b"[")
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        run.results.iter().try_for_each(|result| self.write_result(table, run, result))?;
        for rule in standing::judged_rules(table, run).filter(|rule| !rule.known) {
            let fails = standing::rule_fails(table, rule, self.options.policy);
            let (Some(item), Some(missed)) = (table.rules.get(rule.rule), standing::missed_threshold(table, rule))
            else {
                continue;
            };
            let severity = if fails { "major" } else { "minor" };
            let mark = to_hex(&hash_texts::<16>(&[&item.id, &run.run, "threshold"]));
            let at = (item.location.file.as_str(), item.location.line);
            self.write_issue(&format!("fail: {missed} [{}]", run.run), &item.id, &mark, severity, at)?;
        }
        Ok(())
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        let mark = to_hex(&hash_texts::<16>(&[&what.file, &what.line.to_string(), &what.message]));
        self.write_issue(&what.message, "unreadable", &mark, "critical", (&what.file, what.line))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, table: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        if let Some(missing) = ending.totals.missing_count() {
            let nowhere = Location { file: "rules".to_owned(), line: 1, column: 1 };
            let at = table.items.first().map_or(&nowhere, |item| &item.location);
            let what = format!("{missing} of the runs were not judged: the evaluation broke down or was interrupted");
            let mark = to_hex(&hash_texts::<16>(&["not-judged"]));
            self.write_issue(&what, "not-judged", &mark, "critical", (&at.file, at.line))?;
        }
        writeln!(self.out, "{}]", if self.any { "\n" } else { "" })?;
        self.out.flush()
    }
}
