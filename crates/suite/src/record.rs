//! What is kept of a session: how it ended, and the run that was recorded.

use serde::{Deserialize, Serialize};

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionOutcome {
    /// The agent ended itself, and its transcript was read.
    Completed,
    /// It took longer than it may.
    Timeout,
    /// It exceeded its step limit.
    MaxSteps,
    /// It ended with a nonzero exit code, or could not be started.
    RunnerCrash,
    /// It does not know the model.
    ModelRejected,
    /// Its workspace could not be made.
    Workspace,
    /// The command that makes a workspace ready failed.
    WorkspaceBootstrap,
    /// There is no transcript.
    Collection,
    /// The transcript cannot be read.
    Normalization,
}

impl SessionOutcome {
    /// Its word in reports, which is the class of the failure.
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
    /// Which repetition of the case it was, from 1 on.
    pub repetition: u64,
    /// Which try of that, from 1 on.
    pub attempt: u64,
    /// How it ended.
    pub outcome: SessionOutcome,
    /// Why, where it did not complete.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The agent, where it is a known one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The id that the agent gave the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The words that it was started with; the prompt is one of them.
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
    /// The folder that it worked in, where that is still there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

impl SessionRecord {
    /// Its name in reports: case, runner, and the repetition if there are several.
    #[must_use]
    pub fn report_name(&self, repeat: u64) -> String {
        let which = if repeat > 1 { format!(" #{}", self.repetition) } else { String::new() };
        format!("{} > {}{which}", self.case, self.runner)
    }
}

/// A question about an assertion that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureQuestion {
    /// What the agent is asked.
    pub question: String,
    /// The rule file.
    pub file: String,
    /// Where the assertion stands in it, from 1 on.
    pub line: usize,
    /// The column.
    pub column: usize,
}
