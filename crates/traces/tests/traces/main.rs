//! Reading runs: the normal form, the formats of the field, files good and bad.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on says so by a panic"
)]

mod commands;
mod files;
mod formats;
mod golden;
mod normal_form;
mod recorded;
mod robust;
