//! JSON-RPC messages: recognizes tool calls and the answers of servers, and writes the guard's own answers.

use crate::answer::Decision;
use crate::event::ProposedCall;
use averment::guard::strict_json;
use serde_json::{Map, Value, json};

/// JSON-RPC error codes: invalid JSON, invalid request, internal error.
const PARSE_ERROR: i32 = -32_700;
pub(super) const INVALID_REQUEST: i32 = -32_600;
pub(super) const INTERNAL_ERROR: i32 = -32_603;
/// MCP error code from revision 2026-07-28: headers contradict the message.
pub(super) const HEADER_MISMATCH: i32 = -32_020;

/// The key for the protocol version in every request, from revision 2026-07-28.
const VERSION_OF_REQUEST: &str = "io.modelcontextprotocol/protocolVersion";

/// A message of a client.
#[derive(Debug)]
pub(super) enum ClientMessage {
    /// A proposed tool call.
    Call(CallRequest),
    /// Any other message: its method, if it is a single request, and its id.
    Other { method: Option<String>, id: Value },
    /// An unreadable or ambiguous message, with the error line for the client.
    Refused(String),
}

/// A request that proposes a tool call.
#[derive(Debug)]
pub(super) struct CallRequest {
    pub id: Value,
    pub tool: String,
    pub args: Value,
    /// The trace id of the request (W3C trace context).
    pub trace: Option<String>,
    /// True from revision 2026-07-28 on.
    pub is_stateless: bool,
    /// Set if it answers questions that the server asked at an earlier request for this call.
    pub continuation: Option<CallContinuation>,
}

/// A call that the server answered with questions is sent again with the answers (revision 2026-07-28, multi round-trip requests).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallContinuation {
    /// The state that the server sent with its questions.
    pub state: Option<Value>,
}

/// Reads a client message.
pub(super) fn read_client_message(bytes: &[u8]) -> ClientMessage {
    let message = match strict_json::parse_unambiguous(bytes) {
        Ok(message) => message,
        Err(problem) => return ClientMessage::Refused(error_line(&Value::Null, PARSE_ERROR, &problem)),
    };
    match message {
        Value::Object(request) if is_call(&request) => read_call(request),
        Value::Array(batch) if batch.iter().filter_map(Value::as_object).any(is_call) => {
            let problem = "calls of tools are guarded one by one: send no batch";
            ClientMessage::Refused(error_line(&Value::Null, INVALID_REQUEST, problem))
        }
        Value::Object(mut request) => {
            let method = request.get("method").and_then(Value::as_str).map(ToOwned::to_owned);
            ClientMessage::Other { method, id: request.remove("id").unwrap_or(Value::Null) }
        }
        _ => ClientMessage::Other { method: None, id: Value::Null },
    }
}

fn is_call(request: &Map<String, Value>) -> bool {
    request.get("method").and_then(Value::as_str) == Some("tools/call")
}

fn read_call(mut request: Map<String, Value>) -> ClientMessage {
    let id = request.remove("id").unwrap_or(Value::Null);
    let params = request.remove("params");
    let mut params = if let Some(Value::Object(params)) = params { params } else { Map::new() };
    let Some(Value::String(tool)) = params.remove("name") else {
        return ClientMessage::Refused(error_line(&id, INVALID_REQUEST, "a call of a tool has a `name`"));
    };
    let meta = params.get("_meta");
    let of_meta = |key: &str| meta.and_then(|meta| meta.get(key)).and_then(Value::as_str);
    let trace = of_meta("traceparent").and_then(trace_id);
    let is_stateless = of_meta(VERSION_OF_REQUEST).is_some();
    let goes_on = params.contains_key("inputResponses") || params.contains_key("requestState");
    let continuation = goes_on.then(|| CallContinuation { state: params.remove("requestState") });
    let args = params.remove("arguments").unwrap_or_else(|| Value::Object(Map::new()));
    ClientMessage::Call(CallRequest { id, tool, args, trace, is_stateless, continuation })
}

