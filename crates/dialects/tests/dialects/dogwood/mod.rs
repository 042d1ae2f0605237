//! Dogwood: policies on runs, compared with the decisions of its corpus; diagnostics of broken policies; and exported rules.

pub mod corpus;
mod decided;
pub mod exported;
pub mod trace_log;
