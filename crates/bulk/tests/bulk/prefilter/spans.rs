//! Traces of spans in the containers of OTLP.

use super::{Both, PrefilterAnswer, TOOLS, agreed, judge_by, program, program_of_runs, text, value};
use averment_base::limits::Limits;
use averment_runs::run::RunSource;
use averment_traces::projection::{LineReader, ReadSet, RunProjection, ScannedChunk};
use averment_traces::read::{RawRun, TraceRuns};
use averment_traces::scan::{ByteIndex, ScanCursor};
use bumpalo::Bump;
use proptest::prelude::*;

/// Judges a trace both ways; `None` where it is none, or cannot be read in full.
fn check(text: &str) -> Option<Both> {
    if !LineReader::is_trace(text) {
        return None;
    }
    check_run(&RawRun::new(text.to_owned(), RunSource::default()))
}

fn check_run(raw: &RawRun) -> Option<Both> {
    let text = raw.run_text();
    let is_json = serde_json::from_str::<serde_json::Value>(text).is_ok();
    let [all, of_runs] = [program(), program_of_runs()].map(|rules| {
        judge_by((raw, is_json), rules, |reader, chunk, _, projection| reader.read_trace(chunk, projection))
    });
    if let (Some(all), true) = (all, is_json) {
        agreed(all, program(), text);
    }
    if is_json { agreed(of_runs?, program_of_runs(), text) } else { of_runs }
}

