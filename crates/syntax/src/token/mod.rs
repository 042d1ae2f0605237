//! A tokenizer that never fails: it reads any text in one pass.
//!
//! The grammar decides what is valid. This tokenizer serves the parts that have to work where the grammar fails: comments, the nesting limit, and the
//! segments of a file with mistakes. A string is one token, including its interpolations.

mod length;
mod levels;

use super::near_keywords;
use length::{is_word_start, number_length, regex_length, word_length};
use levels::{NestingLevels, OpenBracket, QuoteKind};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Letters, digits and `_`.
    Word,
    /// A number with its unit; an amount of money.
    Number,
    /// `$x`.
    Binding,
    /// A closed string.
    Text,
    /// A string that is not closed on its line.
    OpenText,
    /// A string with a `${` that is not closed.
    OpenInterpolation,
    /// A closed regular expression with its flags.
    Regex,
    /// A regular expression that is not closed on its line.
    OpenRegex,
    /// A sign of the language, or one that is commonly mistaken for one.
    Sign,
    /// The end of a line.
    LineEnd,
    /// A character with no meaning outside strings.
    Odd,
}

/// A token with its byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// The offset of its first byte.
    pub start: usize,
    /// The offset after its last byte.
    pub end: usize,
}

/// A comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommentToken {
    /// The offset of its first byte.
    pub start: usize,
    /// The offset after its last byte.
    pub end: usize,
}

/// The result of scanning a text.
#[derive(Debug, Default)]
pub struct TokenScan {
    /// The tokens, in order.
    pub tokens: Vec<Token>,
    /// The comments, in order.
    pub remarks: Vec<CommentToken>,
    /// The maximum nesting of brackets, prefix operators and quantifiers.
    pub depth: usize,
    /// The offsets where nesting exceeds the limit, one for each excursion.
    pub too_deep: Vec<usize>,
}

const LONG_SIGNS: &[&str] =
    &["===", "!==", "...", "->", "=>", "==", "!=", "<=", ">=", "..", "**", "&&", "||", "<-", "??", "++", "//", "/*"];

/// Words after which `/` begins a regular expression.
const BEFORE_REGEX: &[&str] = &[
    "matches",
    "match",
    "in",
    "contains",
    "contain",
    "icontains",
    "mentions",
    "mention",
    "and",
    "or",
    "not",
    "implies",
    "if",
    "then",
    "else",
    "when",
    "where",
    "with",
    "is",
    "all",
    "any",
    "none",
    "command",
    "http",
    "user",
    "assistant",
    "thinking",
    "message",
    "read",
    "write",
    "skill",
    "span",
    "handover",
];

/// Scans all of `text`, or `most` + 1 tokens if there are more; nesting is checked against `limit`.
pub fn scan_tokens(text: &str, limit: usize, most: usize) -> TokenScan {
    let mut scanner =
        TokenScanner { text, at: 0, levels: NestingLevels::new(limit), scan: TokenScan::default(), last: None };
    if text.starts_with('\u{feff}') {
        scanner.at = '\u{feff}'.len_utf8();
    }
    while scanner.scan.tokens.len() <= most && scanner.scan_next() {}
    let (depth, too_deep) = scanner.levels.into_depths();
    TokenScan { depth, too_deep, ..scanner.scan }
}

struct TokenScanner<'t> {
    text: &'t str,
    at: usize,
    levels: NestingLevels,
    scan: TokenScan,
    /// The last token that is not a line end, also inside of an interpolation.
    last: Option<Token>,
}

impl<'t> TokenScanner<'t> {
    fn rest_text(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn word_of(&self, token: Option<Token>) -> &'t str {
        token.and_then(|token| self.text.get(token.start..token.end)).unwrap_or("")
    }

