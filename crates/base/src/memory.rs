//! What becomes of memory that cannot be had. Lists and texts grow without asking, and where the system has nothing left the process would
//! be aborted in the middle of a report. A program whose allocator asks here first can end as it promises instead; the command does.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a thread does that cannot have memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhausted {
    /// It asked for as much as there is, and is told that there is none.
    Told,
    /// It stays where it is for good: another one ends the work without it.
    Left,
    /// Nobody can go on without it: the process ends.
    Ends,
}

thread_local! {
    static ASKS: Cell<bool> = const { Cell::new(false) };
    static JUDGES: Cell<bool> = const { Cell::new(false) };
    static HOLDS: Cell<u64> = const { Cell::new(0) };
}
/// Whether somebody ends the work without threads that judge.
static WATCHED: AtomicBool = AtomicBool::new(false);
static EXHAUSTED: AtomicBool = AtomicBool::new(false);
/// How many threads are left that had runs, and how many runs these were.
static LEFT: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Runs something that asks for memory and is prepared to get none: `try_reserve` and its kind. What takes memory without asking has to
/// stand outside.
#[inline]
pub fn asking<T>(ask: impl FnOnce() -> T) -> T {
    let before = ASKS.replace(true);
    let answer = ask();
    ASKS.set(before);
    answer
}

/// Says that this thread judges runs, and that others can end the work without it.
pub fn judging() {
    JUDGES.set(true);
}

/// Says how many runs this thread has in hand, as far as it knows; 0 when it has handed them on.
#[inline]
pub fn holds(runs: u64) {
    HOLDS.set(runs);
}

/// The same of runs on lines, and so many lines again.
#[inline]
#[must_use]
pub fn holding(lines: usize) -> usize {
    holds(u64::try_from(lines).unwrap_or(u64::MAX).max(1));
    lines
}

/// How many threads were left with runs in hand, and how many runs.
#[must_use]
pub fn left() -> (u64, u64) {
    let [threads, runs] = &LEFT;
    (threads.load(Ordering::SeqCst), runs.load(Ordering::SeqCst))
}

/// Says whether the thread that ends the work watches for threads that are left.
pub fn watch(watched: bool) {
    WATCHED.store(watched, Ordering::SeqCst);
}

/// What this thread has to do, which cannot have memory.
#[cold]
pub fn exhausted() -> Exhausted {
    if ASKS.get() {
        return Exhausted::Told;
    }
    EXHAUSTED.store(true, Ordering::SeqCst);
    // A thread that breaks down holds what it says it with.
    if JUDGES.get() && WATCHED.load(Ordering::SeqCst) && !std::thread::panicking() {
        let ([threads, runs], holds) = (&LEFT, HOLDS.get());
        threads.fetch_add(u64::from(holds > 0), Ordering::SeqCst);
        runs.fetch_add(holds, Ordering::SeqCst);
        Exhausted::Left
    } else {
        Exhausted::Ends
    }
}

/// Whether some thread could not have memory that it needed.
#[must_use]
pub fn is_exhausted() -> bool {
    EXHAUSTED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_asks_is_told() {
        assert_eq!(asking(|| asking(exhausted)), Exhausted::Told);
        assert_eq!((exhausted(), is_exhausted()), (Exhausted::Ends, true));
        judging();
        assert_eq!(exhausted(), Exhausted::Ends);
        watch(true);
        holds(3);
        assert_eq!((exhausted(), asking(exhausted)), (Exhausted::Left, Exhausted::Told));
        holds(0);
        assert_eq!((exhausted(), left()), (Exhausted::Left, (1, 3)));
        watch(false);
    }
}
