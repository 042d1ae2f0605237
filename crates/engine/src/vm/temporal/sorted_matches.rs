//! The certain matches of one operand inside of a window, found by the values that they bind and by step.

use super::timeline::{PatternMatches, ValueId};
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
