//! Compares each file of `tests/golden/fmt` with its formatted text.

use averment_fixtures as fixtures;
use averment_syntax::fmt::{FormatOptions, format_text};

#[test]
fn every_file_becomes_what_stands_beside_it() {
    let paths = fixtures::rule_files(&fixtures::project("tests/golden/fmt"));
    assert!(paths.len() >= 8, "{paths:?}");
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        let formatted = format_text(&text, &FormatOptions::default());
        let formatted = formatted.unwrap_or_else(|error| panic!("{}: {:#?}", path.display(), error.0.first()));
        assert_eq!(formatted.strip_suffix('\n'), Some(formatted.trim_end()), "{}: how it ends", path.display());
        let _scope = fixtures::snapshot_beside(path);
        insta::assert_snapshot!(fixtures::stem(path), formatted);
    }
}
