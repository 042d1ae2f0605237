//! Messages about unreadable traces.

use super::redact::{self, redact};
use averment_traces::error::{ReadError, TraceProblem};
use averment_traces::reading::ReadFailure;
use serde::Serialize;

/// An unreadable trace, or an unreadable line of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableTrace {
    /// The file as the user named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The problem.
    pub message: String,
    /// The suggested fix; empty without a suggestion.
    pub help: String,
    /// True if the file does not even resemble a trace.
    #[serde(skip)]
    pub no_trace: bool,
}

impl UnreadableTrace {
    /// Converts a reading error. The message is redacted, because it may quote a key or value.
    #[must_use]
    pub fn of_error(error: &ReadError) -> Self {
        Self {
            file: redact::redact_file(&error.file).into_owned(),
            line: error.line.max(1),
            column: error.column.max(1),
            message: redact(&error.message).into_owned(),
            help: redact(&error.help).into_owned(),
            no_trace: error.no_trace,
        }
    }
}

impl From<ReadFailure<'_>> for UnreadableTrace {
    fn from(failure: ReadFailure<'_>) -> Self {
        match failure {
            ReadFailure::Unreadable(error) => Self::of_error(&error),
            ReadFailure::Odd(warning, run) => {
                let message = redact::redact_run_text(&run, &warning.message);
                let problem = TraceProblem { message, help: String::new(), no_trace: false };
                Self::of_error(&ReadError::at_offset(&run.source, run.text, warning.offset, problem))
            }
        }
    }
}
