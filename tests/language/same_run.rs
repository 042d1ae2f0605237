//! The same run written in every format that can hold it: fifty rules have the same verdicts, apart from what a format cannot tell, which
//! leaves them undecided.

use averment::Rules;
use serde_json::{Value, json};

/// A call of the run, with what came back as text.
struct Call {
    id: &'static str,
    tool: &'static str,
    args: Value,
    result: String,
    failed: bool,
}

/// One assistant turn: what is said, and what is called.
struct Turn {
    text: &'static str,
    calls: Vec<Call>,
}

const PROMPT: &str = "Please refund my order o-1. Yes, I am sure.";
const ANSWER: &str = "Order o-1 was refunded: 25 EUR.";

fn turns() -> Vec<Turn> {
    let call = |id, tool, args, result: &str| Call {
        id,
        tool,
        args,
        result: result.to_owned(),
        failed: result.starts_with("Error"),
    };
    let order = json!({"id": "o-1", "status": "paid", "items": [{"sku": "a", "price": 10}, {"sku": "b", "price": 15}]});
    vec![
        Turn {
            text: "I look the order up.",
            calls: vec![
                call("c1", "get_order", json!({"id": "o-1"}), &order.to_string()),
                call("c2", "get_customer", json!({"id": "k-7"}), "{\"id\": \"k-7\", \"vip\": false}"),
            ],
        },
        Turn { text: "It may be refunded.", calls: vec![call("c3", "approve", json!({"id": "o-1"}), "approved")] },
        Turn {
            text: "",
            calls: vec![call("c4", "refund", json!({"id": "o-1", "amount": 25}), "Error: the bank does not answer")],
        },
        Turn {
            text: "I try again.",
            calls: vec![call(
                "c5",
                "refund",
                json!({"id": "o-1", "amount": 25}),
                "{\"refund\": \"r-9\", \"amount\": 25}",
            )],
        },
    ]
}

fn normal() -> String {
    let mut steps = vec![json!({"kind": "message", "role": "user", "text": PROMPT, "turn": 0})];
    for (number, turn) in turns().iter().enumerate() {
        let number = number + 1;
        if !turn.text.is_empty() {
            steps.push(json!({"kind": "message", "role": "assistant", "text": turn.text, "turn": number}));
        }
        for call in &turn.calls {
            let status = if call.failed { "failed" } else { "ok" };
            steps.push(
                json!({"kind": "call", "id": call.id, "tool": call.tool, "args": call.args, "result": call.result,
                "status": status, "turn": number}),
            );
        }
    }
    steps.push(json!({"kind": "message", "role": "assistant", "text": ANSWER, "turn": 5}));
    json!({"prompt": PROMPT, "output": ANSWER, "turns": 5, "steps": steps}).to_string()
}

fn openai_messages() -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": PROMPT})];
    for turn in turns() {
        let calls: Vec<Value> = turn
            .calls
            .iter()
            .map(|call| {
                json!({"id": call.id, "type": "function",
                    "function": {"name": call.tool, "arguments": call.args.to_string()}})
            })
            .collect();
        let text = if turn.text.is_empty() { Value::Null } else { json!(turn.text) };
        messages.push(json!({"role": "assistant", "content": text, "tool_calls": calls}));
        for call in turn.calls {
            messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": call.result}));
        }
    }
    messages.push(json!({"role": "assistant", "content": ANSWER}));
    messages
}

fn anthropic_messages() -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": [{"type": "text", "text": PROMPT}]})];
    for turn in turns() {
        let mut blocks: Vec<Value> = Vec::new();
        if !turn.text.is_empty() {
            blocks.push(json!({"type": "text", "text": turn.text}));
        }
        blocks.extend(
            turn.calls
                .iter()
                .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.args})),
        );
        messages.push(json!({"role": "assistant", "content": blocks}));
        let results: Vec<Value> = turn
            .calls
            .iter()
            .map(|call| {
                json!({"type": "tool_result", "tool_use_id": call.id, "content": call.result, "is_error": call.failed})
            })
            .collect();
        messages.push(json!({"role": "user", "content": results}));
    }
    messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": ANSWER}]}));
    messages
}

fn claude_code() -> String {
    let mut lines = Vec::new();
    for (number, mut message) in anthropic_messages().into_iter().enumerate() {
        let kind = message["role"].as_str().unwrap_or_default().to_owned();
        if kind == "assistant" {
            message["id"] = json!(format!("m{number}"));
            message["type"] = json!("message");
        }
        let line = json!({"type": kind, "uuid": format!("u{number}"), "sessionId": "s-1", "cwd": "/work", "version": "2.0.1",
            "timestamp": format!("2026-01-05T10:00:{number:02}.000Z"), "message": message});
        lines.push(line.to_string());
    }
    lines.join("\n") + "\n"
}

