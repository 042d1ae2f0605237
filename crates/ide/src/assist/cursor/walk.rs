//! Walks over the words and signs before the cursor, with a level for each open bracket.

use super::{BracketLevel, EnclosingBody, StatementPart, StepScope};
use crate::assist::entries::head_object;
use averment_syntax::statements;
use averment_syntax::token::{Token, TokenKind};
use averment_syntax::words as language;

pub(in crate::assist) struct TokenWalk<'a, 't> {
    pub(super) text: &'t str,
    pub(super) tokens: &'a [Token],
    pub(super) levels: Vec<BracketLevel>,
}

impl<'a, 't> TokenWalk<'a, 't> {
    pub(in crate::assist) fn new(text: &'t str, tokens: &'a [Token]) -> Self {
        Self { text, tokens, levels: vec![BracketLevel::new("", StatementPart::Start(EnclosingBody::File), 0, None)] }
    }

    pub(in crate::assist) fn word_at(&self, index: usize) -> &'t str {
        self.tokens.get(index).and_then(|token| self.text.get(token.start..token.end)).unwrap_or("")
    }

    pub(super) fn kind_at(&self, index: usize) -> TokenKind {
        self.tokens.get(index).map_or(TokenKind::LineEnd, |token| token.kind)
    }

    pub(in crate::assist) fn touches_previous(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.tokens.get(before));
        before.zip(self.tokens.get(index)).is_some_and(|(before, token)| before.end == token.start)
    }

    pub(super) fn level_mut(&mut self) -> Option<&mut BracketLevel> {
        self.levels.last_mut()
    }

    pub(in crate::assist) fn text(&self) -> &'t str {
        self.text
    }

    pub(in crate::assist) fn token_at(&self, index: usize) -> Option<Token> {
        self.tokens.get(index).copied()
    }

    pub(in crate::assist) fn previous_word(&self, index: usize) -> &'t str {
        let before = (0..index).rev().find(|&before| self.kind_at(before) != TokenKind::LineEnd);
        before.map_or("", |before| self.word_at(before))
    }

    pub(in crate::assist) fn current_part(&self) -> StatementPart {
        self.levels.last().map_or(StatementPart::Start(EnclosingBody::File), |level| level.mode.clone())
    }

    pub(in crate::assist) fn step_has(&self, name: &str) -> bool {
        let Some(scope) = self.levels.last().and_then(|level| level.scope.as_ref()) else { return false };
        let kind = scope
            .kind
            .as_deref()
            .and_then(crate::assist::member::step_kind)
            .unwrap_or(averment_runs::run::StepKind::Call);
        kind.field_names().contains(&name)
    }

    pub(in crate::assist) fn is_behind_operand(&self, index: usize) -> bool {
        let Some(level) = self.levels.last() else { return false };
        let Some(last) = index.checked_sub(1).filter(|&last| last >= level.start) else { return false };
        let head_only = last == level.start && level.mode == StatementPart::Step;
        self.is_complete(last, &level.mode) && !head_only && !opens_step(self.word_at(last))
    }

    pub(super) fn is_complete(&self, last: usize, mode: &StatementPart) -> bool {
        matches!(
            self.kind_at(last),
            TokenKind::Word | TokenKind::Number | TokenKind::Binding | TokenKind::Text | TokenKind::Regex
        ) && !language::is_joining(self.word_at(last))
            || matches!(self.word_at(last), ")" | "]")
            || matches!(self.word_at(last), "*" | "?") && *mode == StatementPart::Step
    }

    pub(in crate::assist) fn run_to_end(&mut self) {
        self.run_with(&mut |_, _| {});
    }

    /// Processes all tokens; calls `look` for each one except line ends, before it takes effect.
    pub(in crate::assist) fn run_with(&mut self, look: &mut dyn FnMut(&Self, usize)) {
        for index in 0..self.tokens.len() {
            if self.kind_at(index) == TokenKind::LineEnd {
                self.line_end(index);
                continue;
            }
            self.give_up_brackets(index);
            look(self, index);
            match self.word_at(index) {
                "(" => self.open_round(index),
                "[" => self.open_square(index),
                "{" => self.open_curly(index),
                ")" => self.close_level("("),
                "]" => self.close_level("["),
                "}" => self.close_level("{"),
                ";" => self.end_statement(index),
                _ => self.advance_statement(index),
            }
        }
    }

    pub(super) fn line_end(&mut self, index: usize) {
        let goes_on = self.continues_line(index) || self.next_joins(index);
        let object = matches!(self.levels.last().map(|level| &level.begins), Some(StatementPart::Object(_)));
        if object || !goes_on {
            self.end_statement(index);
        }
    }

    pub(super) fn end_statement(&mut self, index: usize) {
        if let Some(level) = self.levels.last_mut()
            && level.has_lines()
        {
            level.begin_statement(index + 1);
        }
    }

    /// True if the last word before a line end requires a continuation.
    pub(super) fn continues_line(&self, index: usize) -> bool {
        let Some(last) = index.checked_sub(1) else { return false };
        let sign = matches!(
            self.word_at(last),
            "," | ":" | "->" | "=" | "==" | "!=" | "===" | "<" | "<=" | ">" | ">=" | "+" | "|"
        );
        sign || matches!(self.word_at(last), "and" | "or" | "then" | "else" | "implies")
    }

    pub(super) fn next_joins(&self, index: usize) -> bool {
        let next = (index..self.tokens.len()).find(|&next| self.kind_at(next) != TokenKind::LineEnd);
        next.is_some_and(|next| matches!(self.word_at(next), "and" | "or" | "->"))
    }

    /// Closes all open brackets at a declaration in column 0.
    pub(super) fn give_up_brackets(&mut self, index: usize) {
        let first = index == 0 || self.kind_at(index - 1) == TokenKind::LineEnd;
        let at = self.tokens.get(index).map_or(0, |token| token.start);
        let outermost = first && (at == 0 || self.text.as_bytes().get(at - 1) == Some(&b'\n'));
        let declares = language::DECLARATIONS.contains(&self.word_at(index)) && self.word_at(index) != "call";
        let named = matches!(self.kind_at(index + 1), TokenKind::Word | TokenKind::Text);
        if self.levels.len() > 1 && outermost && declares && named {
            self.levels.truncate(1);
            self.end_statement(index.saturating_sub(1));
        }
        let is_round =
            |level: &BracketLevel| matches!(level.open, "(" | "[") && !matches!(level.begins, StatementPart::Object(_));
        if first && self.levels.last().is_some_and(is_round) && self.begins_a_statement(index) {
            while self.levels.len() > 1 && self.levels.last().is_some_and(is_round) {
                self.levels.pop();
            }
            self.end_statement(index.saturating_sub(1));
        }
    }

    /// True for a first word that cannot continue the content of an open parenthesis.
    pub(super) fn begins_a_statement(&self, index: usize) -> bool {
        let word = self.word_at(index);
        if language::STATEMENTS.contains(&word) && self.kind_at(index + 1) == TokenKind::Word {
            return true;
        }
        let before = (0..index).rev().find(|&before| self.kind_at(before) != TokenKind::LineEnd);
        let complete = before.is_some_and(|before| {
            !language::is_joining(self.word_at(before))
                && !matches!(
                    self.word_at(before),
                    "," | "(" | "[" | "{" | ":" | "|" | "==" | "<" | "<=" | ">" | ">=" | "!=" | "+" | "-"
                )
        });
        let begins = matches!(self.kind_at(index), TokenKind::Word | TokenKind::Text) && !language::is_joining(word);
        complete && begins && !language::goes_on_a_step(word)
    }

    pub(super) fn push_level(
        &mut self,
        open: &'static str,
        begins: StatementPart,
        index: usize,
        scope: Option<StepScope>,
    ) {
        self.levels.push(BracketLevel::new(open, begins, index + 1, scope));
    }

    pub(super) fn open_round(&mut self, index: usize) {
        let touches = self.touches_previous(index);
        let Some(level) = self.levels.last() else { return };
        let scope = level.scope.clone();
        let begins = match &level.mode {
            StatementPart::Step if touches || level.steps.kind.is_some() => {
                StatementPart::Arguments(level.steps.clone())
            }
            StatementPart::Step => StatementPart::Step,
            _ => StatementPart::Expression,
        };
        let scope = if let StatementPart::Arguments(steps) = &begins { Some(steps.clone()) } else { scope };
        self.push_level("(", begins, index, scope);
    }

    pub(super) fn open_square(&mut self, index: usize) {
        let Some(level) = self.levels.last() else { return };
        let begins = match &level.mode {
            StatementPart::Object(entry) => StatementPart::Object(entry.object_at_key(&level.key)),
            StatementPart::Value(steps, path) => StatementPart::Value(steps.clone(), path.clone()),
            _ => StatementPart::Expression,
        };
        let scope = level.scope.clone();
        self.push_level("[", begins, index, scope);
    }

    pub(super) fn open_curly(&mut self, index: usize) {
        let Some(level) = self.levels.last() else { return };
        let is_object = matches!(level.mode, StatementPart::Object(_)) || level.open == "[" || level.open == "(";
        let body = head_body(&level.head, &self.head_words(level.start, index));
        let scope = if level.head == "each" { Some(level.steps.clone()) } else { level.scope.clone() };
        let begins = match (&level.mode, body) {
            (StatementPart::Object(entry), _) if level.open == "[" => StatementPart::Object(*entry),
            (StatementPart::Object(entry), _) => StatementPart::Object(entry.object_at_key(&level.key)),
            (_, Some(body)) if !is_object => StatementPart::Start(body),
            _ => StatementPart::Object(head_object(&level.head)),
        };
        let steps = level.steps.clone();
        let call = level.head == "call";
        self.push_level("{", begins, index, if call { Some(steps) } else { scope });
    }

    pub(super) fn head_words(&self, start: usize, end: usize) -> Vec<&'t str> {
        (start..end.min(start + 3)).map(|index| self.word_at(index)).collect()
    }

    pub(super) fn close_level(&mut self, sign: &str) {
        if let Some(depth) = self.levels.iter().rposition(|level| level.open == sign) {
            self.levels.truncate(depth.max(1));
        }
        // The end of a body ends its statement, unless modifiers follow on its line.
        if sign == "{"
            && let Some(level) = self.levels.last_mut()
            && matches!(level.begins, StatementPart::Start(_))
        {
            level.mode = StatementPart::Free;
        }
    }

    pub(super) fn advance_statement(&mut self, index: usize) {
        let word = self.word_at(index);
        let previous = index.checked_sub(1).map_or("", |before| self.word_at(before));
        let (kind, touches) = (self.kind_at(index), self.touches_previous(index));
        let next_is_colon = self.word_at(index + 1) == ":";
        let Some(level) = self.level_mut() else { return };
        level.commas += usize::from(word == ",");
        if let StatementPart::Object(_) = level.begins {
            level.advance_entry(word, kind);
            return;
        }
        if level.head.is_empty() {
            level.head = word.trim_matches(['"', '\'']).to_owned();
        }
        match level.mode.clone() {
            StatementPart::Start(body) => level.first_word(body, word),
            StatementPart::Step => level.advance_step(word, previous, kind, touches),
            StatementPart::Arguments(steps) => level.advance_arguments(steps, word, kind),
            StatementPart::Value(steps, _) if word == "," => level.mode = StatementPart::Arguments(steps),
            StatementPart::Expression | StatementPart::Value(..) => {
                level.advance_expression(word, previous, next_is_colon)
            }
            StatementPart::Type if word == "=" => level.mode = StatementPart::Expression,
            StatementPart::Free | StatementPart::Severity | StatementPart::Within => level.advance_other(word),
            StatementPart::Call => level.steps.tools.push(word.trim_matches(['"', '\'']).to_owned()),
            _ => {}
        }
    }
}

/// Returns the body after the first words of a statement; `None` if the brace opens an object.
fn head_body(head: &str, words: &[&str]) -> Option<EnclosingBody> {
    let second = words.get(1).copied().unwrap_or("");
    Some(match head {
        "rule" => EnclosingBody::Assertions,
        "suite" => EnclosingBody::Suite,
        "case" => EnclosingBody::Case,
        "pre" | "post" => EnclosingBody::World,
        "invariant" | "for" => EnclosingBody::Invariant,
        "workspace" => EnclosingBody::Workspace,
        "runner" => EnclosingBody::Runner,
        _ if statements::has_block(head, second) => EnclosingBody::Assertions,
        "not" => return head_body(second, words.get(1..).unwrap_or(&[])),
        _ => return None,
    })
}

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
