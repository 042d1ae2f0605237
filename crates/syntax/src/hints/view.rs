//! A statement that cannot be parsed, as a list of its own tokens, for the functions of the table.

use crate::grammar::{GrammarFailure, Rule};
use crate::recover::{TokenText, ends_operand};
use crate::token::TokenKind;
use crate::words;
use averment_base::diagnostic::{Diagnostic, Fix, Slug, SourceEdit};
use averment_base::source::Span;

/// A statement with a mistake. Positions index its own tokens, without line ends and body.
pub(crate) struct StatementView<'a, 't> {
    text: &'a TokenText<'t>,
    tokens: Vec<usize>,
    places: Vec<BracketPlace>,
    /// The position where the strict grammar failed, or the end.
    pub failed: usize,
    /// The rules that could follow there.
    pub expected: Vec<Rule>,
}

/// The bracket around a token, and the matching bracket if the token is one itself.
#[derive(Clone, Copy)]
struct BracketPlace {
    around: Option<usize>,
    partner: Option<usize>,
}

impl<'a, 't> StatementView<'a, 't> {
    pub(crate) fn new(text: &'a TokenText<'t>, tokens: Vec<usize>, failure: &GrammarFailure) -> Self {
        let failed =
            tokens.iter().position(|&index| text.span(index).end as usize > failure.at).unwrap_or(tokens.len());
        let (mut places, mut open) = (Vec::<BracketPlace>::with_capacity(tokens.len()), Vec::<usize>::new());
        for (at, &index) in tokens.iter().enumerate() {
            let word = text.token_text(index);
            let partner = if matches!(word, ")" | "]" | "}") { open.pop() } else { None };
            if let Some(opening) = partner.and_then(|open| places.get_mut(open)) {
                opening.partner = Some(at);
            }
            places.push(BracketPlace { around: open.last().copied(), partner });
            if matches!(word, "(" | "[" | "{") {
                open.push(at);
            }
        }
        Self { text, tokens, places, failed, expected: failure.expected.clone() }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    fn token_index(&self, at: usize) -> usize {
        self.tokens.get(at).copied().unwrap_or(usize::MAX)
    }

    /// Returns the text of a token; empty past the end.
    pub(crate) fn token_text(&self, at: usize) -> &'t str {
        self.text.token_text(self.token_index(at))
    }

    pub(super) fn token_is(&self, at: usize, word: &str) -> bool {
        self.token_text(at) == word
    }

    pub(super) fn is_any(&self, at: usize, words: &[&str]) -> bool {
        words.contains(&self.token_text(at))
    }

