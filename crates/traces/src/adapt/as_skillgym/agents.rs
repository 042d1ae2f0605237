//! What SkillGym's adapters see in the transcripts of its agents: a table of each. Everything else is nothing to them.
//!
//! A path names keys with dots between them, and `|` stands between paths of which the first that leads to a value counts. `[]` behind a path
//! joins the texts of a list.

/// What is seen in the transcript of an agent.
pub(super) struct AgentView {
    /// The list of records in an export; empty where the records are all there is.
    pub(super) records: &'static str,
    pub(super) session: &'static str,
    /// The first session and folder count, not the last ones.
    pub(super) keeps_first: bool,
    /// A record that has this is not what the agent printed, which is its answer otherwise.
    pub(super) unprinted: &'static str,
    /// When a record was.
    pub(super) time: &'static str,
    pub(super) rows: &'static [RecordRow],
    pub(super) usage: UsageView,
    pub(super) calls: CallView,
    pub(super) results: ResultView,
}

/// What an object says: in records of this type, below this path, of this type. An empty word fits all.
pub(super) struct RecordRow {
    pub(super) record: &'static str,
    pub(super) within: &'static str,
    pub(super) kind: &'static str,
    pub(super) what: RecordEvent,
}

#[derive(Clone, Copy)]
pub(super) enum RecordEvent {
    Said(SpeakerView, &'static [&'static str]),
    Call,
    Result,
    /// A call of Cursor, whose tool is a key.
    KeyedCall,
    Usage(&'static str),
    Output(&'static str),
    Folder(&'static str),
}

#[derive(Clone, Copy)]
pub(super) enum SpeakerView {
    User,
    Assistant,
    Thinking,
    /// Whom the record names here.
    Named(&'static str),
    /// The assistant, who thinks where the record says so here.
    Phased(&'static str),
}

/// Counts of tokens.
pub(super) struct UsageView {
    pub(super) input: &'static str,
    pub(super) output: &'static str,
    pub(super) reasoning: &'static str,
    pub(super) cached: &'static str,
    /// What was cached counts as input, too.
    pub(super) adds_cached: bool,
    /// All counts are added up; otherwise the last ones count.
    pub(super) adds_up: bool,
}

/// Calls of tools, and what else they say. An effect belongs to some tools, to all where none is named.
pub(super) struct CallView {
    pub(super) tool: &'static str,
    pub(super) id: &'static str,
    pub(super) args: &'static str,
    pub(super) args_form: ArgsForm,
    /// When it was, where its record does not say so.
    pub(super) time: &'static str,
    /// The folder of the call, in its arguments.
    pub(super) folder: &'static str,
    pub(super) skill: Option<(&'static [&'static str], &'static [&'static str])>,
    /// A skill stands behind its call.
    pub(super) skill_behind: bool,
    pub(super) command: Option<(&'static [&'static str], &'static str)>,
    pub(super) read: Option<(&'static [&'static str], &'static str)>,
    /// The result in the call, and its time.
    pub(super) output: &'static str,
    pub(super) output_time: &'static str,
}

#[derive(PartialEq, Eq)]
pub(super) enum ArgsForm {
    AsIs,
    /// None are an empty object.
    OrEmpty,
    /// A text is read as JSON.
    Written,
}

/// Results of calls.
pub(super) struct ResultView {
    pub(super) call: &'static str,
    /// The first of these that is there; what stands inside of another has to be a text.
    pub(super) output: &'static [&'static str],
    /// The texts of its parts make up the result.
    pub(super) joins_parts: bool,
    /// A command that the result repeats.
    pub(super) command: &'static str,
    /// The text of a result repeats the command behind this, and its tool is the shell then.
    pub(super) echo: &'static str,
}

const NO_AGENT: AgentView = AgentView {
    records: "",
    session: "",
    keeps_first: false,
    unprinted: "",
    time: "",
    rows: &[],
    usage: UsageView { input: "", output: "", reasoning: "", cached: "", adds_cached: false, adds_up: false },
    calls: CallView {
        tool: "",
        id: "",
        args: "",
        args_form: ArgsForm::AsIs,
        time: "",
        folder: "",
        skill: None,
        skill_behind: false,
        command: None,
        read: None,
        output: "",
        output_time: "",
    },
    results: ResultView { call: "", output: &[], joins_parts: false, command: "", echo: "" },
};

const fn row(record: &'static str, within: &'static str, kind: &'static str, what: RecordEvent) -> RecordRow {
    RecordRow { record, within, kind, what }
}

macro_rules! agents {
    ($($item:item)+) => { $($item)+ };
}

agents! {
/// The type of a record or of a part of it.
pub(super) const TYPE: &str = "type";
/// The words of a part.
pub(super) const TEXT: &str = "text";
/// The word for thinking, in a phase.
pub(super) const THINKING: &str = "thinking";
/// The tool of results that repeat their command.
pub(super) const SHELL: &str = "exec_command";

pub(super) const CLAUDE: AgentView = AgentView {
    session: "session_id",
    keeps_first: true,
    rows: &[
        row("system", "", "", RecordEvent::Folder("cwd")),
        row("assistant", "message.content", "thinking", RecordEvent::Said(SpeakerView::Thinking, &["thinking"])),
        row("assistant", "message.content", "text", RecordEvent::Said(SpeakerView::Assistant, &["text"])),
        row("assistant", "message.content", "tool_use", RecordEvent::Call),
        row("user", "message.content", "tool_result", RecordEvent::Result),
        row("result", "", "", RecordEvent::Folder("cwd")),
        row("result", "", "", RecordEvent::Output("result")),
        row("result", "", "", RecordEvent::Usage("usage")),
    ],
    usage: UsageView {
        input: "input_tokens",
        output: "output_tokens",
        cached: "cache_read_input_tokens",
        adds_cached: true,
        ..NO_AGENT.usage
    },
    calls: CallView {
        tool: "name",
        id: "id",
        args: "input",
        args_form: ArgsForm::OrEmpty,
        skill: Some((&["Skill"], &["skill", "name"])),
        command: Some((&["Bash"], "command")),
        read: Some((&["Read", "read"], "file_path")),
        ..NO_AGENT.calls
    },
    results: ResultView { call: "tool_use_id", output: &["content"], joins_parts: true, ..NO_AGENT.results },
    ..NO_AGENT
};

/// The rollout of a session, or the events of `codex exec --json`. Commands are those that the text of a result repeats.
pub(super) const CODEX: AgentView = AgentView {
    session: "thread_id|session_id",
    unprinted: "payload",
    time: "timestamp",
    rows: &[
        row("session_meta", "payload", "", RecordEvent::Folder("cwd")),
        row("turn_context", "payload", "", RecordEvent::Folder("cwd")),
        row("turn.completed", "", "", RecordEvent::Usage("usage")),
        row("item.completed", "item", "agent_message", RecordEvent::Said(SpeakerView::Assistant, &["text"])),
        row("event_msg", "payload", "token_count", RecordEvent::Usage("info.total_token_usage")),
        row("event_msg", "payload", "agent_message", RecordEvent::Said(SpeakerView::Assistant, &["message"])),
        row(
            "response_item",
            "payload",
            "message",
            RecordEvent::Said(SpeakerView::Named("payload.role"), &["text", "content[]"]),
        ),
        row("response_item", "payload", "reasoning", RecordEvent::Said(SpeakerView::Thinking, &["text"])),
        row("response_item", "payload", "function_call", RecordEvent::Call),
        row("response_item", "payload", "function_call_output", RecordEvent::Result),
    ],
    usage: UsageView {
        input: "input_tokens",
        output: "output_tokens",
        reasoning: "reasoning_output_tokens",
        cached: "cached_input_tokens",
        ..NO_AGENT.usage
    },
    calls: CallView {
        tool: "name|tool",
        id: "call_id",
        args: "arguments|args",
        args_form: ArgsForm::Written,
        folder: "workdir|cwd",
        ..NO_AGENT.calls
    },
    results: ResultView { call: "call_id", output: &["output"], echo: "Command:", ..NO_AGENT.results },
    ..NO_AGENT
};

/// What was used stands in a file of spans beside the events of a session, which is not read with them.
pub(super) const COPILOT: AgentView = AgentView {
    session: "sessionId|data.sessionId",
    time: "timestamp",
    rows: &[
        row("", "data", "", RecordEvent::Folder("context.cwd")),
        row("user.message", "data", "", RecordEvent::Said(SpeakerView::User, &["content"])),
        row("assistant.message", "data", "", RecordEvent::Said(SpeakerView::Phased("data.phase"), &["content"])),
        row("assistant.reasoning", "data", "", RecordEvent::Said(SpeakerView::Thinking, &["content"])),
        row("tool.execution_start", "data", "", RecordEvent::Call),
        row("tool.execution_complete", "data", "", RecordEvent::Result),
    ],
    calls: CallView {
        tool: "toolName",
        id: "toolCallId",
        args: "arguments",
        skill: Some((&["skill"], &["skill", "name"])),
        skill_behind: true,
        command: Some((&["bash", "write_bash", "read_bash", "stop_bash", "list_bash"], "command")),
        read: Some((&["view"], "path")),
        ..NO_AGENT.calls
    },
    results: ResultView {
        call: "toolCallId",
        output: &["error.message", "error", "result.detailedContent|result.content", "result"],
        command: "toolTelemetry.properties.command",
        ..NO_AGENT.results
    },
    ..NO_AGENT
};

pub(super) const CURSOR: AgentView = AgentView {
    session: "session_id",
    keeps_first: true,
    time: "timestamp_ms",
    rows: &[
        row("system", "", "", RecordEvent::Folder("cwd")),
        row("user", "message", "", RecordEvent::Said(SpeakerView::User, &["content[]"])),
        row("assistant", "message", "", RecordEvent::Said(SpeakerView::Assistant, &["content[]"])),
        row("tool_call", "", "", RecordEvent::KeyedCall),
        row("result", "", "", RecordEvent::Output("result")),
        row("result", "", "", RecordEvent::Usage("usage")),
    ],
    usage: UsageView {
        input: "inputTokens",
        output: "outputTokens",
        cached: "cacheReadTokens",
        adds_cached: true,
        ..NO_AGENT.usage
    },
    ..NO_AGENT
};

/// The export of a session, its messages part by part.
pub(super) const OPEN_CODE: AgentView = AgentView {
    records: "messages",
    session: "info.id",
    time: "info.time.created",
    rows: &[
        row("", "", "", RecordEvent::Folder("info.path.cwd")),
        row("", "", "", RecordEvent::Usage("info.tokens")),
        row("", "parts", "reasoning", RecordEvent::Said(SpeakerView::Thinking, &["text"])),
        row("", "parts", "text", RecordEvent::Said(SpeakerView::Named("info.role"), &["text"])),
        row("", "parts", "tool", RecordEvent::Call),
    ],
    usage: UsageView {
        input: "input",
        output: "output",
        reasoning: "reasoning",
        cached: "cache.read",
        adds_cached: true,
        adds_up: true,
    },
    calls: CallView {
        tool: "tool",
        args: "state.input",
        time: "state.time.start",
        folder: "workdir|cwd",
        skill: Some((&["skill"], &["name"])),
        command: Some((&[], "command")),
        read: Some((&["read"], "filePath")),
        output: "state.output",
        output_time: "state.time.end",
        ..NO_AGENT.calls
    },
    ..NO_AGENT
};
}
