//! How long runs take, where reports tell it.

use std::time::{Duration, Instant};

/// When the run before was done, where times are told.
#[derive(Debug, Default)]
pub(super) struct RunTime(Option<Instant>);

impl RunTime {
    /// Begins with a chunk.
    pub(super) fn begin(timed: bool) -> Self {
        Self(timed.then(Instant::now))
    }

    /// How long the run took that is done now: since the one before it, or since its chunk was begun.
    pub(super) fn take(&mut self) -> Option<u64> {
        let before = self.0?;
        let now = Instant::now();
        self.0 = Some(now);
        Some(nanoseconds(now.duration_since(before)))
    }
}

/// A time as reports tell it.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
