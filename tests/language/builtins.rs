//! The functions as users meet them: their reference page, their examples, the modules of the standard set.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

#[path = "builtins/examples.rs"]
mod examples;
#[path = "builtins/labelled.rs"]
mod labelled;
#[path = "builtins/templates.rs"]
mod templates;

use averment::builtins::{reference, stdlib};
use std::path::Path;

/// Compares a page with what it is made from; `AVERMENT_BLESS=1` writes it.
fn page_is(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference").join(name);
    if std::env::var_os("AVERMENT_BLESS").is_some() {
        std::fs::write(&path, page).expect("a writable page");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/reference/{name} is not what it is made from: run with AVERMENT_BLESS=1");
}

#[test]
fn the_reference_page_is_made_from_the_table() {
    page_is("functions.md", &reference::page());
}

#[test]
fn the_page_of_the_standard_set_is_made_from_its_modules() {
    let page = stdlib::page();
    page_is("stdlib.md", &page);
    for module in stdlib::MODULES {
        for definition in module.text.lines().filter_map(|line| line.strip_prefix("def ")) {
            let name = definition.trim_start_matches("step ").split(['(', ' ']).next().unwrap();
            assert!(page.contains(&name.to_string()), "`{name}` of std.{} has no doc comment", module.name);
            assert!(
                module.reference().contains(&format!("### `{}", definition.split(['(', '=']).next().unwrap().trim()))
            );
        }
    }
}
