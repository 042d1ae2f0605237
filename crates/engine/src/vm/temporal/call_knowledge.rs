//! What was known when a call was asked for. `before` between calls means that the earlier one had ended, as far as the run tells.

use averment_base::value::Value;
use averment_runs::normal::of_step;
use averment_runs::run::{CallTimes, Step, StepKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vm) enum UnknownCause {
    Running,
    SameTurn,
}

/// Decided by end and start if both are recorded, else by turns; otherwise the order of starts decides.
pub(super) fn cause_by_times(earlier: CallTimes, later: CallTimes) -> Option<UnknownCause> {
    if let (Some(end), Some(start)) = (earlier.end, later.start) {
        return (end > start).then_some(UnknownCause::Running);
    }
    let same = earlier.turn.is_some() && earlier.turn == later.turn;
    same.then_some(UnknownCause::SameTurn)
}

/// Only calls can be unknown to a later step, and not to steps that they started themselves.
pub(in crate::vm) fn unknown_cause(earlier: &Step<'_>, later: &Step<'_>) -> Option<UnknownCause> {
    if earlier.kind != StepKind::Call || later.kind != StepKind::Call {
        return None;
    }
    cause_by_times(CallTimes::of_step(earlier), CallTimes::of_step(later)).filter(|_| !is_parent(earlier, later))
}

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
