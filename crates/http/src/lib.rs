//! HTTP/1.1 for MCP servers and local programs: client settings, event streams, and a small server.
//!
//! `ureq` and `ureq-proto` implement the protocol itself. Everything here blocks, uses one thread for each connection, and has limits.

#![deny(missing_docs)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it speaks over sockets, with a thread for each connection and limits of time"
)]

mod body_budget;
pub mod client;
pub mod connection;
pub mod events;
pub mod hosts;
pub mod server;

pub use ureq::http;
