//! The certain matches of one operand inside of a window, sorted by the values that they bind and by step, so that closed forms can search them.

use super::monitor::EventSelection;
use super::timeline::{Matches, ValueId, index};
use super::view::View;
use std::ops::Range;

/// Sure matches of an operand in a window.
pub(super) struct SortedMatches<'t> {
    matches: &'t Matches,
    /// How many names each match binds.
    names: usize,
    /// The events in the window, by number.
    range: Range<u32>,
}

/// Up to so many matches are scanned one by one; above it they are searched by halves.
const LINEAR_SCAN_MAX: u32 = 8;

impl<'t> SortedMatches<'t> {
    /// The events of an operand, where each is sure, binds exactly these names, and asks for nothing of other steps.
    pub(super) fn new(view: &View<'t, '_>, operand: usize, selection: &EventSelection, names: &[u32]) -> Option<Self> {
        let EventSelection::Range(unique, range) = selection else { return None };
        let matches = view.timeline.of(*unique)?;
        let bound = view.plan.unique_pattern(*unique)?.names.as_slice();
        let simple = !matches.doubtful && !view.joined(operand) && bound == names && view.names(operand) == names;
        simple.then(|| Self { matches, names: names.len(), range: range.clone() })
    }

    /// Whether its matches bind nothing.
    pub(super) fn is_unbound(&self) -> bool {
        self.names == 0
    }

    /// Whether one of its matches is that of a step.
    pub(super) fn is_at(&self, step: u32) -> bool {
        let range = self.range.start as usize..self.range.end as usize;
        let events = self.matches.events.get(range).unwrap_or(&[]);
        events.binary_search_by_key(&step, |event| event.step).is_ok()
    }

    /// The numbers of its events, in order.
    pub(super) fn events(&self) -> Range<u32> {
        self.range.clone()
    }

    /// The step of an event.
    pub(super) fn step(&self, event: u32) -> u32 {
        self.matches.events.get(event as usize).map_or(u32::MAX, |event| event.step)
    }

    /// The values of an event.
    pub(super) fn key(&self, event: u32) -> &'t [ValueId] {
        self.matches.value_ids(event, self.names)
    }

    /// The last event with these values before a step.
    pub(super) fn before(&self, key: &[ValueId], step: u32) -> Option<u32> {
        if self.is_short() {
            return self.events().rev().find(|event| self.step(*event) < step && self.key(*event) == key);
        }
        let place = self.place(|event| (self.key(event), self.step(event)) < (key, step));
        self.at(place.checked_sub(1)?, key)
    }

    /// The first event with these values behind a step.
    pub(super) fn after(&self, key: &[ValueId], step: u32) -> Option<u32> {
        if self.is_short() {
            return self.events().find(|event| self.step(*event) > step && self.key(*event) == key);
        }
        self.at(self.place(|event| (self.key(event), self.step(event)) <= (key, step)), key)
    }

    /// The first event with these values.
    pub(super) fn first_of(&self, key: &[ValueId]) -> Option<u32> {
        if self.is_short() {
            return self.events().find(|event| self.key(*event) == key);
        }
        self.at(self.place(|event| (self.key(event), event) < (key, self.range.start)), key)
    }

    fn is_short(&self) -> bool {
        self.range.end - self.range.start <= LINEAR_SCAN_MAX
    }

    /// How many events of the run, in the order of their values and then of their steps, lie before what is looked for.
    fn place(&self, lies_before: impl Fn(u32) -> bool) -> usize {
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

    /// The event at a place in that order. Without values it is the order in which they came.
    fn in_order(&self, place: usize) -> Option<u32> {
        match self.names {
            0 => Some(index(place)),
            names => self.matches.by_key(names).get(place).copied(),
        }
    }

    /// The same, if it has these values and lies in the window.
    fn at(&self, place: usize, key: &[ValueId]) -> Option<u32> {
        self.in_order(place).filter(|event| self.range.contains(event) && self.key(*event) == key)
    }
}
