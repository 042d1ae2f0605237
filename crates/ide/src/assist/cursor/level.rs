//! What each word of a statement does to the part of the statement that follows.

use super::{Body, Level, Mode, Steps};
use averment_syntax::statements::{self, Follows};
use averment_syntax::token::Kind;
use averment_syntax::words as language;

impl Level {
    pub(super) fn new(open: &'static str, begins: Mode, start: usize, scope: Option<Steps>) -> Self {
        let mode = begins.clone();
        let (head, key) = (String::new(), String::new());
        let around = scope.clone();
        let steps = Steps::default();
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

    pub(super) fn begin(&mut self, start: usize) {
        self.mode = self.begins.clone();
        self.start = start;
        self.head.clear();
        self.steps = Steps::default();
        self.listed.clear();
        self.scope = self.around.clone();
        self.behind_colon = false;
    }

    /// Line ends end the statements in it.
    pub(super) fn has_lines(&self) -> bool {
        matches!(self.begins, Mode::Start(_) | Mode::Object(_))
    }
}

/// The words of a step pattern's end behind which no further step stands.
pub(super) fn is_modifier(word: &str) -> bool {
    language::MODIFIERS.contains(&word) && !matches!(word, "when" | "severity")
}

/// The part of a statement behind a first word that begins no statement.
fn other_word(body: Body, word: &str) -> Mode {
    match word {
        "until" => Mode::Step,
        "use" => Mode::Use,
        "test" => Mode::Test,
        "call" => Mode::Call,
        "severity" => Mode::Severity,
        _ if language::DECLARATIONS.contains(&word) || language::MODIFIERS.contains(&word) => Mode::Free,
        "prompt" | "timeout" | "template" | "bootstrap" | "model" | "agent" | "cwd" | "max_steps" | "parallel"
        | "retries" | "schedule" | "select"
            if body != Body::File =>
        {
            Mode::Free
        }
        _ => Mode::Expression,
    }
}

impl Level {
    pub(super) fn entry(&mut self, word: &str, kind: Kind) {
        match word {
            ":" => self.behind_colon = true,
            "," => self.behind_colon = false,
            _ if !self.behind_colon && matches!(kind, Kind::Word | Kind::Text) => {
                self.key = word.trim_matches(['"', '\'']).to_owned();
            }
            _ => {}
        }
    }

    pub(super) fn first_word(&mut self, body: Body, word: &str) {
        let follows = statements::head(word).map(|head| head.follows);
        self.mode = match follows {
            Some(Follows::Step) => Mode::Step,
            Some(Follows::Expression) => Mode::Expression,
            Some(Follows::Statement) => Mode::Start(body),
            Some(Follows::Other) => Mode::Free,
            None => other_word(body, word),
        };
    }

    pub(super) fn in_step(&mut self, word: &str, previous: &str, kind: Kind, touches: bool) {
        if matches!(word, "->" | "then" | "iff" | "until" | "and" | "after" | "before" | "between") {
            self.listed.clear();
        }
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
            "|" | "proposed" | "ok" | "failed" | "by" | "tagged" | "each" | "both" | "repeat" | "exactly" | "only" => {}
            _ if language::KINDS.contains(&word) => {
                self.steps.kind = Some(word.to_owned());
                word.clone_into(&mut self.listed);
            }
            // A text in a list goes on with the kind word before it.
            _ if kind == Kind::Text && !self.listed.is_empty() && self.steps.tools.is_empty() => {
                self.steps.kind = Some(self.listed.clone());
            }
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

    pub(super) fn in_arguments(&mut self, steps: Steps, word: &str, kind: Kind) {
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

    pub(super) fn in_expression(&mut self, word: &str, previous: &str, next_is_colon: bool) {
        let complete = !language::is_joining(previous) && previous != ".";
        match word {
            "severity" if complete && !next_is_colon => self.mode = Mode::Severity,
            _ if complete && is_modifier(word) && !next_is_colon && self.open != "(" => self.mode = Mode::Free,
            _ => {}
        }
    }

    pub(super) fn in_other(&mut self, word: &str) {
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
