//! Where the cursor stands: in which body, in which part of a statement, behind what.
//!
//! Words and signs before the cursor are followed once, with a small state for each open bracket. What stands behind the cursor has no say.

use super::chain::Chain;
use super::entries::{Entry, entry_of};
use crate::limits::Limits;
use crate::syntax::token::{Kind, Scan, Token, scan};
use crate::syntax::words as language;
use std::ops::Range;

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
        let quotes = written.chars().take_while(|c| matches!(c, '"' | '\'')).count().min(3).max(1);
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

/// Follows the tokens before the cursor.
pub(super) struct Walk<'a, 't> {
    text: &'t str,
    tokens: &'a [Token],
    levels: Vec<Level>,
}

impl Level {
    fn new(open: &'static str, begins: Mode, start: usize, scope: Option<Steps>) -> Self {
        let mode = begins.clone();
        let (head, key) = (String::new(), String::new());
        let around = scope.clone();
        let steps = Steps::default();
        Self { open, begins, mode, head, start, steps, scope, around, commas: 0, key, behind_colon: false }
    }

    fn begin(&mut self, start: usize) {
        self.mode = self.begins.clone();
        self.start = start;
        self.head.clear();
        self.steps = Steps::default();
        self.scope = self.around.clone();
        self.behind_colon = false;
    }

    /// Line ends end the statements in it.
    fn has_lines(&self) -> bool {
        matches!(self.begins, Mode::Start(_) | Mode::Object(_))
    }
}

impl<'a, 't> Walk<'a, 't> {
    pub(super) fn new(text: &'t str, tokens: &'a [Token]) -> Self {
        Self { text, tokens, levels: vec![Level::new("", Mode::Start(Body::File), 0, None)] }
    }

