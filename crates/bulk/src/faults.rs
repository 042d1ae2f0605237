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
    /// When the results of a chunk are put behind those before it.
    Merging,
    /// Before a run, or finished lines, go to the reports.
    Writing,
    /// Before the reports are ended.
    Ending,
}

#[cfg(feature = "faults")]
pub use injected::{Faults, Kind, with};
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
    use averment_base::memory::{Exhausted, exhausted};
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    /// What happens at a point.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Kind {
        /// It panics.
        Panics,
        /// It cannot have memory that it needs.
        Starves,
    }

    /// What happens where: so often, after the point was passed so often.
    type Armed = (Point, Kind, u32, u32);

    thread_local! {
        static ARMED: Cell<Option<Armed>> = const { Cell::new(None) };
    }

    /// Runs something whose checks break down at a point: so often, after it was passed so often.
    pub fn with<T>(point: Point, passed: u32, often: u32, then: impl FnOnce() -> T) -> T {
        ARMED.set(Some((point, Kind::Panics, passed, often)));
        let result = then();
        ARMED.set(None);
        result
    }

    /// The faults of one check.
    #[derive(Debug, Default)]
    pub struct Faults {
        armed: Option<Armed>,
        reached: AtomicU32,
    }

    impl Faults {
        /// The faults that the test on this thread asks for, or that of a whole process: `AVERMENT_FAULT="Line Starves 3 1"`.
        pub fn armed() -> Self {
            let armed = ARMED.get().or_else(|| of_process(&std::env::var("AVERMENT_FAULT").ok()?));
            Self { armed, reached: AtomicU32::new(0) }
        }

        /// Breaks down where that is asked for.
        pub fn reach(&self, at: Point) {
            let Some((point, kind, passed, often)) = self.armed.filter(|(point, ..)| *point == at) else { return };
            let before = self.reached.fetch_add(1, Ordering::Relaxed);
            if (passed..passed.saturating_add(often)).contains(&before) {
                match kind {
                    // Unwinds as a panic does, but prints nothing: hundreds of them are asked for.
                    Kind::Panics => std::panic::resume_unwind(Box::new(format!("injected at {point:?}"))),
                    Kind::Starves => starve(),
                }
            }
        }
    }

    /// What the allocator of the command does where nothing was set aside.
    fn starve() {
        match exhausted() {
            Exhausted::Told => {}
            Exhausted::Left => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            Exhausted::Ends => std::process::exit(5),
        }
    }

    fn of_process(text: &str) -> Option<Armed> {
        use Point::{Chunk, Ending, Judged, Line, Merging, Preparing, Reading, Run, Writing};
        let mut words = text.split(' ');
        let (point, kind) = (words.next()?, words.next()?);
        let all = [Preparing, Reading, Chunk, Line, Run, Judged, Merging, Writing, Ending];
        let point = all.into_iter().find(|one| format!("{one:?}") == point)?;
        let kind = [Kind::Panics, Kind::Starves].into_iter().find(|one| format!("{one:?}") == kind)?;
        Some((point, kind, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    }
}
