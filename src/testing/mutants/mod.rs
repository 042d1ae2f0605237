//! Mutants: rules with one small change, each run against all tests. A mutant that no test notices shows what the tests leave open.
//!
//! Changes are found in the syntax tree ([`find`]) and made in the text, so that every mutant is a rule file that an author could have
//! written: it is parsed, checked and compiled like any other. One that does not compile, or compiles to the same program, is no mutant.

pub mod edit;
mod expressions;
mod run;
mod show;
mod statements;
mod steps;

use crate::limits::Limits;
use crate::source::{FileId, SourceMap};
use crate::syntax;
use crate::syntax::ast::{self, ItemKind};
pub use edit::{Edit, Kind};
pub use run::{Fate, MOST, Mutant, Report, Tried, run};
pub use show::{data, human, short};

/// Every change of the first file of a map, in file order.
#[must_use]
pub fn find(sources: &SourceMap, limits: &Limits) -> Vec<Edit> {
    let Some(file) = sources.get(FileId(0)) else { return Vec::new() };
    let (tree, _, _) = syntax::parse(sources, FileId(0), limits);
    let mut finder = edit::Finder { text: &file.text, edits: Vec::new() };
    finder.items(&tree.items);
    let mut edits = finder.edits;
    // The same text again is no change; the same change twice is one.
    edits.retain(|edit| file.text.get(edit.range.clone()).is_some_and(|before| before != edit.text));
    edits.sort_by(Edit::order);
    edits.dedup_by(|later, first| (&later.range, &later.text) == (&first.range, &first.text));
    edits
}

/// The text of a rule file with its tests blanked out: they cost time in every mutant, and the tests are known already.
fn without_tests(sources: &SourceMap, limits: &Limits) -> String {
    let Some(file) = sources.get(FileId(0)) else { return String::new() };
    let (tree, _, _) = syntax::parse(sources, FileId(0), limits);
    let mut ranges = Vec::new();
    tests_in(&tree.items, &mut ranges);
    let mut text = String::with_capacity(file.text.len());
    let mut at = 0;
    for range in ranges {
        let (Some(before), Some(test)) = (file.text.get(at..range.start), file.text.get(range.clone())) else {
            continue;
        };
        text.push_str(before);
        text.extend(test.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        at = range.end;
    }
    text.push_str(file.text.get(at..).unwrap_or(""));
    text
}

fn tests_in(items: &[ast::Item], ranges: &mut Vec<std::ops::Range<usize>>) {
    for item in items {
        match &item.kind {
            ItemKind::Test(_) => ranges.push(item.span.range()),
            ItemKind::Rule(rule) | ItemKind::Invariant(rule) => tests_in(&rule.body, ranges),
            ItemKind::Suite { body, .. } | ItemKind::Case { body, .. } | ItemKind::ForEachTool { body, .. } => {
                tests_in(body, ranges);
            }
            _ => {}
        }
    }
}
