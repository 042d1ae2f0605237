//! Runs that stand in an object of their own, whose records tell one thing in parts, or that leave out what somebody said.

use super::formats::{field, root, steps, with};
use averment_base::limits::Limits;
use averment_runs::normal::of_run;
use averment_runs::run::{Run, StepKind};
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::{Value as Json, json};
use std::io::Cursor;

fn lines(records: &[Json]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn is_open(run: &Run<'_>) -> bool {
    !run.complete || !run.records_kind(StepKind::Call)
}

fn is_read(text: &str) -> bool {
    let limits = Limits::default();
    let mut raws = TraceRuns::new("t", Cursor::new(text.as_bytes().to_vec()), &limits);
    raws.next().is_some_and(|raw| parse_run(&raw.unwrap(), &Bump::new(), &limits).is_ok())
}

/// A request repeats the conversation without the empty answer that Gemini gave, and then goes on.
#[test]
fn an_empty_answer_does_not_begin_the_conversation_anew() {
    let asked = json!({"role": "user", "parts": [{"text": "sum"}]});
    let call = json!({"role": "model", "parts": [{"functionCall": {"name": "add", "args": {"a": 1}}}]});
    let result = json!({"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {"r": 3}}}]});
    let more = json!({"role": "user", "parts": [{"text": "again"}]});
    let answer =
        |parts: Json| json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]});
    let exchange =
        |contents: &[&Json], parts: Json| json!({"request": {"contents": contents}, "response": answer(parts)});
    let exchanges = json!([
        exchange(&[&asked], call["parts"].clone()),
        exchange(&[&asked, &call, &result], json!([{"text": ""}])),
        exchange(&[&asked, &call, &result, &more], json!([{"text": ""}])),
        exchange(&[&asked, &call, &result, &more, &more], json!([{"text": "3"}])),
    ]);
    with(&exchanges.to_string(), |run| {
        let told = ["message user", "call add", "message user", "message user", "message assistant"];
        assert_eq!(steps(run), told);
        assert_eq!(root(run, of_run::OUTPUT), "\"3\"");
    });
    // A conversation that goes another way begins as the first one did.
    let other = json!({"role": "user", "parts": [{"text": "other"}]});
    let branched = json!([
        exchange(&[&asked], call["parts"].clone()),
        exchange(&[&asked, &call, &result, &more], json!([{"text": "3"}])),
        exchange(&[&asked, &call, &result, &other], json!([{"text": "4"}])),
    ]);
    with(&branched.to_string(), |run| {
        assert_eq!(steps(run).iter().filter(|step| *step == "call add").count(), 1);
    });
}

/// The same for messages of OpenAI and Anthropic.
#[test]
fn an_empty_answer_of_a_message_is_not_repeated() {
    let tools = json!([{"name": "add", "input_schema": {}}]);
    let user = json!({"role": "user", "content": "sum"});
    let call = json!({"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1}});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "3"}]});
    let response = |id: &str, content: Json| json!({"id": id, "type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn"});
    let exchange = |messages: Json, response: Json| json!({"request": {"messages": messages, "tools": tools}, "response": response});
    let said = json!({"role": "assistant", "content": [call]});
    let exchanges = json!([
        exchange(json!([user]), response("m1", json!([call]))),
        exchange(json!([user, said, result]), response("m2", json!([{"type": "text", "text": ""}]))),
        exchange(json!([user, said, result, user]), response("m3", json!([{"type": "text", "text": "3"}]))),
    ]);
    with(&exchanges.to_string(), |run| {
        assert_eq!(steps(run).iter().filter(|step| *step == "call add").count(), 1);
        assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    });
}

#[test]
fn records_of_qwen_code_with_one_id_are_parts_of_one_answer() {
    let record = |id: &str, kind: &str, parts: Json| json!({"uuid": id, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "type": kind, "message": {"role": kind, "parts": parts}, "usageMetadata": {}});
    let mut asked = record("1", "user", json!([{"text": "hi"}, {"text": "a file"}]));
    asked["systemPayload"] = json!({"displayText": "hi"});
    let thought = record("2", "assistant", json!([{"text": "hm", "thought": true}]));
    let call = record("2", "assistant", json!([{"functionCall": {"id": "c", "name": "read_file", "args": {}}}]));
    with(&lines(&[asked, thought, call]), |run| {
        let told = ["message user", "message system", "message thinking", "call read_file"];
        assert_eq!(steps(run).iter().filter(|step| !step.starts_with("read")).collect::<Vec<_>>(), told);
        assert!(!is_open(run));
    });
}

#[test]
fn an_execution_of_copilot_that_ended_was_asked_for() {
    let event = |kind: &str, data: Json| json!({"type": kind, "data": data, "id": kind, "timestamp": "2026-01-01T00:00:00Z", "parentId": null});
    let asked = event(
        "assistant.message",
        json!({"content": "", "toolRequests": [{"toolCallId": "c1", "name": "bash", "arguments": {"command": "ls"}}, {"toolCallId": "c2", "name": "rm"}]}),
    );
    let ended =
        event("tool.execution_complete", json!({"toolCallId": "c1", "success": true, "result": {"content": "a"}}));
    with(&lines(&[event("session.start", json!({"sessionId": "s"})), asked, ended]), |run| {
        let calls: Vec<_> = run.steps.iter().filter(|step| step.kind == StepKind::Call).map(|step| step.name).collect();
        assert_eq!(calls, ["bash"]);
        assert_eq!(field(run, 0, "result"), "\"a\"");
        assert!(!is_open(run));
    });
}

#[test]
fn code_of_a_model_that_calls_tools_is_a_call() {
    let items = json!([
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "program", "call_id": "p", "code": "lookup()"},
        {"type": "function_call", "call_id": "f", "name": "lookup", "arguments": "{}"},
        {"type": "program_output", "call_id": "p", "result": "done", "status": "completed"},
    ]);
    with(&items.to_string(), |run| {
        assert_eq!(steps(run), ["message user", "call program", "call lookup"]);
        assert_eq!(field(run, 1, "result"), "\"done\"");
        assert!(!is_open(run));
    });
}

#[test]
fn a_run_may_stand_in_an_object_of_its_own() {
    let session = json!([
        {"type": "user", "message": {"role": "user", "content": "hi"}, "uuid": "u", "sessionId": "s"},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}}]}, "uuid": "v", "sessionId": "s"},
    ]);
    let events = json!([
        {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "Bash"},
        {"type": "TOOL_CALL_END", "toolCallId": "c"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"},
    ]);
    for (key, run) in [("messages", &session), ("transcript", &session), ("events", &events)] {
        with(&json!({"name": "x", key: run}).to_string(), |run| {
            assert!(steps(run).contains(&"call Bash".to_owned()), "{key}");
            assert!(!run.steps.is_empty());
        });
    }
    // What stands beside the run may hold more calls.
    let beside = json!({"name": "x", "messages": session, "more": {"tool_calls": [{"name": "rm", "arguments": {}}]}});
    with(&beside.to_string(), |run| assert!(is_open(run)));
    let several = json!({"name": "x", "transcript": session, "more": [{"name": "rm", "arguments": {}}]});
    assert!(!is_read(&several.to_string()), "a list of records beside it");
    let session_and_calls = json!({"name": "x", "messages": session, "more": [{"name": "rm", "arguments": {}}]});
    with(&session_and_calls.to_string(), |run| assert!(is_open(run)));
}

