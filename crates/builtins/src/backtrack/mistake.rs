//! What can be wrong with a pattern.

use super::skeleton::Group;
use std::fmt::{Display, Formatter};
use std::ops::Range;

/// What is wrong with a pattern, and where.
#[derive(Debug)]
pub struct Mistake {
    /// The bytes of the pattern.
    pub range: Range<usize>,
    /// What.
    pub problem: Problem,
}

/// What can be wrong with a pattern.
#[derive(Debug)]
pub enum Problem {
    /// It cannot be read.
    Syntax(Box<regex_syntax::ast::Error>),
    /// A part of it means nothing.
    Meaning(Box<regex_syntax::hir::Error>),
    /// There is no such group.
    NoGroup(Group),
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

impl Display for Mistake {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match &self.problem {
            Problem::Syntax(error) => write!(f, "{}", error.kind()),
            Problem::Meaning(error) => write!(f, "{}", error.kind()),
            Problem::NoGroup(Group::Number(number)) => write!(f, "there is no group {number}"),
            Problem::NoGroup(Group::Name(name)) => write!(f, "there is no group `{name}`"),
            Problem::OpenGroup => f.write_str("a group refers to itself"),
            Problem::ManyBranches => f.write_str("more than two alternatives stand behind a condition"),
            Problem::RepeatedTwice => f.write_str("what is repeated here is repeated already"),
            Problem::TooLarge => f.write_str("it takes too many instructions"),
            Problem::Unreadable => f.write_str("it cannot be told what this means"),
        }
    }
}

impl Mistake {
    pub(super) fn new(place: &regex_syntax::ast::Span, problem: Problem) -> Self {
        Self { range: place.start.offset..place.end.offset, problem }
    }
}