    fn scan_next(&mut self) -> bool {
        let rest = self.rest_text();
        let Some(first) = rest.chars().next() else { return self.finish() };
        match first {
            ' ' | '\t' | '\r' => self.at += 1,
            '\n' => self.line_end(),
            '#' => self.scan_comment(rest),
            '"' if rest.starts_with("\"\"\"") => self.open_text(QuoteKind::Block),
            '"' => self.open_text(QuoteKind::Line),
            '\'' => self.raw_text(rest),
            '0'..='9' => self.scan_number(rest, 0),
            '$' if rest.get(1..).is_some_and(|behind| behind.starts_with(|c: char| c.is_ascii_digit())) => {
                self.scan_number(rest, 1)
            }
            '$' if rest.get(1..).is_some_and(|behind| behind.starts_with(is_word_start)) => {
                let length = 1 + word_length(rest.get(1..).unwrap_or(""));
                self.push_token(TokenKind::Binding, self.at, self.at + length);
            }
            c if is_word_start(c) => self.scan_word(rest),
            '/' if self.regex_can_begin() && self.scan_regex(rest) => {}
            c if c.is_ascii_punctuation() => self.scan_sign(rest),
            c => self.push_token(TokenKind::Odd, self.at, self.at + c.len_utf8()),
        }
        true
    }

    /// Turns a string with open interpolations into a token.
    fn finish(&mut self) -> bool {
        if let Some((index, start)) = self.levels.outermost_value(|_| true) {
            self.levels.close_to(index);
            self.push_token(TokenKind::OpenInterpolation, start, self.text.trim_end().len().max(start + 1));
        }
        false
    }

    fn push_token(&mut self, kind: TokenKind, start: usize, end: usize) {
        self.at = end;
        let token = Token { kind, start, end };
        if !self.levels.in_value() {
            self.scan.tokens.push(token);
        }
        if kind != TokenKind::LineEnd {
            self.levels.count_token(self.text, token, self.last);
            self.last = Some(token);
        }
    }

    fn line_end(&mut self) {
        if let Some((index, start)) = self.levels.outermost_value(|quote| quote == QuoteKind::Line) {
            let end = self.text.get(start..self.at).map_or(self.at, |line| start + line.trim_end().len());
            self.levels.close_to(index);
            let at = self.at;
            self.push_token(TokenKind::OpenInterpolation, start, end);
            self.at = at;
        }
        self.push_token(TokenKind::LineEnd, self.at, self.at + 1);
        self.levels.line_end();
    }

    fn scan_comment(&mut self, rest: &str) {
        let length = rest.find('\n').unwrap_or(rest.len());
        let end = self.at + rest.get(..length).map_or(0, |line| line.trim_end().len());
        self.scan.remarks.push(CommentToken { start: self.at, end });
        self.at += length;
    }

    fn scan_word(&mut self, rest: &str) {
        self.push_token(TokenKind::Word, self.at, self.at + word_length(rest));
    }

    fn scan_number(&mut self, rest: &str, skip: usize) {
        self.push_token(TokenKind::Number, self.at, self.at + number_length(rest, skip));
    }

    fn raw_text(&mut self, rest: &str) {
        let line = rest.get(1..).unwrap_or("").find(['\'', '\n']).map(|at| at + 1);
        match line {
            Some(at) if rest.as_bytes().get(at) == Some(&b'\'') => {
                self.push_token(TokenKind::Text, self.at, self.at + at + 1)
            }
            _ => self.open_line(rest, TokenKind::OpenText),
        }
    }

    fn open_line(&mut self, rest: &str, kind: TokenKind) {
        let line = rest.lines().next().unwrap_or(rest);
        self.push_token(kind, self.at, self.at + line.trim_end().len().max(1));
    }

    fn open_text(&mut self, quote: QuoteKind) {
        let start = self.at;
        self.at += if quote == QuoteKind::Block { 3 } else { 1 };
        self.text_from(start, quote);
    }

