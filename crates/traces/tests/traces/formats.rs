//! What each format records and what it does not.

use averment_base::limits::Limits;
use averment_base::value::json::to_json;
use averment_base::value::{Node, Value};
use averment_runs::run::{Run, StepKind, StepStatus};
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use std::io::Cursor;

/// Reads the one run of a file.
pub(super) fn with<R>(text: &str, look: impl FnOnce(&Run<'_>) -> R) -> R {
    let limits = Limits::default();
    let mut raws: Vec<_> = TraceRuns::new("t", Cursor::new(text.to_owned().into_bytes()), &limits).collect();
    assert_eq!(raws.len(), 1, "{text}");
    let raw = raws.remove(0).unwrap();
    let arena = Bump::new();
    look(&parse_run(&raw, &arena, &limits).unwrap_or_else(|error| panic!("{error}; {}", error.help)))
}

fn shown(node: Option<Node<'_>>) -> String {
    match node.map(|node| node.value) {
        None | Some(Value::Missing) => "missing".to_owned(),
        Some(Value::Absent) => "absent".to_owned(),
        Some(value) => to_json(&value),
    }
}

pub(super) fn root(run: &Run<'_>, name: &str) -> String {
    shown(Some(run.root_value(name)))
}

pub(super) fn steps(run: &Run<'_>) -> Vec<String> {
    run.steps.iter().map(|step| format!("{} {}", step.kind.as_str(), step.name)).collect()
}

pub(super) fn field(run: &Run<'_>, step: usize, name: &str) -> String {
    shown(run.steps[step].object.get(name))
}

#[test]
fn tool_calls_of_ones_own_making_are_read_by_their_names() {
    let text = r#"{"id": "tr-1", "input": "hi", "output": {"status": "ok"}, "messages": [{"role": "user", "content": "hi"}],
        "tool_calls": [{"name": "b", "args": {"id": 1}, "result": "done", "error": null, "start_ms": 7, "duration_ms": 5},
                       {"name": "a", "args": {}, "result": null, "error": "timeout", "start_ms": 2, "duration_ms": 3, "note": 1}],
        "usage": {"model": "m", "prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14, "cost_usd": 0.25}, "duration_ms": 99, "score": 5}"#;
    with(text, |run| {
        assert_eq!(run.id, Some("tr-1"));
        assert_eq!(root(run, "prompt"), "\"hi\"");
        assert_eq!(root(run, "output"), r#"{"status":"ok"}"#);
        assert_eq!(root(run, "usage"), r#"{"input_tokens":10,"output_tokens":4,"total_tokens":14}"#);
        assert_eq!(
            (root(run, "cost"), root(run, "duration"), root(run, "score")),
            ("0.25".into(), "99".into(), "5".into())
        );
        assert_eq!(steps(run), ["call a", "call b", "message user"]);
        assert!(!run.is_ordered(StepKind::Call, StepKind::Message), "messages have no times");
        assert_eq!(run.steps[0].status, StepStatus::Failed);
        assert_eq!(run.steps[1].status, StepStatus::Ok);
        assert_eq!(
            (field(run, 1, "start"), field(run, 1, "end"), field(run, 1, "error")),
            ("7".into(), "12".into(), "missing".into())
        );
        assert_eq!((field(run, 0, "note"), field(run, 0, "name")), ("1".into(), "missing".into()));
        assert_eq!(field(run, 2, "text"), "\"hi\"");
        assert!(!run.records_kind(StepKind::Command));
    });
}

#[test]
fn numbers_without_a_plain_unit_are_not_guessed() {
    with(r#"{"tool_calls": [{"tool": "a", "latency": 5}, {"tool": "b", "duration_s": 1.5}], "latency": 3}"#, |run| {
        assert_eq!(field(run, 0, "duration"), "absent");
        assert_eq!(field(run, 1, "duration"), "1500");
        assert_eq!(root(run, "duration"), "absent");
    });
}

const CHAT: &str = r#"{"messages": [
    {"role": "system", "content": "be kind"}, {"role": "user", "content": [{"type": "text", "text": "refund"}]},
    {"role": "assistant", "content": null, "tool_calls": [
        {"id": "x", "type": "function", "function": {"name": "find", "arguments": "{\"id\": \"o-1\"}"}},
        {"id": "y", "type": "function", "function": {"name": "find", "arguments": ""}}]},
    {"role": "tool", "tool_call_id": "y", "content": "second"}, {"role": "tool", "tool_call_id": "x", "content": "{\"n\": 1}"},
    {"role": "assistant", "content": "wait", "tool_calls": [{"id": "x", "type": "function", "function": {"name": "refund", "arguments": "{bad"}}]},
    {"role": "tool", "tool_call_id": "x", "content": "done"}, {"role": "tool", "tool_call_id": "zz", "content": "lost"},
    {"role": "assistant", "content": "all done"}, {"role": "user", "content": "bye"}]}"#;

#[test]
fn chat_messages_give_calls_with_their_results() {
    with(CHAT, |run| {
        assert_eq!(
            steps(run),
            [
                "message system",
                "message user",
                "call find",
                "call find",
                "message assistant",
                "call refund",
                "message assistant",
                "message user"
            ]
        );
        assert_eq!(
            (field(run, 2, "args"), field(run, 2, "result")),
            (r#"{"id":"o-1"}"#.into(), r#""{\"n\": 1}""#.into())
        );
        assert_eq!((field(run, 3, "args"), field(run, 3, "result")), ("{}".into(), "\"second\"".into()));
        assert_eq!((field(run, 5, "args"), field(run, 5, "result")), ("\"{bad\"".into(), "\"done\"".into()));
        assert_eq!(
            (field(run, 2, "turn"), field(run, 5, "turn"), root(run, "turns")),
            ("1".into(), "2".into(), "3".into())
        );
        assert_eq!((field(run, 2, "ok"), field(run, 2, "start")), ("absent".into(), "absent".into()));
        assert_eq!((root(run, "prompt"), root(run, "output")), ("\"refund\"".into(), "\"all done\"".into()));
        let warnings: Vec<_> = run.warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].starts_with("arguments of a call are not JSON and stay text"));
        assert_eq!(warnings[1], "a result that no call is waiting for is skipped");
    });
}

