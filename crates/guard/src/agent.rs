//! The supported agents, and how their hook events are read.
//!
//! The protocols: code.claude.com/docs/en/hooks, developers.openai.com/codex/hooks, geminicli.com/docs/hooks/reference,
//! cursor.com/docs/agent/hooks, docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference.

use crate::event::{CallEnd, ProposedCall, SessionEvent};
use averment::guard::strict_json::parse_unambiguous;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// An agent that supports hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// Copilot CLI.
    Copilot,
}

/// An event sent by an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookInput {
    /// The id of its session.
    pub session: String,
    /// The event.
    pub event: SessionEvent,
    /// The path where the agent says it records the session.
    pub transcript: Option<PathBuf>,
}

/// The role of user messages.
const USER: &str = "user";

impl Agent {
    /// All agents with their names on the command line.
    pub const ALL: [(&'static str, Self); 5] = [
        ("claude", Self::Claude),
        ("codex", Self::Codex),
        ("gemini", Self::Gemini),
        ("cursor", Self::Cursor),
        ("copilot", Self::Copilot),
    ];

    /// Returns its name on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, agent)| *agent == self).map_or("", |(word, _)| word)
    }

    /// Returns its display name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Cursor => "Cursor",
            Self::Copilot => "Copilot CLI",
        }
    }

    /// Reads an event from standard input of a hook. A byte order mark is skipped. Arguments that are JSON in a text stay text, because the reader of
    /// the log parses them.
    ///
    /// # Errors
    /// A description of the problem.
    pub fn read_input(self, bytes: &[u8]) -> Result<HookInput, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let value = parse_unambiguous(bytes).map_err(|error| format!("the event is not understood: {error}"))?;
        let Value::Object(input) = value else { return Err("the event is no object".to_owned()) };
        let event = HookEvent(&input);
        let session = event.session_id()?;
        let transcript = event.text(&["transcript_path", "transcriptPath"]).map(PathBuf::from);
        let event = match event.text(&["hook_event_name", "hookEventName"]) {
            Some(name) => event.read_named(name)?,
            None if self == Self::Copilot => event.read_unnamed()?,
            None => return Err("the event has no `hook_event_name`".to_owned()),
        };
        Ok(HookInput { session, event, transcript })
    }
}

struct HookEvent<'a>(&'a Map<String, Value>);

