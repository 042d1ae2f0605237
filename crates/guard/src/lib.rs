//! Applies rules while an agent runs. Proposed calls and tool results are written to a log, one per line. The log is a run like any other, but
//! unfinished. A call breaks a rule exactly if the run that ends with it fails where the run without it did not.
//!
//! `averment::guard` decides, [`session`] keeps the logs, [`hook`] implements the hook protocols of agents, [`install`] writes their settings, and
//! [`replay`] reports which calls of recorded runs would have been denied.

#![deny(missing_docs)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it keeps logs of sessions that go on, with the times of what happened"
)]

pub mod agent;
pub mod answer;
pub mod hook;
pub mod install;
pub mod mcp;
pub mod replay;
pub mod resident;
pub mod serve;
pub mod serve_http;
pub mod session;
pub mod transcript;

pub use averment::guard::{event, judge};
