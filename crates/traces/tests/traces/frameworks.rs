//! What frameworks write down of their own runs: outcomes, thoughts, and actions that stand in words; what nobody knows among it.

use super::formats::{field, root, steps, with};
use averment_base::value::json::to_json;
use averment_runs::run::{Run, StepKind};

fn records_calls(run: &Run<'_>) -> bool {
    run.records_kind(StepKind::Call)
}

fn sample(name: &str) -> String {
    let folder = averment_fixtures::project("tests/golden/trace/formats");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_result_of_mastra_is_no_success_and_may_stand_in_another_message() {
    let message = |parts: &str| {
        format!(r#"{{"role": "assistant", "threadId": "t", "content": {{"format": 2, "parts": [{parts}]}}}}"#)
    };
    let call = |state: &str, more: &str| {
        format!(
            r#"{{"type": "tool-invocation", "toolInvocation": {{"state": "{state}", "toolCallId": "c", "toolName": "look", "args": {{}}{more}}}}}"#
        )
    };
    let with_result = |result: &str| format!("[{}]", message(&call("result", &format!(r#", "result": {result}"#))));
    with(&with_result(r#"{"error": true, "message": "no"}"#), |run| assert_eq!(field(run, 0, "status"), "\"failed\""));
    with(&with_result(r#""Tool not found""#), |run| assert_eq!(field(run, 0, "status"), "absent"));
    let thought = r#"{"type": "reasoning", "reasoning": "", "details": [{"type": "text", "text": "hm"}]}"#;
    let both = [message(&[thought, &call("call", "")].join(",")), message(&call("result", r#", "result": "R""#))];
    with(&format!("[{}]", both.join(",")), |run| {
        assert_eq!(steps(run), ["message thinking", "call look"]);
        assert_eq!((field(run, 0, "text"), field(run, 1, "result")), ("\"hm\"".into(), "\"R\"".into()));
    });
}

#[test]
fn what_a_search_of_assistants_found_is_no_argument_and_pages_may_go_on() {
    let list = |step: &str, list: &str| {
        format!(
            r#"{{"object": "list", "data": [{{"object": "thread.run.step", "id": "s", "created_at": 1767225600, "type": "tool_calls"{step},
            "step_details": {{"type": "tool_calls", "tool_calls": [{{"id": "c", "type": "file_search",
            "file_search": {{"ranking_options": {{"ranker": "auto"}}, "results": [{{"file_name": "a"}}]}}}}]}}}}]{list}}}"#
        )
    };
    with(&list("", ""), |run| {
        assert_eq!(field(run, 0, "args"), r#"{"ranking_options":{"ranker":"auto"}}"#);
        assert_eq!((field(run, 0, "result"), run.complete), (r#"[{"file_name":"a"}]"#.into(), true));
    });
    with(&list("", r#", "has_more": true"#), |run| assert!(!run.complete));
    with(&list(r#", "status": "in_progress""#, ""), |run| assert!(!run.complete));
    with(&list(r#", "status": "completed""#, r#", "has_more": false"#), |run| assert!(run.complete));
}

#[test]
fn a_call_of_pydantic_ai_that_has_to_be_made_again_failed() {
    let status = |outcome: &str| {
        let text = format!(
            r#"[{{"kind": "response", "parts": [{{"part_kind": "tool-call", "tool_name": "f", "args": "{{}}", "tool_call_id": "a"}}]}},
            {{"kind": "request", "parts": [{{"part_kind": "tool-return", "tool_name": "f", "content": "x", "tool_call_id": "a", "outcome": "{outcome}"}},
            {{"part_kind": "tool-availability-delta", "added": []}}, {{"part_kind": "speech", "speaker": "user", "transcript": "hi"}}]}}]"#
        );
        with(&text, |run| {
            assert!(run.complete);
            field(run, 0, "status")
        })
    };
    let told = ["success", "retried", "failed", "denied", "interrupted", "zz"].map(status);
    assert_eq!(told, ["\"ok\"", "\"failed\"", "\"failed\"", "\"denied\"", "absent", "absent"]);
}

#[test]
fn what_nobody_knows_in_front_of_words_that_a_request_repeats_is_told() {
    let request = |more: &str| {
        format!(
            r#"{{"request": {{"tools": [], "messages": [{more}{{"role": "user", "content": "go"}}]}}, "response": {{"choices": [{{"message": {{"role": "assistant", "content": "ok"}}}}]}}}}"#
        )
    };
    let text = |more: &str| format!("[{}, {}]", request(""), request(more));
    with(&text(""), |run| assert!(run.complete && records_calls(run)));
    with(&text(r#"{"role": "system", "content": "be kind"},"#), |run| assert!(run.complete));
    with(&text(r#"{"kind": "zz", "tool_name": "deploy"},"#), |run| assert!(!run.complete));
}

/// Spans of a crew: an agent, a model with these words, and tools.
fn crew(words: &str, tools: &[&str]) -> String {
    let span = |id: usize, parent: usize, attributes: &str| {
        format!(
            r#"{{"traceId": "{:032x}", "spanId": "{id:016x}", "parentSpanId": "{parent:016x}", "name": "s{id}", "startTimeUnixNano": "{id}700000000000000000", "endTimeUnixNano": "{id}700000000000000001", "attributes": [{attributes}]}}"#,
            1
        )
    };
    let text = |key: &str, value: &str| format!(r#"{{"key": "{key}", "value": {{"stringValue": {value:?}}}}}"#);
    let attributes =
        |all: &[(&str, &str)]| all.iter().map(|(key, value)| text(key, value)).collect::<Vec<_>>().join(",");
    let kind = "openinference.span.kind";
    let said = [
        (kind, "LLM"),
        ("llm.output_messages.0.message.role", "assistant"),
        ("llm.output_messages.0.message.content", words),
    ];
    let mut spans = vec![span(1, 0, &attributes(&[(kind, "AGENT")])), span(2, 1, &attributes(&said))];
    for (at, tool) in tools.iter().enumerate() {
        spans.push(span(3 + at, 1, &attributes(&[(kind, "TOOL"), ("tool.name", tool), ("input.value", "{}")])));
    }
    format!(r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{}]}}]}}]}}"#, spans.join(","))
}

#[test]
fn an_action_in_the_words_of_a_model_that_no_span_tells_may_have_been_done() {
    let react = "Thought: I look\nAction: Search the web\nAction Input: {\"q\": 1}";
    let dspy = "[[ ## next_thought ## ]]\nhm\n\n[[ ## next_tool_name ## ]]\nsearch_the_web\n\n[[ ## completed ## ]]";
    let printed = "ResponseFunctionToolCall(arguments='{}', call_id='c', name='search_the_web', type='function_call')";
    for words in [react, dspy, printed] {
        with(&crew(words, &[]), |run| assert!(!records_calls(run), "{words}"));
        with(&crew(words, &["search_the_web"]), |run| assert!(run.complete && records_calls(run), "{words}"));
        with(&crew(words, &["other"]), |run| assert!(!run.complete && records_calls(run), "{words}"));
    }
    let ends = "[[ ## next_tool_name ## ]]\nfinish\n";
    for words in ["Thought: I know\nFinal Answer: 4", "Action: none needed", ends] {
        with(&crew(words, &[]), |run| assert!(run.complete && records_calls(run), "{words}"));
    }
    with(&crew(printed, &["search_the_web"]), |run| {
        assert!(!steps(run).contains(&"message assistant".to_owned()), "{:?}", steps(run));
    });
}

#[test]
fn parts_of_no_known_kind_leave_the_run_of_a_framework_open() {
    let is_open = |run: &Run<'_>| !run.complete;
    let cases = [
        ("haystack-messages.json", r#"{"reasoning": {"reasoning_text""#, r#"{"zz_call": {"reasoning_text""#),
        ("haystack-messages.json", r#""role": "system""#, r#""role": "zz""#),
        ("semantic-kernel-history.json", r#""content_type": "function_call""#, r#""content_type": "zz""#),
        ("dspy-prediction.json", "\"thought_1\"", "\"zz_1\""),
        ("dspy-prediction.json", "\"tool_name_1\"", "\"zz_name\""),
        ("ai-sdk-result.json", r#""type": "reasoning""#, r#""type": "zz""#),
        (
            "ai-sdk-older-steps.json",
            r#""stepType": "tool-result", "text": "#,
            r#""stepType": "tool-result", "text": {"type": "zz"}, "was": "#,
        ),
        ("letta-agents.json", r#""role": "user""#, r#""role": "zz""#),
        ("letta-agents.json", r#""type": "reasoning""#, r#""type": "zz""#),
    ];
    for (name, known, other) in cases {
        let text = sample(name);
        assert!(text.contains(known), "{name}: {known}");
        let first = |text: &str| {
            let limits = averment_base::limits::Limits::default();
            let runs = averment_traces::TraceRuns::new("t", std::io::Cursor::new(text.as_bytes().to_vec()), &limits);
            let raw = runs.into_iter().next().unwrap().unwrap();
            let arena = bumpalo::Bump::new();
            is_open(&averment_traces::parse_run(&raw, &arena, &limits).unwrap())
        };
        assert!(!first(&text), "{name}");
        assert!(first(&text.replacen(known, other, 1)), "{name}: {other}");
    }
}

#[test]
fn tools_whose_calls_a_row_leaves_out_leave_the_run_open() {
    let row = |kind: &str| {
        format!(
            r#"{{"query": "go", "response": [{{"role": "assistant", "content": [{{"type": "text", "text": "ok"}}]}}],
            "tool_definitions": [{{"name": "search", "type": "{kind}", "parameters": {{}}}}]}}"#
        )
    };
    with(&row("function"), |run| assert!(run.complete && records_calls(run)));
    with(&row("sharepoint_grounding"), |run| assert!(!run.complete));
}

#[test]
fn pieces_of_a_gemini_answer_are_one_message_whatever_signs_them() {
    let text = r#"[{"contents": [{"role": "user", "parts": [{"text": "Go."}]}]},
      {"candidates": [{"content": {"role": "model", "parts": [{"text": "Two and", "thoughtSignature": "x"}]}}], "responseId": "a"},
      {"candidates": [{"content": {"role": "model", "parts": [{"text": " three."}]}, "finishReason": "STOP"}], "responseId": "a"},
      {"contents": [{"role": "user", "parts": [{"text": "Go."}]}, {"role": "model", "parts": [{"text": "Two and three.", "thoughtSignature": "x"}]}, {"role": "user", "parts": [{"text": "On."}]}]}]"#;
    with(text, |run| {
        assert_eq!(steps(run), ["message user", "message assistant", "message user"]);
        assert_eq!(root(run, "output"), "\"Two and three.\"");
    });
}

/// A span of a model's answer, with a message under each number.
fn numbered_answer(first: usize, texts: &[&str]) -> String {
    let mut attributes = serde_json::json!({"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Go."});
    for (place, text) in texts.iter().enumerate() {
        let name = |field| format!("llm.output_messages.{}.message.{field}", first + place);
        attributes[name("role")] = "assistant".into();
        attributes[name("content")] = (*text).into();
    }
    let span = serde_json::json!({"name": "chat", "context": {"trace_id": "t", "span_id": "a"}, "start_time": "2026-03-01T10:00:00Z", "attributes": attributes});
    serde_json::json!([span]).to_string()
}

#[test]
fn numbered_pieces_of_an_answer_are_one_message() {
    let said = |text: &str| {
        with(text, |run| {
            let words = run.steps.iter().filter(|step| step.kind == StepKind::Message && step.name == "assistant");
            let words = words.map(|step| to_json(&step.object.get("text").unwrap().value)).collect::<Vec<_>>();
            (words, run.complete)
        })
    };
    assert_eq!(said(&numbered_answer(0, &["It", " is", " done."])), (vec!["\"It is done.\"".into()], true));
    let many: Vec<_> = "abcdefghi".split("").filter(|piece| !piece.is_empty()).collect();
    assert_eq!(said(&numbered_answer(0, &many)), (vec!["\"abcdefghi\"".into()], true));
    assert_eq!(said(&numbered_answer(0, &["One.", "Two."])), (vec!["\"One.\"".into(), "\"Two.\"".into()], true));
    // The first ones are not there.
    assert!(!said(&numbered_answer(7, &["It", " is"])).1);
}

#[test]
fn spans_may_have_numbers_for_ids() {
    let span = |id: u32, parent: Option<u32>, name: &str, attributes: serde_json::Value| serde_json::json!({"name": name, "context": {"trace_id": 1_u64 << 63, "span_id": id}, "parent": {"trace_id": 1_u64 << 63, "span_id": parent}, "start_time": 1_758_026_594_777_382_000_u64, "attributes": attributes});
    let agent = span(1, None, "agent", serde_json::json!({"gen_ai.operation.name": "invoke_agent"}));
    let tool = serde_json::json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather", "gen_ai.tool.args": "{}", "gen_ai.output": "7"});
    let text = serde_json::json!({"spans": [agent, span(2, Some(1), "tool", tool)], "final_output": "7"}).to_string();
    with(&text, |run| {
        let calls: Vec<_> = run.steps.iter().filter(|step| step.kind == StepKind::Call).collect();
        assert_eq!((calls.len(), calls[0].name), (1, "weather"));
        assert!(run.warnings.iter().all(|warning| !warning.message.contains("parent")), "{:?}", run.warnings);
    });
}

#[test]
fn changes_of_braintrust_rows_are_put_into_them() {
    let row = |rest: &str| format!(r#"{{"id": "r", "span_id": "s", "root_span_id": "s", {rest}}}"#);
    let whole = row(
        r#""span_attributes": {"name": "weather", "type": "tool"}, "metrics": {"start": 1}, "input": {"at": "Oslo"}"#,
    );
    let change = row(r#""_is_merge": true, "metrics": {"end": 2}, "output": "7 degrees""#);
    with(&format!("[{whole}, {change}]"), |run| {
        assert_eq!(steps(run), ["span weather", "call weather"]);
        assert_eq!((field(run, 1, "result"), field(run, 1, "duration")), ("\"7 degrees\"".into(), "1000".into()));
        assert!(run.complete, "{:?}", run.warnings);
    });
    // Of a row that is not there nobody knows what it was.
    let other = change.replace("\"r\"", "\"q\"");
    with(&format!("[{whole}, {other}]"), |run| assert!(!run.complete));
}

#[test]
fn messages_of_the_agent_sdk_may_stand_in_frames() {
    let frame = |way: &str, message: &str| format!(r#"{{"direction": "{way}", "message": {message}}}"#);
    let text = format!(
        r#"{{"metadata": {{"v": 1}}, "messages": [{}, {}, {}]}}"#,
        frame("send", r#"{"type": "control_request", "request_id": "r", "request": {"subtype": "initialize"}}"#),
        frame("send", r#"{"type": "user", "message": {"role": "user", "content": "Go."}, "session_id": "s"}"#),
        frame(
            "recv",
            r#"{"type": "assistant", "session_id": "s", "message": {"id": "m", "role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}}]}}"#
        ),
    );
    with(&text, |run| assert_eq!(steps(run)[..2], ["message user", "call Bash"]));
}

#[test]
fn the_answer_of_toolbench_is_read_and_what_was_given_up_is_not() {
    let call = |name: &str, args: &str| serde_json::json!({"role": "assistant", "content": null, "function_call": {"name": name, "arguments": args}});
    let answer = r#"{"return_type": "give_answer", "final_answer": "7 degrees"}"#;
    let messages = serde_json::json!([{"role": "user", "content": "Weather?"}, call("weather", "{}"), {"role": "function", "name": "weather", "content": "7"}, call("Finish", answer)]);
    let action = |children: serde_json::Value| serde_json::json!({"node_type": "Action", "children": children});
    let tree = |children: serde_json::Value| {
        serde_json::json!({"win": true, "tree": {"size": 2, "tree": {"node_type": "Action Input", "children": children}}, "answer_generation": {"train_messages": [[], messages], "final_answer": answer}}).to_string()
    };
    with(&tree(serde_json::json!([action(serde_json::json!([action(serde_json::json!([]))]))])), |run| {
        assert_eq!(steps(run), ["message user", "call weather", "call Finish"]);
        assert_eq!((field(run, 1, "result"), root(run, "output")), ("\"7\"".into(), "\"7 degrees\"".into()));
        assert!(run.complete);
    });
    let given_up = serde_json::json!([
        action(serde_json::json!([])),
        action(serde_json::json!([])),
        action(serde_json::json!([]))
    ]);
    with(&tree(given_up), |run| assert!(!run.complete));
}

#[test]
fn arguments_that_gemini_streams_are_put_together() {
    let piece = |call: &str, end: &str| {
        format!(
            r#"{{"candidates": [{{"content": {{"role": "model", "parts": [{{"functionCall": {call}}}]}}{end}}}], "responseId": "a"}}"#
        )
    };
    let args = |path: &str, value: &str| {
        piece(&format!(r#"{{"partialArgs": [{{"jsonPath": "{path}", {value}}}], "willContinue": true}}"#), "")
    };
    let begin = piece(r#"{"name": "cook", "willContinue": true}"#, "");
    let pieces = [
        begin.clone(),
        args("$.dish.parts[0].name", r#""stringValue": "le", "willContinue": true"#),
        args("$.dish.parts[0].name", r#""stringValue": "ek""#),
        args("$.dish.parts[1].grams", r#""numberValue": 5"#),
        args("$['hot']", r#""boolValue": true"#),
        piece("{}", r#", "finishReason": "STOP""#),
    ];
    with(&pieces.join("\n"), |run| {
        assert_eq!(steps(run), ["call cook"]);
        assert_eq!(field(run, 0, "args"), r#"{"dish":{"parts":[{"name":"leek"},{"grams":5}]},"hot":true}"#);
        assert!(records_calls(run) && run.complete, "{:?}", run.warnings);
    });
    let unknown = [begin, args("$.dish", r#""newValue": 1"#), piece("{}", r#", "finishReason": "STOP""#)];
    with(&unknown.join("\n"), |run| assert!(!run.complete));
}

#[test]
fn an_answer_in_json_is_the_words_of_a_model() {
    let span = |output: &str| {
        let attributes = serde_json::json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": "go", "gen_ai.output": output});
        serde_json::json!([{"name": "chat", "context": {"trace_id": "t", "span_id": "a"}, "start_time": "2026-03-01T10:00:00Z", "attributes": attributes}]).to_string()
    };
    with(&span(r#"{"steps": [1]}"#), |run| {
        assert_eq!(steps(run), ["span chat", "message user", "message assistant"]);
        assert_eq!(root(run, "output"), r#""{\"steps\": [1]}""#);
    });
    // A whole response is none.
    with(&span(r#"{"id": "x", "usage": {}, "steps": [1]}"#), |run| {
        assert_eq!(steps(run), ["span chat", "message user"])
    });
}

#[test]
fn tools_of_a_search_on_x_have_names() {
    let text = r#"{"object": "response", "id": "r", "output": [{"type": "x_search_call", "id": "f", "call_id": "", "name": "x_semantic_search", "arguments": "{\"query\": \"a\"}", "status": "completed"}]}"#;
    with(text, |run| {
        assert_eq!((steps(run), run.complete), (vec!["call x_semantic_search".to_owned()], true));
    });
    with(&text.replace("x_search", "y_search"), |run| assert!(!run.complete));
}

#[test]
fn updates_of_the_agent_framework_are_pieces_of_messages() {
    let update = |role: &str, id: &str, contents: &str| {
        format!(r#"{{{role}"contents": [{contents}], "responseId": "{id}", "messageId": "{id}"}}"#)
    };
    let assistant = r#""role": "assistant", "#;
    let text = |words: &str| format!(r#"{{"$type": "text", "text": "{words}"}}"#);
    let call = r#"{"$type": "functionCall", "name": "look", "arguments": {}, "callId": "c"}"#;
    let result = r#"{"$type": "functionResult", "result": "7", "callId": "c"}"#;
    let usage = |count: u8| {
        format!(r#"{{"$type": "usage", "details": {{"inputTokenCount": {count}, "outputTokenCount": 2}}}}"#)
    };
    let updates = [
        update("", "", ""),
        update("", "a", r#"{"$type": "reasoning", "text": "Hm"}"#),
        update("", "a", r#"{"$type": "reasoning", "text": "m."}"#),
        update(assistant, "", call),
        update(assistant, "a", &usage(9)),
        update(r#""role": "tool", "#, "", result),
        update(assistant, "b", &text("It is")),
        update(assistant, "b", &text(" 7.")),
        update(assistant, "b", &usage(8)),
    ];
    with(&format!("[{}]", updates.join(",")), |run| {
        assert_eq!(steps(run), ["message thinking", "call look", "message assistant"]);
        assert_eq!((field(run, 0, "text"), field(run, 1, "result")), ("\"Hmm.\"".into(), "\"7\"".into()));
        assert_eq!(root(run, "output"), "\"It is 7.\"");
        assert!(root(run, "usage").contains("\"input_tokens\":17"), "{}", root(run, "usage"));
        assert!(run.complete, "{:?}", run.warnings);
    });
    let unknown = format!("[{}]", updates.join(",").replace("functionCall", "newCall"));
    with(&unknown, |run| assert!(!run.complete));
}

#[test]
fn a_result_of_droid_that_reads_like_an_error_is_no_success() {
    let line = |role: &str, content: &str| {
        format!(
            r#"{{"type": "message", "id": "{role}", "parentId": "p", "message": {{"role": "{role}", "content": [{content}]}}}}"#
        )
    };
    let call = line("assistant", r#"{"type": "tool_use", "id": "a", "name": "Execute", "input": {"command": "ls"}}"#);
    let status = |words: &str| {
        let result = format!(r#"{{"type": "tool_result", "tool_use_id": "a", {words}}}"#);
        let start = r#"{"type": "session_start", "id": "s", "title": "t"}"#;
        with(&[start, &call, &line("user", &result)].join("\n"), |run| run.steps[0].status)
    };
    use averment_runs::run::StepStatus::{Failed, Ok, Unknown};
    assert_eq!(status(r#""content": "Error: Command failed (exit code: 1)""#), Unknown);
    assert_eq!(status(r#""content": "Error: 0 in the log", "is_error": false"#), Ok);
    assert_eq!(status(r#""content": "Error: no", "is_error": true"#), Failed);
    assert_eq!(status(r#""content": "a.txt""#), Ok);
}
