//! Translates statements of another language, or of plain English.
//!
//! Each row rewrites a part of a statement, until nothing is left to rewrite: `the agent must never call refund` loses its subject, then its verb. If
//! no row applies, the other hint tables are asked for a rewrite. The result counts only if it parses. A row that guesses makes the whole result a
//! guess, which is mentioned but never offered as a fix.

use super::row::{HintRow, RowScope};
use super::view::StatementView;
use crate::grammar::{self, GrammarFailure, Rule};
use crate::recover::{self, TokenText};
use crate::token;
use averment_base::limits::Limits;
use averment_base::source::FileId;

/// Maximum length in bytes of a statement that is rewritten.
pub(super) const LONGEST: usize = 600;
const ROUNDS: usize = 12;
const STEPS: usize = 40_000;

/// The statement that the author probably meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntendedStatement {
    /// The statement in the rule language.
    pub text: String,
    /// True if no other meaning is possible.
    pub certain: bool,
    /// True if the fix that is otherwise offered would lead elsewhere.
    pub overrides_fix: bool,
    /// The error and its place in the statement, if the first rewrite names it.
    pub wrong: Option<(String, std::ops::Range<usize>)>,
}

impl IntendedStatement {
    fn certain(text: String) -> Self {
        Self { text, certain: true, overrides_fix: false, wrong: None }
    }
}

struct RewriteStep {
    meant: IntendedStatement,
    /// False if it comes from another hint table, which reports it anyway.
    own: bool,
}

/// Returns the intended statement; `None` if no row applies or the result does not parse.
#[must_use]
pub fn intended_statement(statement: &str) -> Option<IntendedStatement> {
    let import = ["use std", "use \"", "use ./", "use ../"].iter().any(|start| statement.starts_with(start));
    if statement.len() > LONGEST || statement.trim().is_empty() || import {
        return None;
    }
    let depth = token::scan_tokens(statement, LONGEST, LONGEST).depth;
    grammar::with_stack(depth, || rewrite_statement(statement))
}

/// Rewrites a statement that parses but certainly comes from another language.
#[must_use]
pub fn foreign_statement(statement: &str) -> Option<IntendedStatement> {
    let depth = token::scan_tokens(statement, LONGEST, LONGEST).depth;
    let read = statement.len() <= LONGEST && grammar::with_stack(depth, || read_file(statement).is_ok());
    if read { intended_statement(statement) } else { None }
}

fn read_file(text: &str) -> Result<(), GrammarFailure> {
    grammar::parse_rule(Rule::file, text, Limits::default().rule_steps).map(|_| ())
}

fn rewrite_statement(statement: &str) -> Option<IntendedStatement> {
    let mut budget = STEPS;
    let mut meant = IntendedStatement::certain(statement.to_owned());
    let mut own = false;
    for round in 0..ROUNDS {
        let failure = read_file(&meant.text).err();
        let Some(step) = rewrite_once(&meant.text, failure.as_ref(), &mut budget) else { break };
        if step.meant.text == meant.text || step.meant.text.len() > 2 * LONGEST {
            break;
        }
        own |= step.own || round > 0;
        meant = IntendedStatement {
            text: step.meant.text,
            certain: meant.certain && step.meant.certain,
            overrides_fix: meant.overrides_fix || step.meant.overrides_fix,
            wrong: if round == 0 { step.meant.wrong } else { meant.wrong },
        };
    }
    let changed = meant.text.trim() != statement.trim() && !meant.text.trim().is_empty();
    (own && changed && read_file(&meant.text).is_ok()).then_some(meant)
}

fn rewrite_once(text: &str, failure: Option<&GrammarFailure>, budget: &mut usize) -> Option<RewriteStep> {
    let limits = Limits::default();
    let scan = token::scan_tokens(text, limits.rule_depth, limits.rule_tokens);
    let lines = TokenText::new(FileId(0), text, scan.tokens);
    let tokens = (0..lines.tokens.len()).filter(|&at| lines.token_kind(at) != token::TokenKind::LineEnd).collect();
    let end = GrammarFailure::new(text.len());
    let view = StatementView::new(&lines, tokens, failure.unwrap_or(&end));
    let row = super::rows()
        .iter()
        .filter(|row| row.scope == RowScope::Always || row.scope == RowScope::Unread && failure.is_some())
        .find_map(|row| apply_row(&view, text, row, budget));
    let by_others = || {
        #[cfg(test)]
        return super::tests::quietly(|| recover::apply_first_fix(text));
        #[cfg(not(test))]
        recover::apply_first_fix(text)
    };
    row.or_else(|| {
        let text = failure.and_then(|_| by_others())?;
        Some(RewriteStep { meant: IntendedStatement::certain(text), own: false })
    })
}

fn apply_row(view: &StatementView<'_, '_>, text: &str, row: &HintRow, budget: &mut usize) -> Option<RewriteStep> {
    let (range, new) = row.rewrite_statement(view, budget)?;
    let new = pad_words(text, &range, new.trim());
    let mut changed = text.get(..range.start)?.to_owned();
    changed.push_str(&new);
    let rest = text.get(range.end..)?;
    // A removed part leaves a single blank.
    let is_gap = new.is_empty() && changed.ends_with(' ');
    changed.push_str(if is_gap { rest.trim_start_matches(' ') } else { rest });
    let wrong = (!row.message.is_empty()).then(|| (row.message.to_owned(), range));
    #[cfg(test)]
    super::tests::spoke(row);
    let (certain, overrides_fix) = (!row.is_guess, row.overrides_fix);
    let meant = IntendedStatement { text: changed, certain, overrides_fix, wrong };
    (meant.text != text).then_some(RewriteStep { meant, own: true })
}

/// Adds blanks where the new text would run into a neighboring word.
fn pad_words(text: &str, range: &std::ops::Range<usize>, new: &str) -> String {
    let letter = |sign: Option<char>| sign.is_some_and(|sign| sign.is_alphanumeric() || sign == '_');
    let before = text.get(..range.start).and_then(|text| text.chars().next_back());
    let behind = text.get(range.end..).and_then(|text| text.chars().next());
    let left = if letter(before) && letter(new.chars().next()) { " " } else { "" };
    let right = if letter(new.chars().next_back()) && letter(behind) { " " } else { "" };
    format!("{left}{new}{right}")
}
