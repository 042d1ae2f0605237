//! Judging of a call before it is made, and of a session that ends.

use crate::error::RunError;
use crate::growing::GrowthIndex;
use crate::outcome::{AssertionResult, Outcome, Severity, Status, UndecidedCause};
use crate::rules::Rules;
use crate::trace::Trace;
use averment_runs::normal::of_run;
use serde_json::Value;
use std::cell::LazyCell;

/// The consequence for a call that breaks a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardMode {
    /// The call is made, and the log records the breach.
    Log,
    /// The call is made, and the user is warned.
    Warn,
    /// The call is denied.
    Enforce,
}

impl GuardMode {
    /// All modes with their words, mildest first.
    pub const ALL: [(&'static str, Self); 3] = [("log", Self::Log), ("warn", Self::Warn), ("enforce", Self::Enforce)];

    /// Returns its word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, mode)| *mode == self).map_or("", |(word, _)| word)
    }

    /// Returns the mode for rules of a severity: `severity warn` warns at most, `severity info` only logs.
    #[must_use]
    pub fn for_severity(self, severity: Severity) -> Self {
        match severity {
            Severity::Error => self,
            Severity::Warn => self.min(Self::Warn),
            Severity::Info => Self::Log,
        }
    }
}

/// An assertion that a call would break, or that a session still owes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleBreach {
    /// The id of the assertion.
    pub id: String,
    /// Its text.
    pub text: String,
    /// File and line, `refunds.assert:4`.
    pub place: String,
    /// The reason.
    pub reason: String,
    /// The author's message, if the rule has one.
    pub message: Option<String>,
    /// The consequence for the call.
    pub mode: GuardMode,
}

impl RuleBreach {
    fn new(result: AssertionResult<'_>, mode: GuardMode) -> Self {
        let assertion = result.assertion();
        let place = assertion.place();
        Self {
            id: result.id().to_owned(),
            text: result.text().to_owned(),
            place: format!("{}:{}", place.file, place.line),
            reason: result.reason().to_owned(),
            message: result.message().map(ToOwned::to_owned),
            mode: mode.for_severity(assertion.severity()),
        }
    }

    /// Returns one or two sentences: the rule, the reason, and the author's message.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { id, text, place, reason, message, .. } = self;
        let message = message.as_ref().map(|message| format!(" {message}")).unwrap_or_default();
        format!("`{id}` ({place}) says `{text}`: {reason}.{message}")
    }
}

/// Joins the breaches with a mode into one text; `None` if there are none.
#[must_use]
pub fn breach_text(breaches: &[RuleBreach], mode: GuardMode) -> Option<String> {
    let sentences: Vec<String> =
        breaches.iter().filter(|breach| breach.mode == mode).map(RuleBreach::sentence).collect();
    (!sentences.is_empty()).then(|| sentences.join("\n"))
}

/// Returns the assertions that fail in the run with a call but not in the run without it, or that it violates once more.
///
/// Both runs are unfinished, so a failure is final: no later step can undo it. An assertion that was an error before counts as broken only if it
/// looks at the call, or may look at it. The run `alone`, which has only the call, tells this.
///
/// # Errors
/// Returns an error if a run cannot be read.
pub fn judge_call(
    rules: &Rules,
    mode: GuardMode,
    before: &str,
    with: &str,
    alone: Option<&str>,
) -> Result<Vec<RuleBreach>, RunError> {
    let after = check_text(rules, with)?;
    let failed: Vec<AssertionResult<'_>> = after.results().filter(|result| is_broken(result.status())).collect();
    if failed.is_empty() {
        return Ok(Vec::new());
    }
    let earlier = check_text(rules, before)?;
    let count = |id: &str| {
        earlier.result(id).filter(|result| is_broken(result.status())).map(|result| result.violation_count())
    };
    // If a later step can fix the failure, the call is not denied. The assertion is reported when the session ends.
    let can_deny = |result: &AssertionResult<'_>| result.assertion().fails_for_good();
    let touched = LazyCell::new(|| {
        let index = GrowthIndex::new(rules)?;
        let touch = index.touched(alone?).ok()?;
        Some((index, touch))
    });
    let looks = |place| touched.as_ref().is_none_or(|(index, touch)| index.looks_at(touch, place));
    let is_new = |result: &AssertionResult<'_>| {
        count(result.id()).is_none_or(|count| result.violation_count() > count)
            || result.status() == Status::Error && looks(result.place_in_rules())
    };
    Ok(failed
        .into_iter()
        .filter(|result| can_deny(result) && is_new(result))
        .map(|result| RuleBreach::new(result, mode))
        .collect())
}

/// Returns the assertions that still miss something in a session: a call that must follow, or one that is required. `ended` is the same session as a
/// finished run, which shows what is missing.
///
/// # Errors
/// Returns an error if a run cannot be read.
pub fn judge_stop(rules: &Rules, mode: GuardMode, log: &str, ended: &str) -> Result<Vec<RuleBreach>, RunError> {
    let (outcome, last) = (check_text(rules, log)?, check_text(rules, ended)?);
    let is_owed = |result: &AssertionResult<'_>| {
        result.because() == Some(UndecidedCause::Owed)
            || is_broken(result.status()) && !result.assertion().fails_for_good()
    };
    let owed = outcome.results().filter(is_owed);
    let in_the_end = |result: AssertionResult<'_>| last.result(result.id()).filter(|last| is_broken(last.status()));
    let breaches = owed.filter_map(|result| Some(RuleBreach::new(in_the_end(result)?, mode)));
    Ok(breaches.collect())
}

/// Returns the final breaches of a run in the normal form, with the number of violations of each. The run is judged as unfinished, even if it has
/// ended.
///
/// # Errors
/// Returns an error if the run cannot be read.
pub fn judge_growth(rules: &Rules, mode: GuardMode, normal_form: &str) -> Result<Vec<(RuleBreach, u64)>, RunError> {
    let Ok(Value::Object(mut run)) = serde_json::from_str::<Value>(normal_form) else { return Ok(Vec::new()) };
    run.insert(of_run::COMPLETE.to_owned(), false.into());
    let outcome = check_text(rules, &Value::Object(run).to_string())?;
    let broken = outcome.results().filter(|result| is_broken(result.status()) && result.assertion().fails_for_good());
    Ok(broken.map(|result| (RuleBreach::new(result, mode), result.violation_count().max(1))).collect())
}

fn check_text(rules: &Rules, text: &str) -> Result<Outcome, RunError> {
    rules.check_one(Trace::from(text).named("session"))
}

/// Expected failures do not count. An evaluation error counts as a breach, because it is no permission.
pub(super) fn is_broken(status: Status) -> bool {
    matches!(status, Status::Failed | Status::Error)
}
