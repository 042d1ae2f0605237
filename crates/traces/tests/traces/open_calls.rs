//! Calls that stand in one place alone: in a list beside the messages, in an event, in a request that nobody carried out.

use super::formats::{field, root, steps, with};
use averment_runs::run::StepStatus;
use serde_json::{Value, json};

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn observation(id: &str, kind: &str, second: u32, input: &Value, output: &Value) -> Value {
    json!({"id": id, "traceId": "t", "parentObservationId": if id == "1" { json!(null) } else { json!("1") }, "type": kind,
        "name": if kind == "TOOL" { "look" } else { "step" }, "startTime": format!("2026-01-01T00:00:0{second}Z"),
        "endTime": format!("2026-01-01T00:00:0{second}.500Z"), "input": input, "output": output})
}

#[test]
fn a_call_that_no_span_carries_out_leaves_a_run_open() {
    let asked = |tools: &[&str]| {
        let call = |tool: &&str| json!({"id": tool, "type": "function", "function": {"name": tool, "arguments": "{}"}});
        let calls: Vec<Value> = tools.iter().map(call).collect();
        // Some exporters write messages as text.
        json!(json!({"role": "assistant", "content": null, "tool_calls": calls}).to_string())
    };
    let run = |tools: &[&str]| {
        let given = json!([{"role": "user", "content": "go"}]);
        json!({"id": "t", "observations": [
            observation("1", "AGENT", 1, &json!("go"), &json!("done")),
            observation("2", "GENERATION", 2, &given, &asked(tools)),
            observation("3", "TOOL", 3, &json!({}), &json!("x")),
            observation("4", "GENERATION", 4, &given, &json!({"role": "assistant", "content": "done"}))]})
    };
    with(&run(&["look"]).to_string(), |run| assert!(run.complete, "{:?}", run.warnings));
    with(&run(&["look", "pay"]).to_string(), |run| assert!(!run.complete, "{:?}", run.warnings));
    // Work is handed over without a span of a tool.
    with(&run(&["look", "transfer_to_pay"]).to_string(), |run| assert!(run.complete, "{:?}", run.warnings));
}