/// Returns the trace id of a `traceparent`: `00-TRACE-PARENT-FLAGS`. A malformed one is ignored, as the standard requires.
fn trace_id(text: &str) -> Option<String> {
    let mut parts = text.split('-');
    let is_hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let version = parts.next().filter(|part| is_hex(part, 2) && *part != "ff")?;
    let trace = parts.next().filter(|part| is_hex(part, 32) && part.bytes().any(|byte| byte != b'0'))?;
    parts.next().filter(|part| is_hex(part, 16) && part.bytes().any(|byte| byte != b'0'))?;
    parts.next().filter(|part| is_hex(part, 2))?;
    (version != "00" || parts.next().is_none()).then(|| trace.to_owned())
}

/// A server's answer to a call.
#[derive(Debug)]
pub(super) enum CallAnswer {
    /// The call has ended, with its result and error.
    Ended { result: Option<Value>, error: Option<Value> },
    /// The server asks questions and sends this state; the call is sent again later.
    Asks { state: Option<Value> },
    /// The call continues, and its result arrives by other means.
    GoesOn,
}

/// Reads the answer to a call.
pub(super) fn read_call_answer(answer: &mut Map<String, Value>) -> CallAnswer {
    if let Some(error) = answer.remove("error") {
        return CallAnswer::Ended { result: None, error: Some(error) };
    }
    let Some(Value::Object(mut result)) = answer.remove("result") else {
        return CallAnswer::Ended { result: None, error: None };
    };
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => {}
        Some("input_required") => return CallAnswer::Asks { state: result.remove("requestState") },
        Some(_) => return CallAnswer::GoesOn,
    }
    let failed = result.get("isError").and_then(Value::as_bool) == Some(true);
    let given = result.remove("structuredContent").or_else(|| result.remove("content").map(content_text));
    if failed {
        CallAnswer::Ended { result: None, error: Some(given.unwrap_or(Value::from("error"))) }
    } else {
        CallAnswer::Ended { result: given, error: None }
    }
}

/// Returns content that consists only of text as one text.
fn content_text(content: Value) -> Value {
    let Value::Array(parts) = &content else { return content };
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
    texts.map_or(content.clone(), |texts| texts.join("\n").into())
}

/// Returns the result line of a denied call.
pub(super) fn denial_line(request: &CallRequest, text: &str) -> String {
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if request.is_stateless
        && let Some(result) = result.as_object_mut()
    {
        result.insert("resultType".to_owned(), "complete".into());
    }
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": request.id, "result": result }))
}

/// Returns the line of an error of the guard itself.
pub(super) fn error_line(id: &Value, code: i32, problem: &str) -> String {
    let error = json!({ "code": code, "message": format!("aver guard: {problem}") });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}

/// Returns a call with its own id, because request ids may be reused.
pub(super) fn proposed_call(request: &CallRequest, id: String) -> ProposedCall {
    ProposedCall { id: Some(id), tool: request.tool.clone(), args: request.args.clone(), agent: None }
}

/// Returns the text that denies a decided call as an error, otherwise the warning about it.
pub(super) fn step_text(decision: Decision) -> Result<Option<String>, String> {
    match decision {
        Decision::Deny(text) | Decision::Refuse(text) => Err(text),
        Decision::Warn(text) | Decision::Complain(text) => Ok(Some(text)),
        Decision::Pass | Decision::HoldBack(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_known_by_what_the_standard_calls_one() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        for good in [format!("00-{trace}-00f067aa0ba902b7-01"), format!("01-{trace}-00f067aa0ba902b7-01-more")] {
            assert_eq!(trace_id(&good).as_deref(), Some(trace), "{good}");
        }
        let zeros = "0".repeat(32);
        for bad in [
            String::new(),
            trace.to_owned(),
            format!("ff-{trace}-00f067aa0ba902b7-01"),
            format!("00-{zeros}-00f067aa0ba902b7-01"),
            format!("00-{trace}-0000000000000000-01"),
            format!("00-{}-00f067aa0ba902b7-01", trace.to_uppercase()),
            format!("00-{trace}-00f067aa0ba902b7-01-more"),
        ] {
            assert_eq!(trace_id(&bad), None, "{bad}");
        }
    }
}
