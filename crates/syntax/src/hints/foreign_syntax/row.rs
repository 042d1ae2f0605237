//! One row of the tables of meanings: what is written, and how that is said here.

use crate::hints::pattern::HintPattern;
use crate::hints::view::StatementView;
use std::ops::Range;

/// What a function makes of a statement: a part of its text, and what takes its place.
pub(super) type RewriteFn = fn(&StatementView<'_, '_>) -> Option<(Range<usize>, String)>;

/// How a part that is to be rewritten is known.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowMatcher {
    Pattern(&'static str),
    Function(RewriteFn),
}

/// A row: a text with what it knows, and what takes the place of all that its pattern takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct RewriteRow {
    #[cfg_attr(not(test), expect(dead_code, reason = "it is there for the reader, and for the tests"))]
    pub example: &'static str,
    pub matcher: RowMatcher,
    pub write: &'static str,
    /// What is wrong, where the words of the other tables would mislead.
    pub message: &'static str,
    /// False for a guess.
    pub certain: bool,
    /// True where what the other tables write is something else than was meant.
    pub overrides_fix: bool,
}

/// A part of a statement that a pattern fits, and how it is written here.
pub(super) const fn pattern_row(example: &'static str, pattern: &'static str, write: &'static str) -> RewriteRow {
    RewriteRow { example, matcher: RowMatcher::Pattern(pattern), write, message: "", certain: true, overrides_fix: false }
}

/// A part of a statement that a function knows.
pub(super) const fn function_row(example: &'static str, function: RewriteFn) -> RewriteRow {
    RewriteRow { example, matcher: RowMatcher::Function(function), write: "", message: "", certain: true, overrides_fix: false }
}

impl RewriteRow {
    /// Something else may be meant.
    pub(super) const fn as_guess(mut self) -> Self {
        self.certain = false;
        self
    }

    /// What the other tables write is something else than was meant.
    pub(super) const fn overriding_fix(mut self) -> Self {
        self.overrides_fix = true;
        self
    }

    /// What is wrong.
    pub(super) const fn with_message(mut self, message: &'static str) -> Self {
        self.message = message;
        self
    }

    pub(super) fn compile_pattern(&self) -> Option<HintPattern> {
        match self.matcher {
            RowMatcher::Pattern(pattern) => Some(HintPattern::new(pattern)),
            RowMatcher::Function(_) => None,
        }
    }

    /// The conditions that the pattern names.
    #[cfg(test)]
    pub(super) fn conditions(&self) -> impl Iterator<Item = &'static str> {
        let written = if let RowMatcher::Pattern(pattern) = self.matcher { pattern } else { "" };
        written.split(' ').filter_map(|part| part.strip_prefix('@'))
    }
}
