//! Checks invariants against a live MCP server: makes their calls and records the answers as runs.
//!
//! This crate judges nothing; recorded probes are judged like other runs. [`SERVER_RULES`] are rules about the server itself.

#![deny(missing_docs)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it starts a server, reads what it answers in threads, waits so long and no longer, and reads a corpus"
)]

mod client;
mod corpus;
mod danger;
mod http;
mod listing;
mod plan;
mod process;
mod record;
mod shrink;
mod transport;
mod value;

pub use averment_http::client::ServerUrl;
pub use client::{AnswerLimits, ProbeClient, ServerTarget, StartError};
pub use corpus::{EarlierCall, KeptInput, read_corpus};
pub use danger::DangerPolicy;
pub use listing::ToolListing;
pub use plan::{
    CallArguments, CheckedRules, InvariantCalls, ProbePlan, SkipKind, SkippedInvariant, called_tools, plan_calls,
};
pub use record::{Probe, RecordedProbe};
pub use shrink::{FailureOracle, SmallestInput};

/// Rules about the server in recorded probes: it kept running, answered in time, and followed the protocol.
pub const SERVER_RULES: &str = include_str!("server.assert");
