//! A call whose name is no text may be a call of any tool: its run is not complete, and the call is neither lost nor given another name.

use averment_base::limits::Limits;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use std::io::Cursor;

/// A name as a text, and as what no format writes.
const NAMES: [&str; 4] = [r#""add""#, r#"["add"]"#, r#"{"name": "add"}"#, "7"];

const STREAM: &str = r#"[{"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "x"}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": NAME, "input": {}}},
    {"type": "content_block_stop", "index": 0}, {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]"#;
const SPAN: &str = r#"[{"trace_id": "t", "span_id": "s", "name": "running tool", "start_time": "2026-01-01T00:00:00Z",
    "end_time": "2026-01-01T00:00:01Z", "attributes": {"openinference.span.kind": "TOOL", "tool.name": NAME, "input.value": "{}"}}]"#;
const ASSISTANTS: &str = r#"[{"object": "thread.run.step", "id": "s", "run_id": "r", "type": "tool_calls", "status": "completed",
    "step_details": {"type": "tool_calls", "tool_calls": [{"id": "c", "type": "function", "function": {"name": NAME, "arguments": "{}", "output": "3"}}]}}]"#;
const DIFY: &str = r#"[{"id": "m", "conversation_id": "c", "query": "q", "answer": "a",
    "agent_thoughts": [{"id": "x", "thought": "", "tool": NAME, "tool_input": "{}", "observation": "3"}]}]"#;

#[test]
fn a_name_that_is_no_text_is_the_name_of_any_tool() {
    for sample in [STREAM, SPAN, ASSISTANTS, DIFY] {
        for name in NAMES {
            let text = sample.replace("NAME", name);
            let arena = Bump::new();
            let limits = Limits::default();
            let raw = TraceRuns::new("trace", Cursor::new(text.clone()), &limits).next().unwrap().unwrap();
            let run = parse_run(&raw, &arena, &limits).unwrap_or_else(|error| panic!("{error}: {text}"));
            let calls: Vec<&str> =
                run.steps.iter().filter(|step| step.kind.as_str() == "call").map(|step| step.name).collect();
            if name == NAMES[0] {
                assert_eq!((calls, run.complete), (vec!["add"], true), "{text}");
            } else {
                assert!(calls.is_empty() && !run.complete, "{calls:?}, complete: {}: {text}", run.complete);
            }
        }
    }
}
