//! The library as an embedder meets it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test that meets something unexpected has failed, and may look at files and start threads"
)]

mod batch;
mod build;
mod checks;
mod guard;
mod packages;
mod params;