impl HookEvent<'_> {
    fn value(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter().find_map(|key| self.0.get(*key).filter(|value| !value.is_null()))
    }

    fn text(&self, keys: &[&str]) -> Option<&str> {
        self.value(keys)?.as_str().filter(|text| !text.is_empty())
    }

    /// Returns the session id; if the agent sends none, its working folder is used.
    fn session_id(&self) -> Result<String, String> {
        let id = self.text(&["session_id", "sessionId", "conversation_id", "cwd"]);
        id.map(ToOwned::to_owned).ok_or_else(|| "the event names no session: it has no `session_id`".to_owned())
    }

    fn read_named(&self, name: &str) -> Result<SessionEvent, String> {
        Ok(match name {
            "SessionStart" | "sessionStart" => SessionEvent::Start,
            "PreToolUse" | "BeforeTool" | "preToolUse" | "beforeMCPExecution" => SessionEvent::Propose(self.call()?),
            "beforeShellExecution" => SessionEvent::Propose(self.shell_call()?),
            "PostToolUse" | "AfterTool" | "postToolUse" | "PostToolUseFailure" | "postToolUseFailure"
            | "afterMCPExecution" => SessionEvent::End(self.end_of(self.call()?)),
            "afterShellExecution" => SessionEvent::End(self.end_of(self.shell_call()?)),
            "UserPromptSubmit" | "BeforeAgent" | "beforeSubmitPrompt" | "userPromptSubmitted" => self.prompt(),
            "Stop" | "AfterAgent" | "stop" | "agentStop" => SessionEvent::Stop(self.was_held()),
            _ => SessionEvent::Other,
        })
    }

    /// Reads an event of Copilot, which does not name the event; its keys identify it.
    fn read_unnamed(&self) -> Result<SessionEvent, String> {
        Ok(if self.value(&["toolResult", "error"]).is_some() && self.value(&["toolName"]).is_some() {
            SessionEvent::End(self.end_of(self.call()?))
        } else if self.value(&["toolName"]).is_some() {
            SessionEvent::Propose(self.call()?)
        } else if self.value(&["stopReason"]).is_some() {
            SessionEvent::Stop(self.was_held())
        } else if self.value(&["source", "initialPrompt"]).is_some() {
            SessionEvent::Start
        } else if self.value(&["prompt"]).is_some() {
            self.prompt()
        } else {
            SessionEvent::Other
        })
    }

    fn call(&self) -> Result<ProposedCall, String> {
        let tool = self.text(&["tool_name", "toolName"]).ok_or("the event has no `tool_name`")?;
        let args = self.value(&["tool_input", "toolArgs"]).cloned().unwrap_or(Value::Object(Map::new()));
        Ok(self.call_of(tool, args))
    }

    fn shell_call(&self) -> Result<ProposedCall, String> {
        let command = self.text(&["command"]).ok_or("the event has no `command`")?;
        let mut args = Map::new();
        args.insert("command".to_owned(), command.into());
        Ok(self.call_of("Shell", Value::Object(args)))
    }

    fn call_of(&self, tool: &str, args: Value) -> ProposedCall {
        ProposedCall {
            id: self.text(&["tool_use_id", "toolUseId", "toolCallId"]).map(ToOwned::to_owned),
            tool: tool.to_owned(),
            args,
            agent: self.text(&["agent_id", "agentId"]).map(ToOwned::to_owned),
        }
    }

    fn end_of(&self, call: ProposedCall) -> CallEnd {
        let result = self
            .value(&["tool_response", "tool_output", "result_json", "output", "toolResult"])
            .cloned()
            .map(unpack_text);
        let said = self.value(&["error", "error_message"]).cloned();
        let error = said.or_else(|| result.as_ref().and_then(error_within));
        // Copilot and Gemini wrap a result.
        let result = match result {
            Some(Value::Object(mut inner)) if inner.contains_key("textResultForLlm") => {
                inner.remove("textResultForLlm")
            }
            Some(Value::Object(mut inner)) if inner.contains_key("llmContent") => inner.remove("llmContent"),
            other => other,
        };
        CallEnd { call, result, error }
    }

    fn prompt(&self) -> SessionEvent {
        self.text(&["prompt"]).map_or(SessionEvent::Other, |text| SessionEvent::Say(USER, text.to_owned()))
    }

    /// True if the agent is already continuing because a hook held it back.
    fn was_held(&self) -> bool {
        let flag = self.value(&["stop_hook_active", "stopHookActive"]).and_then(Value::as_bool);
        flag.unwrap_or_default() || self.value(&["loop_count"]).and_then(Value::as_u64).is_some_and(|count| count > 0)
    }
}

/// Parses JSON in a text, which is how Cursor sends outputs, because it may indicate that the call failed.
fn unpack_text(value: Value) -> Value {
    match &value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => serde_json::from_str(text).unwrap_or(value),
        _ => value,
    }
}

/// Returns the error that an agent reports inside of a result.
fn error_within(result: &Value) -> Option<Value> {
    let Value::Object(result) = result else { return None };
    let failed = result.get("is_error").or_else(|| result.get("isError")).and_then(Value::as_bool) == Some(true);
    let kind = result.get("resultType").and_then(Value::as_str);
    let says_nothing = |error: &Value| match error {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    let error = result.get("error").filter(|error| !says_nothing(error));
    if let Some(error) = error {
        return Some(error.clone());
    }
    if failed {
        return Some(result.get("content").cloned().unwrap_or(Value::from("error")));
    }
    match kind {
        Some("failure" | "denied" | "rejected") => {
            Some(result.get("textResultForLlm").cloned().unwrap_or(Value::from("failure")))
        }
        _ => None,
    }
}
