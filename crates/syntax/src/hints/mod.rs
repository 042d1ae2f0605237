//! Syntax hints: what people write, what it means here, and what to write instead.
//!
//! Most hints are rows: a pattern over the tokens of a statement that the grammar refuses, what is wrong with such a statement, and how it
//! is written here ([`pattern`] says how patterns are read, [`rewrite`] how the other columns are). Where no pattern can tell a mistake, or
//! what to write follows from more than what stands in the statement, a row asks a function. Each row has an example; a test sees to it that
//! this row speaks of it, and that what it writes can be read.
//!
//! The first row that speaks counts, so order is part of the tables: of two rows that fit, the one with the narrower pattern stands first.
//! What no row knows is said in the words of the grammar ([`expected`]).

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
mod heads;
mod hint;
mod meant;
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
pub(super) use expected::expectation;
use hint::{Hint, Prepared};
pub use meant::{Meant, foreign, meant};
use std::sync::LazyLock;
pub(super) use tokens::bracket;
pub(super) use view::View;

/// The tables in the order in which they are asked: what spoils the reading of a line first, then what its first word says, then what
/// stands where the grammar gave up.
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

static ROWS: LazyLock<Vec<Prepared>> =
    LazyLock::new(|| TABLES.iter().flat_map(|table| table.iter()).map(Prepared::new).collect());

/// What is wrong with a statement that the grammar refuses, where one of the rows knows it.
pub(super) fn known(view: &View<'_, '_>) -> Option<Diagnostic> {
    ROWS.iter().find_map(|row| row.tell(view))
}

/// What the grammar would have taken where it gave up.
pub(super) fn expected(view: &View<'_, '_>) -> Diagnostic {
    expected::fallback(view)
}

/// True for a word of another language, or of plain English, that one of the tables knows.
pub(super) fn is_other_word(word: &str) -> bool {
    heads::is_other(word) || operators::is_other(word)
}
