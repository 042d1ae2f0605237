//! Rules while an agent runs. What an agent proposes and what its tools give back becomes a log, a line each, and the log is a run like any
//! other, which goes on: a call breaks a rule exactly if the run that ends with it fails where the run without it did not.
//!
//! [`judge`] decides, [`session`] keeps the logs, [`hook`] speaks with agents in their protocols, [`install`] writes their settings, and
//! [`replay`] says of recorded runs what would have been denied.

#![deny(missing_docs)]

pub mod agent;
pub mod answer;
pub mod event;
pub mod hook;
pub mod judge;
pub mod session;
