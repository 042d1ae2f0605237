//! The position of the cursor: the enclosing body, the part of the statement, and the text before it.
//!
//! Words and signs before the cursor are processed once, with a small state for each open bracket. Text after the cursor is ignored.

mod calls;
mod level;
mod place;
mod walk;

use super::chain::PathPrefix;
use super::entries::ObjectKind;
use averment_base::limits::Limits;
use averment_syntax::token::{Token, TokenKind, TokenScan, scan_tokens};
pub use calls::bracket_pairs;
pub(super) use calls::open_calls;
use std::ops::Range;
pub(super) use walk::TokenWalk;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnclosingBody {
    File,
    /// `rule`, a block or a group.
    Assertions,
    Suite,
    Case,
    /// `pre` and `post`.
    World,
    Invariant,
    Workspace,
    Runner,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct StepScope {
    /// Names of tools; they may be globs.
    pub tools: Vec<String>,
    /// A kind word, if it is not a call.
    pub kind: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum StatementPart {
    Start(EnclosingBody),
    /// A step pattern, or what may follow one.
    Step,
    Expression,
    /// The start of a pattern's parentheses: an argument of these steps.
    Arguments(StepScope),
    /// After the colon of the argument with this path.
    Value(StepScope, Vec<String>),
    Type,
    Severity,
    Use,
    /// The words of a `test` before its body: `expect`, the verdict, rule names.
    Test,
    Call,
    Object(ObjectKind),
    Within,
    /// A declared name, a number or a sentence: nothing to complete.
    Free,
}

/// A comparison of a whole value, which may have clauses after its right-hand side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ComparedWhole {
    #[default]
    Nothing,
    /// `calls match`: the expected calls come first.
    Calls,
    /// `VALUE like PART`.
    Part,
}

#[derive(Debug, Clone)]
struct BracketLevel {
    /// The opening bracket; empty for the file.
    open: &'static str,
    begins: StatementPart,
    mode: StatementPart,
    head: String,
    /// The statement's first token, as an index.
    start: usize,
    /// The steps that the statement named last.
    steps: StepScope,
    /// The last kind word in the list of steps, which texts in the list take over; empty if there is none.
    listed: String,
    /// The steps of the enclosing block, or of `each` before the colon.
    scope: Option<StepScope>,
    /// The steps of the enclosing block only.
    around: Option<StepScope>,
    commas: usize,
    key: String,
    behind_colon: bool,
}

#[derive(Debug)]
pub(super) struct CursorState<'t> {
    pub text: &'t str,
    /// The word being typed, all of it.
    pub range: Range<usize>,
    /// The part of it before the cursor.
    pub prefix: &'t str,
    pub mode: StatementPart,
    /// The first word of the statement.
    pub head: String,
    /// The construct around the cursor that may have its own clauses.
    pub compared: ComparedWhole,
    /// The last kind word in the list of steps around the cursor.
    pub listed: String,
    /// The steps in scope.
    pub scope: Option<StepScope>,
    /// The path before the word: `calls[*].args.`.
    pub chain: Option<PathPrefix>,
    /// True after something complete, where an operator or another word of the statement follows.
    pub behind_operand: bool,
    /// The last words before it.
    pub before: Vec<&'t str>,
    /// True if the cursor is in a string.
    pub in_text: bool,
    pub in_comment: bool,
    /// Names of quantifier variables, parameters of a `def` and bindings in the statement so far.
    pub locals: Vec<String>,
    /// True if `response` is available.
    pub in_invariant: bool,
}

pub(super) fn scan_bounded(text: &str) -> TokenScan {
    let limits = Limits::default();
    if text.len() > limits.rule_file_bytes {
        return TokenScan::default();
    }
    scan_tokens(text, limits.rule_depth, limits.rule_tokens)
}

impl<'t> CursorState<'t> {
    /// Analyzes a byte offset; an offset inside of a character is moved to its start.
    pub fn new(text: &'t str, at: usize) -> Self {
        let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let scan = scan_bounded(text);
        let in_comment = scan.remarks.iter().any(|remark| remark.start < at && at <= remark.end);
        let current = scan.tokens.iter().position(|token| token.start < at && at <= token.end && is_word(token));
        let inside =
            scan.tokens.iter().find(|token| is_string(token) && token.start < at && !closed_before(text, token, at));
        if let Some(token) = inside {
            return Self::string_cursor(text, at, *token, &scan);
        }
        let range = current.and_then(|index| scan.tokens.get(index)).map_or(at..at, |token| token.start..token.end);
        let range = if in_comment { slug_around(text, at) } else { range };
        let before = scan.tokens.iter().take_while(|token| token.end <= range.start).count();
        let mut walk = TokenWalk::new(text, scan.tokens.get(..before).unwrap_or(&[]));
        walk.run_to_end();
        walk.into_cursor(range, at, in_comment)
    }

    /// Analyzes an offset in a string: its interpolation is an expression, otherwise the purpose of the string decides.
    fn string_cursor(text: &'t str, at: usize, token: Token, scan: &TokenScan) -> Self {
        let written = text.get(token.start..at).unwrap_or("");
        let open = written.rfind("${").filter(|&open| !written.get(open..).is_some_and(|rest| rest.contains('}')));
        if let Some(open) = open.filter(|_| !written.starts_with('\'')) {
            let base = token.start + open + 2;
            let inner = CursorState::new(text.get(base..at).unwrap_or(""), at - base);
            let range = inner.range.start + base..inner.range.end + base;
            let prefix = text.get(range.start..at).unwrap_or("");
            let mode =
                if matches!(inner.mode, StatementPart::Start(_)) { StatementPart::Expression } else { inner.mode };
            return CursorState { text, range, prefix, mode, before: Vec::new(), ..inner };
        }
        let before = scan.tokens.iter().take_while(|other| other.end <= token.start).count();
        let mut walk = TokenWalk::new(text, scan.tokens.get(..before).unwrap_or(&[]));
        walk.run_to_end();
        let quotes = written.chars().take_while(|c| matches!(c, '"' | '\'')).count().clamp(1, 3);
        let start = (token.start + quotes.min(written.len())).min(at);
        let closed = text.get(at..token.end).unwrap_or("").trim_end_matches(['"', '\'']);
        let end = if token.kind == TokenKind::Text { at + closed.len() } else { at };
        Self { in_text: true, ..walk.into_cursor(start..end.max(at), at, false) }
    }
}

/// Returns the range of letters and dashes around an offset.
fn slug_around(text: &str, at: usize) -> Range<usize> {
    let other = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let start = text.get(..at).and_then(|front| front.rfind(other)).map_or(0, |found| found + 1);
    let start = (start..=at).find(|&start| text.is_char_boundary(start)).unwrap_or(at);
    let end = text.get(at..).and_then(|rest| rest.find(other)).map_or(text.len(), |found| found + at);
    start.min(at)..end
}

fn is_word(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Binding | TokenKind::Number)
}

fn is_string(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Text | TokenKind::OpenText | TokenKind::OpenInterpolation)
}

fn closed_before(text: &str, token: &Token, at: usize) -> bool {
    let line = text.get(token.start..at.max(token.start)).unwrap_or("");
    match token.kind {
        TokenKind::Text => at >= token.end,
        _ => at > token.end && line.contains('\n'),
    }
}
