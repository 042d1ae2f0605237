//! Decides which results fail a run: by severity, thresholds of rules, and command-line flags.

use averment_checker::ir::DenySettings;
use averment_engine::vm::outcome::Status;

/// Command-line flags that change which results fail a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GatePolicy {
    /// `--deny vacuous`: a vacuous assertion fails the run.
    pub deny_vacuous: bool,
    /// `--deny unjudged`: an assertion that passes although it could not judge some step fails the run.
    pub deny_unjudged: bool,
    /// `--deny unexercised`: an assertion that no run exercises fails the check.
    pub deny_unexercised: bool,
    /// `--deny near-names`: a name that no run has, although some run has a similar one, fails the check.
    pub deny_near_names: bool,
    /// `--deny undecided`: an undecided assertion fails its run, even if the rules or `--allow` permit it.
    pub deny_undecided: bool,
    /// `--allow undecided`: an undecided assertion does not fail its run.
    pub allow_undecided: bool,
}

impl GatePolicy {
    /// Returns the policy for an assertion or a rule. Its own settings have precedence over the command line. Its `allow undecided`, which may come
    /// from a pack, can be overridden with `--deny undecided`.
    #[must_use]
    pub fn with_denied(self, denied: DenySettings) -> Self {
        Self {
            deny_vacuous: denied.vacuous.unwrap_or(self.deny_vacuous),
            deny_unjudged: denied.unjudged.unwrap_or(self.deny_unjudged),
            deny_unexercised: denied.unexercised.unwrap_or(self.deny_unexercised),
            deny_near_names: self.deny_near_names,
            deny_undecided: self.deny_undecided,
            allow_undecided: !self.deny_undecided && denied.undecided.map_or(self.allow_undecided, |denies| !denies),
        }
    }
}

/// Properties of an assertion that, besides its status, decide if it fails its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateInputs {
    /// True if its severity is `error`.
    pub is_error: bool,
    /// True if a rule with a threshold decides instead.
    pub by_rule: bool,
    /// True if a statement over all runs decides instead; the assertion then fails a run only by an error.
    pub over_runs: bool,
    /// Its `deny` and `allow` settings.
    pub denied: DenySettings,
}

/// The effect of a result on its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// It does not fail the run.
    Open,
    /// It fails the run.
    Failed,
    /// It fails the run because it could not be evaluated.
    Error,
}

/// Returns the effect of a status for an assertion of severity `error`.
pub fn status_gate(status: Status, policy: GatePolicy) -> Gate {
    match status {
        Status::Passed | Status::ExpectedFailed | Status::Skipped => Gate::Open,
        Status::Failed | Status::UnexpectedPassed => Gate::Failed,
        Status::Vacuous if policy.deny_vacuous => Gate::Failed,
        Status::Undecided if !policy.allow_undecided => Gate::Failed,
        Status::Vacuous | Status::Undecided => Gate::Open,
        Status::Error => Gate::Error,
    }
}

/// Returns the effect of an assertion on its run. A threshold rule decides instead, except for explicit denials.
#[must_use]
pub fn assertion_gate(gating: GateInputs, status: Status, unjudged: bool, policy: GatePolicy) -> Gate {
    let GateInputs { is_error, by_rule, over_runs, denied } = gating;
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
    let policy = policy.with_denied(denied);
    let of_status = if counts { status_gate(status, policy) } else { Gate::Open };
    let fails = unjudged && policy.deny_unjudged && speaks(denied.unjudged);
    of_status.max(if fails { Gate::Failed } else { Gate::Open })
}
