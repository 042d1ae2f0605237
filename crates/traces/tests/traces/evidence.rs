//! What a trace says nothing of is no evidence: results of others, parts of streams, lines that stand twice.

use super::formats::{field, root, steps, with};
use averment_base::limits::Limits;
use averment_runs::run::{StepKind, StepStatus};
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use std::io::Cursor;

/// Why the runs of a text cannot be read.
fn refused(text: &str) -> Vec<String> {
    let limits = Limits::default();
    let runs = TraceRuns::new("t", Cursor::new(text.to_owned().into_bytes()), &limits);
    let read = |raw: Result<_, _>| {
        let arena = Bump::new();
        raw.and_then(|raw| parse_run(&raw, &arena, &limits).map(|run| run.format.to_owned()))
    };
    runs.map(|raw| read(raw).map_or_else(|error| error.to_string(), |format| format!("a run: {format}"))).collect()
}

#[test]
fn other_protocols_over_json_rpc_are_no_logs_of_mcp() {
    let lsp = concat!(
        r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": 1, "capabilities": {}}}"#,
        "\n",
        r#"{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {"uri": "a"}}}"#,
    );
    let acp = concat!(
        r#"{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {}}}"#,
        "\n",
        r#"{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}}"#,
    );
    for (text, what) in [(lsp, "Language Server Protocol"), (acp, "Agent Client Protocol")] {
        let said = refused(text);
        assert!(said.iter().all(|said| !said.starts_with("a run")), "{said:?}");
        assert!(said.iter().any(|said| said.contains(what)), "{said:?}");
    }
    let mcp = r#"[{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "clientInfo": {"name": "c"}}},
        {"jsonrpc": "2.0", "method": "window/showMessage", "params": {}}]"#;
    with(mcp, |run| {
        assert_eq!((run.format, run.records_kind(StepKind::Call)), ("MCP log", true));
        assert_eq!(run.warnings[0].message, "a message of unknown method `window/showMessage` is skipped");
        assert_eq!(run.records.not_understood, 1);
    });
}

#[test]
fn spans_that_are_not_read_are_refused_with_what_they_are() {
    let zipkin =
        r#"[{"traceId": "a", "id": "b", "name": "execute_tool x", "timestamp": "today", "duration": 9, "tags": {}}]"#;
    let jaeger = r#"{"result": {"resourceSpans": [{"scopeSpans": [{"spans": []}]}]}}"#;
    for (text, what) in [(zipkin, "a span of Zipkin"), (jaeger, "an answer of Jaeger's API")] {
        let said = refused(text);
        assert!(said.len() == 1 && said[0].contains(what), "{said:?}");
    }
}

