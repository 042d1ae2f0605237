//! One run in every format that can hold it: rules give the same verdicts, unless the format lacks the information.

use crate::folder::Folder;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The run: four calls in three turns, a question and an answer.
const PROMPT: &str = "Please refund order o-17";
const ANSWER: &str = "Order o-17 is refunded: 40 EUR.";
/// Turn, id, tool, arguments, result.
fn calls() -> Vec<(usize, &'static str, &'static str, Value, &'static str)> {
    vec![
        (1, "c1", "get_order", json!({"id": "o-17"}), "status open, total 40"),
        (2, "c2", "check_policy", json!({"order": "o-17"}), "allowed"),
        (2, "c3", "get_customer", json!({"id": "k-3", "fields": ["name", "mail"]}), "Kim Li"),
        (3, "c4", "refund", json!({"order": "o-17", "amount": 40, "reason": "late"}), "refunded 40 EUR"),
    ]
}

/// Rules about calls, their order, arguments and results, and about messages.
const RULES: [&str; 50] = [
    "require get_order",
    "require refund 1 times",
    "never delete_order",
    "never refund(amount > 100)",
    "never refund(amount > 30)",
    "only get_order, check_policy, get_customer, refund",
    "only get_order, refund",
    "first get_order",
    "last refund",
    "first refund",
    "before get_order(id: $o) -> refund(order: $o)",
    "before get_customer(id: $o) -> refund(order: $o)",
    "before check_policy -> refund",
    "before refund -> check_policy",
    "starts before check_policy -> get_customer",
    "immediately before get_customer -> refund",
    "after get_order -> refund",
    "after refund -> get_order",
    "sequence get_order -> check_policy -> refund",
    "sequence exactly get_order -> check_policy -> get_customer -> refund",
    "sequence only get_order -> refund",
    "never refund after refund",
    "never get_customer before get_order",
    "together check_policy, get_customer",
    "apart get_order, refund",
    "if check_policy then refund",
    "if refund then get_order",
    "get_order iff refund",
    "not both get_order, delete_order",
    "not both get_order, refund",
    "never repeat any more than 1 times",
    "each refund: args.amount <= 50",
    "each refund: args.reason is not empty",
    "each get_customer: \"mail\" in args.fields",
    "some any: result contains \"EUR\"",
    "no any: result contains \"password\"",
    "each any: result is not empty",
    "count any == 4",
    "count any <= 3",
    "count get_order(id: $o) <= 1",
    "calls[0].args.id == \"o-17\"",
    "calls[-1].tool == \"refund\"",
    "length(calls) == 4",
    "output contains \"o-17\"",
    "output contains \"secret\"",
    "output matches /[0-9]+ EUR/",
    "prompt contains \"refund\"",
    "require refund ok",
    "never any failed",
    "turns <= 4",
];

/// Rules about text results. ADK wraps each result into an object.
const OF_TEXTS: [&str; 2] = ["some any: result contains \"EUR\"", "no any: result contains \"password\""];

fn text_args(args: &Value) -> String {
    args.to_string()
}

fn chat() -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": PROMPT})];
    for turn in 1..=3 {
        let of_turn: Vec<_> = calls().into_iter().filter(|call| call.0 == turn).collect();
        let asked = of_turn.iter().map(|(_, id, tool, args, _)| {
            json!({"id": id, "type": "function", "function": {"name": tool, "arguments": text_args(args)}})
        });
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": asked.collect::<Vec<_>>()}));
        messages.extend(
            of_turn.iter().map(|(_, id, _, _, result)| json!({"role": "tool", "tool_call_id": id, "content": result})),
        );
    }
    messages.push(json!({"role": "assistant", "content": ANSWER}));
    messages
}

fn blocks() -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": PROMPT})];
    for turn in 1..=3 {
        let of_turn: Vec<_> = calls().into_iter().filter(|call| call.0 == turn).collect();
        let asked = of_turn
            .iter()
            .map(|(_, id, tool, args, _)| json!({"type": "tool_use", "id": id, "name": tool, "input": args}));
        messages.push(json!({"role": "assistant", "content": asked.collect::<Vec<_>>()}));
        let answered = of_turn
            .iter()
            .map(|(_, id, _, _, result)| json!({"type": "tool_result", "tool_use_id": id, "content": result}));
        messages.push(json!({"role": "user", "content": answered.collect::<Vec<_>>()}));
    }
    messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": ANSWER}]}));
    messages
}

