//! Follows the words and signs before the cursor, with a level for each open bracket.

use super::{Body, Level, Mode, Steps};
use crate::assist::entries::{body_of, entry_of};
use averment_syntax::token::{Kind, Token};
use averment_syntax::words as language;

/// Follows the tokens before the cursor.
pub(in crate::assist) struct Walk<'a, 't> {
    pub(super) text: &'t str,
    pub(super) tokens: &'a [Token],
    pub(super) levels: Vec<Level>,
}

impl<'a, 't> Walk<'a, 't> {
    pub(in crate::assist) fn new(text: &'t str, tokens: &'a [Token]) -> Self {
        Self { text, tokens, levels: vec![Level::new("", Mode::Start(Body::File), 0, None)] }
    }

    pub(in crate::assist) fn word(&self, index: usize) -> &'t str {
        self.tokens.get(index).and_then(|token| self.text.get(token.start..token.end)).unwrap_or("")
    }

    pub(super) fn kind(&self, index: usize) -> Kind {
        self.tokens.get(index).map_or(Kind::LineEnd, |token| token.kind)
    }

    /// True when a token follows the one before without space.
    pub(in crate::assist) fn touches(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.tokens.get(before));
        before.zip(self.tokens.get(index)).is_some_and(|(before, token)| before.end == token.start)
    }

    pub(super) fn level(&mut self) -> Option<&mut Level> {
        self.levels.last_mut()
    }

    pub(in crate::assist) fn text(&self) -> &'t str {
        self.text
    }

    pub(in crate::assist) fn token(&self, index: usize) -> Option<Token> {
        self.tokens.get(index).copied()
    }

    /// The word or sign before one, on the same line or not.
    pub(in crate::assist) fn previous(&self, index: usize) -> &'t str {
        let before = (0..index).rev().find(|&before| self.kind(before) != Kind::LineEnd);
        before.map_or("", |before| self.word(before))
    }

    /// The part of the statement that the next token stands in.
    pub(in crate::assist) fn mode(&self) -> Mode {
        self.levels.last().map_or(Mode::Start(Body::File), |level| level.mode.clone())
    }

    /// True for a field of the steps in scope.
    pub(in crate::assist) fn step_has(&self, name: &str) -> bool {
        let Some(scope) = self.levels.last().and_then(|level| level.scope.as_ref()) else { return false };
        let kind =
            scope.kind.as_deref().and_then(crate::assist::member::kind_of).unwrap_or(averment_runs::run::Kind::Call);
        kind.fields().contains(&name)
    }

    /// True for a token behind something complete in its statement.
    pub(in crate::assist) fn is_behind_operand(&self, index: usize) -> bool {
        let Some(level) = self.levels.last() else { return false };
        let Some(last) = index.checked_sub(1).filter(|&last| last >= level.start) else { return false };
        let head_only = last == level.start && level.mode == Mode::Step;
        self.is_complete(last, &level.mode) && !head_only && !opens_step(self.word(last))
    }

    /// True for a token behind which a value or a step is complete.
    pub(super) fn is_complete(&self, last: usize, mode: &Mode) -> bool {
        matches!(self.kind(last), Kind::Word | Kind::Number | Kind::Binding | Kind::Text | Kind::Regex)
            && !language::is_joining(self.word(last))
            || matches!(self.word(last), ")" | "]")
            || matches!(self.word(last), "*" | "?") && *mode == Mode::Step
    }

    pub(in crate::assist) fn run(&mut self) {
        self.run_with(&mut |_, _| {});
    }

    /// Follows all tokens; `look` is called at each one that is no line end, before it has its effect.
    pub(in crate::assist) fn run_with(&mut self, look: &mut dyn FnMut(&Self, usize)) {
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

    pub(super) fn line_end(&mut self, index: usize) {
        let goes_on = self.joins(index) || self.next_joins(index);
        let object = matches!(self.levels.last().map(|level| &level.begins), Some(Mode::Object(_)));
        if object || !goes_on {
            self.end_statement(index);
        }
    }

    pub(super) fn end_statement(&mut self, index: usize) {
        if let Some(level) = self.levels.last_mut()
            && level.has_lines()
        {
            level.begin(index + 1);
        }
    }

    /// True when the last word before a line end asks for more.
    pub(super) fn joins(&self, index: usize) -> bool {
        let Some(last) = index.checked_sub(1) else { return false };
        let sign = matches!(
            self.word(last),
            "," | ":" | "->" | "=" | "==" | "!=" | "===" | "<" | "<=" | ">" | ">=" | "+" | "|"
        );
        sign || matches!(self.word(last), "and" | "or" | "then" | "else" | "implies")
    }

    pub(super) fn next_joins(&self, index: usize) -> bool {
        let next = (index..self.tokens.len()).find(|&next| self.kind(next) != Kind::LineEnd);
        next.is_some_and(|next| matches!(self.word(next), "and" | "or" | "->"))
    }

    /// A line that begins a declaration at the very left stands in no bracket, whatever is open before it.
    pub(super) fn give_up_brackets(&mut self, index: usize) {
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
    pub(super) fn begins_a_statement(&self, index: usize) -> bool {
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

    pub(super) fn push(&mut self, open: &'static str, begins: Mode, index: usize, scope: Option<Steps>) {
        self.levels.push(Level::new(open, begins, index + 1, scope));
    }

    pub(super) fn open_round(&mut self, index: usize) {
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

    pub(super) fn open_square(&mut self, index: usize) {
        let Some(level) = self.levels.last() else { return };
        let begins = match &level.mode {
            Mode::Object(entry) => Mode::Object(entry.of_key(&level.key)),
            Mode::Value(steps, path) => Mode::Value(steps.clone(), path.clone()),
            _ => Mode::Expression,
        };
        let scope = level.scope.clone();
        self.push("[", begins, index, scope);
    }

    pub(super) fn open_curly(&mut self, index: usize) {
        let Some(level) = self.levels.last() else { return };
        let is_object = matches!(level.mode, Mode::Object(_)) || level.open == "[" || level.open == "(";
        let body = body_of(&level.head, &self.head_words(level.start, index));
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

    pub(super) fn head_words(&self, start: usize, end: usize) -> Vec<&'t str> {
        (start..end.min(start + 3)).map(|index| self.word(index)).collect()
    }

    pub(super) fn close(&mut self, sign: &str) {
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
    pub(super) fn advance(&mut self, index: usize) {
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

/// Words in a step's place that stand in front of a step.
pub(super) fn opens_step(word: &str) -> bool {
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
