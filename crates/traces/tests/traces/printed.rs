//! Messages of a tool as Python prints them, where others have JSON.

use super::formats::with;
use averment_base::value::json::to_json;
use averment_runs::run::{Run, StepKind};
use serde_json::{Value, json};

/// The calls of a run: tool, id, result, how they ended.
fn calls(run: &Run<'_>) -> Vec<String> {
    let calls = run.steps.iter().filter(|step| step.kind == StepKind::Call);
    let field = |step: &averment_runs::run::Step<'_>, key| {
        step.object.get(key).map_or("-".to_owned(), |node| to_json(&node.value))
    };
    calls
        .map(|step| format!("{} {} {} {:?}", step.name, field(step, "id"), field(step, "result"), step.status))
        .collect()
}

/// Files of each format in which a tool gave that, each with what is said of a call that does not say how it ended.
fn files(gave: &str) -> Vec<(String, &'static str)> {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}});
    let asked = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let message = json!({"role": "tool", "content": gave});
    let response = json!({"object": "response", "id": "r", "output": [{"type": "message", "role": "assistant", "content": "Done."}]});
    let exchange = json!({"request": {"model": "m", "messages": [asked, message]}, "response": response});
    let of_langchain = json!([{"type": "human", "content": "q"}, {"type": "ai", "content": "", "tool_calls": [{"name": "search", "args": {}, "id": "c1"}]},
        {"type": "tool", "content": gave}]);
    let span = |attributes: Value| {
        json!([{"name": "search", "trace_id": "t", "span_id": "s", "start_time": "2025-01-01T00:00:00Z", "end_time": "2025-01-01T00:00:01Z", "attributes": attributes}]).to_string()
    };
    let chat = json!([asked, message]).to_string();
    let traceloop = json!({"output": gave, "kwargs": {}}).to_string();
    vec![
        (chat, "Unknown"),
        (exchange.to_string(), "Unknown"),
        (of_langchain.to_string(), "Unknown"),
        (span(json!({"openinference.span.kind": "TOOL", "tool.name": "search", "output.value": gave})), "Ok"),
        (
            span(
                json!({"traceloop.span.kind": "tool", "traceloop.entity.name": "search", "traceloop.entity.output": traceloop}),
            ),
            "Ok",
        ),
    ]
}

#[test]
fn a_printed_message_of_a_tool_is_its_content_its_id_and_its_end() {
    let cases = [
        ("content='2 rooms' name='search' tool_call_id='c1'", r#""2 rooms""#, ""),
        ("content=\"it's\\n\\\\ \\xe9\\u20ac\" tool_call_id='c1'", r#""it's\n\\ é€""#, ""),
        ("ToolMessage(content='2 rooms', name='search', tool_call_id='c1', status='error')", r#""2 rooms""#, "Failed"),
        ("content='no' name='search' id='m' tool_call_id='c1' status='error'", r#""no""#, "Failed"),
        (
            "content='ok' additional_kwargs={'a': [1, -2.5, None, (True,)]} tool_call_id='c1' artifact=[Document(id='(', n=1)] status='success'",
            r#""ok""#,
            "Ok",
        ),
        (
            "content=[{'type': 'text', 'text': 'one'}, {'type': 'text', 'text': 'two'}] tool_call_id='c1'",
            r#""one\ntwo""#,
            "",
        ),
        (r#"content='{"n": 1}' name='search' tool_call_id='c1'"#, r#""{\"n\": 1}""#, ""),
    ];
    for (gave, result, end) in cases {
        for (file, silent) in files(gave) {
            let end = if end.is_empty() { silent } else { end };
            with(&file, |run| assert_eq!(calls(run), [format!(r#"search "c1" {result} {end}"#)], "{file}"));
        }
    }
}

#[test]
fn what_only_begins_like_a_printed_message_stays_as_it_is() {
    for gave in [
        "content='2 rooms' name='search'",
        "content='2 rooms' tool_call_id='c1' and more",
        "content='2 rooms' tool_call_id=7",
        "see content='2 rooms' tool_call_id='c1'",
        "content='2 rooms tool_call_id='c1'",
        "content=rooms tool_call_id='c1'",
        "ToolMessage(content='2 rooms', tool_call_id='c1'",
    ] {
        for (file, _) in files(gave) {
            with(&file, |run| {
                let found = calls(run);
                let result = serde_json::to_string(gave).unwrap();
                assert!(found.iter().all(|call| call.contains(&result) || call.contains(" null ")), "{found:?} {file}");
            });
        }
    }
}

/// Several calls of one tool are told apart by the ids that are printed.
#[test]
fn printed_ids_pair_results_with_their_calls() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "search", "arguments": "{}"}});
    let told = |id: &str, text: &str| json!({"role": "tool", "content": format!("content='{text}' name='search' tool_call_id='{id}'")});
    let asked = json!({"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]});
    with(&json!([asked, told("b", "second"), told("a", "first")]).to_string(), |run| {
        assert_eq!(calls(run), [r#"search "a" "first" Unknown"#, r#"search "b" "second" Unknown"#]);
    });
}
