//! Rules while an agent runs. What an agent proposes and what its tools give back becomes a log, a line each, and the log is a run like any
//! other, which goes on: a call breaks a rule exactly if the run that ends with it fails where the run without it did not.
//!
//! `averment::guard` decides, [`session`] keeps the logs, [`hook`] speaks with agents in their protocols, [`install`] writes their settings, and
//! [`replay`] says of recorded runs what would have been denied.

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
