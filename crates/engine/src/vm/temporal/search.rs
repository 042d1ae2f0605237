//! The matches that a statement is decided from, and the one question about them: is there a match of another pattern that agrees with
//! this one, in these steps?
//!
//! A statement is decided once, over all matches, whatever the run tells of them. The question is asked of what is sure and of what is
//! possible; where both have the same answer, what is unknown does not matter. Matches come from three sources: sorted ones of the run,
//! which are all sure and bind the same names; those of a window with all that is unknown of them; the names of calls alone.

use super::by_name::{NamedCalls, NamedOperand};
use super::decision::FailingPlace;
use super::keys::GroupKeys;
use super::match_index::MatchIndex;
use super::occurrences::{Occurrences, SortedMatches};
use super::statements::StatementDefinition;
use super::step_lists::{Certainty, StepLists, StepSpan, bound_holds, measure_of};
use super::timeline::to_index;
use super::view::{PairSide, WindowView};
use super::window_events::{KnownPresence, SeenPatterns, WindowHits, event_hit};
use crate::bytecode::program::CodeId;
use crate::vm::fault::Fault;
use averment_base::truth::Truth;
use averment_checker::ir::StepDistance;
use smallvec::SmallVec;
use std::ops::{ControlFlow, Range};
use std::rc::Rc;

/// Answers the conditions and tests of statements about a run of which only the names of calls are known.
pub trait ConditionOracle {
    /// The truth of a condition on a match of an operand; `None` where it cannot be said here.
    ///
    /// # Errors
    /// What ended the evaluation.
    fn condition_truth(&mut self, code: CodeId, operand: usize, event: u32) -> Result<Option<Truth>, Fault>;

    /// The truth of the test of a number of matches; `None` where it cannot be said here.
    ///
    /// # Errors
    /// What ended the evaluation.
    fn number_truth(&mut self, code: CodeId, number: u64) -> Result<Option<Truth>, Fault>;
}

pub(super) struct Search<'v, 'a, 'run> {
    scope: SearchScope<'v, 'a, 'run>,
    matches: MatchSource<'v>,
    /// Number of listed failures; with 0 the first is enough.
    pub(super) listed: usize,
}

/// What the run tells: a window of it, or the names of its calls and answers to conditions.
enum SearchScope<'v, 'a, 'run> {
    Window(&'v mut WindowView<'a, 'run>),
    Names(&'v NamedCalls<'v>, &'v mut dyn ConditionOracle),
}

enum MatchSource<'v> {
    Hits {
        hits: Rc<WindowHits>,
        /// By the operand looked for and the one that looks for it.
        indices: OperandIndices,
    },
    /// Of each operand, in order.
    Sure(SmallVec<[Occurrences<'v>; 3]>),
}

/// A match of an operand, by its number there.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundMatch {
    pub(super) operand: usize,
    pub(super) number: u32,
    pub(super) step: u32,
    pub(super) event: u32,
    pub(super) sure: bool,
}

impl FoundMatch {
    pub(super) fn place(self) -> FailingPlace {
        FailingPlace { step: self.step, operand: self.operand, event: self.event, others: (None, None) }
    }
}

/// Chooses the matches to search: the sorted sure matches if they suffice, otherwise all hits of the window. Also returns which patterns occurred.
pub(super) fn open_search<'v, 'a, 'run>(
    view: &'v mut WindowView<'a, 'run>,
    statement: &StatementDefinition,
) -> Result<(Search<'v, 'a, 'run>, SeenPatterns), Fault> {
    let listed = view.listed;
    if let Some(sorted) = sort_matches(view, statement) {
        view.spend_fuel(sorted.iter().map(|matches| matches.event_range().len()).sum())?;
        let occurs = |matches: &SortedMatches<'_>| KnownPresence::of(!matches.event_range().is_empty());
        let seen = SeenPatterns { operands: sorted.iter().map(occurs).collect(), unknown: None };
        let matches = MatchSource::Sure(sorted.into_iter().map(Occurrences::Sorted).collect());
        return Ok((Search { scope: SearchScope::Window(view), matches, listed }, seen));
    }
    let (hits, seen) = WindowHits::gather(view)?;
    let matches = MatchSource::Hits { hits: Rc::new(hits), indices: Vec::new() };
    Ok((Search { scope: SearchScope::Window(view), matches, listed }, seen))
}

