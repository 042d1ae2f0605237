//! The closed sets of words that fields and functions give, and the word that is meant by another.

use averment_base::diagnostic::suggest;
use averment_base::near::{NearMiss, near_miss};
use averment_builtins::detect::Detector;
use averment_runs::path::normal_path;
use averment_runs::run::{StepKind, StepStatus};

/// A set of words that a value is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordSet {
    /// How a step ended.
    Status,
    /// The kind of a step.
    Kind,
    /// The day of a time.
    Weekday,
    /// Who says a message. Formats have more roles than those listed: only a slip of one of them is reported.
    Role,
    /// The path of a file, which has one spelling: only other spellings are reported.
    Path,
    /// What `type_of` calls the types of values.
    TypeName,
    /// The kinds of credentials that are found.
    SecretKind,
    /// The kinds of personal data that are found.
    PiiKind,
}

/// What other languages call the types.
const TYPES_ELSEWHERE: [(&str, &[&str]); 6] = [
    ("string", &["str", "text", "char"]),
    ("number", &["int", "integer", "float", "double", "decimal", "numeric"]),
    ("boolean", &["bool"]),
    ("list", &["array", "tuple", "vector", "sequence"]),
    ("object", &["dict", "dictionary", "map", "hash", "struct", "record"]),
    ("null", &["none", "nil", "undefined", "nonetype", "missing"]),
];

/// The most words of a set that a message lists.
const LISTED: usize = 12;

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Roles of the formats that are read, also those that nothing here asks for.
const ROLES: [&str; 14] = [
    "assistant",
    "user",
    "system",
    "developer",
    "thinking",
    "task",
    "human",
    "ai",
    "model",
    "reasoning",
    "tool",
    "function",
    "agent",
    "critic",
];

/// What other formats and tools call the kinds of steps.
const KINDS_ELSEWHERE: [(StepKind, &[&str]); 9] = [
    (StepKind::Call, &["tool", "tools", "function", "invocation", "mcp", "calls"]),
    (StepKind::Message, &["text", "user", "assistant", "system", "say", "chat", "messages"]),
    (StepKind::Command, &["bash", "shell", "exec", "terminal", "commands"]),
    (StepKind::Read, &["open", "view", "reads"]),
    (StepKind::Write, &["edit", "patch", "create", "writes"]),
    (StepKind::Skill, &["skills"]),
    (StepKind::Http, &["https", "request", "fetch", "url", "api"]),
    (StepKind::Span, &["trace", "event", "spans"]),
    (StepKind::Handover, &["handoff", "hand_off", "transfer", "delegate", "handovers"]),
];

impl WordSet {
    /// Its words.
    pub fn words(self) -> Vec<&'static str> {
        match self {
            Self::Status => StepStatus::RECORDED.iter().filter_map(|status| status.as_str()).collect(),
            Self::Kind => StepKind::ALL.iter().map(|kind| kind.as_str()).collect(),
            Self::Weekday => WEEKDAYS.to_vec(),
            Self::Role => ROLES.to_vec(),
            Self::Path => Vec::new(),
            Self::TypeName => TYPES_ELSEWHERE.iter().map(|(name, _)| *name).collect(),
            Self::SecretKind => Detector::Secrets.all_kinds(),
            Self::PiiKind => Detector::Pii.all_kinds(),
        }
    }

    /// Its words, for people.
    pub(super) fn listed_words(self) -> String {
        let words = self.words();
        let shown = words.iter().take(LISTED).map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
        if words.len() > LISTED { format!("{shown}, …") } else { shown }
    }

    /// The word that is meant by one that is not in the set.
    pub(super) fn meant_word(self, word: &str) -> Option<&'static str> {
        let lower = word.trim().to_lowercase();
        let words = self.words();
        let same = words.iter().find(|known| **known == lower).copied();
        let elsewhere = || match self {
            Self::Status => StepStatus::from_word(&lower).and_then(StepStatus::as_str),
            Self::Kind => kind_elsewhere(&lower),
            Self::Weekday => {
                let starts = |day: &&&str| lower.len() >= 2 && lower.get(..2) == day.get(..2);
                WEEKDAYS.iter().find(starts).copied()
            }
            Self::TypeName => {
                TYPES_ELSEWHERE.iter().find(|(_, others)| others.contains(&lower.as_str())).map(|(name, _)| *name)
            }
            // The provider, or the thing, in other words.
            Self::SecretKind | Self::PiiKind => {
                let plain = |word: &str| word.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>();
                let asked = plain(&lower);
                words.iter().find(|known| asked.len() >= 3 && plain(known).starts_with(&asked)).copied()
            }
            Self::Role | Self::Path => None,
        };
        same.or_else(elsewhere).or_else(|| suggest::suggest_name(&lower, words))
    }

    /// Whether a word can never be a value: of an open set only where it is a slip of a known word.
    pub(super) fn excludes_word(self, word: &str) -> bool {
        let words = self.words();
        match self {
            Self::Role => {
                !words.contains(&word) && words.iter().any(|known| near_miss(word, known) == Some(NearMiss::Slip))
            }
            Self::Path => normal_path(word).is_some(),
            _ => !words.contains(&word),
        }
    }

    /// True if other words than those listed may be values.
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Role | Self::Path)
    }
}

fn kind_elsewhere(word: &str) -> Option<&'static str> {
    let named = |kind: StepKind| kind.as_str();
    let exact = KINDS_ELSEWHERE.iter().find(|(_, words)| words.contains(&word));
    let within = || {
        // `tool_call`, `function_call`, `command_execution`, `file_read`.
        let parts: Vec<&str> = word.split(['_', '-', '.', ' ']).collect();
        let kind = StepKind::ALL.into_iter().find(|kind| parts.contains(&kind.as_str()));
        kind.or_else(|| {
            let found = KINDS_ELSEWHERE.iter().find(|(_, words)| parts.iter().any(|part| words.contains(part)));
            found.map(|(kind, _)| *kind)
        })
    };
    exact.map(|(kind, _)| *kind).or_else(within).map(named)
}
