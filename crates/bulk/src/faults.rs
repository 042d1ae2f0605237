//! Fault injection: points at which a test lets a thread of a check break down. Without the feature `faults`, which only tests ask for,
//! they are nothing.

/// Where a thread can be made to break down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultPoint {
    /// Before a thread prepares the rules.
    Preparing,
    /// While it holds the input, before it takes a chunk.
    Reading,
    /// When it has a chunk.
    Chunk,
    /// While it looks at a line.
    Line,
    /// While it judges one run, where a breakdown is caught for the run alone.
    Run,
    /// When a chunk is judged, before its results are handed on.
    Judged,
    /// When the results of a chunk are merged in order.
    Merging,
    /// Before a run, or finished lines, go to the reports.
    Writing,
    /// Before the reports are ended.
    Ending,
}

#[cfg(feature = "faults")]
pub use injected::{FaultInjector, FaultKind, with_fault};
#[cfg(not(feature = "faults"))]
pub use nothing::FaultInjector;

#[cfg(not(feature = "faults"))]
mod nothing {
    use super::FaultPoint;

    /// No faults.
    #[derive(Debug, Clone, Copy, Default)]
    pub struct FaultInjector;

    impl FaultInjector {
        /// No faults.
        pub fn from_environment() -> Self {
            Self
        }

        /// Does nothing.
        #[inline(always)]
        pub fn reach_point(&self, _: FaultPoint) {}
    }
}

#[cfg(feature = "faults")]
mod injected {
    use super::FaultPoint;
    use averment_base::memory::{MemoryAction, memory_action};
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    /// The fault injected at a point.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FaultKind {
        /// It panics.
        Panics,
        /// An allocation fails.
        Starves,
    }

    /// Point, fault, number of times, and number of passes before the first.
    type ArmedFault = (FaultPoint, FaultKind, u32, u32);

    thread_local! {
        static ARMED: Cell<Option<ArmedFault>> = const { Cell::new(None) };
    }

    /// Runs something whose checks break down at a point: so often, after it was passed so often.
    pub fn with_fault<T>(point: FaultPoint, passed: u32, often: u32, then: impl FnOnce() -> T) -> T {
        ARMED.set(Some((point, FaultKind::Panics, passed, often)));
        let result = then();
        ARMED.set(None);
        result
    }

    /// The faults of one check.
    #[derive(Debug, Default)]
    pub struct FaultInjector {
        armed: Option<ArmedFault>,
        reached: AtomicU32,
    }

    impl FaultInjector {
        /// The faults that the test on this thread asks for, or that of a whole process: `AVERMENT_FAULT="Line Starves 3 1"`.
        pub fn from_environment() -> Self {
            let armed = ARMED.get().or_else(|| of_process(&std::env::var("AVERMENT_FAULT").ok()?));
            Self { armed, reached: AtomicU32::new(0) }
        }

        /// Breaks down where that is asked for.
        pub fn reach_point(&self, at: FaultPoint) {
            let Some((point, kind, passed, often)) = self.armed.filter(|(point, ..)| *point == at) else { return };
            let before = self.reached.fetch_add(1, Ordering::Relaxed);
            if (passed..passed.saturating_add(often)).contains(&before) {
                match kind {
                    // Unwinds as a panic does, but prints nothing: hundreds of them are asked for.
                    FaultKind::Panics => std::panic::resume_unwind(Box::new(format!("injected at {point:?}"))),
                    FaultKind::Starves => exhaust_memory(),
                }
            }
        }
    }

    fn exhaust_memory() {
        match memory_action() {
            MemoryAction::ReturnNull => {}
            MemoryAction::ParkThread => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            MemoryAction::EndProcess => std::process::exit(5),
        }
    }

    fn of_process(text: &str) -> Option<ArmedFault> {
        use FaultPoint::{Chunk, Ending, Judged, Line, Merging, Preparing, Reading, Run, Writing};
        let mut words = text.split(' ');
        let (point, kind) = (words.next()?, words.next()?);
        let all = [Preparing, Reading, Chunk, Line, Run, Judged, Merging, Writing, Ending];
        let point = all.into_iter().find(|one| format!("{one:?}") == point)?;
        let kind = [FaultKind::Panics, FaultKind::Starves].into_iter().find(|one| format!("{one:?}") == kind)?;
        Some((point, kind, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    }
}
