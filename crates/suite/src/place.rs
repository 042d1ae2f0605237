//! The location of a session, its number, and its results.

use crate::record::SessionRecord;
use std::path::PathBuf;

/// The folders of a session.
#[derive(Debug)]
pub(crate) struct SessionPlace {
    /// The folder of its results.
    pub folder: PathBuf,
    /// The working folder of the agent.
    pub cwd: PathBuf,
}

/// Identifies a session of an execution.
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
