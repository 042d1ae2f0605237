//! TypeScript as a tree, as far as a program can be followed without running it.
//!
//! Read are literals, names, calls, functions and the statements around them, each with its place; types are passed over. What is something
//! else, a class or a loop with a counter, stands in the tree as [`tree::StmtKind::Other`] or [`tree::ExprKind::Other`] with a word for what it
//! is, and so does a statement that cannot be read at all: nothing of a file is left out of the tree but types and comments.

mod expression;
mod lexer;
mod module;
mod object;
mod pattern;
mod statement;
pub mod tree;
mod types;

use averment_base::source::{FileId, Span};
use lexer::{Lexer, Mark};
use std::collections::BTreeMap;
use tree::Stmt;

/// So deep expressions and statements may stand in each other.
const DEEP: usize = 100;

/// The statements of a file.
#[must_use]
pub fn parse(text: &str, file: FileId) -> Vec<Stmt> {
    let mut parser = Parser { lexer: Lexer::new(text), file, depth: 0, closed: BTreeMap::new() };
    parser.statements_until_end()
}

/// Does something that calls itself, on as much of the stack as it takes.
pub(crate) fn on_its_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 1 << 20, work)
}

/// What is read, and how deep.
struct Parser<'t> {
    lexer: Lexer<'t>,
    file: FileId,
    depth: usize,
    /// Where brackets end that were passed over once, by where they begin.
    closed: BTreeMap<usize, Mark>,
}

/// Why a piece cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unread;

type Read<T> = Result<T, Unread>;

impl Parser<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    /// The place from a byte to the last token that was taken.
    fn since(&self, start: usize) -> Span {
        self.span(start, self.lexer.last_end().max(start))
    }

    /// Reads something one level further in.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEEP {
            return Err(Unread);
        }
        self.depth += 1;
        let read = on_its_stack(|| read(self));
        self.depth -= 1;
        read
    }

    /// Tries to read something; nothing is taken where that fails.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let (before, depth) = (self.lexer.mark(), self.depth);
        read(self).inspect_err(|Unread| {
            self.lexer.reset(before);
            self.depth = depth;
        })
    }
}
