//! Runs that are recorded as spans: in which containers, in which dialects, scattered over the lines of a file.

use averment_base::limits::Limits;
use averment_base::value::{Value, json};
use averment_fixtures::shared;
use averment_runs::run::{Run, StepKind, StepStatus};
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::{Value as Json, json};
use std::io::Cursor;

fn each(text: &str, limits: &Limits, mut look: impl FnMut(Result<Run<'_>, String>)) {
    for raw in TraceRuns::new("t", Cursor::new(text.to_owned()), limits) {
        match raw {
            Ok(raw) => {
                let arena = Bump::new();
                look(parse_run(&raw, &arena, limits).map_err(|error| error.to_string()));
            }
            Err(error) => look(Err(error.to_string())),
        }
    }
}

/// Each run of a file in few words: its name, its id, its tools; or why there is none.
fn told(text: &str, limits: &Limits) -> Vec<String> {
    let mut all = Vec::new();
    each(text, limits, |run| {
        all.push(match run {
            Ok(run) => {
                let calls = run.steps.iter().filter(|step| step.kind == StepKind::Call);
                let calls: Vec<_> =
                    calls.map(|call| format!("{}:{}", call.name, call.status.as_str().unwrap_or("?"))).collect();
                format!("{} {} [{}]", run.source.run_name(), run.id.unwrap_or_default(), calls.join(" "))
            }
            Err(error) => error,
        });
    });
    all
}

fn only(text: &str, look: impl FnMut(&Run<'_>)) {
    let mut look = look;
    let mut found = 0;
    each(text, &Limits::default(), |run| {
        found += 1;
        look(&run.unwrap());
    });
    assert_eq!(found, 1, "{text}");
}

/// A span as an element of a list.
fn span(trace: &str, id: &str, name: &str, start: u64, attributes: Json) -> Json {
    json!({"trace_id": trace, "span_id": id, "name": name, "start_time": 1_750_000_000_000_000_000 + start * 1_000_000_000,
        "end_time": 1_750_000_000_500_000_000 + start * 1_000_000_000, "attributes": attributes, "status": {"code": "UNSET"}})
}

fn tool(trace: &str, id: &str, name: &str, start: u64) -> Json {
    let attributes =
        json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.result": "x"});
    span(trace, id, &format!("execute_tool {name}"), start, attributes)
}

fn lines(spans: &[Json]) -> String {
    spans.iter().map(|span| format!("{span}\n")).collect()
}

fn otlp(spans: &[Json]) -> Json {
    let camel = |span: &Json| {
        let attributes = span["attributes"].as_object().unwrap().iter();
        let attributes: Vec<Json> =
            attributes.map(|(key, value)| json!({"key": key, "value": {"stringValue": value}})).collect();
        json!({"traceId": span["trace_id"], "spanId": span["span_id"], "name": span["name"],
            "startTimeUnixNano": span["start_time"].to_string(), "endTimeUnixNano": span["end_time"].to_string(), "attributes": attributes})
    };
    let spans: Vec<Json> = spans.iter().map(camel).collect();
    json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "s"}, "spans": spans}]}]})
}

#[test]
fn spans_of_one_run_are_found_wherever_they_stand() {
    let spans = [tool("A", "1", "b", 3), tool("B", "2", "c", 1), tool("A", "3", "a", 2), tool("B", "4", "d", 5)];
    let want = ["t#1 A [a:ok b:ok]", "t#2 B [c:ok d:ok]"];
    let limits = Limits::default();
    let list = Json::from(spans.to_vec());
    let pretty: String = spans.iter().map(|span| format!("{span:#}\n")).collect();
    let by_line: Vec<Json> = spans.iter().map(|span| otlp(std::slice::from_ref(span))).collect();
    let halves = [otlp(&spans[..2]), otlp(&spans[2..])];
    for text in [
        list.to_string(),
        format!("{list:#}"),
        lines(&spans),
        pretty,
        otlp(&spans).to_string(),
        format!("{:#}", otlp(&spans)),
        lines(&by_line),
        lines(&halves),
        Json::from(halves.to_vec()).to_string(),
        json!({"data": spans}).to_string(),
        json!({"session": 1, "spans": spans}).to_string(),
        otlp(&spans)
            .to_string()
            .replace("resourceSpans", "batches")
            .replace("scopeSpans", "instrumentationLibrarySpans"),
    ] {
        assert_eq!(told(&text, &limits), want, "{text}");
    }
}

