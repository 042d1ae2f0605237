//! Statements about a run of which only the names of the calls are known: their closed forms decide them where nothing but names does.

use super::call_knowledge::cause_by_times;
use super::search::{ConditionOracle, Search};
use super::statements::{ExerciseRule, Polarity, StatementDefinition};
use super::verdict::{Conclusion, conclude_outcomes};
use super::window_events::KnownPresence;
use crate::bytecode::program::{CodeId, PatternId};
use averment_base::truth::Verdict;
use averment_runs::run::CallTimes;
use smallvec::SmallVec;
use std::convert::Infallible;
use std::ops::Range;

/// Count and positions of calls whose name fits a unique pattern. Positions count the executed calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct NameMatches {
    /// Number of calls.
    pub count: u32,
    /// The place of the first; zero without any.
    pub first: u32,
    /// The place of the last; zero without any.
    pub last: u32,
    /// A bit for each of the first [`PLACES`] places at which one stands.
    pub places: u64,
}

/// How many values [`NamedStatement::first_order`] has.
pub const FIRST_ORDERS: usize = 32;

/// Places of calls that have a bit in [`NameMatches::places`].
pub const PLACES: u32 = u64::BITS;

impl NameMatches {
    /// Adds a call at a place behind all others.
    pub fn add_call(&mut self, place: u32) {
        if self.count == 0 {
            self.first = place;
        }
        self.last = place;
        self.count = self.count.wrapping_add(1);
        self.places |= 1_u64.checked_shl(place).unwrap_or(0);
    }
}

/// The executed calls of a run by their names.
#[derive(Debug, Clone, Copy)]
pub struct NamedCalls<'a> {
    /// By unique pattern; those behind the end fit no call.
    pub found: &'a [NameMatches],
    /// The number of the name of each call.
    pub classes: &'a [u32],
    /// The unique patterns that each name may match, sorted.
    pub patterns: &'a [Vec<u32>],
    /// When each call started and ended, and its turn; none where that is not known here.
    pub times: &'a [Option<CallTimes>],
    /// True if no call was unknown to a later one ([`is_sequential`]); otherwise that is asked of each pair.
    pub is_sequential: bool,
}

/// True if each call had ended before the next one started, as far as their times tell, and all of them are recorded.
#[must_use]
pub fn is_sequential(times: &[Option<CallTimes>]) -> bool {
    let mut latest = f64::NEG_INFINITY;
    times.iter().all(|times| {
        let Some(CallTimes { start: Some(start), end: Some(end), .. }) = *times else { return false };
        let is_behind = latest <= start;
        latest = latest.max(end);
        is_behind
    })
}

/// A pattern of a statement about calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedOperand {
    /// The number of its unique pattern.
    pub pattern: u32,
    /// True if the name alone decides whether a call matches.
    pub is_sure: bool,
}

/// A statement all of whose patterns match executed calls alone.
#[derive(Debug)]
pub struct NamedStatement {
    /// Its patterns.
    pub operands: Vec<NamedOperand>,
    /// The condition that it asks of each match.
    pub condition: Option<CodeId>,
    /// The test of the number of its matches.
    pub number_test: Option<CodeId>,
    /// Those of its patterns of which one has to match: without that it is idle, whatever the others match.
    pub exercised_by: Range<usize>,
    /// True if names can decide the verdict; otherwise they only show when it is vacuous.
    pub is_closed: bool,
    /// True if it depends on which calls were known to others, by time or turn.
    pub is_timed: bool,
    is_sure: bool,
    is_by_first: bool,
}

/// What names alone decide about a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamesVerdict {
    /// The verdict.
    Verdict(Verdict),
    /// Vacuous because nothing it mentions occurs; the reason is the same in every such run.
    Idle,
    /// Nothing: the rest of the run decides.
    Open,
}

