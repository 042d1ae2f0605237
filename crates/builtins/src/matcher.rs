//! A regular expression of a program, in whichever way it is matched.

use super::backtrack::BacktrackRegex;
use super::pattern::{CapturedGroup, LinearRegex};
use averment_base::limits::{FuelMeter, LimitError};

/// A regular expression that is ready to be used.
#[derive(Debug)]
pub enum RegexMatcher {
    /// Takes time linear in the text.
    Linear(Box<LinearRegex>),
    /// Backtracks; with its number in the program.
    Backtracking(u32, Box<BacktrackRegex>),
}

impl RegexMatcher {
    /// Builds the regular expression of this number of a program, one of so many that share the memory for what they remember of texts;
    /// `None` where it cannot be used or takes more than so many bytes.
    #[must_use]
    pub fn new(number: u32, pattern: &str, backtracks: bool, count: usize, limit: usize) -> Option<Self> {
        Some(match backtracks {
            true => Self::Backtracking(number, Box::new(BacktrackRegex::new(pattern).ok()?)),
            false => Self::Linear(Box::new(LinearRegex::one_of(count, pattern, limit)?)),
        })
    }

    /// The same for another thread; `None` where it remembers nothing while it searches, and threads can share it.
    #[must_use]
    pub fn for_thread(&self) -> Option<Self> {
        self.as_linear().map(|pattern| Self::Linear(Box::new(pattern.for_thread())))
    }

    /// Whether it is found in a text.
    ///
    /// # Errors
    /// When that would take more than there is.
    pub fn is_match(&self, text: &str, meter: &mut FuelMeter) -> Result<bool, LimitError> {
        match self {
            Self::Linear(pattern) => pattern.is_match(text, meter),
            Self::Backtracking(number, pattern) => Ok(pattern.find(*number, text, meter)?.is_some()),
        }
    }

    /// Where it is first found in a text.
    ///
    /// # Errors
    /// When that would take more than there is.
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

    /// The groups of the first match in a text.
    ///
    /// # Errors
    /// When that would take more than there is.
    pub fn capture_groups<'p, 't>(
        &'p self,
        text: &'t str,
        meter: &mut FuelMeter,
    ) -> Result<Option<Vec<CapturedGroup<'p, 't>>>, LimitError> {
        let pattern = match self {
            Self::Backtracking(number, pattern) => return pattern.capture_groups(*number, text, meter),
            Self::Linear(pattern) => pattern,
        };
        // The groups have to be found as well.
        pattern.pay_for_matches(text, 4, meter)?;
        let Some(captures) = pattern.regex.captures(text) else { return Ok(None) };
        let groups = pattern.regex.capture_names().zip(captures.iter());
        let group =
            |(name, found): (_, Option<regex::Match<'t>>)| CapturedGroup { name, text: found.map(|one| one.as_str()) };
        Ok(Some(groups.map(group).collect()))
    }

    /// The linear one.
    #[must_use]
    pub fn as_linear(&self) -> Option<&LinearRegex> {
        match self {
            Self::Linear(pattern) => Some(pattern),
            Self::Backtracking(..) => None,
        }
    }
}
