//! The lines that a function becomes, and whether the statements after a statement are reached.

use super::conditions::{join_all, join_any};
use super::value::RunExpr;
use crate::writer::quote_text;
use averment_base::source::Span;

#[derive(Debug, Clone)]
pub(super) enum BodyLine {
    Assertion {
        text: String,
        place: Span,
        message: Option<String>,
        class: Option<(String, Option<String>)>,
        /// True if the text contains a backtracking regular expression.
        backtracks: bool,
        /// The text as a condition, if it is one.
        condition: Option<RunExpr>,
    },
    /// Lines that apply only if a run meets a condition.
    When(RunExpr, Span, Vec<BodyLine>),
    Remark(String),
}

impl BodyLine {
    /// Returns a line in place of an assertion that could not be read.
    pub(super) fn undecided_line(why: &str, place: Span) -> Self {
        let text = format!("undecided({})", quote_text(why));
        Self::Assertion { text, place, message: None, class: None, backtracks: false, condition: None }
    }
}

/// The control flow after a statement: how certain it is that the next statements are reached.
#[derive(Debug, Clone)]
pub(super) enum StatementFlow {
    GoesOn,
    /// Some branches end the function or the turn of a loop. The condition holds if none of them did.
    GoesOnWhen(RunExpr),
    Ends,
    /// An unread statement may have ended it. The case lacks that statement, so it never passes.
    Unknown,
}

impl StatementFlow {
    /// Returns the flow of statements that are reached only under a condition.
    pub(super) fn behind_condition(self, condition: &RunExpr) -> Self {
        match self {
            Self::GoesOn => Self::GoesOnWhen(condition.clone()),
            Self::GoesOnWhen(inner) => Self::GoesOnWhen(join_all(condition, &inner)),
            ended => ended,
        }
    }

    /// Combines the flows of two branches with mutually exclusive conditions.
    pub(super) fn or_flow(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Ends, flow) | (flow, Self::Ends) => flow,
            (Self::GoesOnWhen(one), Self::GoesOnWhen(other)) => Self::GoesOnWhen(join_any(&one, &other)),
            (Self::GoesOn, _) | (_, Self::GoesOn) => Self::GoesOn,
        }
    }
}

/// Adds lines under a condition; merges them with the previous lines if the condition is equal.
pub(super) fn push_when(condition: &RunExpr, place: Span, mut inner: Vec<BodyLine>, lines: &mut Vec<BodyLine>) {
    if inner.is_empty() {
        return;
    }
    match lines.last_mut() {
        Some(BodyLine::When(known, _, before)) if known.text == condition.text => before.append(&mut inner),
        _ => lines.push(BodyLine::When(condition.clone(), place, inner)),
    }
}
