//! Calls that stand where nobody looks first: in events of Codex, in streams that were cut off; and calls that were refused.

use super::formats::{field, root, steps, with};
use averment_runs::run::{StepKind, StepStatus};

/// A rollout: its lines by their types.
fn rollout(lines: &[(&str, &str)]) -> String {
    let line = |(at, (kind, payload)): (usize, &(&str, &str))| {
        format!("{{\"timestamp\": \"2025-10-01T10:00:0{at}Z\", \"type\": \"{kind}\", \"payload\": {payload}}}\n")
    };
    lines.iter().enumerate().map(line).collect()
}

const META: (&str, &str) = ("session_meta", r#"{"id": "x", "cwd": "/w"}"#);
const BEGIN: (&str, &str) = (
    "event_msg",
    r#"{"type": "exec_command_begin", "call_id": "c1", "command": ["bash", "-lc", "rm x"], "cwd": "/w"}"#,
);
const END: (&str, &str) = (
    "event_msg",
    r#"{"type": "exec_command_end", "call_id": "c1", "stdout": "gone", "stderr": "", "exit_code": 1, "duration": {"secs": 1, "nanos": 5000000}}"#,
);

#[test]
fn calls_that_a_rollout_has_in_its_events_alone_are_calls() {
    let mcp = r#"{"type": "mcp_tool_call_end", "call_id": "c2", "invocation": {"server": "s", "tool": "a", "arguments": {"n": 1}}, "result": {"Err": "boom"}}"#;
    let fine = r#"{"type": "mcp_tool_call_end", "call_id": "c3", "invocation": {"server": "s", "tool": "b"}, "result": {"Ok": {"content": [{"type": "text", "text": "hi"}], "isError": false}}}"#;
    let patch = r#"{"type": "patch_apply_end", "call_id": "c4", "success": true, "stdout": "", "changes": {"a.rs": {"update": {}}}}"#;
    let events = [META, BEGIN, END, ("event_msg", mcp), ("event_msg", fine), ("event_msg", patch)];
    with(&rollout(&events), |run| {
        let known =
            ["call shell", "command rm x", "call mcp__s__a", "call mcp__s__b", "call apply_patch", "write a.rs"];
        assert_eq!(steps(run), known);
        let ended = |at: usize| (run.steps[at].status, field(run, at, "result"));
        assert_eq!(ended(0), (StepStatus::Failed, "\"gone\"".into()));
        assert_eq!((field(run, 0, "duration"), field(run, 1, "exit_code")), ("1005".into(), "1".into()));
        assert_eq!((run.steps[2].status, field(run, 2, "error")), (StepStatus::Failed, "\"boom\"".into()));
        assert_eq!((ended(3), run.steps[5].status), ((StepStatus::Ok, "\"hi\"".into()), StepStatus::Ok));
    });
}

#[test]
fn what_stands_in_an_item_and_in_events_is_one_call() {
    let call =
        r#"{"type": "function_call", "name": "shell", "arguments": "{\"command\": [\"rm\", \"x\"]}", "call_id": "c1"}"#;
    let given = r#"{"type": "function_call_output", "call_id": "c1", "output": "gone"}"#;
    let lines = [META, ("response_item", call), BEGIN, END, ("response_item", given)];
    with(&rollout(&lines), |run| assert_eq!(steps(run), ["call shell", "command rm x"]));
}

#[test]
fn events_that_nobody_knows_may_be_calls() {
    let lines = [
        META,
        ("event_msg", r#"{"type": "task_started"}"#),
        ("event_msg", r#"{"type": "web_search_end", "query": "q"}"#),
    ];
    with(&rollout(&lines), |run| {
        assert_eq!(
            (run.records_kind(StepKind::Call), run.records_kind(StepKind::Command), run.records.not_understood),
            (false, false, 1)
        );
    });
}

#[test]
fn a_known_tool_that_names_no_file_or_address_may_have_been_any_step() {
    let kinds = [
        ("apply_patch", "diff", StepKind::Write),
        ("write_file", "where", StepKind::Write),
        ("Edit", "where", StepKind::Write),
        ("read_file", "where", StepKind::Read),
        ("WebFetch", "where", StepKind::Http),
        ("Skill", "which", StepKind::Skill),
        ("exec_command", "what", StepKind::Command),
    ];
    for (tool, key, kind) in kinds {
        let call = format!(
            r#"{{"type": "function_call", "name": "{tool}", "arguments": "{{\"{key}\": \"x\"}}", "call_id": "c1"}}"#
        );
        let given = r#"{"type": "function_call_output", "call_id": "c1", "output": "done"}"#;
        let lines = [META, ("response_item", call.as_str()), ("response_item", given)];
        with(&rollout(&lines), |run| assert!(!run.records_kind(kind), "{tool} with `{key}`"));
    }
    // What has nothing to do with files leaves their lists as they are.
    let call = r#"{"type": "function_call", "name": "search_mail", "arguments": "{}", "call_id": "c1"}"#;
    with(&rollout(&[META, ("response_item", call)]), |run| assert!(run.records_kind(StepKind::Write)));
}

#[test]
fn what_a_user_rejected_was_not_executed() {
    let call = r#"{"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\": \"git push -f\"}", "call_id": "c3"}"#;
    for words in ["exec command rejected by user", r#"{\"output\":\"exec command rejected by user\"}"#] {
        let given = format!(r#"{{"type": "function_call_output", "call_id": "c3", "output": "{words}"}}"#);
        with(&rollout(&[META, ("response_item", call), ("response_item", &given)]), |run| {
            assert_eq!((steps(run), run.steps[0].status), (vec!["call exec_command".to_owned()], StepStatus::Denied));
        });
    }
}

#[test]
fn a_stream_of_responses_that_is_cut_off_has_the_calls_that_were_asked_for() {
    let events = [
        r#"{"type": "response.created", "sequence_number": 0, "response": {"id": "r", "object": "response", "status": "in_progress", "output": []}}"#,
        r#"{"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": {"type": "function_call", "id": "fc", "call_id": "c1", "name": "a", "arguments": "", "status": "in_progress"}}"#,
        r#"{"type": "response.function_call_arguments.done", "sequence_number": 3, "output_index": 0, "item_id": "fc", "arguments": "{\"x\":1}"}"#,
        r#"{"type": "response.output_item.done", "sequence_number": 4, "output_index": 0, "item": {"type": "function_call", "id": "fc", "call_id": "c1", "name": "a", "arguments": "{\"x\":1}"}}"#,
        r#"{"type": "response.output_item.added", "sequence_number": 5, "output_index": 1, "item": {"type": "function_call", "id": "fd", "call_id": "c2", "name": "b", "arguments": ""}}"#,
    ];
    for known in 3..=events.len() {
        with(&events[..known].join("\n"), |run| {
            assert_eq!((steps(run), field(run, 0, "args")), (vec!["call a".to_owned()], r#"{"x":1}"#.to_owned()));
            assert_eq!((field(run, 0, "result"), run.complete), ("absent".into(), false));
        });
    }
}

#[test]
fn an_error_in_a_stream_of_anthropic_is_that_of_the_run() {
    let events = [
        r#"{"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "model": "c"}}"#,
        r#"{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "so"}}"#,
        r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#,
    ];
    with(&events.join("\n"), |run| assert_eq!((root(run, "error"), run.warnings.len()), ("\"Overloaded\"".into(), 0)));
}

#[test]
fn a_shell_whose_command_nobody_knows_may_have_run_any() {
    let codex = |arguments: &str| {
        let call = |id: u8, arguments: &str| {
            format!(r#"{{"type": "function_call", "name": "exec_command", "call_id": "c{id}"{arguments}}}"#)
        };
        let (known, other) = (call(1, r#", "arguments": "{\"cmd\": \"ls\"}""#), call(2, arguments));
        rollout(&[META, ("response_item", &known), ("response_item", &other)])
    };
    let claude = |input: &str| {
        format!(
            r#"{{"type": "assistant", "sessionId": "s", "uuid": "u", "message": {{"role": "assistant", "content": [{{"type": "tool_use", "id": "t", "name": "Bash"{input}}}]}}}}"#
        ) + "\n"
    };
    for text in [codex(r#", "arguments": "{\"cmd\": \"pwd\"}""#), claude(r#", "input": {"command": "pwd"}"#)] {
        with(&text, |run| assert!(run.records_kind(StepKind::Command), "{text}"));
    }
    for text in [
        codex(""),
        codex(r#", "argumtnes": "{\"cmd\": \"pwd\"}""#),
        claude(""),
        claude(r#", "inputs": {"command": "pwd"}"#),
    ] {
        with(&text, |run| {
            assert!(!run.records_kind(StepKind::Command), "{text}");
            assert!(run.records_kind(StepKind::Call), "{text}");
        });
    }
}
