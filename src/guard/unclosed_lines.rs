//! Open lines of a log, which no later line has closed, such as an opening without its end.

use crate::growing::{ClosedMarks, LineTouch};
use std::collections::HashMap;

/// Approximate memory of the lines with one value, in bytes.
const VALUE_BYTES: usize = 96;

/// The open lines of a list, by the value of their mark.
#[derive(Debug, Default)]
pub(super) struct UnclosedLines {
    of_values: HashMap<Option<u64>, Vec<u32>>,
    open: usize,
    /// True if it is unknown which lines are open.
    is_lost: bool,
}

impl UnclosedLines {
    /// Adds a line, if it opens or closes something.
    pub(super) fn add_line(&mut self, line: u32, touch: &LineTouch, closed: ClosedMarks) {
        let marks = |slot: u32| touch.marks.iter().filter(move |one| one.mark.slot == slot);
        if closed.is_stack {
            let count = |slot: u32| marks(slot).fold(0_u64, |count, one| count.saturating_add(one.steps));
            let (opens, closes) = (count(closed.slot), count(closed.closer));
            let is_sure = marks(closed.slot).chain(marks(closed.closer)).all(|one| one.sure);
            self.is_lost |= !is_sure || opens.saturating_add(closes) > 1;
            let stack = self.of_values.entry(None).or_default();
            match (opens, closes) {
                (1.., _) => stack.push(line),
                (_, 1..) => drop(stack.pop()),
                _ => {}
            }
            self.open = stack.len();
            return;
        }
        // If a line opens and closes at once, it stays open, because the order of its steps is unknown here.
        marks(closed.closer).filter(|one| one.sure).for_each(|one| self.close_lines(one.mark.value));
        for mark in marks(closed.slot) {
            let open = self.of_values.entry(mark.mark.value).or_default();
            if open.last() != Some(&line) {
                open.push(line);
                self.open += 1;
            }
        }
    }

    /// Closes the lines with a value. A sure match without a value closes the lines of all values.
    fn close_lines(&mut self, value: Option<u64>) {
        if value.is_some() {
            self.open -= self.of_values.remove(&value).map_or(0, |lines| lines.len());
        } else {
            self.of_values.clear();
            self.open = 0;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open == 0
    }

    /// Returns the open lines with a value; `None` if it is unknown which lines are open.
    pub(super) fn of_value(&self, value: Option<u64>) -> Option<&[u32]> {
        (!self.is_lost).then(|| self.of_values.get(&value).map_or(&[][..], Vec::as_slice))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = u32> {
        self.of_values.values().flatten().copied()
    }

    /// Returns the approximate memory use in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.of_values.len() * VALUE_BYTES + self.open * size_of::<u32>()
    }
}
