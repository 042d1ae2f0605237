//! How a step ended, in the words of all formats.

use averment_base::value::Value;
use averment_runs::run::StepStatus;

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
