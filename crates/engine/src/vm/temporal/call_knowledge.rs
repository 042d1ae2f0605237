//! What was known when a call was asked for. `before` between calls means that the earlier one had ended, as far as the run tells.

use averment_base::value::Value;
use averment_runs::normal::of_step;
use averment_runs::run::{CallTimes, StepKind, Step};

/// What says that a call was not known to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vm) enum UnknownCause {
    /// It had not ended when the other one started.
    Running,
    /// Both were asked for in one turn.
    SameTurn,
}

/// What says that a call was not known when a later one was asked for: its end and the other's start where both are recorded, else the
/// turns. Where neither is, the order of starts has to do.
pub(super) fn cause_by_times(earlier: CallTimes, later: CallTimes) -> Option<UnknownCause> {
    if let (Some(end), Some(start)) = (earlier.end, later.start) {
        return (end > start).then_some(UnknownCause::Running);
    }
    let same = earlier.turn.is_some() && earlier.turn == later.turn;
    same.then_some(UnknownCause::SameTurn)
}

/// What says that an earlier step was not known to a later one. Only calls answer: any other step is known when it stands there, and so is
/// a call to what it started itself.
pub(in crate::vm) fn unknown_cause(earlier: &Step<'_>, later: &Step<'_>) -> Option<UnknownCause> {
    if earlier.kind != StepKind::Call || later.kind != StepKind::Call {
        return None;
    }
    cause_by_times(CallTimes::of_step(earlier), CallTimes::of_step(later)).filter(|_| !is_parent(earlier, later))
}

/// Whether the run says that a call was started by another one: it names its id.
fn is_parent(parent: &Step<'_>, child: &Step<'_>) -> bool {
    let Some(id) = field_text(parent, of_step::ID) else { return false };
    [of_step::PARENT_ID, of_step::AGENT].into_iter().any(|key| field_text(child, key) == Some(id))
}

fn field_text<'run>(step: &Step<'run>, key: &str) -> Option<&'run str> {
    match step.object.get(key)?.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}
