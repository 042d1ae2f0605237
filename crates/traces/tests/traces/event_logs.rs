//! Events of frameworks and streams as programs write them down: one thing is told by several of them, and counts once.

use super::formats::{field, root, steps, with};
use averment_runs::normal::of_run;
use averment_runs::run::{Run, StepKind, StepStatus};
use serde_json::{Value as Json, json};

pub(super) fn lines(records: &[Json]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

pub(super) fn statuses(run: &Run<'_>) -> Vec<StepStatus> {
    run.steps.iter().filter(|step| step.kind == StepKind::Call).map(|step| step.status).collect()
}

fn turns(run: &Run<'_>) -> Vec<String> {
    (0..run.steps.len()).map(|step| field(run, step, "turn")).collect()
}

pub(super) fn is_sure(run: &Run<'_>) -> bool {
    run.complete && run.warnings.is_empty()
}

#[test]
fn what_a_provider_ran_does_not_end_the_turn() {
    let part = |kind: &str, rest: Json| {
        let mut part = json!({"part_kind": kind});
        part.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        part
    };
    let call =
        |kind: &str, tool: &str, id: &str| part(kind, json!({"tool_name": tool, "args": {}, "tool_call_id": id}));
    let gave = |kind: &str, tool: &str, id: &str| {
        part(kind, json!({"tool_name": tool, "content": "1", "tool_call_id": id, "outcome": "success"}))
    };
    let messages = json!([
        {"kind": "request", "parts": [part("user-prompt", json!({"content": "look"}))]},
        {"kind": "response", "parts": [call("builtin-tool-call", "web_search", "s"), gave("builtin-tool-return", "web_search", "s"),
            call("tool-call", "read", "a"), call("tool-call", "list", "b")]},
        {"kind": "request", "parts": [gave("tool-return", "read", "a"), gave("tool-return", "list", "b")]},
        {"kind": "response", "parts": [part("text", json!({"content": "done"}))]},
    ]);
    with(&messages.to_string(), |run| {
        assert_eq!(turns(run), ["1", "1", "1", "1", "2"]);
        assert_eq!(root(run, of_run::TURNS), "2");
    });
    let step = json!({"finishReason": "stop", "content": [
        {"type": "tool-call", "toolCallId": "s", "toolName": "web_search", "input": {}, "providerExecuted": true},
        {"type": "tool-result", "toolCallId": "s", "toolName": "web_search", "output": "1", "providerExecuted": true},
        {"type": "text", "text": "done"}]});
    with(&json!({"steps": [step]}).to_string(), |run| assert_eq!(turns(run), ["1", "1"]));
}

fn workflow() -> Vec<Json> {
    let message = |role: &str, text: &str| json!({"role": role, "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": text}]});
    let call = |id: &str, tool: &str| json!({"tool_id": id, "tool_name": tool, "tool_kwargs": {"q": id}});
    let result = |id: &str, tool: &str, text: &str, failed: bool| {
        let mut result = call(id, tool);
        result["tool_output"] = json!({"blocks": [{"block_type": "text", "text": text}], "tool_name": tool, "raw_input": {}, "is_error": failed});
        result["return_direct"] = json!(false);
        result
    };
    let output = |text: &str, calls: &[Json]| json!({"response": message("assistant", text), "current_agent_name": "Agent", "tool_calls": calls, "retry_messages": []});
    let input = |messages: &[Json]| json!({"input": messages, "current_agent_name": "Agent"});
    let (system, user) = (message("system", "be kind"), message("user", "find it"));
    vec![
        input(std::slice::from_ref(&user)),
        input(&[system.clone(), user.clone()]),
        json!({"delta": "I ", "response": "I ", "current_agent_name": "Agent", "tool_calls": [], "thinking_delta": ""}),
        output("I look", &[call("1", "search"), call("2", "save")]),
        call("1", "search"),
        call("2", "save"),
        result("1", "search", "found", false),
        result("2", "save", "disk full", true),
        input(&[system, user.clone(), message("assistant", "I look"), user]),
        output("found, not saved", &[]),
        json!({"result": {"response": message("assistant", "found, not saved"), "tool_calls": []}}),
    ]
}