fn one_jsonl(messages: &[Value]) -> String {
    messages.iter().map(|message| format!("{message}\n")).collect()
}

fn home_grown() -> String {
    let calls: Vec<Value> = turns()
        .iter()
        .flat_map(|turn| &turn.calls)
        .map(|call| json!({"name": call.tool, "arguments": call.args, "output": call.result}))
        .collect();
    json!({"tool_calls": calls, "input": PROMPT, "final_output": ANSWER}).to_string()
}

/// The items of OpenAI's Responses: what was said, called and answered.
fn items() -> Vec<Value> {
    let said = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let mut items = vec![said("user", "input_text", PROMPT)];
    for turn in turns() {
        if !turn.text.is_empty() {
            items.push(said("assistant", "output_text", turn.text));
        }
        items.extend(turn.calls.iter().map(|call| {
            json!({"type": "function_call", "name": call.tool, "arguments": call.args.to_string(), "call_id": call.id})
        }));
        items.extend(
            turn.calls
                .iter()
                .map(|call| json!({"type": "function_call_output", "call_id": call.id, "output": call.result})),
        );
    }
    items.push(said("assistant", "output_text", ANSWER));
    items
}

fn responses() -> String {
    let mut items = items();
    let answer = items.pop();
    json!({
        "request": {"model": "m", "input": items},
        "response": {"id": "resp_1", "object": "response", "model": "m", "status": "completed", "output": [answer]}
    })
    .to_string()
}

fn codex() -> String {
    let line = |number: usize, kind: &str, payload: Value| {
        let time = format!("2026-01-05T10:00:{number:02}.000Z");
        format!("{}\n", json!({"timestamp": time, "type": kind, "payload": payload}))
    };
    let meta = json!({"id": "s-1", "cwd": "/work", "cli_version": "0.40.0", "originator": "codex_cli_rs"});
    let mut text = line(0, "session_meta", meta);
    for (number, item) in items().into_iter().enumerate() {
        text.push_str(&line(number + 1, "response_item", item));
    }
    text
}

/// Spans of OpenTelemetry: an agent, each request to its model, each tool.
fn opentelemetry() -> String {
    let mut spans = Vec::new();
    let mut span = |name: &str, parent: &str, attributes: Value| {
        let number = spans.len() + 1;
        let attributes: Vec<Value> = attributes
            .as_object()
            .map(|all| all.iter().collect::<Vec<_>>())
            .unwrap_or_default()
            .into_iter()
            .map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}))
            .collect();
        spans.push(json!({"traceId": "5b8efff798038103d269b633813fc60c", "spanId": format!("{number:016x}"), "parentSpanId": parent,
            "name": name, "startTimeUnixNano": format!("17676072{number:02}000000000"),
            "endTimeUnixNano": format!("17676072{number:02}900000000"), "attributes": attributes}));
    };
    let agent = "0000000000000001";
    span("invoke_agent desk", "", json!({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}));
    let text = |text: &str| json!({"type": "text", "content": text});
    let mut given = vec![json!({"role": "user", "parts": [text(PROMPT)]})];
    let last = Turn { text: ANSWER, calls: Vec::new() };
    for turn in turns().into_iter().chain([last]) {
        let mut parts: Vec<Value> = if turn.text.is_empty() { Vec::new() } else { vec![text(turn.text)] };
        parts.extend(
            turn.calls
                .iter()
                .map(|call| json!({"type": "tool_call", "id": call.id, "name": call.tool, "arguments": call.args})),
        );
        let said = json!({"role": "assistant", "parts": parts});
        span(
            "chat m",
            agent,
            json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
                "gen_ai.input.messages": json!(given).to_string(), "gen_ai.output.messages": json!([said]).to_string()}),
        );
        given.push(said);
        for call in &turn.calls {
            span(
                &format!("execute_tool {}", call.tool),
                agent,
                json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.tool, "gen_ai.tool.call.id": call.id,
                    "gen_ai.tool.call.arguments": call.args.to_string(), "gen_ai.tool.call.result": call.result}),
            );
            given.push(json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": call.id, "response": call.result}]}));
        }
    }
    json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "s"}, "spans": spans}]}]}).to_string()
}