#[test]
fn a_result_without_its_call_proves_that_the_run_is_not_complete() {
    let orphans = [
        r#"[{"role": "tool", "tool_call_id": "z", "content": "R"}, {"role": "assistant", "content": "x"}]"#,
        r#"[{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "z", "content": "R"}]}, {"role": "assistant", "content": "x"}]"#,
        r#"[{"type": "human", "content": "q"}, {"type": "tool", "content": "R", "tool_call_id": "z"}, {"type": "ai", "content": "x"}]"#,
    ];
    for text in orphans {
        with(text, |run| {
            assert!(!run.complete && run.records.missing_calls == 1, "{text}");
            assert_eq!(run.warnings[0].message, "a result that no call is waiting for is skipped");
        });
    }
    // A result that comes twice, or in front of its call, misses none.
    let call = r#"{"role": "assistant", "tool_calls": [{"id": "z", "function": {"name": "a", "arguments": "{}"}}]}"#;
    let result = r#"{"role": "tool", "tool_call_id": "z", "content": "R"}"#;
    for text in [format!("[{call}, {result}, {result}]"), format!("[{result}, {call}]")] {
        with(&text, |run| assert!(run.complete && !run.warnings.is_empty(), "{text}"));
    }
}

#[test]
fn chat_messages_may_stand_alone_or_one_a_line() {
    let list = r#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]"#;
    with(list, |run| assert_eq!((steps(run).len(), root(run, "output")), (2, "\"b\"".into())));
    let lines = "{\"role\": \"user\", \"content\": \"a\"}\n{\"role\": \"assistant\", \"content\": \"b\"}\n";
    with(lines, |run| assert_eq!((steps(run).len(), root(run, "output")), (2, "\"b\"".into())));
}

#[test]
fn that_nothing_was_called_is_evidence_only_where_calls_would_be_seen() {
    let said = r#"{"role": "user", "content": "a"}, {"role": "assistant", "content": "b""#;
    with(&format!("[{said}}}]"), |run| {
        assert!(!run.records_kind(StepKind::Call));
        assert!(run.warnings[0].message.starts_with("calls count as not recorded"));
    });
    for text in [
        format!("[{said}, \"tool_calls\": null}}]"),
        format!("{{\"messages\": [{said}}}], \"tools\": []}}"),
        format!("{{\"request\": {{\"messages\": [], \"tools\": []}}, \"response\": {{\"choices\": [{{\"message\": {said}}}}}]}}}}")
            .replace(r#"{"role": "user", "content": "a"}, "#, ""),
    ] {
        with(&text, |run| assert_eq!((run.records_kind(StepKind::Call), run.warnings.len()), (true, 0)));
    }
}

#[test]
fn anthropic_messages_give_calls_with_status() {
    let text = r#"{"messages": [{"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "text", "text": "I look"}, {"type": "tool_use", "id": "1", "name": "find", "input": {"q": "x"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": true, "content": [{"type": "text", "text": "boom"}]}]},
        {"role": "assistant", "content": "sorry"}]}"#;
    with(text, |run| {
        assert_eq!(steps(run), ["message user", "message assistant", "call find", "message assistant"]);
        assert_eq!((run.steps[2].status, field(run, 2, "error")), (StepStatus::Failed, "\"boom\"".into()));
        assert!(!run.records_kind(StepKind::Command));
    });
}

