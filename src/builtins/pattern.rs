//! Regular expressions with what they cost.
//!
//! Matching takes time in proportion to the text, but also to the expression: `[ab]*a[ab]{1000}` keeps a thousand possibilities open at
//! every character. Most expressions are far better than that; what is charged is a bound that only such ones make expensive.

use crate::limits::{Exhausted, Meter};
use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};

/// A regular expression that is ready to be used.
#[derive(Debug)]
pub struct Pattern {
    /// It.
    pub regex: Regex,
    states: u64,
}

impl Pattern {
    /// Builds an expression in the library's syntax; `None` where it cannot be used or takes more than so many bytes.
    #[must_use]
    pub fn new(pattern: &str, limit: usize) -> Option<Self> {
        let regex = RegexBuilder::new(pattern).size_limit(limit).dfa_size_limit(limit).build().ok()?;
        Some(Self { regex, states: states(pattern) })
    }

    /// Takes the fuel of one pass over a text of so many bytes.
    ///
    /// # Errors
    /// When there is not so much.
    pub fn scan(&self, bytes: usize, meter: &mut Meter) -> Result<(), Exhausted> {
        meter.scan(bytes)?;
        meter.charge((bytes as u64).saturating_mul(self.states / FREE) / 4)
    }
}

/// So many possibilities are part of the price of a text.
const FREE: u64 = 32;

/// About how many possibilities an expression can keep open at a place: its size, its repetitions written out, plain words counted as one.
#[must_use]
pub fn states(pattern: &str) -> u64 {
    regex_syntax::Parser::new().parse(pattern).map_or(1, |hir| of(&hir))
}

fn of(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(_) | HirKind::Class(_) => 1,
        HirKind::Capture(capture) => of(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(of).fold(0, u64::saturating_add),
        HirKind::Alternation(parts) if parts.iter().all(|part| matches!(part.kind(), HirKind::Literal(_))) => 1,
        HirKind::Alternation(parts) => parts.iter().map(of).fold(0, u64::saturating_add),
        HirKind::Repetition(repetition) => {
            let times = u64::from(repetition.max.unwrap_or(repetition.min).max(1));
            of(&repetition.sub).saturating_mul(times)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_counted_and_words_are_not() {
        assert_eq!(states("abc|def|ghi"), 1);
        assert_eq!(states("[ab]{1000}c"), 1001);
        assert_eq!(states("((a[bc]){10}){10}"), 200);
        assert_eq!(states("(unclosed"), 1);
    }
}
