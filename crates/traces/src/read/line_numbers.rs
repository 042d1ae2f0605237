//! The numbers of lines in a file whose parts are looked at by several threads.
//!
//! To count the lines of a part where it is read would be one more pass over its bytes, while nobody else can read. Whoever looks at the part
//! knows their number soon after, so that each part takes its turn to say it: a part waits only for those in front of it, which are further on.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Hands out turns in the order of parts.
#[derive(Debug)]
pub(super) struct LineNumbers {
    shared: Arc<SharedCount>,
    turns: usize,
}

/// A part's turn. If dropped, the part counts as having no lines, so that nobody waits forever.
#[derive(Debug)]
pub(super) struct PartTurn {
    shared: Arc<SharedCount>,
    number: usize,
    taken: bool,
}

#[derive(Debug)]
struct SharedCount {
    state: Mutex<LineCount>,
    more: Condvar,
}

#[derive(Debug)]
struct LineCount {
    /// Parts that reported their lines.
    turns: usize,
    /// First line behind them, from 1.
    line: usize,
}

impl LineNumbers {
    pub(super) fn new() -> Self {
        let state = Mutex::new(LineCount { turns: 0, line: 1 });
        Self { shared: Arc::new(SharedCount { state, more: Condvar::new() }), turns: 0 }
    }

    pub(super) fn next_turn(&mut self) -> PartTurn {
        let number = self.turns;
        self.turns += 1;
        PartTurn { shared: Arc::clone(&self.shared), number, taken: false }
    }

    /// Waits until all parts with a turn have taken it.
    pub(super) fn next_line(&self) -> usize {
        self.shared.at_turn(self.turns, |state| state.line)
    }

    /// For lines that had no turn.
    pub(super) fn set_next_line(&self, line: usize) {
        self.shared.at_turn(self.turns, |state| state.line = line);
    }
}

impl PartTurn {
    /// Returns the number of the part's first line, from 1.
    pub(super) fn count_lines(mut self, lines: usize) -> usize {
        self.take_turn(lines)
    }

    fn take_turn(&mut self, lines: usize) -> usize {
        self.taken = true;
        let first = self.shared.at_turn(self.number, |state| {
            state.turns += 1;
            let first = state.line;
            state.line += lines;
            first
        });
        self.shared.more.notify_all();
        first
    }
}

impl Drop for PartTurn {
    fn drop(&mut self) {
        if !self.taken {
            self.take_turn(0);
        }
    }
}

impl SharedCount {
    /// Waits until so many parts have taken their turn.
    fn at_turn<T>(&self, turns: usize, then: impl FnOnce(&mut LineCount) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.turns != turns {
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        then(&mut state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn lines_have_their_numbers_whoever_counts_first() {
        let mut numbers = LineNumbers::new();
        let turns: Vec<PartTurn> = (0..20).map(|_| numbers.next_turn()).collect();
        let threads = turns.into_iter().enumerate().rev().map(|(lines, turn)| {
            thread::spawn(move || match lines {
                // Nobody looks at this one.
                7 => (7, None),
                _ => (lines, Some(turn.count_lines(lines))),
            })
        });
        let threads: Vec<_> = threads.collect();
        let mut found: Vec<(usize, Option<usize>)> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        found.sort_unstable();
        let mut first = 1;
        for (lines, line) in found {
            assert_eq!(line, (lines != 7).then_some(first));
            first += if lines == 7 { 0 } else { lines };
        }
        assert_eq!(numbers.next_line(), first);
        numbers.set_next_line(first + 3);
        assert_eq!(numbers.next_turn().count_lines(1), first + 3);
    }
}
