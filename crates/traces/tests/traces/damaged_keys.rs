//! What is left where keys are renamed or stand twice may have been a call.

use super::formats::with;
use serde_json::{Value as Json, json};

/// The attributes of a span under another key, as an object, as a list and as JSON in text.
#[test]
fn attributes_under_another_key_may_be_a_call() {
    let span = |key: &str, told: &Json| {
        let spans = json!([
            {"name": "ai.generateText", "traceId": "t", "spanId": "a", "startTime": [1, 0], "endTime": [9, 0],
                "attributes": {"operation.name": "ai.generateText", "ai.operationId": "ai.generateText"}},
            {"name": "ai.toolCall", "traceId": "t", "spanId": "b", "parentSpanId": "a", "startTime": [2, 0], "endTime": [3, 0], key: told}]);
        with(&spans.to_string(), |run| run.complete)
    };
    let told = json!({"ai.operationId": "ai.toolCall", "ai.toolCall.name": "look", "ai.toolCall.args": "{}"});
    let text = |key: &str, text: &str| json!({"key": key, "value": {"stringValue": text}});
    let listed = json!([text("ai.operationId", "ai.toolCall"), text("ai.toolCall.name", "look")]);
    for (told, is_told) in
        [(&told, false), (&listed, false), (&Json::from(told.to_string()), false), (&json!({"a": 1}), true)]
    {
        assert!(span("attributes", told));
        assert_eq!(span("attributesOfIt", told), is_told, "{told}");
    }
}

#[test]
fn a_key_that_stands_twice_in_json_in_a_text_is_told() {
    let told = |args: &str| {
        let chat = json!([{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "look", "arguments": args}}]}]);
        let spans = json!([{"name": "chat", "trace_id": "t", "span_id": "a", "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z",
            "attributes": {"gen_ai.operation.name": "chat", "gen_ai.output.messages": format!("[{{\"role\": \"assistant\", \"parts\": [{args}]}}]")}}]);
        [chat, spans].map(|value| {
            with(&value.to_string(), |run| {
                run.warnings.iter().any(|warning| warning.message.contains("more than once"))
            })
        })
    };
    assert_eq!(told(r#"{"type": "text", "content": "x"}"#), [false, false]);
    assert_eq!(told(r#"{"type": "text", "type": "text", "content": "x"}"#), [true, true]);
}

#[test]
fn what_is_left_of_a_message_or_of_an_event_may_have_been_a_call() {
    let answer = |content: &str, calls: &str| {
        let answer = json!({"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": true,
            "message": {"role": "assistant", content: "", calls: [{"func": {"named": "look"}}]}});
        with(&answer.to_string(), |run| run.complete)
    };
    assert!(!answer("contents", "tool_call"));
    let log = |line: &str| {
        let text = format!(
            "{{\"guard\": \"session\", \"id\": \"s\", \"time\": 1}}\n{line}\n{{\"guard\": \"stop\", \"time\": 2}}\n"
        );
        with(&text, |run| (run.complete, run.warnings.is_empty()))
    };
    assert_eq!(log(r#"{"guard": "call", "id": "a", "tool": "look", "args": {}, "time": 1}"#), (true, true));
    for line in
        [r#"{"guard": "call", "id": "a""#, "\"look\"", r#"{"guarded": "call", "id": "a", "tool": "look", "args": {}}"#]
    {
        assert_eq!(log(line), (false, false), "{line}");
    }
}

#[test]
fn calls_that_were_printed_into_a_text_are_calls_of_any_tool() {
    let messages = |content: &Json| {
        let messages = json!([{"type": "TextMessage", "source": "user", "content": "go"},
            {"type": "ToolCallRequestEvent", "source": "a", "content": content}, {"type": "TextMessage", "source": "a", "content": "done"}]);
        with(&messages.to_string(), |run| run.complete)
    };
    assert!(messages(&json!([{"id": "c", "name": "look", "arguments": "{}"}])));
    assert!(!messages(&json!("[FunctionCall(id='c', arguments='{}', name='look')]")));
}
