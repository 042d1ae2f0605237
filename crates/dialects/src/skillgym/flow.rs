//! Where the statements behind a statement are reached.

use super::body::BodyLine;
use super::conditions::{join_all, join_any};
use super::value::RunExpr;
use averment_base::source::Span;

/// If the statements behind a statement are reached.
#[derive(Debug, Clone)]
pub(super) enum StatementFlow {
    GoesOn,
    /// Some of its branches end the function, or the turn of a loop; where this holds, none of them did.
    GoesOnWhen(RunExpr),
    Ends,
    /// A statement that is not read may have ended it. The case lacks that statement, and so it never passes.
    Unknown,
}

impl StatementFlow {
    /// Of statements that are reached under a condition alone.
    pub(super) fn behind_condition(self, condition: &RunExpr) -> Self {
        match self {
            Self::GoesOn => Self::GoesOnWhen(condition.clone()),
            Self::GoesOnWhen(inner) => Self::GoesOnWhen(join_all(condition, &inner)),
            ended => ended,
        }
    }

    /// Of two branches behind conditions that exclude each other.
    pub(super) fn or_flow(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Ends, flow) | (flow, Self::Ends) => flow,
            (Self::GoesOnWhen(one), Self::GoesOnWhen(other)) => Self::GoesOnWhen(join_any(&one, &other)),
            (Self::GoesOn, _) | (_, Self::GoesOn) => Self::GoesOn,
        }
    }
}

/// Lines under a condition, with those before them where it is the same.
pub(super) fn push_when(condition: &RunExpr, place: Span, mut inner: Vec<BodyLine>, lines: &mut Vec<BodyLine>) {
    if inner.is_empty() {
        return;
    }
    match lines.last_mut() {
        Some(BodyLine::When(known, _, before)) if known.text == condition.text => before.append(&mut inner),
        _ => lines.push(BodyLine::When(condition.clone(), place, inner)),
    }
}
