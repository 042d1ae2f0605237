//! What one format writes down in several ways counts once, and what stands in the place of a call or of the user is neither.

use super::formats::{field, root, steps, with};
use serde_json::{Value as Json, json};

fn lines(values: &[Json]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// A session that writes what streams in under ever new ids of messages.
fn session(id: &str) -> Vec<Json> {
    let call = |id: &str, path: &str| json!({"type": "tool_use", "id": id, "name": "read", "input": {"path": path}});
    let said = |message: &str, content: Json| json!({"type": "assistant", "sessionId": "s", "uuid": message, "message": {"id": message, "role": "assistant", "content": content}});
    let gave = |id: &str, uuid: &str| {
        json!({"type": "user", "sessionId": "s", "uuid": uuid, "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": "x"}]}})
    };
    vec![
        said("m1", json!([call(id, "a")])),
        said("m2", json!([call(id, "a"), call("call_other", "b")])),
        gave(id, "u1"),
        gave("call_other", "u2"),
        said("m3", json!([call(id, "a"), {"type": "text", "text": "done"}])),
    ]
}

#[test]
fn a_call_under_another_message_is_the_same_while_it_waits() {
    let calls = |text: &str| with(text, |run| steps(run).iter().filter(|step| step.starts_with("call")).count());
    assert_eq!(calls(&lines(&session("call_e55a5b729638448fb77ba8fc"))), 2);
    // A short id may be used again for another call.
    assert_eq!(calls(&lines(&session("call_0"))), 3);
}

#[test]
fn the_input_of_clines_sdk_holds_what_came_from_its_cache() {
    let said = |input: u32, cached: u32| {
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": format!("t{input}"), "name": "look", "input": {}}],
            "metrics": {"inputTokens": input, "outputTokens": 5, "cacheReadTokens": cached, "cacheWriteTokens": 0}})
    };
    let messages = json!([{"role": "user", "content": [{"type": "text", "text": "go"}]}, said(100, 0), said(120, 100)]);
    with(&messages.to_string(), |run| {
        let usage = root(run, "usage");
        assert!(usage.contains("\"input_tokens\":220") && usage.contains("\"cache_read_tokens\":100"), "{usage}");
    });
}

#[test]
fn words_that_named_no_tool_are_no_call_of_langchain() {
    let text = json!({"input": "q", "output": "a", "intermediate_steps": [
        [{"tool": "_Exception", "tool_input": "bad", "log": "Could not parse"}, "say it again"],
        [{"tool": "look", "tool_input": "x", "log": ""}, "found"]]});
    with(&text.to_string(), |run| {
        assert_eq!(steps(run).iter().filter(|step| step.starts_with("call")).collect::<Vec<_>>(), ["call look"]);
        assert!(steps(run).contains(&"message system".to_owned()) && run.complete);
    });
}

#[test]
fn updates_of_graphs_stand_behind_their_paths() {
    let update = |path: Json, node: &str, message: Json| json!([path, {node: {"messages": [message]}}]);
    let call = json!([{"name": "look", "args": {}, "id": "a", "type": "tool_call"}]);
    let text = lines(&[
        update(json!([]), "agent", json!({"type": "ai", "content": "", "tool_calls": call})),
        update(json!(["tools:1"]), "helper", json!({"type": "ai", "content": "inside"})),
        json!([["tools:1"], "updates", {"tools": {"messages": [{"type": "tool", "content": "x", "tool_call_id": "a", "name": "look"}]}}]),
        update(json!([]), "agent", json!({"type": "ai", "content": "done"})),
    ]);
    with(&text, |run| {
        assert_eq!(
            (field(run, 0, "result"), root(run, "output"), run.complete),
            ("\"x\"".into(), "\"done\"".into(), true)
        );
    });
}

#[test]
fn results_that_adk_gathers_are_no_call_and_instructions_are_not_the_users() {
    let trace = json!({"uuid": "t", "agentSpans": [{"uuid": "1", "name": "agent", "type": "agent", "input": {"new_message": {"parts": [{"text": "Tokyo?"}]}}}],
        "llmSpans": [{"uuid": "2", "parentUuid": "1", "name": "call_llm", "type": "llm", "input": "You have tools. Confirm nothing.", "output": "ok"},
            {"uuid": "5", "parentUuid": "1", "name": "call_llm", "type": "llm", "input": "Tokyo?", "output": "ok"}],
        "toolSpans": [{"uuid": "3", "parentUuid": "1", "name": "look", "type": "tool", "input": {"city": "Tokyo"}, "output": "sunny"},
            {"uuid": "4", "parentUuid": "1", "name": "(merged tools)", "type": "tool"},
            {"uuid": "6", "parentUuid": "1", "name": "execute_tool find", "type": "tool", "toolsCalled": [{"name": "find"}]}]});
    with(&trace.to_string(), |run| {
        let all = steps(run);
        let of = |kind: &str| all.iter().filter(|step| step.starts_with(kind)).cloned().collect::<Vec<_>>();
        assert_eq!((of("call"), run.complete), (vec!["call look".to_owned(), "call find".to_owned()], true));
        assert_eq!(of("message"), ["message system", "message assistant", "message user", "message assistant"]);
    });
}

