//! In front of an MCP server that speaks JSON-RPC on lines: calls of tools are judged before they are passed on, everything else passes as it
//! stands. A call that is denied gets a result with `isError`, which the model can read.
//!
//! The protocol: modelcontextprotocol.io/specification, transports (stdio) and `tools/call`.

use crate::answer::Decision;
use crate::event::{CallEnd, ProposedCall, SessionEvent};
use crate::hook::Guard;
use crate::judge::GuardMode;
use crate::session::{SessionLog, record_event};
use crate::strict_json;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io;

/// What becomes of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpStep {
    /// It is passed on as it stands.
    Pass,
    /// It is passed on, and this is told on standard error: MCP has no way to tell the user.
    Tell(String),
    /// It is not; the client gets this line.
    Answer(String),
}

/// A guarded connection of a client with a server.
#[derive(Debug)]
pub struct McpGuard<'a> {
    guard: Guard<'a>,
    log: SessionLog,
    /// Calls that were passed on, by the JSON text of their ids.
    open: BTreeMap<String, ProposedCall>,
    calls: usize,
}

/// JSON-RPC: what is no JSON, and what is no request.
const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;

impl<'a> McpGuard<'a> {
    /// Begins a connection whose log is open.
    #[must_use]
    pub fn new(guard: Guard<'a>, log: SessionLog) -> Self {
        Self { guard, log, open: BTreeMap::new(), calls: 0 }
    }

    /// Looks at a line of the client. What cannot be read, or could be read in two ways, is not passed on.
    #[must_use]
    pub fn take_request(&mut self, line: &[u8]) -> McpStep {
        if line.trim_ascii().is_empty() {
            return McpStep::Pass;
        }
        let message = match strict_json::parse_unambiguous(line) {
            Ok(message) => message,
            Err(problem) => return McpStep::Answer(error_line(&Value::Null, PARSE_ERROR, &problem)),
        };
        match &message {
            Value::Object(request) if is_call(request) => self.decide_request(request),
            Value::Array(batch) if batch.iter().filter_map(Value::as_object).any(is_call) => {
                let problem = "calls of tools are guarded one by one: send no batch";
                McpStep::Answer(error_line(&Value::Null, INVALID_REQUEST, problem))
            }
            _ => McpStep::Pass,
        }
    }

    /// Looks at a line of the server: results of calls go into the log. A result that cannot be recorded is one that is not known.
    ///
    /// # Errors
    /// What the system says where it cannot be recorded.
    pub fn take_answer(&mut self, line: &[u8]) -> io::Result<()> {
        let Ok(Value::Object(mut answer)) = serde_json::from_slice::<Value>(line) else { return Ok(()) };
        let Some(call) = answer.get("id").and_then(|id| self.open.remove(&id.to_string())) else { return Ok(()) };
        let (result, error) = outcome_of(&mut answer);
        record_event(&mut self.log, &SessionEvent::End(CallEnd { call, result, error }))
    }

    /// The end of the connection.
    ///
    /// # Errors
    /// What keeps it from being recorded, in words.
    pub fn finish(&mut self) -> Result<Decision, String> {
        self.guard.decide_stop(&mut self.log, true)
    }

    fn decide_request(&mut self, request: &Map<String, Value>) -> McpStep {
        let id = request.get("id").cloned().unwrap_or(Value::Null);
        let params = request.get("params").and_then(Value::as_object);
        let Some(tool) = params.and_then(|params| params.get("name")).and_then(Value::as_str) else {
            return McpStep::Answer(error_line(&id, INVALID_REQUEST, "a call of a tool has a `name`"));
        };
        let args = params.and_then(|params| params.get("arguments")).cloned();
        self.calls += 1;
        let call = ProposedCall {
            // Ids of requests may come again; a call has one of its own.
            id: Some(format!("{}", self.calls)),
            tool: tool.to_owned(),
            args: args.unwrap_or_else(|| Value::Object(Map::new())),
            agent: None,
        };
        let decision = match self.guard.decide_call(&mut self.log, &call) {
            Ok(decision) => decision,
            Err(problem) if self.guard.mode == GuardMode::Enforce => Decision::Refuse(format!("aver guard: {problem}")),
            Err(problem) => Decision::Complain(format!("aver guard: {problem}")),
        };
        let step = match decision {
            Decision::Deny(text) | Decision::Refuse(text) => return McpStep::Answer(denial_line(&id, &text)),
            Decision::Warn(text) | Decision::Complain(text) => McpStep::Tell(text),
            Decision::Pass | Decision::HoldBack(_) => McpStep::Pass,
        };
        self.open.insert(id.to_string(), call);
        step
    }
}

fn is_call(request: &Map<String, Value>) -> bool {
    request.get("method").and_then(Value::as_str) == Some("tools/call")
}

/// What a call gave back, and what went wrong.
fn outcome_of(answer: &mut Map<String, Value>) -> (Option<Value>, Option<Value>) {
    if let Some(error) = answer.remove("error") {
        return (None, Some(error));
    }
    let Some(Value::Object(mut result)) = answer.remove("result") else { return (None, None) };
    let failed = result.get("isError").and_then(Value::as_bool) == Some(true);
    let given = result.remove("structuredContent").or_else(|| result.remove("content").map(content_text));
    if failed { (None, Some(given.unwrap_or(Value::from("error")))) } else { (given, None) }
}

/// Text alone stands for itself.
fn content_text(content: Value) -> Value {
    let Value::Array(parts) = &content else { return content };
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
    texts.map_or(content.clone(), |texts| texts.join("\n").into())
}

fn denial_line(id: &Value, text: &str) -> String {
    let result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn error_line(id: &Value, code: i32, problem: &str) -> String {
    format!(
        "{}\n",
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": format!("aver guard: {problem}") } })
    )
}
