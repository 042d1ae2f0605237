//! The regular expressions of a program, matched linearly or by backtracking.

use super::backtrack::BacktrackRegex;
use super::pattern::{CapturedGroup, LinearRegex};
use averment_base::limits::{FuelMeter, LimitError};

/// A compiled regular expression.
#[derive(Debug)]
pub enum RegexMatcher {
    /// Takes linear time.
    Linear(Box<LinearRegex>),
    /// Backtracks; with its number in the program.
    Backtracking(u32, Box<BacktrackRegex>),
}

impl RegexMatcher {
    /// Compiles a regular expression with this number in the program. `count` expressions share the cache memory. Returns `None` if it is invalid or
    /// needs more than `limit` bytes.
    #[must_use]
    pub fn new(number: u32, pattern: &str, backtracks: bool, count: usize, limit: usize) -> Option<Self> {
        Some(match backtracks {
            true => Self::Backtracking(number, Box::new(BacktrackRegex::new(pattern).ok()?)),
            false => Self::Linear(Box::new(LinearRegex::one_of(count, pattern, limit)?)),
        })
    }

    /// Returns a copy for another thread. Returns `None` if the expression keeps no cache, so that threads can share it.
    #[must_use]
    pub fn for_thread(&self) -> Option<Self> {
        self.as_linear().map(|pattern| Self::Linear(Box::new(pattern.for_thread())))
    }

    /// True if a text contains a match.
    ///
    /// # Errors
    /// Returns an error if a limit is exceeded.
    pub fn is_match(&self, text: &str, meter: &mut FuelMeter) -> Result<bool, LimitError> {
        match self {
            Self::Linear(pattern) => pattern.is_match(text, meter),
            Self::Backtracking(number, pattern) => Ok(pattern.find(*number, text, meter)?.is_some()),
        }
    }

    /// Returns the start of the first match in a text.
    ///
    /// # Errors
    /// Returns an error if a limit is exceeded.
    pub fn find(&self, text: &str, meter: &mut FuelMeter) -> Result<Option<usize>, LimitError> {
        match self {
            Self::Linear(pattern) => Ok(if pattern.is_match(text, meter)? {
                pattern.regex.find(text).map(|found| found.start())
            } else {
                None
            }),
            Self::Backtracking(number, pattern) => pattern.find(*number, text, meter),
        }
    }

    /// Returns the groups of the first match in a text.
    ///
    /// # Errors
    /// Returns an error if a limit is exceeded.
    pub fn capture_groups<'p, 't>(
        &'p self,
        text: &'t str,
        meter: &mut FuelMeter,
    ) -> Result<Option<Vec<CapturedGroup<'p, 't>>>, LimitError> {
        let pattern = match self {
            Self::Backtracking(number, pattern) => return pattern.capture_groups(*number, text, meter),
            Self::Linear(pattern) => pattern,
        };
        // Finding groups takes additional work.
        pattern.pay_for_matches(text, 4, meter)?;
        let Some(captures) = pattern.regex.captures(text) else { return Ok(None) };
        let groups = pattern.regex.capture_names().zip(captures.iter());
        let group =
            |(name, found): (_, Option<regex::Match<'t>>)| CapturedGroup { name, text: found.map(|one| one.as_str()) };
        Ok(Some(groups.map(group).collect()))
    }

    /// Returns the linear expression, if it is one.
    #[must_use]
    pub fn as_linear(&self) -> Option<&LinearRegex> {
        match self {
            Self::Linear(pattern) => Some(pattern),
            Self::Backtracking(..) => None,
        }
    }
}
