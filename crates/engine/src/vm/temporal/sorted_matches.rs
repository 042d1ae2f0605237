//! The certain matches of one operand inside of a window, sorted by the values that they bind and by step, so that closed forms can search them.

use super::timeline::{PatternMatches, ValueId, to_index};
use super::view::WindowView;
use super::window_events::EventSelection;
use std::ops::Range;

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
        let EventSelection::Range(unique, range) = selection else { return None };
        let matches = view.timeline.matches_of(*unique)?;
        let bound = view.plan.unique_pattern(*unique)?.names.as_slice();
        let simple =
            !matches.doubtful && !view.has_joins(operand) && bound == names && view.operand_names(operand) == names;
        simple.then(|| Self { matches, names: names.len(), range: range.clone() })
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
        if self.is_short() {
            return self
                .event_range()
                .rev()
                .find(|event| self.event_step(*event) < step && self.event_key(*event) == key);
        }
        let place = self.events_before(|event| (self.event_key(event), self.event_step(event)) < (key, step));
        self.event_at(place.checked_sub(1)?, key)
    }

    pub(super) fn first_after(&self, key: &[ValueId], step: u32) -> Option<u32> {
        if self.is_short() {
            return self.event_range().find(|event| self.event_step(*event) > step && self.event_key(*event) == key);
        }
        self.event_at(self.events_before(|event| (self.event_key(event), self.event_step(event)) <= (key, step)), key)
    }

    pub(super) fn first_of(&self, key: &[ValueId]) -> Option<u32> {
        if self.is_short() {
            return self.event_range().find(|event| self.event_key(*event) == key);
        }
        self.event_at(self.events_before(|event| (self.event_key(event), event) < (key, self.range.start)), key)
    }

    fn is_short(&self) -> bool {
        self.range.end - self.range.start <= LINEAR_SCAN_MAX
    }

    /// Binary search in the order of values, then steps.
    fn events_before(&self, lies_before: impl Fn(u32) -> bool) -> usize {
        let (mut from, mut to) = (0, self.matches.events.len());
        while from < to {
            let middle = from.midpoint(to);
            if self.in_order(middle).is_some_and(&lies_before) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// Without values, that order is the order of occurrence.
    fn in_order(&self, place: usize) -> Option<u32> {
        match self.names {
            0 => Some(to_index(place)),
            names => self.matches.by_key(names).get(place).copied(),
        }
    }

    /// `None` if it has other values or lies outside the window.
    fn event_at(&self, place: usize, key: &[ValueId]) -> Option<u32> {
        self.in_order(place).filter(|event| self.range.contains(event) && self.event_key(*event) == key)
    }
}
