//! Tests of rules, and measures of how well the tests cover the rules.
//!
//! A [`Subject`](subject::Subject) is a rule file with all its [`Trial`](trial::Trial)s: its `test` blocks and the case files beside it. [`outcome`]
//! runs them; [`show`] prints the results. [`inputs`] generates inputs for tools.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it reads the files of tests and measures them"
)]

pub mod cases;
pub mod cells;
pub mod coverage;
pub mod discriminate;
pub mod inputs;
pub mod mutants;
pub mod outcome;
pub mod propose;
pub mod show;
pub mod snapshot;
pub mod subject;
pub mod trace_runs;
pub mod trial;
