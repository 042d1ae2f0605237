//! The error for a history that cannot be read or written.

use averment_base::diagnostic::render::one_line;
use rusqlite::ErrorCode;
use std::path::Path;

/// An error message and a suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryError {
    /// The error message.
    pub message: String,
    /// The suggestion; empty if there is none.
    pub help: String,
}

pub(crate) const MADE_BY: &str = "`aver check RULES RUNS --record FILE` makes a history";
const ANOTHER: &str = "name another file";

impl HistoryError {
    /// Creates an error from a message and a suggestion.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    pub(crate) fn for_file(path: &Path, what: &str, help: &str) -> Self {
        Self::new(format!("the history `{}` {what}", one_line(&path.display().to_string())), help)
    }

    pub(crate) fn from_sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        let (what, help) = match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => ("is no database, and is left as it is".to_owned(), MADE_BY),
            Some(ErrorCode::DatabaseCorrupt) => {
                ("is damaged".to_owned(), "restore a copy of it, or record into another file")
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => ("may not be written".to_owned(), ANOTHER),
            Some(ErrorCode::CannotOpen) => {
                ("cannot be opened: its folder is missing, or may not be written".to_owned(), ANOTHER)
            }
            Some(ErrorCode::DiskFull) => {
                ("cannot be written: the disk is full".to_owned(), "make room, and record again")
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                ("is held by another program for too long".to_owned(), "try again when that has ended")
            }
            _ => (format!("cannot be read or written: {}", one_line(&error.to_string())), ""),
        };
        Self::for_file(path, &what, help)
    }
}

impl std::fmt::Display for HistoryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HistoryError {}
