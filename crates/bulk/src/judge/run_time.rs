//! How long runs take, where reports tell it.

use std::time::{Duration, Instant};

/// End of the previous run, if times are reported.
#[derive(Debug, Default)]
pub(super) struct RunTime(Option<Instant>);

impl RunTime {
    pub(super) fn begin_chunk(timed: bool) -> Self {
        Self(timed.then(Instant::now))
    }

    /// Time since the previous run ended, or since the chunk began.
    pub(super) fn take_time(&mut self) -> Option<u64> {
        let before = self.0?;
        let now = Instant::now();
        self.0 = Some(now);
        Some(as_nanoseconds(now.duration_since(before)))
    }
}

fn as_nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
