//! What every stage of Averment stands on: source files and places in them, diagnostics as data, limits, truth values, values.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read files and measure time")
)]

pub mod diagnostic;
#[cfg(feature = "files")]
pub mod files;
pub mod letter_shapes;
pub mod limits;
pub mod memory;
pub mod near;
pub mod rates;
pub mod source;
pub mod truth;
pub mod types;
pub mod value;
pub mod words;
