//! Texts in the rules that no value of a run is or holds, while some value nearly does: `note == "Evil Corp"` beside `gift for Evil Corp`, and
//! `contains "Password"` beside `password`. The answer of such a test is right, and rarely what was meant.

use super::why::near_keys::{NameCategory, NearName};
use crate::bytecode::ops::Op;
use crate::bytecode::program::Program;
use aho_corasick::AhoCorasick;
use averment_base::source::Span;
use averment_builtins::token::mentions_text;
use averment_checker::ir::Constant;
use averment_syntax::ast::TestKind;
use std::collections::BTreeSet;

/// Bytes; longer texts are no names of anything, and longer values are not looked through.
const LONGEST_WANTED: usize = 80;
const LONGEST_VALUE: usize = 64 << 10;
/// Letters; shorter words stand in many texts by chance.
const SHORTEST: usize = 4;

/// A test of a text with a literal, and its answer.
pub(in crate::vm) struct SeenText<'v> {
    pub(in crate::vm) kind: TestKind,
    pub(in crate::vm) value: &'v str,
    pub(in crate::vm) wanted: &'v str,
    pub(in crate::vm) holds: bool,
}

/// What a run has in place of a text that a test looked for.
pub(in crate::vm) fn near_text(seen: &SeenText<'_>) -> Option<NearName> {
    let SeenText { kind, value, wanted, .. } = *seen;
    if value.len() > LONGEST_VALUE || value.len() < wanted.len() || !is_asked(kind, wanted) {
        return None;
    }
    let near = |what, found: &str| {
        Some(NearName { wanted: wanted.to_owned(), found: found.to_owned(), what, span: Span::default() })
    };
    if is_equality(kind) {
        let is_part = value != wanted && mentions_text(&value.to_lowercase(), &wanted.to_lowercase());
        return if is_part { near(NameCategory::Part, "") } else { None };
    }
    let (value, small) = (value.to_lowercase(), wanted.to_lowercase());
    if mentions_text(&value, &small) { near(NameCategory::LetterCase, &small) } else { None }
}

fn is_equality(kind: TestKind) -> bool {
    matches!(kind, TestKind::Equal | TestKind::Identical)
}

/// Whether a near text would be a sign of a slip. What is equal as a whole has to be more than a word: `ok` also stands in `not ok`. A word in
/// capitals is meant so.
pub(in crate::vm) fn is_asked(kind: TestKind, wanted: &str) -> bool {
    let plain =
        wanted.len() <= LONGEST_WANTED && wanted.chars().all(|sign| !sign.is_control() && sign != '"' && sign != '\\');
    let letters = |least: usize| wanted.chars().filter(|sign| sign.is_alphabetic()).count() >= least;
    plain
        && match kind {
            TestKind::Equal | TestKind::Identical => {
                letters(3) && wanted.chars().any(|sign| !sign.is_alphabetic() && sign != '_')
            }
            TestKind::Contains | TestKind::StartsWith | TestKind::EndsWith => {
                letters(SHORTEST) && wanted.chars().any(char::is_lowercase)
            }
            _ => false,
        }
}

/// The texts of rules, looked for in the text of a run before that is evaluated for them.
#[derive(Debug, Default)]
pub struct AskedTexts {
    texts: Vec<String>,
    finder: Option<AhoCorasick>,
}

impl AskedTexts {
    /// The texts that conditions and patterns of the programs look for.
    #[must_use]
    pub fn of_programs(programs: &[Program]) -> Self {
        let texts: BTreeSet<&str> = programs.iter().flat_map(asked_texts).collect();
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(&texts).ok();
        Self { finder: finder.filter(|_| !texts.is_empty()), texts: texts.into_iter().map(str::to_owned).collect() }
    }

    /// True if a text that `is_open` says is still looked for stands in the run, in any letter case.
    pub fn stand_in(&self, run: &str, mut is_open: impl FnMut(&str) -> bool) -> bool {
        let Some(finder) = &self.finder else { return false };
        let mut found = finder.find_iter(run).filter_map(|found| self.texts.get(found.pattern().as_usize()));
        found.any(|text| is_open(text))
    }
}

fn asked_texts(program: &Program) -> impl Iterator<Item = &str> {
    program.code.windows(2).filter_map(|ops| {
        let &[Op::Constant(literal), Op::Test(kind, _)] = ops else { return None };
        match program.constants.get(literal.0 as usize) {
            Some(Constant::Text(text)) if is_asked(kind, text) => Some(text.as_str()),
            _ => None,
        }
    })
}