    pub(super) fn tokens_are(&self, at: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(offset, word)| self.token_is(at + offset, word))
    }

    pub(super) fn token_kind(&self, at: usize) -> TokenKind {
        if at < self.tokens.len() { self.text.token_kind(self.token_index(at)) } else { TokenKind::LineEnd }
    }

    pub(crate) fn is_word(&self, at: usize) -> bool {
        self.token_kind(at) == TokenKind::Word
    }

    pub(super) fn is_text(&self, at: usize) -> bool {
        self.token_kind(at) == TokenKind::Text
    }

    pub(super) fn is_number(&self, at: usize) -> bool {
        self.token_kind(at) == TokenKind::Number
    }

    /// Returns the location of a token; past the end, the location after the last token.
    pub(super) fn span(&self, at: usize) -> Span {
        if at < self.tokens.len() { self.text.span(self.token_index(at)) } else { self.end_span() }
    }

    pub(super) fn end_span(&self) -> Span {
        self.tokens.last().map_or(Span::default(), |&last| self.text.span(last)).at_end()
    }

    pub(super) fn span_of(&self, from: usize, to: usize) -> Span {
        if to <= from { self.span(from).at_start() } else { self.span(from).cover_with(self.span(to - 1)) }
    }

    /// Returns source text on one line, shortened if it is too long to read.
    pub(super) fn source_text(&self, from: usize, to: usize) -> String {
        shorten_text(&self.whole_source(from, to))
    }

    /// Returns source text on one line.
    pub(super) fn whole_source(&self, from: usize, to: usize) -> String {
        let to = to.min(self.len());
        if to <= from {
            return String::new();
        }
        let written = self.text.source.get(self.span_of(from, to).as_range()).unwrap_or("");
        written.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn written_text(&self, from: usize, to: usize) -> &'t str {
        self.text.source.get(self.token_range(from, to.min(self.len()))).unwrap_or("")
    }

    pub(super) fn token_range(&self, from: usize, to: usize) -> std::ops::Range<usize> {
        self.span_of(from, to).as_range()
    }

    pub(super) fn gap_before_brace(&self) -> Option<Span> {
        let next = self.text.skip_lines(self.tokens.last()? + 1);
        let gap = Span { end: self.text.span(next).start, ..self.end_span() };
        let blank = self.text.source.get(gap.as_range())?.trim().is_empty();
        (self.text.token_is(next, "{") && blank).then_some(gap)
    }

    /// Returns the end of the lines, from a token on, that are indented deeper than the statement's first line.
    pub(super) fn indented_end(&self, at: usize) -> Option<Span> {
        let (first, start) = (self.token_index(0), self.token_index(at));
        let indent = self.text.line_indent(first);
        let mut last = None;
        let mut here = start;
        while here < self.text.tokens.len() && self.text.line_indent(here) > indent {
            let end = self.text.line_end(here);
            last = end.checked_sub(1).filter(|&last| last >= here);
            here = self.text.skip_lines(end);
        }
        last.map(|last| self.text.span(last).at_end())
    }

    pub(super) fn whole_text(&self) -> &'t str {
        self.text.source
    }

    pub(super) fn touches_previous(&self, at: usize) -> bool {
        at > 0 && at < self.len() && self.span(at - 1).end == self.span(at).start
    }

    /// Returns the first occurrence of a word outside of brackets.
    pub(super) fn find_word(&self, from: usize, word: &str) -> Option<usize> {
        (from..self.len()).find(|&at| self.is_outer(at) && self.token_is(at, word))
    }

    /// Returns the first of these words outside of brackets.
    pub(super) fn find_any(&self, from: usize, words: &[&str]) -> Option<usize> {
        (from..self.len()).find(|&at| self.is_outer(at) && self.is_any(at, words))
    }

    /// Returns the first of these words, inside of brackets or not; otherwise the end.
    pub(super) fn first_of(&self, from: usize, words: &[&str]) -> usize {
        (from..self.len()).find(|&at| self.is_any(at, words)).unwrap_or(self.len())
    }

    pub(super) fn is_outer(&self, at: usize) -> bool {
        self.bracket_around(at).is_none()
    }

    pub(super) fn bracket_around(&self, at: usize) -> Option<usize> {
        self.places.get(at)?.around
    }

    fn partner(&self, at: usize) -> Option<usize> {
        self.places.get(at)?.partner
    }

    /// Returns the position after a bracket and its contents, or after a single token; the end if the bracket is not closed.
    pub(super) fn behind_bracket(&self, at: usize) -> usize {
        let last = if self.is_any(at, &["(", "[", "{"]) { self.partner(at) } else { Some(at) };
        last.map_or(self.len(), |last| (last + 1).min(self.len()))
    }

    pub(super) fn opening_bracket(&self, at: usize) -> usize {
        self.partner(at).unwrap_or(0)
    }

    /// Returns the first of `stops` outside of brackets that open after `at`; otherwise the end.
    pub(super) fn balanced_end(&self, at: usize, stops: &[&str]) -> usize {
        let mut here = at;
        while here < self.len() && !self.is_any(here, stops) {
            here = if self.is_any(here, &["(", "[", "{"]) { self.behind_bracket(here) } else { here + 1 };
        }
        here
    }

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

    pub(super) fn operand_end(&self, from: usize) -> usize {
        const STOPS: &[&str] = &[")", "]", "}", ",", ":", "and", "or", "&&", "||", "then", "else", "{"];
        let first = if self.is_any(from, &["(", "[", "{"]) { self.behind_bracket(from) } else { from + 1 };
        if from < self.len() { self.balanced_end(first, STOPS) } else { from }
    }

    pub(super) fn ends_operand(&self, at: usize) -> bool {
        ends_operand(self.token_kind(at), self.token_text(at))
    }

    /// True after a complete value.
    pub(super) fn is_behind_operand(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| self.ends_operand(before))
    }

    pub(super) fn begins_operand(&self, at: usize) -> bool {
        use TokenKind::{Binding, Number, Regex, Text, Word};
        matches!(self.token_kind(at), Text | Number | Binding | Regex | Word)
    }

    pub(super) fn behind_name(&self, at: usize) -> usize {
        let mut end = at + 1;
        while self.touches_previous(end)
            && (self.is_any(end, &["*", "**", "?", "-", ".", "/"])
                || matches!(self.token_kind(end), TokenKind::Word | TokenKind::Number))
        {
            end += 1;
        }
        // A dot at the end belongs to the sentence.
        end - usize::from(end > at + 1 && self.token_is(end - 1, "."))
    }

    /// Returns the position after a step without choices and condition; `at` itself if no step starts there.
    pub(super) fn behind_step(&self, at: usize) -> usize {
        let mut end = at;
        end += usize::from(
            self.token_is(end, "proposed")
                && (self.is_word(end + 1) || self.is_text(end + 1) || self.token_is(end + 1, "(")),
        );
        end = if self.token_is(end, "(") {
            return self.behind_bracket(end);
        } else if self.is_text(end) {
            end + 1
        } else if words::KINDS.contains(&self.token_text(end)) {
            let text = matches!(self.token_kind(end + 1), TokenKind::Text | TokenKind::Regex);
            let command = self.token_is(end, "command")
                && self.is_word(end + 1)
                && self.token_is(end + 2, "(")
                && self.touches_previous(end + 2);
            end + 1 + usize::from(text || command)
        } else if self.is_word(end) || self.is_any(end, &["*", "?"]) {
            self.behind_name(end)
        } else {
            return at;
        };
        if self.token_is(end, "(") {
            end = self.behind_bracket(end);
        }
        end += usize::from(self.is_any(end, &["ok", "failed"]));
        if self.token_is(end, "tagged") && self.is_word(end + 1) {
            end = self.behind_name(end + 1);
        }
        if self.token_is(end, "by") {
            let agent = match self.token_kind(end + 1) {
                TokenKind::Text | TokenKind::Regex | TokenKind::Binding => end + 2,
                _ => self.behind_name(end + 1),
            };
            end = agent + usize::from(self.is_any(agent, &["ok", "failed"]));
        }
        end
    }

    /// Returns the position after a pattern with choices and condition, which extends to a word that ends it.
    pub(super) fn behind_pattern(&self, at: usize) -> usize {
        let mut end = self.behind_step(at);
        while end > at && self.token_is(end, "|") && self.behind_step(end + 1) > end + 1 {
            end = self.behind_step(end + 1);
        }
        if end > at && self.token_is(end, "where") {
            const ENDS: &[&str] = &["->", ",", ":", "then", "iff", "until", "within", "{", "=>"];
            end = self.balanced_end(end + 1, ENDS);
        }
        end
    }

    pub(super) fn modifiers_start(&self, from: usize) -> usize {
        (from..self.len()).find(|&at| self.is_outer(at) && self.is_modifier(at)).unwrap_or(self.len())
    }

    fn is_modifier(&self, at: usize) -> bool {
        match self.token_text(at) {
            "weight" | "threshold" => self.is_number(at + 1),
            "severity" => self.is_any(at + 1, &["error", "warn", "info"]),
            "message" | "class" => self.is_text(at + 1),
            "must" => at + 1 == self.len(),
            "deny" | "allow" => self.is_any(at + 1, words::GATED) && self.ends_operand(at.saturating_sub(1)),
            "tags" | "as" | "id" => self.is_word(at + 1) && self.ends_operand(at.saturating_sub(1)),
            "expect" => self.token_is(at + 1, "fail"),
            _ => false,
        }
    }

    pub(crate) fn syntax_error(&self, from: usize, to: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Slug::Syntax, self.span_of(from, to), message)
    }

    pub(super) fn line_end(&self) -> Span {
        let end = self.end_span();
        let rest = self.text.source.get(end.start as usize..).unwrap_or("");
        let space = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let at = end.start + u32::try_from(space).unwrap_or(0);
        Span { start: at, end: at, ..end }
    }

    pub(crate) fn missing_at_end(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Slug::Syntax, self.line_end(), message)
    }

    pub(super) fn replace_tokens(&self, from: usize, to: usize, text: impl Into<String>) -> SourceEdit {
        SourceEdit { span: self.span_of(from, to), text: text.into() }
    }

    pub(super) fn insert_after(&self, at: usize, text: impl Into<String>) -> SourceEdit {
        SourceEdit { span: self.span(at).at_end(), text: text.into() }
    }
}

fn shorten_text(text: &str) -> String {
    const LONGEST: usize = 120;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("{}…", start.trim_end())
}

pub(super) trait SuggestText {
    fn suggest_text(self, text: impl Into<String>, edits: Vec<SourceEdit>) -> Self;
}

impl SuggestText for Diagnostic {
    fn suggest_text(mut self, text: impl Into<String>, edits: Vec<SourceEdit>) -> Self {
        let text = text.into();
        // A text with backticks cannot be quoted in backticks.
        let shown = if text.contains('`') { format!("write: {text}") } else { format!("write `{text}`") };
        self.help = Some(shown.clone());
        self.fix = Some(Fix { title: shown, edits });
        self
    }
}

/// Returns the position after the tokens that a class takes; `None` if it does not match.
pub(super) type TakeFn = fn(&StatementView<'_, '_>, usize) -> Option<usize>;
/// A condition on a position in a statement.
pub(super) type GuardFn = fn(&StatementView<'_, '_>, usize) -> bool;

/// Returns a text without its quotes.
pub(super) fn strip_quotes(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}
