//! Dogwood: policies on runs, held against the decisions of its corpus, what is said of broken ones, and rules written as policies.

mod corpus;
mod decided;
mod exported;
mod trace_log;
