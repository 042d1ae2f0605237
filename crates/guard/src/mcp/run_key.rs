//! Determines the run that an HTTP request belongs to.

use super::message::CallRequest;
use averment_http::connection::HttpRequest;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// The first revision without sessions. Revisions are ISO dates, so they can be compared as texts.
const STATELESS: &str = "2026-07-28";

/// The way to distinguish runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RunKeying {
    /// The protocol session, the trace of the request, or the connection: the first that exists.
    #[default]
    Protocol,
    /// A header, by its lowercase name.
    Header(String),
}

/// The identity of a run in requests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RunKey {
    Session(String),
    Trace(String),
    Header(String),
    Connection(String),
}

impl RunKey {
    /// Returns the id of its log. A protocol session id is hashed, because anyone who knows it can send messages in that session.
    pub fn session_id(&self) -> String {
        match self {
            Self::Session(id) => {
                let mut digest = String::from("session-");
                for byte in Sha256::digest(id).iter().take(12) {
                    let _ = write!(digest, "{byte:02x}");
                }
                digest
            }
            Self::Trace(id) => format!("trace-{id}"),
            Self::Header(id) => format!("run-{id}"),
            Self::Connection(id) => format!("connection-{id}"),
        }
    }
}

/// Returns the protocol session of a request, for revisions before 2026-07-28.
pub(super) fn protocol_session(request: &HttpRequest) -> Option<RunKey> {
    let is_stateless = request.header(VERSION).is_some_and(|version| version >= STATELESS);
    let id = request.header(SESSION).filter(|id| !id.is_empty() && !is_stateless)?;
    Some(RunKey::Session(id.to_owned()))
}

impl RunKeying {
    /// Returns the run of a call.
    ///
    /// # Errors
    /// A description of what the request lacks.
    pub(super) fn run_of(&self, request: &HttpRequest, call: &CallRequest, connection: &str) -> Result<RunKey, String> {
        match self {
            Self::Header(name) => match request.header(name).filter(|value| !value.is_empty()) {
                Some(value) => Ok(RunKey::Header(value.to_owned())),
                None => Err(format!("the request does not say in one header `{name}` which run it belongs to")),
            },
            Self::Protocol => Ok(protocol_session(request)
                .or_else(|| call.trace.clone().map(RunKey::Trace))
                .unwrap_or_else(|| RunKey::Connection(connection.to_owned()))),
        }
    }
}
