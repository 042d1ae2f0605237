//! Regular expressions that go back: with look-around, references to groups, atomic groups and conditions.
//!
//! A search tries one way after the other, and there may be more ways than anybody can wait for. Every step is counted, paid for as
//! instructions are, and a search of too many ends without an answer. How many it takes is the same everywhere.

// What rules and runs make of numbers may not overflow.
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

/// A pattern that is ready to be searched with.
#[derive(Debug)]
pub struct BacktrackRegex {
    code: BacktrackCode,
    groups: u32,
    names: FxHashMap<String, u32>,
}

/// Whether a pattern says something that linear matching cannot say, or does not mean the same there; `spaced` is the flag `x`.
///
/// # Errors
/// Where the pattern cannot be used.
pub fn is_beyond_linear(pattern: &str, spaced: bool) -> Result<bool, PatternError> {
    tree::read_pattern(pattern, spaced).map(|tree| tree.is_beyond)
}

impl BacktrackRegex {
    /// From a pattern with its flags in front.
    ///
    /// # Errors
    /// Where it cannot be used.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        let tree = tree::read_pattern(pattern, false)?;
        let code = compile::compile_tree(&tree);
        let code = code.ok_or(PatternError { range: 0..pattern.len(), problem: PatternProblem::TooLarge })?;
        Ok(Self { code, groups: tree.groups, names: tree.names })
    }

    /// About how many bytes it takes.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let ranges = self.code.sets.iter().map(|set| set.ranges.len().saturating_mul(8).saturating_add(32));
        let ops = self.code.ops.len().saturating_mul(size_of::<compile::BacktrackOp>());
        ranges.fold(ops, usize::saturating_add) as u64
    }

    /// Where it is first found in a text; `number` is what it is called when it takes too long.
    ///
    /// # Errors
    /// When it takes more than there is, or more than one search may.
    pub fn find(&self, number: u32, text: &str, meter: &mut FuelMeter) -> Result<Option<usize>, LimitError> {
        machine::BacktrackSearch::new(&self.code, number, text, meter).find(0)
    }

    /// The groups of the first match, the match itself in front.
    ///
    /// # Errors
    /// As for [`Self::find`].
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

    /// The parts of a text between the matches.
    ///
    /// # Errors
    /// As for [`Self::find`].
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

    /// A text with every match replaced; `$1` and `$name` stand for groups.
    ///
    /// # Errors
    /// As for [`Self::find`], and when there is no room for the text.
    pub fn replace(&self, number: u32, text: &str, to: &str, meter: &mut FuelMeter) -> Result<String, LimitError> {
        let mut search = machine::BacktrackSearch::new(&self.code, number, text, meter);
        let (mut out, mut last, mut from) = (String::new(), None, 0);
        while let Some(found) = search.next(last)? {
            out.push_str(text.get(from..found.start).unwrap_or_default());
            // A group can only bring what stands in the text, once for each mention.
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
