//! Why a run could not be read.

use averment_base::value::json::JsonError;
use averment_runs::run::RunSource;
use std::fmt;

/// A run that cannot be read. Other runs of the file are not touched by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// The file as the user named it.
    pub file: String,
    /// Line in the file, from 1; 0 when the whole file is meant.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it; empty if there is no advice.
    pub help: String,
    /// True if it is no trace, nor nearly one: in a folder such a file is skipped.
    pub no_trace: bool,
}

/// What to give instead of a text that is no JSON.
const NOT_JSON: &str =
    "name JSON: one run, a list of runs, or a run on each line; `aver docs traces` lists the formats";

impl ReadError {
    /// An error about a whole file.
    #[must_use]
    pub fn of_file(file: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: 0, column: 0, message: message.into(), help: help.into(), no_trace: false }
    }

    /// An error at a byte offset of a run's text.
    #[must_use]
    pub fn at_offset(source: &RunSource, text: &str, offset: usize, problem: TraceProblem) -> Self {
        let offset = if text.is_char_boundary(offset) { offset } else { text.len() };
        let (line, column) = source.line_column(text, offset);
        let TraceProblem { message, help, no_trace } = problem;
        Self { file: source.file.clone(), line, column, message, help, no_trace }
    }

    /// An error of the JSON reader on a run's text.
    #[must_use]
    pub fn of_json(source: &RunSource, text: &str, error: JsonError) -> Self {
        // A text that does not even begin as JSON is another kind of file, and no typing mistake.
        let is_start = text.get(..error.offset).is_some_and(|before| before.trim().is_empty());
        let help = if is_start { NOT_JSON.to_owned() } else { error.help };
        Self::at_offset(source, text, error.offset, TraceProblem { message: error.message, help, no_trace: false })
    }
}

impl fmt::Display for ReadError {
    /// `FILE:LINE:COLUMN: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message),
            line => write!(f, "{}:{line}:{}: {}", self.file, self.column, self.message),
        }
    }
}

impl std::error::Error for ReadError {}

/// The problem and its remedy, without a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceProblem {
    /// What is wrong.
    pub message: String,
    /// What to write.
    pub help: String,
    /// True if it is no trace at all.
    pub no_trace: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacedError {
    pub(crate) offset: usize,
    pub(crate) problem: TraceProblem,
}

impl PlacedError {
    pub(crate) fn new(
        origin: averment_base::value::TextOrigin,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let offset = origin.byte_range().map_or(0, |range| range.start);
        Self { offset, problem: TraceProblem { message: message.into(), help: help.into(), no_trace: false } }
    }

    pub(crate) fn no_trace(self) -> Self {
        Self { problem: TraceProblem { no_trace: true, ..self.problem }, ..self }
    }
}