/// Whoever is not heard at all may have said anything.
#[test]
fn a_run_without_words_of_the_user_does_not_record_them() {
    let unrecorded = |run: &Run<'_>| run.unrecorded_role(|role| role == "user").is_some();
    let steps = json!([{"finishReason": "stop", "text": "hi", "toolCalls": [], "toolResults": [], "content": [{"type": "text", "text": "hi"}]}]);
    with(&steps.to_string(), |run| assert!(unrecorded(run)));
    let exec = [
        json!({"type": "thread.started", "thread_id": "t"}),
        json!({"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "hi"}}),
    ];
    with(&lines(&exec), |run| assert!(unrecorded(run)));
    let chat = json!({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]});
    with(&chat.to_string(), |run| assert!(!unrecorded(run)));
    // In the normal form everybody is heard, unless the run says otherwise.
    let own = json!({"messages": [{"role": "assistant", "text": "ho"}], "output": "ho"});
    with(&own.to_string(), |run| assert!(!unrecorded(run)));
    let said = json!({"messages": [{"role": "assistant", "text": "ho"}], "output": "ho", "calls": [], "unrecorded_roles": ["user"]});
    with(&said.to_string(), |run| assert!(unrecorded(run)));
}

/// Ticks that tell who spoke and not what.
#[test]
fn speech_without_words_is_not_recorded() {
    let chunk = |role: &str| json!({"role": role, "contains_speech": true});
    let tick = json!({"tick_id": 0, "timestamp": "2026-01-01T00:00:00", "agent_chunk": chunk("assistant"), "user_chunk": chunk("user")});
    let run = json!({"id": "s", "task_id": "t", "termination_reason": "user_stop", "ticks": [tick, tick]});
    with(&run.to_string(), |run| assert!(!run.records_kind(StepKind::Message)));
}

/// What somebody may have said could only have helped, or could only have hurt, or either.
#[test]
fn words_that_are_not_recorded_decide_nothing() {
    let judged = |rule: &str, calls: &[&str]| {
        let mut steps: Vec<_> = calls.iter().map(|tool| json!({"kind": "call", "tool": tool})).collect();
        steps.push(json!({"kind": "message", "role": "assistant", "text": "hi"}));
        let run = json!({"steps": steps, "unrecorded_roles": ["user"]}).to_string();
        let rules = averment_fixtures::Rules::from_text("t", rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
        rules.check_json(&run).unwrap().results[0].verdict.as_str()
    };
    for (rule, calls, expected) in [
        ("never user /x/", &[][..], "undecided"),
        ("never message /x/", &[], "undecided"),
        ("never assistant /x/", &[], "pass"),
        ("require user /x/", &[], "undecided"),
        ("require message /hi/", &[], "pass"),
        ("before user /yes/ -> refund", &["refund"], "undecided"),
        ("before user /yes/ -> refund", &[], "vacuous"),
        ("never send after fetch until user /yes/", &["fetch"], "pass"),
        ("never send after fetch until user /yes/", &["fetch", "send"], "undecided"),
        ("count user <= 3", &[], "undecided"),
        ("count refund <= 3", &[], "pass"),
    ] {
        assert_eq!(judged(rule, calls), expected, "{rule}: {calls:?}");
    }
}
