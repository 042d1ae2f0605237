//! One statement that cannot be read, as its own tokens: what the functions of the table look at.

use crate::grammar::{Failure, Rule};
use crate::recover::{Text, ends_operand};
use crate::token::Kind;
use crate::words;
use averment_base::diagnostic::{Diagnostic, Edit, Fix, Slug};
use averment_base::source::Span;

/// A statement with a mistake. Positions count its own tokens, without line ends and without what stands in its body.
pub(crate) struct View<'a, 't> {
    text: &'a Text<'t>,
    tokens: Vec<usize>,
    /// For each position whether it stands in no bracket of the statement.
    outer: Vec<bool>,
    /// Where the strict grammar gave up: a position, or the end.
    pub failed: usize,
    /// What would have gone on there.
    pub expected: Vec<Rule>,
}

impl<'a, 't> View<'a, 't> {
    pub(crate) fn new(text: &'a Text<'t>, tokens: Vec<usize>, failure: &Failure) -> Self {
        let failed =
            tokens.iter().position(|&index| text.span(index).end as usize > failure.at).unwrap_or(tokens.len());
        let mut depth = 0_usize;
        let mut outer = Vec::with_capacity(tokens.len());
        for &index in &tokens {
            if matches!(text.word(index), ")" | "]" | "}") {
                depth = depth.saturating_sub(1);
            }
            outer.push(depth == 0);
            if matches!(text.word(index), "(" | "[" | "{") {
                depth += 1;
            }
        }
        Self { text, tokens, outer, failed, expected: failure.expected.clone() }
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    fn index(&self, at: usize) -> usize {
        self.tokens.get(at).copied().unwrap_or(usize::MAX)
    }

    /// The text of a token; empty behind the end.
    pub(super) fn word(&self, at: usize) -> &'t str {
        self.text.word(self.index(at))
    }

    pub(super) fn is(&self, at: usize, word: &str) -> bool {
        self.word(at) == word
    }

    pub(super) fn is_any(&self, at: usize, words: &[&str]) -> bool {
        words.contains(&self.word(at))
    }

