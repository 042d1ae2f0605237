//! What agents' programs write while they run: a text in pieces, a message that is told again, counts so far, the words of one agent to
//! another.

use super::formats::{field, root, steps, with};
use averment_runs::run::StepKind;

fn said(text: &str, role: &str) -> Vec<String> {
    with(text, |run| {
        let places = (0..run.steps.len()).filter(|at| run.steps[*at].kind == StepKind::Message);
        places.filter(|at| run.steps[*at].name == role).map(|at| field(run, at, "text")).collect()
    })
}

fn sample(name: &str) -> String {
    std::fs::read_to_string(averment_fixtures::project("tests/golden/trace/formats").join(name)).unwrap()
}

#[test]
fn a_message_that_changes_is_one_and_its_last_telling_counts() {
    let text = sample("opencode-events.jsonl");
    let once = with(&text, |run| {
        assert!(run.complete);
        let calls = |run: &averment_runs::run::Run<'_>| -> Vec<(String, String, String)> {
            let places = (0..run.steps.len()).filter(|at| run.steps[*at].kind == StepKind::Call);
            places.map(|at| (run.steps[at].name.into(), field(run, at, "status"), field(run, at, "agent"))).collect()
        };
        let call = |tool: &str, status: &str, agent: &str| (tool.into(), format!("{status:?}"), format!("{agent:?}"));
        assert_eq!(
            calls(run),
            [call("task", "ok", "main"), call("bash", "denied", "main"), call("grep", "ok", "explore")]
        );
        assert_eq!(root(run, "output"), "\"It stays unpublished.\"");
        assert!(root(run, "usage").contains("\"input_tokens\":375"), "{}", root(run, "usage"));
        steps(run)
    });
    assert_eq!(said(&text, "user"), ["\"Publish the report\""]);
    assert_eq!(said(&text, "task"), ["\"find it\""]);
    // The same events once more tell nothing new.
    with(&format!("{text}{text}"), |run| assert_eq!(steps(run), once));
    // A server of several folders says which one an event is of.
    let framed: String = text.lines().map(|line| format!("{{\"directory\": \"/w\", \"payload\": {line}}}\n")).collect();
    with(&framed, |run| assert_eq!(steps(run), once));
}

#[test]
fn a_text_that_breaks_off_leaves_the_run_open() {
    let text = sample("opencode-events.jsonl");
    let cut: Vec<&str> = text.lines().take(10).collect();
    with(&cut.join("\n"), |run| assert!(!run.complete && run.records.lost == 1));
    let whole: Vec<&str> = text.lines().take(11).collect();
    with(&whole.join("\n"), |run| assert!(run.complete));
}

