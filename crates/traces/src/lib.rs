//! Traces: reading files of any known format into the normal form of a run.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read files and measure time")
)]

pub mod adapt;
mod build;
pub mod error;
pub mod expected;
pub mod names;
pub mod prices;
pub mod projection;
pub mod read;
pub mod reading;
pub mod redact_path;
pub mod scan;
pub mod time;

pub use build::{FOLLOWING_KINDS, FollowingStep, derives_steps, following_steps};
pub use error::ReadError;
pub use read::{RawRun, TraceRuns, parse_run, read_str};
