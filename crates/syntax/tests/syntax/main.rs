//! Tests of the grammar, the tree, the diagnostics of mistakes, and the formatter.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test that meets something unexpected has failed, and may look at files and clocks"
)]

mod fmt;
mod golden;
mod highlight;
mod mistyped;
mod newcomers;
mod properties;
mod statements;
mod tree;
