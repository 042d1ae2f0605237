//! The table of tools and frameworks that `aver init` recognizes.

/// A tool or framework, and what `aver init` sets up for it.
pub struct KnownTool {
    /// Its name, which is also the first words of its trace formats.
    pub name: &'static str,
    /// Files and folders that show that a project uses it.
    pub marks: &'static [&'static str],
    /// Its packages: `@scope/` matches all packages of a scope, `npm:NAME` matches only the npm package of this exact name.
    pub packages: &'static [&'static str],
    /// The template of `aver new` for projects without runs.
    pub template: &'static str,
    /// A pack of rules for it; `None` if there is no such pack.
    pub pack: Option<&'static str>,
    /// Instructions to obtain its runs.
    pub runs: &'static str,
}

/// The known tools. Templates are chosen in this order.
pub const KNOWN_TOOLS: &[KnownTool] = &[
    KnownTool {
        name: "Claude Code",
        marks: &[".claude", "CLAUDE.md"],
        packages: &["claude-agent-sdk", "claude-code-sdk", "@anthropic-ai/claude-agent-sdk"],
        template: "coding-agent",
        pack: Some("coding-agent"),
        runs: "sessions are in ~/.claude/projects",
    },
    KnownTool {
        name: "Codex",
        marks: &[".codex"],
        packages: &["@openai/codex-sdk"],
        template: "coding-agent",
        pack: Some("coding-agent"),
        runs: "sessions are in ~/.codex/sessions",
    },
    KnownTool {
        name: "Cursor",
        marks: &[".cursor", ".cursorrules"],
        packages: &[],
        template: "coding-agent",
        pack: Some("coding-agent"),
        runs: "`cursor-agent -p --output-format stream-json` prints a run",
    },
    KnownTool {
        name: "Gemini CLI",
        marks: &[".gemini", "GEMINI.md"],
        packages: &[],
        template: "coding-agent",
        pack: Some("coding-agent"),
        runs: "sessions are in ~/.gemini/tmp",
    },
    KnownTool {
        name: "MCP",
        marks: &[],
        packages: &["mcp", "fastmcp", "rmcp", "@modelcontextprotocol/"],
        template: "mcp",
        pack: Some("mcp-server"),
        runs: "`aver probe` calls the tools of a server and keeps the answers",
    },
    KnownTool {
        name: "LangGraph",
        marks: &["langgraph.json"],
        packages: &["langgraph", "@langchain/langgraph"],
        template: "basic",
        pack: None,
        runs: "write the `messages` of the state as JSON after each run",
    },
    KnownTool {
        name: "LangChain",
        marks: &[],
        packages: &["langchain", "@langchain/"],
        template: "basic",
        pack: None,
        runs: "write the messages of a run as JSON",
    },
    KnownTool {
        name: "OpenAI Agents SDK",
        marks: &[],
        packages: &["openai-agents", "@openai/agents"],
        template: "basic",
        pack: None,
        runs: "a trace processor writes the spans of a run",
    },
    KnownTool {
        name: "Vercel AI SDK",
        marks: &[],
        packages: &["npm:ai", "@ai-sdk/"],
        template: "basic",
        pack: None,
        runs: "write the prompt and `result.response.messages` as a list of JSON",
    },
    KnownTool {
        name: "CrewAI",
        marks: &[],
        packages: &["crewai"],
        template: "basic",
        pack: None,
        runs: "a listener of the event bus writes each event as a line of JSON",
    },
    KnownTool {
        name: "Pydantic AI",
        marks: &[],
        packages: &["pydantic-ai", "pydantic_ai"],
        template: "basic",
        pack: None,
        runs: "write `result.all_messages_json()` after each run",
    },
    KnownTool {
        name: "Google ADK",
        marks: &[],
        packages: &["google-adk"],
        template: "basic",
        pack: None,
        runs: "write `session.model_dump_json()` after each run",
    },
    KnownTool {
        name: "AutoGen",
        marks: &[],
        packages: &["autogen-agentchat", "autogen-core"],
        template: "basic",
        pack: None,
        runs: "write `result.model_dump_json()` of a team or agent",
    },
    KnownTool {
        name: "LlamaIndex",
        marks: &[],
        packages: &["llama-index", "llama_index"],
        template: "basic",
        pack: None,
        runs: "`openinference-instrumentation-llama-index` writes spans",
    },
    KnownTool {
        name: "smolagents",
        marks: &[],
        packages: &["smolagents"],
        template: "basic",
        pack: None,
        runs: "`openinference-instrumentation-smolagents` writes spans",
    },
    KnownTool {
        name: "promptfoo",
        marks: &["promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json"],
        packages: &["promptfoo"],
        template: "basic",
        pack: None,
        runs: "`promptfoo eval -o results.json` writes runs; `aver check results.json` judges them by their own assertions",
    },
    KnownTool {
        name: "Inspect",
        marks: &[],
        packages: &["inspect-ai", "inspect_ai"],
        template: "basic",
        pack: None,
        runs: "logs are in logs/, as .eval or .json",
    },
    KnownTool {
        name: "Langfuse",
        marks: &[],
        packages: &["langfuse", "@langfuse/"],
        template: "basic",
        pack: None,
        runs: "export traces with their observations as JSON",
    },
    KnownTool {
        name: "LangSmith",
        marks: &[],
        packages: &["langsmith"],
        template: "basic",
        pack: None,
        runs: "export the runs of a project as JSON",
    },
    KnownTool {
        name: "OpenTelemetry",
        marks: &[],
        packages: &["opentelemetry", "openinference", "@opentelemetry/", "@arizeai/"],
        template: "basic",
        pack: None,
        runs: "the file exporter of a collector writes spans as JSON",
    },
    KnownTool {
        name: "pytest",
        marks: &["pytest.ini"],
        packages: &["pytest"],
        template: "basic",
        pack: None,
        runs: "the package `averment` has a fixture that checks a run in a test",
    },
];

impl KnownTool {
    /// True if a dependency file names one of its packages, or a package that starts with such a name.
    pub fn is_named_in(&self, dependencies: &str) -> bool {
        let in_name = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '@' | '/' | '.');
        dependencies
            .split(|sign| !in_name(sign))
            .any(|word| self.packages.iter().any(|package| is_package(word, package)))
    }

    /// True if a dependency of a `package.json` is one of its packages, or starts with the name of one.
    pub fn has_npm_package(&self, dependency: &str) -> bool {
        self.packages.iter().any(|package| match package.strip_prefix("npm:") {
            Some(exact) => dependency == exact,
            None => is_package(dependency, package),
        })
    }
}

/// True if a word is a package or a variant of it: `opentelemetry-sdk` belongs to `opentelemetry`, but `mcpx` does not belong to `mcp`.
fn is_package(word: &str, package: &str) -> bool {
    let Some(rest) = word.strip_prefix(package) else { return false };
    rest.is_empty() || package.ends_with('/') || rest.starts_with(['-', '_', '/'])
}
