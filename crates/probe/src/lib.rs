//! The live side of invariants: an MCP server is asked what they ask, and its answers are recorded as runs.
//!
//! Nothing is judged here. What is recorded is judged by whoever judges recorded runs; [`SERVER_RULES`] say what a run has to say of the server itself.

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

pub use client::{Client, Limits, StartError, Target};
pub use corpus::{Earlier, Kept, read as read_corpus};
pub use danger::Danger;
pub use http::Url;
pub use listing::Listing;
pub use plan::{Arguments, Ask, Gap, Plan, Rules, Unasked, named, plan};
pub use record::{Probe, Recorded};
pub use shrink::{Fails, Smallest};

/// Rules for recorded probes: that the server lived, answered in time and spoke the protocol.
pub const SERVER_RULES: &str = include_str!("server.assert");
