//! Syntax hints: common mistakes, what they mean, and what to write instead.
//!
//! Hints are rows of `hints.table`: an example, a pattern over the tokens of a statement (see [`pattern`] for its syntax), the error, and the
//! correction ([`rewrite`]). If a pattern cannot recognize a mistake, or the correction depends on more than the statement, a row calls a function of
//! [`DIAGNOSES`] or [`REWRITES`]. Tests check that every row applies to its own examples and that its correction parses, and generate the page of
//! mistakes from the rows.
//!
//! The first matching row counts, so order matters: of two rows that match, the one with the narrower pattern comes first. Mistakes without a row are
//! reported in the words of the grammar (`recover/expected.rs`).

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

/// Builds a list of functions with their names.
macro_rules! named {
    ($($module:ident: $($function:ident)*;)*) => { &[$($((stringify!($function), $module::$function)),*),*] };
}

/// Functions that rows call to recognize a mistake.
const DIAGNOSES: &[(&str, HintFn)] = named! {
    words: colon_body missing_comma near_statement;
    steps: missing_arrow missing_block;
    signs: negated_contraction odd_characters open_text open_interpolation open_regex;
};

/// Functions that rewrite constructs of other languages.
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

/// True for keywords, roots, fields, kinds, types and functions.
#[cfg(test)]
fn words_of_the_language(word: &str) -> bool {
    let lists = [crate::words::KINDS, crate::words::ROOTS, table::list("LANGUAGE")];
    crate::grammar::is_keyword(word) || lists.iter().any(|list| list.contains(&word))
}
