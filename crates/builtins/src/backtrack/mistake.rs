//! What can be wrong with a pattern.

use super::skeleton::GroupReference;
use std::fmt::{Display, Formatter};
use std::ops::Range;

/// What is wrong with a pattern, and where.
#[derive(Debug)]
pub struct PatternError {
    /// The bytes of the pattern.
    pub range: Range<usize>,
    /// What.
    pub problem: PatternProblem,
}

/// What can be wrong with a pattern.
#[derive(Debug)]
pub enum PatternProblem {
    /// It cannot be read.
    Syntax(Box<regex_syntax::ast::Error>),
    /// A part of it means nothing.
    Meaning(Box<regex_syntax::hir::Error>),
    /// There is no such group.
    NoGroup(GroupReference),
    /// A group refers to itself.
    OpenGroup,
    /// More than two alternatives stand behind a condition.
    ManyBranches,
    /// A repetition is repeated, and not `a++`.
    RepeatedTwice,
    /// It takes too many instructions.
    TooLarge,
    /// It cannot be told what it means.
    Unreadable,
}

impl Display for PatternError {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match &self.problem {
            PatternProblem::Syntax(error) => write!(f, "{}", error.kind()),
            PatternProblem::Meaning(error) => write!(f, "{}", error.kind()),
            PatternProblem::NoGroup(GroupReference::Number(number)) => write!(f, "there is no group {number}"),
            PatternProblem::NoGroup(GroupReference::Name(name)) => write!(f, "there is no group `{name}`"),
            PatternProblem::OpenGroup => f.write_str("a group refers to itself"),
            PatternProblem::ManyBranches => f.write_str("a condition has more than two alternatives"),
            PatternProblem::RepeatedTwice => f.write_str("what is repeated here is repeated already"),
            PatternProblem::TooLarge => f.write_str("it takes too many instructions"),
            PatternProblem::Unreadable => f.write_str("this has no known meaning"),
        }
    }
}

impl PatternError {
    pub(super) fn new(place: &regex_syntax::ast::Span, problem: PatternProblem) -> Self {
        Self { range: place.start.offset..place.end.offset, problem }
    }
}