    pub(super) fn word(&self, index: usize) -> &'t str {
        self.tokens.get(index).and_then(|token| self.text.get(token.start..token.end)).unwrap_or("")
    }

    fn kind(&self, index: usize) -> Kind {
        self.tokens.get(index).map_or(Kind::LineEnd, |token| token.kind)
    }

    /// True when a token follows the one before without space.
    pub(super) fn touches(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.tokens.get(before));
        before.zip(self.tokens.get(index)).is_some_and(|(before, token)| before.end == token.start)
    }

    fn level(&mut self) -> Option<&mut Level> {
        self.levels.last_mut()
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    pub(super) fn token(&self, index: usize) -> Option<Token> {
        self.tokens.get(index).copied()
    }

    /// The word or sign before one, on the same line or not.
    pub(super) fn previous(&self, index: usize) -> &'t str {
        let before = (0..index).rev().find(|&before| self.kind(before) != Kind::LineEnd);
        before.map_or("", |before| self.word(before))
    }

    /// The part of the statement that the next token stands in.
    pub(super) fn mode(&self) -> Mode {
        self.levels.last().map_or(Mode::Start(Body::File), |level| level.mode.clone())
    }

    /// True for a field of the steps in scope.
    pub(super) fn step_has(&self, name: &str) -> bool {
        let Some(scope) = self.levels.last().and_then(|level| level.scope.as_ref()) else { return false };
        let kind = scope.kind.as_deref().and_then(super::member::kind_of).unwrap_or(crate::trace::run::Kind::Call);
        kind.fields().contains(&name)
    }

    /// True for a token behind something complete in its statement.
    pub(super) fn is_behind_operand(&self, index: usize) -> bool {
        let Some(level) = self.levels.last() else { return false };
        let Some(last) = index.checked_sub(1).filter(|&last| last >= level.start) else { return false };
        let head_only = last == level.start && level.mode == Mode::Step;
        self.is_complete(last, &level.mode) && !head_only && !opens_step(self.word(last))
    }

    /// True for a token behind which a value or a step is complete.
    fn is_complete(&self, last: usize, mode: &Mode) -> bool {
        matches!(self.kind(last), Kind::Word | Kind::Number | Kind::Binding | Kind::Text | Kind::Regex)
            && !language::is_joining(self.word(last))
            || matches!(self.word(last), ")" | "]")
            || matches!(self.word(last), "*" | "?") && *mode == Mode::Step
    }

    pub(super) fn run(&mut self) {
        self.run_with(&mut |_, _| {});
    }

    /// Follows all tokens; `look` is called at each one that is no line end, before it has its effect.
    pub(super) fn run_with(&mut self, look: &mut dyn FnMut(&Self, usize)) {
        for index in 0..self.tokens.len() {
            if self.kind(index) == Kind::LineEnd {
                self.line_end(index);
                continue;
            }
            self.give_up_brackets(index);
            look(self, index);
            match self.word(index) {
                "(" => self.open_round(index),
                "[" => self.open_square(index),
                "{" => self.open_curly(index),
                ")" => self.close("("),
                "]" => self.close("["),
                "}" => self.close("{"),
                ";" => self.end_statement(index),
                _ => self.advance(index),
            }
        }
    }

    fn line_end(&mut self, index: usize) {
        let goes_on = self.joins(index) || self.next_joins(index);
        let object = matches!(self.levels.last().map(|level| &level.begins), Some(Mode::Object(_)));
        if object || !goes_on {
            self.end_statement(index);
        }
    }

    fn end_statement(&mut self, index: usize) {
        if let Some(level) = self.levels.last_mut()
            && level.has_lines()
        {
            level.begin(index + 1);
        }
    }

    /// True when the last word before a line end asks for more.
    fn joins(&self, index: usize) -> bool {
        let Some(last) = index.checked_sub(1) else { return false };
        let sign = matches!(
            self.word(last),
            "," | ":" | "->" | "=" | "==" | "!=" | "===" | "<" | "<=" | ">" | ">=" | "+" | "|"
        );
        sign || matches!(self.word(last), "and" | "or" | "then" | "else" | "implies")
    }

    fn next_joins(&self, index: usize) -> bool {
        let next = (index..self.tokens.len()).find(|&next| self.kind(next) != Kind::LineEnd);
        next.is_some_and(|next| matches!(self.word(next), "and" | "or" | "->"))
    }

    /// A line that begins a declaration at the very left stands in no bracket, whatever is open before it.
    fn give_up_brackets(&mut self, index: usize) {
        let first = index == 0 || self.kind(index - 1) == Kind::LineEnd;
        let at = self.tokens.get(index).map_or(0, |token| token.start);
        let outermost = first && (at == 0 || self.text.as_bytes().get(at - 1) == Some(&b'\n'));
        let declares = language::DECLARATIONS.contains(&self.word(index)) && self.word(index) != "call";
        let named = matches!(self.kind(index + 1), Kind::Word | Kind::Text);
        if self.levels.len() > 1 && outermost && declares && named {
            self.levels.truncate(1);
            self.end_statement(index.saturating_sub(1));
        }
        let is_round = |level: &Level| matches!(level.open, "(" | "[") && !matches!(level.begins, Mode::Object(_));
        if first && self.levels.last().is_some_and(is_round) && self.begins_a_statement(index) {
            while self.levels.len() > 1 && self.levels.last().is_some_and(is_round) {
                self.levels.pop();
            }
            self.end_statement(index.saturating_sub(1));
        }
    }

    /// A first word of a line that cannot go on what stands in an open parenthesis.
    fn begins_a_statement(&self, index: usize) -> bool {
        let word = self.word(index);
        if language::STATEMENTS.contains(&word) && self.kind(index + 1) == Kind::Word {
            return true;
        }
        let before = (0..index).rev().find(|&before| self.kind(before) != Kind::LineEnd);
        let complete = before.is_some_and(|before| {
            !language::is_joining(self.word(before))
                && !matches!(
                    self.word(before),
                    "," | "(" | "[" | "{" | ":" | "|" | "==" | "<" | "<=" | ">" | ">=" | "!=" | "+" | "-"
                )
        });
        let begins = matches!(self.kind(index), Kind::Word | Kind::Text) && !language::is_joining(word);
        complete && begins && !language::goes_on_a_step(word)
    }

    fn push(&mut self, open: &'static str, begins: Mode, index: usize, scope: Option<Steps>) {
        self.levels.push(Level::new(open, begins, index + 1, scope));
    }

    fn open_round(&mut self, index: usize) {
        let touches = self.touches(index);
        let Some(level) = self.levels.last() else { return };
        let scope = level.scope.clone();
        let begins = match &level.mode {
            Mode::Step if touches || level.steps.kind.is_some() => Mode::Arguments(level.steps.clone()),
            Mode::Step => Mode::Step,
            _ => Mode::Expression,
        };
        let scope = if let Mode::Arguments(steps) = &begins { Some(steps.clone()) } else { scope };
        self.push("(", begins, index, scope);
    }

    fn open_square(&mut self, index: usize) {
        let Some(level) = self.levels.last() else { return };
        let begins = match &level.mode {
            Mode::Object(entry) => Mode::Object(entry.of_key(&level.key)),
            Mode::Value(steps, path) => Mode::Value(steps.clone(), path.clone()),
            _ => Mode::Expression,
        };
        let scope = level.scope.clone();
        self.push("[", begins, index, scope);
    }

    fn open_curly(&mut self, index: usize) {
        let Some(level) = self.levels.last() else { return };
        let is_object = matches!(level.mode, Mode::Object(_)) || level.open == "[" || level.open == "(";
        let body = super::entries::body_of(&level.head, &self.head_words(level.start, index));
        let scope = if level.head == "each" { Some(level.steps.clone()) } else { level.scope.clone() };
        let begins = match (&level.mode, body) {
            (Mode::Object(entry), _) if level.open == "[" => Mode::Object(*entry),
            (Mode::Object(entry), _) => Mode::Object(entry.of_key(&level.key)),
            (_, Some(body)) if !is_object => Mode::Start(body),
            _ => Mode::Object(entry_of(&level.head)),
        };
        let steps = level.steps.clone();
        let call = level.head == "call";
        self.push("{", begins, index, if call { Some(steps) } else { scope });
    }

    fn head_words(&self, start: usize, end: usize) -> Vec<&'t str> {
        (start..end.min(start + 3)).map(|index| self.word(index)).collect()
    }

    fn close(&mut self, sign: &str) {
        if let Some(depth) = self.levels.iter().rposition(|level| level.open == sign) {
            self.levels.truncate(depth.max(1));
        }
        // A body that ends is a statement that ends, unless modifiers follow on its line.
        if sign == "{"
            && let Some(level) = self.levels.last_mut()
            && matches!(level.begins, Mode::Start(_))
        {
            level.mode = Mode::Free;
        }
    }

    /// One word or sign of a statement.
    fn advance(&mut self, index: usize) {
        let word = self.word(index);
        let previous = index.checked_sub(1).map_or("", |before| self.word(before));
        let (kind, touches) = (self.kind(index), self.touches(index));
        let next_is_colon = self.word(index + 1) == ":";
        let Some(level) = self.level() else { return };
        level.commas += usize::from(word == ",");
        if let Mode::Object(_) = level.begins {
            level.entry(word, kind);
            return;
        }
        if level.head.is_empty() {
            level.head = word.trim_matches(['"', '\'']).to_owned();
        }
        match level.mode.clone() {
            Mode::Start(body) => level.first_word(body, word),
            Mode::Step => level.in_step(word, previous, kind, touches),
            Mode::Arguments(steps) => level.in_arguments(steps, word, kind),
            Mode::Value(steps, _) if word == "," => level.mode = Mode::Arguments(steps),
            Mode::Expression | Mode::Value(..) => level.in_expression(word, previous, next_is_colon),
            Mode::Type if word == "=" => level.mode = Mode::Expression,
            Mode::Free | Mode::Severity | Mode::Within => level.in_other(word),
            Mode::Call => level.steps.tools.push(word.trim_matches(['"', '\'']).to_owned()),
            _ => {}
        }
    }
}

