//! Spans in the containers of other systems: Zipkin's lists, answers of Jaeger's API.

use averment_base::limits::Limits;
use averment_base::value::json::to_json;
use averment_runs::run::StepKind;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::{Value, json};
use std::io::Cursor;

/// Each run of a text: its id, its calls, its output and its duration, and the first warning.
fn runs(text: &str) -> Vec<(String, Vec<String>, String, String)> {
    let limits = Limits::default();
    let read = |raw: Result<_, _>| {
        let arena = Bump::new();
        let raw = raw.unwrap();
        let run = parse_run(&raw, &arena, &limits).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(run.format.ends_with("spans"), "{}", run.format);
        let field = |step: &averment_runs::run::Step<'_>, key| {
            step.object.get(key).map_or("-".to_owned(), |node| to_json(&node.value))
        };
        let calls = run.steps.iter().filter(|step| step.kind == StepKind::Call).map(|step| {
            format!(
                "{} {} {} {:?} {}",
                step.name,
                field(step, "args"),
                field(step, "result"),
                step.status,
                field(step, "error")
            )
        });
        let root = |key| run.object.get(key).map_or("-".to_owned(), |node| to_json(&node.value));
        let about = format!("{} {} {}", root("output"), root("duration"), root("usage"));
        let warning = run.warnings.first().map_or(String::new(), |warning| warning.message.clone());
        (run.id.unwrap_or_default().to_owned(), calls.collect(), about, warning)
    };
    TraceRuns::new("t", Cursor::new(text.as_bytes().to_vec()), &limits).map(read).collect()
}

/// A span of Zipkin, begun so many milliseconds after the first.
fn zipkin(trace: &str, [id, parent]: [&str; 2], [start, length]: [u64; 2], name: &str, tags: Value) -> Value {
    json!({"traceId": trace, "parentId": (!parent.is_empty()).then_some(parent), "id": id, "name": name, "kind": "CLIENT",
        "timestamp": 1_750_000_000_000_000_u64 + start * 1000, "duration": length * 1000,
        "localEndpoint": {"serviceName": "agent"}, "tags": tags})
}

fn agent(trace: &str) -> [Value; 4] {
    let ids = ["a", "b", "c", "d"];
    let said = json!([{"role": "assistant", "parts": [{"type": "text", "content": "Sunny."}]}]).to_string();
    [
        zipkin(
            trace,
            [ids[0], ""],
            [0, 900],
            "invoke_agent main",
            json!({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "main", "otel.status_code": "OK"}),
        ),
        zipkin(
            trace,
            [ids[1], ids[0]],
            [10, 100],
            "execute_tool weather",
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather",
            "gen_ai.tool.call.arguments": "{\"city\": \"Rome\"}", "gen_ai.tool.call.result": "21", "otel.status_code": "OK"}),
        ),
        zipkin(
            trace,
            [ids[2], ids[0]],
            [200, 50],
            "execute_tool rain",
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "rain",
            "gen_ai.tool.call.arguments": "{}", "otel.status_code": "ERROR", "error": "no radar"}),
        ),
        zipkin(
            trace,
            [ids[3], ids[0]],
            [300, 500],
            "chat m",
            json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
            "gen_ai.usage.input_tokens": "12", "gen_ai.usage.output_tokens": "3", "gen_ai.output.messages": said}),
        ),
    ]
}

