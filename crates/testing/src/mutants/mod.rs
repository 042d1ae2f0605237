//! Mutants: rules with one small change, each run against all tests. A mutant that no test detects shows a gap in the tests.
//!
//! Changes are found in the syntax tree ([`find_edits`]) and applied to the text, so that every mutant is a rule file that an author could have
//! written: it is parsed, checked and compiled like any other. A change that does not compile, or compiles to an equal program, is discarded.

mod base;
pub mod edit;
mod expressions;
mod matching;
mod run;
mod show;
mod statements;
mod steps;

use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceMap};
use averment_syntax as syntax;
pub use edit::{MutantKind, RuleEdit};
pub use run::{MOST, Mutant, MutantResult, MutationOptions, MutationReport, run_mutants};
pub use show::{mutants_data, print_human, print_short};

/// Returns all changes to the first file of a map, in file order.
#[must_use]
pub fn find_edits(sources: &SourceMap, limits: &Limits) -> Vec<RuleEdit> {
    let Some(file) = sources.get(FileId(0)) else { return Vec::new() };
    let (tree, _, _) = syntax::parse(sources, FileId(0), limits);
    let mut finder = edit::EditFinder { text: &file.text, edits: Vec::new(), rule: None };
    for item in &tree.items {
        finder.rule = base::rule_of(item).map(str::to_owned);
        finder.mutate_items(std::slice::from_ref(item));
    }
    let mut edits = finder.edits;
    // Drops changes without effect and duplicates.
    edits.retain(|edit| file.text.get(edit.range.clone()).is_some_and(|before| before != edit.text));
    edits.sort_by(RuleEdit::place_order);
    edits.dedup_by(|later, first| (&later.range, &later.text) == (&first.range, &first.text));
    edits
}
