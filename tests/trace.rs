//! Reading runs: the normal form, the formats of the field, files good and bad.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on says so by a panic"
)]

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

/// Data that is not part of the project, beside it; `None` (said loudly) where it is not there.
fn shared(path: &str) -> Option<std::path::PathBuf> {
    let places =
        [concat!(env!("CARGO_MANIFEST_DIR"), "/../shared"), concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")];
    let found = places.iter().map(|place| std::path::Path::new(place).join(path)).find(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: `{path}` is not there");
    }
    found
}
