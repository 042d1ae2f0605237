//! The rows against their own examples.

use super::{ROWS, classes, filters, rewrite};
use crate::parse;
use averment_base::diagnostic::{Diagnostic, Fix};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use std::cell::RefCell;

thread_local! {
    /// The examples of the rows that spoke, in their order.
    static SPOKEN: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Keeps which row spoke.
pub(super) fn spoke(example: &'static str) {
    SPOKEN.with_borrow_mut(|spoken| spoken.push(example));
}

/// Rows that are asked meanwhile did not speak.
pub(super) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let spoken = SPOKEN.with_borrow(Vec::len);
    let done = work();
    SPOKEN.with_borrow_mut(|all| all.truncate(spoken));
    done
}

fn said(text: &str) -> Vec<Diagnostic> {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("rules.assert", None, text));
    parse(&map, file, &Limits::default()).2.0
}

fn fixed(text: &str, fix: &Fix) -> String {
    let mut edits: Vec<_> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.span.start, edit.span.end)));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.span.as_range(), &edit.text);
    }
    text
}

#[test]
fn every_row_speaks_of_its_own_example_and_no_other_does() {
    let mut wrong = String::new();
    for row in ROWS.iter() {
        let example = row.hint.example;
        SPOKEN.take();
        let told = said(example);
        let spoken = SPOKEN.take();
        if spoken.first() != Some(&example) || spoken.iter().any(|other| *other != example) {
            let told: Vec<&str> = told.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
            wrong += &format!("`{example}`: the rows of {spoken:?} spoke, and told is {told:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_a_row_writes_can_be_read() {
    let mut wrong = String::new();
    for row in ROWS.iter().filter(|row| row.hint.rewrites()) {
        let example = row.hint.example;
        let told = said(example);
        match told.iter().find_map(|diagnostic| diagnostic.fix.as_ref()) {
            None => wrong += &format!("`{example}`: no fix: {told:?}\n"),
            Some(fix) => {
                let text = fixed(example, fix);
                let again: Vec<String> = said(&text).into_iter().map(|diagnostic| diagnostic.message).collect();
                if !again.is_empty() {
                    wrong += &format!("`{example}`: `{text}` cannot be read: {again:?}\n");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn rows_use_only_what_exists() {
    let mut wrong = String::new();
    for row in ROWS.iter() {
        let Some(pattern) = &row.pattern else { continue };
        let names = pattern.names();
        let unknown = row.hint.conditions().filter(|name| classes::find_guard(name).is_none());
        wrong.extend(unknown.map(|name| format!("`{}`: no condition is called {name}\n", row.hint.example)));
        // `${value}` is what a string says of a value, no name.
        let used = row.hint.templates().into_iter().flat_map(rewrite::names_of).filter(|(name, _)| *name != "value");
        for (name, filter) in used {
            if !names.contains(&name) || !filter.is_empty() && !filters::exists(filter) {
                wrong += &format!("`{}`: nothing is called {name}|{filter}\n", row.hint.example);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn examples_differ() {
    let mut examples: Vec<&str> = ROWS.iter().map(|row| row.hint.example).collect();
    let count = examples.len();
    examples.sort_unstable();
    examples.dedup();
    assert_eq!(examples.len(), count);
}
