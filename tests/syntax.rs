//! Reading rule files: the acceptance corpus, golden files, limits, and properties that hold for any text.

use averment::diagnostic::Diagnostics;
use averment::limits::Limits;
use averment::source::{SourceFile, SourceMap};
use averment::syntax::{self, ast};
use std::path::{Path, PathBuf};

fn parse(text: &str) -> (ast::File, Diagnostics) {
    let mut map = SourceMap::default();
    let file = map.add(SourceFile::new("rules.assert", None, text));
    let (tree, _, diagnostics) = syntax::parse(&map, file, &Limits::default());
    (tree, diagnostics)
}

/// `LINE:COLUMN: severity[slug]: message (help)`, one line each.
fn rendered(text: &str, diagnostics: &Diagnostics) -> String {
    let source = SourceFile::new("rules.assert", None, text);
    let mut lines = String::new();
    for diagnostic in &diagnostics.0 {
        let at = source.position(diagnostic.span.start);
        let severity = format!("{:?}", diagnostic.severity).to_lowercase();
        let help = diagnostic.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
        lines += &format!(
            "{}:{}: {severity}[{}]: {}{help}\n",
            at.line,
            at.column,
            diagnostic.slug.as_str(),
            diagnostic.message
        );
    }
    lines
}

/// The acceptance corpus beside the project, when it is there.
fn corpus() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = ["../shared", "../../shared"]
        .iter()
        .map(|up| root.join(up).join("conformance/language"))
        .find(|path| path.is_dir());
    if found.is_none() {
        eprintln!("SKIPPED: the acceptance corpus `../shared/conformance/language` is not here");
    }
    found
}

fn rule_files(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rule_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "assert") {
            files.push((
                path.file_stem().unwrap().to_string_lossy().into_owned(),
                std::fs::read_to_string(&path).unwrap(),
            ));
        }
    }
    files.sort();
    files
}

#[test]
fn every_good_file_is_read_without_a_word() {
    let Some(corpus) = corpus() else { return };
    let mut failures = String::new();
    for (name, text) in rule_files(&corpus.join("good")) {
        let (tree, diagnostics) = parse(&text);
        if !diagnostics.0.is_empty() || tree.items.is_empty() {
            failures += &format!("{name}:\n{}", rendered(&text, &diagnostics));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
