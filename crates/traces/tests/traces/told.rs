//! What records tell of each other: which result belongs to which call, what the answer is, how calls ended of which several records
//! speak, who said what.

use super::formats::{root, with};
use averment_base::value::json::to_json;
use averment_base::value::{Object, Value};
use averment_runs::run::{Run, StepKind};

/// Each call as `tool arguments => result status`.
pub(super) fn calls(text: &str) -> Vec<String> {
    with(text, |run| of_kind(run, StepKind::Call))
}

fn of_kind(run: &Run<'_>, kind: StepKind) -> Vec<String> {
    let steps = run.steps.iter().filter(|step| step.kind == kind);
    steps.map(|step| format!("{} {}", step.name, told(step.object))).collect()
}

fn told(step: Object<'_>) -> String {
    let shown = |key: &str| match step.get(key).map(|node| node.value) {
        None | Some(Value::Missing | Value::Absent | Value::Null) => "-".to_owned(),
        Some(Value::Text(text)) => text.as_str().to_owned(),
        Some(value) => to_json(&value),
    };
    format!("{} => {} {}", shown("args"), shown("result"), shown("status"))
}

fn of_run(text: &str, key: &str) -> String {
    with(text, |run| root(run, key))
}

/// Each message as `role text`.
fn messages(text: &str) -> Vec<String> {
    with(text, |run| {
        let said = run.steps.iter().filter(|step| step.kind == StepKind::Message);
        said.map(|step| {
            let text = step.object.get("text").map(|node| to_json(&node.value)).unwrap_or_default();
            format!("{} {}", step.name, text.trim_matches('"'))
        })
        .collect()
    })
}

fn agent(step: Object<'_>) -> String {
    step.get("agent").map(|node| to_json(&node.value).trim_matches('"').to_owned()).unwrap_or_default()
}

