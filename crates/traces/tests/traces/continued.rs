//! Answers that arrive in parts or are repeated in part: each call counts once, and none is lost.

use super::formats::{field, root, steps, with};
use averment_runs::run::{Run, StepKind};
use serde_json::{Value as Json, json};

fn lines(records: &[Json]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn is_open(run: &Run<'_>) -> bool {
    !run.complete || !run.records_kind(StepKind::Call)
}

/// Code that runs at the provider calls tools: then the next message begins with a whole call.
#[test]
fn a_streamed_message_of_anthropic_may_begin_with_whole_calls() {
    let start = |content: Json| json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": null, "usage": {"input_tokens": 1, "output_tokens": 1}}});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "roll", "input": {"by": id}});
    let stop = json!({"type": "message_stop"});
    let text = lines(&[start(json!([call("a")])), stop.clone(), start(json!([call("b")])), stop]);
    with(&text, |run| {
        assert_eq!(steps(run), ["call roll", "call roll"]);
        assert_eq!((field(run, 0, "args"), field(run, 1, "id")), (r#"{"by":"a"}"#.into(), "\"b\"".into()));
        assert!(!is_open(run));
    });
    let kept = json!({"request": {"body": {"messages": [{"role": "user", "content": "go"}]}}, "response": {"body": text.lines().take(2).map(|event| format!("data: {event}\n\n")).collect::<String>()}});
    with(&kept.to_string(), |run| assert_eq!(steps(run), ["message user", "call roll"]));
}

fn converse_events() -> Vec<Json> {
    let delta = |index: usize, delta: Json| json!({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}});
    let call = |index: usize, id: &str| json!({"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": {"toolUseId": id, "name": "look"}}}});
    let stop = |index: usize| json!({"contentBlockStop": {"contentBlockIndex": index}});
    vec![
        json!({"messageStart": {"role": "assistant"}}),
        delta(0, json!({"text": "I "})),
        delta(0, json!({"text": "look."})),
        stop(0),
        call(1, "a"),
        delta(1, json!({"toolUse": {"input": "{\"q\":"}})),
        delta(1, json!({"toolUse": {"input": " 1}"}})),
        stop(1),
        call(2, "b"),
        stop(2),
        json!({"messageStop": {"stopReason": "tool_use"}}),
        json!({"metadata": {"usage": {"inputTokens": 4, "outputTokens": 2, "totalTokens": 6}, "metrics": {"latencyMs": 9}}}),
    ]
}

#[test]
fn events_of_converse_are_put_together() {
    let events = converse_events();
    with(&lines(&events), |run| {
        assert_eq!(steps(run), ["message assistant", "call look", "call look"]);
        assert_eq!((field(run, 0, "text"), field(run, 1, "args")), ("\"I look.\"".into(), r#"{"q":1}"#.into()));
        assert_eq!((field(run, 2, "args"), field(run, 2, "id")), ("{}".into(), "\"b\"".into()));
        assert_eq!(root(run, "usage"), r#"{"input_tokens":4,"output_tokens":2,"total_tokens":6}"#);
        assert!(!is_open(run));
    });
    with(&Json::from(events.clone()).to_string(), |run| assert_eq!(steps(run).len(), 3));
    // The arguments of the last call were cut off.
    with(&lines(&events[..6]), |run| {
        assert_eq!(steps(run), ["message assistant"]);
        assert!(is_open(run));
    });
    let unknown = json!({"contentBlockStart": {"contentBlockIndex": 3, "start": {"otherUse": {"name": "look"}}}});
    let with_unknown = [&events[..10], &[unknown], &events[10..]].concat();
    with(&lines(&with_unknown), |run| assert!(is_open(run)));
}

#[test]
fn two_answers_of_converse_are_two_turns() {
    let again =
        lines(&converse_events()).replace("I ", "Again I ").replace("\"toolUseId\":\"", "\"toolUseId\":\"again-");
    with(&(lines(&converse_events()) + &again), |run| {
        assert_eq!(steps(run).len(), 6);
        assert_eq!(field(run, 5, "turn"), "2");
    });
}

/// A program that makes one of several calls repeats that one alone.
#[test]
fn a_call_that_is_repeated_alone_is_not_called_again() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "count", "arguments": format!("{{\"n\": \"{id}\"}}")}});
    let asks = |calls: Vec<Json>| json!({"role": "assistant", "content": null, "tool_calls": calls});
    let user = json!({"role": "user", "content": "count two"});
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "one"});
    let more = json!({"role": "user", "content": "go on"});
    let exchange = |messages: Json, answer: Json| json!({"request": {"messages": messages}, "response": {"choices": [{"index": 0, "message": answer}]}});
    let text = json!([
        exchange(json!([user]), asks(vec![call("a"), call("b")])),
        exchange(json!([user, asks(vec![call("a")]), result, more]), asks(vec![call("c")])),
    ]);
    with(&text.to_string(), |run| {
        let all = ["message user", "call count", "call count", "message user", "call count"];
        assert_eq!(steps(run), all);
        assert_eq!((field(run, 1, "result"), field(run, 4, "id")), ("\"one\"".into(), "\"c\"".into()));
        assert!(!is_open(run));
    });
}