impl NamedStatement {
    /// `operand` resolves a pattern of executed calls that its name alone decides.
    pub(super) fn new(
        statement: &StatementDefinition,
        operand: impl Fn(PatternId) -> Option<NamedOperand>,
    ) -> Option<Self> {
        let operands = statement.operands.iter().map(|one| operand(one.pattern)).collect::<Option<Vec<_>>>()?;
        let is_closed = statement.is_closed(true);
        let may_be_idle = !matches!(statement.exercise, ExerciseRule::Always | ExerciseRule::Own);
        let is_sure = operands.iter().all(|operand| operand.is_sure);
        let exercised_by = match &statement.exercise {
            ExerciseRule::AnyOf(range) if is_sure => range.clone(),
            _ => 0..operands.len(),
        };
        (!operands.is_empty() && (is_closed || may_be_idle)).then_some(Self {
            is_sure,
            exercised_by,
            operands,
            condition: statement.condition,
            number_test: statement.number_test,
            is_closed,
            is_timed: statement.is_timed,
            is_by_first: is_sure && statement.is_by_first,
        })
    }

    /// The order in which the operands first occur, below [`FIRST_ORDERS`], where it alone decides the verdict: the same order has the same
    /// verdict in every run. `None` where more decides, or none occurs.
    #[must_use]
    pub fn first_order(&self, calls: &NamedCalls<'_>) -> Option<usize> {
        let is_decisive = self.is_by_first && (calls.is_sequential || !self.is_timed);
        let (first, others) = self.operands.split_first().filter(|(_, others)| is_decisive && others.len() <= 2)?;
        let place_of = |operand: &NamedOperand| {
            let found = calls.found.get(operand.pattern as usize).filter(|found| found.count > 0);
            found.map_or(u32::MAX, |found| found.first)
        };
        let source = place_of(first);
        let mut order = usize::from(source != u32::MAX);
        for (number, other) in others.iter().map(place_of).enumerate() {
            let relation = if other == u32::MAX { 0 } else { 1 + usize::from(source < other) };
            order |= relation << (1 + 2 * number);
        }
        (1..FIRST_ORDERS).contains(&order).then_some(order)
    }

    pub(super) fn decide_by_names(
        &self,
        statement: &StatementDefinition,
        calls: &NamedCalls<'_>,
        asks: &mut dyn ConditionOracle,
    ) -> NamesVerdict {
        let occurs: SmallVec<[KnownPresence; 4]> =
            self.operands.iter().map(|operand| calls.operand_presence(*operand)).collect();
        let no_calls = calls.classes.is_empty();
        let unsure = self.unsure_polarities(statement, calls);
        let by_operands = statement.exercise.exercise_state(&occurs, no_calls, None);
        if !by_operands.possible {
            // Something missing may have decided the condition of every call with a fitting name: that is a reason of this run.
            // Where all of several steps have to occur, which of them do not is a reason of this run, too.
            let is_same =
                !matches!(statement.exercise, ExerciseRule::AllOf(_)) || self.is_absent(&statement.exercise, calls);
            return if !unsure.is_empty() || !is_same {
                NamesVerdict::Verdict(Verdict::Vacuous)
            } else {
                NamesVerdict::Idle
            };
        }
        if !self.is_closed || unsure.contains(&Polarity::Mixed) {
            return NamesVerdict::Open;
        }
        let mut search = Search::of_names(calls, &self.operands, asks);
        let Ok(Some(decided)) = statement.meaning.decide(&mut search) else { return NamesVerdict::Open };
        let judged = decided.stands;
        if self.is_timed && judged.may_fail && judged.may_hold {
            // Which calls were known is not told by names.
            return NamesVerdict::Open;
        }
        if !unsure.is_empty() {
            // What matches for sure decides where a further match cannot change it. A pattern whose calls are all ruled out by something
            // missing makes a statement vacuous that would pass, unless its patterns stand alone.
            return match (judged.may_fail, judged.may_hold) {
                (true, false) if !unsure.contains(&Polarity::Helps) => NamesVerdict::Verdict(Verdict::Fail),
                (false, true) if !unsure.contains(&Polarity::Hurts) && statement.either => {
                    NamesVerdict::Verdict(Verdict::Pass)
                }
                _ => NamesVerdict::Open,
            };
        }
        if judged.by_missing {
            // Which steps it says nothing of is told of each run.
            return NamesVerdict::Open;
        }
        let exercised = || Ok::<_, Infallible>(judged.exercised.unwrap_or(by_operands));
        let Ok(conclusion) = conclude_outcomes(judged, exercised);
        match conclusion {
            Conclusion::Vacuous if self.is_absent(&statement.exercise, calls) => NamesVerdict::Idle,
            conclusion => NamesVerdict::Verdict(conclusion.verdict()),
        }
    }