fn written(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// A value that says its type.
fn typed() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => text().prop_map(|text| format!(r#"{{"stringValue":{text}}}"#)),
        2 => (0..40_u32).prop_map(|number| format!(r#"{{"intValue":"{number}"}}"#)),
        1 => value().prop_map(|value| format!(r#"{{"doubleValue":{value}}}"#)),
        2 => prop::sample::select(vec![
            r#"{"boolValue":true}"#, r#"{"intValue":7}"#, r#"{"intValue":"seven"}"#, r#"{"stringValue":null}"#, "{}", "null", "\"bare\"",
            r#"{"arrayValue":{"values":[{"stringValue":"a"},{"intValue":"2"}]}}"#, r#"{"arrayValue":{}}"#,
            r#"{"kvlistValue":{"values":[{"key":"amount","value":{"intValue":"12"}}]}}"#, r#"{"stringValue":"a","intValue":"1"}"#,
            r#"{"odd":1}"#,
        ]).prop_map(str::to_owned),
    ]
}

fn attribute(key: &str, value: &str) -> String {
    format!(r#"{{"key":"{key}","value":{value}}}"#)
}

fn said(key: &str, text: &str) -> String {
    attribute(key, &format!(r#"{{"stringValue":{}}}"#, written(text)))
}

fn arguments() -> impl Strategy<Value = String> {
    let of = |text: &str| said("gen_ai.tool.call.arguments", text);
    prop_oneof![
        8 => (0..40_u32, 0..2_u32).prop_map(move |(amount, user)| of(&format!("{{\"amount\": {amount}, \"user\":\"u{user}\"}}"))),
        1 => typed().prop_map(|value| attribute("gen_ai.tool.call.arguments", &value)),
        2 => prop::sample::select(vec![
            "", " ", "{", "{}", "nonsense", " {}", "\n{\"amount\": 3}", "[1]", "null", "\"{\\\"amount\\\": 3}\"", "{\"amount\": 1, \"amount\": 2}",
            "{\"inputs\": {\"amount\": 3}, \"input_str\": \"x\"}", "{\"inputs\": {\"amount\": 3}, \"input\\u005fstr\": \"x\"}", "\u{7b}}",
        ]).prop_map(of),
        1 => Just(attribute("gen_ai.tool.call.arguments", r#"{"stringValue":"\u007b\"amount\": 4}"}"#)),
        1 => Just(said("input.value", "{\"args\": [3], \"kwargs\": {\"user\": \"u\"}}")),
        1 => Just(String::new()),
    ]
}

fn result() -> impl Strategy<Value = String> {
    let of = |text: &str| said("gen_ai.tool.call.result", text);
    prop_oneof![
        5 => typed().prop_map(|value| attribute("gen_ai.tool.call.result", &value)),
        3 => text().prop_map(|text| attribute("gen_ai.tool.call.result", &format!(r#"{{"stringValue":{text}}}"#))),
        3 => prop::sample::select(vec![
            "fine", "{\"code\": 0}", "{\"output\": \"done\"}", "{\"output\": {\"code\": 0}, \"kwargs\": {}}", "{\"error\": \"no\"}", "{\"isError\": true}",
            "{\"tool_call_id\": \"c9\", \"content\": \"told\"}", "{\"is\\u0045rror\": true}", "[{\"output\": 1}]", "{\"code\": ", "\"{\\\"error\\\": 1}\"",
        ]).prop_map(of),
        1 => Just(said("output.value", "{\"output\": \"done\"}")),
        1 => Just(String::new()),
    ]
}

fn messages() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "done",
        "Summary of refund",
        "no",
        "{\"text\": \"a summary\", \"n\": 4, \"list\": []}",
        "",
        "zürich\n\"x\"",
    ]);
    let part = prop_oneof![
        5 => words.prop_map(|words| format!(r#"{{"type":"text","content":{}}}"#, written(words))),
        2 => (prop::sample::select(TOOLS.to_vec()), 0..4_u32, 0..40_u32).prop_map(|(tool, id, amount)| {
            format!(r#"{{"type":"tool_call","id":"c{id}","name":"{tool}","arguments":{{"amount":{amount}}}}}"#)
        }),
        1 => (0..4_u32).prop_map(|id| format!(r#"{{"type":"tool_call_response","id":"c{id}","response":"told"}}"#)),
        1 => Just(r#"{"type":"reasoning","content":"hm"}"#.to_owned()),
    ];
    let message = (
        prop::sample::select(vec!["user", "assistant", "assistant", "tool", "system"]),
        prop::collection::vec(part, 0..3),
    )
        .prop_map(|(role, parts)| format!(r#"{{"role":"{role}","parts":[{}]}}"#, parts.join(",")));
    prop::collection::vec(message, 0..3).prop_map(|messages| format!("[{}]", messages.join(",")))
}

/// The attributes of a span that does something.
fn attributes() -> impl Strategy<Value = (Vec<String>, &'static str)> {
    let operation = |name: &str| said("gen_ai.operation.name", name);
    let id = prop::sample::select(vec!["c0", "c1", "c2", "c3", "c1", ""]);
    prop_oneof![
        8 => (prop::sample::select(TOOLS.to_vec()), id, any::<bool>(), arguments(), result()).prop_map(move |(tool, id, has_id, args, result)| {
            let mut all = vec![operation("execute_tool"), said("gen_ai.tool.name", tool), args, result];
            if has_id {
                all.push(said("gen_ai.tool.call.id", id));
            }
            (all, "execute_tool x")
        }),
        4 => (messages(), messages(), 0..4_u32).prop_map(move |(given, gave, more)| {
            let mut all = vec![operation("chat"), said("gen_ai.input.messages", &given), said("gen_ai.output.messages", &gave)];
            match more {
                0 => all.push(said("gen_ai.system_instructions", "[{\"type\": \"text\", \"content\": \"be kind\"}]")),
                1 => all.push(attribute("gen_ai.usage.input_tokens", r#"{"intValue":"-3"}"#)),
                2 => all.push(said("input.value", "hello")),
                _ => {}
            }
            (all, "chat")
        }),
        2 => prop::sample::select(vec!["helper", "main agent", "helper"]).prop_map(move |name| {
            (vec![operation("invoke_agent"), said("gen_ai.agent.name", name)], "invoke_agent x")
        }),
        1 => Just((vec![operation("invoke_agent"), said("output.value", "{\"text\": \"a summary done\", \"n\": 12}")], "invoke_agent x")),
        1 => Just((vec![said("http.url", "https://x.y"), said("http.method", "GET")], "GET")),
        1 => Just((vec![said("to_agent", "helper"), said("from_agent", "main agent"), operation("x")], "handoff to helper")),
        1 => Just((vec![said("traceloop.span.kind", "tool"), said("traceloop.entity.name", "refund"), said("traceloop.entity.input", "{\"amount\": 5}")], "refund.tool")),
        1 => Just((vec![said("openinference.span.kind", "TOOL"), said("tool.name", "refund"), said("llm.tools.0.tool.json_schema", "{}")], "refund")),
        1 => Just((vec![said("openinference.span.kind", "LLM"), said("llm.output_messages.0.message.role", "assistant"),
            said("llm.output_messages.0.message.content", "done"), said("llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "refund")], "llm")),
        1 => (typed()).prop_map(move |value| (vec![operation("chat"), attribute("gen_ai.completion", &value)], "chat")),
    ]
}

fn time(nanoseconds: u64) -> String {
    format!("\"{}\"", 1_700_000_000_000_000_000 + nanoseconds * 1_000_000)
}

/// A span: its attributes and its name, when it starts and how long it takes, its parent and its id by number, and what else stands in it.
type Drawn = (Vec<String>, &'static str, u64, u64, u32, u32, String);

/// A span; its number makes most ids different.
fn span() -> impl Strategy<Value = Drawn> {
    let odd = prop_oneof![
        12 => Just(String::new()),
        6 => prop::sample::select(vec![
            r#","status":{}"#, r#","status":{"code":2,"message":"broke"}"#, r#","status":{"code":"STATUS_CODE_ERROR"}"#, r#","status":{"code":1}"#,
            r#","events":[]"#, r#","links":[],"flags":256,"droppedAttributesCount":0"#, r#","kind":3"#, r#","kind":"SPAN_KIND_CLIENT""#,
            r#","events":[{"name":"exception","attributes":[{"key":"exception.message","value":{"stringValue":"no"}}]}]"#,
            r#","events":[{"name":"gen_ai.choice","attributes":[{"key":"message","value":{"stringValue":"{\"content\":\"done\"}"}}]}]"#,
            r#","x":1"#, r#","attributes.gen_ai.tool.name":"refund""#, r#","name":null"#, r#","spanId":"s1""#, r#","startTime":"2024-01-01T00:00:00Z""#,
            r#","traceId":"other""#, r#","parentSpanId":"""#, r#","status":[1}"#,
        ]).prop_map(str::to_owned),
    ];
    (attributes(), 0..2000_u64, 0..500_u64, 0..6_u32, 0..20_u32, odd)
        .prop_map(|((all, name), start, took, parent, id, odd)| (all, name, start, took, parent, id, odd))
}

fn spans() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(span(), 0..7).prop_map(|spans| {
        let text = |(number, (all, name, start, took, parent, id, odd)): (usize, Drawn)| {
            let id = if id == 0 { 0 } else { number };
            let parent = if (parent as usize) < number { format!(r#","parentSpanId":"s{parent}""#) } else { String::new() };
            let all: Vec<String> = all.into_iter().filter(|one| !one.is_empty()).collect();
            format!(
                r#"{{"traceId":"t","spanId":"s{id}"{parent},"name":"{name}","startTimeUnixNano":{},"endTimeUnixNano":{},"attributes":[{}]{odd}}}"#,
                time(start), time(start + took), all.join(","),
            )
        };
        spans.into_iter().enumerate().map(text).collect()
    })
}

fn trace() -> impl Strategy<Value = String> {
    let about = prop::sample::select(vec![
        r#""resource":{"attributes":[]},"#,
        "",
        "",
        r#""schemaUrl":"x","#,
        r#""scopeSpans":[],"#,
        r#""scopeSpans":7,"#,
    ]);
    let container = || {
        (
            about.clone(),
            spans(),
            prop::sample::select(vec!["", "", "", "", ",\"other\":1", ",\"resourceSpans\":[]", ",\"trace\":{}"]),
        )
            .prop_map(|(about, spans, behind)| {
                let scope = format!(r#"{{"scope":{{"name":"x"}},"spans":[{}]}}"#, spans.join(","));
                format!(r#"{{"resourceSpans":[{{{about}"scopeSpans":[{scope}]}}]{behind}}}"#)
            })
    };
    prop_oneof![
        5 => container(),
        2 => prop::collection::vec(container(), 1..3).prop_map(|all| format!("[{}]", all.join(",\n"))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn traces_are_judged_as_the_evaluation_does(trace in trace()) {
        check(&trace);
    }

    #[test]
    fn broken_traces_are_never_judged_otherwise(trace in trace(), at in any::<prop::sample::Index>(), with in prop::sample::select(vec![
        "", "\"", "\\", "{", "}", "[", "]", ",", ":", " ", "0", "null", "\u{1}",
    ])) {
        let mut place = at.index(trace.len());
        while !trace.is_char_boundary(place) { place -= 1; }
        let next = trace[place..].chars().next().map_or(place, |character| place + character.len_utf8());
        check(&format!("{}{with}{}", &trace[..place], &trace[next..]));
    }
}

/// A trace of an agent that authenticates, refunds and answers.
fn example() -> String {
    let span = |id: &str, name: &str, at: u64, attributes: &[String]| {
        let parent = if id == "s0" { "" } else { r#","parentSpanId":"s0""# };
        format!(
            r#"{{"traceId":"t","spanId":"{id}"{parent},"name":"{name}","kind":1,"startTimeUnixNano":{},"endTimeUnixNano":{},"attributes":[{}],"status":{{}}}}"#,
            time(at),
            time(at + 10),
            attributes.join(","),
        )
    };
    let tool = |name: &str, id: &str, args: &str, result: &str| {
        ["execute_tool", name, id, args, result]
            .into_iter()
            .zip([
                "gen_ai.operation.name",
                "gen_ai.tool.name",
                "gen_ai.tool.call.id",
                "gen_ai.tool.call.arguments",
                "gen_ai.tool.call.result",
            ])
            .map(|(text, key)| said(key, text))
            .collect::<Vec<_>>()
    };
    let spans = [
        span(
            "s0",
            "invoke_agent support",
            0,
            &[said("gen_ai.operation.name", "invoke_agent"), said("gen_ai.agent.name", "support")],
        ),
        span("s1", "execute_tool authenticate", 20, &tool("authenticate", "a", "{\"user\":\"u\"}", "fine")),
        span("s2", "execute_tool refund", 40, &tool("refund", "b", "{\"amount\":15}", "paid")),
        span(
            "s3",
            "chat",
            60,
            &[
                said("gen_ai.operation.name", "chat"),
                said(
                    "gen_ai.output.messages",
                    "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"all done\"}]}]",
                ),
            ],
        ),
    ];
    format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","))
}

#[test]
fn traces_are_read_from_their_bytes_and_decided() {
    let read = |text: &str| check(text).expect("a trace").fast;
    let example = example();
    let fast = read(&example).expect("read from its bytes");
    for (rule, answer) in [
        ("each refund: args.amount is number and args.amount <= 30", PrefilterAnswer::Pass),
        ("output contains \"done\"", PrefilterAnswer::Pass),
        ("if refund then authenticate", PrefilterAnswer::Pass),
        ("no risky in calls[*].result", PrefilterAnswer::Pass),
        ("fast", PrefilterAnswer::Pass),
    ] {
        let number = program_of_runs().0.assertions.iter().position(|one| one.text == rule).expect(rule);
        assert_eq!(fast[number], answer, "{rule}");
    }
    // What gives a warning, or needs more than a projection, is for the full reader.
    for (from, to) in [
        ("\"kind\":1", "\"odd\":1"),
        ("\"kind\":1", "\"attributes.x\":1"),
        ("\"traceId\":\"t\",\"spanId\":\"s2\"", "\"traceId\":\"u\",\"spanId\":\"s2\""),
        ("\"spanId\":\"s2\"", "\"spanId\":\"s1\""),
        ("\"spanId\":\"s2\"", "\"spanId\":\"s2\",\"spanId\":\"s3\""),
        ("{\\\"amount\\\":15}", "fifteen"),
        ("1700000000030000000", "170000000003000000"),
        ("1700000000020000000", "1700000000920000000"),
        ("\"resourceSpans\":[", "\"data\":1,\"resourceSpans\":["),
    ] {
        assert!(example.contains(from) && example != example.replacen(from, to, 1), "{from}");
        assert!(check(&example.replacen(from, to, 1)).is_none_or(|both| both.fast.is_none()), "{to}");
    }
}

#[test]
fn traces_of_the_field_are_judged_alike() {
    let Some(folder) = averment_fixtures::shared("traces") else { return };
    let mut open = vec![folder];
    let mut judged = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if let Ok(bytes) = std::fs::read(&path) {
            let runs = TraceRuns::new("trace", std::io::Cursor::new(bytes), &Limits::default());
            for raw in runs.flatten().filter(RawRun::may_be_trace) {
                judged += usize::from(check_run(&raw).is_some());
            }
        }
    }
    assert!(judged > 0);
}

#[test]
fn under_names_of_somebodys_own_nothing_is_a_trace_by_its_first_key() {
    let names = averment_traces::names::PartNames::of_file("calls = \"resourceSpans\"\ntool = \"resource\"")
        .expect("good names");
    let (read_set, limits, arena) = (ReadSet::default(), Limits::default(), Bump::new());
    let mut reader = LineReader::new(&read_set, &names).expect("plain names");
    let text = example();
    let mut index = ByteIndex::default();
    index.build_index(text.as_bytes()).unwrap();
    let cursor = ScanCursor::new(text.as_bytes(), &index, limits.json_depth);
    let chunk = ScannedChunk { text: &text, cursor, arena: &arena, limits: &limits };
    assert!(reader.read_trace(chunk, &mut RunProjection::default()).is_none());
}