#[test]
fn calls_that_agno_lists_beside_the_messages_are_calls() {
    let run = |messages: Value| {
        json!({"run_id": "r", "agent_id": "a", "session_id": "s", "content": "Warm.", "content_type": "str", "created_at": 1,
            "tools": [{"tool_call_id": "c1", "tool_name": "heat", "tool_args": {"at": "Oslo"}, "tool_call_error": false, "result": "20"},
                {"tool_call_id": "c2", "tool_name": "damp", "tool_args": {}, "tool_call_error": true, "result": "no sensor"}],
            "messages": messages})
    };
    let (user, answer) =
        (json!({"role": "user", "content": "how warm"}), json!({"role": "assistant", "content": "Warm."}));
    let all = ["message user", "call heat", "call damp", "message assistant"];
    with(&run(json!([user, answer])).to_string(), |run| {
        assert_eq!(steps(run), all);
        assert_eq!((field(run, 1, "args"), field(run, 1, "result")), (r#"{"at":"Oslo"}"#.into(), "\"20\"".into()));
        assert_eq!((run.steps[1].status, run.steps[2].status), (StepStatus::Ok, StepStatus::Failed));
        assert_eq!((root(run, "output"), run.complete), ("\"Warm.\"".into(), true));
    });
    // Messages that hold one of them hold it once.
    let asks = json!({"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "heat", "arguments": "{}"}}]});
    let gives = json!({"role": "tool", "tool_call_id": "c1", "content": "20"});
    with(&run(json!([user, asks, gives, answer])).to_string(), |run| assert_eq!(steps(run), all));
}

#[test]
fn a_call_that_is_taken_out_of_the_log_of_a_chat_was_made() {
    let call = json!({"kind": "toolInvocationSerialized", "toolCallId": "t1", "toolId": "pay", "isConfirmed": true,
        "isComplete": true, "invocationMessage": "Paying"});
    let begin = json!({"kind": 0, "v": {"version": 3, "requesterUsername": "u", "responderUsername": "Copilot", "sessionId": "s",
        "creationDate": 1, "requests": [{"requestId": "r1", "message": {"text": "do it", "parts": []}, "response": [], "timestamp": 1}]}});
    let push =
        |at: Option<u32>, parts: Value| json!({"kind": 2, "k": ["requests", 0, "response"], "i": at, "v": parts});
    let first = push(None, json!([{"value": "I try."}, call]));
    let log = |last: Value| lines(&[begin.clone(), first.clone(), last]);
    with(&log(push(Some(1), json!([call, {"value": "Done."}]))), |run| {
        assert_eq!(run.steps.iter().filter(|step| step.name == "pay").count(), 1);
        assert!(run.complete, "{:?}", run.warnings);
    });
    let cut = push(Some(1), json!([{"value": "Done."}]));
    let set = json!({"kind": 1, "k": ["requests", 0, "response"], "v": [{"value": "Done."}]});
    for last in [cut, set] {
        with(&log(last), |run| assert!(!run.complete, "{:?}", steps(run)));
    }
}

#[test]
fn an_action_that_only_an_event_of_codex_tells_leaves_a_session_open() {
    let line =
        |kind: &str, payload: Value| json!({"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload});
    let head = line("session_meta", json!({"id": "x", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}));
    let said = line(
        "response_item",
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}),
    );
    let session =
        |middle: &[Value]| lines(&[std::slice::from_ref(&head), middle, std::slice::from_ref(&said)].concat());
    let event = |payload: Value| line("event_msg", payload);
    let search = event(json!({"type": "web_search_end", "call_id": "w1", "query": "q"}));
    let image = event(json!({"type": "view_image_tool_call", "call_id": "v1", "path": "/w/a.png"}));
    for alone in [&search, &image] {
        with(&session(std::slice::from_ref(alone)), |run| assert!(!run.complete, "{:?}", steps(run)));
    }
    let searched = line(
        "response_item",
        json!({"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}}),
    );
    let looked = line(
        "response_item",
        json!({"type": "function_call", "name": "view_image", "arguments": "{}", "call_id": "v1"}),
    );
    with(&session(&[searched, search, looked, image]), |run| {
        assert_eq!(run.steps.iter().filter(|step| step.kind.as_str() == "call").count(), 2);
        assert!(run.complete, "{:?}", run.warnings);
    });
}

#[test]
fn a_run_of_assistants_that_waits_tells_what_it_asks_for() {
    let call =
        |id: &str| json!({"id": id, "type": "function", "function": {"name": "temp", "arguments": "{\"at\": \"A\"}"}});
    let run = json!({"id": "run_1", "object": "thread.run", "created_at": 5, "thread_id": "th", "status": "requires_action",
        "model": "m", "required_action": {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": [call("q1"), call("q2")]}}});
    with(&run.to_string(), |run| {
        assert_eq!(steps(run), ["call temp", "call temp"]);
        assert_eq!((field(run, 0, "args"), root(run, "id")), (r#"{"at":"A"}"#.into(), "\"run_1\"".into()));
        assert!(!run.complete, "it goes on");
    });
    let message = json!({"id": "m", "object": "thread.message", "created_at": 1, "role": "user",
        "content": [{"type": "text", "text": {"value": "how warm", "annotations": []}}]});
    let step = json!({"id": "s", "object": "thread.run.step", "run_id": "run_1", "created_at": 6, "type": "tool_calls",
        "status": "in_progress", "step_details": {"type": "tool_calls", "tool_calls": [call("q1"), call("q2")]}});
    for records in [json!([message, run]), json!([message, run, step])] {
        with(&records.to_string(), |run| assert_eq!(steps(run), ["message user", "call temp", "call temp"]));
    }
}

#[test]
fn calls_of_data_sets_are_messages_of_their_own() {
    let rows = |tools: Value| {
        let call = |at: &str| json!({"role": "tool_call", "content": json!({"name": "stock", "arguments": {"of": at}}).to_string()});
        let mut row = json!({"messages": [{"role": "user", "content": "stock of A and B"}, call("A"), call("B"),
            {"role": "tool_response", "content": "3"}, {"role": "tool_response", "content": "4, buy it"},
            {"role": "assistant", "content": "3 and 4."}]});
        if !tools.is_null() {
            row["tools"] = tools;
        }
        row.to_string()
    };
    for tools in [json!(null), json!("[{\"type\": \"function\", \"function\": {\"name\": \"stock\"}}]")] {
        with(&rows(tools), |run| {
            assert_eq!(steps(run), ["message user", "call stock", "call stock", "message assistant"]);
            assert_eq!((field(run, 1, "result"), field(run, 2, "result")), ("\"3\"".into(), "\"4, buy it\"".into()));
            assert_eq!((field(run, 2, "args"), field(run, 2, "turn")), (r#"{"of":"B"}"#.into(), "1".into()));
            assert!(run.complete, "{:?}", run.warnings);
        });
    }
    let broken = rows(json!(null)).replace("tool_call\"", "tool_calling\"");
    with(&broken, |run| assert!(!run.complete, "{:?}", steps(run)));
}

#[test]
fn a_sender_with_the_name_of_a_tool_answers() {
    let text = json!({"messages": [{"sender": "user", "text": "open it"},
        {"sender": "assistant", "text": "", "tool_calls": [{"id": "c1", "name": "open_box", "arguments": {"n": 1}}]},
        {"sender": "open_box", "text": "yes, empty it"}, {"sender": "assistant", "text": "Open."}]});
    with(&text.to_string(), |run| {
        assert_eq!(steps(run), ["message user", "call open_box", "message assistant"]);
        assert_eq!((field(run, 1, "result"), run.complete), ("\"yes, empty it\"".into(), true));
    });
    with(&text.to_string().replace("\"sender\":\"open_box\"", "\"sender\":\"close_box\""), |run| {
        assert!(!run.complete)
    });
}

#[test]
fn messages_of_beeai_name_tools_with_an_underscore() {
    let text = json!([{"role": "user", "content": [{"type": "text", "text": "find and add"}]},
        {"role": "assistant", "content": [{"type": "tool-call", "id": "c1", "tool_name": "wiki", "args": "{\"q\": \"a\"}"},
            {"type": "tool-call", "id": "c2", "tool_name": "think", "args": "{}"}]},
        {"role": "tool", "content": [{"type": "tool-result", "result": "OK", "tool_name": "think", "tool_call_id": "c2"}]},
        {"role": "tool", "content": [{"type": "tool-result", "result": "hit", "tool_name": "wiki", "tool_call_id": "c1"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Found."}]}]);
    with(&text.to_string(), |run| {
        assert_eq!(steps(run), ["message user", "call wiki", "call think", "message assistant"]);
        assert_eq!((field(run, 1, "args"), field(run, 1, "result")), (r#"{"q":"a"}"#.into(), "\"hit\"".into()));
        assert_eq!((field(run, 2, "result"), run.complete), ("\"OK\"".into(), true));
    });
}

/// As the SDK of LangGraph gives what its server streams.
#[test]
fn events_of_a_server_of_langgraph_hold_updates_and_states() {
    let asks = json!({"type": "ai", "id": "m1", "content": "", "tool_calls": [
        {"name": "tax", "args": {"y": 2024}, "id": "c1", "type": "tool_call"}, {"name": "file", "args": {}, "id": "c2", "type": "tool_call"}]});
    let gives = |id: &str, words: &str, status: &str| {
        json!({"type": "tool", "id": format!("t{id}"), "tool_call_id": id,
        "content": words, "status": status})
    };
    let says = json!({"type": "ai", "id": "m2", "content": "120 due.", "tool_calls": [],
        "usage_metadata": {"input_tokens": 30, "output_tokens": 3, "total_tokens": 33}});
    let event = |event: &str, data: Value| json!({"event": event, "data": data});
    let update = |node: &str, messages: Value| {
        let mut data = json!({});
        data[node] = json!({"messages": messages});
        event("updates", data)
    };
    let asked = json!({"type": "human", "id": "h", "content": "my tax?"});
    let updates = [
        event("metadata", json!({"run_id": "r", "attempt": 1})),
        event("updates", json!({"pre_model_hook": null})),
        event("messages/partial", json!([{"type": "ai", "id": "m1", "content": ""}])),
        update("agent", json!([asks])),
        update("tools", json!([gives("c2", "closed", "error")])),
        update("tools", json!([gives("c1", "120", "success")])),
        update("agent", json!([says])),
        event("end", json!(null)),
    ];
    with(&lines(&updates), |run| {
        assert_eq!(steps(run), ["call tax", "call file", "message assistant"]);
        assert_eq!((field(run, 0, "result"), run.steps[1].status), ("\"120\"".into(), StepStatus::Failed));
        assert_eq!((root(run, "id"), root(run, "output")), ("\"r\"".into(), "\"120 due.\"".into()));
        assert!(run.complete, "{:?}", run.warnings);
    });
    let (first, last) = (json!([asked, asks]), json!([asked, asks, gives("c1", "120", "success"), says]));
    let states = [
        event("metadata", json!({"run_id": "r", "attempt": 1})),
        event("values", json!({"messages": [asked]})),
        event("values", json!({"messages": first})),
        event("values|tools:1", json!({"messages": last})),
        event("values", json!({"messages": last})),
        event("error", json!({"error": "GraphRecursionError", "message": "too deep"})),
    ];
    with(&lines(&states), |run| {
        assert_eq!(steps(run), ["message user", "call tax", "call file", "message assistant"]);
        assert_eq!(root(run, "error"), "\"too deep\"");
    });
    let other = lines(&updates).replace("\"event\":\"messages/partial\"", "\"event\":\"side\"");
    with(&other, |run| assert!(!run.complete, "{:?}", steps(run)));
}

#[test]
fn the_telemetry_of_gemini_tells_of_calls_when_they_are_over() {
    let path = averment_fixtures::project("tests/golden/trace/formats/gemini-telemetry.json");
    let text = std::fs::read_to_string(path).unwrap();
    // Counts stand in the same file.
    let text = text + &json!({"resource": {"attributes": {}}, "scopeMetrics": [{"metrics": []}]}).to_string();
    with(&text, |run| {
        let all = ["message user", "call list_directory", "call run_shell_command", "call count_lines"];
        assert_eq!((steps(run), run.complete), (all.map(str::to_owned).to_vec(), true), "{:?}", run.warnings);
        let statuses = [StepStatus::Ok, StepStatus::Denied, StepStatus::Failed];
        assert_eq!([1, 2, 3].map(|step: usize| run.steps[step].status), statuses);
        assert_eq!(field(run, 2, "args"), r#"{"command":"rm logs/old.log"}"#);
        assert_eq!((root(run, "turns"), field(run, 3, "turn")), ("2".into(), "1".into()));
        assert!(root(run, "usage").contains(r#""input_tokens":320,"output_tokens":22"#), "{}", root(run, "usage"));
    });
    with(&text.replace("gemini_cli.api_request", "gemini_cli.remote_call"), |run| assert!(!run.complete));
    with(&text.replace("gemini_cli.", "qwen-code."), |run| assert!(run.complete, "{:?}", run.warnings));
}
