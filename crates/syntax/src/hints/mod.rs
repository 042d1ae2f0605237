//! Syntax hints: what people write, what it means here, and what to write instead.
//!
//! Most hints are rows: a pattern over the tokens of a statement that the grammar refuses, what is wrong with such a statement, and how it
//! is written here ([`pattern`] says how patterns are read, [`rewrite`] how the other columns are). Where no pattern can tell a mistake, or
//! what to write follows from more than what stands in the statement, a row asks a function. Each row has an example; a test sees to it that
//! this row speaks of it, and that what it writes can be read.
//!
//! The first row that speaks counts, so order is part of the tables: of two rows that fit, the one with the narrower pattern stands first.
//! What no row knows is said in the words of the grammar ([`grammar_mistake`]).

mod bodies;
mod bounds;
mod calls;
mod classes;
mod counts;
mod declarations;
mod definitions;
mod entries;
mod expected;
mod expressions;
mod filters;
mod foreign_syntax;
mod heads;
mod hint;
#[cfg(test)]
mod offer_tests;
mod operators;
mod orders;
mod pattern;
mod patterns;
mod phrases;
mod places;
mod quantifiers;
mod rewrite;
mod settings;
#[cfg(test)]
mod tests;
mod tokens;
mod view;
mod windows;
mod world;

use averment_base::diagnostic::Diagnostic;
pub(super) use expected::expected_text;
pub use foreign_syntax::{IntendedStatement, foreign_statement, intended_statement};
use hint::{CompiledHint, Hint};
use std::sync::LazyLock;
pub(super) use tokens::bracket_mistake;
pub(super) use view::StatementView;

/// Asked in order: what breaks the line, then the first word, then where the grammar gave up.
const TABLES: &[&[Hint]] = &[
    phrases::FIRST,
    tokens::TABLE,
    counts::EARLY,
    phrases::TABLE,
    heads::FIRST,
    calls::TABLE,
    declarations::TABLE,
    definitions::TABLE,
    entries::EARLY,
    world::TABLE,
    bodies::TABLE,
    windows::TABLE,
    orders::TABLE,
    patterns::TABLE,
    counts::TABLE,
    settings::VALUES,
    operators::TABLE,
    settings::UNKNOWN,
    quantifiers::TABLE,
    entries::LATE,
    expressions::TABLE,
    bodies::LAST,
    heads::LAST,
];

static ROWS: LazyLock<Vec<CompiledHint>> =
    LazyLock::new(|| TABLES.iter().flat_map(|table| table.iter()).map(CompiledHint::new).collect());

pub(super) fn known_mistake(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    ROWS.iter().find_map(|row| row.diagnose_statement(view))
}

pub(super) fn grammar_mistake(view: &StatementView<'_, '_>) -> Diagnostic {
    expected::expected_diagnostic(view)
}

pub(super) fn is_other_word(word: &str) -> bool {
    heads::is_other(word) || operators::is_other(word)
}

/// Keywords, roots, fields, kinds, types and functions.
#[cfg(test)]
fn words_of_the_language(word: &str) -> bool {
    const OTHERS: &[&str] = &[
        "length",
        "distinct",
        "sort",
        "avg",
        "median",
        "percentile",
        "lower",
        "upper",
        "trim",
        "word_count",
        "keys",
        "values",
        "json",
        "abs",
        "split",
        "join",
        "replace",
        "sum",
        "min",
        "max",
        "list",
        "object",
        "integer",
        "number",
        "string",
        "boolean",
        "duration",
        "money",
        "size",
        "true",
        "false",
        "null",
        "args",
        "total_tokens",
        "x",
        "type",
        "calls",
        "std",
        "exactly",
        "i",
        "name",
        "warn",
        "info",
        "pass",
        "path",
        "result",
        "s",
    ];
    let lists = [crate::words::KINDS, crate::words::ROOTS, OTHERS];
    crate::grammar::is_keyword(word) || lists.iter().any(|list| list.contains(&word))
}
