//! A regular expression of a program, in whichever way it is matched.

use super::backtrack::Backtracking;
use super::pattern::Pattern;
use averment_base::limits::{Exhausted, Meter};

/// A regular expression that is ready to be used.
#[derive(Debug)]
pub enum Matcher {
    /// One that takes time in proportion to the text.
    Linear(Box<Pattern>),
    /// One that tries one way after the other, and its number in the program.
    Backtracking(u32, Box<Backtracking>),
}

impl Matcher {
    /// Whether it is found in a text.
    ///
    /// # Errors
    /// When that would take more than there is.
    pub fn is_match(&self, text: &str, meter: &mut Meter) -> Result<bool, Exhausted> {
        match self {
            Self::Linear(pattern) => pattern.is_match(text, meter),
            Self::Backtracking(number, pattern) => Ok(pattern.find(*number, text, meter)?.is_some()),
        }
    }

    /// Where it is first found in a text.
    ///
    /// # Errors
    /// When that would take more than there is.
    pub fn find(&self, text: &str, meter: &mut Meter) -> Result<Option<usize>, Exhausted> {
        match self {
            Self::Linear(pattern) => Ok(if pattern.is_match(text, meter)? {
                pattern.regex.find(text).map(|found| found.start())
            } else {
                None
            }),
            Self::Backtracking(number, pattern) => pattern.find(*number, text, meter),
        }
    }

    /// The linear one.
    #[must_use]
    pub fn linear(&self) -> Option<&Pattern> {
        match self {
            Self::Linear(pattern) => Some(pattern),
            Self::Backtracking(..) => None,
        }
    }
}
