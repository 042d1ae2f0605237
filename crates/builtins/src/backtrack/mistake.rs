//! Errors in patterns.

use super::skeleton::GroupReference;
use std::fmt::{Display, Formatter};
use std::ops::Range;

/// An error in a pattern, with its location.
#[derive(Debug)]
pub struct PatternError {
    /// The byte range in the pattern.
    pub range: Range<usize>,
    /// The kind of error.
    pub problem: PatternProblem,
}

/// Kinds of errors in patterns.
#[derive(Debug)]
pub enum PatternProblem {
    /// A syntax error.
    Syntax(Box<regex_syntax::ast::Error>),
    /// A part is syntactically valid, but has no meaning.
    Meaning(Box<regex_syntax::hir::Error>),
    /// The referenced group does not exist.
    NoGroup(GroupReference),
    /// A group refers to itself.
    OpenGroup,
    /// A condition is followed by more than two alternatives.
    ManyBranches,
    /// A repetition is repeated, in a form other than `a++`.
    RepeatedTwice,
    /// The pattern needs too many instructions.
    TooLarge,
    /// The meaning of the pattern cannot be determined.
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
