//! Forms that older versions write, and records that stand beside what they are pieces of.

use super::formats::{field, root, steps, with};
use serde_json::{Value as Json, json};

fn lines(values: &[Json]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

#[test]
fn the_only_call_of_an_older_chat_api_is_streamed_in_pieces() {
    let chunk = |delta: Json, ended: Json| json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": ended}]});
    let chunks = [
        chunk(json!({"role": "assistant", "function_call": {"name": "look", "arguments": ""}}), Json::Null),
        chunk(json!({"function_call": {"arguments": "{\"n\":"}}), Json::Null),
        chunk(json!({"function_call": {"arguments": "1}"}}), Json::Null),
        chunk(json!({}), json!("function_call")),
    ];
    with(&lines(&chunks), |run| {
        assert_eq!(
            (steps(run), field(run, 0, "args"), run.complete),
            (vec!["call look".into()], r#"{"n":1}"#.into(), true)
        );
    });
    with(&lines(&chunks[..2]), |run| assert!(!run.complete && steps(run).is_empty()));
}

#[test]
fn older_messages_of_llama_index_have_no_blocks() {
    let messages = json!([{"role": "user", "content": "go", "additional_kwargs": {}},
        {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}},
        {"role": "tool", "content": "found", "additional_kwargs": {"name": "look", "tool_call_id": "a"}},
        {"role": "assistant", "content": "Done.", "additional_kwargs": {}}]);
    for text in [messages.to_string(), lines(messages.as_array().unwrap())] {
        with(&text, |run| {
            assert_eq!(
                (steps(run), run.complete),
                (["message user", "call look", "message assistant"].map(str::to_owned).to_vec(), true)
            );
            assert_eq!((field(run, 1, "result"), root(run, "output")), ("\"found\"".into(), "\"Done.\"".into()));
        });
    }
}

#[test]
fn pieces_of_a_run_of_assistants_count_where_nothing_comes_whole() {
    let step = |status: &str, calls: Json| {
        json!({"id": "s", "object": "thread.run.step", "created_at": 1_700_000_000, "type": "tool_calls", "status": status,
            "step_details": {"type": "tool_calls", "tool_calls": calls}})
    };
    let call =
        json!([{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}", "output": "found"}}]);
    let piece =
        |id: &str| json!({"id": id, "object": "thread.run.step.delta", "delta": {"step_details": {"tool_calls": []}}});
    let told = |id: &str| [step("in_progress", json!([])), piece(id), step("completed", call.clone())];
    with(&lines(&told("s")), |run| assert_eq!((steps(run), run.complete), (vec!["call look".to_owned()], true)));
    with(&lines(&told("other")), |run| assert!(!run.complete));
}

#[test]
fn a_log_of_bedrocks_calls_holds_both_sides_of_each() {
    let log = |asked: Json, answered: Json| {
        json!({"schemaType": "ModelInvocationLog", "schemaVersion": "1.0", "operation": "Converse", "modelId": "m",
            "input": {"inputContentType": "application/json", "inputBodyJson": {"messages": asked, "toolConfig": {"tools": []}}},
            "output": {"outputContentType": "application/json", "outputBodyJson": {"output": {"message": {"role": "assistant", "content": answered}},
                "stopReason": "end_turn", "usage": {"inputTokens": 5, "outputTokens": 6}}}})
    };
    let asked = json!({"role": "user", "content": [{"text": "go"}]});
    let call = json!({"toolUse": {"toolUseId": "a", "name": "look", "input": {}}});
    let gave = json!({"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "found"}]}}]});
    let text = lines(&[
        log(json!([asked]), json!([call])),
        log(json!([asked, {"role": "assistant", "content": [call]}, gave]), json!([{"text": "Done."}])),
    ]);
    with(&text, |run| {
        assert_eq!(steps(run), ["message user", "call look", "message assistant"]);
        assert!(root(run, "usage").contains("\"input_tokens\":10"));
    });
}

#[test]
fn a_raw_stream_of_cohere_is_read_like_its_events() {
    let events =
        std::fs::read_to_string(averment_fixtures::project("tests/golden/trace/formats/cohere-events.jsonl")).unwrap();
    let raw: String = events.lines().map(|line| format!("event: x\ndata: {line}\n\n")).collect();
    for text in [&events, &raw] {
        with(text, |run| {
            assert_eq!((steps(run), run.complete), (vec!["call get_weather".into(), "message assistant".into()], true));
            assert_eq!(
                (field(run, 0, "args"), root(run, "output")),
                (r#"{"city":"Rome"}"#.into(), "\"It is sunny.\"".into())
            );
        });
    }
    with(&events.replace("tool-call-start", "tool-use-start"), |run| assert!(!run.complete));
}

#[test]
fn what_is_fetched_or_counted_beside_a_conversation_asks_no_model() {
    let request = |method: &str, body: &str| json!({"uri": "https://a.b/c", "method": method, "body": body});
    let chat = json!({"messages": [{"role": "user", "content": "go"}], "tools": [{"type": "function", "function": {"name": "look"}}]}).to_string();
    let done = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}]}).to_string();
    let recorded = |method: &str, body: &str, answer: &str| {
        let beside = json!({"request": request(method, body), "response": {"status": {"code": 200}, "body": {"string": answer}}});
        let asked =
            json!({"request": request("POST", &chat), "response": {"status": {"code": 200}, "body": {"string": done}}});
        with(&json!({"version": 1, "interactions": [beside, asked]}).to_string(), |run| run.complete)
    };
    assert!(recorded("GET", "", "%PDF-1.4"));
    assert!(recorded("POST", &chat, r#"{"input_tokens": 11, "object": "response.input_tokens"}"#));
    assert!(!recorded("POST", &chat, r#"{"input_tokens": 11, "result": {"a": 1}}"#));
    assert!(!recorded("POST", "", "%PDF-1.4"));
    assert!(recorded("POST", &chat, &done));
}
