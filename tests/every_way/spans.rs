//! A run as spans of OpenTelemetry, in a container of OTLP.

use crate::conversation::{said, text_of};
use crate::forms::steps;
use crate::source::Source;
use serde_json::{Map, Value, json};

/// A trace: a span of the agent, and one for each call and each message.
pub fn trace(source: &mut Source, run: &Value) -> Value {
    let mut spans = Vec::new();
    let end = 10 * (steps(run).count() as u64 + 2);
    let agent = [("gen_ai.operation.name", json!("invoke_agent")), ("gen_ai.agent.name", json!("support"))];
    spans.push(span(source, (0, None), (0, end), "invoke_agent support", &agent));
    for (number, step) in steps(run).enumerate() {
        let number = number as u64 + 1;
        // Two may start at once, and one may stand in another.
        let at = if source.chance(10) { 10 * number - 10 } else { 10 * number };
        let parent = if source.chance(5) { number.saturating_sub(1) } else { 0 };
        let (name, attributes) = match step.get("tool") {
            Some(tool) => ("execute_tool", of_call(source, step, tool, number)),
            None => ("chat", of_message(source, step)),
        };
        let mut span = span(source, (number, Some(parent)), (at, at + 7), name, &attributes);
        if step.get("status").is_some_and(|status| status == "failed") {
            span["status"] = json!({ "code": 2, "message": "failed" });
        }
        spans.push(span);
    }
    if source.chance(70) {
        let last =
            [("gen_ai.operation.name", json!("chat")), ("gen_ai.output.messages", message("assistant", &said(run)))];
        spans.push(span(source, (1000, Some(0)), (end - 5, end - 1), "chat", &last));
    }
    if source.chance(20) {
        spans.reverse();
    }
    let mut container = json!({ "resourceSpans": [{ "scopeSpans": [{ "scope": { "name": "x" }, "spans": spans }] }] });
    if source.chance(30) {
        container["resourceSpans"][0]["resource"] = json!({ "attributes": [] });
    }
    container
}

fn of_call(source: &mut Source, step: &Map<String, Value>, tool: &Value, number: u64) -> Vec<(&'static str, Value)> {
    let mut all = vec![("gen_ai.operation.name", json!("execute_tool")), ("gen_ai.tool.name", tool.clone())];
    if source.chance(80) {
        all.push(("gen_ai.tool.call.id", json!(format!("call_{number}"))));
    }
    all.extend(step.get("args").map(|args| ("gen_ai.tool.call.arguments", json!(args.to_string()))));
    all.extend(step.get("result").map(|result| ("gen_ai.tool.call.result", json!(text_of(result)))));
    all
}

fn of_message(source: &mut Source, step: &Map<String, Value>) -> Vec<(&'static str, Value)> {
    let words = step.get("text").and_then(Value::as_str).unwrap_or("so");
    let of_user = step.get("role").is_some_and(|role| role == "user");
    let key = if of_user { "gen_ai.input.messages" } else { "gen_ai.output.messages" };
    let mut all = vec![
        ("gen_ai.operation.name", json!("chat")),
        (key, message(if of_user { "user" } else { "assistant" }, words)),
    ];
    if source.chance(30) {
        all.push(("gen_ai.usage.input_tokens", json!(12)));
    }
    all
}

fn message(role: &str, words: &str) -> Value {
    json!(json!([{ "role": role, "parts": [{ "type": "text", "content": words }] }]).to_string())
}

fn span(
    source: &mut Source,
    (id, parent): (u64, Option<u64>),
    (start, end): (u64, u64),
    name: &str,
    attributes: &[(&'static str, Value)],
) -> Value {
    let time = |at: u64| (1_700_000_000_000_000_000 + at * 1_000_000).to_string();
    let value = |value: &Value| match value {
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        value => json!({ "stringValue": value }),
    };
    let attributes: Vec<Value> =
        attributes.iter().map(|(key, one)| json!({ "key": key, "value": value(one) })).collect();
    let mut span = json!({
        "traceId": "7f", "spanId": format!("{id:016x}"), "name": name, "startTimeUnixNano": time(start), "endTimeUnixNano": time(end),
        "attributes": attributes,
    });
    if let Some(parent) = parent {
        span["parentSpanId"] = json!(format!("{parent:016x}"));
    }
    if source.chance(5) {
        span["unknown"] = json!(1);
    }
    span
}
