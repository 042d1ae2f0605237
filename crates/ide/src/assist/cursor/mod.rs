//! Where the cursor stands: in which body, in which part of a statement, behind what.
//!
//! Words and signs before the cursor are followed once, with a small state for each open bracket. What stands behind the cursor has no say.

mod calls;
mod level;
mod place;
mod walk;

use super::chain::Chain;
use super::entries::Entry;
use averment_base::limits::Limits;
use averment_syntax::token::{Kind, Scan, Token, scan};
pub use calls::brackets;
pub(super) use calls::open_calls;
use std::ops::Range;
pub(super) use walk::Walk;

/// The body that something stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// The file itself.
    File,
    /// `rule`, a block, a group.
    Assertions,
    /// `suite`.
    Suite,
    /// `case`.
    Case,
    /// `pre` and `post`.
    World,
    /// `invariant`.
    Invariant,
    /// `workspace`.
    Workspace,
    /// `runner`.
    Runner,
}

/// The steps whose fields are in scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Steps {
    /// Names of tools, globs among them.
    pub tools: Vec<String>,
    /// A kind word, where it is no call.
    pub kind: Option<String>,
}

/// The part of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mode {
    /// Nothing of the statement is written.
    Start(Body),
    /// A step pattern, or what may follow one.
    Step,
    /// An expression.
    Expression,
    /// What a pattern's parentheses begin with: an argument of these steps.
    Arguments(Steps),
    /// Behind the colon of an argument with this path.
    Value(Steps, Vec<String>),
    /// The type of a parameter.
    Type,
    /// Behind `severity`.
    Severity,
    /// Behind `use`.
    Use,
    /// The words of a `test` before its body: `expect`, the verdict, names of rules.
    Test,
    /// Behind `call`: a tool.
    Call,
    /// Keys and values of an object.
    Object(Entry),
    /// Behind `within`.
    Within,
    /// The name that is being declared, a number, a sentence.
    Free,
}

/// An open bracket, or the file.
#[derive(Debug, Clone)]
struct Level {
    /// The sign that opened it; empty for the file.
    open: &'static str,
    /// What its statements begin as.
    begins: Mode,
    mode: Mode,
    /// The first word of the statement.
    head: String,
    /// Where the statement starts, as a number of a token.
    start: usize,
    /// The steps that the statement named last.
    steps: Steps,
    /// The last kind word of the list of steps, with which texts in it go on; empty where there is none.
    listed: String,
    /// The steps of the block around, or of `each` before the colon.
    scope: Option<Steps>,
    /// The steps of the block around alone.
    around: Option<Steps>,
    /// Commas so far.
    commas: usize,
    /// The key in front of the colon, in an object.
    key: String,
    /// Whether a colon was met in this entry.
    behind_colon: bool,
}

/// What stands at the cursor.
#[derive(Debug)]
pub(super) struct Cursor<'t> {
    pub text: &'t str,
    /// The word that is being written, all of it.
    pub range: Range<usize>,
    /// The part of it before the cursor.
    pub prefix: &'t str,
    pub mode: Mode,
    /// The first word of the statement.
    pub head: String,
    /// The last kind word of the list of steps that the cursor stands in.
    pub listed: String,
    /// The steps in scope.
    pub scope: Option<Steps>,
    /// A path in front of the word: `calls[*].args.`.
    pub chain: Option<Chain>,
    /// True behind something complete, where an operator or another word of the statement follows.
    pub behind_operand: bool,
    /// The last words before it.
    pub before: Vec<&'t str>,
    /// A string that the cursor stands in: its text so far.
    pub in_text: bool,
    pub in_comment: bool,
    /// Names of quantifier variables, parameters of a `def` and bindings in the statement so far.
    pub locals: Vec<String>,
    /// Whether `response` means something.
    pub in_invariant: bool,
}

