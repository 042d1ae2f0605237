//! Calls in the blocks of each provider, and blocks that nobody knows.

use averment_base::limits::Limits;
use averment_base::value::Value;
use averment_base::value::json::to_json;
use averment_runs::run::{Run, StepKind, StepStatus};
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use std::io::Cursor;

fn with<R>(text: &str, look: impl FnOnce(&Run<'_>) -> R) -> R {
    let limits = Limits::default();
    let raw = TraceRuns::new("t", Cursor::new(text.as_bytes().to_vec()), &limits).next().unwrap().unwrap();
    let arena = Bump::new();
    look(&parse_run(&raw, &arena, &limits).unwrap())
}

/// The calls of a run: tool, arguments, result, status.
fn calls(text: &str) -> Vec<String> {
    with(text, |run| {
        assert!(run.records_kind(StepKind::Call), "{text}");
        let calls = run.steps.iter().filter(|step| step.kind == StepKind::Call);
        let field = |step: &averment_runs::run::Step<'_>, key| {
            step.object.get(key).map_or("-".to_owned(), |node| to_json(&node.value))
        };
        let shown = calls
            .map(|step| format!("{} {} {} {:?}", step.name, field(step, "args"), field(step, "result"), step.status));
        shown.collect()
    })
}

#[test]
fn calls_are_read_in_the_blocks_of_each_provider() {
    let cases: [(&str, &[&str]); 9] = [
        (
            r#"{"messages": [{"role": "user", "content": [{"text": "q"}]},
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "a", "input": {"x": 1}}}, {"toolUse": {"toolUseId": "2", "name": "b", "input": {}}}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": [{"text": "boom"}], "status": "error"}}, {"toolResult": {"toolUseId": "2", "content": [{"json": {"n": 1}}]}}]},
                {"role": "assistant", "content": [{"text": "done"}]}], "tools": []}"#,
            &[r#"a {"x":1} "boom" Failed"#, r#"b {} {"n":1} Ok"#],
        ),
        (
            r#"[{"role": "user", "content": "q"}, {"role": "assistant", "content": [{"type": "text", "text": "hm"}, {"type": "tool-call", "toolCallId": "1", "toolName": "a", "input": {"x": 1}},
                {"type": "tool-call", "toolCallId": "2", "toolName": "b", "args": {}}, {"type": "tool-call", "toolCallId": "3", "toolName": "c", "input": {}}]},
                {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "1", "toolName": "a", "output": {"type": "error-text", "value": "boom"}},
                {"type": "tool-result", "toolCallId": "2", "toolName": "b", "result": {"text": "v"}}, {"type": "tool-result", "toolCallId": "3", "toolName": "c", "output": {"type": "execution-denied", "reason": "no"}}]}]"#,
            &[r#"a {"x":1} "boom" Failed"#, r#"b {} {"text":"v"} Ok"#, r#"c {} "no" Denied"#],
        ),
        (
            r#"{"model": "m", "messages": [{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "1", "toolName": "rm", "input": {"p": "/"}}]},
                {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "1", "toolName": "rm", "output": {"type": "text", "value": "x"}}]}], "tools": []}"#,
            &[r#"rm {"p":"/"} "x" Ok"#],
        ),
        (
            r#"[{"id": "1", "role": "user", "content": "q"}, {"id": "2", "role": "assistant", "content": "done", "toolInvocations": [
                {"state": "result", "step": 0, "toolCallId": "1", "toolName": "a", "args": {"x": 1}, "result": {"r": 1}}, {"state": "call", "toolCallId": "2", "toolName": "b", "args": {}}]}]"#,
            &[r#"a {"x":1} {"r":1} Ok"#, "b {} - Unknown"],
        ),
        (
            r#"[{"id": "1", "role": "user", "parts": [{"type": "text", "text": "q"}]}, {"id": "2", "role": "assistant", "parts": [{"type": "step-start"},
                {"type": "tool-weather", "toolCallId": "1", "state": "output-available", "input": {"c": "P"}, "output": {"t": 1}}, {"type": "tool-del", "toolCallId": "2", "state": "output-error", "input": {}, "errorText": "boom"},
                {"type": "dynamic-tool", "toolName": "d", "toolCallId": "3", "state": "input-available", "input": {}}, {"type": "text", "text": "done"}]}]"#,
            &[r#"weather {"c":"P"} {"t":1} Ok"#, r#"del {} "boom" Failed"#, "d {} - Unknown"],
        ),
        (
            r#"[{"type": "human", "content": "q"}, {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [{"id": "1", "type": "function", "function": {"name": "a", "arguments": "{\"x\":1}"}}]}},
                {"type": "tool", "content": "R", "tool_call_id": "1"}]"#,
            &[r#"a {"x":1} "R" Unknown"#],
        ),
        (
            r#"[{"type": "human", "content": "q"}, {"type": "ai", "content": "", "tool_calls": [{"name": "a", "args": {"x": 1}, "id": "1"}],
                "additional_kwargs": {"tool_calls": [{"id": "1", "type": "function", "function": {"name": "a", "arguments": "{\"x\":1}"}}]}}, {"type": "tool", "content": "R", "tool_call_id": "1"}]"#,
            &[r#"a {"x":1} "R" Unknown"#],
        ),
        (
            r#"{"id": "m", "type": "message", "role": "assistant", "model": "c", "content": [{"type": "server_tool_use", "id": "1", "name": "web_search", "input": {}},
                {"type": "web_search_tool_result", "tool_use_id": "1", "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}},
                {"type": "server_tool_use", "id": "2", "name": "bash_code_execution", "input": {}}, {"type": "bash_code_execution_tool_result", "tool_use_id": "2", "content": {"type": "bash_code_execution_result", "return_code": 1}},
                {"type": "server_tool_use", "id": "3", "name": "bash_code_execution", "input": {}}, {"type": "bash_code_execution_tool_result", "tool_use_id": "3", "content": {"type": "bash_code_execution_result", "return_code": 0}}],
                "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}"#,
            &[
                r#"web_search {} {"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"} Failed"#,
                r#"bash_code_execution {} {"type":"bash_code_execution_result","return_code":1} Failed"#,
                r#"bash_code_execution {} {"type":"bash_code_execution_result","return_code":0} Ok"#,
            ],
        ),
        (
            r#"[{"role": "user", "content": "q"}, {"role": "assistant", "content": [{"type": "mcp_tool_use", "id": "1", "name": "echo", "server_name": "s", "input": {}},
                {"type": "mcp_tool_result", "tool_use_id": "1", "is_error": true, "content": [{"type": "text", "text": "bad"}]}, {"type": "server_tool_use", "id": "2", "name": "code_execution", "input": {}},
                {"type": "code_execution_tool_result", "tool_use_id": "2", "content": {"type": "code_execution_result", "return_code": 1}}]}]"#,
            &[
                r#"echo {} "bad" Failed"#,
                r#"code_execution {} {"type":"code_execution_result","return_code":1} Failed"#,
            ],
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(calls(text), wanted, "{text}");
        with(text, |run| {
            assert_eq!((run.complete, run.records.not_understood), (true, 0), "{text}: {:?}", run.warnings)
        });
    }
}