#[test]
fn places_of_scattered_spans_are_those_of_the_file() {
    let text = lines(&[tool("A", "1", "b", 3), tool("B", "2", "c", 1), tool("A", "3", "a", 2)]);
    for text in [text.clone(), format!("[{}]", text.trim().replace('\n', ",\n"))] {
        let mut places = Vec::new();
        each(&text, &Limits::default(), |run| {
            let run = run.unwrap();
            for call in run.steps.iter().filter(|step| step.kind == StepKind::Call) {
                let at = call.object.get("tool").unwrap().origin.byte_range().unwrap();
                let start = usize::try_from(run.source.offset_in_file(at.start)).unwrap();
                assert!(text[start..].starts_with(&format!("\"{}\"", call.name)), "{}", &text[start..start + 20]);
                let line = run.source.line_column(run.text, at.start).0;
                assert_eq!(line, 1 + text[..start].matches('\n').count());
                places.push((call.name.to_owned(), line));
            }
        });
        assert_eq!(places, [("a".to_owned(), 3), ("b".to_owned(), 1), ("c".to_owned(), 2)]);
    }
}

#[test]
fn a_broken_line_among_spans_is_told_and_the_others_are_read() {
    let text = format!("{}\n{{\"trace_id\": \n{}\n", tool("A", "1", "b", 3), tool("A", "2", "c", 4));
    let told = told(&text, &Limits::default());
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("t:2:") && told[1] == "t#1 A [b:ok c:ok]", "{told:?}");
}

#[test]
fn what_comes_too_late_is_a_run_of_its_own_and_says_so() {
    let limits = Limits { run_bytes: 2_000, ..Limits::default() };
    let mut spans = vec![tool("A", "1", "first", 0)];
    spans.extend((0..20).map(|number| tool(&format!("T{number}"), "2", "other", number)));
    spans.push(tool("A", "3", "late", 99));
    let (mut found, mut warned) = (Vec::new(), Vec::new());
    each(&lines(&spans), &limits, |run| {
        let run = run.unwrap();
        found.push(run.id.unwrap().to_owned());
        warned.extend(
            run.warnings
                .iter()
                .filter(|warning| warning.message.contains("too far behind"))
                .map(|_| run.id.unwrap().to_owned()),
        );
    });
    assert_eq!(found.len(), 22, "{found:?}");
    assert_eq!((found[0].as_str(), found.iter().filter(|id| *id == "A").count()), ("A", 2));
    assert_eq!(warned, ["A"]);
}

fn number(run: &Run<'_>, root: &str, key: &str) -> Option<i64> {
    let Value::Object(object) = run.root_value(root).value else { return None };
    match object.get(key)?.value {
        Value::Number(number) => number.as_i64(),
        _ => None,
    }
}

#[test]
fn usage_is_that_of_the_innermost_requests() {
    for (file, tokens) in [
        ("otel_jaeger/helm.json", 3776),
        ("otel_jaeger/k8s.json", 2203),
        ("otel_flat_spans/adk_live_spans.json", 379),
        ("otel_flat_spans/smolagents_live_spans.json", 6256),
        ("otel_flat_spans/otel_genai_convention_spans.json", 200),
        ("otel_flat_spans/claude_adot_spans.json", 4 + 29447 + 2861),
        ("deepeval_trace/openai_agents_run.json", 1026),
    ] {
        let Some(path) = shared(&format!("traces/{file}")) else { return };
        only(&std::fs::read_to_string(path).unwrap(), |run| {
            assert_eq!(number(run, "usage", "input_tokens"), Some(tokens), "{file}")
        });
    }
}

#[test]
fn a_payload_of_langsmith_is_a_run() {
    let Some(path) = shared("traces/langsmith_runs/langsmith_py_wrap_openai_.json") else { return };
    only(&std::fs::read_to_string(path).unwrap(), |run| {
        assert_eq!((run.format, run.id), ("LangSmith runs", Some("d0d84d31-923d-4cb5-94a8-40a0a0087578")));
        assert!(matches!(run.root_value("prompt").value, Value::Text(text) if text.as_str() == "howdy"));
        assert_eq!(run.steps.iter().filter(|step| step.kind == StepKind::Span).count(), 1);
    });
}

