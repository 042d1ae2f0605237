//! Converts rule tests and lint findings into results, so that every report format can show them.
//!
//! A rule file becomes a run. A test becomes an assertion, which holds if the test has its expected outcome. A finding becomes a failed assertion,
//! with its lint as the rule; a file without findings holds.

use super::exit::{CommandError, Exit};
use super::outputs::{DrawOptions, ReportOutputs};
use super::targets::OutputTarget;
use averment::Diagnostics;
use averment_base::diagnostic::{self, Diagnostic, Family};
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_base::truth::Verdict;
use averment_checker::ir::{DenySettings, Severity};
use averment_engine::vm::online_use::OnlineUse;
use averment_engine::vm::outcome::Status;
use averment_report::ReportedCommand;
use averment_report::gate::GatePolicy;
use averment_report::model::{EvidenceReport, ResultReport, RunReport};
use averment_report::redact::mask_secrets;
use averment_report::table::{Location, ReportItem, ReportTable, RuleItem};
use averment_testing::outcome::TrialReport;

/// Results that do not come from runs.
#[derive(Default)]
pub struct RunlessReport {
    table: ReportTable,
    runs: Vec<RunReport>,
}

/// Text of the assertion for a rule file without findings.
const CLEAN: &str = "findings";

impl RunlessReport {
    /// Converts diagnostics of rule files.
    pub fn from_diagnostics(said: &Diagnostics) -> Self {
        let mut all = Self::default();
        for (sources, diagnostics) in said.by_file() {
            let offset = u32::try_from(all.table.sources.iter().count()).unwrap_or(u32::MAX);
            for (_, source) in sources.iter() {
                let text = mask_secrets(&source.text).into_owned();
                let made = if source.is_data { SourceFile::data_file } else { SourceFile::new };
                all.table.sources.add_file(made(source.name.clone(), None, text));
            }
            let name = sources.get(FileId(0)).map(|source| source.name.to_string()).unwrap_or_default();
            let mut results: Vec<ResultReport> =
                diagnostics.0.iter().map(|one| all.finding_result(sources, offset, one)).collect();
            if results.is_empty() {
                let location = Location { file: name.clone(), line: 1, column: 1 };
                let rule = all.add_rule(CLEAN, "nothing is found in the rule file", Severity::Error, &location);
                let item = ReportItem { id: CLEAN.to_owned(), ..named_item(rule, location, "nothing is found in it") };
                results.push(all.item_result(item, Status::Passed, String::new()));
            }
            all.add_run(name, results);
        }
        all
    }

    /// Converts test results; each suite is a rule file.
    pub fn from_tests(suites: &[(String, &[TrialReport])]) -> Self {
        let mut all = Self::default();
        for (name, tested) in suites {
            let location = Location { file: name.clone(), line: 1, column: 1 };
            let rule = all.add_rule(name, name, Severity::Error, &location);
            let results = tested.iter().map(|test| all.test_result(rule, test)).collect();
            all.add_run(name.clone(), results);
        }
        all
    }

    /// Writes the results to all targets.
    pub fn write_report(&self, targets: &[OutputTarget], drawing: DrawOptions, exit: Exit) -> Result<(), CommandError> {
        let color = super::console::ColorChoice::Never;
        let none = serde_json::Value::Array(Vec::new());
        let mut outputs = ReportOutputs::open_targets(targets, color, GatePolicy::default(), drawing, &none)?;
        outputs.begin_reports(&self.table)?;
        for run in &self.runs {
            outputs.show_run(&self.table, run)?;
        }
        Ok(outputs.end_reports(&self.table, exit)?)
    }

    fn add_run(&mut self, name: String, results: Vec<ResultReport>) {
        let gate = self.table.run_gate(&results, &[], GatePolicy::default());
        self.runs.push(RunReport { results, ..RunReport::without_results(name.clone(), name, gate, None) });
    }

