//! The table of known mistakes: what people write, what it means here, and what to write instead.
//!
//! One small function per mistake: it looks at the tokens of a statement that the grammar refuses and says nothing, or says what is wrong,
//! where, and what to write. The first that speaks counts. What no function knows is said in the words of the grammar.

mod bodies;
mod calls;
mod courses;
mod declarations;
mod definitions;
mod entries;
mod expected;
mod expressions;
mod heads;
mod operators;
mod patterns;
mod phrases;
mod quantifiers;
mod settings;
mod times;
mod tokens;
mod view;
mod windows;
mod world;

use averment_base::diagnostic::Diagnostic;
pub(super) use expected::expectation;
pub(super) use tokens::bracket;
pub(super) use view::View;

/// One mistake: `None` when this is not it.
type Find = fn(&View<'_, '_>) -> Option<Diagnostic>;

/// The tables in the order in which they are asked: what spoils the reading of a line first, then what its first word says, then what
/// stands where the grammar gave up.
const TABLES: &[&[Find]] = &[
    phrases::FIRST,
    tokens::TABLE,
    times::EARLY,
    phrases::TABLE,
    heads::FIRST,
    calls::TABLE,
    declarations::TABLE,
    definitions::TABLE,
    entries::EARLY,
    world::TABLE,
    bodies::TABLE,
    windows::TABLE,
    courses::TABLE,
    patterns::TABLE,
    times::TABLE,
    settings::VALUES,
    operators::TABLE,
    settings::UNKNOWN,
    quantifiers::TABLE,
    entries::LATE,
    expressions::TABLE,
    bodies::LAST,
    heads::LAST,
];

/// What is wrong with a statement that the grammar refuses, where one of the tables knows it.
pub(super) fn known(view: &View<'_, '_>) -> Option<Diagnostic> {
    TABLES.iter().flat_map(|table| table.iter()).find_map(|find| find(view))
}

/// What the grammar would have taken where it gave up.
pub(super) fn expected(view: &View<'_, '_>) -> Diagnostic {
    expected::fallback(view)
}

/// True for a word of another language, or of plain English, that one of the tables knows.
pub(super) fn is_other_word(word: &str) -> bool {
    heads::is_other(word) || operators::is_other(word)
}