/// A run with a call whose tool, arguments, result, model, tokens and so on have names of a dialect.
#[test]
fn dialects_differ_in_names_alone() {
    for (tool, model) in [
        (
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.id": "c",
                "gen_ai.tool.call.arguments": "{\"n\": 1}", "gen_ai.tool.call.result": "r"}),
            json!({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5, "gen_ai.request.model": "m"}),
        ),
        (
            json!({"openinference.span.kind": "TOOL", "tool.name": "t", "tool_call.id": "c", "input.value": "{\"n\": 1}", "output.value": "r"}),
            json!({"openinference.span.kind": "LLM", "llm.token_count.prompt": 5, "llm.model_name": "m"}),
        ),
        (
            json!({"ai.operationId": "ai.toolCall", "ai.toolCall.name": "t", "ai.toolCall.id": "c", "ai.toolCall.args": "{\"n\": 1}", "ai.toolCall.result": "r"}),
            json!({"ai.operationId": "ai.streamText.doStream", "ai.usage.promptTokens": 5, "ai.model.id": "m"}),
        ),
        (
            json!({"traceloop.span.kind": "tool", "traceloop.entity.name": "t", "tool_call.id": "c",
                "traceloop.entity.input": "{\"inputs\": {\"n\": 1}, \"tags\": []}", "traceloop.entity.output": "{\"output\": \"r\", \"kwargs\": {}}"}),
            json!({"llm.request.type": "chat", "gen_ai.usage.prompt_tokens": 5, "gen_ai.request.model": "m"}),
        ),
        (
            json!({"gen_ai.tool.name": "t", "gen_ai.tool.call.id": "c", "tool_arguments": "{\"n\": 1}", "tool_response": "r"}),
            json!({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "5", "gen_ai.response.model": "m"}),
        ),
        (
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.id": "c",
                "gcp.vertex.agent.tool_call_args": {"n": 1}, "gcp.vertex.agent.tool_response": "r"}),
            json!({"gcp.vertex.agent.llm_request": "{}", "gen_ai.usage.input_tokens": 5, "gen_ai.request.model": "m"}),
        ),
        (
            json!({"openinference": {"span": {"kind": "TOOL"}}, "tool": {"name": "t", "id": "c"}, "input": {"value": "{\"n\": 1}"}, "output": {"value": "r"}}),
            json!({"openinference": {"span": {"kind": "LLM"}}, "llm": {"token_count": {"prompt": 5}, "model_name": "m"}}),
        ),
    ] {
        let text =
            Json::from(vec![span("A", "2", "tool", 2, tool.clone()), span("A", "1", "model", 1, model)]).to_string();
        only(&text, |run| {
            let calls: Vec<_> = run.steps.iter().filter(|step| step.kind == StepKind::Call).collect();
            assert_eq!(calls.len(), 1, "{tool}");
            let json = |key| calls[0].object.get(key).map(|node| json::to_json(&node.value));
            let said = ["tool", "id", "args", "result", "turn"].map(|key| json(key).unwrap_or_default());
            let said = said.each_ref().map(|text| text.replace(' ', ""));
            assert_eq!(said, ["\"t\"", "\"c\"", "{\"n\":1}", "\"r\"", "1"], "{tool}");
            assert_eq!((calls[0].status, number(run, "usage", "input_tokens")), (StepStatus::Ok, Some(5)), "{tool}");
            assert!(
                matches!(run.root_value("meta").value, Value::Object(meta) if json::to_json(&meta.get("model").unwrap().value) == "\"m\"")
            );
        });
    }
}

fn texts(run: &Run<'_>) -> Vec<String> {
    let messages = run.steps.iter().filter(|step| step.kind == StepKind::Message);
    messages
        .map(|message| match message.object.get("text").map(|text| text.value) {
            Some(Value::Text(text)) => format!("{}: {}", message.name, text.as_str()),
            _ => message.name.to_owned(),
        })
        .collect()
}