/// The words of a step pattern's end behind which no further step stands.
fn is_modifier(word: &str) -> bool {
    language::MODIFIERS.contains(&word) && !matches!(word, "when" | "severity")
}

impl Level {
    fn entry(&mut self, word: &str, kind: Kind) {
        match word {
            ":" => self.behind_colon = true,
            "," => self.behind_colon = false,
            _ if !self.behind_colon && matches!(kind, Kind::Word | Kind::Text) => {
                self.key = word.trim_matches(['"', '\'']).to_owned();
            }
            _ => {}
        }
    }

    fn first_word(&mut self, body: Body, word: &str) {
        self.mode = match word {
            "not" => Mode::Start(body),
            "require" | "never" | "only" | "first" | "last" | "before" | "after" | "immediately" | "sequence"
            | "together" | "apart" | "either" | "flow" | "each" | "some" | "no" | "between" | "count" | "if"
            | "until" => Mode::Step,
            "when" => Mode::Expression,
            "use" => Mode::Use,
            "test" => Mode::Test,
            "call" => Mode::Call,
            "severity" => Mode::Severity,
            _ if language::DECLARATIONS.contains(&word) || language::MODIFIERS.contains(&word) => Mode::Free,
            "prompt" | "timeout" | "template" | "bootstrap" | "model" | "agent" if body != Body::File => Mode::Free,
            "at" | "file" | "args" => Mode::Free,
            _ => Mode::Expression,
        };
    }

