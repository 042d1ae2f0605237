//! From text to the syntax tree.
//!
//! [`parse`] gives a tree for every text, also for one with mistakes: what could be read, and a diagnostic for each thing that could not.

pub mod ast;
mod grammar;
mod lower;
mod mistakes;
mod number;
mod recover;
mod token;
pub mod trivia;
pub mod words;

use crate::diagnostic::{Diagnostic, Diagnostics, Slug};
use crate::limits::Limits;
use crate::source::{FileId, SourceMap, Span};
use grammar::Rule;
use lower::{Lower, Place};
pub use trivia::{Comment, Trivia};

/// Reads one file: its tree, its comments, and what is wrong with it. Names are not looked at; that is `check`'s work.
///
/// Never fails and never panics: items with mistakes are left out, and work and memory are bounded by `limits`.
#[must_use]
pub fn parse(map: &SourceMap, file: FileId, limits: &Limits) -> (ast::File, Trivia, Diagnostics) {
    let Some(source) = map.get(file) else { return Default::default() };
    let text: &str = &source.text;
    if let Some(refusal) = refused(text, file, limits) {
        return (ast::File::default(), Trivia::default(), Diagnostics(vec![refusal]));
    }
    let scan = token::scan(text, limits.rule_depth);
    if let Some(token) = scan.tokens.get(limits.rule_tokens) {
        let span = Span::new(file, token.start, token.end);
        let message = format!("this file has more than {} words and signs", limits.rule_tokens);
        let refusal = Diagnostic::new(Slug::TooLarge, span, message).help("split it, and join the parts with `use`");
        return (ast::File::default(), Trivia::default(), Diagnostics(vec![refusal]));
    }
    let trivia = Trivia::new(file, text, &scan.remarks);
    let read = grammar::with_stack(scan.depth.min(limits.rule_depth), || read(file, text, scan, limits));
    let recover::Recovered { mut items, unread, diagnostics } = read;
    trivia.attach_docs(text, &mut items);
    (ast::File { items, allows: trivia.allows(), unread }, trivia, diagnostics)
}

/// The whole file by the strict grammar; where that refuses it, statement by statement.
fn read(file: FileId, text: &str, scan: token::Scan, limits: &Limits) -> recover::Recovered {
    if scan.too_deep.is_empty() {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let body = text.get(start..).unwrap_or("");
        if let Ok(pair) = grammar::read(Rule::file, body) {
            let mut lower = Lower::new(body, Place::whole(file, start), limits.rule_depth);
            let items = lower.items(pair);
            return recover::Recovered { items, unread: Vec::new(), diagnostics: lower.diagnostics };
        }
    }
    recover::recover(file, text, scan, limits)
}

/// What is not looked at any further.
fn refused(text: &str, file: FileId, limits: &Limits) -> Option<Diagnostic> {
    if text.len() > limits.rule_file_bytes {
        let message = format!("this file has {} bytes, more than the limit of {}", text.len(), limits.rule_file_bytes);
        return Some(
            Diagnostic::new(Slug::TooLarge, Span::new(file, 0, 0), message)
                .help("split it, and join the parts with `use`"),
        );
    }
    let zero = memchr::memchr(0, text.as_bytes())?;
    let message = "this file is not text: it holds a zero byte";
    Some(
        Diagnostic::new(Slug::NotText, Span::new(file, zero, zero + 1), message)
            .help("rules are written in plain UTF-8 text"),
    )
}
