//! Reading runs: the normal form, the formats of the field, files good and bad.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on says so by a panic"
)]

mod common;
#[path = "common/fixtures.rs"]
mod fixtures;

#[path = "trace/commands.rs"]
mod commands;
#[path = "trace/files.rs"]
mod files;
#[path = "trace/formats.rs"]
mod formats;
#[path = "trace/golden.rs"]
mod golden;
#[path = "trace/normal_form.rs"]
mod normal_form;
#[path = "trace/recorded.rs"]
mod recorded;
#[path = "trace/robust.rs"]
mod robust;

use common::shared;