#[test]
fn lines_of_claude_code_may_stand_under_messages() {
    let said = |role: &str, content: Json| json!({"type": role, "message": {"role": role, "content": content}});
    let with_ids = |line: Json, id: &str| {
        let mut line = line;
        line["uuid"] = id.into();
        line["sessionId"] = "s".into();
        line
    };
    let plain = [
        said("user", "list".into()),
        said("assistant", json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}])),
        said("user", json!([{"type": "tool_result", "tool_use_id": "t", "content": "a"}])),
        said("assistant", json!([{"type": "text", "text": "One."}])),
    ];
    let whole: Vec<_> = plain.iter().enumerate().map(|(at, line)| with_ids(line.clone(), &at.to_string())).collect();
    for messages in [Json::from(plain.to_vec()), Json::from(whole)] {
        with(&json!({"messages": messages}).to_string(), |run| {
            let calls: Vec<_> =
                run.steps.iter().filter(|step| step.kind == StepKind::Call).map(|step| step.name).collect();
            assert_eq!((calls, root(run, "output")), (vec!["Bash"], "\"One.\"".into()));
            assert!(run.records_kind(StepKind::Command) && !is_open(run));
        });
    }
    let unknown = json!({"messages": [plain[0], plain[1], {"type": "other", "message": {"role": "other"}}]});
    with(&unknown.to_string(), |run| assert!(is_open(run)));
}

#[test]
fn events_of_droid_with_ids_of_their_own_pair_by_the_id_of_the_call() {
    let event = |kind: &str, id: &str, more: Json| {
        let mut event = json!({"type": kind, "id": id, "session_id": "s", "timestamp": "2026-01-01T00:00:00Z"});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let text = lines(&[
        event("message", "m", json!({"role": "user", "text": "go"})),
        event("tool_call", "e1", json!({"toolCallId": "c", "toolName": "Shell", "parameters": {"command": "ls"}})),
        event("tool_result", "e2", json!({"toolCallId": "c", "value": "a"})),
        event("completion", "e3", json!({"finalText": "Done."})),
    ]);
    with(&text, |run| {
        assert_eq!(steps(run)[..2], ["message user", "call Shell"]);
        assert_eq!((field(run, 1, "result"), field(run, 1, "id")), ("\"a\"".into(), "\"c\"".into()));
        assert!(!is_open(run));
    });
}

/// The Agents SDK sends its spans between its requests: no model answers them.
#[test]
fn spans_that_are_sent_ask_for_nothing() {
    let body = |value: Json| json!({"body": value.to_string()});
    let user = json!([{"role": "user", "content": "go"}]);
    let answer = json!({"id": "r", "object": "response", "output": [{"type": "function_call", "call_id": "a", "name": "pay", "arguments": "{}"}]});
    let exchange = |sent: Json, given: Json| json!({"request": body(sent), "response": given});
    let sent = |kind: &str| exchange(json!({"data": [{"object": kind, "id": "s"}]}), json!({"body": {"string": ""}}));
    let asked = exchange(json!({"input": user, "model": "m"}), body(answer));
    for (kind, open) in [("trace.span", false), ("other", true)] {
        let text = json!({"interactions": [asked, sent(kind)]}).to_string();
        with(&text, |run| {
            assert_eq!((steps(run), is_open(run)), (vec!["message user".into(), "call pay".into()], open))
        });
    }
}