/// What a model was given and said stands in attributes as lists or as text, in events, or under numbers: it is the same conversation.
#[test]
fn messages_are_found_wherever_dialects_put_them() {
    let model = |attributes: Json, events: Json| {
        let mut one = span("A", "1", "chat", 1, attributes);
        one["attributes"]["gen_ai.operation.name"] = json!("chat");
        one["events"] = events;
        one
    };
    let event = |name: &str, attributes: Json| json!({"name": name, "attributes": attributes});
    let parts = |role: &str, text: &str| json!([{"role": role, "parts": [{"type": "text", "content": text}]}]);
    let call = json!({"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}});
    for one in [
        model(
            json!({"gen_ai.input.messages": parts("user", "hello").to_string(), "gen_ai.output.messages": [{"role": "assistant",
                "parts": [{"type": "text", "content": "hi"}, {"type": "tool_call", "id": "c", "name": "t", "arguments": {}}]}]}),
            json!([]),
        ),
        model(
            json!({}),
            json!([event(
                "gen_ai.client.inference.operation.details",
                json!({"gen_ai.input.messages": parts("user", "hello"),
                "gen_ai.output.messages": [{"role": "assistant", "content": "hi", "tool_calls": [call]}]})
            )]),
        ),
        model(
            json!({}),
            json!([
                event("gen_ai.user.message", json!({"content": "hello"})),
                event("gen_ai.choice", json!({"index": 0, "message": {"content": "hi", "tool_calls": [call]}}))
            ]),
        ),
        model(
            json!({"events": json!([{"event.name": "gen_ai.user.message", "role": "user", "content": "hello"},
                {"event.name": "gen_ai.choice", "message": {"role": "assistant", "content": "hi", "tool_calls": [call]}}]).to_string()}),
            json!([]),
        ),
        model(
            json!({"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "hello", "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.content": "hi", "gen_ai.completion.0.tool_calls.0.id": "c", "gen_ai.completion.0.tool_calls.0.name": "t",
                "gen_ai.completion.0.tool_calls.0.arguments": "{}"}),
            json!([]),
        ),
        model(
            json!({"gcp.vertex.agent.llm_request": json!({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}).to_string(),
                "gcp.vertex.agent.llm_response": json!({"content": {"role": "model", "parts": [{"text": "hi"},
                    {"function_call": {"id": "c", "name": "t", "args": {}}}]}}).to_string()}),
            json!([]),
        ),
        model(
            json!({"ai.prompt.messages": "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}]", "ai.response.text": "hi",
                "ai.response.toolCalls": "[{\"toolCallId\":\"c\",\"toolName\":\"t\",\"args\":\"{}\"}]"}),
            json!([]),
        ),
        model(
            json!({"input.value": json!({"messages": [{"role": "user", "content": "hello"}]}).to_string(),
                "output.value": json!({"choices": [{"message": {"role": "assistant", "content": "hi", "tool_calls": [call]}}]}).to_string()}),
            json!([]),
        ),
    ] {
        only(&Json::from(vec![one.clone()]).to_string(), |run| {
            assert_eq!(texts(run), ["user: hello", "assistant: hi"], "{one:#}");
            let calls: Vec<_> = run.steps.iter().filter(|step| step.kind == StepKind::Call).collect();
            assert_eq!((calls.len(), calls[0].name, calls[0].status), (1, "t", StepStatus::Unknown), "{one:#}");
            assert!(matches!(run.root_value("prompt").value, Value::Text(text) if text.as_str() == "hello"));
            assert!(matches!(run.root_value("output").value, Value::Text(text) if text.as_str() == "hi"));
        });
    }
    // A tool that is told of like a model.
    let mut told =
        span("A", "1", "execute_tool t", 1, json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}));
    told["events"] = json!([
        event("gen_ai.tool.message", json!({"role": "tool", "content": "{\"n\": 1}", "id": "c"})),
        event("gen_ai.choice", json!({"message": "[{\"text\": \"r\"}]", "id": "c"}))
    ]);
    only(&Json::from(vec![told]).to_string(), |run| {
        let call = run.steps.iter().find(|step| step.kind == StepKind::Call).unwrap();
        assert_eq!(json::to_json(&call.object.get("args").unwrap().value).replace(' ', ""), "{\"n\":1}");
        assert_eq!(json::to_json(&call.object.get("result").unwrap().value), "\"r\"");
    });
}