fn expected(trace: &str) -> (String, Vec<String>, String, String) {
    let calls = [r#"weather {"city":"Rome"} "21" Ok -"#, r#"rain {} - Failed "no radar""#].map(str::to_owned);
    let about = r#""Sunny." 900 {"input_tokens":12,"output_tokens":3,"total_tokens":15}"#.to_owned();
    (trace.to_owned(), calls.to_vec(), about, String::new())
}

#[test]
fn spans_of_zipkin_are_read_in_each_form_of_its_files() {
    let (one, two) = (agent("1"), agent("2"));
    let mixed: Vec<&Value> = two.iter().rev().zip(&one).flat_map(|(two, one)| [one, two]).collect();
    let lines: String = mixed.iter().map(|span| format!("{span}\n")).collect();
    assert_eq!(runs(&json!(one).to_string()), [expected("1")]);
    for text in [json!(mixed).to_string(), json!([one, two]).to_string(), lines] {
        assert_eq!(runs(&text), [expected("1"), expected("2")], "{text}");
    }
}

#[test]
fn tags_of_zipkin_are_those_of_every_dialect() {
    let open_inference = json!([
        zipkin("1", ["a", ""], [0, 9], "run", json!({"openinference.span.kind": "AGENT", "output.value": "Done."})),
        zipkin(
            "1",
            ["b", "a"],
            [1, 2],
            "look",
            json!({"openinference.span.kind": "TOOL", "tool.name": "look", "input.value": "{\"n\": 1}", "output.value": "x"})
        ),
    ]);
    let traceloop = json!([
        zipkin(
            "1",
            ["a", ""],
            [0, 9],
            "run.workflow",
            json!({"traceloop.span.kind": "workflow", "traceloop.entity.output": "Done."})
        ),
        zipkin(
            "1",
            ["b", "a"],
            [1, 2],
            "look.tool",
            json!({"traceloop.span.kind": "tool", "traceloop.entity.name": "look",
            "traceloop.entity.input": "{\"n\": 1}", "traceloop.entity.output": "x"})
        ),
    ]);
    for text in [open_inference, traceloop] {
        let found = runs(&text.to_string());
        assert_eq!(found[0].1, [r#"look {"n":1} "x" Ok -"#], "{text}");
        assert!(found[0].2.starts_with("\"Done.\""), "{found:?}");
    }
    let mut asked =
        zipkin("1", ["a", ""], [0, 9], "chat m", json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}));
    asked["annotations"] = json!([{"timestamp": 1, "value": "retry"},
        {"timestamp": 2, "value": "\"gen_ai.choice\":{\"message\": \"{\\\"role\\\": \\\"assistant\\\", \\\"content\\\": \\\"Done.\\\"}\"}"}]);
    assert!(runs(&json!([asked]).to_string())[0].2.starts_with("\"Done.\""));
}

#[test]
fn spans_of_zipkin_without_an_agent_are_told_to_be_of_something_else() {
    let text =
        json!([zipkin("1", ["a", ""], [0, 9], "get /", json!({"http.method": "GET", "http.path": "/"}))]).to_string();
    let found = runs(&text);
    assert!(found[0].3.contains("this is a trace of something else"), "{found:?}");
}

#[test]
fn answers_of_jaegers_api_are_read_as_otlp() {
    let text = |text: &str| json!({"stringValue": text});
    let span = |trace: &str, id: &str, start: u64, tool: &str| {
        json!({"traceId": trace, "spanId": id, "name": "execute_tool", "startTimeUnixNano": (1_750_000_000_000_000_000 + start * 1_000_000).to_string(),
            "endTimeUnixNano": (1_750_000_000_000_000_000 + (start + 2) * 1_000_000).to_string(), "attributes": [
            {"key": "gen_ai.operation.name", "value": text("execute_tool")}, {"key": "gen_ai.tool.name", "value": text(tool)},
            {"key": "gen_ai.tool.call.arguments", "value": text("{}")}, {"key": "gen_ai.tool.call.result", "value": text("x")}]})
    };
    let answer = |spans: Value| json!({"result": {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}});
    let whole = answer(json!([span("1", "a", 0, "look"), span("1", "b", 5, "take")]));
    let calls = |found: Vec<(String, Vec<String>, String, String)>| {
        found.into_iter().map(|(id, calls, ..)| (id, calls)).collect::<Vec<_>>()
    };
    let run = |trace: &str, tools: &[&str]| {
        (trace.to_owned(), tools.iter().map(|tool| format!("{tool} {{}} \"x\" Ok -")).collect::<Vec<_>>())
    };
    for text in [whole.to_string(), format!("{whole:#}")] {
        assert_eq!(calls(runs(&text)), [run("1", &["look", "take"])], "{text}");
    }
    let parts = [
        answer(json!([span("1", "a", 0, "look"), span("2", "c", 1, "go")])),
        answer(json!([span("2", "d", 9, "stop")])),
        answer(json!([span("1", "b", 5, "take")])),
    ];
    for text in [
        parts.iter().map(|part| format!("{part}\n")).collect::<String>(),
        parts.iter().map(|part| format!("{part:#}\n")).collect(),
    ] {
        assert_eq!(calls(runs(&text)), [run("1", &["look", "take"]), run("2", &["go", "stop"])], "{text}");
    }
}

#[test]
fn batches_of_spans_on_lines_are_gathered_by_their_traces() {
    let span = |trace: &str, id: &str, second: u64, tool: &str| {
        json!({"traceId": trace, "spanId": id, "name": "execute_tool", "startTime": format!("2026-01-01T00:00:0{second}Z"),
            "endTime": format!("2026-01-01T00:00:0{second}Z"), "attributes": {"gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool, "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "x"}})
    };
    let batches = [json!([span("1", "b", 2, "take"), span("2", "c", 1, "go")]), json!([span("1", "a", 0, "look")])];
    let text: String = batches.iter().map(|batch| format!("{batch}\n")).collect();
    let tools = |calls: &[String]| calls.iter().filter_map(|call| call.split(' ').next().map(str::to_owned)).collect();
    let found: Vec<(String, Vec<String>)> =
        runs(&text).into_iter().map(|(id, calls, ..)| (id, tools(&calls))).collect();
    let run = |trace: &str, tools: &[&str]| (trace.to_owned(), tools.iter().map(|tool| (*tool).to_owned()).collect());
    assert_eq!(found, [run("1", &["look", "take"]), run("2", &["go"])]);
}