    fn add_rule(&mut self, id: &str, sentence: &str, severity: Severity, location: &Location) -> usize {
        let known = self.table.rules.iter().position(|rule| rule.id == id);
        known.unwrap_or_else(|| {
            let (id, sentence, location) = (id.to_owned(), Some(sentence.to_owned()), location.clone());
            self.table.rules.push(RuleItem {
                id,
                sentence,
                metric: None,
                threshold: None,
                severity,
                denied: DenySettings::default(),
                over_runs: false,
                location,
                phase: None,
            });
            self.table.rules.len() - 1
        })
    }

    fn item_result(&mut self, item: ReportItem, status: Status, reason: String) -> ResultReport {
        self.table.items.push(item);
        let verdict = if status == Status::Passed { Verdict::Pass } else { Verdict::Fail };
        let bare = ResultReport::bare_result(self.table.items.len() - 1, verdict, status, None);
        ResultReport { reason, ..bare }
    }

    fn finding_result(&mut self, sources: &SourceMap, offset: u32, one: &Diagnostic) -> ResultReport {
        let span = offset_span(one.span, offset);
        let at = sources.line_column(one.span);
        let location = Location { file: sources.file_name(one.span).to_owned(), line: at.line, column: at.column };
        let severity = match one.severity {
            diagnostic::Severity::Error => Severity::Error,
            diagnostic::Severity::Warning => Severity::Warn,
            diagnostic::Severity::Info => Severity::Info,
        };
        let slug = one.slug;
        let rule = self.add_rule(slug.as_str(), slug.title(), severity, &location);
        let help = format!("{}. `aver explain {}` says more.", slug.title(), slug.as_str());
        let tags = slug.family().map(Family::as_str).map(str::to_owned).into_iter().collect();
        let id = slug.as_str().to_owned();
        let text = one.message.clone();
        let item = ReportItem { id, span, severity, tags, help: Some(help), ..named_item(rule, location, &text) };
        let reason = match &one.help {
            Some(help) => format!("{}; help: {help}", one.message),
            None => one.message.clone(),
        };
        let mut result = self.item_result(item, Status::Failed, reason);
        let others = one.others.iter().map(|other| EvidenceReport {
            label: other.text.clone(),
            rule_span: Some(offset_span(other.span, offset)),
            ..EvidenceReport::default()
        });
        result.evidence = others.collect();
        result
    }

    fn test_result(&mut self, rule: usize, test: &TrialReport) -> ResultReport {
        let place = &test.place;
        let location = Location { file: place.file.clone(), line: place.line, column: place.column };
        let item = named_item(rule, location, &test.name);
        if test.passed {
            return self.item_result(item, Status::Passed, String::new());
        }
        let help = if test.help.is_empty() { String::new() } else { format!("; help: {}", test.help) };
        let mut result = self.item_result(item, Status::Failed, format!("{}{help}", test.reason));
        let why = test.why.iter().map(|why| {
            let reason = if why.reason.is_empty() { String::new() } else { format!(": {}", why.reason) };
            format!("{} {}{reason}", why.id, why.status.as_str())
        });
        let said = why.chain(test.changes.iter().cloned());
        result.evidence = said.map(|label| EvidenceReport { label, ..EvidenceReport::default() }).collect();
        result
    }
}

/// An assertion whose text is also its name.
fn named_item(rule: usize, location: Location, text: &str) -> ReportItem {
    ReportItem {
        id: text.to_owned(),
        rule: Some(rule),
        metric: None,
        text: text.to_owned(),
        severity: Severity::Error,
        weight: 1.0,
        denied: DenySettings::default(),
        over_runs: false,
        is_to_fail: false,
        of_all_runs: false,
        of_case: false,
        class: None,
        classifiers: Vec::new(),
        tags: Vec::new(),
        location,
        // A source span that is in no file, because only the location is known.
        span: Span::new(FileId(u32::MAX), 0, 0),
        expected: None,
        help: None,
        masked: false,
        online: OnlineUse { fails_for_good: true, ..OnlineUse::default() },
        own: None,
    }
}

fn offset_span(span: Span, offset: u32) -> Span {
    Span { file: FileId(span.file.0.saturating_add(offset)), ..span }
}

/// The default drawing limits of a command.
pub fn command_drawing(command: ReportedCommand) -> DrawOptions {
    DrawOptions { command, ..DrawOptions::default() }
}