#[test]
fn what_is_only_nearly_spans_is_not_read_as_them() {
    for text in [
        json!({"data": [{"id": 1}]}),
        json!({"spans": [{"name": "a"}]}),
        json!({"batches": [1, 2]}),
        json!([{"trace_id": "a", "name": "b"}]),
        json!({"resourceSpans": []}),
        json!({"resourceLogs": [{"scopeLogs": []}]}),
    ] {
        each(&text.to_string(), &Limits::default(), |run| {
            if let Ok(run) = run {
                assert!(!run.format.contains("pans"), "{text} is read as {}", run.format);
            }
        });
    }
}

#[test]
fn a_span_that_was_sent_again_or_only_begun_counts_once() {
    let mut begun = tool("A", "9", "b", 3);
    begun["attributes"]["logfire.span_type"] = json!("pending_span");
    let spans = vec![tool("A", "1", "b", 3), begun, tool("A", "2", "c", 4), tool("A", "1", "b", 3)];
    only(&Json::from(spans).to_string(), |run| {
        let calls: Vec<_> = run.steps.iter().filter(|step| step.kind == StepKind::Call).map(|call| call.name).collect();
        assert_eq!(calls, ["b", "c"]);
        assert_eq!(run.warnings.iter().filter(|warning| warning.message.contains("more than once")).count(), 1);
    });
}

#[test]
fn spans_without_an_order_or_with_circles_are_read() {
    let mut circle = vec![tool("A", "1", "a", 1), tool("A", "2", "b", 2)];
    circle[0]["parent_span_id"] = json!("2");
    circle[1]["parent_span_id"] = json!("1");
    assert_eq!(told(&Json::from(circle.clone()).to_string(), &Limits::default()), ["t A [a:ok b:ok]"]);
    for span in &mut circle {
        span["start_time"] = json!(12);
    }
    only(&Json::from(circle).to_string(), |run| {
        assert!(run.warnings.iter().any(|warning| warning.message.contains("no point in time")));
        assert!(!run.is_ordered(StepKind::Call, StepKind::Span));
    });
    // Deep nesting costs no more than its length.
    let deep: Vec<Json> = (0..20_000)
        .map(|number| {
            let mut span =
                span("A", &number.to_string(), "agent", number, json!({"gen_ai.operation.name": "invoke_agent"}));
            span["parent_span_id"] = json!((number + 1).to_string());
            span
        })
        .collect();
    only(&Json::from(deep).to_string(), |run| assert_eq!(run.steps.len(), 20_000));
}

/// Files of every format of spans, changed at random: nothing of them stops the reader.
#[test]
fn changed_and_truncated_files_are_read_or_refused() {
    let folder = averment_fixtures::root().join("tests/golden/trace");
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let names = ["spans-", "runs-of-langsmith", "a-trace-of"];
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !names.iter().any(|start| name.starts_with(start)) || name.contains(".snap") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        for _ in 0..120 {
            let mut changed = bytes.clone();
            for _ in 0..=next(3) {
                let (from, to, at) = (next(changed.len()), next(changed.len()), next(changed.len()));
                match next(5) {
                    0 => changed.truncate(at.max(1)),
                    1 => changed[at] = b"{}[],:\"0-n \\"[next(12)],
                    2 => {
                        let part = changed[from.min(to)..from.max(to).min(from.min(to) + 200)].to_vec();
                        changed.splice(at..at, part);
                    }
                    3 => {
                        changed.drain(from.min(to)..from.max(to).min(from.min(to) + 100));
                    }
                    _ => changed[at] = next(256) as u8,
                }
                if changed.is_empty() {
                    changed.push(b'{');
                }
            }
            let limits = Limits::default();
            for raw in TraceRuns::new("t", Cursor::new(changed), &limits).flatten() {
                let arena = Bump::new();
                read += usize::from(parse_run(&raw, &arena, &limits).is_ok());
            }
        }
    }
    assert!(read > 100, "{read}");
}