#[test]
fn events_of_llama_index_workflows_are_one_run() {
    let wrapped = workflow()
        .into_iter()
        .map(|event| json!({"__is_pydantic": true, "value": event, "qualified_name": "workflow_events.Event"}));
    for events in [workflow(), wrapped.collect()] {
        with(&lines(&events), |run| {
            let told = [
                "message user",
                "message system",
                "message assistant",
                "call search",
                "call save",
                "message user",
                "message assistant",
            ];
            assert_eq!(steps(run), told);
            assert_eq!(field(run, 3, "args"), r#"{"q":"1"}"#);
            assert_eq!((field(run, 3, "result"), field(run, 4, "error")), ("\"found\"".into(), "\"disk full\"".into()));
            assert_eq!(statuses(run), [StepStatus::Ok, StepStatus::Failed]);
            assert_eq!(
                (root(run, of_run::OUTPUT), root(run, of_run::TURNS)),
                ("\"found, not saved\"".into(), "2".into())
            );
            assert!(is_sure(run), "{:?}", run.warnings);
        });
    }
    let mut more = workflow();
    more.push(json!({"qualified_name": "mine.Event", "value": {"order": 1}}));
    with(&lines(&more), |run| assert!(!run.complete));
    // A streamed answer that never came whole.
    with(&lines(&workflow()[..3]), |run| assert!(!run.complete));
}

#[test]
fn agno_says_twice_that_a_call_failed_and_counts_a_run_at_its_end() {
    let event = |kind: &str, more: Json| {
        let mut event = json!({"event": kind, "created_at": 1_751_300_000, "run_id": "r", "agent_id": "a"});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let tool = |failed: Json, result: Json| json!({"tool": {"tool_call_id": "c", "tool_name": "book", "tool_args": {}, "tool_call_error": failed, "result": result}});
    let mut failed = tool(json!(true), json!("no"));
    failed["error"] = json!("no");
    let metrics = json!({"content": "no", "metrics": {"input_tokens": 30, "output_tokens": 5, "total_tokens": 35, "duration": 2.5}});
    let mut events = vec![
        event("RunStarted", json!({"model": "m"})),
        event("ToolCallStarted", tool(Json::Null, Json::Null)),
        event("ToolCallArgsDelta", json!({"arguments_delta": "{"})),
        event("ToolCallCompleted", tool(json!(true), json!("no"))),
        event("ToolCallError", failed),
        event("RunCompleted", metrics),
    ];
    with(&lines(&events), |run| {
        assert_eq!((steps(run), statuses(run)), (vec!["call book".to_owned()], vec![StepStatus::Failed]));
        assert!(is_sure(run), "{:?}", run.warnings);
        assert_eq!(root(run, of_run::USAGE), r#"{"input_tokens":30,"output_tokens":5,"total_tokens":35}"#);
        assert_eq!(root(run, of_run::DURATION), "2500");
    });
    // Of a run within another nobody knows whether the outer one counts it.
    events.insert(1, event("RunStarted", json!({"run_id": "s", "parent_run_id": "r"})));
    with(&lines(&events), |run| assert_eq!(root(run, of_run::USAGE), "absent"));
}

#[test]
fn a_cycle_of_strands_is_no_call() {
    let span = |id: &str, parent: Json, name: &str, operation: &str| {
        json!({"name": name, "context": {"trace_id": "0x4b", "span_id": id}, "kind": "SpanKind.INTERNAL", "parent_id": parent,
            "start_time": "2026-02-10T08:00:00Z", "end_time": "2026-02-10T08:00:01Z", "status": {"status_code": "OK"},
            "attributes": {"gen_ai.operation.name": operation, "gen_ai.tool.name": (operation == "execute_tool").then_some("look")}, "events": []})
    };
    let spans = json!([
        span("0x1", Json::Null, "invoke_graph", "invoke_graph"),
        span("0x2", json!("0x1"), "execute_event_loop_cycle", "execute_event_loop_cycle"),
        span("0x3", json!("0x2"), "execute_tool look", "execute_tool"),
    ]);
    with(&spans.to_string(), |run| assert!(run.complete, "{:?}", run.warnings));
}

#[test]
fn what_a_pipeline_asks_its_models_the_user_did_not_say() {
    let trace = |asked: &str| {
        json!({"uuid": "t", "input": {"query": "What is the allowance?"}, "output": "5",
            "agentSpans": [{"uuid": "a", "name": "main", "type": "agent", "input": {"query": "What is the allowance?"}, "output": "5"}],
            "llmSpans": [{"uuid": "l", "parentUuid": "a", "name": "rank", "type": "llm", "model": "m", "output": "5",
                "input": [{"role": "system", "content": "rank"}, {"role": "user", "content": asked}]}]})
    };
    let roles = |asked: &str| {
        with(&trace(asked).to_string(), |run| {
            assert!(root(run, of_run::PROMPT).contains("allowance"));
            let of = |step: usize| field(run, step, "role");
            let roles: Vec<_> =
                (0..run.steps.len()).filter(|step| run.steps[*step].kind == StepKind::Message).map(of).collect();
            (roles.join(" "), root(run, "unrecorded_roles"))
        })
    };
    let (found, unrecorded) = roles("Draft and chunks");
    assert!(found.contains("task") && !found.contains("user") && unrecorded.contains("user"), "{found} {unrecorded}");
    assert!(roles("Question: What is the allowance?").0.contains("user"));
}

#[test]
fn a_stream_of_the_ai_sdk_is_one_run() {
    let part = |kind: &str, rest: Json| {
        let mut part = json!({"type": kind});
        part.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        part
    };
    let call = |kind: &str, id: &str, rest: Json| {
        let mut rest = rest;
        rest["toolCallId"] = json!(id);
        part(kind, rest)
    };
    let parts = vec![
        part("start", json!({"messageId": "m"})),
        part("start-step", json!({})),
        part("text-start", json!({"id": "t"})),
        part("text-delta", json!({"id": "t", "delta": "I "})),
        part("text-delta", json!({"id": "t", "delta": "look"})),
        part("text-end", json!({"id": "t"})),
        call("tool-input-start", "a", json!({"toolName": "weather"})),
        call("tool-input-delta", "a", json!({"inputTextDelta": "{\"city\":"})),
        call("tool-input-start", "b", json!({"toolName": "time"})),
        call("tool-input-delta", "a", json!({"inputTextDelta": "\"Lima\"}"})),
        call("tool-input-available", "a", json!({"toolName": "weather", "input": {"city": "Lima"}})),
        call("tool-output-available", "a", json!({"output": "1", "preliminary": true})),
        call("tool-output-available", "a", json!({"output": {"t": 19}})),
        call("tool-input-delta", "b", json!({"inputTextDelta": "{\"zone\":1}"})),
        part("finish-step", json!({})),
        part("start-step", json!({})),
        call("tool-output-error", "b", json!({"errorText": "down"})),
        part("finish-step", json!({})),
        part("start-step", json!({})),
        part("data-weather", json!({"data": {"t": 19}})),
        part("text-delta", json!({"id": "u", "delta": "19"})),
        part("text-delta", json!({"id": "u", "delta": " C"})),
        part("finish-step", json!({})),
        part("finish", json!({})),
    ];
    let sent: String =
        parts.iter().map(|part| format!("data: {part}\n\n")).chain(["data: [DONE]\n".to_owned()]).collect();
    for text in [lines(&parts), json!(parts).to_string(), sent] {
        with(&text, |run| {
            assert_eq!(steps(run), ["message assistant", "call weather", "call time", "message assistant"]);
            assert_eq!(
                (field(run, 1, "args"), field(run, 2, "args")),
                (r#"{"city":"Lima"}"#.into(), r#"{"zone":1}"#.into())
            );
            assert_eq!((field(run, 1, "result"), field(run, 2, "error")), (r#"{"t":19}"#.into(), "\"down\"".into()));
            assert_eq!(turns(run), ["1", "1", "1", "2"]);
            assert_eq!((root(run, of_run::OUTPUT), run.complete), ("\"19 C\"".into(), true));
            assert_eq!(statuses(run), [StepStatus::Ok, StepStatus::Failed]);
        });
    }
    // Of a call whose input is cut off nobody knows more.
    with(&lines(&parts[..8]), |run| {
        assert_eq!((steps(run), run.complete), (vec!["message assistant".to_owned()], false))
    });
    let waits = [
        parts[1].clone(),
        parts[10].clone(),
        call("tool-approval-request", "a", json!({"approvalId": "p"})),
        parts[23].clone(),
    ];
    with(&lines(&waits), |run| assert_eq!(statuses(run), [StepStatus::Pending]));
    let unknown = [parts[10].clone(), part("tool-later", json!({"toolCallId": "c"})), parts[23].clone()];
    with(&lines(&unknown), |run| assert!(!run.complete));
}

#[test]
fn parts_of_a_full_stream_are_read_as_those_of_messages() {
    let parts = [
        json!({"type": "start-step"}),
        json!({"type": "tool-input-start", "id": "a", "toolName": "weather"}),
        json!({"type": "tool-input-delta", "id": "a", "delta": "{}"}),
        json!({"type": "tool-call", "toolCallId": "a", "toolName": "weather", "input": {"city": "Lima"}}),
        json!({"type": "tool-result", "toolCallId": "a", "toolName": "weather", "output": "19"}),
        json!({"type": "finish-step", "usage": {"inputTokens": 3, "outputTokens": 4}}),
        json!({"type": "start-step"}),
        json!({"type": "text-delta", "id": "1", "text": "19"}),
        json!({"type": "finish-step", "usage": {"inputTokens": 5, "outputTokens": 6}}),
        json!({"type": "finish", "totalUsage": {"inputTokens": 8, "outputTokens": 10}}),
    ];
    with(&lines(&parts), |run| {
        assert_eq!(steps(run), ["call weather", "message assistant"]);
        assert_eq!(root(run, of_run::USAGE), r#"{"input_tokens":8,"output_tokens":10,"total_tokens":18}"#);
        assert_eq!((root(run, of_run::OUTPUT), run.complete), ("\"19\"".into(), true));
    });
}

#[test]
fn calls_that_python_printed_are_calls() {
    let row = |call: &str| {
        json!({"conversations": [{"from": "human", "value": "price?"},
            {"from": "gpt", "value": format!("<tool_call>\n{call}\n</tool_call>\n<tool_call>\n{{\"name\": \"price\", \"arguments\": {{\"of\": \"b\"}}}}\n</tool_call>")},
            {"from": "tool", "value": "<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>"}, {"from": "gpt", "value": "1 and 2"}]}).to_string()
    };
    with(&row("{'name': 'price', 'arguments': {'of': 'a', 'live': True}}"), |run| {
        assert_eq!(steps(run), ["message user", "call price", "call price", "message assistant"]);
        assert_eq!(
            (field(run, 1, "args"), field(run, 1, "result")),
            (r#"{"of":"a","live":true}"#.into(), "\"1\"".into())
        );
        assert!(is_sure(run), "{:?}", run.warnings);
    });
    for other in ["{'name': 'price', 'arguments': date(2026)}", "{'name': 'price'} more"] {
        with(&row(other), |run| assert!(!run.complete, "{other}"));
    }
}

#[test]
fn outputs_of_a_pipeline_hold_the_run_of_its_agent() {
    let message = |role: &str, text: &str| json!({"role": role, "meta": {}, "name": null, "content": [{"text": text}]});
    let outputs = json!({"agent": {"messages": [message("user", "hi"), message("assistant", "hello")], "last_message": message("assistant", "hello")}});
    with(&outputs.to_string(), |run| assert_eq!(steps(run), ["message user", "message assistant"]));
}
