//! One row of the tables of meanings: what is written, and how that is said here.

use crate::hints::pattern::Pattern;
use crate::hints::view::View;
use std::ops::Range;

/// What a function makes of a statement: a part of its text, and what takes its place.
pub(super) type Rewriting = fn(&View<'_, '_>) -> Option<(Range<usize>, String)>;

/// How a part that is to be rewritten is known.
#[derive(Debug, Clone, Copy)]
pub(super) enum How {
    By(&'static str),
    Asked(Rewriting),
}

/// A row: a text with what it knows, and what takes the place of all that its pattern takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meaning {
    #[cfg_attr(not(test), expect(dead_code, reason = "it is there for the reader, and for the tests"))]
    pub example: &'static str,
    pub how: How,
    pub write: &'static str,
    /// What is wrong, where the words of the other tables would mislead.
    pub says: &'static str,
    /// False for a guess.
    pub certain: bool,
    /// True where what the other tables write is something else than was meant.
    pub over: bool,
}

/// A part of a statement that a pattern fits, and how it is written here.
pub(super) const fn say(example: &'static str, pattern: &'static str, write: &'static str) -> Meaning {
    Meaning { example, how: How::By(pattern), write, says: "", certain: true, over: false }
}

/// A part of a statement that a function knows.
pub(super) const fn asked(example: &'static str, function: Rewriting) -> Meaning {
    Meaning { example, how: How::Asked(function), write: "", says: "", certain: true, over: false }
}

impl Meaning {
    /// Something else may be meant.
    pub(super) const fn guess(mut self) -> Self {
        self.certain = false;
        self
    }

    /// What the other tables write is something else than was meant.
    pub(super) const fn over(mut self) -> Self {
        self.over = true;
        self
    }

    /// What is wrong.
    pub(super) const fn says(mut self, message: &'static str) -> Self {
        self.says = message;
        self
    }

    pub(super) fn pattern(&self) -> Option<Pattern> {
        match self.how {
            How::By(pattern) => Some(Pattern::new(pattern)),
            How::Asked(_) => None,
        }
    }

    /// The conditions that the pattern names.
    #[cfg(test)]
    pub(super) fn conditions(&self) -> impl Iterator<Item = &'static str> {
        let written = if let How::By(pattern) = self.how { pattern } else { "" };
        written.split(' ').filter_map(|part| part.strip_prefix('@'))
    }
}
