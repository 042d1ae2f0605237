//! What is said of a trace that cannot be read.

use super::redact::{self, redact};
use averment_traces::error::{Problem, ReadError};
use averment_traces::reading::ReadFailure;
use serde::Serialize;

/// A trace, or a line of one, that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// The file as the user named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it; empty when there is nothing to say.
    pub help: String,
    /// Whether it is no trace at all, and not even nearly one.
    #[serde(skip)]
    pub no_trace: bool,
}

impl Unreadable {
    /// What the reader says, redacted: it may quote a key or a value.
    #[must_use]
    pub fn of(error: &ReadError) -> Self {
        Self {
            file: redact::of_file(&error.file).into_owned(),
            line: error.line.max(1),
            column: error.column.max(1),
            message: redact(&error.message).into_owned(),
            help: redact(&error.help).into_owned(),
            no_trace: error.no_trace,
        }
    }
}

impl From<ReadFailure<'_>> for Unreadable {
    fn from(failure: ReadFailure<'_>) -> Self {
        match failure {
            ReadFailure::Unreadable(error) => Self::of(&error),
            ReadFailure::Odd(warning, run) => {
                let message = redact::of_run(&run, &warning.message);
                let problem = Problem { message, help: String::new(), no_trace: false };
                Self::of(&ReadError::at(&run.source, run.text, warning.offset, problem))
            }
        }
    }
}
