//! Where a session is, which of an execution it is, and what is left of it.

use crate::record::SessionRecord;
use std::path::PathBuf;

/// Where a session is.
#[derive(Debug)]
pub(crate) struct SessionPlace {
    /// What is kept of it.
    pub folder: PathBuf,
    /// Where the agent works.
    pub cwd: PathBuf,
}

/// Which session of an execution.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionNumber {
    pub repetition: u64,
    pub attempt: u64,
}

/// A session that has ended.
#[derive(Debug)]
pub(crate) struct EndedSession {
    pub record: SessionRecord,
    /// The run, on one line.
    pub run: String,
}

impl SessionPlace {
    pub(crate) fn output_log(&self) -> PathBuf {
        self.folder.join("stdout.log")
    }

    pub(crate) fn error_log(&self) -> PathBuf {
        self.folder.join("stderr.log")
    }
}
