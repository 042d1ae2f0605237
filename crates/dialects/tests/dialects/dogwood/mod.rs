//! Dogwood: policies on runs, held against the decisions of its corpus, what is said of broken ones, and rules written as policies.

pub mod corpus;
mod decided;
pub mod exported;
pub mod trace_log;