/// What is read of a text with the place that is asked for.
pub(super) fn tokens(text: &str) -> Scan {
    let limits = Limits::default();
    if text.len() > limits.rule_file_bytes {
        return Scan::default();
    }
    scan(text, limits.rule_depth, limits.rule_tokens)
}

impl<'t> Cursor<'t> {
    /// Looks at a byte offset; an offset inside a character is taken back to its start.
    pub fn new(text: &'t str, at: usize) -> Self {
        let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let scan = tokens(text);
        let in_comment = scan.remarks.iter().any(|remark| remark.start < at && at <= remark.end);
        let current = scan.tokens.iter().position(|token| token.start < at && at <= token.end && is_word(token));
        let inside =
            scan.tokens.iter().find(|token| is_string(token) && token.start < at && !closed_before(text, token, at));
        if let Some(token) = inside {
            return Self::in_string(text, at, *token, &scan);
        }
        let range = current.and_then(|index| scan.tokens.get(index)).map_or(at..at, |token| token.start..token.end);
        let range = if in_comment { slug_around(text, at) } else { range };
        let before = scan.tokens.iter().take_while(|token| token.end <= range.start).count();
        let mut walk = Walk::new(text, scan.tokens.get(..before).unwrap_or(&[]));
        walk.run();
        walk.cursor(range, at, in_comment)
    }

    /// In a string: in an interpolation as in any expression, otherwise as what the string is for.
    fn in_string(text: &'t str, at: usize, token: Token, scan: &Scan) -> Self {
        let written = text.get(token.start..at).unwrap_or("");
        let open = written.rfind("${").filter(|&open| !written.get(open..).is_some_and(|rest| rest.contains('}')));
        if let Some(open) = open.filter(|_| !written.starts_with('\'')) {
            let base = token.start + open + 2;
            let inner = Cursor::new(text.get(base..at).unwrap_or(""), at - base);
            let range = inner.range.start + base..inner.range.end + base;
            let prefix = text.get(range.start..at).unwrap_or("");
            let mode = if matches!(inner.mode, Mode::Start(_)) { Mode::Expression } else { inner.mode };
            return Cursor { text, range, prefix, mode, before: Vec::new(), ..inner };
        }
        let before = scan.tokens.iter().take_while(|other| other.end <= token.start).count();
        let mut walk = Walk::new(text, scan.tokens.get(..before).unwrap_or(&[]));
        walk.run();
        let quotes = written.chars().take_while(|c| matches!(c, '"' | '\'')).count().clamp(1, 3);
        let start = (token.start + quotes.min(written.len())).min(at);
        let closed = text.get(at..token.end).unwrap_or("").trim_end_matches(['"', '\'']);
        let end = if token.kind == Kind::Text { at + closed.len() } else { at };
        Self { in_text: true, ..walk.cursor(start..end.max(at), at, false) }
    }
}

/// The letters and dashes around an offset.
fn slug_around(text: &str, at: usize) -> Range<usize> {
    let other = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let start = text.get(..at).and_then(|front| front.rfind(other)).map_or(0, |found| found + 1);
    let start = (start..=at).find(|&start| text.is_char_boundary(start)).unwrap_or(at);
    let end = text.get(at..).and_then(|rest| rest.find(other)).map_or(text.len(), |found| found + at);
    start.min(at)..end
}

/// A token that a person writes letter by letter.
fn is_word(token: &Token) -> bool {
    matches!(token.kind, Kind::Word | Kind::Binding | Kind::Number)
}

fn is_string(token: &Token) -> bool {
    matches!(token.kind, Kind::Text | Kind::OpenText | Kind::OpenInterpolation)
}

/// True for a string that is complete before the offset.
fn closed_before(text: &str, token: &Token, at: usize) -> bool {
    let line = text.get(token.start..at.max(token.start)).unwrap_or("");
    match token.kind {
        Kind::Text => at >= token.end,
        _ => at > token.end && line.contains('\n'),
    }
}
