//! Notes about the effects of log lines, to find the earlier lines that a new line depends on.

use super::flow_lines::FlowLines;
use super::unclosed_lines::UnclosedLines;
use crate::growing::{AssertionSet, GrowthIndex, LineMark, LineTouch, StepSum, TakenMarks};
use std::collections::{BTreeSet, HashMap};

/// Maximum number of lines that are taken from each end of a list: the first ones have ended, the last ones are within a time bound.
const FEW: usize = 3;
/// Approximate memory of a set of assertions, in bytes.
const SET_BYTES: usize = 512;
/// Approximate memory of a mark with its list of lines, in bytes.
const MARK_BYTES: usize = 128;

#[derive(Debug, Clone, Copy)]
struct MarkedLine {
    line: u32,
    sure: bool,
}

/// Maps groups of lines to the assertions that they affect (groups with equal sets share one), and marks to their lines.
#[derive(Debug, Default)]
pub(super) struct TouchNotes {
    /// Number of noted lines.
    pub(super) noted: usize,
    /// Assertions that nothing can break any more.
    pub(super) settled: AssertionSet,
    of_groups: Vec<u32>,
    sets: Vec<AssertionSet>,
    numbers: HashMap<AssertionSet, u32>,
    marked: HashMap<LineMark, Vec<MarkedLine>>,
    marked_lines: usize,
    unclosed: Vec<UnclosedLines>,
    flows: Vec<FlowLines>,
    totals: Vec<u64>,
    sums: Vec<StepSum>,
    /// The last line that has a step.
    last: Option<u32>,
}

impl TouchNotes {
    /// Notes the next line, which belongs to a group. `is_made` is true for an allowed call.
    pub(super) fn add_line(&mut self, group: usize, touch: &LineTouch, index: &GrowthIndex, is_made: bool) {
        let line = u32::try_from(self.noted).unwrap_or(u32::MAX);
        self.noted += 1;
        self.last = Some(line);
        self.add_assertions(group, &touch.assertions);
        for one in &touch.marks {
            let slot = one.mark.slot as usize;
            if self.totals.len() <= slot {
                self.totals.resize(slot + 1, 0);
            }
            if let Some(total) = self.totals.get_mut(slot) {
                *total = total.saturating_add(one.steps);
            }
            if index.asks_for(one.mark.slot) {
                self.marked.entry(one.mark).or_default().push(MarkedLine { line, sure: one.sure });
                self.marked_lines += 1;
            }
        }
        self.sums.resize(touch.sums.len(), StepSum::default());
        self.sums.iter_mut().zip(&touch.sums).for_each(|(sum, new)| *sum = sum.joined_with(*new));
        let lists = index.closed_marks();
        self.unclosed.resize_with(lists.len(), UnclosedLines::default);
        self.unclosed.iter_mut().zip(lists).for_each(|(open, closed)| open.add_line(line, touch, *closed));
        let flows = index.flows();
        self.flows.resize_with(flows.len(), FlowLines::default);
        if is_made {
            self.flows.iter_mut().zip(flows).for_each(|(lines, flow)| lines.add_call(line, touch, flow));
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

    /// Returns the numbers of steps with a mark of each slot in the noted lines.
    pub(super) fn totals(&self) -> &[u64] {
        &self.totals
    }

    /// Returns the sums over the noted lines, for each limited sum.
    pub(super) fn sums(&self) -> &[StepSum] {
        &self.sums
    }

    /// Returns the groups that affect one of these assertions.
    pub(super) fn touching(&self, wanted: &AssertionSet) -> Vec<usize> {
        let holding: Vec<bool> = self.sets.iter().map(|set| !set.is_disjoint(wanted)).collect();
        if !holding.contains(&true) {
            return Vec::new();
        }
        let holds = |set: &u32| holding.get(*set as usize).copied().unwrap_or_default();
        self.of_groups.iter().enumerate().filter(|(_, set)| holds(set)).map(|(group, _)| group).collect()
    }

    /// Returns the lines with one of these marks. Lines may occur more than once.
    pub(super) fn marked(&self, marks: &BTreeSet<LineMark>) -> Vec<u32> {
        marks.iter().flat_map(|mark| self.with_mark(mark)).map(|one| one.line).collect()
    }

    fn with_mark(&self, mark: &LineMark) -> &[MarkedLine] {
        self.marked.get(mark).map_or(&[], Vec::as_slice)
    }

    /// True if a list has lines that no later line has closed.
    pub(super) fn is_open(&self, list: u32) -> bool {
        self.unclosed.get(list as usize).is_some_and(|open| !open.is_empty())
    }

    /// Returns the lines that triggers need; `None` if they are unknown. Lines may occur more than once.
    pub(super) fn taken(&self, marks: &BTreeSet<TakenMarks>) -> Option<Vec<u32>> {
        let mut lines = Vec::new();
        for mark in marks {
            match mark {
                TakenMarks::All(mark) => lines.extend(self.with_mark(mark).iter().map(|one| one.line)),
                TakenMarks::Few(mark) => take_few(self.with_mark(mark).iter(), &mut lines),
                TakenMarks::FewSure(mark) => {
                    let all = self.with_mark(mark);
                    lines.extend(all.iter().filter(|one| !one.sure).map(|one| one.line));
                    let sure: Vec<&MarkedLine> = all.iter().filter(|one| one.sure).collect();
                    take_few(sure.into_iter(), &mut lines);
                }
                TakenMarks::Unclosed(list, value) => {
                    let open = self.unclosed.get(*list as usize).map_or(Some(&[][..]), |open| open.of_value(*value));
                    lines.extend(open?);
                }
                TakenMarks::Flow(flow) => {
                    lines.extend(self.flows.get(*flow as usize).map_or(Some(Vec::new()), FlowLines::lines)?)
                }
                TakenMarks::AllUnclosed(list) => {
                    lines.extend(self.unclosed.get(*list as usize).into_iter().flat_map(UnclosedLines::all));
                    lines.extend(self.last);
                }
            }
        }
        Some(lines)
    }

    /// Returns the approximate memory use in bytes.
    pub(super) fn bytes(&self) -> usize {
        let of_marks = 2 * self.marked_lines * size_of::<MarkedLine>();
        let of_flows = self.flows.iter().map(FlowLines::bytes).sum::<usize>();
        let of_lists = self.unclosed.iter().map(UnclosedLines::bytes).sum::<usize>() + of_flows;
        let of_groups = self.of_groups.capacity() * size_of::<u32>() + self.sets.len() * SET_BYTES;
        of_groups + self.marked.len() * MARK_BYTES + of_marks + of_lists
    }
}

fn take_few<'a>(lines: impl ExactSizeIterator<Item = &'a MarkedLine>, taken: &mut Vec<u32>) {
    let last = lines.len().saturating_sub(FEW);
    taken.extend(lines.enumerate().filter(|(at, _)| *at < FEW || *at >= last).map(|(_, one)| one.line));
}
