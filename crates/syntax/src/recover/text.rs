//! A file as tokens and lines, for everything that looks at text which the grammar does not take.

use crate::token::{Kind, Token};
use crate::words;
use averment_base::source::{FileId, Span};

/// The tokens of a file with the lines they stand on.
pub(crate) struct Text<'t> {
    /// The file.
    pub file: FileId,
    /// Its whole text.
    pub source: &'t str,
    /// Its tokens.
    pub tokens: Vec<Token>,
    /// For each token the number of its line.
    lines: Vec<usize>,
    /// For each line its first token and how far that is indented.
    starts: Vec<(usize, usize)>,
}

impl<'t> Text<'t> {
    pub(crate) fn new(file: FileId, source: &'t str, tokens: Vec<Token>) -> Self {
        let mut lines = Vec::with_capacity(tokens.len());
        let mut starts: Vec<(usize, usize)> = Vec::new();
        let mut fresh = true;
        for (index, token) in tokens.iter().enumerate() {
            if fresh {
                starts.push((index, indentation(source, token.start)));
            }
            lines.push(starts.len() - 1);
            fresh = token.kind == Kind::LineEnd;
        }
        Self { file, source, tokens, lines, starts }
    }

    /// The text of a token; empty for one that does not exist, and for line ends.
    pub(crate) fn word(&self, index: usize) -> &'t str {
        match self.tokens.get(index) {
            Some(token) if token.kind != Kind::LineEnd => self.source.get(token.start..token.end).unwrap_or(""),
            _ => "",
        }
    }

    pub(crate) fn kind(&self, index: usize) -> Kind {
        self.tokens.get(index).map_or(Kind::LineEnd, |token| token.kind)
    }

    pub(crate) fn is(&self, index: usize, word: &str) -> bool {
        self.word(index) == word
    }

    pub(crate) fn span(&self, index: usize) -> Span {
        self.tokens.get(index).map_or(Span::new(self.file, self.source.len(), self.source.len()), |token| {
            Span::new(self.file, token.start, token.end)
        })
    }

    pub(super) fn line(&self, index: usize) -> usize {
        self.lines.get(index).copied().unwrap_or(usize::MAX)
    }

    /// The first token of the line that a token stands on.
    pub(super) fn line_first(&self, index: usize) -> usize {
        self.starts.get(self.line(index)).map_or(index, |start| start.0)
    }

    pub(super) fn opens_line(&self, index: usize) -> bool {
        self.line_first(index) == index
    }

    /// How far the line of a token is indented, in characters.
    pub(crate) fn indent(&self, index: usize) -> usize {
        self.starts.get(self.line(index)).map_or(0, |start| start.1)
    }

    /// The line end behind a token, or the end of the tokens.
    pub(crate) fn line_end(&self, index: usize) -> usize {
        let behind = |line: usize| self.starts.get(line + 1).map(|start| start.0 - 1);
        self.lines.get(index).and_then(|&line| behind(line)).unwrap_or(self.tokens.len())
    }

    /// The next token that is no line end, from `index` on.
    pub(crate) fn skip_lines(&self, index: usize) -> usize {
        let ends = self.tokens.get(index..).unwrap_or(&[]).iter().take_while(|token| token.kind == Kind::LineEnd);
        index + ends.count()
    }

    /// The last token before `index` that is no line end.
    pub(super) fn before(&self, index: usize) -> Option<usize> {
        let earlier = self.tokens.get(..index)?;
        earlier.iter().rposition(|token| token.kind != Kind::LineEnd)
    }

    /// True when a line that starts with this token cannot be the next line of an open parenthesis or list.
    pub(super) fn cannot_go_on(&self, index: usize) -> bool {
        if self.kind(index) == Kind::LineEnd || matches!(self.word(index), ")" | "]" | "}") {
            return false;
        }
        if self.starts_statement(index) {
            return true;
        }
        let complete = self.before(index).is_some_and(|before| ends_operand(self.kind(before), self.word(before)));
        let begins = matches!(self.kind(index), Kind::Word | Kind::Text | Kind::Number | Kind::Binding);
        complete && begins && !words::is_joining(self.word(index)) && !words::goes_on_a_step(self.word(index))
    }

    /// A statement word with something behind it that makes it one: `require search`, but not `count: 3` or `count > 2`.
    pub(super) fn starts_statement(&self, index: usize) -> bool {
        let word = self.word(index);
        let known = words::STATEMENTS.contains(&word) || words::DECLARATIONS.contains(&word);
        let next = index + 1;
        known && matches!(self.kind(next), Kind::Word | Kind::Text) && !words::OPERATORS.contains(&self.word(next))
    }
}

fn indentation(source: &str, at: usize) -> usize {
    let line = source.get(..at).unwrap_or("").rsplit('\n').next().unwrap_or("");
    line.chars().take_while(|c| c.is_whitespace()).count()
}

impl Text<'_> {
    /// The last token before `index` that is no line end, or the first token.
    pub(crate) fn last_before(&self, index: usize) -> usize {
        self.before(index).unwrap_or(0)
    }

    /// The text of the line of a token, for messages.
    pub(crate) fn source_line(&self, index: usize) -> String {
        let start = self.span(self.line_first(index)).start as usize;
        let line = self.source.get(start..).unwrap_or("").lines().next().unwrap_or("").trim();
        let short: String = line.chars().take(60).collect();
        if short.len() < line.len() { short + "…" } else { short }
    }

    /// The number of the line of a token, from 1.
    pub(crate) fn source_line_number(&self, index: usize) -> usize {
        let start = self.span(index).start as usize;
        self.source.get(..start).unwrap_or("").matches('\n').count() + 1
    }
}

/// True for a token behind which a value is complete.
pub(crate) fn ends_operand(kind: Kind, word: &str) -> bool {
    match kind {
        Kind::Word => !words::is_joining(word),
        Kind::Number | Kind::Binding | Kind::Text | Kind::Regex => true,
        // What its line does not close ends with its line.
        Kind::OpenText | Kind::OpenInterpolation | Kind::OpenRegex => true,
        Kind::Sign => matches!(word, ")" | "]" | "}"),
        _ => false,
    }
}
