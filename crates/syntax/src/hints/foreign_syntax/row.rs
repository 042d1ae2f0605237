//! One row of the tables of meanings: what is written, and how that is said here.

use crate::hints::pattern::HintPattern;
use crate::hints::view::StatementView;
use std::ops::Range;

pub(super) type RewriteFn = fn(&StatementView<'_, '_>) -> Option<(Range<usize>, String)>;

#[derive(Debug, Clone, Copy)]
pub(super) enum RowMatcher {
    Pattern(&'static str),
    Function(RewriteFn),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RewriteRow {
    #[cfg_attr(not(test), expect(dead_code, reason = "it is there for the reader, and for the tests"))]
    pub example: &'static str,
    pub matcher: RowMatcher,
    pub write: &'static str,
    /// The error message, where those of other tables would mislead.
    pub message: &'static str,
    /// False for a guess.
    pub certain: bool,
    /// True where what the other tables write is something else than was meant.
    pub overrides_fix: bool,
}

pub(super) const fn pattern_row(example: &'static str, pattern: &'static str, write: &'static str) -> RewriteRow {
    RewriteRow {
        example,
        matcher: RowMatcher::Pattern(pattern),
        write,
        message: "",
        certain: true,
        overrides_fix: false,
    }
}

pub(super) const fn function_row(example: &'static str, function: RewriteFn) -> RewriteRow {
    RewriteRow {
        example,
        matcher: RowMatcher::Function(function),
        write: "",
        message: "",
        certain: true,
        overrides_fix: false,
    }
}

impl RewriteRow {
    /// Something else may be meant.
    pub(super) const fn as_guess(mut self) -> Self {
        self.certain = false;
        self
    }

    /// The other tables would write something that was not meant.
    pub(super) const fn overriding_fix(mut self) -> Self {
        self.overrides_fix = true;
        self
    }

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

    #[cfg(test)]
    pub(super) fn conditions(&self) -> impl Iterator<Item = &'static str> {
        let written = if let RowMatcher::Pattern(pattern) = self.matcher { pattern } else { "" };
        written.split(' ').filter_map(|part| part.strip_prefix('@'))
    }
}
