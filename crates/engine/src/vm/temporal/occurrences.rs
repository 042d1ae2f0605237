//! Matches that are all sure: sorted ones of a run, or calls by their names.

use super::by_name::NamedOccurrences;
use super::sorted_matches::SortedMatches;
use super::timeline::ValueId;
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
