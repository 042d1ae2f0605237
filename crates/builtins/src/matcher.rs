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
    /// Builds the regular expression of this number of a program, one of so many that share the memory for what they remember of texts;
    /// `None` where it cannot be used or takes more than so many bytes.
    #[must_use]
    pub fn new(number: u32, pattern: &str, backtracks: bool, count: usize, limit: usize) -> Option<Self> {
        Some(match backtracks {
            true => Self::Backtracking(number, Box::new(Backtracking::new(pattern).ok()?)),
            false => Self::Linear(Box::new(Pattern::one_of(count, pattern, limit)?)),
        })
    }

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
