//! Matches that are all sure: sorted ones of a run, or calls by their names.

use super::by_name::NamedOccurrences;
use super::timeline::{PatternMatches, ValueId};
use super::view::WindowView;
use super::window_events::EventSelection;
use std::ops::Range;

/// Sure matches of one operand that bind the same names as all others of the statement, in step order.
pub(super) enum Occurrences<'s> {
    Sorted(SortedMatches<'s>),
    Named(NamedOccurrences<'s>),
}

impl<'s> Occurrences<'s> {
    pub(super) fn range(&self) -> Range<u32> {
        match self {
            Self::Sorted(matches) => matches.event_range(),
            Self::Named(named) => named.place_range(),
        }
    }

    pub(super) fn has(&self, number: u32) -> bool {
        match self {
            Self::Sorted(matches) => matches.event_range().contains(&number),
            Self::Named(named) => named.is_at(number),
        }
    }

    /// True if nothing but the order tells matches apart.
    pub(super) fn is_unbound(&self) -> bool {
        match self {
            Self::Sorted(matches) => matches.is_unbound(),
            Self::Named(_) => true,
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Sorted(matches) => matches.event_range().len(),
            Self::Named(named) => named.matches.count as usize,
        }
    }

    pub(super) fn step_of(&self, number: u32) -> u32 {
        match self {
            Self::Sorted(matches) => matches.event_step(number),
            Self::Named(_) => number,
        }
    }

    pub(super) fn key_of(&self, number: u32) -> &'s [ValueId] {
        match self {
            Self::Sorted(matches) => matches.event_key(number),
            Self::Named(_) => &[],
        }
    }

    pub(super) fn last_before(&self, key: &[ValueId], step: u32) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.last_before(key, step),
            Self::Named(named) => named.last_before(step),
        }
    }

    /// The first one behind a step, or the first of all.
    pub(super) fn first_after(&self, key: &[ValueId], step: Option<u32>) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.first_after(key, step),
            Self::Named(named) => named.first_after(step),
        }
    }

    /// Some match behind a step; which of them does not matter.
    pub(super) fn some_after(&self, key: &[ValueId], step: u32) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.first_after(key, Some(step)),
            Self::Named(named) => named.place_range().next_back().filter(|last| *last > step),
        }
    }

    pub(super) fn is_at(&self, step: u32) -> bool {
        match self {
            Self::Sorted(matches) => matches.is_at(step),
            Self::Named(named) => named.is_at(step),
        }
    }
}

/// The certain matches of one operand inside of a window, found by the values that they bind and by step.
pub(super) struct SortedMatches<'t> {
    matches: &'t PatternMatches,
    names: usize,
    range: Range<u32>,
}

/// Matches scanned linearly; more are binary-searched.
const LINEAR_SCAN_MAX: u32 = 8;

impl<'t> SortedMatches<'t> {
    /// `None` unless every event is sure, binds exactly these names and tests nothing of other steps.
    pub(super) fn new(
        view: &WindowView<'t, '_>,
        operand: usize,
        selection: &EventSelection,
        names: &[u32],
    ) -> Option<Self> {
        let matches = view.matches_of(operand).filter(|_| selection.list.is_none())?;
        let bound = view.unique_pattern(operand)?.names.as_slice();
        let simple =
            !matches.doubtful && !view.has_joins(operand) && bound == names && view.operand_names(operand) == names;
        simple.then(|| Self { matches, names: names.len(), range: selection.range.clone() })
    }

    pub(super) fn is_unbound(&self) -> bool {
        self.names == 0
    }

    pub(super) fn is_at(&self, step: u32) -> bool {
        let range = self.range.start as usize..self.range.end as usize;
        let events = self.matches.events.get(range).unwrap_or(&[]);
        events.binary_search_by_key(&step, |event| event.step).is_ok()
    }

    pub(super) fn event_range(&self) -> Range<u32> {
        self.range.clone()
    }

    pub(super) fn event_step(&self, event: u32) -> u32 {
        self.matches.events.get(event as usize).map_or(u32::MAX, |event| event.step)
    }

    pub(super) fn event_key(&self, event: u32) -> &'t [ValueId] {
        self.matches.value_ids(event, self.names)
    }

    pub(super) fn last_before(&self, key: &[ValueId], step: u32) -> Option<u32> {
        let lies_before = |event: &u32| self.event_step(*event) < step;
        if self.is_short() {
            return self.event_range().rev().find(|event| lies_before(event) && self.event_key(*event) == key);
        }
        let events = self.matches.events_of(key, self.names);
        let last = events.partition_point(lies_before).checked_sub(1)?;
        events.get(last).copied().filter(|event| self.range.contains(event))
    }

    /// The first one behind a step, or the first of all.
    pub(super) fn first_after(&self, key: &[ValueId], step: Option<u32>) -> Option<u32> {
        let lies_before =
            |event: &u32| *event < self.range.start || step.is_some_and(|step| self.event_step(*event) <= step);
        if self.is_short() {
            return self.event_range().find(|event| !lies_before(event) && self.event_key(*event) == key);
        }
        let events = self.matches.events_of(key, self.names);
        events.get(events.partition_point(lies_before)).copied().filter(|event| self.range.contains(event))
    }

    fn is_short(&self) -> bool {
        self.range.end - self.range.start <= LINEAR_SCAN_MAX
    }
}
