//! Tests of the parser: the acceptance corpus, golden files, limits, and properties that hold for any text.

use averment_base::diagnostic::Diagnostics;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_fixtures as fixtures;
use averment_syntax::{self as syntax, ast};
use std::path::{Path, PathBuf};

fn parse(text: &str) -> (ast::RuleFile, Diagnostics) {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("rules.assert", None, text));
    let (tree, _, diagnostics) = syntax::parse(&map, file, &Limits::default());
    (tree, diagnostics)
}

/// Returns the diagnostics as `LINE:COLUMN: severity[slug]: message (help)`, one per line.
fn rendered(text: &str, diagnostics: &Diagnostics) -> String {
    let source = SourceFile::new("rules.assert", None, text);
    let mut lines = String::new();
    for diagnostic in &diagnostics.0 {
        let at = source.line_column(diagnostic.span.start);
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

/// The acceptance corpus of the language.
fn corpus() -> PathBuf {
    fixtures::project("tests/conformance/language")
}

/// Returns the names and texts of all rule files below a folder.
fn rule_files(folder: &Path) -> Vec<(String, String)> {
    let paths = fixtures::rule_files_below(folder);
    assert!(!paths.is_empty(), "{} has no rules", folder.display());
    paths.iter().map(|path| (fixtures::stem(path), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_good_file_is_read_without_a_word() {
    let mut failures = String::new();
    for (name, text) in rule_files(&corpus().join("good")) {
        let (tree, diagnostics) = parse(&text);
        if !diagnostics.0.is_empty() || tree.items.is_empty() {
            failures += &format!("{name}:\n{}", rendered(&text, &diagnostics));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Files of the corpus with mistakes that the parser reports; all others parse without diagnostics.
const MISTAKES_OF_READING: &[&str] = &[
    "call-in-place-of-require",
    "chained-equality-behind-a-quantifier",
    "dashed-key-without-quotes",
    "either-and",
    "immediately-before-each",
    "interpolation-not-closed",
    "minus-between-names",
    "missing-arrow",
    "missing-step-behind-an-arrow",
    "negative-weight",
    "not-both-or",
    "quantifier-without-in",
    "repeat-without-a-number",
    "repetition-without-parentheses",
    "run-with-too-many-words",
    "suite-without-quotes",
    "unclosed-brace",
    "unclosed-parenthesis",
    "unclosed-regex",
    "unclosed-string",
    "unknown-modifier",
    "unknown-regex-flag",
    "unknown-statement-with-a-near-miss",
    "unknown-unit",
    "until-without-after",
    "where-without-parentheses-before-a-bar",
    "where-without-parentheses-before-or",
    "within-where-it-has-no-meaning",
];

/// Returns the `#! expect: LINE:COLUMN text` marks: the location and the text.
fn marks(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("#! expect: "));
    lines.filter_map(|mark| mark.split_once(' ')).map(|(place, text)| (place.to_owned(), text.to_owned())).collect()
}

#[test]
fn every_marked_mistake_is_said_once_at_its_place_with_what_to_write() {
    let mut failures = String::new();
    for (name, text) in rule_files(&corpus().join("bad")) {
        let (_, diagnostics) = parse(&text);
        let said = rendered(&text, &diagnostics);
        let marks = if MISTAKES_OF_READING.contains(&name.as_str()) { marks(&text) } else { Vec::new() };
        let places: Vec<String> = said.lines().map(|line| line.split(": ").next().unwrap().to_owned()).collect();
        let expected: Vec<String> = marks.iter().map(|(place, _)| place.clone()).collect();
        if places != expected {
            failures += &format!("{name}: expected {expected:?}\n{said}");
            continue;
        }
        for ((place, mark), line) in marks.iter().zip(said.lines()) {
            for quoted in mark.split('`').skip(1).step_by(2).filter(|quoted| !line.contains(*quoted)) {
                failures += &format!("{name}: `{quoted}` is not proposed at {place}\n{line}\n");
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Returns every form that can be nested, nested `depth` times.
fn nested(depth: usize) -> Vec<(&'static str, String)> {
    let around = |open: &str, core: &str, close: &str| format!("{}{core}{}", open.repeat(depth), close.repeat(depth));
    vec![
        ("parentheses", around("(", "a", ")") + " == 1"),
        ("arguments and indexes", format!("f({}) == 1", around("a[", "0", "]"))),
        ("calls", around("f(", "a", ")") + " == 1"),
        ("lists", "x in ".to_owned() + &around("[", "1", "]")),
        ("objects", "x == ".to_owned() + &around("{ a: ", "1", "}")),
        ("flows", "flow ".to_owned() + &around("(", "a", ")")),
        ("repeated flows", "flow ".to_owned() + &around("(a -> ", "a", ")*")),
        ("steps", "require ".to_owned() + &around("(", "a", ")")),
        ("steps with conditions", "never ".to_owned() + &around("(", "a", " where a == 1)")),
        ("proposed steps", "never ".to_owned() + &around("proposed (", "a", ")")),
        ("paths of arguments", format!("require f({}: 1)", around("a[", "0", "]"))),
        ("quantifiers in parentheses", around("any x in (", "a", "): c")),
        ("quantifiers in bodies", around("any x in a: ", "c", "")),
        ("conditions", around("if a then b else ", "c", "") + " == 1"),
        ("conditions in conditions", around("if ", "a", " then b else c")),
        ("negations", around("not ", "a", "") + " == 1"),
        ("signs", around("-", "a", "") + " == 1"),
        ("implications", around("a implies ", "b", "")),
        ("interpolations", "x == ".to_owned() + &around("\"${", "a", "}\"")),
        ("blocks", around("when a {\n", "require b", "\n}")),
        ("groups", around("not any of {", "require b", "}")),
        ("statements behind not", around("not ", "require a", "")),
        ("predicates", "no p in ".to_owned() + &around("(", "a", ")")),
    ]
}

#[test]
fn every_form_nests_as_deep_as_the_limit_in_linear_time() {
    for (name, text) in nested(127) {
        let start = std::time::Instant::now();
        let (tree, diagnostics) = parse(&text);
        let time = start.elapsed();
        println!("{name}: {time:?}");
        assert!(diagnostics.0.is_empty(), "{name}: {}", rendered(&text, &diagnostics));
        assert_eq!(tree.items.len(), 1, "{name}");
        assert!(time.as_secs() < 10, "{name} took {time:?}");
    }
}

#[test]
fn deeper_nesting_than_the_limit_is_said_at_its_place() {
    for depth in [300, 20_000] {
        for (name, text) in nested(depth) {
            let start = std::time::Instant::now();
            let (_, diagnostics) = parse(&text);
            let time = start.elapsed();
            assert!(!diagnostics.0.is_empty(), "{name} {depth}");
            let slugs: Vec<&str> = diagnostics.0.iter().map(|diagnostic| diagnostic.slug.as_str()).collect();
            assert_eq!(
                slugs,
                ["too-deep"],
                "{name} {depth}: {}",
                rendered(&text, &diagnostics).chars().take(400).collect::<String>()
            );
            assert!(time.as_secs() < 20, "{name} {depth} took {time:?}");
        }
    }
}

/// Compares the diagnostics of `golden/syntax/NAME.assert` with `NAME.snap`.
#[test]
fn mistakes_are_explained_as_the_golden_files_show() {
    let folder = averment_fixtures::root().join("tests/golden/syntax");
    for (name, text) in rule_files(&folder) {
        let (_, diagnostics) = parse(&text);
        let _scope = averment_fixtures::snapshot_beside(&folder.join(format!("{name}.assert")));
        insta::assert_snapshot!(name, rendered(&text, &diagnostics));
    }
}

/// Applies the edits of a fix.
fn fixed(text: &str, fix: &averment_base::diagnostic::Fix) -> String {
    let mut edits: Vec<_> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.span.as_range(), &edit.text);
    }
    text
}

#[test]
fn every_fix_removes_its_mistake() {
    let mut files = rule_files(&averment_fixtures::root().join("tests/golden/syntax"));
    files.extend(rule_files(&corpus().join("bad")));
    let mut failures = String::new();
    let mut count = 0;
    for (name, text) in files {
        let (_, before) = parse(&text);
        for diagnostic in &before.0 {
            let Some(fix) = &diagnostic.fix else { continue };
            count += 1;
            let (_, after) = parse(&fixed(&text, fix));
            if after.0.len() >= before.0.len() {
                let one = Diagnostics(vec![diagnostic.clone()]);
                let line = text
                    .lines()
                    .nth(rendered(&text, &one).split(':').next().unwrap().parse::<usize>().unwrap() - 1)
                    .unwrap();
                let new = fixed(&text, fix);
                let changed = new.lines().find(|new| !text.lines().any(|old| old == *new)).unwrap_or("");
                failures += &format!("{name}: {line}\n  => {changed}\n  {}", rendered(&text, &one));
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(count > 150, "only {count} fixes");
}