/// Every format with the run in it, and how many of the rules it may leave undecided.
fn formats() -> Vec<(&'static str, String, usize)> {
    let openai = openai_messages();
    let anthropic = anthropic_messages();
    vec![
        ("OpenAI messages, a list", json!(openai).to_string(), 0),
        ("OpenAI messages, one a line", one_jsonl(&openai), 0),
        ("OpenAI messages in an object", json!({"messages": openai}).to_string(), 0),
        ("tau-bench", json!({"task_id": 1, "reward": 1.0, "traj": openai}).to_string(), 0),
        ("Anthropic messages", json!(anthropic).to_string(), 0),
        ("Anthropic messages in an object", json!({"messages": anthropic}).to_string(), 0),
        ("Claude Code", claude_code(), 0),
        ("OpenAI Responses", responses(), 1),
        ("Codex", codex(), 1),
        ("OpenTelemetry", opentelemetry(), 0),
        ("home-grown", home_grown(), 14),
    ]
}

const DECLARED: &str = "tool any fails when result starts with \"Error\"\ntool get_order also mcp__*__get_order\ntool refund, approve tagged money\n";

const RULES: [&str; 52] = [
    "require get_order",
    "require get_order(id: \"o-1\")",
    "require get_order(result.status: \"paid\")",
    "never get_order(result.status: \"open\")",
    "never cancel",
    "never refund",
    "never refund(amount > 25)",
    "never refund(amount >= 25)",
    "count refund == 2",
    "count refund ok == 1",
    "count refund failed == 1",
    "count any <= 5",
    "count any <= 4",
    "only get_*, approve, refund",
    "only get_*, approve",
    "first get_order",
    "last refund",
    "last approve",
    "before approve -> refund",
    "before approve(id: $id) -> refund(id: $id)",
    "before get_order(result.id: $id) -> refund(id: $id)",
    "before refund -> approve",
    "before each approve -> refund",
    "immediately before approve -> refund",
    "after refund failed -> refund ok",
    "after approve -> refund",
    "sequence get_order -> approve -> refund",
    "sequence refund -> get_order",
    "sequence exactly get_order -> get_customer -> approve -> refund -> refund",
    "flow get_order -> get_customer -> approve -> (refund)+",
    "never repeat refund more than 1 times",
    "never repeat refund more than 2 times",
    "never refund after refund ok",
    "together get_order, get_customer",
    "apart get_order, refund",
    "if refund then approve",
    "approve iff cancel",
    "not both refund, cancel",
    "either cancel or refund",
    "each refund: args.amount == 25",
    "each refund: result.amount == 25",
    "some refund: result.refund exists",
    "no any: result contains \"bank\"",
    "before user /\\byes\\b/i -> refund",
    "never refund before assistant \"refunded\"",
    "require assistant \"was refunded\"",
    "output contains \"refunded\" and prompt contains \"refund\"",
    "sum(calls[0].result.items[*].price) == calls[4].args.amount",
    "calls[*].status == [\"ok\", \"ok\", \"ok\", \"failed\", \"ok\"]",
    "count any tagged money == 3",
    "count any by main == 5",
    "turns <= 5",
];

/// What a format may leave undecided, or hold only because nothing says it: agents.
fn verdicts(trace: &str) -> Vec<String> {
    let of_rule = |rule: &&str| {
        let rules = Rules::from_text("rule.assert", &format!("{DECLARED}{rule}\n"))
            .unwrap_or_else(|error| panic!("{rule}: {error}"));
        let outcome = rules.check_one(trace).unwrap_or_else(|error| panic!("{error}\n{trace}"));
        let result = outcome.results().next().unwrap_or_else(|| panic!("{rule}: nothing is asserted"));
        result.verdict().as_str().to_owned()
    };
    RULES.iter().map(of_rule).collect()
}

#[test]
fn the_same_run_has_the_same_verdicts_in_every_format() {
    let expected = verdicts(&normal());
    assert!(expected.iter().filter(|verdict| *verdict == "pass").count() >= 25, "{expected:?}");
    assert!(expected.iter().filter(|verdict| *verdict == "fail").count() >= 12, "{expected:?}");
    let mut wrong = Vec::new();
    for (format, trace, open) in formats() {
        let found = verdicts(&trace);
        let mut undecided = 0;
        for ((rule, expected), found) in RULES.iter().zip(&expected).zip(&found) {
            match (rule.contains("by main"), found.as_str()) {
                // Whether a run names its agents is the format's own.
                (true, _) => {}
                (false, "undecided") => undecided += 1,
                (false, found) if found == expected => {}
                (false, found) => wrong.push(format!("{format}: {rule} is {found}, not {expected}")),
            }
        }
        if undecided > open {
            let left = RULES.iter().zip(&found).filter(|(_, found)| *found == "undecided");
            let left: Vec<&str> = left.map(|(rule, _)| *rule).collect();
            wrong.push(format!("{format}: {undecided} are undecided, not {open} at most: {left:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
