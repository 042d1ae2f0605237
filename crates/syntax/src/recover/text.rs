//! A file as tokens and lines, for code that examines text which the grammar rejects.

use crate::token::{Token, TokenKind};
use crate::words;
use averment_base::source::{FileId, Span};

pub(crate) struct TokenText<'t> {
    /// The file.
    pub file: FileId,
    /// Its whole text.
    pub source: &'t str,
    /// Its tokens.
    pub tokens: Vec<Token>,
    lines: Vec<usize>,
    /// For each line: the first token and the indentation.
    starts: Vec<(usize, usize)>,
}

impl<'t> TokenText<'t> {
    pub(crate) fn new(file: FileId, source: &'t str, tokens: Vec<Token>) -> Self {
        let mut lines = Vec::with_capacity(tokens.len());
        let mut starts: Vec<(usize, usize)> = Vec::new();
        let mut fresh = true;
        for (index, token) in tokens.iter().enumerate() {
            if fresh {
                starts.push((index, indentation_at(source, token.start)));
            }
            lines.push(starts.len() - 1);
            fresh = token.kind == TokenKind::LineEnd;
        }
        Self { file, source, tokens, lines, starts }
    }

    /// Returns the text of a token; empty for missing tokens and line ends.
    pub(crate) fn token_text(&self, index: usize) -> &'t str {
        match self.tokens.get(index) {
            Some(token) if token.kind != TokenKind::LineEnd => self.source.get(token.start..token.end).unwrap_or(""),
            _ => "",
        }
    }

    pub(crate) fn token_kind(&self, index: usize) -> TokenKind {
        self.tokens.get(index).map_or(TokenKind::LineEnd, |token| token.kind)
    }

    pub(crate) fn token_is(&self, index: usize, word: &str) -> bool {
        self.token_text(index) == word
    }

    pub(crate) fn span(&self, index: usize) -> Span {
        self.tokens.get(index).map_or(Span::new(self.file, self.source.len(), self.source.len()), |token| {
            Span::new(self.file, token.start, token.end)
        })
    }

    pub(super) fn token_line(&self, index: usize) -> usize {
        self.lines.get(index).copied().unwrap_or(usize::MAX)
    }

    pub(super) fn line_first(&self, index: usize) -> usize {
        self.starts.get(self.token_line(index)).map_or(index, |start| start.0)
    }

    pub(super) fn opens_line(&self, index: usize) -> bool {
        self.line_first(index) == index
    }

    /// Returns the indentation of a token's line, in characters.
    pub(crate) fn line_indent(&self, index: usize) -> usize {
        self.starts.get(self.token_line(index)).map_or(0, |start| start.1)
    }

    pub(crate) fn line_end(&self, index: usize) -> usize {
        let behind = |line: usize| self.starts.get(line + 1).map(|start| start.0 - 1);
        self.lines.get(index).and_then(|&line| behind(line)).unwrap_or(self.tokens.len())
    }

    pub(crate) fn skip_lines(&self, index: usize) -> usize {
        let ends = self.tokens.get(index..).unwrap_or(&[]).iter().take_while(|token| token.kind == TokenKind::LineEnd);
        index + ends.count()
    }

    pub(super) fn token_before(&self, index: usize) -> Option<usize> {
        let earlier = self.tokens.get(..index)?;
        earlier.iter().rposition(|token| token.kind != TokenKind::LineEnd)
    }

    /// True if a line that starts with this token cannot continue an open parenthesis or list.
    pub(super) fn cannot_go_on(&self, index: usize) -> bool {
        if self.token_kind(index) == TokenKind::LineEnd || matches!(self.token_text(index), ")" | "]" | "}") {
            return false;
        }
        if self.starts_statement(index) {
            return true;
        }
        let complete = self
            .token_before(index)
            .is_some_and(|before| ends_operand(self.token_kind(before), self.token_text(before)));
        let begins = matches!(
            self.token_kind(index),
            TokenKind::Word | TokenKind::Text | TokenKind::Number | TokenKind::Binding
        );
        complete
            && begins
            && !words::is_joining(self.token_text(index))
            && !words::goes_on_a_step(self.token_text(index))
    }

    /// True for the start of a statement such as `require search`, but not for `count: 3` or `count > 2`.
    pub(super) fn starts_statement(&self, index: usize) -> bool {
        let word = self.token_text(index);
        let known = words::STATEMENTS.contains(&word) || words::DECLARATIONS.contains(&word);
        let next = index + 1;
        known
            && matches!(self.token_kind(next), TokenKind::Word | TokenKind::Text)
            && !words::OPERATORS.contains(&self.token_text(next))
    }
}

fn indentation_at(source: &str, at: usize) -> usize {
    let line = source.get(..at).unwrap_or("").rsplit('\n').next().unwrap_or("");
    line.chars().take_while(|c| c.is_whitespace()).count()
}

impl TokenText<'_> {
    pub(crate) fn last_before(&self, index: usize) -> usize {
        self.token_before(index).unwrap_or(0)
    }

    pub(crate) fn source_line(&self, index: usize) -> String {
        let start = self.span(self.line_first(index)).start as usize;
        let line = self.source.get(start..).unwrap_or("").lines().next().unwrap_or("").trim();
        let short: String = line.chars().take(60).collect();
        if short.len() < line.len() { short + "…" } else { short }
    }

    /// Returns the line number, counted from 1.
    pub(crate) fn source_line_number(&self, index: usize) -> usize {
        let start = self.span(index).start as usize;
        self.source.get(..start).unwrap_or("").matches('\n').count() + 1
    }
}

/// True for a token that completes a value.
pub(crate) fn ends_operand(kind: TokenKind, word: &str) -> bool {
    match kind {
        TokenKind::Word => !words::is_joining(word),
        TokenKind::Number | TokenKind::Binding | TokenKind::Text | TokenKind::Regex => true,
        // An unclosed text ends with its line.
        TokenKind::OpenText | TokenKind::OpenInterpolation | TokenKind::OpenRegex => true,
        TokenKind::Sign => matches!(word, ")" | "]" | "}"),
        _ => false,
    }
}
