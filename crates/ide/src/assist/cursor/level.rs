//! The effect of each word on the part of the statement that follows.

use super::{BracketLevel, EnclosingBody, StatementPart, StepScope};
use averment_syntax::statements::{self, HeadOperand};
use averment_syntax::token::TokenKind;
use averment_syntax::words as language;

impl BracketLevel {
    pub(super) fn new(open: &'static str, begins: StatementPart, start: usize, scope: Option<StepScope>) -> Self {
        let mode = begins.clone();
        let (head, key) = (String::new(), String::new());
        let around = scope.clone();
        let steps = StepScope::default();
        Self {
            open,
            begins,
            mode,
            head,
            start,
            steps,
            listed: String::new(),
            scope,
            around,
            commas: 0,
            key,
            behind_colon: false,
        }
    }

    pub(super) fn begin_statement(&mut self, start: usize) {
        self.mode = self.begins.clone();
        self.start = start;
        self.head.clear();
        self.steps = StepScope::default();
        self.listed.clear();
        self.scope = self.around.clone();
        self.behind_colon = false;
    }

    pub(super) fn has_lines(&self) -> bool {
        matches!(self.begins, StatementPart::Start(_) | StatementPart::Object(_))
    }
}

/// True for modifiers that end a step pattern, so no further step follows.
pub(super) fn is_modifier(word: &str) -> bool {
    language::MODIFIERS.contains(&word) && !matches!(word, "when" | "severity")
}

/// Returns the part of a statement after a first word that starts no statement.
fn other_word(body: EnclosingBody, word: &str) -> StatementPart {
    match word {
        "until" => StatementPart::Step,
        "use" => StatementPart::Use,
        "test" => StatementPart::Test,
        "call" => StatementPart::Call,
        "severity" => StatementPart::Severity,
        _ if language::DECLARATIONS.contains(&word) || language::MODIFIERS.contains(&word) => StatementPart::Free,
        "prompt" | "timeout" | "template" | "bootstrap" | "model" | "agent" | "cwd" | "max_steps" | "parallel"
        | "retries" | "schedule" | "select"
            if body != EnclosingBody::File =>
        {
            StatementPart::Free
        }
        _ => StatementPart::Expression,
    }
}

impl BracketLevel {
    pub(super) fn advance_entry(&mut self, word: &str, kind: TokenKind) {
        match word {
            ":" => self.behind_colon = true,
            "," => self.behind_colon = false,
            _ if !self.behind_colon && matches!(kind, TokenKind::Word | TokenKind::Text) => {
                self.key = word.trim_matches(['"', '\'']).to_owned();
            }
            _ => {}
        }
    }

    pub(super) fn first_word(&mut self, body: EnclosingBody, word: &str) {
        let follows = statements::find_head(word).map(|head| head.follows);
        self.mode = match follows {
            Some(HeadOperand::Step) => StatementPart::Step,
            Some(HeadOperand::Expression) => StatementPart::Expression,
            Some(HeadOperand::Statement) => StatementPart::Start(body),
            Some(HeadOperand::Other) => StatementPart::Free,
            None => other_word(body, word),
        };
    }

    pub(super) fn advance_step(&mut self, word: &str, previous: &str, kind: TokenKind, touches: bool) {
        if matches!(word, "->" | "then" | "iff" | "until" | "and" | "after" | "before" | "between") {
            self.listed.clear();
        }
        match word {
            "where" => {
                self.scope = Some(self.steps.clone());
                self.mode = StatementPart::Expression;
            }
            ":" => {
                self.scope = Some(self.steps.clone());
                self.mode = StatementPart::Expression;
            }
            "<" | "<=" | ">" | ">=" | "==" | "!=" if self.head == "count" => self.mode = StatementPart::Expression,
            "in" => self.mode = StatementPart::Expression,
            "when" => self.mode = StatementPart::Expression,
            "severity" => self.mode = StatementPart::Severity,
            "within" => self.mode = StatementPart::Within,
            "->" | "," | "then" | "iff" | "until" | "and" | "or" => self.steps = StepScope::default(),
            "." if self.head == "some" || self.head == "count" => self.mode = StatementPart::Expression,
            _ if is_modifier(word) => self.mode = StatementPart::Free,
            "|" | "proposed" | "ok" | "failed" | "by" | "tagged" | "each" | "both" | "repeat" | "exactly" | "only" => {}
            _ if language::KINDS.contains(&word) => {
                self.steps.kind = Some(word.to_owned());
                word.clone_into(&mut self.listed);
            }
            // A text in a list takes over the preceding kind word.
            _ if kind == TokenKind::Text && !self.listed.is_empty() && self.steps.tools.is_empty() => {
                self.steps.kind = Some(self.listed.clone());
            }
            _ if touches && !matches!(previous, "(" | ",") => {
                if let Some(last) = self.steps.tools.last_mut() {
                    last.push_str(word);
                }
            }
            _ if matches!(kind, TokenKind::Word | TokenKind::Text) && self.steps.kind.is_none() => {
                self.steps.tools.push(word.trim_matches(['"', '\'']).to_owned());
            }
            "*" | "?" => self.steps.tools.push(word.to_owned()),
            _ => {}
        }
    }

    pub(super) fn advance_arguments(&mut self, steps: StepScope, word: &str, kind: TokenKind) {
        match word {
            ":" => {
                let path = self.key.split('.').map(str::to_owned).collect();
                self.mode = StatementPart::Value(steps, path);
            }
            "," => self.key.clear(),
            "." => self.key.push('.'),
            _ if kind == TokenKind::Word => {
                if !self.key.ends_with('.') {
                    self.key.clear();
                }
                self.key.push_str(word);
            }
            _ if self.key.is_empty() => {}
            _ => self.mode = StatementPart::Value(steps, self.key.split('.').map(str::to_owned).collect()),
        }
    }

    pub(super) fn advance_expression(&mut self, word: &str, previous: &str, next_is_colon: bool) {
        let complete = !language::is_joining(previous) && previous != ".";
        match word {
            "severity" if complete && !next_is_colon => self.mode = StatementPart::Severity,
            _ if complete && is_modifier(word) && !next_is_colon && self.open != "(" => self.mode = StatementPart::Free,
            _ => {}
        }
    }

    pub(super) fn advance_other(&mut self, word: &str) {
        let head = self.head.clone();
        match word {
            "=" if head == "def" && !self.steps.tools.is_empty() => self.mode = StatementPart::Step,
            "=" => self.mode = StatementPart::Expression,
            "step" if head == "def" => self.steps.tools.push(String::new()),
            ":" if head == "param" => self.mode = StatementPart::Type,
            "for" if head == "args" => self.mode = StatementPart::Step,
            "where" | "when" => self.mode = StatementPart::Expression,
            "severity" => self.mode = StatementPart::Severity,
            _ if is_modifier(word) => self.mode = StatementPart::Free,
            _ => {}
        }
        if self.mode == StatementPart::Step {
            self.steps = StepScope::default();
        }
    }
}
