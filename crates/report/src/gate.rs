//! Which results fail a run: severities, thresholds of rules, and what the command line adds.

use super::model::{ResultReport, RuleReport};
use super::table::Table;
use averment_engine::ir::Severity;
use averment_engine::vm::outcome::Status;

/// What the command line changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// `--deny vacuous`: a vacuous assertion fails the run.
    pub deny_vacuous: bool,
    /// `--deny unjudged`: an assertion that passes although it could not judge some step fails the run.
    pub deny_unjudged: bool,
    /// `--allow undecided`: an undecided assertion does not.
    pub allow_undecided: bool,
}

/// What a result does to its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// Nothing.
    Open,
    /// It fails the run.
    Failed,
    /// It fails the run because it could not be evaluated.
    Error,
}

/// What a status does to a run when nothing but severity `error` stands in between.
pub fn of_status(status: Status, policy: Policy) -> Gate {
    match status {
        Status::Passed | Status::ExpectedFailed | Status::Skipped => Gate::Open,
        Status::Failed | Status::UnexpectedPassed => Gate::Failed,
        Status::Vacuous if policy.deny_vacuous => Gate::Failed,
        Status::Undecided if !policy.allow_undecided => Gate::Failed,
        Status::Vacuous | Status::Undecided => Gate::Open,
        Status::Error => Gate::Error,
    }
}

/// What one result does to its run. A rule with a threshold speaks for its assertions.
#[must_use]
pub fn of_result(table: &Table, result: &ResultReport, policy: Policy) -> Gate {
    let Some(item) = table.items.get(result.item) else { return Gate::Open };
    let judged_by_rule = table.rule_of(item).is_some_and(|rule| rule.threshold.is_some());
    if judged_by_rule || item.severity != Severity::Error || result.known {
        return Gate::Open;
    }
    let unjudged = if policy.deny_unjudged && result.unjudged.is_some() { Gate::Failed } else { Gate::Open };
    of_status(result.status, policy).max(unjudged)
}

/// What a rule with a threshold does to its run.
#[must_use]
pub fn of_rule(table: &Table, rule: &RuleReport, policy: Policy) -> Gate {
    match table.rules.get(rule.rule) {
        Some(item) if item.threshold.is_some() && item.severity == Severity::Error && !rule.known => {
            of_status(Status::of(rule.verdict, false), policy)
        }
        _ => Gate::Open,
    }
}

/// The gravest gate of a run.
#[must_use]
pub fn of_run(table: &Table, results: &[ResultReport], rules: &[RuleReport], policy: Policy) -> Gate {
    let of_results = results.iter().map(|result| of_result(table, result, policy));
    let of_rules = rules.iter().map(|rule| of_rule(table, rule, policy));
    of_results.chain(of_rules).max().unwrap_or(Gate::Open)
}