    fn in_step(&mut self, word: &str, previous: &str, kind: Kind, touches: bool) {
        match word {
            "where" => {
                self.scope = Some(self.steps.clone());
                self.mode = Mode::Expression;
            }
            ":" => {
                self.scope = Some(self.steps.clone());
                self.mode = Mode::Expression;
            }
            "<" | "<=" | ">" | ">=" | "==" | "!=" if self.head == "count" => self.mode = Mode::Expression,
            "in" => self.mode = Mode::Expression,
            "when" => self.mode = Mode::Expression,
            "severity" => self.mode = Mode::Severity,
            "within" => self.mode = Mode::Within,
            "->" | "," | "then" | "iff" | "until" | "and" | "or" => self.steps = Steps::default(),
            "." if self.head == "some" || self.head == "count" => self.mode = Mode::Expression,
            _ if is_modifier(word) => self.mode = Mode::Free,
            "|" | "proposed" | "ok" | "failed" | "each" | "both" | "repeat" | "exactly" | "only" => {}
            _ if language::KINDS.contains(&word) => self.steps.kind = Some(word.to_owned()),
            _ if touches && !matches!(previous, "(" | ",") => {
                if let Some(last) = self.steps.tools.last_mut() {
                    last.push_str(word);
                }
            }
            _ if matches!(kind, Kind::Word | Kind::Text) && self.steps.kind.is_none() => {
                self.steps.tools.push(word.trim_matches(['"', '\'']).to_owned());
            }
            "*" | "?" => self.steps.tools.push(word.to_owned()),
            _ => {}
        }
    }

    fn in_arguments(&mut self, steps: Steps, word: &str, kind: Kind) {
        match word {
            ":" => {
                let path = self.key.split('.').map(str::to_owned).collect();
                self.mode = Mode::Value(steps, path);
            }
            "," => self.key.clear(),
            "." => self.key.push('.'),
            _ if kind == Kind::Word => {
                if !self.key.ends_with('.') {
                    self.key.clear();
                }
                self.key.push_str(word);
            }
            _ if self.key.is_empty() => {}
            _ => self.mode = Mode::Value(steps, self.key.split('.').map(str::to_owned).collect()),
        }
    }

