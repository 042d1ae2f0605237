//! Parses rule text into the syntax tree.
//!
//! [`parse`] returns a tree for every text, also for one with errors: the parts that could be read, and a diagnostic for each part that could not.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read files and measure time")
)]

pub mod ast;
pub mod concrete;
pub mod difference;
pub mod fmt;
pub mod glob_test;
mod grammar;
mod hints;
mod lower;
pub mod near_keywords;
mod number;
mod recover;
pub mod statements;
pub mod token;
pub mod trivia;
pub mod words;

use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceMap, Span};
use grammar::Rule;
pub use hints::{IntendedStatement, foreign_statement, intended_statement};
use lower::{SyntaxLowering, TextPlace};
pub use recover::{FileOutline, IncrementalParse, PreviousParse};
pub use trivia::{FileComment, Trivia};

/// Parses one file; returns its tree, its comments and its diagnostics. Names are not resolved; that is the checker's task.
///
/// Never fails and never panics: items with errors are omitted, and work and memory are bounded by `limits`. The REPL uses it too: a statement or an
/// expression is a file with one item.
#[must_use]
pub fn parse(map: &SourceMap, file: FileId, limits: &Limits) -> (ast::RuleFile, Trivia, Diagnostics) {
    let Some(source) = map.get(file) else { return Default::default() };
    let text: &str = &source.text;
    let scan = match scan_file(text, file, limits) {
        Ok(scan) => scan,
        Err(refusal) => return (ast::RuleFile::default(), Trivia::default(), refusal),
    };
    let trivia = Trivia::new(file, text, &scan.remarks);
    let read = grammar::with_stack(scan.depth.min(limits.rule_depth), || parse_file(file, text, scan, limits));
    let recover::RecoveredFile { mut items, unread, diagnostics } = read;
    trivia.attach_docs(text, &mut items);
    (ast::RuleFile { items, allows: trivia.allow_comments(), unread }, trivia, diagnostics)
}

/// Parses a file that was parsed before in a similar form. Only the statements between the first and the last changed one are read; all others are
/// moved to their new locations. Returns the result of [`parse`], and a record for the next call. Without a previous result, everything is read.
#[must_use]
pub fn parse_incremental(
    map: &SourceMap,
    file: FileId,
    limits: &Limits,
    before: Option<PreviousParse<'_>>,
) -> (ast::RuleFile, IncrementalParse) {
    let empty = |diagnostics| IncrementalParse { diagnostics, ..IncrementalParse::default() };
    let Some(source) = map.get(file) else { return (ast::RuleFile::default(), IncrementalParse::default()) };
    let text: &str = &source.text;
    let scan = match scan_file(text, file, limits) {
        Ok(scan) => scan,
        Err(refusal) => return (ast::RuleFile::default(), empty(refusal)),
    };
    let trivia = Trivia::new(file, text, &scan.remarks);
    let depth = scan.depth.min(limits.rule_depth);
    let mut parsed = grammar::with_stack(depth, || recover::read_incremental(file, text, scan, limits, before));
    let mut items = std::mem::take(&mut parsed.items);
    trivia.attach_docs(text, &mut items);
    (ast::RuleFile { items, allows: trivia.allow_comments(), unread: std::mem::take(&mut parsed.unread) }, parsed)
}

/// Parses a file that contains exactly one expression, such as a parameter value. Returns `None` with at least one diagnostic if it contains anything
/// else.
#[must_use]
pub fn parse_expression(map: &SourceMap, file: FileId, limits: &Limits) -> (Option<ast::Expr>, Diagnostics) {
    let Some(source) = map.get(file) else { return Default::default() };
    let text: &str = &source.text;
    let scan = match scan_file(text, file, limits) {
        Ok(scan) => scan,
        Err(refusal) => return (None, refusal),
    };
    grammar::with_stack(scan.depth.min(limits.rule_depth), || {
        let (start, body) = without_mark(text);
        if let (true, Ok(pair)) =
            (scan.too_deep.is_empty(), grammar::parse_rule(Rule::lone_expression, body, limits.rule_steps))
        {
            let mut lower = SyntaxLowering::new(body, TextPlace::whole_text(file, start), limits);
            let expression = lower.lower_lone_expression(pair);
            return (expression, lower.diagnostics);
        }
        let mut diagnostics = recover::recover_file(file, text, scan, limits).diagnostics;
        if diagnostics.0.is_empty() {
            let message = "an expression is expected here, and this is none";
            let help = "write a value such as `10`, `\"text\"` or `output.status == \"ok\"`";
            diagnostics
                .push(Diagnostic::new(Slug::Syntax, Span::new(file, start, text.len()), message).with_help(help));
        }
        (None, diagnostics)
    })
}

/// Returns true if the strict grammar alone accepts a whole file; the baseline for parsing speed.
#[must_use]
pub fn is_file(text: &str) -> bool {
    let Limits { rule_depth, rule_steps, .. } = Limits::default();
    grammar::with_stack(rule_depth, || grammar::parse_rule(Rule::file, without_mark(text).1, rule_steps).is_ok())
}

/// Returns true if typed text continues on the next line: it ends inside of brackets, in a string or after an operator.
#[must_use]
pub fn is_unfinished(text: &str, limits: &Limits) -> bool {
    scan_file(text, FileId(0), limits).is_ok_and(|scan| recover::is_unfinished(text, scan))
}

/// Tries the strict grammar first; if it rejects the file, parses statement by statement.
fn parse_file(file: FileId, text: &str, scan: token::TokenScan, limits: &Limits) -> recover::RecoveredFile {
    let (start, body) = without_mark(text);
    if let (true, Ok(pair)) = (scan.too_deep.is_empty(), grammar::parse_rule(Rule::file, body, limits.rule_steps)) {
        let mut lower = SyntaxLowering::new(body, TextPlace::whole_text(file, start), limits);
        let items = lower.lower_items(pair);
        return recover::RecoveredFile { items, unread: Vec::new(), diagnostics: lower.diagnostics };
    }
    recover::recover_file(file, text, scan, limits)
}

fn without_mark(text: &str) -> (usize, &str) {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    (text.len() - body.len(), body)
}

fn scan_file(text: &str, file: FileId, limits: &Limits) -> Result<token::TokenScan, Diagnostics> {
    let refuse = |slug: Slug, start: usize, end: usize, message: String, help: &str| {
        Err(Diagnostics(vec![Diagnostic::new(slug, Span::new(file, start, end), message).with_help(help)]))
    };
    let split = "split it, and join the parts with `use`";
    if text.len() > limits.rule_file_bytes {
        let message = format!("this file has {} bytes, more than the limit of {}", text.len(), limits.rule_file_bytes);
        return refuse(Slug::TooLarge, 0, 0, message, split);
    }
    if let Some(zero) = memchr::memchr(0, text.as_bytes()) {
        let message = "this file is not text: it holds a zero byte".to_owned();
        return refuse(Slug::NotText, zero, zero + 1, message, "rules are written in plain UTF-8 text");
    }
    let scan = token::scan_tokens(text, limits.rule_depth, limits.rule_tokens);
    match scan.tokens.get(limits.rule_tokens) {
        Some(token) => {
            let message = format!("this file has more than {} words and signs", limits.rule_tokens);
            refuse(Slug::TooLarge, token.start, token.end, message, split)
        }
        None => Ok(scan),
    }
}
