//! Compares the table of statements with its hand-written counterparts: the grammar, the lowering, the reference.

use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_syntax::ast::{Expr, ExprKind, ItemKind, StatementKind};
use averment_syntax::statements::{FORMS, HEADS};
use averment_syntax::words;
use std::collections::BTreeSet;

fn project(path: &str) -> String {
    std::fs::read_to_string(averment_fixtures::root().join(path)).unwrap()
}

/// Returns true if a text parses as a file that ends with a temporal statement, a check of the world or a group of statements.
fn ends_with_statement(text: &str) -> bool {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("rules.assert", None, text));
    let (tree, _, diagnostics) = averment_syntax::parse(&map, file, &Limits::default());
    assert!(diagnostics.0.is_empty(), "`{text}`: {diagnostics:?}");
    match tree.items.last().map(|item| &item.kind) {
        Some(ItemKind::Assertion(assertion)) => match &assertion.statement.kind {
            // `score VALUE` is a shorthand for a test of a function result.
            StatementKind::Expression(value) => text.starts_with("score ") && is_test_of("score", value),
            _ => true,
        },
        _ => false,
    }
}

fn is_test_of(function: &str, value: &Expr) -> bool {
    let ExprKind::Test { subject, .. } = &value.kind else { return false };
    matches!(&subject.kind, ExprKind::Call { name, .. } if name.text == function)
}

#[test]
fn the_grammar_begins_statements_with_the_words_of_the_table() {
    let grammar = project("crates/syntax/grammar/assert.pest");
    let (_, rule) = grammar.split_once("statement_word = @{").unwrap();
    let (rule, _) = rule.split_once('}').unwrap();
    let written: BTreeSet<&str> = rule.split('"').skip(1).step_by(2).collect();
    assert_eq!(
        written,
        words::STATEMENTS.iter().copied().collect(),
        "`statement_word` in crates/syntax/grammar/assert.pest"
    );
}

#[test]
fn every_example_is_read_as_a_statement() {
    let shortest = HEADS.iter().map(|head| head.alone).filter(|example| !example.is_empty());
    for example in FORMS.iter().map(|form| form.example).chain(shortest) {
        assert!(ends_with_statement(example), "`{example}`: crates/syntax/src/lower/statement.rs gives no statement");
    }
}

#[test]
fn every_form_begins_with_a_word_of_the_table() {
    let first = |words: &'static str| words.split(' ').next().unwrap();
    // `calls match` begins with a value; its keyword follows.
    let is_own = |word: &&str| words::STATEMENTS.contains(word) || !words::ROOTS.contains(word);
    let forms = FORMS.iter().map(|form| first(form.words)).filter(is_own);
    let forms: BTreeSet<&str> = forms.collect();
    assert_eq!(forms, words::STATEMENTS.iter().copied().collect());
    for form in FORMS {
        let own = form.example.lines().last().unwrap();
        assert!(own.starts_with(first(form.words)), "`{own}` is no example of `{}`", form.words);
    }
}

/// Tests that have their own list of all statement kinds.
const LISTS: [&str; 4] = [
    "crates/syntax/tests/syntax/fmt/generate.rs",
    "tests/language/kind_words.rs",
    "tests/language/temporal/rows.rs",
    "crates/guard/tests/replay.rs",
];

#[test]
fn the_lists_of_other_tests_hold_every_statement() {
    // Checks of the world, groups and blocks are tested elsewhere.
    let others = ["score", "file", "env", "tool", "http", "run", "in", "any", "all", "none", "at", "between", "when"];
    let heads = || HEADS.iter().map(|head| head.word).filter(|word| !others.contains(word));
    for path in LISTS {
        let text = project(path);
        let is_listed = |word: &&str| text.contains(&format!("\"{word} ")) || text.contains(&format!("\"{word}\""));
        let missing: Vec<&str> = heads().filter(|word| !is_listed(word)).collect();
        assert!(missing.is_empty(), "{path} has no statement that begins with {missing:?}");
    }
}

/// True if code in backticks on a page begins with these words: `require A`.
fn is_told(page: &str, words: &str) -> bool {
    let codes = page.split('`').skip(1).step_by(2);
    codes.into_iter().any(|code| code.strip_prefix(words).is_some_and(|rest| !rest.starts_with(char::is_alphabetic)))
}

#[test]
fn the_reference_tells_every_form() {
    let language = project("docs/reference/language.md");
    let course = project("docs/reference/course.md");
    for form in FORMS {
        let words = form.words.split('…').next().unwrap().trim();
        assert!(is_told(&language, words), "docs/reference/language.md does not tell `{words}`");
        // The page about temporal statements does not cover the world and groups of statements.
        let others = ["file", "env", "tool", "http", "run", "any of", "all of", "none of", "at least", "in at least"];
        let is_course = !others.contains(&words);
        assert!(!is_course || is_told(&course, words), "docs/reference/course.md does not tell `{words}`");
    }
}
