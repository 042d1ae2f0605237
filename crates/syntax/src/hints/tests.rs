//! Tests every row of the table with its own examples.

use super::row::{self, HintRow, RowMatcher, RowScope};
use super::{filters, intended_statement, rewrite, rows};
use crate::parse;
use crate::recover::apply_edits;
use averment_base::diagnostic::{Diagnostic, Fix};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use std::cell::RefCell;

thread_local! {
    /// The lines of the rows that matched, in order.
    static SPOKEN: RefCell<Vec<(RowScope, usize)>> = const { RefCell::new(Vec::new()) };
}

/// Records that a row matched.
pub(super) fn spoke(row: &HintRow) {
    SPOKEN.with_borrow_mut(|spoken| spoken.push((row.scope, row.line)));
}

/// Returns the lines of the hints that matched, or of the rows that rewrote a statement, since the last call.
fn take_spoken(is_hint: bool) -> Vec<usize> {
    let spoken = SPOKEN.take().into_iter().filter(|(scope, _)| (*scope == RowScope::Hints) == is_hint);
    spoken.map(|(_, line)| line).collect()
}

/// Runs `work` without recording the rows that match in it.
pub(super) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let spoken = SPOKEN.with_borrow(Vec::len);
    let done = work();
    SPOKEN.with_borrow_mut(|all| all.truncate(spoken));
    done
}

pub(super) fn said(text: &str) -> Vec<Diagnostic> {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("rules.assert", None, text));
    parse(&map, file, &Limits::default()).2.0
}

fn fixed(text: &str, fix: &Fix) -> String {
    apply_edits(text, fix.edits.clone()).unwrap()
}

fn is_hint(row: &&HintRow) -> bool {
    row.scope == RowScope::Hints
}

/// Fails with the errors found, each with the file and line of its row.
#[track_caller]
fn hold_every_row<'r>(rows: impl Iterator<Item = &'r HintRow>, wrong: impl Fn(&HintRow, &str) -> Option<String>) {
    let examples = rows.flat_map(|row| row.example_texts().map(move |text| (row, text)));
    let found =
        examples.filter_map(|(row, text)| Some(format!("hints.table:{}: `{text}`: {}", row.line, wrong(row, &text)?)));
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_row_can_be_read() {
    let errors = &row::ROWS.1;
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(rows().len() > 500, "only {} rows", rows().len());
    hold_every_row(rows().iter(), |row, _| {
        let RowMatcher::Pattern(pattern) = &row.matcher else { return None };
        let names: Vec<_> = pattern.names.iter().copied().chain(["wrong", "left", "right"]).collect();
        // `${value}` is an interpolation in a string, not a name.
        let used = row.templates().into_iter().flat_map(rewrite::names_of).filter(|(name, _)| *name != "value");
        let unknown =
            |(name, filter): &(&str, &str)| !names.contains(name) || !filter.is_empty() && !filters::exists(filter);
        used.filter(unknown).map(|(name, filter)| format!("nothing is called {name}|{filter}")).next()
    });
}

#[test]
fn every_row_speaks_of_its_own_example_and_no_other_does() {
    hold_every_row(rows().iter().filter(is_hint), |row, text| {
        SPOKEN.take();
        let told = said(text);
        let spoken = take_spoken(true);
        let told: Vec<&str> = told.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
        let alone = !spoken.is_empty() && spoken.iter().all(|line| *line == row.line);
        (!alone).then(|| format!("the rows of lines {spoken:?} spoke, and told is {told:?}"))
    });
    hold_every_row(rows().iter().filter(|row| !is_hint(row)), |row, text| {
        SPOKEN.take();
        let meant = intended_statement(text);
        let spoken = take_spoken(false);
        (meant.is_none() || !spoken.contains(&row.line))
            .then(|| format!("the rows of lines {spoken:?} rewrote it, and meant is {meant:?}"))
    });
}

#[test]
fn what_a_row_writes_can_be_read() {
    hold_every_row(rows().iter().filter(|row| is_hint(row) && row.rewrites()), |_, text| {
        let told = said(text);
        let Some(fix) = told.iter().find_map(|diagnostic| diagnostic.fix.as_ref()) else {
            return Some(format!("no fix: {told:?}"));
        };
        let text = fixed(text, fix);
        let again: Vec<String> = said(&text).into_iter().map(|diagnostic| diagnostic.message).collect();
        (!again.is_empty()).then(|| format!("`{text}` cannot be read: {again:?}"))
    });
}

#[test]
fn examples_differ() {
    let mut examples: Vec<String> = rows().iter().filter(is_hint).flat_map(HintRow::example_texts).collect();
    let count = examples.len();
    examples.sort_unstable();
    examples.dedup();
    assert_eq!(examples.len(), count);
}

/// The text at the start of the page, above its rows.
const PAGE_HEAD: &str = "# Mistakes, and what to write instead

Averment knows what people write who come from YAML, Python, SQL or plain English. Below each message stand mistakes that give it, and what to \
write instead. A test checks every line.

This page is written from `crates/syntax/src/hints/hints.table`: `UPDATE_GENERATED=1 cargo test -p averment-syntax hints`.
";

/// Returns a text as code on one line.
fn code(text: &str) -> String {
    let text = text.replace('\n', "\\n");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// Returns the message of a row, and what it offers for an example: the intended statement, the fixed one, or the help.
fn offer_of(row: &HintRow, text: &str) -> (String, String) {
    let told = said(text).into_iter().next();
    let message = told.as_ref().map_or(row.message.to_owned(), |told| told.message.clone());
    if row.scope != RowScope::Hints
        && let Some(meant) = intended_statement(text)
    {
        return (message, code(&meant.text));
    }
    let fix = told.as_ref().and_then(|told| told.fix.as_ref());
    let help = told.as_ref().and_then(|told| told.help.clone()).unwrap_or_default();
    (message, fix.map_or(help, |fix| code(&fixed(text, fix))))
}

#[test]
fn the_page_of_mistakes_has_every_row() {
    let (mut page, mut title, mut message) = (PAGE_HEAD.to_owned(), "", String::new());
    for (row, text) in rows().iter().flat_map(|row| row.example_texts().map(move |text| (row, text))) {
        let (said, offer) = offer_of(row, &text);
        let line = format!("- {} → {offer}\n", code(&text));
        if row.title != title || said != message {
            page += &if row.title == title { String::new() } else { format!("\n## {}\n\n", row.title) };
            page += &if said.is_empty() { String::new() } else { format!("- {said}:\n") };
            (title, message) = (row.title, said);
        }
        page += &if message.is_empty() { line } else { format!("  {line}") };
    }
    averment_fixtures::compare_generated(&averment_fixtures::project("docs/reference/mistakes.md"), &page);
}

#[test]
fn hostile_statements_take_little_time() {
    let signs =
        ["(", "the ", "must ", "a.b.", "[", "{", "before ", "not ", "x, ", "-> ", "for x in ", ".length", "'", "5k "];
    for sign in signs {
        let text: String = sign.repeat(600 / sign.len());
        let short =
            |text: &str| intended_statement(text).is_none_or(|meant| meant.text.len() <= 2 * super::meaning::LONGEST);
        assert!(short(&text) && short(&format!("never {text}")), "{sign}");
    }
}