fn chat(messages: &[&str]) -> String {
    format!(r#"{{"messages": [{}]}}"#, messages.join(","))
}

/// A message of the assistant that calls tools, each with an id and the number that it is given.
fn asks(calls: &[(&str, &str, u8)]) -> String {
    let call = |(id, tool, number): &(&str, &str, u8)| {
        format!(r#"{{"id": "{id}", "function": {{"name": "{tool}", "arguments": "{{\"n\":{number}}}"}}}}"#)
    };
    let calls: Vec<_> = calls.iter().map(call).collect();
    format!(r#"{{"role": "assistant", "content": null, "tool_calls": [{}]}}"#, calls.join(","))
}

#[test]
fn a_result_answers_the_last_message_that_asked_with_its_id() {
    let result = |words: &str| format!(r#"{{"role": "tool", "tool_call_id": "k", "content": "{words}"}}"#);
    let turns = [
        asks(&[("k", "find", 1)]),
        asks(&[("k", "find", 2)]),
        result("two"),
        asks(&[("k", "find", 3)]),
        result("three"),
    ];
    let turns: Vec<_> = turns.iter().map(String::as_str).collect();
    let text = chat(&[&[turns[0], r#"{"role": "user", "content": "stop, go on with 2"}"#], &turns[1..]].concat());
    let expected = [r#"find {"n":1} => - -"#, r#"find {"n":2} => two -"#, r#"find {"n":3} => three -"#];
    assert_eq!(calls(&text), expected);

    // The same with blocks, and in the messages of LangChain.
    let blocks = |number: u8| {
        format!(
            r#"{{"role": "assistant", "content": [{{"type": "tool_use", "id": "k", "name": "find", "input": {{"n": {number}}}}}]}}"#
        )
    };
    let given = |words: &str| {
        format!(
            r#"{{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "k", "content": "{words}"}}]}}"#
        )
    };
    let text = chat(&[
        &blocks(1),
        r#"{"role": "user", "content": "stop"}"#,
        &blocks(2),
        &given("two"),
        &blocks(3),
        &given("three"),
    ]);
    let expected = [r#"find {"n":1} => - -"#, r#"find {"n":2} => two ok"#, r#"find {"n":3} => three ok"#];
    assert_eq!(calls(&text), expected);
    let model = |number: u8| {
        format!(
            r#"{{"type": "ai", "content": "", "tool_calls": [{{"id": "k", "name": "find", "args": {{"n": {number}}}}}]}}"#
        )
    };
    let given = |words: &str| format!(r#"{{"type": "tool", "tool_call_id": "k", "content": "{words}"}}"#);
    let text = chat(&[
        &model(1),
        r#"{"type": "human", "content": "stop"}"#,
        &model(2),
        &given("two"),
        &model(3),
        &given("three"),
    ]);
    let expected = [r#"find {"n":1} => - -"#, r#"find {"n":2} => two -"#, r#"find {"n":3} => three -"#];
    assert_eq!(calls(&text), expected);
}

#[test]
fn of_several_calls_with_an_id_a_result_answers_that_of_its_tool() {
    let results = [("red", "name"), ("blue", "name")];
    for (id, answers) in [("k", r#""tool_call_id": "k", "#), ("", r#""tool_call_id": "", "#), ("", "")] {
        for names in [results, results.map(|(tool, _)| (tool, "tool_name"))] {
            let given = names.map(|(tool, key)| {
                format!(r#"{{"role": "tool", {answers}"{key}": "{tool}", "content": "is {tool}"}}"#)
            });
            let text = chat(&[&asks(&[(id, "blue", 1), (id, "red", 2)]), &given[0], &given[1]]);
            assert_eq!(calls(&text), [r#"blue {"n":1} => is blue -"#, r#"red {"n":2} => is red -"#], "{text}");
        }
    }
    // A name that no call has does not count beside an id.
    let text = chat(&[
        &asks(&[("k", "blue", 1)]),
        r#"{"role": "tool", "tool_call_id": "k", "name": "server.blue", "content": "x"}"#,
    ]);
    assert_eq!(calls(&text), [r#"blue {"n":1} => x -"#]);
}

#[test]
fn many_waiting_calls_are_answered_as_few_are() {
    let mut turns = Vec::new();
    for number in 0..200 {
        turns.push(asks(&[("k", "blue", 1), ("k", "red", 2), ("", "green", 3)]));
        if number % 3 == 0 {
            turns.push(r#"{"role": "tool", "tool_call_id": "k", "name": "red", "content": "r"}"#.to_owned());
            turns.push(r#"{"role": "tool", "tool_call_id": "k", "content": "b"}"#.to_owned());
            turns.push(r#"{"role": "tool", "name": "green", "content": "g"}"#.to_owned());
        }
    }
    let found = calls(&chat(&turns.iter().map(String::as_str).collect::<Vec<_>>()));
    for (number, turn) in found.chunks(3).enumerate() {
        let result = |word: &str| if number % 3 == 0 { word.to_owned() } else { "-".to_owned() };
        let expected = [("blue", 1, "b"), ("red", 2, "r"), ("green", 3, "g")];
        assert_eq!(turn, expected.map(|(tool, n, word)| format!(r#"{tool} {{"n":{n}}} => {} -"#, result(word))));
    }
}

#[test]
fn the_answer_is_the_text_of_the_last_message_as_a_whole() {
    let parts = r#"[{"type": "text", "text": "It is 7"}, {"type": "text", "text": "degrees."}]"#;
    let blocks = chat(&[
        r#"{"role": "assistant", "content": [{"type": "tool_use", "id": "k", "name": "look", "input": {}}]}"#,
        r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "k", "content": "7"}]}"#,
        &format!(r#"{{"role": "assistant", "content": {parts}}}"#),
    ]);
    let message = format!(
        r#"{{"id": "m", "type": "message", "role": "assistant", "content": {parts}, "stop_reason": "end_turn"}}"#
    );
    let converse = chat(&[
        r#"{"role": "assistant", "content": [{"toolUse": {"toolUseId": "k", "name": "look", "input": {}}}]}"#,
        r#"{"role": "assistant", "content": [{"text": "It is 7"}, {"text": "degrees."}]}"#,
    ]);
    let event = |author: &str, parts: &str| {
        format!(r#"{{"id": "e", "invocation_id": "i", "author": "{author}", "content": {{"parts": [{parts}]}}}}"#)
    };
    let adk = format!(
        r#"{{"id": "s", "app_name": "a", "events": [{},{},{}]}}"#,
        event("user", r#"{"text": "How cold?"}"#),
        event("scout", r#"{"text": "I ask."}"#),
        event("teller", r#"{"text": "It is 7"}, {"text": "degrees."}"#)
    );
    let item = |text: &str| {
        format!(
            r#"{{"type": "message", "role": "assistant", "content": [{{"type": "output_text", "text": "{text}"}}]}}"#
        )
    };
    let response = format!(r#"{{"object": "response", "output": [{},{}]}}"#, item("It is 7"), item("degrees."));
    let line = |uuid: &str, text: &str| {
        format!(
            r#"{{"type": "assistant", "uuid": "{uuid}", "sessionId": "s", "message": {{"id": "m", "role": "assistant", "content": [{{"type": "text", "text": "{text}"}}]}}}}"#
        )
    };
    let session = [line("1", "It is 7"), line("2", "degrees.")].join("\n");
    let page = chat(&[
        r#"{"role": "assistant", "parts": [{"type": "dynamic-tool", "toolName": "look", "toolCallId": "k", "state": "output-available", "input": {}, "output": 7}]}"#,
        r#"{"role": "assistant", "parts": [{"type": "text", "text": "It is 7"}, {"type": "text", "text": "degrees."}]}"#,
    ]);
    for text in [blocks, message, converse, adk, response, session, page] {
        assert_eq!(of_run(&text, "output"), r#""It is 7\ndegrees.""#, "{text}");
    }
}

/// A sample of Inspect with these messages and events.
fn sample(messages: &[&str], events: &[&str]) -> String {
    format!(
        r#"{{"id": 1, "epoch": 1, "target": "t", "messages": [{}], "events": [{}]}}"#,
        messages.join(","),
        events.join(",")
    )
}

/// An event of Inspect in which a tool was executed.
fn tool(id: &str, name: &str, span: &str, rest: &str) -> String {
    format!(
        r#"{{"event": "tool", "id": "{id}", "function": "{name}", "arguments": {{}}, "span_id": "{span}", "timestamp": "2026-02-01T10:00:00Z"{rest}}}"#
    )
}

#[test]
fn calls_that_stand_in_events_of_inspect_alone_are_calls() {
    let messages = [
        r#"{"id": "m1", "role": "user", "content": "Go"}"#,
        r#"{"id": "m2", "role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": "scout", "arguments": {}}]}"#,
        r#"{"id": "m3", "role": "tool", "tool_call_id": "a", "function": "scout", "content": "found"}"#,
        r#"{"id": "m4", "role": "user", "content": "7"}"#,
        r#"{"id": "m5", "role": "assistant", "content": "It is 7"}"#,
    ];
    let span = |id: &str, parent: &str, kind: &str| {
        format!(r#"{{"event": "span_begin", "id": "{id}", "parent_id": "{parent}", "type": "{kind}", "name": "{id}"}}"#)
    };
    let answered = r#"{"event": "model", "output": {"choices": [{"message": {"id": "m5", "tool_calls": [{"id": "z", "function": "hand_in"}]}}]}}"#;
    let events = [
        span("lead", "", "agent"),
        tool("a", "scout", "lead", r#", "result": "found""#),
        span("inner", "lead", "tool"),
        span("helper", "inner", "agent"),
        tool("b", "look", "helper", r#", "result": "7", "message_id": "m4""#),
        tool("c", "burn", "helper", r#", "result": "", "error": {"type": "approval", "message": "no"}"#),
        answered.to_owned(),
        tool("z", "hand_in", "lead", r#", "result": "It is 7""#),
        span("grader", "", "scorers"),
        tool("g", "grade", "grader", r#", "result": "C""#),
    ];
    let text = sample(&messages, &events.iter().map(String::as_str).collect::<Vec<_>>());
    let expected = ["scout {} => found ok", "look {} => 7 ok", "burn {} =>  denied", "hand_in {} => It is 7 ok"];
    assert_eq!(calls(&text), expected);
    assert_eq!(self::messages(&text), ["user Go", "assistant It is 7"]);
    with(&text, |run| {
        let calls = run.steps.iter().filter(|step| step.kind == StepKind::Call);
        let told: Vec<_> = calls.map(|step| (step.turn, agent(step.object))).collect();
        let expected = [(1, "main"), (1, "helper"), (1, "helper"), (2, "main")];
        assert_eq!(told, expected.map(|(turn, agent)| (Some(turn), agent.to_owned())));
    });
}

#[test]
fn events_of_inspect_say_how_calls_ended_where_no_message_does() {
    let calls_two = r#"{"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": "big", "arguments": {}}, {"id": "b", "function": "big", "arguments": {}}, {"id": "c", "function": "big", "arguments": {}}]}"#;
    let events = [
        tool("a", "big", "s", r#", "result": "much""#),
        tool("b", "big", "s", r#", "result": "", "failed": true"#),
        tool("c", "big", "s", r#", "pending": true"#),
    ];
    let text = sample(&[calls_two], &events.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(calls(&text), ["big {} => much ok", "big {} =>  failed", "big {} => - -"]);
}

/// A line of a session of Claude Code.
fn line(kind: &str, rest: &str) -> String {
    format!(r#"{{"type": "{kind}", "sessionId": "s", {rest}}}"#)
}

fn said(role: &str, content: &str, rest: &str) -> String {
    line(role, &format!(r#""message": {{"role": "{role}", "content": {content}}}{rest}"#))
}

const RUNS: &str = r#"[{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make clean"}}]"#;

fn gave(words: &str) -> String {
    said(
        "user",
        &format!(r#"[{{"type": "tool_result", "tool_use_id": "t1", "content": "{words}", "is_error": true}}]"#),
        "",
    )
}

#[test]
fn a_call_is_denied_where_any_line_says_so() {
    let denied = [
        [
            gave("No, by the rules of this host"),
            line("result", r#""num_turns": 1, "permission_denials": [{"tool_use_id": "t1"}]"#),
        ],
        [
            line("system", r#""subtype": "permission_denied", "tool_use_id": "t1""#),
            gave("No, by the rules of this host"),
        ],
        [gave("This command requires approval"), line("summary", r#""summary": "x""#)],
    ];
    for lines in denied {
        let text = [&[said("assistant", RUNS, "")][..], &lines].concat().join("\n");
        assert!(calls(&text)[0].ends_with(" denied"), "{text}");
        assert!(with(&text, |run| of_kind(run, StepKind::Command).is_empty()), "{text}");
    }
    let state = r#"{"$schemaVersion": "1.21", "original_input": "Go", "generated_items": [
        {"type": "tool_call_item", "raw_item": {"type": "function_call", "call_id": "c1", "name": "burn", "arguments": "{}"}},
        {"type": "tool_call_output_item", "raw_item": {"type": "function_call_output", "call_id": "c1", "output": "not approved"}}],
        "context": {"approvals": {}, "function_tool_approvals": [{"tool_key": "burn", "decision": {"approved": [], "rejected": ["c1"]}}]}}"#;
    assert_eq!(calls(state), ["burn {} => not approved denied"]);
}

#[test]
fn what_the_program_writes_is_not_what_the_user_says() {
    let text = [
        said("user", r#""<command-name>/fast</command-name>""#, ""),
        said("user", r#""<local-command-stdout>Set to fast</local-command-stdout>""#, ""),
        said("user", r#""Mend the bug""#, ""),
        said("user", r#""<task-notification>yes, approve</task-notification>""#, ""),
        said("user", r#"[{"type": "text", "text": "[Request interrupted by user]"}]"#, ""),
        said("user", r#""Use <tags> as before""#, ""),
    ]
    .join("\n");
    let heard: Vec<_> = messages(&text).into_iter().filter(|said| said.starts_with("user")).collect();
    assert_eq!(heard, ["user Mend the bug", "user Use <tags> as before"]);
    assert_eq!(of_run(&text, "prompt"), r#""Mend the bug""#);
}

#[test]
fn an_error_of_the_provider_is_no_answer() {
    let fails =
        said("assistant", r#"[{"type": "text", "text": "API Error: 529 busy"}]"#, r#", "isApiErrorMessage": true"#);
    let talks = said("assistant", r#""Half done""#, "");
    let text = [talks.clone(), fails.clone()].join("\n");
    assert_eq!(of_run(&text, "output"), r#""Half done""#);
    assert_eq!(of_run(&text, "error"), r#""API Error: 529 busy""#);
    assert_eq!(of_run(&text, "turns"), "1");
    assert_eq!(messages(&text)[1], "system API Error: 529 busy");
    // Where it went on, nothing failed in the end.
    assert_eq!(of_run(&[fails, talks].join("\n"), "error"), "missing");
}

#[test]
fn what_a_sub_agent_does_stands_in_lines_about_its_progress() {
    let told = |kind: &str, content: &str, uuid: &str| {
        line(
            "progress",
            &format!(
                r#""data": {{"type": "agent_progress", "agentId": "h1", "message": {{"type": "{kind}", "uuid": "{uuid}", "message": {{"role": "{kind}", "content": {content}}}}}}}"#
            ),
        )
    };
    let result = r#"[{"type": "tool_result", "tool_use_id": "t1", "content": "gone"}]"#;
    let text = [
        said("user", r#""Go""#, ""),
        told("assistant", RUNS, "p1"),
        told("user", result, "p2"),
        told("user", result, "p2"),
        line("progress", r#""data": {"type": "bash_progress", "output": "x"}"#),
        said("assistant", r#""Done""#, ""),
    ]
    .join("\n");
    assert_eq!(calls(&text), [r#"Bash {"command":"make clean"} => gone ok"#]);
    with(&text, |run| {
        let call = run.steps.iter().find(|step| step.kind == StepKind::Call).unwrap();
        assert_eq!(agent(call.object), "h1");
        assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    });
    assert_eq!(of_run(&text, "output"), r#""Done""#);
}

#[test]
fn a_stream_that_was_cut_off_is_not_complete() {
    let start = r#"{"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}"#;
    let block = |index: u8, name: &str| {
        format!(
            r#"{{"type": "content_block_start", "index": {index}, "content_block": {{"type": "tool_use", "id": "t{index}", "name": "{name}", "input": {{}}}}}}"#
        )
    };
    let stop = |index: u8| format!(r#"{{"type": "content_block_stop", "index": {index}}}"#);
    let cut = [start, &block(0, "look"), &stop(0), &block(1, "burn")].join("\n");
    assert_eq!(calls(&cut), ["look {} => - -"]);
    assert_eq!(of_run(&cut, "complete"), "false");
    let whole = [start, &block(0, "look"), &stop(0), r#"{"type": "message_stop"}"#].join("\n");
    assert_eq!(of_run(&whole, "complete"), "absent");

    let chunk = |delta: &str, ended: &str| {
        format!(
            r#"{{"id": "c", "object": "chat.completion.chunk", "choices": [{{"index": 0, "delta": {delta}, "finish_reason": {ended}}}]}}"#
        )
    };
    let call = |index: u8, name: &str, args: &str| {
        format!(
            r#"{{"tool_calls": [{{"index": {index}, "id": "t{index}", "function": {{"name": "{name}", "arguments": "{args}"}}}}]}}"#
        )
    };
    let first = chunk(&call(0, "look", "{}"), "null");
    for (args, others) in [("{", ""), ("", "{")] {
        let rest = [chunk(&call(1, "burn", args), "null"), chunk(&call(2, "sell", others), "null")];
        let cut = [&first, &rest[0], &rest[1]].map(String::as_str).join("\n");
        assert_eq!(calls(&cut).len(), if args.is_empty() { 2 } else { 1 }, "{cut}");
    }
    let cut = [first.clone(), chunk(&call(1, "burn", ""), "null")].join("\n");
    assert_eq!(calls(&cut), ["look {} => - -"]);
    assert_eq!(of_run(&cut, "complete"), "false");
    let whole = [first, chunk("{}", r#""tool_calls""#)].join("\n");
    assert_eq!(of_run(&whole, "complete"), "absent");
}
