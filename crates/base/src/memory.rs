//! What becomes of memory that cannot be had. Lists and texts grow without asking, and where the system has nothing left the process would
//! be aborted in the middle of a report. A program whose allocator asks here first can end as it promises instead; the command does.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a thread does when memory is exhausted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryAction {
    /// The allocation fails, and the caller handles it.
    ReturnNull,
    /// The thread stays blocked for good; another one ends the work without it.
    ParkThread,
    /// No thread can continue; the process ends.
    EndProcess,
}

thread_local! {
    static ASKS: Cell<bool> = const { Cell::new(false) };
    static JUDGES: Cell<bool> = const { Cell::new(false) };
    static HOLDS: Cell<u64> = const { Cell::new(0) };
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}
/// True if a thread watches for blocked threads and ends the work without them.
static WATCHED: AtomicBool = AtomicBool::new(false);
static EXHAUSTED: AtomicBool = AtomicBool::new(false);
static LEFT: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Runs something that asks for memory and is prepared to get none: `try_reserve` and its kind. What takes memory without asking has to
/// stand outside.
#[inline]
pub fn allow_failure<T>(ask: impl FnOnce() -> T) -> T {
    let before = ASKS.replace(true);
    let answer = ask();
    ASKS.set(before);
    answer
}

/// Says that something was not read on this thread for want of memory. Whoever tries whether a text is JSON would take it for one that is not.
pub fn note_refusal() {
    REFUSED.set(true);
}

/// Whether something was not read on this thread since it was asked last.
#[must_use]
pub fn take_refusal() -> bool {
    REFUSED.replace(false)
}

/// Says that this thread judges runs, and that others can end the work without it.
pub fn mark_judging() {
    JUDGES.set(true);
}

/// Says how many runs this thread has in hand, as far as it knows; 0 when it has handed them on.
#[inline]
pub fn set_runs_held(runs: u64) {
    HOLDS.set(runs);
}

/// Counts lines as runs in hand and returns their number.
#[inline]
#[must_use]
pub fn hold_lines(lines: usize) -> usize {
    set_runs_held(u64::try_from(lines).unwrap_or(u64::MAX).max(1));
    lines
}

/// Number of blocked threads that held runs, and number of these runs.
#[must_use]
pub fn left_runs() -> (u64, u64) {
    let [threads, runs] = &LEFT;
    (threads.load(Ordering::SeqCst), runs.load(Ordering::SeqCst))
}

/// Says whether the thread that ends the work watches for threads that are left.
pub fn set_watched(watched: bool) {
    WATCHED.store(watched, Ordering::SeqCst);
}

/// What this thread has to do when memory is exhausted.
#[cold]
pub fn memory_action() -> MemoryAction {
    if ASKS.get() {
        return MemoryAction::ReturnNull;
    }
    EXHAUSTED.store(true, Ordering::SeqCst);
    // A thread that breaks down holds what it says it with.
    if JUDGES.get() && WATCHED.load(Ordering::SeqCst) && !std::thread::panicking() {
        let ([threads, runs], holds) = (&LEFT, HOLDS.get());
        threads.fetch_add(u64::from(holds > 0), Ordering::SeqCst);
        runs.fetch_add(holds, Ordering::SeqCst);
        MemoryAction::ParkThread
    } else {
        MemoryAction::EndProcess
    }
}

/// True if some thread ran out of memory.
#[must_use]
pub fn is_exhausted() -> bool {
    EXHAUSTED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_asks_is_told() {
        assert_eq!(allow_failure(|| allow_failure(memory_action)), MemoryAction::ReturnNull);
        assert_eq!((memory_action(), is_exhausted()), (MemoryAction::EndProcess, true));
        mark_judging();
        assert_eq!(memory_action(), MemoryAction::EndProcess);
        set_watched(true);
        set_runs_held(3);
        assert_eq!(
            (memory_action(), allow_failure(memory_action)),
            (MemoryAction::ParkThread, MemoryAction::ReturnNull)
        );
        set_runs_held(0);
        assert_eq!((memory_action(), left_runs()), (MemoryAction::ParkThread, (1, 3)));
        set_watched(false);
    }
}
