//! Where a session is, which of an execution it is, and what is left of it.

use crate::record::Record;
use std::path::PathBuf;

/// Where a session is.
#[derive(Debug)]
pub(crate) struct Place {
    /// What is kept of it.
    pub folder: PathBuf,
    /// Where the agent works.
    pub cwd: PathBuf,
}

/// Which session of an execution.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number {
    pub repetition: u64,
    pub attempt: u64,
}

/// A session that has ended.
#[derive(Debug)]
pub(crate) struct Session {
    pub record: Record,
    /// The run, on one line.
    pub run: String,
}

impl Place {
    pub(crate) fn output(&self) -> PathBuf {
        self.folder.join("stdout.log")
    }

    pub(crate) fn error(&self) -> PathBuf {
        self.folder.join("stderr.log")
    }
}