    /// What those patterns do that occur as far as names tell.
    fn unsure_polarities(&self, statement: &StatementDefinition, calls: &NamedCalls<'_>) -> SmallVec<[Polarity; 4]> {
        if self.is_sure {
            return SmallVec::new();
        }
        let operands = self.operands.iter().zip(&statement.operands);
        let unsure = operands.filter(|(one, _)| !one.is_sure && calls.call_count(one.pattern) > 0);
        unsure.map(|(_, operand)| operand.polarity).collect()
    }

    /// True if a vacuous statement is so because nothing it mentions occurs, not because of an evaluator's answer.
    fn is_absent(&self, exercise: &ExerciseRule, calls: &NamedCalls<'_>) -> bool {
        *exercise != ExerciseRule::Always && self.operands.iter().all(|operand| calls.call_count(operand.pattern) == 0)
    }
}

impl NamedCalls<'_> {
    /// How many calls have a name that fits a unique pattern.
    #[must_use]
    pub fn call_count(&self, pattern: u32) -> u32 {
        self.found.get(pattern as usize).map_or(0, |found| found.count)
    }

    /// Whether the name of the call at a place fits a unique pattern.
    #[must_use]
    pub fn fits_pattern(&self, place: usize, pattern: u32) -> bool {
        let patterns = self.classes.get(place).and_then(|class| self.patterns.get(*class as usize));
        patterns.is_some_and(|patterns| patterns.binary_search(&pattern).is_ok())
    }

    /// `None` if more than times and turns decides.
    pub(super) fn is_known(&self, earlier: u32, later: u32) -> Option<bool> {
        let of = |place: u32| self.times.get(place as usize).copied().flatten();
        // One that was not known may have started the other.
        cause_by_times(of(earlier)?, of(later)?).is_none().then_some(true)
    }

    fn operand_presence(&self, operand: NamedOperand) -> KnownPresence {
        let possible = self.call_count(operand.pattern) > 0;
        KnownPresence { sure: possible && operand.is_sure, possible }
    }

    pub(super) fn sure_occurrences(&self, operand: NamedOperand) -> NamedOccurrences<'_> {
        let found = self.found.get(operand.pattern as usize).filter(|_| operand.is_sure);
        NamedOccurrences { calls: self, pattern: operand.pattern, matches: found.copied().unwrap_or_default() }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct NamedOccurrences<'s> {
    calls: &'s NamedCalls<'s>,
    pattern: u32,
    pub(super) matches: NameMatches,
}

impl NamedOccurrences<'_> {
    pub(super) fn place_range(self) -> Range<u32> {
        if self.matches.count == 0 { 0..0 } else { self.matches.first..self.matches.last + 1 }
    }

    pub(super) fn is_at(self, place: u32) -> bool {
        match self.matches.places.checked_shr(place) {
            Some(places) => places & 1 != 0,
            None => self.matches.count > 0 && self.calls.fits_pattern(place as usize, self.pattern),
        }
    }

    pub(super) fn last_before(self, place: u32) -> Option<u32> {
        let places = self.place_range();
        match places.clone().next_back() {
            Some(last) if last < place => Some(last),
            _ => (places.start..place.min(places.end)).rev().find(|at| self.is_at(*at)),
        }
    }

    pub(super) fn first_after(self, place: Option<u32>) -> Option<u32> {
        let mut places = self.place_range();
        places.start = places.start.max(place.map_or(0, |place| place.saturating_add(1)));
        places.find(|at| self.is_at(*at))
    }
}
