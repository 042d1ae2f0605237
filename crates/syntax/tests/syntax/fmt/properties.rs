//! Properties of the formatter for every file, generated or written by hand.

use super::generate;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_fixtures::{project, rule_files_below};
use averment_syntax as syntax;
use averment_syntax::fmt::{FormatOptions, format_text};

/// Number of generated files, unless `AVERMENT_FMT_FILES` is set. Before a release, 10000 are tested.
const FILES: u64 = 500;
/// The first seed, unless `AVERMENT_FMT_SEED` is set.
const SEED: u64 = 20_260_601;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Returns the tree of a text without spans, and its comments; panics if the text has errors.
fn read(text: &str) -> (String, Vec<String>) {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("rules.assert", None, text));
    let (tree, trivia, diagnostics) = syntax::parse(&map, file, &Limits::default());
    assert!(!diagnostics.has_errors(), "{:#?}\n{text}", diagnostics.0.first());
    (without_places(&format!("{tree:?}")), trivia.comments.into_iter().map(|comment| comment.text).collect())
}

/// Removes the spans from the debug form of a tree.
fn without_places(debug: &str) -> String {
    let mut parts = debug.split("Span {");
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |whole, part| whole + part.split_once('}').map_or("", |(_, rest)| rest))
}

/// Returns the lines that differ.
fn difference(left: &str, right: &str) -> String {
    similar::TextDiff::from_lines(left, right).unified_diff().header("once", "twice").to_string()
}

/// Formats a text and asserts all properties.
fn formatted(text: &str, name: &str) -> String {
    let options = FormatOptions::default();
    let once = format_text(text, &options).unwrap_or_else(|error| panic!("{name}: {:#?}\n{text}", error.0.first()));
    let (before, comments) = read(text);
    let (after, kept) = read(&once);
    assert!(comments == kept, "{name}: the comments\n{}", difference(&comments.join("\n"), &kept.join("\n")));
    assert!(before == after, "{name}: the meaning\n{}", difference(text, &once));
    let twice = format_text(&once, &options).unwrap();
    assert!(once == twice, "{name}: formatted twice\n{}", difference(&once, &twice));
    // White space at the end of a line may belong to a multi-line string.
    for line in once.lines().filter(|_| !once.contains("\"\"\"")) {
        assert_eq!(line.trim_end_matches([' ', '\t']), line, "{name}: space at the end of a line\n{once}");
    }
    once
}

#[test]
fn generated_files_keep_their_meaning_and_comments_and_are_formatted_once_for_all() {
    let (files, seed) = (number("AVERMENT_FMT_FILES", FILES), number("AVERMENT_FMT_SEED", SEED));
    println!("{files} files from seed {seed}");
    let (mut comments, mut bytes) = (0, 0);
    for number in 0..files {
        let generated = generate::file(seed.wrapping_add(number));
        comments += generated.comments.len();
        bytes += generated.text.len();
        let (_, found) = read(&generated.text);
        assert_eq!(generated.comments, found, "seed {}\n{}", seed + number, generated.text);
        formatted(&generated.text, &format!("seed {}", seed + number));
    }
    println!("{comments} comments in {bytes} bytes");
    assert!(comments as u64 > files / 2, "the generator writes comments");
}

#[test]
fn the_files_of_the_project_are_formatted() {
    let mut wrong = Vec::new();
    for path in ["examples", "crates/builtins/stdlib", "crates/cli/templates"]
        .iter()
        .flat_map(|folder| rule_files_below(&project(folder)))
    {
        let text = std::fs::read_to_string(&path).unwrap();
        if formatted(&text, &path.display().to_string()) != text {
            wrong.push(path.display().to_string());
        }
    }
    assert!(wrong.is_empty(), "run `aver fmt` on\n{}", wrong.join("\n"));
}

#[test]
fn every_readable_file_of_the_tests_and_the_corpus_keeps_its_meaning() {
    let corpus = averment_fixtures::shared("conformance/language/good");
    let mut count = 0;
    for path in std::iter::once(project("tests")).chain(corpus).flat_map(|folder| rule_files_below(&folder)) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut map = SourceMap::default();
        let file = map.add_file(SourceFile::new("rules.assert", None, text.as_str()));
        // Many test files contain intentional mistakes.
        if !syntax::parse(&map, file, &Limits::default()).2.has_errors() {
            formatted(&text, &path.display().to_string());
            count += 1;
        }
    }
    assert!(count >= 75, "{count} files");
}
