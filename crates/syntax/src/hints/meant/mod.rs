//! What a statement of another language, or of plain English, says here.
//!
//! Rows rewrite a part of a statement at a time, until nothing is left to rewrite: `the agent must never call refund` loses its subject,
//! then its verb. Where no row knows more, the other tables of hints are asked for their rewriting. What comes out counts only when it can
//! be read. A row that guesses makes the whole a guess: it is said, and never offered as a fix.

mod amounts;
mod code;
mod comments;
mod data;
mod functions;
pub(super) mod lists;
mod orders;
mod outputs;
mod prose;
mod row;
mod runs;
#[cfg(test)]
mod tests;

pub(super) use functions::typed;
pub(super) use lists::step_of;

use super::pattern::Pattern;
use super::view::View;
use crate::grammar::{self, Failure, Rule};
use crate::recover::{self, Text};
use crate::token;
use averment_base::limits::Limits;
use averment_base::source::FileId;
use row::{How, Meaning};
use std::sync::LazyLock;

/// Longer statements are read by people.
const LONGEST: usize = 600;
/// How often a statement is rewritten.
const ROUNDS: usize = 12;
/// Parts of patterns that are tried on one statement.
const STEPS: usize = 40_000;

/// What a statement was meant to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meant {
    /// The statement as it is written here.
    pub text: String,
    /// Whether nothing else can have been meant.
    pub certain: bool,
    /// Whether a fix that is offered beside it leads elsewhere.
    pub over: bool,
    /// What is wrong with what was written, where the first rewriting says it: with its place in the statement.
    pub wrong: Option<(String, std::ops::Range<usize>)>,
}

/// Rows with their patterns taken apart. The first number is of those that apply whatever can be read.
static ROWS: LazyLock<Vec<(bool, Meaning, Option<Pattern>)>> = LazyLock::new(|| {
    let always = [code::TABLE, functions::TABLE].into_iter().flatten().map(|row| (true, row));
    let unread =
        [comments::TABLE, runs::TABLE, amounts::TABLE, prose::TABLE, outputs::TABLE, orders::TABLE, data::TABLE];
    let unread = unread.into_iter().flatten().map(|row| (false, row));
    always.chain(unread).map(|(always, row)| (always, *row, row.pattern())).collect()
});

/// One rewriting.
struct Step {
    text: String,
    certain: bool,
    over: bool,
    wrong: Option<(String, std::ops::Range<usize>)>,
    /// Whether one of the rows here made it.
    own: bool,
}

/// What a statement was meant to be; `None` where no row knows, or what it would be cannot be read.
#[must_use]
pub fn meant(statement: &str) -> Option<Meant> {
    let import = ["use std", "use \"", "use ./", "use ../"].iter().any(|start| statement.starts_with(start));
    if statement.len() > LONGEST || statement.trim().is_empty() || import {
        return None;
    }
    let depth = token::scan(statement, LONGEST, LONGEST).depth;
    grammar::with_stack(depth, || rewritten(statement))
}

/// The same of a statement that can be read: only what is surely of another language is rewritten.
#[must_use]
pub fn foreign(statement: &str) -> Option<Meant> {
    let depth = token::scan(statement, LONGEST, LONGEST).depth;
    let read =
        statement.len() <= LONGEST && grammar::with_stack(depth, || grammar::read(Rule::file, statement).is_ok());
    if read { meant(statement) } else { None }
}

fn rewritten(statement: &str) -> Option<Meant> {
    let mut budget = STEPS;
    let mut meant = Meant { text: statement.to_owned(), certain: true, over: false, wrong: None };
    let mut own = false;
    for round in 0..ROUNDS {
        let failure = grammar::read(Rule::file, &meant.text).err();
        let Some(step) = step(&meant.text, failure.as_ref(), &mut budget) else { break };
        if step.text == meant.text || step.text.len() > 2 * LONGEST {
            break;
        }
        if round == 0 && step.own {
            meant.wrong = step.wrong;
        }
        // What one rewriting of the other tables does is said without this.
        own |= step.own || round > 0;
        meant.certain &= step.certain;
        meant.over |= step.over;
        meant.text = step.text;
    }
    let changed = meant.text.trim() != statement.trim() && !meant.text.trim().is_empty();
    (own && changed && grammar::read(Rule::file, &meant.text).is_ok()).then_some(meant)
}

fn step(text: &str, failure: Option<&Failure>, budget: &mut usize) -> Option<Step> {
    let limits = Limits::default();
    let scan = token::scan(text, limits.rule_depth, limits.rule_tokens);
    let lines = Text::new(FileId(0), text, scan.tokens);
    let tokens = (0..lines.tokens.len()).filter(|&at| lines.kind(at) != token::Kind::LineEnd).collect();
    let end = Failure { at: text.len(), expected: Vec::new() };
    let view = View::new(&lines, tokens, failure.unwrap_or(&end));
    let row = ROWS
        .iter()
        .filter(|(always, ..)| *always || failure.is_some())
        .find_map(|(_, row, pattern)| applied(&view, text, row, pattern.as_ref(), budget));
    let by_others = || {
        #[cfg(test)]
        return super::tests::quietly(|| recover::mended(text));
        #[cfg(not(test))]
        recover::mended(text)
    };
    row.or_else(|| {
        let text = failure.and_then(|_| by_others())?;
        Some(Step { text, certain: true, over: false, wrong: None, own: false })
    })
}

fn applied(
    view: &View<'_, '_>,
    text: &str,
    row: &Meaning,
    pattern: Option<&Pattern>,
    budget: &mut usize,
) -> Option<Step> {
    let (range, new) = match (row.how, pattern) {
        (How::Asked(function), _) => function(view)?,
        (How::By(_), Some(pattern)) => {
            let found = pattern.find_within(view, budget)?;
            (view.range(found.from, found.to), found.fill_whole(row.write)?)
        }
        (How::By(_), None) => return None,
    };
    let new = spaced(text, &range, new.trim());
    let mut changed = text.get(..range.start)?.to_owned();
    changed.push_str(&new);
    changed.push_str(text.get(range.end..)?);
    let wrong = (!row.says.is_empty()).then(|| (row.says.to_owned(), range));
    (changed != text).then_some(Step { text: changed, certain: row.certain, over: row.over, wrong, own: true })
}

/// The new text, with a blank where it would run into a word beside it.
fn spaced(text: &str, range: &std::ops::Range<usize>, new: &str) -> String {
    let letter = |sign: Option<char>| sign.is_some_and(|sign| sign.is_alphanumeric() || sign == '_');
    let before = text.get(..range.start).and_then(|text| text.chars().next_back());
    let behind = text.get(range.end..).and_then(|text| text.chars().next());
    let left = if letter(before) && letter(new.chars().next()) { " " } else { "" };
    let right = if letter(new.chars().next_back()) && letter(behind) { " " } else { "" };
    format!("{left}{new}{right}")
}