#[test]
fn agents_that_are_tools_are_read_from_the_state_that_waits() {
    let call = |id: &str, name: &str| json!([{"type": "tool_call_item", "agent": {"name": name}, "rawItem": {"type": "function_call", "callId": id, "call_id": id, "name": name, "arguments": "{}"}}]);
    let inner = json!({"$schemaVersion": "1.2", "originalInput": "x", "generatedItems": call("b", "delete")});
    let state = json!({"$schemaVersion": "1.2", "originalInput": "go", "generatedItems": call("a", "helper"), "pendingAgentToolRuns": {"helper:a": inner.to_string()}});
    with(&state.to_string(), |run| {
        assert_eq!(steps(run), ["message user", "call helper", "call delete"]);
    });
    let broken = state.to_string().replace("generatedItems\\\"", "otherItems\\\"");
    with(&broken, |run| assert!(!run.complete, "{broken}"));
}

#[test]
fn a_tree_without_a_current_message_is_read_up_to_its_last_answer() {
    let said = |role: &str, text: &str| json!({"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}});
    let mut tree = json!({"mapping": {"a": {"parent": null, "children": ["b", "c"], "message": said("user", "hi")},
        "b": {"parent": "a", "children": [], "message": said("assistant", "first")},
        "c": {"parent": "a", "children": [], "message": said("assistant", "second")}}});
    with(&tree.to_string(), |run| {
        assert_eq!(root(run, "output"), "\"second\"");
        assert!(run.warnings.iter().any(|warning| warning.message.contains("current_node")));
    });
    tree["current_node"] = json!("b");
    with(&tree.to_string(), |run| assert_eq!((root(run, "output"), run.warnings.len()), ("\"first\"".into(), 0)));
}

#[test]
fn what_bedrock_gives_back_holds_its_events() {
    let told = |part: Json| json!({"trace": {"agentId": "a", "sessionId": "s", "trace": {"orchestrationTrace": part}}});
    let call = json!({"invocationInput": {"traceId": "1", "actionGroupInvocationInput": {"actionGroupName": "g", "function": "look"}}});
    let gave = json!({"observation": {"traceId": "1", "actionGroupInvocationOutput": {"text": "found"}}});
    let text = json!({"completion": [told(call), told(gave)], "sessionId": "s", "contentType": "x"}).to_string();
    with(&text, |run| {
        assert_eq!((steps(run), field(run, 0, "result")), (vec!["call look".to_owned()], "\"found\"".into()))
    });
}

#[test]
fn an_older_export_of_prompts_has_no_ids() {
    let logs = json!([{"id": "a", "kind": "toolCall", "tool": "look", "args": "{}", "response": ["found"]},
        {"id": "b", "kind": "request", "name": "panel", "metadata": {}, "response": {"type": "success", "message": ["done"]}}]);
    let text =
        json!({"exportedAt": "2026-01-01T00:00:00Z", "totalPrompts": 1, "prompts": [{"prompt": "go", "logs": logs}]})
            .to_string();
    with(&text, |run| assert_eq!(steps(run), ["message user", "call look", "message assistant"]));
}

#[test]
fn a_call_in_a_part_and_in_a_list_beside_it_is_one() {
    let calls = json!([{"name": "look", "args": {"k": 1}, "id": "c1", "type": "tool_call"}]);
    let parts = |id: &str| json!([{"type": "text", "text": "Wait."}, {"type": "tool_use", "id": id, "name": "look", "input": {"k": 1}}]);
    let trace = |id: &str| {
        let output = json!({"role": "assistant", "content": parts(id), "tool_calls": calls}).to_string();
        json!({"trace": {"id": "t"}, "observations": [{"id": "o", "traceId": "t", "type": "GENERATION", "name": "m",
            "startTime": "2026-01-01T00:00:01Z", "endTime": "2026-01-01T00:00:02Z", "level": "DEFAULT",
            "input": json!([{"role": "user", "content": "go"}]).to_string(), "output": output}]})
        .to_string()
    };
    let calls_in = |id: &str| with(&trace(id), |run| steps(run).iter().filter(|step| *step == "call look").count());
    assert_eq!((calls_in("c1"), calls_in("c2")), (1, 2));
}

#[test]
fn the_input_of_inspect_holds_what_its_total_says() {
    let input = |usage: Json| {
        let messages = json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]);
        let sample = json!({"id": 1, "epoch": 1, "target": "t", "messages": messages, "events": [], "model_usage": {"m": usage}});
        with(&sample.to_string(), |run| root(run, "usage"))
    };
    let usage = |total: u32| json!({"input_tokens": 30, "output_tokens": 6, "total_tokens": total, "input_tokens_cache_read": 20});
    // Earlier versions wrote down what the provider counts as input: here the total is that of input and output.
    assert!(input(usage(56)).contains("\"input_tokens\":50"), "{}", input(usage(56)));
    assert!(input(usage(36)).contains("\"input_tokens\":30"), "{}", input(usage(36)));
    let without_total = json!({"input_tokens": 30, "output_tokens": 6, "input_tokens_cache_write": 20});
    assert!(input(without_total.clone()).contains("\"input_tokens\":50"), "{}", input(without_total));
}