    fn in_expression(&mut self, word: &str, previous: &str, next_is_colon: bool) {
        let complete = !language::is_joining(previous) && previous != ".";
        match word {
            "severity" if complete && !next_is_colon => self.mode = Mode::Severity,
            _ if complete && is_modifier(word) && !next_is_colon && self.open != "(" => self.mode = Mode::Free,
            _ => {}
        }
    }

    fn in_other(&mut self, word: &str) {
        let head = self.head.clone();
        match word {
            "=" if head == "def" && !self.steps.tools.is_empty() => self.mode = Mode::Step,
            "=" => self.mode = Mode::Expression,
            "step" if head == "def" => self.steps.tools.push(String::new()),
            ":" if head == "param" => self.mode = Mode::Type,
            "for" if head == "args" => self.mode = Mode::Step,
            "where" | "when" => self.mode = Mode::Expression,
            "severity" => self.mode = Mode::Severity,
            _ if is_modifier(word) => self.mode = Mode::Free,
            _ => {}
        }
        if self.mode == Mode::Step {
            self.steps = Steps::default();
        }
    }
}

impl<'t> Walk<'_, 't> {
    fn cursor(mut self, range: Range<usize>, at: usize, in_comment: bool) -> Cursor<'t> {
        let text = self.text;
        let count = self.tokens.len();
        let before: Vec<&'t str> = (count.saturating_sub(3)..count).map(|index| self.word(index)).collect();
        let locals = self.locals();
        let in_invariant = self.levels.iter().any(|level| level.begins == Mode::Start(Body::Invariant));
        let chain = Chain::before(text, self.tokens, range.start);
        let last = count.saturating_sub(1);
        let Some(level) = self.levels.pop() else {
            let (mode, head, scope) = (Mode::Start(Body::File), String::new(), None);
            let prefix = text.get(range.start..at).unwrap_or("");
            let (in_text, behind_operand) = (false, false);
            return Cursor {
                text,
                range,
                prefix,
                mode,
                head,
                scope,
                chain,
                behind_operand,
                before,
                in_text,
                in_comment,
                locals,
                in_invariant,
            };
        };
        let fresh = level.start > last || count == 0;
        let complete = self.is_complete(last, &level.mode);
        let head_only = last == level.start && level.mode == Mode::Step;
        let behind_operand = complete && !fresh && !head_only && !opens_step(self.word(last));
        let mode = match level.mode {
            Mode::Object(entry) if level.behind_colon => Mode::Object(entry.value_of(&level.key)),
            mode => mode,
        };
        let prefix = text.get(range.start..at).unwrap_or("");
        Cursor {
            text,
            range,
            prefix,
            mode,
            head: level.head,
            scope: level.scope,
            chain,
            behind_operand,
            before,
            in_text: false,
            in_comment,
            locals,
            in_invariant,
        }
    }

    /// `x` of `any x in …`, the parameters of a `def`, and the bindings of the statement with those of the blocks around it.
    fn locals(&self) -> Vec<String> {
        const BLOCKS: [&str; 9] = ["before", "after", "between", "each", "when", "any", "all", "none", "at"];
        let statement = self.levels.iter().rposition(|level| matches!(level.begins, Mode::Start(_))).unwrap_or(0);
        let mut own = self.levels.get(statement).map_or(0, |level| level.start);
        for level in self.levels.get(..statement).unwrap_or(&[]).iter().rev() {
            if !BLOCKS.contains(&level.head.as_str()) {
                break;
            }
            own = level.start;
        }
        let mut found: Vec<String> = Vec::new();
        for index in own..self.tokens.len() {
            let word = self.word(index);
            let quantified = matches!(word, "any" | "all" | "no" | "count") && self.word(index + 2) == "in";
            let name = match self.kind(index) {
                Kind::Binding => word,
                Kind::Word if quantified => self.word(index + 1),
                Kind::Word if self.is_parameter(index) => word,
                _ => continue,
            };
            if !found.iter().any(|known| known == name) {
                found.push(name.to_owned());
            }
        }
        found
    }

    /// A name between the parentheses behind `def NAME`.
    fn is_parameter(&self, index: usize) -> bool {
        let open = (index.saturating_sub(16)..index).rev().find(|&at| self.word(at) == "(");
        let closed = open.is_some_and(|open| (open..index).any(|at| self.word(at) == ")"));
        let def = |open: usize| {
            let head = open.checked_sub(2);
            head.is_some_and(|head| {
                self.word(head) == "def" || self.word(head) == "step" && head > 0 && self.word(head - 1) == "def"
            })
        };
        !closed && open.is_some_and(def)
    }
}