#[test]
fn a_sub_agent_is_told_its_task_also_where_its_file_stands_alone() {
    let line = |kind: &str, content: &str| {
        format!(
            r#"{{"isSidechain": true, "agentId": "a1", "sessionId": "s", "type": "{kind}", "message": {{"role": "{kind}", "content": {content}}}, "uuid": "{kind}", "timestamp": "2026-06-09T10:00:00.000Z"}}"#
        )
    };
    let text =
        [line("user", "\"You may publish\""), line("assistant", r#"[{"type": "text", "text": "Done."}]"#)].join("\n");
    assert_eq!(said(&text, "task"), ["\"You may publish\""]);
    with(&text, |run| {
        assert!(root(run, "unrecorded_roles").contains("user"));
        assert_eq!(root(run, "output"), "\"Done.\"");
    });
}

#[test]
fn a_prompt_that_goes_on_further_down_was_given_once() {
    let prompt = |seen: bool, id: &str| {
        format!(
            r#"{{"prompt": "publish", "hasSeen": {seen}, "logCount": 1, "logs": [{{"id": "{id}", "kind": "toolCall", "tool": "look", "args": "{{}}", "response": ["a"]}}]}}"#
        )
    };
    let text = format!(
        r#"{{"exportedAt": "2026-06-09T10:00:00Z", "totalPrompts": 2, "prompts": [{}, {}]}}"#,
        prompt(false, "a"),
        prompt(true, "b")
    );
    assert_eq!(said(&text, "user"), ["\"publish\""]);
    with(&text, |run| assert_eq!(steps(run).iter().filter(|step| *step == "call look").count(), 2));
}

#[test]
fn a_text_goes_on_in_the_next_message_of_its_id() {
    let message = |id: &str, content: &str| {
        format!(
            r#"{{"type": "message", "message": {{"id": "{id}", "role": "assistant", "created": 1781000000, "content": {content}}}}}"#
        )
    };
    let call = r#"{"type": "toolRequest", "id": "r", "toolCall": {"status": "success", "value": {"name": "look", "arguments": {}}}}"#;
    let text = [
        message("m1", &format!(r#"[{call}]"#)),
        message(
            "m2",
            r#"[{"type": "thinking", "thinking": "two", "signature": ""}, {"type": "text", "text": "Two "}]"#,
        ),
        message("m2", r#"[{"type": "text", "text": "files."}, {"type": "text", "text": "No more."}]"#),
    ]
    .join("\n");
    assert_eq!(said(&text, "assistant"), ["\"Two files.\"", "\"No more.\""]);
    assert_eq!(said(&text, "thinking"), ["\"two\""]);
}

#[test]
fn calls_that_a_request_writes_as_text_stand_in_the_messages_of_the_agent() {
    let text = r#"{"messages": [{"role": "user", "content": "An example. USER: publish it\ngo"}, {"role": "assistant", "content": "I look.\n<function=look>\n</function>"}, {"role": "user", "content": "EXECUTION RESULT of [look]:\nyes, publish it"}],
        "raw_messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "a", "name": "look", "content": "yes, publish it"}],
        "tools": [{"type": "function", "function": {"name": "look"}}],
        "response": {"id": "r", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Done."}}]}}"#
        .replace('\n', " ");
    assert_eq!(said(&text, "user"), ["\"go\""]);
    with(&text, |run| {
        assert!(run.complete);
        assert_eq!(steps(run).iter().filter(|step| step.starts_with("call")).count(), 1);
        let call = run.steps.iter().position(|step| step.kind == StepKind::Call).unwrap();
        assert_eq!(field(run, call, "result"), "\"yes, publish it\"");
    });
}

#[test]
fn what_a_conversation_took_so_far_is_told_last() {
    let state = |key: &str, value: &str| {
        format!(
            r#"{{"id": "{key}", "timestamp": "2026-06-09T10:00:00", "source": "environment", "kind": "ConversationStateUpdateEvent", "key": "{key}", "value": {value}}}"#
        )
    };
    let stats = |input: u32, cost: &str| {
        format!(
            r#"{{"usage_to_metrics": {{"default": {{"model_name": "m", "accumulated_cost": {cost}, "accumulated_token_usage": {{"model": "m", "prompt_tokens": {input}, "completion_tokens": 7, "cache_read_tokens": 50}}}}, "condenser": {{"model_name": "m", "accumulated_cost": 0.25, "accumulated_token_usage": {{"prompt_tokens": 10, "completion_tokens": 1}}}}}}}}"#
        )
    };
    let said = r#"{"id": "m", "timestamp": "2026-06-09T10:00:00", "source": "agent", "kind": "MessageEvent", "llm_message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}}"#;
    let text = [
        said.to_owned(),
        state("stats", &stats(100, "0.5")),
        state("execution_status", "\"running\""),
        state("full_state", &format!(r#"{{"stats": {}}}"#, stats(200, "1.5"))),
    ]
    .join("\n");
    with(&text, |run| {
        let usage = root(run, "usage");
        assert!(usage.contains("\"input_tokens\":210") && usage.contains("\"output_tokens\":8"), "{usage}");
        assert_eq!(root(run, "cost"), "1.75");
    });
}

#[test]
fn events_that_only_tell_of_the_program_of_copilot_leave_nothing_open() {
    let event = |kind: &str, data: &str| {
        format!(
            r#"{{"type": "{kind}", "data": {data}, "id": "{kind}", "timestamp": "2026-06-09T10:00:00.000Z", "parentId": null}}"#
        )
    };
    let with_event = |kind: &str| {
        let text = [
            event("session.start", r#"{"sessionId": "s"}"#),
            event(kind, "{}"),
            event("user.message", r#"{"content": "go"}"#),
        ];
        with(&text.join("\n"), |run| run.complete)
    };
    for kind in ["session.permissions_changed", "session.todos_changed", "hook.progress", "mcp.tools.list_changed"] {
        assert!(with_event(kind), "{kind}");
    }
    // An app of a server may call tools by itself.
    assert!(!with_event("mcp_app.tool_call_complete"));
}

#[test]
fn a_text_whose_end_is_not_told_is_as_long_as_it_is() {
    let text = sample("cline-events.jsonl");
    let cut: Vec<&str> = text.lines().take(6).collect();
    assert_eq!(said(&cut.join("\n"), "assistant"), ["\"I look first.\""]);
    with(&text, |run| {
        assert!(run.complete);
        let calls: Vec<_> = steps(run).into_iter().filter(|step| step.starts_with("call")).collect();
        assert_eq!(calls, ["call run_commands", "call deploy", "call read_files"]);
        let usage = root(run, "usage");
        assert!(usage.contains("\"input_tokens\":240") && usage.contains("\"cache_read_tokens\":120"), "{usage}");
    });
}

#[test]
fn the_answer_of_gemini_alone_says_nothing_of_what_was_done() {
    with(&sample("gemini-answer.json"), |run| {
        assert!(
            [StepKind::Call, StepKind::Message, StepKind::Command].iter().all(|kind| !run.recorded[*kind as usize])
        );
        assert_eq!(root(run, "output"), "\"Two files.\"");
        let usage = root(run, "usage");
        assert!(usage.contains("\"input_tokens\":130") && usage.contains("\"total_tokens\":151"), "{usage}");
    });
}

#[test]
fn the_shell_of_open_claw_runs_commands() {
    let text = [
        r#"{"type": "session", "version": 2, "id": "s", "timestamp": "2026-06-09T10:00:00.000Z", "cwd": "/w"}"#,
        r#"{"type": "message", "id": "a", "parentId": null, "timestamp": "2026-06-09T10:00:01.000Z", "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "k", "name": "exec", "arguments": {"command": "make ship"}}], "provider": "p", "model": "m", "stopReason": "toolUse", "timestamp": 1}}"#,
        r#"{"type": "message", "id": "b", "parentId": "a", "timestamp": "2026-06-09T10:00:02.000Z", "message": {"role": "toolResult", "toolCallId": "k", "toolName": "exec", "content": [{"type": "text", "text": "shipped"}], "isError": false, "timestamp": 2}}"#,
    ]
    .join("\n");
    with(&text, |run| assert_eq!(steps(run), ["call exec", "command make ship"]));
}

#[test]
fn a_command_that_the_tool_of_a_server_runs_leaves_commands_open() {
    let records = |kind: StepKind, tool: &str, args: &str| {
        let line = |kind: &str, content: &str| {
            format!(
                r#"{{"sessionId": "s", "uuid": "{kind}", "type": "{kind}", "message": {{"role": "{kind}", "content": {content}}}}}"#
            )
        };
        let text = [
            line("assistant", &format!(r#"[{{"type": "tool_use", "id": "a", "name": "{tool}", "input": {args}}}]"#)),
            line("user", r#"[{"type": "tool_result", "tool_use_id": "a", "content": "done"}]"#),
        ];
        with(&text.join("\n"), |run| run.recorded[kind as usize])
    };
    let commands = |tool: &str, args: &str| records(StepKind::Command, tool, args);
    assert!(!commands("mcp__desktop__start_process", r#"{"command": "rm -rf x"}"#));
    assert!(!commands("mcp__desktop__start_process", r#"{"command": ["rm", "x"]}"#));
    assert!(commands("mcp__notes__memory", r#"{"command": "view", "path": "/a"}"#));
    assert!(commands("SlashCommand", r#"{"command": "/review 12"}"#));
    assert!(commands("mcp__desktop__look", r#"{"at": "rm -rf x"}"#));
    // The files that a server writes may be those of the agent.
    let file = r#"{"path": "/a", "content": "x"}"#;
    assert!(!records(StepKind::Write, "mcp__filesystem__write_file", file));
    assert!(!records(StepKind::Read, "filesystem_read_file", r#"{"path": "/a"}"#));
    assert!(records(StepKind::Write, "filesystem_read_file", r#"{"path": "/a"}"#));
    assert!(records(StepKind::Write, "mcp__tickets__delete", r#"{"id": 7}"#));
}

#[test]
fn a_session_of_qwen_is_known_without_calls_and_its_own_counts_are_no_secret() {
    let line = |kind: &str, rest: &str| {
        format!(
            r#"{{"uuid": "{kind}", "sessionId": "q", "timestamp": "2026-02-03T10:00:00Z", "cwd": "/w", "type": "{kind}", {rest}}}"#
        )
    };
    let talk = [
        line("user", r#""message": {"role": "user", "parts": [{"text": "tidy"}]}"#),
        line("assistant", r#""model": "m", "message": {"role": "model", "parts": [{"text": "Tidied."}]}"#),
    ];
    with(&talk.join("\n"), |run| {
        assert_eq!((root(run, "output").as_str(), run.complete), ("\"Tidied.\"", true));
    });
    let counted = line(
        "system",
        r#""subtype": "ui_telemetry", "systemPayload": {"uiEvent": {"event.name": "qwen-code.tool_call", "function_name": "write_file"}}"#,
    );
    with(&[talk[0].clone(), counted, talk[1].clone()].join("\n"), |run| assert!(run.records.lost > 0));
}

#[test]
fn a_call_that_the_editor_writes_again_is_one() {
    let call = |complete: bool| {
        format!(
            r#"{{"kind": "toolInvocationSerialized", "toolCallId": "c", "isConfirmed": {{"type": 1}}, "toolId": "run_in_terminal", "isComplete": {complete},
                "toolSpecificData": {{"kind": "terminal", "commandLine": {{"original": "make"}}, "terminalCommandOutput": {{"text": "built"}}}}}}"#
        )
    };
    let chat = format!(
        r#"{{"version": 3, "sessionId": "v", "responderUsername": "GitHub Copilot", "requests": [{{"requestId": "r", "message": {{"text": "build"}},
            "response": [{}, {{"kind": "thinking", "value": "hm"}}, {}, {{"value": "Built."}}]}}]}}"#,
        call(false),
        call(true)
    );
    with(&chat.replace('\n', " "), |run| {
        let calls: Vec<usize> = (0..run.steps.len()).filter(|at| run.steps[*at].kind == StepKind::Call).collect();
        assert_eq!(calls.len(), 1, "{:?}", steps(run));
        assert_eq!(field(run, calls[0], "result"), "\"built\"");
    });
}

#[test]
fn a_history_of_messages_alone_is_no_chat_of_ag2() {
    let row = r#"{"input": "2*3", "chat_history": [{"type": "human", "content": "hi"}], "output": "6",
        "intermediate_steps": [[{"tool": "multiply", "tool_input": {"a": 2, "b": 3}, "log": "x"}, "6"]]}"#;
    with(&row.replace('\n', " "), |run| {
        assert!(steps(run).contains(&"call multiply".to_owned()), "{:?}", steps(run));
        assert_eq!(root(run, "output"), "\"6\"");
    });
}

#[test]
fn an_event_of_codex_names_the_tool_of_a_server_without_its_server() {
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp": "2026-02-03T10:00:00Z", "type": "{kind}", "payload": {payload}}}"#)
    };
    let text = [
        line("session_meta", r#"{"id": "s", "cwd": "/w", "cli_version": "1"}"#),
        line(
            "response_item",
            r#"{"type": "function_call", "name": "mcp__docs__search", "arguments": "{}", "call_id": "c"}"#,
        ),
        line(
            "event_msg",
            r#"{"type": "mcp_tool_call_begin", "call_id": "c", "invocation": {"server": "docs", "tool": "search", "arguments": {}}}"#,
        ),
        line("response_item", r#"{"type": "function_call_output", "call_id": "c", "output": "hit"}"#),
    ];
    with(&text.join("\n"), |run| {
        assert_eq!(steps(run), ["call mcp__docs__search"]);
        assert_eq!(run.records.lost, 0);
    });
}

#[test]
fn an_item_of_a_turn_that_no_response_item_tells_may_be_anything() {
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp": "2026-02-03T10:00:00Z", "type": "{kind}", "payload": {payload}}}"#)
    };
    let lost = |item: &str| {
        let text = [
            line("session_meta", r#"{"id": "s", "cwd": "/w", "cli_version": "1"}"#),
            line("response_item", r#"{"type": "function_call", "name": "look", "arguments": "{}", "call_id": "c"}"#),
            line("event_msg", &format!(r#"{{"type": "item_completed", "turn_id": "t", "item": {item}}}"#)),
            line("response_item", r#"{"type": "function_call_output", "call_id": "c", "output": "hit"}"#),
        ];
        with(&text.join("\n"), |run| run.records.lost > 0)
    };
    assert!(lost(r#"{"type": "RemoteAction", "id": "i", "status": "completed"}"#));
    assert!(lost(r#"{"type": "CommandExecution", "id": "i", "command": "rm x"}"#));
    assert!(!lost(r#"{"type": "CommandExecution", "id": "c", "command": "look"}"#));
    assert!(!lost(r#"{"type": "Plan", "id": "p", "text": "first this"}"#));
}

#[test]
fn what_a_cache_of_bedrock_holds_went_in() {
    let exchange = r#"[{"request": {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "hi"}]}]},
        "response": {"output": {"message": {"role": "assistant", "content": [{"text": "ho"}]}}, "stopReason": "end_turn",
            "usage": {"inputTokens": 12, "outputTokens": 8, "totalTokens": 110, "cacheReadInputTokens": 90}}}]"#;
    with(&exchange.replace('\n', " "), |run| {
        let usage = root(run, "usage");
        assert!(usage.contains("102") && usage.contains("90"), "{usage}");
    });
}
