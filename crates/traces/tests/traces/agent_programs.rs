//! The sessions of agents' programs: what only the program, a tool or a file says is never the user's, what is repeated counts once, and
//! lines of unknown kinds leave the run open.

use super::formats::{field, steps, with};
use averment_runs::run::{Run, StepKind, StepStatus};
use std::path::PathBuf;

/// Samples in which somebody else consents, in the user's name.
const PROGRAMS: [&str; 14] = [
    "antigravity.jsonl",
    "claude-hooks.jsonl",
    "cline-calls.json",
    "cline-written-calls.json",
    "cursor-transcript.jsonl",
    "droid-session.jsonl",
    "goose-session.jsonl",
    "grok-history.jsonl",
    "kimi-context.jsonl",
    "kimi-wire.jsonl",
    "opencode-events.jsonl",
    "pi-session.jsonl",
    "qwen-code.jsonl",
    "vscode-chat.json",
];

fn sample(name: &str) -> String {
    let folder: PathBuf = averment_fixtures::project("tests/golden/trace/formats");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn nobody_consents_in_the_name_of_the_user() {
    for name in PROGRAMS {
        with(&sample(name), |run| {
            let texts = run.steps.iter().filter(|step| step.kind == StepKind::Message && step.name == "user");
            for step in texts {
                let text = step.object.get("text").map(|node| format!("{:?}", node.value)).unwrap_or_default();
                let consents = ["agrees", "approved", "yes", "rm -rf"].iter().any(|word| text.contains(word));
                assert!(!consents, "{name}: {text}");
            }
            assert!(run.complete, "{name}");
        });
    }
}

#[test]
fn a_session_that_goes_on_in_a_copy_counts_once() {
    for name in ["pi-session.jsonl", "droid-session.jsonl", "qwen-code.jsonl"] {
        let text = sample(name);
        let once = with(&text, steps);
        with(&format!("{text}{text}"), |run| assert_eq!(steps(run), once, "{name}"));
    }
    // Each hook of a call may be logged more than once.
    let log = sample("claude-hooks.jsonl");
    let twice: String =
        log.lines().filter(|line| line.contains("tool_use_id")).map(|line| format!("{line}\n{line}\n")).collect();
    with(&twice, |run| assert_eq!(steps(run).iter().filter(|step| step.starts_with("call")).count(), 2));
}

#[test]
fn a_line_of_an_unknown_kind_leaves_the_run_open() {
    for name in PROGRAMS.iter().filter(|name| name.ends_with(".jsonl")) {
        let text = format!("{}{}\n", sample(name), r#"{"type": "zz", "role": "zz", "name": "deploy", "input": {}}"#);
        with(&text, |run| assert!(run.records.lost > 0, "{name}"));
    }
}

#[test]
fn a_result_whose_call_is_missing_says_that_the_run_is_not_complete() {
    let cline = sample("cline-calls.json").replace("\"name\": \"execute_command\"", "\"name\": \"list_files\"");
    with(&cline, |run| assert!(!run.complete && run.records.missing_calls == 1));
    let cut =
        sample("antigravity.jsonl").lines().filter(|line| !line.contains("run_command")).collect::<Vec<_>>().join("\n");
    with(&cut, |run| assert!(!run.complete));
    // Without the hooks in front of calls, refused calls are not in a log.
    let log =
        sample("claude-hooks.jsonl").lines().filter(|line| !line.contains("PreToolUse")).collect::<Vec<_>>().join("\n");
    with(&log, |run| assert!(!run.complete));
    // A log without hooks of calls says nothing of them.
    let log =
        sample("claude-hooks.jsonl").lines().filter(|line| !line.contains("tool_name")).collect::<Vec<_>>().join("\n");
    with(&log, |run| assert!(!run.records_kind(StepKind::Call)));
}

#[test]
fn a_written_call_that_breaks_off_may_be_a_call() {
    let cut = sample("cline-written-calls.json").replace("\\n</execute_command>", "");
    with(&cut, |run| assert!(run.records.lost > 0));
}

#[test]
fn messages_of_the_sdk_need_no_session() {
    let lines = [
        r#"{"type": "assistant", "parent_tool_use_id": null, "message": {"content": [{"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}}]}}"#,
        r#"{"type": "user", "parent_tool_use_id": null, "message": {"content": [{"type": "tool_result", "tool_use_id": "c", "content": "a"}]}}"#,
    ];
    with(&lines.join("\n"), |run| assert_eq!(steps(run), ["call Bash", "command ls"]));
}

#[test]
fn a_task_in_tags_is_no_history_of_cline() {
    let text = r#"[{"role": "user", "content": [{"type": "text", "text": "<task>\nsum\n</task>"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "add", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "3"}, {"type": "text", "text": "go on"}]}]"#;
    with(text, |run| {
        assert_eq!(run.format, "chat messages");
        assert_eq!(steps(run).last().map(String::as_str), Some("message user"));
    });
}

#[test]
fn a_header_of_goose_alone_says_nothing_of_calls() {
    let text = r#"[{"working_dir": "/w", "description": "d", "message_count": 4}]"#;
    with(text, |run| assert!(!run.records_kind(StepKind::Call) || run.records.lost > 0));
}

#[test]
fn frames_between_the_sdk_and_its_program_are_no_steps() {
    let text = r#"{"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash"]}
{"type": "control_request", "request_id": "1", "session_id": "s", "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}}
{"type": "assistant", "session_id": "s", "message": {"content": [{"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}}]}}
{"type": "user", "session_id": "s", "message": {"content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}}
"#;
    with(text, |run| {
        assert!(run.complete);
        assert_eq!(run.steps.iter().filter(|step| step.kind == StepKind::Call).count(), 1);
    });
    with(&text.replace("control_request", "new_request"), |run| assert!(!run.complete));
}

#[test]
fn a_tool_of_antigravity_that_still_runs_gives_what_the_model_was_told() {
    let text = r#"{"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT", "content": "<USER_REQUEST>go</USER_REQUEST>"}
{"step_index": 1, "source": "MODEL", "type": "PLANNER_RESPONSE", "tool_calls": [{"name": "run_command", "args": {}}]}
{"step_index": 2, "source": "MODEL", "type": "RUN_COMMAND", "status": "RUNNING", "content": "started"}
"#;
    let call = |run: &Run<'_>| {
        let place = run.steps.iter().position(|step| step.kind == StepKind::Call).unwrap();
        (run.steps[place].status, field(run, place, "result"))
    };
    with(text, |run| assert_eq!(call(run), (StepStatus::Unknown, "\"started\"".into())));
    let error = text.replace("RUN_COMMAND", "ERROR_MESSAGE").replace("RUNNING", "DONE");
    with(&error, |run| assert_eq!(call(run), (StepStatus::Unknown, "absent".into())));
    let refused = error.replace("started", "Error invalid tool call: denied");
    with(&refused, |run| assert_eq!(call(run), (StepStatus::Failed, "\"Error invalid tool call: denied\"".into())));
    with(&text.replace("RUNNING", "DONE"), |run| assert_eq!(call(run), (StepStatus::Ok, "\"started\"".into())));
}

#[test]
fn messages_of_clines_sdk_tell_their_tokens() {
    let text = r#"{"version": 1, "agent": "lead", "sessionId": "s", "messages": [{"id": "a", "role": "user", "content": [{"type": "text", "text": "go"}]},
      {"id": "b", "role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "read_files", "input": {}}], "metrics": {"inputTokens": 21, "outputTokens": 8}}]}"#;
    with(text, |run| assert!(super::formats::root(run, "usage").contains(r#""input_tokens":21,"output_tokens":8"#)));
}

fn json_lines(values: &[serde_json::Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

#[test]
fn newer_sessions_of_codex_are_complete_and_patches_given_to_the_shell_write_files() {
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: src/a.rs\n+x\n*** End Patch\nEOF";
    let call = serde_json::json!({"cmd": patch}).to_string();
    let session = json_lines(&[
        serde_json::json!({"type": "session_meta", "payload": {"id": "s"}}),
        serde_json::json!({"type": "event_msg", "payload": {"type": "thread_settings_applied", "thread_settings": {}}}),
        serde_json::json!({"type": "response_item", "payload":
            {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": call}}),
        serde_json::json!({"type": "token_usage_record", "payload": {"usage": {"total_tokens": 2}}}),
        serde_json::json!({"type": "response_item", "payload":
            {"type": "function_call_output", "call_id": "c1", "output": "Exit code: 0\nOutput:\nSuccess."}}),
    ]);
    with(&session, |run| {
        let written = run.steps.iter().filter(|step| step.kind == StepKind::Write).map(|step| step.name);
        assert_eq!(written.collect::<Vec<_>>(), ["src/a.rs"]);
        assert!(run.complete);
    });
}

#[test]
fn a_message_of_gemini_cli_that_gives_back_results_says_nothing_new() {
    let session = |id: &str| {
        json_lines(&[
            serde_json::json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z"}),
            serde_json::json!({"$set": {"messages":
                [{"id": "m0", "type": "user", "content": [{"text": "<session_context>\nyes, refund"}]}]}}),
            serde_json::json!({"id": "m1", "type": "gemini", "content": "", "toolCalls": [{"id": "c1", "name": "search",
                "args": {}, "status": "success", "result": [{"functionResponse": {"id": "c1", "response": {"output": "x"}}}]}]}),
            serde_json::json!({"id": "m2", "type": "user", "content":
                [{"functionResponse": {"id": id, "name": "search", "response": {"output": "x"}}}]}),
        ])
    };
    with(&session("c1"), |run| {
        assert!(run.complete);
        assert!(!run.steps.iter().any(|step| step.kind == StepKind::Message && step.name == "user"));
    });
    // A result of a call that nobody recorded: the call is missing.
    with(&session("c2"), |run| assert!(!run.complete));
}

#[test]
fn a_context_of_kimi_tells_marks_and_failures() {
    let call = serde_json::json!([{"type": "function", "id": "Shell:0", "function": {"name": "Shell", "arguments": "{\"command\": \"ls\"}"}}]);
    let text = json_lines(&[
        serde_json::json!({"role": "_checkpoint", "id": 0}),
        serde_json::json!({"role": "user", "content": "look"}),
        serde_json::json!({"role": "user", "content": [{"type": "text", "text": "<system>CHECKPOINT 1</system>"}]}),
        serde_json::json!({"role": "assistant", "content": [{"type": "think", "think": "well"}, {"type": "text", "text": "I look."}], "tool_calls": call}),
        serde_json::json!({"role": "_usage", "token_count": 7}),
        serde_json::json!({"role": "tool", "tool_call_id": "Shell:0", "content": [{"type": "text", "text": "<system>ERROR: exit code 2</system>"}]}),
    ]);
    with(&text, |run| {
        let all = ["message user", "message system", "message assistant", "call Shell"];
        assert_eq!((steps(run), run.complete), (all.map(str::to_owned).to_vec(), true));
        assert_eq!(run.steps[3].status, StepStatus::Failed);
    });
}

#[test]
fn objects_of_the_sdk_are_told_by_their_fields() {
    let messages = serde_json::json!([
        {"subtype": "init", "data": {"session_id": "s", "tools": ["Bash"]}},
        {"content": "look", "parent_tool_use_id": null},
        {"content": [{"thinking": "well", "signature": "x"}, {"text": "I look."}, {"id": "t", "name": "Bash", "input": {"command": "ls"}}],
            "model": "m", "parent_tool_use_id": null, "error": null},
        {"content": [{"tool_use_id": "t", "content": "a.txt", "is_error": false}], "parent_tool_use_id": null},
        {"content": [{"text": "One file."}], "model": "m", "parent_tool_use_id": null},
        {"subtype": "success", "duration_ms": 7, "is_error": false, "num_turns": 2, "session_id": "s", "total_cost_usd": 0.5,
            "usage": {"input_tokens": 5, "output_tokens": 6}, "result": "One file."}]);
    let lines = json_lines(messages.as_array().unwrap());
    for text in [messages.to_string(), lines] {
        with(&text, |run| {
            let all = [
                "message user",
                "message thinking",
                "message assistant",
                "call Bash",
                "command ls",
                "message assistant",
            ];
            assert_eq!((steps(run), run.complete), (all.map(str::to_owned).to_vec(), true));
            assert_eq!(
                (field(run, 3, "result"), super::formats::root(run, "cost")),
                ("\"a.txt\"".into(), "0.5".into())
            );
        });
    }
    let unknown = messages.to_string().replace("\"text\":\"One file.\"", "\"words\":\"One file.\"");
    with(&unknown, |run| assert!(!run.complete));
}

#[test]
fn sessions_without_what_older_ones_have_are_known() {
    let chat = r#"{"version": 3, "sessionId": "s", "creationDate": 1, "lastMessageDate": 2, "requests": [
        {"requestId": "r", "message": {"text": "go", "parts": []}, "response": [{"value": "Done."}], "timestamp": 1}]}"#;
    let gemini = r#"{"sessionId": "s", "messages": [{"type": "user", "content": [{"text": "go"}]}, {"type": "gemini", "content": "Done."}]}"#;
    let pi = json_lines(&[
        serde_json::json!({"type": "title", "v": 1, "title": "t"}),
        serde_json::json!({"type": "session", "version": 3, "id": "s", "cwd": "/w", "timestamp": "2026-01-01T00:00:00Z"}),
        serde_json::json!({"type": "message", "id": "a", "message": {"role": "user", "content": "go"}}),
        serde_json::json!({"type": "message", "id": "b", "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}}),
    ]);
    let hermes = json_lines(&[
        serde_json::json!({"role": "session_meta", "platform": "cli", "tools": []}),
        serde_json::json!({"role": "user", "content": "go"}),
        serde_json::json!({"role": "assistant", "content": "Done.", "tool_calls": []}),
    ]);
    for text in [chat, gemini, &pi, &hermes] {
        with(text, |run| {
            assert_eq!(
                (steps(run), run.complete),
                (vec!["message user".into(), "message assistant".into()], true),
                "{text}"
            )
        });
    }
}
