//! The agents whose command lines are built in: one row each. `docs/reference/runners.md` documents the source of every flag.

/// A supported agent.
#[derive(Debug)]
pub struct AgentSpec {
    /// Its name in suites.
    pub name: &'static str,
    /// The program to start, unless the suite names another one.
    pub program: &'static [&'static str],
    /// Arguments after the program and its own arguments.
    pub(crate) arguments: &'static [CommandWord],
    /// The arguments that ask a further question in a session.
    pub(crate) further: &'static [CommandWord],
    pub(crate) variables: &'static [(&'static str, VariableSource)],
    /// Inherited variables in addition to the usual ones; a final `*` is a wildcard.
    pub(crate) passed: &'static [&'static str],
    pub(crate) transcript: TranscriptSource,
    /// JSON pointers to the session id in the records of its standard output.
    pub(crate) session: &'static [&'static str],
    pub(crate) step: StepRecord,
    pub(crate) rejections: &'static [ModelRejection],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandWord {
    Is(&'static str),
    Model,
    Prompt,
    Cwd,
    Session,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableSource {
    Is(&'static str),
    In(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TranscriptSource {
    Output,
    /// Standard output; the cost is in a file of spans.
    OutputAndSpans(&'static str),
    /// The newest file below this session folder, otherwise stdout. The folder is filled with `seeds` from the home folder.
    Newest {
        below: &'static str,
        home: &'static str,
        from: &'static str,
        seeds: &'static [&'static str],
    },
    /// Printed by the agent when asked for the session; its id starts with `id`.
    Exported {
        arguments: &'static [CommandWord],
        id: &'static str,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepRecord {
    ClaudeCode,
    Codex,
    Copilot,
    CursorAgent,
    OpenCode,
}

/// A model is rejected if all texts are in standard output, or all in standard error.
#[derive(Debug)]
pub(crate) struct ModelRejection {
    pub output: &'static [&'static str],
    pub error: &'static [&'static str],
}

use CommandWord::{Cwd, Is, Model, Prompt, Session};

pub(crate) const AGENTS: &[AgentSpec] = &[
    AgentSpec {
        name: "claude-code",
        program: &["claude"],
        arguments: &[
            Is("-p"),
            Is("--output-format"),
            Is("stream-json"),
            Is("--verbose"),
            Is("--dangerously-skip-permissions"),
            Is("--model"),
            Model,
            Prompt,
        ],
        further: &[
            Is("-p"),
            Is("--output-format"),
            Is("stream-json"),
            Is("--verbose"),
            Is("--model"),
            Model,
            Is("--resume"),
            Session,
            Prompt,
        ],
        variables: &[],
        passed: &["ANTHROPIC_*", "AWS_*", "CLAUDE_*", "CLOUD_ML_REGION", "VERTEX_*"],
        transcript: TranscriptSource::Output,
        session: &["/session_id"],
        step: StepRecord::ClaudeCode,
        rejections: &[ModelRejection {
            output: &[
                "\"type\":\"result\"",
                "\"is_error\":true",
                "\"api_error_status\":404",
                "\"modelUsage\":{}",
                "\"error\":\"invalid_request\"",
            ],
            error: &[],
        }],
    },
    AgentSpec {
        name: "codex",
        program: &["npx", "codex"],
        arguments: &[
            Is("exec"),
            Is("--model"),
            Model,
            Is("--json"),
            Is("--skip-git-repo-check"),
            Is("-C"),
            Cwd,
            Prompt,
        ],
        further: &[
            Is("exec"),
            Is("--model"),
            Model,
            Is("--json"),
            Is("--skip-git-repo-check"),
            Is("resume"),
            Session,
            Prompt,
        ],
        variables: &[("CODEX_HOME", VariableSource::In("codex-home"))],
        passed: &["CODEX_*", "OPENAI_*"],
        transcript: TranscriptSource::Newest {
            below: "codex-home/sessions",
            home: "codex-home",
            from: ".codex",
            seeds: &["auth.json", "config.toml", "version.json", "AGENTS.md", ".codex-global-state.json"],
        },
        session: &["/thread_id"],
        step: StepRecord::Codex,
        rejections: &[
            ModelRejection {
                output: &["\"type\":\"error\"", "invalid_request_error", "model is not supported"],
                error: &[],
            },
            ModelRejection {
                output: &["\"type\":\"turn.failed\"", "invalid_request_error", "model is not supported"],
                error: &[],
            },
        ],
    },
    AgentSpec {
        name: "copilot",
        program: &["copilot"],
        arguments: &[
            Is("-p"),
            Prompt,
            Is("--model"),
            Model,
            Is("--output-format"),
            Is("json"),
            Is("--stream"),
            Is("on"),
            Is("--no-auto-update"),
            Is("--no-custom-instructions"),
            Is("--disable-builtin-mcps"),
            Is("--no-remote"),
            Is("--allow-all-tools"),
            Is("--disallow-temp-dir"),
            Is("-C"),
            Cwd,
        ],
        further: &[Is("-p"), Prompt, Is("--model"), Model, Is("--output-format"), Is("json"), Is("--resume"), Session],
        variables: &[
            ("COPILOT_AUTO_UPDATE", VariableSource::Is("false")),
            ("COPILOT_HOME", VariableSource::In("copilot-home")),
            ("COPILOT_OTEL_FILE_EXPORTER_PATH", VariableSource::In("copilot-otel.jsonl")),
            ("NO_COLOR", VariableSource::Is("1")),
        ],
        passed: &["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"],
        transcript: TranscriptSource::OutputAndSpans("copilot-otel.jsonl"),
        session: &["/sessionId", "/data/sessionId"],
        step: StepRecord::Copilot,
        rejections: &[],
    },
    AgentSpec {
        name: "cursor-agent",
        program: &["agent"],
        arguments: &[
            Is("-p"),
            Is("--output-format"),
            Is("stream-json"),
            Is("--trust"),
            Is("--force"),
            Is("--workspace"),
            Cwd,
            Is("--model"),
            Model,
            Prompt,
        ],
        further: &[
            Is("-p"),
            Is("--output-format"),
            Is("stream-json"),
            Is("--trust"),
            Is("--model"),
            Model,
            Is("--resume"),
            Session,
            Prompt,
        ],
        variables: &[],
        passed: &["CURSOR_*"],
        transcript: TranscriptSource::Output,
        session: &["/session_id"],
        step: StepRecord::CursorAgent,
        rejections: &[ModelRejection { output: &[], error: &["Cannot use this model:"] }],
    },
    AgentSpec {
        name: "opencode",
        program: &["opencode"],
        arguments: &[Is("run"), Is("--model"), Model, Is("--format"), Is("json"), Is("--thinking"), Prompt],
        further: &[Is("run"), Is("--model"), Model, Is("--format"), Is("json"), Is("--session"), Session, Prompt],
        variables: &[
            ("XDG_CACHE_HOME", VariableSource::In("opencode-xdg/cache")),
            ("XDG_CONFIG_HOME", VariableSource::In("opencode-xdg/config")),
            ("XDG_DATA_HOME", VariableSource::In("opencode-xdg/data")),
            ("XDG_STATE_HOME", VariableSource::In("opencode-xdg/state")),
        ],
        passed: &["ANTHROPIC_*", "GEMINI_API_KEY", "GOOGLE_*", "OPENAI_*", "OPENCODE_*", "OPENROUTER_API_KEY"],
        transcript: TranscriptSource::Exported { arguments: &[Is("export"), Session], id: "ses_" },
        session: &["/sessionID"],
        step: StepRecord::OpenCode,
        rejections: &[
            ModelRejection { output: &["\"type\":\"error\"", "Model not found:"], error: &[] },
            ModelRejection { output: &[], error: &["ProviderModelNotFoundError"] },
        ],
    },
];

impl AgentSpec {
    /// Returns an agent by its name.
    #[must_use]
    pub fn find_named(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.name == name)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct WordValues<'a> {
    pub model: &'a str,
    pub prompt: &'a str,
    pub cwd: &'a str,
    pub session: &'a str,
}

impl WordValues<'_> {
    pub(crate) fn fill_words(&self, words: &[CommandWord]) -> Vec<String> {
        let fill = |word: &CommandWord| match word {
            CommandWord::Is(word) => *word,
            CommandWord::Model => self.model,
            CommandWord::Prompt => self.prompt,
            CommandWord::Cwd => self.cwd,
            CommandWord::Session => self.session,
        };
        words.iter().map(|word| fill(word).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_checker::AGENTS as KNOWN;

    #[test]
    fn the_language_knows_the_same_agents() {
        let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
        assert_eq!(names, KNOWN);
    }
}
