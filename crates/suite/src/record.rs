//! The record of a session: how it ended, and the data about its run.

use serde::{Deserialize, Serialize};

/// The way in which a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionOutcome {
    /// The agent exited by itself, and its transcript was read.
    Completed,
    /// It exceeded its time limit.
    Timeout,
    /// It exceeded its step limit.
    MaxSteps,
    /// It exited with a nonzero code, or could not be started.
    RunnerCrash,
    /// The agent does not know the model.
    ModelRejected,
    /// Its workspace could not be created.
    Workspace,
    /// The bootstrap command of the workspace failed.
    WorkspaceBootstrap,
    /// There is no transcript.
    Collection,
    /// The transcript cannot be read.
    Normalization,
}

impl SessionOutcome {
    /// Returns its word in reports, which is also the class of the failure.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Timeout => "timeout",
            Self::MaxSteps => "max-steps",
            Self::RunnerCrash => "runner-crash",
            Self::ModelRejected => "model-rejected",
            Self::Workspace => "workspace",
            Self::WorkspaceBootstrap => "workspace-bootstrap",
            Self::Collection => "collection",
            Self::Normalization => "normalization",
        }
    }
}

/// A session that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The suite.
    pub suite: String,
    /// The case.
    pub case: String,
    /// The runner.
    pub runner: String,
    /// Number of the repetition of the case, from 1.
    pub repetition: u64,
    /// Number of the attempt in that repetition, from 1.
    pub attempt: u64,
    /// The outcome.
    pub outcome: SessionOutcome,
    /// The reason if it did not complete.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The agent, if it is a built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The agent's id of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The command line, including the prompt.
    #[serde(default)]
    pub command: Vec<String>,
    /// Its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The number of steps, if a limit was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// Its working folder, if it still exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

impl SessionRecord {
    /// Returns its name in reports: case, runner, and the repetition if there are several.
    #[must_use]
    pub fn report_name(&self, repeat: u64) -> String {
        let which = if repeat > 1 { format!(" #{}", self.repetition) } else { String::new() };
        format!("{} > {}{which}", self.case, self.runner)
    }
}

/// A question about an assertion that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureQuestion {
    /// The question for the agent.
    pub question: String,
    /// The rule file.
    pub file: String,
    /// The line of the assertion, from 1.
    pub line: usize,
    /// The column.
    pub column: usize,
}
