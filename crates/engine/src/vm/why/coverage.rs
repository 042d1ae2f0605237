//! What one evaluation went through: which way each test and condition went, which patterns matched, which windows opened and closed,
//! which members of groups passed and failed.

use crate::bytecode::program::PatternId;
use averment_base::source::Span;
use averment_base::truth::{Truth, Verdict};
use rustc_hash::{FxHashMap, FxHashSet};

/// The ways that something with two ways out went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BranchCoverage {
    /// True, passed, opened.
    pub yes: bool,
    /// False, failed, closed.
    pub no: bool,
}

impl BranchCoverage {
    fn add_ways(&mut self, yes: bool, no: bool) {
        self.yes |= yes;
        self.no |= no;
    }
}

/// What one evaluation covered.
#[derive(Debug, Clone, Default)]
pub struct CoverageRecord {
    tests: FxHashMap<usize, BranchCoverage>,
    matched: FxHashSet<PatternId>,
    windows: FxHashMap<PatternId, BranchCoverage>,
    members: FxHashMap<Span, BranchCoverage>,
}

impl CoverageRecord {
    /// Outcomes of a test or condition, by its instruction.
    #[must_use]
    pub fn test_branches(&self, at: usize) -> BranchCoverage {
        self.tests.get(&at).copied().unwrap_or_default()
    }

    /// True if a step matched the pattern, surely or possibly.
    #[must_use]
    pub fn is_matched(&self, pattern: PatternId) -> bool {
        self.matched.contains(&pattern)
    }

    /// Whether a window of a block opened (`yes`) and closed (`no`), by the first pattern of its header.
    #[must_use]
    pub fn window_branches(&self, header: PatternId) -> BranchCoverage {
        self.windows.get(&header).copied().unwrap_or_default()
    }

    /// Whether the member of a group at this place passed (`yes`) and failed (`no`).
    #[must_use]
    pub fn member_branches(&self, place: Span) -> BranchCoverage {
        self.members.get(&place).copied().unwrap_or_default()
    }

    pub(super) fn note_matched(&mut self, patterns: impl Iterator<Item = PatternId>) {
        self.matched.extend(patterns);
    }

    pub(super) fn note_test(&mut self, at: usize, truth: Truth) {
        if let Some(answer) = truth.plain_answer() {
            self.tests.entry(at).or_default().add_ways(answer, !answer);
        }
    }

    pub(super) fn note_windows(&mut self, header: PatternId, opened: bool, closed: bool) {
        self.windows.entry(header).or_default().add_ways(opened, closed);
    }

    pub(super) fn note_member(&mut self, place: Span, verdict: Verdict) {
        self.members.entry(place).or_default().add_ways(verdict == Verdict::Pass, verdict == Verdict::Fail);
    }
}
