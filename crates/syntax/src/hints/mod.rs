//! Syntax hints: what people write, what it means here, and what to write instead.
//!
//! Hints are rows of `hints.table`: an example, a pattern over the tokens of a statement ([`pattern`] says how patterns are read), what is wrong
//! with such a statement, and how it is written here ([`rewrite`]). Where no pattern can tell a mistake, or what to write follows from more
//! than what stands in the statement, a row asks a function of [`FUNCTIONS`]. Tests read every row, see that it speaks of its own example and
//! that what it writes can be read, and write the page of mistakes from it.
//!
//! The first row that speaks counts, so order is part of the table: of two rows that fit, the one with the narrower pattern stands first.
//! What no row knows is said in the words of the grammar (`recover/expected.rs`).

mod bounds;
mod classes;
mod filters;
mod functions;
mod meaning;
#[cfg(test)]
mod offer_tests;
mod pattern;
mod prose;
mod rewrite;
mod rewrites;
mod row;
mod signs;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod view;
mod words;

use averment_base::diagnostic::Diagnostic;
pub use meaning::{IntendedStatement, foreign_statement, intended_statement};
use row::RowMatcher::{self, Diagnose, Rewrite};
use row::{HintFn, HintRow, RewriteFn, RowScope};
pub(super) use view::StatementView;

/// The functions that rows ask.
const DIAGNOSES: &[(&str, HintFn)] = &[
    ("call_in_front", steps::call_in_front),
    ("bound_in_front", steps::bound_in_front),
    ("colon_body", words::colon_body),
    ("missing_comma", words::missing_comma),
    ("lone_step", words::lone_step),
    ("near_statement", words::near_statement),
    ("test_word", words::test_word),
    ("missing_arrow", steps::missing_arrow),
    ("where_without_parentheses", steps::where_without_parentheses),
    ("text_of_a_kind", steps::text_of_a_kind),
    ("missing_block", steps::missing_block),
    ("negated_contraction", signs::negated_contraction),
    ("unknown_modifier", words::unknown_modifier),
    ("odd_characters", signs::odd_characters),
    ("open_text", signs::open_text),
    ("open_interpolation", signs::open_interpolation),
    ("open_regex", signs::open_regex),
];

/// The functions that rewrite what people write in other languages.
const REWRITES: &[(&str, RewriteFn)] = &[
    ("apostrophe_amount", rewrites::apostrophe_amount),
    ("block_comment", rewrites::block_comment),
    ("shared_binding", rewrites::shared_binding),
    ("line_comment", rewrites::line_comment),
    ("trailing_comment", rewrites::trailing_comment),
    ("expect_call", functions::expect_call),
    ("assert_call", functions::assert_call),
    ("function_call", functions::function_call),
    ("method_call", functions::method_call),
    ("length_property", functions::length_property),
    ("call_chain", rewrites::call_chain),
    ("negated_verb", rewrites::negated_verb),
    ("lower_case", rewrites::lower_case),
];

fn find_function(name: &str) -> Option<RowMatcher> {
    let rewrite = || REWRITES.iter().find(|(known, _)| *known == name).map(|(_, function)| Rewrite(*function));
    DIAGNOSES.iter().find(|(known, _)| *known == name).map(|(_, function)| Diagnose(*function)).or_else(rewrite)
}

fn rows() -> &'static [HintRow] {
    &row::ROWS.0
}

pub(super) fn known_mistake(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    rows().iter().filter(|row| row.scope == RowScope::Hints).find_map(|row| row.diagnose_statement(view))
}

pub(super) fn is_other_word(word: &str) -> bool {
    table::meant("FIRSTWORD", &word.to_ascii_lowercase()).or_else(|| table::meant("TESTWORD", word)).is_some()
}

/// Keywords, roots, fields, kinds, types and functions.
#[cfg(test)]
fn words_of_the_language(word: &str) -> bool {
    let lists = [crate::words::KINDS, crate::words::ROOTS, table::list("LANGUAGE")];
    crate::grammar::is_keyword(word) || lists.iter().any(|list| list.contains(&word))
}
