//! Dogwood: policies on runs, held against the decisions of its corpus, and what is said of broken ones.

mod corpus;
mod trace_log;
