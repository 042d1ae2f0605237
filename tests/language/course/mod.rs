//! Statements about the course of a run, from the text of a rule to its verdict and its words.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected has failed"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/fixtures.rs"]
mod fixtures;

mod blocks;
mod conformance;
mod golden;
mod limits;
mod properties;
mod rows;
mod run;
mod unfinished;
mod unknown;