fn sort_matches<'a>(
    view: &WindowView<'a, '_>,
    statement: &StatementDefinition,
) -> Option<SmallVec<[SortedMatches<'a>; 3]>> {
    // A proof of what holds names steps of which the sorted matches say nothing.
    if !view.context.window.closed || view.context.proves_passes || view.machine.plays_all {
        return None;
    }
    let names = view.operand_names(0);
    if !statement.is_closed(names.is_empty()) {
        return None;
    }
    let operands = view.selected.iter().enumerate();
    operands.map(|(operand, selection)| SortedMatches::new(view, operand, selection, names)).collect()
}

impl<'v, 'a, 'run> Search<'v, 'a, 'run> {
    pub(super) fn of_names(
        calls: &'v NamedCalls<'v>,
        operands: &'v [NamedOperand],
        asks: &'v mut dyn ConditionOracle,
    ) -> Self {
        let matches = operands.iter().map(|operand| Occurrences::Named(calls.sure_occurrences(*operand)));
        Self { scope: SearchScope::Names(calls, asks), matches: MatchSource::Sure(matches.collect()), listed: 0 }
    }

    /// `None` where only names are known.
    pub(super) fn view(&mut self) -> Option<&mut WindowView<'a, 'run>> {
        match &mut self.scope {
            SearchScope::Window(view) => Some(view),
            SearchScope::Names(..) => None,
        }
    }

    /// All matches of the window; `None` where they are sorted, or where only names are known.
    pub(super) fn window(&mut self) -> Option<(&mut WindowView<'a, 'run>, Rc<WindowHits>)> {
        match (&mut self.scope, &self.matches) {
            (SearchScope::Window(view), MatchSource::Hits { hits, .. }) => Some((view, Rc::clone(hits))),
            _ => None,
        }
    }

    pub(super) fn operand_count(&self) -> usize {
        match &self.matches {
            MatchSource::Hits { hits, .. } => hits.operand_count(),
            MatchSource::Sure(sure) => sure.len(),
        }
    }

