//! Answers to JavaScript: JSON text with a kind.

use crate::exchange::Slot;
use averment::{Diagnostics, ReadError, RulesError, RunError};
use serde::Serialize;
use serde_json::{Value, json};

/// The kind of an answer. `lib/core.js` uses the same numbers.
#[derive(Clone, Copy)]
pub enum AnswerKind {
    /// The requested result.
    Done = 0,
    /// The rules do not compile.
    Rules = 1,
    /// The run cannot be read.
    Read = 2,
    /// An argument is invalid.
    Given = 3,
    /// The rules are unknown, because another instance created them.
    Unknown = 4,
    /// A bug in Averment.
    Internal = 5,
}

/// Why a request has no result.
pub enum Refusal {
    Rules { message: String, help: String, diagnostics: Value },
    Read(ReadError),
    Given(String),
    Unknown,
    Internal(String),
}

impl AnswerKind {
    /// Puts the answer into its slot and returns its kind.
    pub fn give(result: Result<Vec<u8>, Refusal>) -> u32 {
        let (kind, bytes) = match result {
            Ok(bytes) => (Self::Done, bytes),
            Err(refusal) => refusal.into_answer(),
        };
        Slot::Answer.put(bytes);
        kind as u32
    }
}

impl Refusal {
    fn into_answer(self) -> (AnswerKind, Vec<u8>) {
        let (kind, data) = match self {
            Self::Rules { message, help, diagnostics } => {
                (AnswerKind::Rules, json!({"message": message, "help": help, "diagnostics": diagnostics}))
            }
            Self::Read(error) => (AnswerKind::Read, json!(error)),
            Self::Given(message) => (AnswerKind::Given, json!({"message": message})),
            Self::Unknown => (AnswerKind::Unknown, json!({"message": "the rules are of another instance"})),
            Self::Internal(message) => (AnswerKind::Internal, json!({"message": message})),
        };
        (kind, data.to_string().into_bytes())
    }

    /// Creates a refusal from the compiler's diagnostics.
    pub fn of_diagnostics(diagnostics: &Diagnostics) -> Self {
        let message = diagnostics.to_string().trim_end().to_owned();
        Self::Rules { message, help: String::new(), diagnostics: diagnostics.data() }
    }
}

impl From<RulesError> for Refusal {
    fn from(error: RulesError) -> Self {
        match error.problem() {
            Some(problem) => Self::Rules {
                message: problem.message.clone(),
                help: problem.help.clone(),
                diagnostics: error.diagnostics().data(),
            },
            None => Self::of_diagnostics(error.diagnostics()),
        }
    }
}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Read(error) => Self::Read(error),
            other => Self::Internal(other.to_string()),
        }
    }
}

/// Returns a report as JSON text.
pub fn json_bytes(report: &impl Serialize) -> Result<Vec<u8>, Refusal> {
    serde_json::to_vec(report).map_err(|error| Refusal::Internal(error.to_string()))
}
