//! Statements about a run of which only the names of the calls are known: their closed forms decide them where nothing but names does.

use super::closed::{Asks, Search, Source};
use super::monitor::Presence;
use super::statements::{Exercise, Polarity, Statement};
use super::verdict::{Conclusion, conclusion};
use crate::bytecode::program::{CodeId, PatternId};
use averment_base::truth::Verdict;
use std::convert::Infallible;
use std::ops::Range;

/// How often and where calls have a name that fits a distinct pattern. Places count the executed calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct NameMatches {
    /// How many.
    pub count: u32,
    /// The place of the first; zero without any.
    pub first: u32,
    /// The place of the last; zero without any.
    pub last: u32,
}

/// The executed calls of a run by their names.
#[derive(Debug, Clone, Copy)]
pub struct NamedCalls<'a> {
    /// By distinct pattern; those behind the end fit no call.
    pub found: &'a [NameMatches],
    /// The number of the name of each call.
    pub classes: &'a [u32],
    /// The distinct patterns that each name may match, sorted.
    pub patterns: &'a [Vec<u32>],
}

/// A pattern of a statement about calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedOperand {
    /// The number of its distinct pattern.
    pub pattern: u32,
    /// Whether nothing but the name decides whether a call matches.
    pub is_sure: bool,
}

/// A statement all of whose patterns match executed calls alone.
#[derive(Debug)]
pub struct Named {
    /// Its patterns.
    pub operands: Vec<NamedOperand>,
    /// The condition that it asks of each match.
    pub condition: Option<CodeId>,
    /// The test of the number of its matches.
    pub number_test: Option<CodeId>,
    /// Whether sure names decide it; otherwise names say only when it is vacuous.
    pub is_closed: bool,
}

/// What names say of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByNames {
    /// The verdict.
    Verdict(Verdict),
    /// It is vacuous because nothing that it speaks of occurs: for the same reason in every such run.
    Idle,
    /// Nothing: more of the run decides.
    Open,
}

impl Named {
    /// The named form of a statement; `operand` tells of a pattern whether it is one of executed calls alone, and its name alone decides.
    pub(super) fn new(statement: &Statement, operand: impl Fn(PatternId) -> Option<NamedOperand>) -> Option<Self> {
        let operands = statement.operands.iter().map(|one| operand(one.pattern)).collect::<Option<Vec<_>>>()?;
        let is_closed = statement.meaning.is_closed(true);
        let may_be_idle = !matches!(statement.exercise, Exercise::Always | Exercise::Own);
        (!operands.is_empty() && (is_closed || may_be_idle)).then(|| Self {
            operands,
            condition: statement.meaning.condition(),
            number_test: statement.meaning.number_test(),
            is_closed,
        })
    }

    /// What the names of the calls say of a statement.
    pub(super) fn decide(&self, statement: &Statement, calls: &NamedCalls<'_>, asks: &mut dyn Asks) -> ByNames {
        let occurs =
            |operand: usize| self.operands.get(operand).map_or(Presence::default(), |one| calls.presence(*one));
        let no_calls = calls.classes.is_empty();
        let unsure = || self.unsure(statement, calls);
        if statement.exercise.of(occurs, no_calls, None).is_idle() {
            // Something missing may have decided the condition of every call with a fitting name: that is a reason of this run.
            return if unsure().next().is_none() { ByNames::Idle } else { ByNames::Verdict(Verdict::Vacuous) };
        }
        if !self.is_closed || unsure().any(|polarity| polarity == Polarity::Mixed) {
            return ByNames::Open;
        }
        let search = Search { source: Source::Names { calls, operands: &self.operands } };
        let Ok(Some(decided)) = statement.meaning.closed(&search, asks) else { return ByNames::Open };
        let judged = decided.judged;
        if unsure().next().is_some() {
            // What matches for sure decides where a further match cannot change it. A pattern whose calls are all ruled out by something
            // missing makes a statement vacuous that would pass, unless its patterns stand alone.
            let may_help = unsure().any(|polarity| polarity == Polarity::Helps);
            let may_hurt = unsure().any(|polarity| polarity == Polarity::Hurts);
            return match (judged.may_fail, judged.may_hold) {
                (true, false) if !may_help => ByNames::Verdict(Verdict::Fail),
                (false, true) if !may_hurt && statement.either => ByNames::Verdict(Verdict::Pass),
                _ => ByNames::Open,
            };
        }
        let exercised = || Ok::<_, Infallible>(statement.exercise.of(occurs, no_calls, judged.exercised));
        let Ok(conclusion) = conclusion(judged, exercised);
        match conclusion {
            Conclusion::Vacuous if self.is_absent(&statement.exercise, calls) => ByNames::Idle,
            conclusion => ByNames::Verdict(conclusion.verdict()),
        }
    }

