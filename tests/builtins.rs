//! The functions as users meet them: their reference page, their examples, the modules of the standard set.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

#[path = "builtins/examples.rs"]
mod examples;
#[path = "builtins/labelled.rs"]
mod labelled;
#[path = "builtins/templates.rs"]
mod templates;

use averment::builtins::reference;
use std::path::Path;

#[test]
fn the_reference_page_is_made_from_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/functions.md");
    let page = reference::page();
    if std::env::var_os("AVERMENT_BLESS").is_some() {
        std::fs::write(&path, &page).expect("a writable page");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/reference/functions.md is not what the table says: run with AVERMENT_BLESS=1");
}
