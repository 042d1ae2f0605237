//! What a result is to the services that show it: they know passed, failed, broken and left out, and nothing in between.

use super::gate::{Gate, Policy};
use super::model::{EvidenceReport, ResultReport, RuleReport, RunReport};
use super::table::{Item, Table};
use super::{Command, short, value};
use averment_base::diagnostic::render::{one_line, printable};
use averment_engine::ir::Severity;
use averment_engine::vm::outcome::Status;

/// How a result stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It holds.
    Passed,
    /// It fails the run.
    Failed,
    /// It could not be evaluated and fails the run.
    Broken,
    /// It does not hold and fails nothing: a severity below `error`, a rule with a threshold, `--allow`.
    Tolerated,
    /// It fails as it is expected to, or as most runs are to by what is said over runs.
    Expected,
    /// A baseline knows that it fails.
    Known,
    /// Nothing exercised it.
    Vacuous,
    /// It was left out.
    Skipped,
}

impl Standing {
    /// How a result stands.
    #[must_use]
    pub fn of(table: &Table, result: &ResultReport, policy: Policy) -> Self {
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

    /// True for what fails the run.
    #[must_use]
    pub fn fails(self) -> bool {
        matches!(self, Self::Failed | Self::Broken)
    }
}

/// How grave a finding is: `error` fails the run, `warning` would if the rules said so, `note` is only told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It is told.
    Note,
    /// It does not hold, and fails nothing.
    Warning,
    /// It fails the run.
    Error,
}

impl Level {
    /// That of a result.
    #[must_use]
    pub fn of(standing: Standing, item: &Item) -> Self {
        match standing {
            Standing::Failed | Standing::Broken => Self::Error,
            Standing::Tolerated if item.severity != Severity::Info => Self::Warning,
            _ => Self::Note,
        }
    }
}

/// A violation: its reason and its evidence.
#[derive(Debug, Clone, Copy)]
pub struct ViolationView<'a> {
    /// Why the assertion does not hold.
    pub reason: &'a str,
    /// What proves it.
    pub evidence: &'a [EvidenceReport],
}

/// The violation that a result begins with.
#[must_use]
pub fn first_violation(result: &ResultReport) -> ViolationView<'_> {
    ViolationView { reason: &result.reason, evidence: &result.evidence }
}

/// Each of the violations of a result that are listed; one that lists none is a violation by itself.
pub fn violations(result: &ResultReport) -> impl Iterator<Item = ViolationView<'_>> {
    let own = result.violations.listed.is_empty().then(|| first_violation(result));
    let listed = result.violations.listed.iter();
    own.into_iter().chain(listed.map(|one| ViolationView { reason: &one.reason, evidence: &one.evidence }))
}

/// How many violations are counted and not listed.
#[must_use]
pub fn not_listed(result: &ResultReport) -> u64 {
    let listed = u64::try_from(result.violations.listed.len().max(1)).unwrap_or(u64::MAX);
    result.violation_count().saturating_sub(listed)
}

/// The verdict and the reason of a result in one sentence, without its run. What is said of tests and rules is a sentence by itself.
#[must_use]
pub fn sentence(command: Command, item: &Item, result: &ResultReport, violation: ViolationView<'_>) -> String {
    let said = match command {
        Command::Check => short::worded(item, result, None, violation),
        Command::Test | Command::Lint => violation.reason.to_owned(),
    };
    // Whatever shows it shows it to people in the end.
    printable(&said).into_owned()
}

/// Whether it fails what the command is asked for. Lints fail with every finding that is more than a remark.
#[must_use]
pub fn fails(command: Command, standing: Standing, item: &Item) -> bool {
    let finding = standing == Standing::Tolerated && Level::of(standing, item) == Level::Warning;
    standing.fails() || command == Command::Lint && finding
}

/// What is said of a rule with a threshold that its run misses; `None` where it has none or does not.
#[must_use]
pub fn missed(table: &Table, rule: &RuleReport) -> Option<String> {
    let item = table.rules.get(rule.rule)?;
    let threshold = item.threshold.filter(|_| !rule.passed)?;
    let score = rule.score.map_or("none".to_owned(), super::human::score_text);
    Some(format!("its score is {score}, its threshold {threshold}"))
}

/// Whether a rule with a threshold fails its run.
#[must_use]
pub fn rule_fails(table: &Table, rule: &RuleReport, policy: Policy) -> bool {
    table.rule_gate(rule, policy) != Gate::Open
}

/// The rules of a run with a threshold.
pub fn judged_rules<'a>(table: &'a Table, run: &'a RunReport) -> impl Iterator<Item = &'a RuleReport> {
    run.rules.iter().filter(|rule| table.rules.get(rule.rule).is_some_and(|item| item.threshold.is_some()))
}

/// A text of the rules or of a run on one line, at most so many characters.
#[must_use]
pub fn line(text: &str, length: usize) -> String {
    value::shortened(&one_line(text), length)
}