fn line(kind: &str, content: &str, more: &str) -> String {
    let id = if kind == "assistant" {
        r#""id": "m1", "usage": {"input_tokens": 3, "cache_read_input_tokens": 10, "output_tokens": 5}, "#
    } else {
        ""
    };
    format!(
        r#"{{"type": "{kind}", "sessionId": "s", "uuid": "u", {more} "message": {{{id}"role": "{kind}", "content": {content}}}}}"#
    )
}

#[test]
fn what_a_program_sums_up_is_not_said_by_the_user() {
    let summary = line("user", "\"This session is continued\"", r#""isCompactSummary": true,"#);
    let text = [summary, line("user", "\"go on\"", ""), line("assistant", r#"[{"type": "text", "text": "ok"}]"#, "")];
    with(&text.join("\n"), |run| {
        assert_eq!(steps(run), ["message system", "message user", "message assistant"]);
        assert_eq!(root(run, "prompt"), "\"go on\"");
    });
}

#[test]
fn the_tools_of_a_session_did_what_they_did() {
    let text = [
        line("user", "\"go\"", r#""timestamp": "2025-01-01T00:00:00Z","#),
        line("user", "\"<injected> yes\"", r#""isMeta": true,"#),
        line("assistant", r#"[{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "ok"}]"#, r#""timestamp": "2025-01-01T00:00:01Z","#),
        line("assistant", r#"[{"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "bash -lc 'cd x && npm test --watch'"}}]"#, r#""timestamp": "2025-01-01T00:00:02Z","#),
        line("user", r#"[{"type": "tool_result", "tool_use_id": "1", "is_error": true, "content": "Exit code 3\nboom"}]"#, r#""timestamp": "2025-01-01T00:00:05Z","#),
        line("assistant", r#"[{"type": "tool_use", "id": "2", "name": "Skill", "input": {"skill": "find-skills"}},
            {"type": "tool_use", "id": "3", "name": "WebFetch", "input": {"url": "https://x"}},
            {"type": "tool_use", "id": "4", "name": "Edit", "input": {"file_path": "/a/b.rs"}},
            {"type": "tool_use", "id": "5", "name": "Bash", "input": {"command": "ls"}}]"#, "").replace('\n', " "),
        line("user", r#"[{"type": "tool_result", "tool_use_id": "3", "content": "page"}]"#, r#""toolUseResult": {"code": 404},"#),
        line("user", r#"[{"type": "tool_result", "tool_use_id": "4", "is_error": true, "content": "The user doesn't want to proceed with this tool use. The tool use was rejected"}]"#, ""),
        line("user", r#"[{"type": "tool_result", "tool_use_id": "5", "content": "a\nb", "is_error": false}]"#, ""),
        line("user", "\"do that\"", r#""isSidechain": true, "agentId": "sub","#),
        line("assistant", r#"[{"type": "text", "text": "sub says"}]"#, r#""isSidechain": true, "agentId": "sub","#).replace("m1", "m2"),
    ]
    .join("\n");
    with(&text, |run| {
        assert_eq!(
            steps(run),
            [
                "message user",
                "message system",
                "message thinking",
                "message assistant",
                "call Bash",
                "command bash -lc 'cd x && npm test --watch'",
                "call Skill",
                "skill find-skills",
                "call WebFetch",
                "http https://x",
                "call Edit",
                "call Bash",
                "command ls",
                "message task",
                "message assistant",
            ]
        );
        let step = |at: usize, name: &str| field(run, at, name);
        assert_eq!(
            (step(5, "program"), step(5, "args"), step(5, "flags")),
            ("\"npm\"".into(), r#"["test"]"#.into(), r#"["--watch"]"#.into())
        );
        assert_eq!(
            (step(5, "exit_code"), step(5, "output"), step(5, "duration")),
            ("3".into(), "\"Exit code 3\\nboom\"".into(), "3000".into())
        );
        assert_eq!((step(12, "exit_code"), step(12, "ok")), ("0".into(), "true".into()));
        assert_eq!((step(9, "status"), step(9, "method")), ("404".into(), "\"GET\"".into()));
        assert_eq!(
            (run.steps[10].status, step(6, "result"), step(6, "ok")),
            (StepStatus::Denied, "missing".into(), "absent".into())
        );
        assert_eq!(step(14, "agent"), "\"sub\"");
        assert_eq!(
            (root(run, "output"), root(run, "turns"), root(run, "duration")),
            ("\"ok\"".into(), "2".into(), "5000".into())
        );
        assert_eq!(
            root(run, "usage"),
            r#"{"input_tokens":26,"output_tokens":10,"cache_read_tokens":20,"total_tokens":36}"#
        );
        assert_eq!(run.id, Some("s"));
        assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    });
}

#[test]
fn a_stream_of_claude_code_sums_itself_up() {
    let text = concat!(
        r#"{"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash", "Read"]}"#,
        "\n",
        r#"{"type": "assistant", "session_id": "s", "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "hm"}]}}"#,
        "\n",
        r#"{"type": "result", "session_id": "s", "result": "final", "total_cost_usd": 0.5, "duration_ms": 1234, "is_error": false}"#,
        "\n",
    );
    with(text, |run| {
        assert_eq!(
            (root(run, "output"), root(run, "cost"), root(run, "duration")),
            ("\"final\"".into(), "0.5".into(), "1234".into())
        );
        assert_eq!((root(run, "tools"), root(run, "error")), (r#"["Bash","Read"]"#.into(), "missing".into()));
    });
}

#[test]
fn a_broken_line_of_a_session_is_passed_over() {
    let text =
        format!("{}\n{{\"type\": \"user\", broken\n{}", line("user", "\"go\"", ""), line("assistant", "\"done\"", ""));
    with(&text, |run| {
        assert_eq!(steps(run), ["message user", "message assistant"]);
        assert!(run.warnings[0].message.starts_with("a line is not JSON and is skipped"));
    });
}

#[test]
fn the_normal_form_wins_where_it_is_written() {
    with(r#"{"calls": [{"tool": "a"}], "messages": [{"role": "user", "content": "x"}], "tool_calls": []}"#, |run| {
        assert_eq!(steps(run), ["call a", "message user"]);
    });
    with(r#"{"messages": [{"role": "user", "text": "x"}]}"#, |run| assert!(!run.records_kind(StepKind::Call)));
}

/// A session of Copilot CLI whose beginning is cut off may begin with any number of events that tell nothing.
#[test]
fn events_of_copilot_are_known_without_the_start_of_the_session() {
    let event = |number: usize, kind: &str, data: &str| {
        format!(
            r#"{{"type":"{kind}","data":{data},"id":"e{number}","timestamp":"2025-01-01T00:00:00Z","parentId":"e{}"}}"#,
            number.wrapping_sub(1)
        )
    };
    let parts =
        (1..60).map(|number| event(number, "assistant.message_delta", r#"{"messageId":"m","deltaContent":"d"}"#));
    let call =
        event(60, "tool.execution_start", r#"{"toolCallId":"c","toolName":"bash","arguments":{"command":"ls"}}"#);
    let lines: Vec<String> = parts.chain([call]).collect();
    for text in [lines.join("\n"), format!("[{}]", lines.join(","))] {
        with(&text, |run| {
            assert_eq!(run.format, "Copilot CLI session");
            assert_eq!(steps(run), ["call bash", "command ls"]);
            assert!(run.warnings.is_empty(), "{:?}", run.warnings);
        });
    }
    // Others have such types, too, and not all that stands around an event.
    for text in [
        r#"{"type":"session.idle","data":{},"id":"1"}"#,
        r#"{"type":"order.paid","data":{},"id":"1","timestamp":"t","parentId":"0"}"#,
    ] {
        let text = format!("{text}\n{text}\n");
        let limits = Limits::default();
        for raw in TraceRuns::new("t", Cursor::new(text.into_bytes()), &limits) {
            assert!(parse_run(&raw.unwrap(), &Bump::new(), &limits).is_err());
        }
    }
}
