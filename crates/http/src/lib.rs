//! HTTP/1.1 as MCP servers and programs on this machine speak it: requests to a server, its event streams, and a small server.
//!
//! The protocol itself is that of `ureq` and `ureq-proto`. Everything here is blocking, a thread for each connection, and bounded.

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