/// A call and a request of the server, both with the id 1, and what came back.
fn clash(ways: [&str; 2], answers: &[(&str, &str)]) -> String {
    let frame = |way: &str, message: &str| match way {
        "" => format!(r#"{{"jsonrpc": "2.0", "id": 1, {message}}}"#),
        way => format!(r#"{{"direction": "{way}", "message": {{"jsonrpc": "2.0", "id": 1, {message}}}}}"#),
    };
    let asked = [
        (ways[0], r#""method": "tools/call", "params": {"name": "a", "arguments": {}}"#),
        (ways[1], r#""method": "sampling/createMessage", "params": {"messages": []}"#),
    ];
    asked.iter().chain(answers).map(|(way, message)| frame(way, message) + "\n").collect()
}

#[test]
fn what_the_client_answers_is_no_result_of_a_call() {
    let sampled = r#""result": {"role": "assistant", "content": {"type": "text", "text": "sampled"}, "model": "m"}"#;
    let (real, failed) =
        (r#""result": {"content": [{"type": "text", "text": "REAL"}]}"#, r#""error": {"code": -1, "message": "boom"}"#);
    for answers in [[("", sampled), ("", real)], [("", real), ("", sampled)]] {
        with(&clash(["", ""], &answers), |run| {
            assert_eq!((run.steps[0].status, field(run, 0, "result")), (StepStatus::Ok, "\"REAL\"".into()));
        });
    }
    let ways = ["client->server", "server->client"];
    with(&clash(ways, &[(ways[0], sampled), (ways[1], failed)]), |run| {
        assert_eq!((run.steps[0].status, field(run, 0, "error")), (StepStatus::Failed, "\"boom\"".into()));
    });
    with(&clash(ways, &[(ways[0], failed), (ways[1], real)]), |run| {
        assert_eq!((run.steps[0].status, field(run, 0, "result")), (StepStatus::Ok, "\"REAL\"".into()));
    });
    // Either of them may have gone wrong.
    with(&clash(["", ""], &[("", failed)]), |run| {
        assert_eq!((run.steps[0].status, field(run, 0, "error")), (StepStatus::Unknown, "missing".into()));
    });
}

const RESULT: &str = r#"{"type": "result", "subtype": "success", "is_error": false, "duration_ms": 1234, "num_turns": 2, "result": "done",
    "session_id": "S", "total_cost_usd": 0.01, "usage": {"input_tokens": 4, "output_tokens": 9}, "uuid": "4"}"#;

#[test]
fn a_result_of_claude_code_that_stands_alone_tells_of_no_calls() {
    for text in [RESULT.to_owned(), RESULT.replace('\n', " "), format!("[{RESULT}]")] {
        with(&text, |run| {
            assert_eq!(run.format, "Claude Code session");
            assert!(StepKind::ALL.into_iter().all(|kind| !run.records_kind(kind)));
            let known = ["output", "cost", "duration", "turns"].map(|key| root(run, key));
            assert_eq!(known, ["\"done\"", "0.01", "1234", "2"]);
            assert_eq!(root(run, "usage"), r#"{"input_tokens":4,"output_tokens":9,"total_tokens":13}"#);
        });
    }
}

/// A stream with one call, and how it ended.
fn stream(results: &[&str]) -> String {
    let begun = [
        r#"{"type": "system", "subtype": "init", "session_id": "S", "tools": ["Bash"], "uuid": "0"}"#,
        r#"{"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}], "usage": {"input_tokens": 7, "output_tokens": 3}}, "session_id": "S", "uuid": "1"}"#,
        r#"{"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "d"}}, "session_id": "S", "uuid": "2"}"#,
    ];
    begun.iter().chain(results).map(|line| format!("{line}\n")).collect()
}

#[test]
fn of_several_results_of_a_stream_the_last_one_counts() {
    let failed = r#"{"type": "result", "subtype": "error_max_turns", "is_error": true, "duration_ms": 1234, "num_turns": 2, "session_id": "S", "total_cost_usd": 0.01, "usage": {"input_tokens": 4, "output_tokens": 9}}"#;
    let went_well = r#"{"type": "result", "subtype": "success", "is_error": false, "duration_ms": 500, "num_turns": 3, "session_id": "S", "total_cost_usd": 0.03, "usage": {"input_tokens": 40, "output_tokens": 90}, "result": "second"}"#;
    with(&stream(&[failed, went_well]), |run| {
        let known = ["output", "cost", "turns", "error", "duration"].map(|key| root(run, key));
        assert_eq!(known, ["\"second\"", "0.03", "3", "missing", "absent"]);
        assert_eq!(root(run, "usage"), r#"{"input_tokens":40,"output_tokens":90,"total_tokens":130}"#);
        assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    });
    with(&stream(&[failed]), |run| {
        let known = ["error", "turns", "duration"].map(|key| root(run, key));
        assert_eq!(known, ["\"error_max_turns\"", "2", "1234"]);
        assert_eq!(root(run, "usage"), r#"{"input_tokens":4,"output_tokens":9,"total_tokens":13}"#);
    });
}

/// Lines of sessions, each with its session and id.
fn session(lines: &[(&str, &str, &str)]) -> String {
    let line = |(session, id, block): &(&str, &str, &str)| {
        let role = if block.contains("tool_result") { "user" } else { "assistant" };
        format!(
            r#"{{"type": "{role}", "sessionId": "{session}", "uuid": "{id}", "message": {{"role": "{role}", "content": [{block}]}}}}"#
        )
    };
    lines.iter().map(|each| line(each) + "\n").collect()
}

const CALL: &str = r#"{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "a"}}"#;
const DONE: &str = r#"{"type": "tool_result", "tool_use_id": "t1", "content": "done"}"#;

#[test]
fn lines_of_a_session_that_stand_twice_count_once() {
    let copied = session(&[("A", "1", CALL), ("A", "2", DONE), ("A", "1", CALL), ("A", "2", DONE)]);
    with(&copied, |run| {
        assert_eq!((steps(run), run.warnings.len()), (vec!["call Bash".into(), "command a".into()], 0))
    });
}

#[test]
fn results_belong_to_calls_of_their_own_session() {
    let both = session(&[("A", "1", CALL), ("B", "2", &CALL.replace("\"a\"", "\"b\"")), ("B", "3", DONE)]);
    with(&both, |run| {
        let ended = run.steps.iter().filter(|step| step.kind == StepKind::Call).map(|step| step.status);
        assert_eq!(ended.collect::<Vec<_>>(), [StepStatus::Unknown, StepStatus::Ok]);
        assert!(run.warnings[0].message.contains("several sessions"), "{:?}", run.warnings);
    });
}

#[test]
fn what_a_tool_gives_back_as_a_value_alone_is_its_result() {
    let result = r#""result": {"content": [], "structuredContent": {"total": 7}}"#;
    with(&clash(["", ""], &[("", result)]), |run| assert_eq!(field(run, 0, "result"), r#"{"total":7}"#));
    let both = r#""result": {"content": [{"type": "text", "text": "seven"}], "structuredContent": {"total": 7}}"#;
    with(&clash(["", ""], &[("", both)]), |run| assert_eq!(field(run, 0, "result"), "\"seven\""));
}

#[test]
fn a_tool_of_langfuse_that_failed_is_no_error_of_the_run() {
    let trace = |kind: &str| {
        format!(
            r#"{{"id": "t", "timestamp": "2025-01-01T00:00:00Z", "observations": [
                {{"id": "o", "traceId": "t", "type": "{kind}", "name": "get", "level": "ERROR", "statusMessage": "no such order",
                  "startTime": "2025-01-01T00:00:00Z", "endTime": "2025-01-01T00:00:01Z", "input": {{}}, "output": null}}]}}"#
        )
    };
    with(&trace("TOOL"), |run| {
        assert_eq!((run.steps[0].status, run.object.get("error").is_none()), (StepStatus::Failed, true));
    });
    with(&trace("AGENT"), |run| assert!(run.object.get("error").is_some()));
}
