//! What one evaluation went through: which way each test and condition went, which patterns matched, which windows opened and closed,
//! which members of groups passed and failed. The evaluator is the same as ever; it notes this only while somebody asks.

use super::machine::Machine;
use super::prepare::PreparedProgram;
use crate::bytecode::program::{CodeId, PatternId, Program};
use averment_base::source::Span;
use averment_base::truth::{Truth, Verdict};
use rustc_hash::FxHashMap;

/// The ways that something with two ways out went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BranchCoverage {
    /// True, passed, opened.
    pub yes: bool,
    /// False, failed, closed.
    pub no: bool,
}

/// What one evaluation covered.
#[derive(Debug, Clone, Default)]
pub struct CoverageRecord {
    tests: FxHashMap<usize, BranchCoverage>,
    matched: Vec<bool>,
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
    pub fn is_matched(&self, program: &Program, prepared: &PreparedProgram, pattern: PatternId) -> bool {
        let unique = prepared.temporal_plan(program).number_of(pattern);
        unique.and_then(|unique| self.matched.get(unique as usize)).copied().unwrap_or(false)
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

    pub(super) fn note_matched(&mut self, matched: Vec<bool>) {
        self.matched = matched;
    }

    pub(super) fn note_windows(&mut self, header: PatternId, opened: bool, closed: bool) {
        let ways = self.windows.entry(header).or_default();
        ways.yes |= opened;
        ways.no |= closed;
    }

    pub(super) fn note_member(&mut self, place: Span, verdict: Verdict) {
        let ways = self.members.entry(place).or_default();
        ways.yes |= verdict == Verdict::Pass;
        ways.no |= verdict == Verdict::Fail;
    }
}

impl Machine<'_> {
    /// Records an outcome, except during re-evaluation for evidence.
    pub(super) fn note_branch(&mut self, at: usize, truth: Truth) {
        if let (Some(seen), None, Some(answer)) = (&mut self.seen, &self.recorder, truth.plain_answer()) {
            let ways = seen.tests.entry(at).or_default();
            *(if answer { &mut ways.yes } else { &mut ways.no }) = true;
        }
    }

    /// The outcome of an expression used as a condition is that of its last instruction.
    pub(super) fn see_condition(&mut self, code: CodeId, truth: Truth) {
        if self.seen.is_some()
            && let Some(last) = self.program.chunks.get(code.0 as usize).and_then(|chunk| chunk.end.checked_sub(1))
        {
            self.note_branch(last as usize, truth);
        }
    }
}