fn time(second: usize) -> String {
    format!("2026-03-01T10:00:{second:02}Z")
}

fn nanoseconds(second: usize) -> String {
    format!("{}", 1_772_359_200_000_000_000_u64 + second as u64 * 1_000_000_000)
}

fn lines(values: impl IntoIterator<Item = Value>) -> String {
    values.into_iter().map(|value| format!("{value}\n")).collect()
}

fn claude_code() -> String {
    let line = |(number, message): (usize, Value)| {
        let kind = message["role"].clone();
        json!({"type": kind, "sessionId": "s", "uuid": format!("u{number}"), "timestamp": time(number), "message": message})
    };
    let with_id = |(number, mut message): (usize, Value)| {
        if message["role"] == "assistant" {
            message["id"] = json!(format!("m{number}"));
        }
        (number, message)
    };
    lines(blocks().into_iter().enumerate().map(with_id).map(line))
}

fn responses() -> Value {
    let mut items = vec![json!({"role": "user", "content": PROMPT})];
    let mut exchanges = Vec::new();
    let answered = |output: Vec<Value>, number: usize| json!({"id": format!("resp_{number}"), "object": "response", "status": "completed", "error": null, "model": "m", "output": output});
    for turn in 1..=3 {
        let of_turn: Vec<_> = calls().into_iter().filter(|call| call.0 == turn).collect();
        let asked: Vec<_> = of_turn
            .iter()
            .map(|(_, id, tool, args, _)| {
                json!({"type": "function_call", "id": format!("f{id}"), "call_id": id, "name": tool, "arguments": text_args(args), "status": "completed"})
            })
            .collect();
        exchanges.push(
            json!({"request": {"model": "m", "input": items.clone()}, "response": answered(asked.clone(), turn)}),
        );
        items.extend(asked);
        items.extend(
            of_turn
                .iter()
                .map(|(_, id, _, _, result)| json!({"type": "function_call_output", "call_id": id, "output": result})),
        );
    }
    let message = json!({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": ANSWER, "annotations": []}]});
    exchanges.push(json!({"request": {"model": "m", "input": items}, "response": answered(vec![message], 4)}));
    Value::from(exchanges)
}

fn codex() -> String {
    let mut all = vec![
        json!({"timestamp": time(0), "type": "session_meta", "payload": {"id": "s", "cwd": "/w", "cli_version": "1"}}),
    ];
    let item =
        |second: usize, payload: Value| json!({"timestamp": time(second), "type": "response_item", "payload": payload});
    all.push(item(1, json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROMPT}]})));
    for turn in 1..=3 {
        let of_turn: Vec<_> = calls().into_iter().filter(|call| call.0 == turn).collect();
        all.extend(of_turn.iter().map(|(_, id, tool, args, _)| {
            item(turn * 3, json!({"type": "function_call", "name": tool, "arguments": text_args(args), "call_id": id}))
        }));
        all.extend(of_turn.iter().map(|(_, id, _, _, result)| {
            item(turn * 3 + 1, json!({"type": "function_call_output", "call_id": id, "output": result}))
        }));
    }
    all.push(item(
        20,
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}),
    ));
    lines(all)
}

fn langchain() -> Value {
    let mut messages = vec![json!({"type": "human", "content": PROMPT})];
    for turn in 1..=3 {
        let of_turn: Vec<_> = calls().into_iter().filter(|call| call.0 == turn).collect();
        let asked = of_turn
            .iter()
            .map(|(_, id, tool, args, _)| json!({"name": tool, "args": args, "id": id, "type": "tool_call"}));
        messages.push(
            json!({"type": "ai", "id": format!("a{turn}"), "content": "", "tool_calls": asked.collect::<Vec<_>>()}),
        );
        messages.extend(of_turn.iter().map(
            |(_, id, tool, _, result)| json!({"type": "tool", "name": tool, "tool_call_id": id, "content": result}),
        ));
    }
    messages.push(json!({"type": "ai", "id": "a4", "content": ANSWER, "tool_calls": []}));
    json!({"messages": messages})
}