    fn occurrences(&self, operand: usize) -> Option<&Occurrences<'v>> {
        match &self.matches {
            MatchSource::Hits { .. } => None,
            MatchSource::Sure(sure) => sure.get(operand),
        }
    }

    /// Numbers of the matches of an operand, in order; some may have none ([`Self::match_at`]).
    pub(super) fn numbers(&self, operand: usize) -> Range<u32> {
        match &self.matches {
            MatchSource::Hits { hits, .. } => 0..hits.count(operand),
            MatchSource::Sure(_) => self.occurrences(operand).map_or(0..0, Occurrences::range),
        }
    }

    pub(super) fn match_at(&self, operand: usize, number: u32) -> Option<FoundMatch> {
        if let MatchSource::Hits { hits, .. } = &self.matches {
            let hit = hits.get(operand, number)?;
            return Some(FoundMatch { operand, number, step: hit.step, event: hit.event, sure: hit.sure });
        }
        let occurrences = self.occurrences(operand).filter(|occurrences| occurrences.has(number))?;
        Some(FoundMatch { operand, number, step: occurrences.step_of(number), event: number, sure: true })
    }

    /// Whether the run tells everything that is asked of these matches.
    pub(super) fn is_certain(&self) -> bool {
        matches!((&self.scope, &self.matches), (SearchScope::Window(_), MatchSource::Sure(_)))
    }

    /// How many matches an operand has, where all are sure and none binds a value.
    pub(super) fn sure_count(&self, operand: usize) -> Option<u64> {
        self.occurrences(operand).map(|occurrences| occurrences.len() as u64)
    }

    /// The first or last match, where nothing but the order tells matches apart, and not each failure is listed.
    pub(super) fn outermost(&self, operand: usize, last: bool) -> Option<FoundMatch> {
        let unbound = self.occurrences(operand).is_some_and(Occurrences::is_unbound);
        let range = self.numbers(operand);
        let number =
            if last { range.end.checked_sub(1).filter(|last| *last >= range.start) } else { Some(range.start) };
        if unbound && self.listed == 0 { self.match_at(operand, number?) } else { None }
    }

    /// The first match of an operand, behind a step if there is one, where none binds a value.
    pub(super) fn first_after(&self, operand: usize, step: Option<u32>) -> Option<FoundMatch> {
        let number = self.occurrences(operand)?.first_after(&[], step)?;
        self.match_at(operand, number)
    }

    /// True if it is known that every call had ended before each later one, so that the order alone tells which were known.
    pub(super) fn is_sequential(&self) -> bool {
        matches!(&self.scope, SearchScope::Names(calls, _) if calls.is_sequential)
    }

    /// True if words may be asked of what is decided: of names alone there are none.
    pub(super) fn has_words(&self) -> bool {
        matches!(self.scope, SearchScope::Window(_))
    }

    pub(super) fn call_count(&self) -> usize {
        match &self.scope {
            SearchScope::Window(view) => view.calls.len(),
            SearchScope::Names(calls, _) => calls.classes.len(),
        }
    }

    pub(super) fn call_step(&self, place: usize) -> Option<u32> {
        match &self.scope {
            SearchScope::Window(view) => view.calls.get(place).copied(),
            SearchScope::Names(calls, _) => Some(to_index(place)).filter(|_| place < calls.classes.len()),
        }
    }

    /// Whether an operand matches at a step.
    pub(super) fn is_at(&self, operand: usize, step: u32, certainty: Certainty) -> bool {
        match &self.matches {
            MatchSource::Hits { hits, .. } => hits.at(operand, step).any(|hit| certainty.counts_hit(hit)),
            MatchSource::Sure(_) => self.occurrences(operand).is_some_and(|occurrences| occurrences.is_at(step)),
        }
    }

    pub(super) fn condition_truth(&mut self, code: CodeId, own: FoundMatch) -> Result<Option<Truth>, Fault> {
        match &mut self.scope {
            SearchScope::Window(view) => match event_hit(own.operand, own.event, view) {
                Some(hit) => view.condition_of(code, &hit),
                None => Ok(None),
            },
            SearchScope::Names(_, asks) => asks.condition_truth(code, own.operand, own.event),
        }
    }

    pub(super) fn number_truth(&mut self, code: CodeId, number: u64) -> Result<Option<Truth>, Fault> {
        match &mut self.scope {
            SearchScope::Window(view) => view.truth_of_number(code, number).map(Some),
            SearchScope::Names(_, asks) => asks.number_truth(code, number),
        }
    }

    pub(super) fn spend_fuel(&mut self, units: usize) -> Result<(), Fault> {
        self.view().map_or(Ok(()), |view| view.spend_fuel(units))
    }

    /// The nearest step in a span where `other` matches under one environment with this match; of several groups of values the first speaks.
    pub(super) fn find(
        &mut self,
        own: FoundMatch,
        other: usize,
        span: &StepSpan,
        certainty: Certainty,
    ) -> Result<Option<u32>, Fault> {
        if span.steps.is_empty() {
            return Ok(None);
        }
        if let (SearchScope::Window(view), MatchSource::Hits { hits, indices }) = (&mut self.scope, &mut self.matches) {
            let Some(hit) = hits.get(own.operand, own.number) else { return Ok(None) };
            let index = open_index(indices, view, hits, OperandPair { other, own: own.operand })?;
            let fresh = span.fresh.then(|| hit.fresh_env());
            let side = PairSide { event: Some((hit.operand, hit.event)), env: fresh.as_ref().unwrap_or(&hit.env) };
            let from = measure_of(view, span.within, own.step);
            let (mut found, all) = (None, own.operand == other);
            index.visit_groups(view, side, |group, fit, view| {
                if certainty.counts_fit(fit) {
                    found = span.nearer(found, group.data.find_step(span, from, certainty, view)?);
                }
                Ok(if found.is_some() && !all { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            return Ok(found);
        }
        let (found, looked) = self.find_sorted(own, other, span, certainty);
        self.spend_fuel(looked)?;
        Ok(found)
    }

    /// The step, and how many were looked at without success.
    fn find_sorted(
        &self,
        own: FoundMatch,
        other: usize,
        span: &StepSpan,
        certainty: Certainty,
    ) -> (Option<u32>, usize) {
        let (Some(owns), Some(others)) = (self.occurrences(own.operand), self.occurrences(other)) else {
            return (None, 0);
        };
        let (key, start) = (owns.key_of(own.number), span.steps.start);
        let step_of = |number: u32| others.step_of(number);
        let is_near = |step: u32| certainty.counts(self.is_within(span, own.step, step));
        let counts = |step: &u32| span.steps.contains(step) && is_near(*step) && self.is_known(span, *step, certainty);
        let first = || others.first_after(key, None).map(step_of);
        if !span.backward {
            let behind = start.checked_sub(1);
            let found = match behind {
                // Where the span ends, the nearest one tells whether there is any.
                Some(behind) if span.any && span.within.is_none() && span.steps.end == u32::MAX => {
                    others.some_after(key, behind)
                }
                _ => others.first_after(key, behind),
            };
            return (found.map(step_of).filter(counts), 0);
        }
        if span.any && span.within.is_none() && start == 0 {
            // The first one is most likely to be known.
            match first().filter(|first| *first < span.steps.end) {
                None => return (None, 0),
                Some(first) if counts(&first) => return (Some(first), 0),
                Some(_) => {}
            }
        }
        let (mut at, mut looked) = (span.steps.end, 0);
        while let Some(near) = others.last_before(key, at).map(step_of) {
            if near < start || !is_near(near) {
                break;
            }
            if counts(&near) {
                return (Some(near), looked);
            }
            (at, looked) = (near, looked + 1);
        }
        (None, looked)
    }

    fn is_within(&self, span: &StepSpan, own: u32, other: u32) -> Option<bool> {
        let of = |step: u32| match &self.scope {
            SearchScope::Window(view) => measure_of(view, span.within, step),
            SearchScope::Names(..) => is_by_place(span.within).then_some(f64::from(step)),
        };
        let (from, to) = if span.backward { (other, own) } else { (own, other) };
        bound_holds(span.within, of(from), of(to))
    }

    fn is_known(&self, span: &StepSpan, step: u32, certainty: Certainty) -> bool {
        let Some(later) = span.known_to else { return true };
        certainty.counts(match &self.scope {
            SearchScope::Window(view) => Some(view.unknown_cause(step, later).is_none()),
            SearchScope::Names(calls, _) => calls.is_known(step, later),
        })
    }
}

type OperandIndices = Vec<(OperandPair, MatchIndex<StepLists>)>;

/// Whose matches are looked for, and whose match looks for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OperandPair {
    other: usize,
    own: usize,
}

fn open_index<'i>(
    indices: &'i mut OperandIndices,
    view: &mut WindowView<'_, '_>,
    hits: &WindowHits,
    pair: OperandPair,
) -> Result<&'i mut MatchIndex<StepLists>, Fault> {
    let place = match indices.iter().position(|(key, _)| *key == pair) {
        Some(place) => place,
        None => {
            let OperandPair { other, own } = pair;
            // Matches of one pattern are compared by their values alone.
            let keys = if other == own {
                GroupKeys::of_values(view, other)
            } else {
                GroupKeys::between_operands(view, other, own)
            };
            let mut index: MatchIndex<StepLists> = MatchIndex::new(keys);
            for hit in hits.of_operand(other) {
                let measure = measure_of(view, view.statement_bound(), hit.step);
                index.add_match(view, hit, &hit.env, |lists| lists.add_hit(hit, measure))?;
            }
            index.groups_mut().iter_mut().for_each(|group| group.data.finish());
            indices.push((pair, index));
            indices.len() - 1
        }
    };
    indices.get_mut(place).map(|(_, index)| index).ok_or_else(crate::vm::fault::broken_program)
}

/// True if the bound counts calls: the nearest step decides then, because positions only grow.
pub(super) fn is_by_place(within: Option<StepDistance>) -> bool {
    matches!(within, None | Some(StepDistance::Calls(_)))
}