    /// True when these words follow each other from `at` on.
    pub(super) fn are(&self, at: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(offset, word)| self.is(at + offset, word))
    }

    pub(super) fn kind(&self, at: usize) -> Kind {
        if at < self.tokens.len() { self.text.kind(self.index(at)) } else { Kind::LineEnd }
    }

    /// True for a word of letters.
    pub(super) fn is_word(&self, at: usize) -> bool {
        self.kind(at) == Kind::Word
    }

    pub(super) fn is_text(&self, at: usize) -> bool {
        self.kind(at) == Kind::Text
    }

    pub(super) fn is_number(&self, at: usize) -> bool {
        self.kind(at) == Kind::Number
    }

    /// The place of a token; behind the end the place behind the last one.
    pub(super) fn span(&self, at: usize) -> Span {
        if at < self.tokens.len() { self.text.span(self.index(at)) } else { self.end() }
    }

    /// The place behind the last token.
    pub(super) fn end(&self) -> Span {
        self.tokens.last().map_or(Span::default(), |&last| self.text.span(last)).at_end()
    }

    /// From the first to behind the last of some tokens.
    pub(super) fn span_of(&self, from: usize, to: usize) -> Span {
        if to <= from { self.span(from).at_start() } else { self.span(from).to(self.span(to - 1)) }
    }

    /// The text from token `from` up to token `to`, on one line, cut where it is too long to read.
    pub(super) fn source(&self, from: usize, to: usize) -> String {
        shortened(&self.whole_source(from, to))
    }

    /// The text from token `from` up to token `to`, on one line.
    pub(super) fn whole_source(&self, from: usize, to: usize) -> String {
        let to = to.min(self.len());
        if to <= from {
            return String::new();
        }
        let written = self.text.source.get(self.span_of(from, to).range()).unwrap_or("");
        written.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The text from token `from` up to token `to` as it is written.
    pub(super) fn written(&self, from: usize, to: usize) -> &'t str {
        self.text.source.get(self.range(from, to.min(self.len()))).unwrap_or("")
    }

    /// Where the text from token `from` up to token `to` stands.
    pub(super) fn range(&self, from: usize, to: usize) -> std::ops::Range<usize> {
        self.span_of(from, to).range()
    }

    /// What stands between the end of the statement and a `{` that begins the next line.
    pub(super) fn gap_before_brace(&self) -> Option<Span> {
        let next = self.text.skip_lines(self.tokens.last()? + 1);
        let gap = Span { end: self.text.span(next).start, ..self.end() };
        let blank = self.text.source.get(gap.range())?.trim().is_empty();
        (self.text.is(next, "{") && blank).then_some(gap)
    }

    /// Where the lines end that stand deeper than the first line of the statement, from a token on.
    pub(super) fn indented_end(&self, at: usize) -> Option<Span> {
        let (first, start) = (self.index(0), self.index(at));
        let indent = self.text.indent(first);
        let mut last = None;
        let mut here = start;
        while here < self.text.tokens.len() && self.text.indent(here) > indent {
            let end = self.text.line_end(here);
            last = end.checked_sub(1).filter(|&last| last >= here);
            here = self.text.skip_lines(end);
        }
        last.map(|last| self.text.span(last).at_end())
    }

    /// All of the text that the statement stands in.
    pub(super) fn text(&self) -> &'t str {
        self.text.source
    }

    /// True when nothing stands between a token and the one before it.
    pub(super) fn touches(&self, at: usize) -> bool {
        at > 0 && at < self.len() && self.span(at - 1).end == self.span(at).start
    }

    /// The first token from `from` on, outside of brackets, that is this word.
    pub(super) fn find(&self, from: usize, word: &str) -> Option<usize> {
        (from..self.len()).find(|&at| self.is_outer(at) && self.is(at, word))
    }

    /// The first token from `from` on, outside of brackets, that is one of these words.
    pub(super) fn find_any(&self, from: usize, words: &[&str]) -> Option<usize> {
        (from..self.len()).find(|&at| self.is_outer(at) && self.is_any(at, words))
    }

    /// The first token from `from` on that is one of these words, in brackets or not; the end where none is.
    pub(super) fn first(&self, from: usize, words: &[&str]) -> usize {
        (from..self.len()).find(|&at| self.is_any(at, words)).unwrap_or(self.len())
    }

    pub(super) fn is_outer(&self, at: usize) -> bool {
        self.outer.get(at).copied().unwrap_or(true)
    }

    /// The token behind the bracket that closes the one at `at`.
    pub(super) fn behind_bracket(&self, at: usize) -> usize {
        let mut depth = 0_usize;
        for here in at..self.len() {
            match self.word(here) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return here + 1;
            }
        }
        self.len()
    }

    /// The bracket that the one at `at` closes.
    pub(super) fn opening_bracket(&self, at: usize) -> usize {
        let mut depth = 0_usize;
        for here in (0..=at).rev() {
            match self.word(here) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return here;
            }
        }
        0
    }

    /// The first of some words from `at` on that stands in no bracket opened behind `at`, or the end.
    pub(super) fn balanced(&self, at: usize, stops: &[&str]) -> usize {
        let mut here = at;
        while here < self.len() && !self.is_any(here, stops) {
            here = if self.is_any(here, &["(", "[", "{"]) { self.behind_bracket(here) } else { here + 1 };
        }
        here
    }

    /// Where the comparison in front of a token begins, for a short example.
    pub(super) fn operand_start(&self, at: usize) -> usize {
        const STOPS: &[&str] =
            &["(", "[", "{", ",", ":", "and", "or", "&&", "||", "then", "else", "when", "if", "not", "="];
        let mut here = at;
        while let Some(before) = here.checked_sub(1) {
            if self.is_any(before, STOPS) {
                break;
            }
            here = if self.is_any(before, &[")", "]", "}"]) { self.opening_bracket(before) } else { before };
        }
        here
    }

    /// Where the value that begins with a token ends.
    pub(super) fn operand_end(&self, from: usize) -> usize {
        const STOPS: &[&str] = &[")", "]", "}", ",", ":", "and", "or", "&&", "||", "then", "else", "{"];
        let first = if self.is_any(from, &["(", "[", "{"]) { self.behind_bracket(from) } else { from + 1 };
        if from < self.len() { self.balanced(first, STOPS) } else { from }
    }

    /// True when the token is the end of a complete value.
    pub(super) fn ends_operand(&self, at: usize) -> bool {
        ends_operand(self.kind(at), self.word(at))
    }

    /// The token behind a bare name with globs, dots, dashes and slashes.
    pub(super) fn behind_name(&self, at: usize) -> usize {
        let mut end = at + 1;
        while self.touches(end)
            && (self.is_any(end, &["*", "**", "?", "-", ".", "/"])
                || matches!(self.kind(end), Kind::Word | Kind::Number))
        {
            end += 1;
        }
        end
    }

    /// The token behind a step pattern without choice and condition; `at` itself when none begins there.
    pub(super) fn behind_step(&self, at: usize) -> usize {
        let mut end = at;
        end += usize::from(
            self.is(end, "proposed") && (self.is_word(end + 1) || self.is_text(end + 1) || self.is(end + 1, "(")),
        );
        end = if self.is(end, "(") {
            return self.behind_bracket(end);
        } else if self.is_text(end) {
            end + 1
        } else if words::KINDS.contains(&self.word(end)) {
            let text = matches!(self.kind(end + 1), Kind::Text | Kind::Regex);
            let command =
                self.is(end, "command") && self.is_word(end + 1) && self.is(end + 2, "(") && self.touches(end + 2);
            end + 1 + usize::from(text || command)
        } else if self.is_word(end) || self.is_any(end, &["*", "?"]) {
            self.behind_name(end)
        } else {
            return at;
        };
        if self.is(end, "(") {
            end = self.behind_bracket(end);
        }
        end += usize::from(self.is_any(end, &["ok", "failed"]));
        if self.is(end, "tagged") && self.is_word(end + 1) {
            end = self.behind_name(end + 1);
        }
        if self.is(end, "by") {
            let agent = match self.kind(end + 1) {
                Kind::Text | Kind::Regex | Kind::Binding => end + 2,
                _ => self.behind_name(end + 1),
            };
            end = agent + usize::from(self.is_any(agent, &["ok", "failed"]));
        }
        end
    }

    /// The token behind a whole step pattern: choices and a condition included. The condition reaches to a word that ends it.
    pub(super) fn behind_pattern(&self, at: usize) -> usize {
        let mut end = self.behind_step(at);
        while end > at && self.is(end, "|") && self.behind_step(end + 1) > end + 1 {
            end = self.behind_step(end + 1);
        }
        if end > at && self.is(end, "where") {
            const ENDS: &[&str] = &["->", ",", ":", "then", "iff", "until", "within", "{", "=>"];
            end = self.balanced(end + 1, ENDS);
        }
        end
    }

    /// The step pattern from `at` as text, or a placeholder.
    pub(super) fn step_or(&self, at: usize, placeholder: &str) -> String {
        let end = self.behind_pattern(at);
        if end > at { self.source(at, end) } else { placeholder.to_owned() }
    }

    /// The token where modifiers begin, or the end.
    pub(super) fn modifiers(&self, from: usize) -> usize {
        (from..self.len()).find(|&at| self.is_outer(at) && self.is_modifier(at)).unwrap_or(self.len())
    }

    fn is_modifier(&self, at: usize) -> bool {
        match self.word(at) {
            "weight" | "threshold" => self.is_number(at + 1),
            "severity" => self.is_any(at + 1, &["error", "warn", "info"]),
            "message" | "class" => self.is_text(at + 1),
            "must" => at + 1 == self.len(),
            "deny" | "allow" => self.is_any(at + 1, words::GATED) && self.ends_operand(at.saturating_sub(1)),
            "tags" | "as" | "id" => self.is_word(at + 1) && self.ends_operand(at.saturating_sub(1)),
            "expect" => self.is(at + 1, "fail"),
            _ => false,
        }
    }

    /// A syntax error at some tokens.
    pub(super) fn wrong(&self, from: usize, to: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Slug::Syntax, self.span_of(from, to), message)
    }

    /// The place behind the last token of the statement's line, and behind the blanks there.
    pub(super) fn line_end(&self) -> Span {
        let end = self.end();
        let rest = self.text.source.get(end.start as usize..).unwrap_or("");
        let space = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let at = end.start + u32::try_from(space).unwrap_or(0);
        Span { start: at, end: at, ..end }
    }

    /// A syntax error behind the last token of the statement's line.
    pub(super) fn missing_at_end(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Slug::Syntax, self.line_end(), message)
    }

    /// A syntax error one space behind the token in front of `at`: where what is missing would stand.
    pub(super) fn wrong_behind(&self, at: usize, message: impl Into<String>) -> Diagnostic {
        let before = self.span(at.saturating_sub(1));
        Diagnostic::new(Slug::Syntax, before.at_end(), message)
    }

    /// Replaces some tokens.
    pub(super) fn edit(&self, from: usize, to: usize, text: impl Into<String>) -> Edit {
        Edit { span: self.span_of(from, to), text: text.into() }
    }

    /// Puts text in front of a token.
    pub(super) fn insert(&self, at: usize, text: impl Into<String>) -> Edit {
        Edit { span: self.span(at).at_start(), text: text.into() }
    }

    /// Puts text behind a token.
    pub(super) fn append(&self, at: usize, text: impl Into<String>) -> Edit {
        Edit { span: self.span(at).at_end(), text: text.into() }
    }
}

/// A text for a message, cut where it is too long to read.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("{}…", start.trim_end())
}

/// Adds what to write, as help and as a fix of several edits.
pub(super) trait Write {
    fn write(self, text: impl Into<String>, edits: Vec<Edit>) -> Self;
}

impl Write for Diagnostic {
    fn write(mut self, text: impl Into<String>, edits: Vec<Edit>) -> Self {
        let text = text.into();
        self.help = Some(format!("write `{text}`"));
        self.fix = Some(Fix { title: format!("write `{text}`"), edits });
        self
    }
}

/// The token behind what is taken at a token, where that is there.
pub(super) type Take = fn(&View<'_, '_>, usize) -> Option<usize>;
/// A condition on a place in a statement.
pub(super) type Guard = fn(&View<'_, '_>, usize) -> bool;

/// A text without its quotes.
pub(super) fn bare(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}
