//! What keeps rules honest: their tests, and what the tests leave untried.
//!
//! A [`Subject`](subject::Subject) is a rule file with every [`Trial`](trial::Trial) of it: its `test` blocks and the case files
//! beside it. [`outcome`] runs them; [`show`] prints what came of them. [`inputs`] makes what tools are asked with.

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