fn adk() -> Value {
    let event = |second: usize, author: &str, role: &str, parts: Vec<Value>| json!({"id": format!("e{second}"), "invocation_id": "i", "author": author, "timestamp": 1_770_000_000.0 + second as f64, "content": {"role": role, "parts": parts}});
    let mut events = vec![event(0, "user", "user", vec![json!({"text": PROMPT})])];
    for turn in 1..=3 {
        let of_turn: Vec<_> = calls().into_iter().filter(|call| call.0 == turn).collect();
        let asked = of_turn
            .iter()
            .map(|(_, id, tool, args, _)| json!({"function_call": {"id": id, "name": tool, "args": args}}));
        events.push(event(turn * 2, "shop", "model", asked.collect()));
        let answered = of_turn.iter().map(|(_, id, tool, _, result)| json!({"function_response": {"id": id, "name": tool, "response": {"result": result}}}));
        events.push(event(turn * 2 + 1, "shop", "user", answered.collect()));
    }
    events.push(event(9, "shop", "model", vec![json!({"text": ANSWER})]));
    json!({"id": "s", "app_name": "shop", "user_id": "u", "state": {}, "events": events})
}

fn atif() -> Value {
    let mut steps = vec![json!({"step_id": 1, "timestamp": time(1), "source": "user", "message": PROMPT})];
    for turn in 1..=3 {
        let of_turn: Vec<_> = calls().into_iter().filter(|call| call.0 == turn).collect();
        let asked = of_turn
            .iter()
            .map(|(_, id, tool, args, _)| json!({"tool_call_id": id, "function_name": tool, "arguments": args}));
        let seen = of_turn.iter().map(|(_, id, _, _, result)| json!({"source_call_id": id, "content": result}));
        steps.push(json!({"step_id": turn + 1, "timestamp": time(turn + 1), "source": "agent", "message": "",
            "tool_calls": asked.collect::<Vec<_>>(), "observation": {"results": seen.collect::<Vec<_>>()}}));
    }
    steps.push(json!({"step_id": 5, "timestamp": time(5), "source": "agent", "message": ANSWER}));
    json!({"schema_version": "ATIF-v1.5", "session_id": "s", "agent": {"name": "a", "version": "1", "model_name": "m"}, "steps": steps})
}

/// A span of OTLP with plain attributes.
fn span(
    id: &str,
    parent: Option<&str>,
    name: &str,
    (start, end): (usize, usize),
    attributes: &[(&str, String)],
) -> Value {
    let attributes: Vec<_> =
        attributes.iter().map(|(key, value)| json!({"key": key, "value": {"stringValue": value}})).collect();
    json!({"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": id, "parentSpanId": parent.unwrap_or(""), "name": name,
        "startTimeUnixNano": nanoseconds(start), "endTimeUnixNano": nanoseconds(end), "attributes": attributes, "status": {"code": 1}})
}

fn otlp(
    of_agent: &[(&str, String)],
    of_call: impl Fn(&str, &str, &Value, &str) -> Vec<(&'static str, String)>,
) -> Value {
    let mut spans = vec![span("00000000000000a1", None, "invoke_agent shop", (0, 40), of_agent)];
    for (number, (turn, id, tool, args, result)) in calls().into_iter().enumerate() {
        let start = turn * 8 + if number == 2 { 1 } else { 0 };
        let id_of_span = format!("00000000000000b{number}");
        let attributes = of_call(id, tool, &args, result);
        spans.push(span(
            &id_of_span,
            Some("00000000000000a1"),
            &format!("execute_tool {tool}"),
            (start, start + 3),
            &attributes,
        ));
    }
    json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "s"}, "spans": spans}]}]})
}

fn gen_ai() -> Value {
    let said =
        |role: &str, text: &str| json!([{"role": role, "parts": [{"type": "text", "content": text}]}]).to_string();
    let of_agent = [
        ("gen_ai.operation.name", "invoke_agent".to_owned()),
        ("gen_ai.agent.name", "shop".to_owned()),
        ("gen_ai.input.messages", said("user", PROMPT)),
        ("gen_ai.output.messages", said("assistant", ANSWER)),
    ];
    otlp(&of_agent, |id, tool, args, result| {
        vec![
            ("gen_ai.operation.name", "execute_tool".to_owned()),
            ("gen_ai.tool.name", tool.to_owned()),
            ("gen_ai.tool.call.id", id.to_owned()),
            ("gen_ai.tool.call.arguments", text_args(args)),
            ("gen_ai.tool.call.result", result.to_owned()),
        ]
    })
}

