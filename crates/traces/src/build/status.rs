//! How a step ended, in the words of all formats.

use super::failure_signs::{ResultSignKey, speaks_of_failure};
use averment_base::value::{Node, Number, Value};
use averment_runs::normal::of_step;
use averment_runs::run::StepStatus;
use bumpalo::Bump;

/// What a step records of how it ended, beside its result.
#[derive(Debug, Clone, Copy, Default)]
pub struct StepEnding {
    /// An error, or a mark of one.
    pub(crate) error: bool,
    /// Its status, or that it was `ok` or not.
    pub(crate) given: Option<StepStatus>,
    /// Its format cannot tell.
    pub(crate) withheld: bool,
}

impl StepEnding {
    /// The status of a call with this result, which may speak of an error itself.
    pub(crate) fn call_status<'run>(self, result: Option<Node<'run>>, arena: &'run Bump) -> StepStatus {
        let error = self.error || result.is_some_and(|result| is_only_error(result) || says_is_error(result));
        let ending = Self { error, ..self };
        let speaks = || result.is_some_and(|result| speaks_of_failure(result, arena));
        let is_asked = !error && !self.withheld && self.given.is_none();
        ending.status_by(result.is_some(), is_asked && speaks())
    }

    /// The status of a step that has a result or not, which reads like a failure or not.
    pub(crate) fn status_by(self, has_result: bool, speaks_of_failure: bool) -> StepStatus {
        match self.given {
            Some(StepStatus::Ok | StepStatus::Unknown) | None if self.error => StepStatus::Failed,
            Some(given) => given,
            None if self.withheld || !has_result || speaks_of_failure => StepStatus::Unknown,
            None => StepStatus::Ok,
        }
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

/// True for a value that says in its own `is_error` or `isError` that it is an error.
pub(super) fn says_is_error(held: Node<'_>) -> bool {
    ResultSignKey::IsError.keys().iter().any(|key| matches!(held.field(key).value, Value::Boolean(true)))
}

/// An object that holds an error and nothing else is no answer.
fn is_only_error(result: Node<'_>) -> bool {
    match result.value {
        Value::Object(object) => match object.entries() {
            [only] => only.key == of_step::ERROR && is_error(&only.node.value),
            _ => false,
        },
        _ => false,
    }
}

pub(super) fn is_other_than_zero(value: &Value<'_>) -> bool {
    matches!(value, Value::Number(code) if *code != Number::Integer(0))
}
