//! From text to the syntax tree.
//!
//! [`parse`] gives a tree for every text, also for one with mistakes: what could be read, and a diagnostic for each thing that could not.

pub mod ast;
mod grammar;
mod lower;
mod number;
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
    let trivia = Trivia::new(file, text, &scan.remarks);
    let (mut items, diagnostics) =
        grammar::with_stack(scan.depth.min(limits.rule_depth), || strict(text, file, &scan, limits));
    trivia.attach_docs(text, &mut items);
    (ast::File { items, allows: trivia.allows() }, trivia, diagnostics)
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

fn strict(text: &str, file: FileId, scan: &token::Scan, limits: &Limits) -> (Vec<ast::Item>, Diagnostics) {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let body = text.get(start..).unwrap_or("");
    if let Some(&at) = scan.too_deep.first() {
        return (Vec::new(), Diagnostics(vec![lower::too_deep(Span::new(file, at, at + 1), limits.rule_depth)]));
    }
    match grammar::read(Rule::file, body) {
        Ok(body_pair) => {
            let mut lower = Lower::new(body, Place::whole(file, start), limits.rule_depth);
            let items = lower.items(body_pair);
            (items, lower.diagnostics)
        }
        Err(failure) => {
            let at = start + failure.at;
            let message = "this cannot be read from here on";
            (Vec::new(), Diagnostics(vec![Diagnostic::new(Slug::Syntax, Span::new(file, at, at), message)]))
        }
    }
}
