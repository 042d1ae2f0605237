//! Sessions of agents: what their programs write down, line by line.

use super::formats::{root, with};
use super::told::calls;
use averment_runs::run::{StepKind, StepStatus};

fn of_run(text: &str, key: &str) -> String {
    with(text, |run| root(run, key))
}

#[test]
fn a_call_that_somebody_has_to_approve_waits() {
    let event = |author: &str, part: &str| {
        format!(r#"{{"id": "e", "invocation_id": "i", "author": "{author}", "content": {{"parts": [{part}]}}}}"#)
    };
    let given = |response: &str| {
        event("bot", &format!(r#"{{"functionResponse": {{"id": "k", "name": "pay", "response": {response}}}}}"#))
    };
    let asked = [
        event("bot", r#"{"functionCall": {"id": "k", "name": "pay", "args": {}}}"#),
        given(r#"{"error": "This tool call requires confirmation, please approve or reject."}"#),
    ];
    let session = |events: &[String]| format!(r#"{{"id": "s", "app_name": "a", "events": [{}]}}"#, events.join(","));
    assert_eq!(calls(&session(&asked)), ["pay {} => - pending"]);
    let approved = [&asked[..], &[given(r#"{"paid": 5}"#)]].concat();
    assert_eq!(calls(&session(&approved)), [r#"pay {} => {"paid":5} -"#]);
    let rejected = [&asked[..], &[given(r#"{"error": "This tool call is rejected."}"#)]].concat();
    assert_eq!(calls(&session(&rejected)), [r#"pay {} => {"error":"This tool call is rejected."} denied"#]);
}

const HEAD: &str = r#"{"sessionId": "g1", "projectHash": "h", "kind": "main"}"#;

#[test]
fn sessions_of_gemini_with_a_record_on_each_line_are_read() {
    let answer = |rest: &str| {
        format!(r#"{{"id": "m2", "timestamp": "2026-02-01T10:00:01Z", "type": "gemini", "content": "I look."{rest}}}"#)
    };
    let call = r#", "toolCalls": [{"id": "c1", "name": "run_shell_command", "args": {"command": "make"}, "status": "success", "result": [{"functionResponse": {"response": {"output": "Exit Code: 2"}}}]}]"#;
    let counted = r#", "tokens": {"input": 10, "output": 2, "total": 12}"#;
    let text = [
        HEAD,
        r#"{"id": "m1", "timestamp": "2026-02-01T10:00:00Z", "type": "user", "content": [{"text": "Build it"}]}"#,
        r#"{"$set": {"lastUpdated": "2026-02-01T10:00:00Z"}}"#,
        &answer(""),
        &answer(counted),
        &answer(&format!("{counted}{call}")),
        r#"{"$rewindTo": "m1"}"#,
        r#"{"$set": {"messages": [{"id": "n1", "type": "user", "content": [{"text": "<state_snapshot>yes</state_snapshot>"}]}]}}"#,
        r#"{"id": "m3", "timestamp": "2026-02-01T10:00:02Z", "type": "gemini", "content": "It fails.", "tokens": {"input": 20, "output": 3, "total": 23}}"#,
    ]
    .join("\n");
    with(&text, |run| {
        assert_eq!((run.format, run.id), ("Gemini CLI session", Some("g1")));
        let told: Vec<_> = run.steps.iter().map(|step| format!("{} {}", step.kind.as_str(), step.name)).collect();
        let expected = [
            "message user",
            "message assistant",
            "call run_shell_command",
            "command make",
            "message system",
            "message assistant",
        ];
        assert_eq!(told, expected);
        assert_eq!(run.steps[2].status, StepStatus::Failed);
        assert_eq!(root(run, "usage"), r#"{"input_tokens":30,"output_tokens":5,"total_tokens":35}"#);
        assert_eq!((root(run, "prompt"), root(run, "output")), (r#""Build it""#.into(), r#""It fails.""#.into()));
        assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    });
    // What was done is a run of this format without its first line, too.
    assert_eq!(calls(&answer(call)).len(), 1);
}

#[test]
fn a_command_that_failed_is_no_success_of_its_call() {
    let text = [
        r#"{"type": "init", "timestamp": "2026-02-01T10:00:00Z", "session_id": "s", "model": "m"}"#,
        r#"{"type": "tool_use", "timestamp": "2026-02-01T10:00:01Z", "tool_name": "run_shell_command", "tool_id": "t1", "parameters": {"command": "make"}}"#,
        r#"{"type": "tool_result", "timestamp": "2026-02-01T10:00:02Z", "tool_id": "t1", "status": "success", "output": "Exit Code: 1"}"#,
    ]
    .join("\n");
    assert_eq!(calls(&text), [r#"run_shell_command {"command":"make"} => Exit Code: 1 failed"#]);
    let done = |result: &str| {
        format!(
            r#"{{"type": "tool_call", "session_id": "s", "subtype": "completed", "call_id": "t1", "tool_call": {{"mcpToolCall": {{"args": {{"toolName": "get", "args": {{}}}}, "result": {{"success": {result}}}}}}}}}"#
        )
    };
    assert!(calls(&done(r#"{"content": [{"text": {"text": "none"}}], "isError": true}"#))[0].ends_with(" failed"));
    assert!(calls(&done(r#"{"content": [{"text": {"text": "one"}}], "isError": false}"#))[0].ends_with(" ok"));
}

#[test]
fn the_parts_of_a_message_of_cursor_are_one_message() {
    let said = |text: &str, time: &str| {
        format!(
            r#"{{"type": "assistant", "session_id": "s", "message": {{"role": "assistant", "content": [{{"type": "text", "text": "{text}"}}]}}{time}}}"#
        )
    };
    let part = |text: &str| said(text, r#", "timestamp_ms": 1770000000000"#);
    let messages = |lines: &[String]| {
        with(&lines.join("\n"), |run| {
            let said = run.steps.iter().filter(|step| step.kind == StepKind::Message);
            said.map(|step| averment_base::value::json::to_json(&step.object.get("text").unwrap().value))
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(messages(&[part("Good "), part("day"), said("Good day", "")]), [r#""Good day""#]);
    assert_eq!(messages(&[part("Good "), part("day")]), [r#""Good day""#]);
    assert_eq!(messages(&[part("Good "), part("day"), said("Else", "")]), [r#""Good day""#, r#""Else""#]);
}

#[test]
fn sessions_of_codex_that_are_bare_items_are_read() {
    let text = r#"{"id": "s1", "timestamp": "2025-07-01T10:00:00Z", "instructions": null, "git": {"branch": "main"}}
{"record_type": "state"}
{"type": "message", "id": null, "role": "user", "content": [{"type": "input_text", "text": "List them"}]}
{"record_type": "state"}
{"type": "function_call", "id": "f", "name": "shell", "arguments": "{\"command\":[\"ls\"]}", "call_id": "k"}
{"type": "function_call_output", "call_id": "k", "output": "{\"output\":\"a\",\"metadata\":{\"exit_code\":0}}"}
{"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "One."}]}"#;
    with(text, |run| {
        assert_eq!((run.format, run.id), ("Codex rollout", Some("s1")));
        assert!(run.warnings.is_empty(), "{:?}", run.warnings);
        assert_eq!((root(run, "prompt"), root(run, "output")), (r#""List them""#.into(), r#""One.""#.into()));
        assert_eq!(root(run, "meta"), r#"{"git_branch":"main"}"#);
    });
    assert_eq!(calls(text).len(), 1);
}

#[test]
fn events_of_codex_say_how_calls_of_servers_ended() {
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp": "2026-02-01T10:00:00Z", "type": "{kind}", "payload": {{{payload}}}}}"#)
    };
    let run = |result: &str| {
        let lines = [
            line("response_item", r#""type": "function_call", "name": "hub__get", "arguments": "{}", "call_id": "k""#),
            line("event_msg", &format!(r#""type": "mcp_tool_call_end", "call_id": "k", "result": {result}"#)),
            line("response_item", r#""type": "function_call_output", "call_id": "k", "output": "said""#),
        ];
        calls(&lines.join("\n")).remove(0)
    };
    assert_eq!(
        run(r#"{"Ok": {"content": [{"type": "text", "text": "said"}], "isError": true}}"#),
        "hub__get {} => said failed"
    );
    assert_eq!(run(r#"{"Ok": {"content": [{"type": "text", "text": "said"}]}}"#), "hub__get {} => said ok");
    assert_eq!(run(r#"{"Err": "connection lost"}"#), "hub__get {} => said failed");
    assert_eq!(run(r#"{"Err": "user cancelled MCP tool call"}"#), "hub__get {} => said denied");
    let refused = [
        line("response_item", r#""type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"make\"}", "call_id": "k""#),
        line("response_item", r#""type": "function_call_output", "call_id": "k", "output": "exec_command failed for `make`: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }""#),
    ]
    .join("\n");
    assert!(calls(&refused)[0].ends_with(" denied"));
    assert!(with(&refused, |run| run.steps.iter().all(|step| step.kind != StepKind::Command)));
}

#[test]
fn what_the_provider_runs_within_a_response_is_of_one_turn() {
    let text = r#"{"object": "response", "output": [
        {"type": "shell_call", "call_id": "k", "action": {"commands": ["ls"]}, "status": "completed"},
        {"type": "shell_call_output", "call_id": "k", "output": [{"stdout": "a", "outcome": {"type": "exit", "exit_code": 0}}]},
        {"type": "function_call", "call_id": "f", "name": "look", "arguments": "{}"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done"}]}]}"#;
    assert_eq!(of_run(text, "turns"), "1");
    assert_eq!(calls(text).len(), 2);
}

#[test]
fn what_the_program_does_in_place_of_the_model_is_no_call() {
    let step = |action: &str| {
        format!(r#"{{"action": "{action}", "observation": "x", "response": "y", "thought": "z", "state": "{{}}"}}"#)
    };
    let text = format!(
        r#"{{"trajectory": [{},{}], "history": [{{"role": "user", "content": "Mend"}}], "info": {{"exit_status": "exit_cost"}}, "environment": "e"}}"#,
        step("ls"),
        step("exit_cost")
    );
    assert_eq!(calls(&text).len(), 1);
}

#[test]
fn a_look_at_a_file_is_no_write_where_only_the_program_tells_of_it() {
    let metadata = |id: &str| {
        format!(
            r#""tool_call_metadata": {{"function_name": "str_replace_editor", "tool_call_id": "{id}", "model_response": {{"id": "r1"}}}}"#
        )
    };
    let action = |id: u8, call: &str, word: &str| {
        format!(
            r#"{{"id": {id}, "source": "agent", "action": "{word}", "args": {{"path": "/a"}}, {}}}"#,
            metadata(call)
        )
    };
    let seen = format!(
        r#"{{"id": 9, "source": "agent", "observation": "read", "cause": 1, "content": "x", "extras": {{}}, {}}}"#,
        metadata("k1")
    );
    let text = format!("[{},{seen},{}]", action(1, "k1", "read"), action(2, "k2", "edit"));
    with(&text, |run| {
        let told: Vec<_> = run.steps.iter().map(|step| (step.kind, step.turn)).collect();
        let expected = [StepKind::Call, StepKind::Read, StepKind::Call, StepKind::Write];
        assert_eq!(told, expected.map(|kind| (kind, Some(1))));
    });
}

#[test]
fn of_several_streamed_answers_the_others_are_told() {
    let chunk = |index: u8, text: &str| {
        format!(
            r#"{{"id": "c", "object": "chat.completion.chunk", "choices": [{{"index": {index}, "delta": {{"content": "{text}"}}, "finish_reason": "stop"}}]}}"#
        )
    };
    with(&[chunk(0, "A"), chunk(1, "B")].join("\n"), |run| {
        assert_eq!(root(run, "output"), r#""A""#);
        assert_eq!(run.warnings.len(), 1);
    });
}