/// The innermost open parenthesis behind a name: where the name stands, what stands there, and how many commas were met.
pub(super) struct OpenCall {
    pub name: Range<usize>,
    /// Where the parenthesis ends.
    pub inside: usize,
    pub commas: usize,
    pub is_step: bool,
    pub is_piped: bool,
}

/// The open parentheses behind names at an offset, innermost first.
pub(super) fn open_calls(text: &str, at: usize) -> Vec<OpenCall> {
    let scan = tokens(text);
    let inside =
        scan.tokens.iter().find(|token| is_string(token) && token.start < at && !closed_before(text, token, at));
    if let Some(token) = inside
        && let Some(open) = text.get(token.start..at).and_then(|written| written.rfind("${"))
    {
        let base = token.start + open + 2;
        let inner = open_calls(text.get(base..at).unwrap_or(""), at - base);
        let moved = |call: OpenCall| OpenCall {
            name: call.name.start + base..call.name.end + base,
            inside: call.inside + base,
            ..call
        };
        return inner.into_iter().map(moved).collect();
    }
    let before = scan.tokens.iter().take_while(|token| token.end <= at).count();
    let mut walk = Walk::new(text, scan.tokens.get(..before).unwrap_or(&[]));
    walk.run();
    let outer = walk.levels.iter();
    let pairs = outer.zip(walk.levels.iter().skip(1)).rev();
    pairs
        .take_while(|(_, level)| !matches!(level.begins, Mode::Start(_)))
        .filter(|(_, level)| level.open == "(")
        .filter_map(|(outer, level)| {
            let open = level.start.checked_sub(1)?;
            let name = open.checked_sub(1).filter(|_| walk.touches(open))?;
            let token = walk.tokens.get(name).filter(|token| token.kind == Kind::Word)?;
            Some(OpenCall {
                name: token.start..token.end,
                inside: walk.tokens.get(open)?.end,
                commas: level.commas,
                is_step: outer.mode == Mode::Step,
                is_piped: name.checked_sub(1).is_some_and(|bar| walk.word(bar) == "|"),
            })
        })
        .collect()
}

/// Words in a step's place that stand in front of a step.
fn opens_step(word: &str) -> bool {
    matches!(
        word,
        "each"
            | "proposed"
            | "then"
            | "until"
            | "iff"
            | "both"
            | "repeat"
            | "exactly"
            | "only"
            | "immediately"
            | "before"
            | "after"
            | "between"
            | "and"
            | "or"
            | "where"
            | "for"
            | "not"
            | "never"
            | "require"
    )
}

/// The pairs of brackets of a text, as bytes from the opening one to behind the closing one.
pub fn brackets(text: &str) -> Vec<Range<usize>> {
    let scan = tokens(text);
    let mut open: Vec<&Token> = Vec::new();
    let mut found = Vec::new();
    for token in &scan.tokens {
        let closes = match text.get(token.start..token.end).unwrap_or("") {
            "(" | "[" | "{" => {
                open.push(token);
                continue;
            }
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => continue,
        };
        let fits = |one: &&&Token| text.get(one.start..one.end) == Some(closes);
        if let Some(depth) = open.iter().rev().take(64).position(|one| fits(&one)) {
            open.truncate(open.len() - depth);
            found.extend(open.pop().map(|first| first.start..token.end));
        }
    }
    found.sort_by_key(|pair| pair.start);
    found
}
