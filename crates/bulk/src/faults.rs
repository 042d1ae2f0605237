//! Fault injection: points at which a test lets a thread of a check break down. Without the feature `faults`, which only tests ask for,
//! they are nothing.

/// Where a thread can be made to break down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
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
}

#[cfg(feature = "faults")]
pub use injected::{Faults, with};
#[cfg(not(feature = "faults"))]
pub use nothing::Faults;

#[cfg(not(feature = "faults"))]
mod nothing {
    use super::Point;

    /// No faults.
    #[derive(Debug, Clone, Copy, Default)]
    pub struct Faults;

    impl Faults {
        /// No faults.
        pub fn armed() -> Self {
            Self
        }

        /// Does nothing.
        #[inline(always)]
        pub fn reach(&self, _: Point) {}
    }
}

#[cfg(feature = "faults")]
mod injected {
    use super::Point;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU32, Ordering};

    thread_local! {
        static ARMED: Cell<Option<(Point, u32, u32)>> = const { Cell::new(None) };
    }

    /// Runs something whose checks break down at a point: so often, after it was passed so often.
    pub fn with<T>(point: Point, passed: u32, often: u32, then: impl FnOnce() -> T) -> T {
        ARMED.set(Some((point, passed, often)));
        let result = then();
        ARMED.set(None);
        result
    }

    /// The faults of one check.
    #[derive(Debug, Default)]
    pub struct Faults {
        armed: Option<(Point, u32, u32)>,
        reached: AtomicU32,
    }

    impl Faults {
        /// The faults that the test on this thread asks for.
        pub fn armed() -> Self {
            Self { armed: ARMED.get(), reached: AtomicU32::new(0) }
        }

        /// Breaks down where that is asked for.
        pub fn reach(&self, at: Point) {
            let Some((point, passed, often)) = self.armed.filter(|(point, ..)| *point == at) else { return };
            let before = self.reached.fetch_add(1, Ordering::Relaxed);
            if (passed..passed + often).contains(&before) {
                // Unwinds as a panic does, but prints nothing: hundreds of them are asked for.
                std::panic::resume_unwind(Box::new(format!("injected at {point:?}")));
            }
        }
    }
}
