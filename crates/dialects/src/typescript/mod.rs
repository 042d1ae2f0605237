//! Parses TypeScript into a tree that can be followed without running the program.
//!
//! The tree has literals, names, calls, functions and common statements, each with its location; types are skipped. Any other construct, such as a
//! class or a loop with a counter, is a [`tree::TsStatementKind::Other`] or [`tree::ExprKind::Other`] with a short description, and so is an
//! unreadable statement. Nothing but types and comments is missing from the tree.

mod expression;
mod lexer;
mod module;
mod object;
mod pattern;
mod statement;
pub mod tree;
mod types;

use averment_base::source::{FileId, Span};
use lexer::{LexerMark, TsLexer};
use std::collections::BTreeMap;
use tree::TsStatement;

const DEEP: usize = 100;

/// Parses the statements of a file.
#[must_use]
pub fn parse_statements(text: &str, file: FileId) -> Vec<TsStatement> {
    let mut parser = TsParser { lexer: TsLexer::new(text), file, depth: 0, closed: BTreeMap::new() };
    parser.statements_until_end()
}

/// Runs recursive work with enough stack.
pub(crate) fn on_its_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 1 << 20, work)
}

struct TsParser<'t> {
    lexer: TsLexer<'t>,
    file: FileId,
    depth: usize,
    /// Ends of brackets skipped before, by their start; `None` for a bracket that is never closed.
    closed: BTreeMap<usize, Option<LexerMark>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct UnreadPiece;

type ParseResult<T> = Result<T, UnreadPiece>;

impl TsParser<'_> {
    fn span_between(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    fn span_since(&self, start: usize) -> Span {
        self.span_between(start, self.lexer.last_end().max(start))
    }

    fn parse_deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if self.depth >= DEEP {
            return Err(UnreadPiece);
        }
        self.depth += 1;
        let read = on_its_stack(|| read(self));
        self.depth -= 1;
        read
    }

    /// Runs a parser; consumes nothing if it fails.
    fn try_parse<T>(&mut self, read: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        let (before, depth) = (self.lexer.take_mark(), self.depth);
        read(self).inspect_err(|UnreadPiece| {
            self.lexer.reset_to(before);
            self.depth = depth;
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use averment_base::source::{SourceFile, SourceMap};
    use std::time::Duration;

    fn parse_time(text: &str) -> Duration {
        let file = SourceMap::default().add_file(SourceFile::new("suite.ts", None, text));
        let timed = || {
            let began = clock::now();
            assert!(!parse_statements(text, file).is_empty());
            clock::now().saturating_sub(began)
        };
        (0..5).map(|_| timed()).min().unwrap_or_default()
    }

    #[test]
    fn brackets_that_are_never_closed_are_looked_for_once() {
        let plain = parse_time(&"a;\n".repeat(20_000));
        for open in ["(", "(\n", "(a,", "[(", "({a:", "(a?", "async(", "x=>("] {
            let nested = parse_time(&open.repeat(40_000 / open.len()));
            assert!(nested < plain * 8, "{open}: {nested:?}, and {plain:?} for statements");
        }
    }
}
