//! Notes of what the lines of a log concern, by which the lines are found that a new one has to do with.

use crate::growing::{AssertionSet, GrowthIndex, LineMark, LineTouch};
use std::collections::{BTreeSet, HashMap};

/// The most groups that are taken from each end of a list: the first ones have ended, the last ones are within a bound of time.
const FEW: usize = 3;
/// What a set of assertions takes, about.
const SET_BYTES: usize = 512;
/// What a mark with its list of groups takes, about.
const MARK_BYTES: usize = 128;

/// Which assertions the groups of lines touch: groups that touch the same ones share a set. And which groups have which marks.
#[derive(Debug, Default)]
pub(super) struct TouchNotes {
    /// The lines that are noted.
    pub(super) noted: usize,
    /// Assertions that nothing breaks any more.
    pub(super) settled: AssertionSet,
    of_groups: Vec<u32>,
    sets: Vec<AssertionSet>,
    numbers: HashMap<AssertionSet, u32>,
    marked: HashMap<LineMark, Vec<u32>>,
    totals: Vec<u64>,
}

impl TouchNotes {
    /// Notes a line of a group.
    pub(super) fn add_line(&mut self, group: usize, touch: &LineTouch, index: &GrowthIndex) {
        self.noted += 1;
        self.add_assertions(group, &touch.assertions);
        let group = u32::try_from(group).unwrap_or(u32::MAX);
        for (mark, steps) in &touch.marks {
            let slot = mark.slot as usize;
            if self.totals.len() <= slot {
                self.totals.resize(slot + 1, 0);
            }
            if let Some(total) = self.totals.get_mut(slot) {
                *total = total.saturating_add(*steps);
            }
            if index.asks_for(mark.slot) {
                let groups = self.marked.entry(*mark).or_default();
                if groups.last() != Some(&group) {
                    groups.push(group);
                }
            }
        }
    }

    fn add_assertions(&mut self, group: usize, touched: &AssertionSet) {
        let nothing = self.number_of(AssertionSet::default());
        if self.of_groups.len() <= group {
            self.of_groups.resize(group + 1, nothing);
        }
        let known = self.of_groups.get(group).copied().unwrap_or(nothing);
        let mut set = self.sets.get(known as usize).cloned().unwrap_or_default();
        set.add_all(touched);
        let number = self.number_of(set);
        if let Some(place) = self.of_groups.get_mut(group) {
            *place = number;
        }
    }

    fn number_of(&mut self, set: AssertionSet) -> u32 {
        if let Some(number) = self.numbers.get(&set) {
            return *number;
        }
        let number = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }

    /// How many steps of the noted lines have a mark of each slot.
    pub(super) fn totals(&self) -> &[u64] {
        &self.totals
    }

    /// The groups that touch one of these assertions.
    pub(super) fn touching(&self, wanted: &AssertionSet) -> Vec<usize> {
        let holding: Vec<bool> = self.sets.iter().map(|set| !set.is_apart(wanted)).collect();
        if !holding.contains(&true) {
            return Vec::new();
        }
        let holds = |set: &u32| holding.get(*set as usize).copied().unwrap_or_default();
        self.of_groups.iter().enumerate().filter(|(_, set)| holds(set)).map(|(group, _)| group).collect()
    }

    /// The groups with one of these marks, some of them more than once.
    pub(super) fn marked(&self, marks: &BTreeSet<LineMark>) -> Vec<usize> {
        marks.iter().filter_map(|mark| self.marked.get(mark)).flatten().map(|group| *group as usize).collect()
    }

    /// Of the groups with one of these marks the first and the last ones.
    pub(super) fn few_marked(&self, marks: &BTreeSet<LineMark>) -> Vec<usize> {
        let lists = marks.iter().filter_map(|mark| self.marked.get(mark));
        let few = lists.flat_map(|groups| {
            let last = groups.len().saturating_sub(FEW);
            groups.iter().take(FEW).chain(groups.iter().skip(last.max(FEW)))
        });
        few.map(|group| *group as usize).collect()
    }

    /// The bytes that they take, about.
    pub(super) fn bytes(&self) -> usize {
        self.of_groups.capacity() * size_of::<u32>() + self.sets.len() * SET_BYTES + self.marked.len() * MARK_BYTES
    }
}
