//! Backtracking regular expressions: with lookaround, backreferences, atomic groups and conditions.
//!
//! A search can take exponential time, because it tries one alternative after the other. So every step is counted and charged like instructions, and
//! a search that exceeds the limit ends without an answer. The number of steps is the same on all machines.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

mod compile;
mod look;
mod machine;
mod mistake;
mod set;
mod skeleton;
#[cfg(test)]
mod tests;
mod tree;

use self::compile::BacktrackCode;
use crate::pattern::CapturedGroup;
use averment_base::limits::{FuelMeter, LimitError};
pub use mistake::{PatternError, PatternProblem};
use regex_automata::util::interpolate;
use rustc_hash::FxHashMap;
pub use skeleton::{GroupReference, build_skeleton};

/// A compiled pattern.
#[derive(Debug)]
pub struct BacktrackRegex {
    code: BacktrackCode,
    groups: u32,
    names: FxHashMap<String, u32>,
}

/// True if a pattern has extensions that linear matching does not support or interprets differently. `spaced` is the flag `x`.
///
/// # Errors
/// Returns an error if the pattern is invalid.
pub fn is_beyond_linear(pattern: &str, spaced: bool) -> Result<bool, PatternError> {
    tree::read_pattern(pattern, spaced).map(|tree| tree.is_beyond)
}

impl BacktrackRegex {
    /// Compiles a pattern that starts with its flags.
    ///
    /// # Errors
    /// Returns an error if the pattern is invalid.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        let tree = tree::read_pattern(pattern, false)?;
        let code = compile::compile_tree(&tree);
        let code = code.ok_or(PatternError { range: 0..pattern.len(), problem: PatternProblem::TooLarge })?;
        Ok(Self { code, groups: tree.groups, names: tree.names })
    }

    /// Returns the approximate memory of the pattern, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let ranges = self.code.sets.iter().map(|set| set.ranges.len().saturating_mul(8).saturating_add(32));
        let ops = self.code.ops.len().saturating_mul(size_of::<compile::BacktrackOp>());
        ranges.fold(ops, usize::saturating_add) as u64
    }

    /// Returns the start of the first match in a text. `number` identifies the pattern in errors about limits.
    ///
    /// # Errors
    /// Returns an error if the fuel or the limit of one search is exceeded.
    pub fn find(&self, number: u32, text: &str, meter: &mut FuelMeter) -> Result<Option<usize>, LimitError> {
        machine::BacktrackSearch::new(&self.code, number, text, meter).find(0)
    }

    /// Returns the groups of the first match, starting with the match itself.
    ///
    /// # Errors
    /// Returns the errors of [`Self::find`].
    pub fn capture_groups<'p, 't>(
        &'p self,
        number: u32,
        text: &'t str,
        meter: &mut FuelMeter,
    ) -> Result<Option<Vec<CapturedGroup<'p, 't>>>, LimitError> {
        let mut search = machine::BacktrackSearch::new(&self.code, number, text, meter);
        let Some(found) = search.next(None)? else { return Ok(None) };
        let mut groups = vec![CapturedGroup { name: None, text: text.get(found) }];
        groups.extend(
            (1..=self.groups).map(|group| CapturedGroup { name: None, text: text.get(search.group_range(group)) }),
        );
        for (name, group) in &self.names {
            if let Some(group) = groups.get_mut(*group as usize) {
                group.name = Some(name);
            }
        }
        Ok(Some(groups))
    }

    /// Returns the parts of a text between the matches.
    ///
    /// # Errors
    /// Returns the errors of [`Self::find`].
    pub fn split<'t>(&self, number: u32, text: &'t str, meter: &mut FuelMeter) -> Result<Vec<&'t str>, LimitError> {
        let mut search = machine::BacktrackSearch::new(&self.code, number, text, meter);
        let (mut parts, mut last, mut from) = (Vec::new(), None, 0);
        while let Some(found) = search.next(last)? {
            parts.push(text.get(from..found.start).unwrap_or_default());
            from = found.end;
            last = Some(found);
        }
        parts.push(text.get(from..).unwrap_or_default());
        Ok(parts)
    }

    /// Returns a text with every match replaced. In `to`, `$1` and `$name` stand for groups.
    ///
    /// # Errors
    /// Returns the errors of [`Self::find`], and an error if there is not enough memory for the text.
    pub fn replace(&self, number: u32, text: &str, to: &str, meter: &mut FuelMeter) -> Result<String, LimitError> {
        let mut search = machine::BacktrackSearch::new(&self.code, number, text, meter);
        let (mut out, mut last, mut from) = (String::new(), None, 0);
        while let Some(found) = search.next(last)? {
            out.push_str(text.get(from..found.start).unwrap_or_default());
            // Each `$` can insert at most the whole text, since groups are parts of it.
            let longest = to.matches('$').count().saturating_mul(text.len()).saturating_add(to.len());
            search.check_memory(out.len().saturating_add(longest))?;
            let group = |group: usize, out: &mut String| {
                let whole = text.get(found.clone());
                let part = if group == 0 { whole } else { search.group_text(u32::try_from(group).unwrap_or(u32::MAX)) };
                out.push_str(part.unwrap_or_default());
            };
            let named = |name: &str| self.names.get(name).and_then(|group| usize::try_from(*group).ok());
            interpolate::string(to, group, named, &mut out);
            from = found.end;
            last = Some(found);
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Ok(out)
    }
}
