//! Each file of `tests/golden/fmt` beside what it becomes. `AVERMENT_BLESS=1` writes what it becomes.

use averment_fixtures as fixtures;
use averment_syntax::fmt::{FormatOptions, format_text};
use std::path::PathBuf;

const ENDING: &str = ".formatted.assert";

fn inputs() -> Vec<PathBuf> {
    let mut paths = fixtures::files(&fixtures::project("tests/golden/fmt"));
    paths.retain(|path| !path.to_string_lossy().ends_with(ENDING));
    paths
}

#[test]
fn every_file_becomes_what_stands_beside_it() {
    let mut wrong = Vec::new();
    let paths = inputs();
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        let formatted = format_text(&text, &FormatOptions::default());
        let formatted = formatted.unwrap_or_else(|error| panic!("{}: {:#?}", path.display(), error.0.first()));
        let beside = path.with_extension("").display().to_string() + ENDING;
        if averment_fixtures::blesses() {
            std::fs::write(&beside, &formatted).unwrap();
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if formatted != expected {
            let difference = similar::TextDiff::from_lines(&expected, &formatted);
            wrong.push(difference.unified_diff().header(&beside, "formatted").to_string());
        }
    }
    assert!(paths.len() >= 8 && wrong.is_empty(), "{}", wrong.join("\n"));
}
