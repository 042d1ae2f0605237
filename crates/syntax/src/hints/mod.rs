//! Syntax hints: what people write, what it means here, and what to write instead.
//!
//! Hints are rows of `hints.table`: an example, a pattern over the tokens of a statement ([`pattern`] says how patterns are read), what is wrong
//! with such a statement, and how it is written here ([`rewrite`]). Where no pattern can tell a mistake, or what to write follows from more
//! than what stands in the statement, a row asks a function of [`DIAGNOSES`] or [`REWRITES`]. Tests read every row, see that it speaks of its own
//! examples and that what it writes can be read, and write the page of mistakes from it.
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

/// Functions with their names.
macro_rules! named {
    ($($module:ident: $($function:ident)*;)*) => { &[$($((stringify!($function), $module::$function)),*),*] };
}

/// The functions that rows ask.
const DIAGNOSES: &[(&str, HintFn)] = named! {
    words: colon_body missing_comma near_statement;
    steps: missing_arrow missing_block;
    signs: negated_contraction odd_characters open_text open_interpolation open_regex;
};

/// The functions that rewrite what people write in other languages.
const REWRITES: &[(&str, RewriteFn)] = named! {
    rewrites: apostrophe_amount block_comment line_comment trailing_comment call_chain negated_verb lower_case;
};

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