    fn text_from(&mut self, start: usize, quote: QuoteKind) {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            match bytes.get(at) {
                Some(b'\\') if bytes.get(at + 1) != Some(&b'\n') => at += 1 + self.character_length(at + 1),
                Some(b'"') if quote == QuoteKind::Line => return self.push_token(TokenKind::Text, start, at + 1),
                Some(b'"') if self.text.get(at..).is_some_and(|rest| rest.starts_with("\"\"\"")) => {
                    return self.push_token(TokenKind::Text, start, at + 3);
                }
                Some(b'$') if bytes.get(at + 1) == Some(&b'{') => {
                    self.at = at + 2;
                    self.last = None;
                    return self.open_bracket(OpenBracket::Value { start, quote });
                }
                Some(b'\n') if quote == QuoteKind::Line => return self.unclosed_text(start, at),
                None => return self.unclosed_text(start, at),
                Some(_) => at += 1,
            }
        }
    }

    fn character_length(&self, at: usize) -> usize {
        self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    }

    fn unclosed_text(&mut self, start: usize, at: usize) {
        let end = self.text.get(start..at).map_or(at, |line| start + line.trim_end().len().max(1));
        match self.levels.outermost_value(|quote| quote == QuoteKind::Line) {
            Some((index, outer)) => {
                self.levels.close_to(index);
                self.push_token(TokenKind::OpenInterpolation, outer, end);
            }
            None => self.push_token(TokenKind::OpenText, start, end),
        }
    }

    /// True where a value is expected, so that `/` is not division.
    fn regex_can_begin(&self) -> bool {
        let Some(last) = self.last else { return true };
        match last.kind {
            TokenKind::Word if self.is_field(last) => false,
            TokenKind::Word => BEFORE_REGEX.contains(&self.word_of(Some(last))) || self.is_mistyped(last),
            TokenKind::Sign => !matches!(self.word_of(Some(last)), ")" | "]" | "}" | "*" | "?" | "."),
            _ => false,
        }
    }

    /// True for a misspelled word before a regular expression, directly after a value: `mathces` before `/\d+/`.
    fn is_mistyped(&self, word: Token) -> bool {
        const WORDS: &[&str] = &["matches", "match", "contains", "command", "user", "assistant", "thinking", "message"];
        let rest = self.text.get(self.at..).unwrap_or("");
        let before = self.text.get(..word.start).unwrap_or("").trim_end_matches([' ', '\t']);
        let operand =
            before.ends_with(|last: char| last.is_ascii_alphanumeric() || matches!(last, '_' | '"' | '\'' | ')' | ']'));
        operand
            && word.end < self.at
            && !rest.starts_with("/ ")
            && regex_length(rest).is_some()
            && WORDS.iter().any(|near| near_keywords::is_near(self.word_of(Some(word)), near))
    }

    /// True for a word after a dot, which is always a name: `a.message / 2`.
    fn is_field(&self, word: Token) -> bool {
        let before = self.text.get(..word.start).unwrap_or("");
        before.ends_with('.') && !before.ends_with("..")
    }

    /// Scans a regular expression, closed or not; comment signs of other languages are excluded.
    fn scan_regex(&mut self, rest: &str) -> bool {
        if rest.starts_with("/*") || rest.starts_with("//") {
            return false;
        }
        match regex_length(rest) {
            Some(length) => self.push_token(TokenKind::Regex, self.at, self.at + length),
            None => self.open_line(rest, TokenKind::OpenRegex),
        }
        true
    }

    fn scan_sign(&mut self, rest: &str) {
        let length = LONG_SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(1, |sign| sign.len());
        let (start, end) = (self.at, self.at + length);
        match rest.as_bytes().first() {
            Some(b'(') => self.push_bracket(OpenBracket::Round, start, end),
            Some(b'[') => self.push_bracket(OpenBracket::Square, start, end),
            Some(b'{') => self.push_bracket(OpenBracket::Curly, start, end),
            Some(b')') => self.close_bracket(OpenBracket::Round, start, end),
            Some(b']') => self.close_bracket(OpenBracket::Square, start, end),
            Some(b'}') => self.close_bracket(OpenBracket::Curly, start, end),
            _ => self.push_token(TokenKind::Sign, start, end),
        }
    }

    fn push_bracket(&mut self, open: OpenBracket, start: usize, end: usize) {
        self.push_token(TokenKind::Sign, start, end);
        self.open_bracket(open);
    }

    fn open_bracket(&mut self, open: OpenBracket) {
        self.levels.open_bracket(open, self.at.saturating_sub(1));
    }

    fn close_bracket(&mut self, open: OpenBracket, start: usize, end: usize) {
        match self.levels.close_bracket(open) {
            Some(OpenBracket::Value { start, quote }) => {
                self.at = end;
                self.text_from(start, quote);
            }
            _ => self.push_token(TokenKind::Sign, start, end),
        }
    }
}
