//! Which results fail a run: severities, thresholds of rules, and what the command line adds.

use averment_engine::ir::Denied;
use averment_engine::vm::outcome::Status;

/// What the command line changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// `--deny vacuous`: a vacuous assertion fails the run.
    pub deny_vacuous: bool,
    /// `--deny unjudged`: an assertion that passes although it could not judge some step fails the run.
    pub deny_unjudged: bool,
    /// `--deny unexercised`: an assertion that no run exercises fails the check.
    pub deny_unexercised: bool,
    /// `--allow undecided`: an undecided assertion does not.
    pub allow_undecided: bool,
}

impl Policy {
    /// For an assertion or a rule: what it says itself counts, for the rest what the command line says.
    #[must_use]
    pub fn with(self, denied: Denied) -> Self {
        Self {
            deny_vacuous: denied.vacuous.unwrap_or(self.deny_vacuous),
            deny_unjudged: denied.unjudged.unwrap_or(self.deny_unjudged),
            deny_unexercised: denied.unexercised.unwrap_or(self.deny_unexercised),
            allow_undecided: denied.undecided.map_or(self.allow_undecided, |denies| !denies),
        }
    }
}

/// What decides beside its status what an assertion does to its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gating {
    /// Whether its severity is `error`.
    pub is_error: bool,
    /// Whether a rule with a threshold speaks for it.
    pub by_rule: bool,
    /// Whether a statement over all runs speaks for it: then it fails no run by itself, unless it cannot be evaluated.
    pub over_runs: bool,
    /// Its `deny` and `allow`.
    pub denied: Denied,
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

/// What an assertion does to its run. A rule with a threshold speaks for its assertions, but for what is denied in so many words.
#[must_use]
pub fn of_assertion(gating: Gating, status: Status, unjudged: bool, policy: Policy) -> Gate {
    let Gating { is_error, by_rule, over_runs, denied } = gating;
    if !is_error {
        return Gate::Open;
    }
    if over_runs {
        return if status == Status::Error { Gate::Error } else { Gate::Open };
    }
    let speaks = |said: Option<bool>| !by_rule || said == Some(true);
    let counts = match status {
        Status::Vacuous => speaks(denied.vacuous),
        Status::Undecided => speaks(denied.undecided),
        _ => !by_rule,
    };
    let policy = policy.with(denied);
    let of_status = if counts { of_status(status, policy) } else { Gate::Open };
    let fails = unjudged && policy.deny_unjudged && speaks(denied.unjudged);
    of_status.max(if fails { Gate::Failed } else { Gate::Open })
}