    /// What a match of each operand does that some call may match: its name fits, and more decides.
    fn unsure<'s>(
        &'s self,
        statement: &'s Statement,
        calls: &'s NamedCalls<'_>,
    ) -> impl Iterator<Item = Polarity> + 's {
        let operands = self.operands.iter().zip(&statement.operands);
        operands.filter(|(one, _)| !one.is_sure && calls.count(one.pattern) > 0).map(|(_, operand)| operand.polarity)
    }

    /// Whether a vacuous statement is so because nothing that it speaks of occurs, and not by what an evaluator answered.
    fn is_absent(&self, exercise: &Exercise, calls: &NamedCalls<'_>) -> bool {
        *exercise != Exercise::Always && self.operands.iter().all(|operand| calls.count(operand.pattern) == 0)
    }
}

impl NamedCalls<'_> {
    /// How many calls have a name that fits a distinct pattern.
    #[must_use]
    pub fn count(&self, pattern: u32) -> u32 {
        self.found.get(pattern as usize).map_or(0, |found| found.count)
    }

    /// Whether the name of the call at a place fits a distinct pattern.
    #[must_use]
    pub fn fits(&self, place: usize, pattern: u32) -> bool {
        let patterns = self.classes.get(place).and_then(|class| self.patterns.get(*class as usize));
        patterns.is_some_and(|patterns| patterns.binary_search(&pattern).is_ok())
    }

    fn presence(&self, operand: NamedOperand) -> Presence {
        let possible = self.count(operand.pattern) > 0;
        Presence { sure: possible && operand.is_sure, possible }
    }

    /// The calls that surely match.
    pub(super) fn sure(&self, operand: NamedOperand) -> NameMatches {
        if !operand.is_sure {
            return NameMatches::default();
        }
        self.found.get(operand.pattern as usize).copied().unwrap_or_default()
    }

    /// The places from the first to the last of them.
    pub(super) fn range(&self, operand: NamedOperand) -> Range<u32> {
        match self.sure(operand) {
            NameMatches { count: 0, .. } => 0..0,
            NameMatches { first, last, .. } => first..last + 1,
        }
    }

    /// Whether one of them stands at a place.
    pub(super) fn is_at(&self, operand: NamedOperand, place: u32) -> bool {
        operand.is_sure && self.fits(place as usize, operand.pattern)
    }

    /// The last of them before a place.
    pub(super) fn before(&self, operand: NamedOperand, place: u32) -> Option<u32> {
        let range = self.range(operand);
        match range.clone().next_back() {
            Some(last) if last < place => Some(last),
            _ => (range.start..place.min(range.end)).rev().find(|at| self.is_at(operand, *at)),
        }
    }

    /// The first of them behind a place.
    pub(super) fn after(&self, operand: NamedOperand, place: u32) -> Option<u32> {
        let range = self.range(operand);
        match range.clone().next() {
            Some(first) if first > place => Some(first),
            _ => (range.start.max(place.saturating_add(1))..range.end).find(|at| self.is_at(operand, *at)),
        }
    }
}
