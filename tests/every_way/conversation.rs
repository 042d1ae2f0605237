//! Runs as conversations: calls and their results apart from each other.

use crate::forms::steps;
use crate::source::Source;
use serde_json::{Map, Value, json};

/// A request's messages in OpenAI's form.
pub fn chat(source: &mut Source, run: &Value) -> Value {
    let messages = messages(source, run);
    with_entries(source, run, "messages", messages)
}

/// The same as tau-bench records it.
pub fn tau_bench(source: &mut Source, run: &Value) -> Value {
    let messages = messages(source, run);
    json!({ "task_id": 1, "reward": 1.0, "traj": messages })
}

fn messages(source: &mut Source, run: &Value) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut waiting: Vec<Value> = Vec::new();
    for (number, step) in steps(run).enumerate() {
        let Some(tool) = step.get("tool") else {
            messages.append(&mut waiting);
            messages.push(json!({ "role": role(step), "content": step.get("text") }));
            continue;
        };
        let id = format!("call_{number}");
        let args = step.get("args").map_or_else(|| "{}".to_owned(), Value::to_string);
        let call = json!({ "id": id, "type": "function", "function": { "name": tool, "arguments": args } });
        // Several calls in one message come back in one go.
        let last = messages.last_mut().filter(|_| !waiting.is_empty() && source.chance(50));
        match last.and_then(|message| message.get_mut("tool_calls")).and_then(Value::as_array_mut) {
            Some(calls) => calls.push(call),
            None => {
                messages.append(&mut waiting);
                messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
            }
        }
        if let Some(result) = step.get("result") {
            waiting.push(json!({ "role": "tool", "tool_call_id": id, "content": text_of(result) }));
        }
    }
    messages.append(&mut waiting);
    if source.chance(70) {
        messages.push(json!({ "role": "assistant", "content": said(run), "tool_calls": null }));
    }
    messages
}

/// Messages with blocks in Anthropic's form.
pub fn blocks(source: &mut Source, run: &Value) -> Value {
    let messages = block_messages(source, run).into_iter().map(|(_, message)| message).collect();
    with_entries(source, run, "messages", messages)
}

/// Messages with who says them.
fn block_messages(source: &mut Source, run: &Value) -> Vec<(&'static str, Value)> {
    let mut messages = Vec::new();
    let mut add = |role: &'static str, blocks: Value| messages.push((role, json!({ "role": role, "content": blocks })));
    for (number, step) in steps(run).enumerate() {
        let Some(tool) = step.get("tool") else {
            let role = if role(step) == "user" { "user" } else { "assistant" };
            add(role, json!([{ "type": "text", "text": step.get("text") }]));
            continue;
        };
        let id = format!("toolu_{number}");
        let input = step.get("args").cloned().unwrap_or_else(|| json!({}));
        add("assistant", json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]));
        if let Some(result) = step.get("result") {
            let failed = step.get("status").is_some_and(|status| status == "failed");
            let content = if source.chance(50) {
                json!([{ "type": "text", "text": text_of(result) }])
            } else {
                json!(text_of(result))
            };
            let mut block = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
            if failed || source.chance(20) {
                block["is_error"] = json!(failed);
            }
            add("user", json!([block]));
        }
    }
    if source.chance(70) {
        add("assistant", json!([{ "type": "text", "text": said(run) }]));
    }
    messages
}

/// A session: an event for each message.
pub fn session(source: &mut Source, run: &Value) -> Vec<Value> {
    let mut events = vec![json!({ "type": "summary", "summary": "s", "leafUuid": "u" })];
    events.push(
        json!({ "type": "user", "uuid": "u", "sessionId": "s", "message": { "role": "user", "content": "hello" } }),
    );
    let aside = source.chance(15);
    for (number, (role, mut message)) in block_messages(source, run).into_iter().enumerate() {
        if role == "assistant" {
            message["id"] = json!(format!("msg_{number}"));
        }
        let time = format!("2025-01-01T00:00:{:02}Z", number % 60);
        let mut event = json!({ "type": role, "uuid": format!("u{number}"), "sessionId": "s", "message": message, "timestamp": time });
        if aside && number > 2 {
            event["isSidechain"] = json!(true);
        }
        events.push(event);
    }
    if source.chance(30) {
        let end =
            json!({ "type": "result", "session_id": "s", "result": said(run), "duration_ms": 1200, "is_error": false });
        events.push(end);
    }
    events
}

/// The entries of a run that a conversation may have beside its messages.
fn with_entries(source: &mut Source, run: &Value, key: &str, messages: Vec<Value>) -> Value {
    let mut object = Map::from_iter([(key.to_owned(), Value::Array(messages))]);
    for entry in ["id", "meta", "inputs", "duration", "error", "env", "config", "trace_note", "extra", "tools"] {
        if let Some(value) = run.get(entry)
            && source.chance(40)
        {
            object.insert(entry.to_owned(), value.clone());
        }
    }
    Value::Object(object)
}

fn role(step: &Map<String, Value>) -> &str {
    match step.get("role").and_then(Value::as_str) {
        Some("user") => "user",
        Some("system") => "system",
        _ => "assistant",
    }
}

/// What the assistant says at the end.
pub fn said(run: &Value) -> String {
    match run.get("output") {
        Some(Value::String(text)) => text.clone(),
        Some(output) => output.get("text").and_then(Value::as_str).unwrap_or("done").to_owned(),
        None => "done".to_owned(),
    }
}

/// A result as a conversation holds it.
pub fn text_of(result: &Value) -> String {
    result.as_str().map_or_else(|| result.to_string(), str::to_owned)
}
