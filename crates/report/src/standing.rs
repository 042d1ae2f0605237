//! The outcome of a result in the terms of services, which only know passed, failed, broken and skipped.

use super::gate::{Gate, GatePolicy};
use super::model::{ResultReport, RuleReport, RunReport, ViolationView};
use super::table::{ReportItem, ReportTable};
use super::{ReportedCommand, short, value};
use averment_base::diagnostic::render::{one_line, printable};
use averment_checker::ir::Severity;
use averment_engine::vm::outcome::Status;

/// The effect of a result on its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultStanding {
    /// The assertion holds.
    Passed,
    /// It fails the run.
    Failed,
    /// It could not be evaluated and fails the run.
    Broken,
    /// It fails, but does not fail the run: severity below `error`, a threshold rule, or `--allow`.
    Tolerated,
    /// It fails as expected, or as most runs should by a statement over all runs.
    Expected,
    /// A baseline lists the failure.
    Known,
    /// Nothing exercised it.
    Vacuous,
    /// The assertion was skipped.
    Skipped,
}

impl ResultStanding {
    /// Returns the effect of a result on its run.
    #[must_use]
    pub fn of_result(table: &ReportTable, result: &ResultReport, policy: GatePolicy) -> Self {
        match (table.result_gate(result, policy), result.status) {
            (Gate::Error, _) => Self::Broken,
            (Gate::Failed, _) => Self::Failed,
            (Gate::Open, _) if result.known => Self::Known,
            (Gate::Open, Status::Passed) => Self::Passed,
            (Gate::Open, Status::ExpectedFailed) => Self::Expected,
            (Gate::Open, Status::Failed) if table.fails_as_asked(result) => Self::Expected,
            (Gate::Open, Status::Vacuous) => Self::Vacuous,
            (Gate::Open, Status::Skipped) => Self::Skipped,
            (Gate::Open, _) => Self::Tolerated,
        }
    }

    /// True if it fails the run.
    #[must_use]
    pub fn fails_run(self) -> bool {
        matches!(self, Self::Failed | Self::Broken)
    }
}

/// The severity of a finding: `error` fails the run, `warning` does not fail it, `note` is information.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingLevel {
    /// For information only.
    Note,
    /// The assertion does not hold, but does not fail the run.
    Warning,
    /// It fails the run.
    Error,
}

impl FindingLevel {
    /// Returns the level of a result.
    #[must_use]
    pub fn of_standing(standing: ResultStanding, item: &ReportItem) -> Self {
        match standing {
            ResultStanding::Failed | ResultStanding::Broken => Self::Error,
            ResultStanding::Tolerated if item.severity != Severity::Info => Self::Warning,
            _ => Self::Note,
        }
    }
}

/// Returns the number of violations that are counted but not listed.
#[must_use]
pub fn not_listed(result: &ResultReport) -> u64 {
    let listed = u64::try_from(result.violations.listed.len().max(1)).unwrap_or(u64::MAX);
    result.violation_count().saturating_sub(listed)
}

/// Returns the verdict and the reason of a result in one sentence, without its run. Messages of tests and lints are already sentences.
#[must_use]
pub fn result_sentence(
    command: ReportedCommand,
    item: &ReportItem,
    result: &ResultReport,
    violation: ViolationView<'_>,
) -> String {
    let said = match command {
        ReportedCommand::Check => short::verdict_words(item, result, None, violation),
        ReportedCommand::Test | ReportedCommand::Lint => violation.reason.to_owned(),
    };
    // Made printable, because every service shows it to people.
    printable(&said).into_owned()
}

/// True if it fails the command. For lints, every finding above info fails.
#[must_use]
pub fn fails_command(command: ReportedCommand, standing: ResultStanding, item: &ReportItem) -> bool {
    let finding =
        standing == ResultStanding::Tolerated && FindingLevel::of_standing(standing, item) == FindingLevel::Warning;
    standing.fails_run() || command == ReportedCommand::Lint && finding
}

/// Returns the missed threshold in words; `None` without a threshold or if it is met.
#[must_use]
pub fn missed_threshold(table: &ReportTable, rule: &RuleReport) -> Option<String> {
    let item = table.rules.get(rule.rule)?;
    let threshold = item.threshold.filter(|_| !rule.passed)?;
    let score = rule.score.map_or("none".to_owned(), super::human::score_text);
    Some(format!("its score is {score}, its threshold {threshold}"))
}

/// True if a threshold rule fails its run.
#[must_use]
pub fn rule_fails(table: &ReportTable, rule: &RuleReport, policy: GatePolicy) -> bool {
    table.rule_gate(rule, policy) != Gate::Open
}

/// Returns the results of threshold rules in a run.
pub fn judged_rules<'a>(table: &'a ReportTable, run: &'a RunReport) -> impl Iterator<Item = &'a RuleReport> {
    run.rules.iter().filter(|rule| table.rules.get(rule.rule).is_some_and(|item| item.threshold.is_some()))
}

/// Returns a text on one line, shortened to `length` characters.
#[must_use]
pub fn shorten_line(text: &str, length: usize) -> String {
    value::shorten_text(&one_line(text), length)
}