fn openinference() -> Value {
    let of_agent = [
        ("openinference.span.kind", "AGENT".to_owned()),
        ("input.value", PROMPT.to_owned()),
        ("output.value", ANSWER.to_owned()),
    ];
    otlp(&of_agent, |_, tool, args, result| {
        vec![
            ("openinference.span.kind", "TOOL".to_owned()),
            ("tool.name", tool.to_owned()),
            ("input.value", text_args(args)),
            ("output.value", result.to_owned()),
        ]
    })
}

fn home_grown() -> Value {
    let calls = calls().into_iter().map(
        |(turn, id, tool, args, result)| json!({"id": id, "name": tool, "args": args, "result": result, "turn": turn}),
    );
    json!({"tool_calls": calls.collect::<Vec<_>>(), "input": PROMPT, "output": ANSWER})
}

fn native() -> Value {
    let calls = calls().into_iter().map(
        |(turn, id, tool, args, result)| json!({"id": id, "tool": tool, "args": args, "result": result, "turn": turn}),
    );
    json!({"calls": calls.collect::<Vec<_>>(), "prompt": PROMPT, "output": ANSWER, "turns": 4})
}

/// Returns the run in every format, with the maximum number of rules that less detailed formats may leave undecided.
fn formats() -> BTreeMap<&'static str, (String, &'static str, usize)> {
    BTreeMap::from([
        ("chat.json", (json!({"messages": chat()}).to_string(), "chat messages", 2)),
        ("chat.jsonl", (lines(chat()), "chat messages", 2)),
        ("blocks.json", (json!({"messages": blocks()}).to_string(), "chat messages", 0)),
        ("claude.jsonl", (claude_code(), "Claude Code session", 0)),
        ("responses.json", (responses().to_string(), "", 2)),
        ("codex.jsonl", (codex(), "", 2)),
        ("langchain.json", (langchain().to_string(), "", 2)),
        ("adk.json", (adk().to_string(), "", 4)),
        ("atif.json", (atif().to_string(), "", 4)),
        ("otlp.json", (gen_ai().to_string(), "", 4)),
        ("otlp.jsonl", (lines([gen_ai()]), "", 4)),
        ("openinference.json", (openinference().to_string(), "", 4)),
        ("home.json", (home_grown().to_string(), "tool calls of one's own making", 2)),
    ])
}

#[test]
fn the_same_run_in_every_format_has_the_same_verdicts() {
    let rules: String = RULES.iter().map(|rule| format!("{rule}\n")).collect();
    let folder = Folder::new(&[("rules.assert", &rules), ("native.json", &native().to_string())]);
    let verdicts = |trace: &str| -> Vec<String> {
        let ran = folder.aver(&format!("check rules.assert {trace} --format json"));
        let report = ran.json();
        let runs = report["runs"].as_array().unwrap_or_else(|| panic!("{trace}: {ran:?}"));
        assert_eq!(runs.len(), 1, "{trace}: {ran:?}");
        runs[0]["results"].as_array().unwrap().iter().map(|one| one["verdict"].as_str().unwrap().to_owned()).collect()
    };
    let wanted = verdicts("native.json");
    assert!(
        wanted.iter().any(|verdict| verdict == "fail")
            && wanted.iter().all(|verdict| verdict != "undecided" && verdict != "error")
    );
    let mut wrong = Vec::new();
    for (name, (text, format, open)) in formats() {
        folder.write(name, text.as_bytes());
        assert!(folder.aver(&format!("trace show {name}")).out.contains(format), "{name}");
        let found = verdicts(name);
        let undecided = found.iter().filter(|verdict| *verdict == "undecided").count();
        for ((rule, wanted), found) in RULES.iter().zip(&wanted).zip(&found) {
            if found != wanted && found != "undecided" && !(name == "adk.json" && OF_TEXTS.contains(rule)) {
                wrong.push(format!("{name}: `{rule}` is {found}, not {wanted}"));
            }
        }
        if undecided > open {
            let rules = RULES.iter().zip(&found).filter(|(_, verdict)| *verdict == "undecided").map(|(rule, _)| *rule);
            wrong.push(format!("{name}: {undecided} rules are undecided: {}", rules.collect::<Vec<_>>().join("; ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