#[test]
fn calls_in_blocks_and_beside_them_are_those_of_both_or_not_recorded() {
    let run = |beside: &str| {
        format!(
            r#"{{"messages": [{{"role": "user", "content": "go"}},
                {{"role": "assistant", "content": [{{"type": "tool_use", "id": "a", "name": "get", "input": {{}}}}], {beside}}},
                {{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "a", "content": "1"}}]}}]}}"#
        )
    };
    let records = |beside: &str| with(&run(beside), |run| (run.records_kind(StepKind::Call), run.warnings.len()));
    // The same call once more, and nothing.
    let same = r#""tool_calls": [{"id": "a", "type": "function", "function": {"name": "get", "arguments": "{}"}}]"#;
    assert_eq!(records(same), (true, 0));
    assert_eq!(records(r#""tool_calls": [], "function_call": null"#), (true, 0));
    // Another one: `never rm` may not pass.
    let other = r#""tool_calls": [{"id": "b", "type": "function", "function": {"name": "rm", "arguments": "{}"}}]"#;
    assert_eq!(records(other), (false, 1));
    assert_eq!(records(r#""function_call": {"name": "rm", "arguments": "{}"}"#), (false, 1));
}

#[test]
fn a_block_that_nobody_knows_may_be_a_call() {
    let text = r#"{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": [{"type": "gadget", "run": "rm"}, {"type": "text", "text": "x"}]}], "tools": []}"#;
    with(text, |run| {
        assert_eq!((run.records_kind(StepKind::Call), run.records.seen, run.records.not_understood), (false, 2, 1));
        assert!(run.warnings[0].message.contains("may be a call"));
    });
    // An image is known to be none.
    with(&text.replace("gadget", "image_url"), |run| {
        assert_eq!((run.records_kind(StepKind::Call), run.records.not_understood), (true, 0));
    });
    // What was done beside it stays known.
    let beside = text.replace(
        "{\"type\": \"text\"",
        r#"{"type": "tool_use", "id": "1", "name": "a", "input": {}}, {"type": "text""#,
    );
    with(&beside, |run| {
        assert_eq!((run.records_kind(StepKind::Call), run.records.not_understood), (true, 1));
        assert_eq!(run.steps[1].status, StepStatus::Unknown);
    });
}

#[test]
fn what_cannot_be_below_zero_is_not_recorded_then() {
    let text = r#"{"calls": [{"tool": "a", "duration": -5}], "duration": -3, "cost": -1, "turns": -1, "usage": {"input_tokens": -4, "output_tokens": 1.5, "cache_read_tokens": 2}}"#;
    with(text, |run| {
        for key in ["duration", "cost", "turns"] {
            assert!(matches!(run.root_value(key).value, Value::Absent), "{key}");
        }
        assert_eq!(to_json(&run.root_value("usage").value), r#"{"cache_read_tokens":2}"#);
        let duration = run.steps[0].object.get("duration").map(|node| node.value);
        assert!(matches!(duration, Some(Value::Absent)));
        assert_eq!(run.warnings.len(), 5, "{:?}", run.warnings);
    });
}
