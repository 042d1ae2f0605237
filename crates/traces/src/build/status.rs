//! How a step ended, in the words of all formats.

use averment_base::value::Value;
use averment_runs::run::StepStatus;

/// Case-insensitive; `None` for an unknown word.
pub(crate) fn of_word(word: &str) -> Option<StepStatus> {
    let is = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    if is(&["ok", "success", "succeeded", "successful", "completed", "complete", "done", "passed", "finished"]) {
        Some(StepStatus::Ok)
    } else if is(&[
        "failed",
        "failure",
        "error",
        "errored",
        "timeout",
        "timed_out",
        "aborted",
        "crashed",
        "cancelled",
        "canceled",
    ]) {
        Some(StepStatus::Failed)
    } else if is(&["denied", "rejected", "refused", "declined", "blocked", "forbidden"]) {
        Some(StepStatus::Denied)
    } else if is(&[
        "pending",
        "requires_approval",
        "awaiting_approval",
        "approval_required",
        "requires_action",
        "proposed",
    ]) {
        Some(StepStatus::Pending)
    } else if is(&["unknown", "unset", "running", "in_progress", "incomplete"]) {
        Some(StepStatus::Unknown)
    } else {
        None
    }
}

/// Anything but `null`, empty text and `false`.
pub(super) fn is_error(value: &Value<'_>) -> bool {
    match value {
        Value::Missing | Value::Absent | Value::Null | Value::Boolean(false) => false,
        Value::Text(text) => !text.is_empty(),
        _ => true,
    }
}

pub(super) fn of_boolean(value: bool) -> StepStatus {
    if value { StepStatus::Ok } else { StepStatus::Failed }
}
