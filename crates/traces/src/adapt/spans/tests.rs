//! Each name of each table of dialects says something.

use super::attributes::{Fact, NumberedField, NumberedList};
use crate::adapt::fields::TableRow;
use averment_base::limits::Limits;
use averment_base::value::json;
use averment_runs::normal::of_run;
use averment_runs::run::{RunSource, StepKind};
use bumpalo::Bump;
use serde_json::{Value as Json, json};

/// All that a run says beside its spans, which show every attribute: of an agent with a request to a model, a span with these attributes,
/// and a tool behind it, then inside of it.
fn said(attributes: &Json) -> String {
    let span = |id: &str, parent: &str, second: u8, attributes: &Json| {
        json!({"traceId": "t", "spanId": id, "parentSpanId": parent, "name": "a", "startTime": format!("2025-01-01T00:00:0{second}Z"),
            "endTime": "2025-01-01T00:00:09Z", "attributes": attributes})
    };
    let (agent, tool) = (
        json!({"gen_ai.operation.name": "invoke_agent"}),
        json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}),
    );
    let asked = json!({"gen_ai.operation.name": "chat", "gen_ai.output.messages": [{"role": "assistant", "content": "so"}],
            "gen_ai.usage.input_tokens": 1, "gen_ai.usage.cost": 1});
    let mut all = String::new();
    for parent in ["1", "3"] {
        let spans = json!([
            span("1", "", 0, &agent),
            span("2", "1", 1, &asked),
            span("3", "1", 2, attributes),
            span("4", parent, 3, &tool)
        ]);
        let raw = crate::RawRun::new(spans.to_string(), RunSource::default());
        let arena = Bump::new();
        let run = crate::parse_run(&raw, &arena, &Limits::default()).expect("a run");
        let hidden = [StepKind::Span.list_key(), of_run::STEPS];
        let entries = run.object.entries().iter().filter(|entry| !hidden.contains(&entry.key));
        entries.for_each(|entry| all.push_str(&format!("{} {}\n", entry.key, json::to_json(&entry.node.value))));
    }
    all
}

/// What a span may be that an attribute says something of.
fn spans() -> Vec<Json> {
    vec![
        json!({}),
        json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}),
        json!({"gen_ai.operation.name": "execute_tool"}),
        json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "error.type": "E"}),
        json!({"openinference.span.kind": "AGENT"}),
        json!({"gen_ai.tool.name": "t"}),
        json!({"url.full": "u", "span.kind": "client"}),
        json!({"http.request.method": "GET", "span.kind": "client"}),
        json!({"url.full": "u", "http.request.method": "GET"}),
        json!({"url.full": "u", "http.request.method": "GET", "span.kind": "client"}),
        json!({"gen_ai.request.model": "m"}),
        json!({"gen_ai.operation.name": "chat"}),
        json!({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5}),
        json!({"gen_ai.operation.name": "invoke_agent"}),
        json!({"agent.name": "x"}),
        json!({"gen_ai.handoff.to_agent": "b"}),
    ]
}

fn values() -> Vec<Json> {
    let messages = json!([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]);
    let call = json!([{"toolCallId": "c", "toolName": "t", "input": {}}]);
    vec![
        json!("x"),
        json!("pending_span"),
        json!("user"),
        json!("t"),
        json!(5),
        json!("client"),
        json!("TOOL"),
        json!("ERROR"),
        json!("chat"),
        json!("execute_tool"),
        json!("ai.toolCall"),
        json!(true),
        json!({"n": 1}),
        messages,
        call,
        json!([{"name": "t"}]),
    ]
}

#[test]
fn each_name_of_an_attribute_says_something() {
    // What events hold of a message is read in events alone.
    let of_events = [Fact::EventRole, Fact::EventContent, Fact::EventMessage, Fact::EventCalls, Fact::EventId];
    let mut silent = Vec::new();
    for fact in Fact::ALL.iter().filter(|fact| !of_events.contains(fact)) {
        for name in fact.keys() {
            let says = spans().into_iter().any(|span| {
                let before = said(&span);
                values().into_iter().any(|value| {
                    let mut with = span.clone();
                    with[*name] = value;
                    said(&with) != before
                })
            });
            if !says {
                silent.push(format!("{fact:?} {name}"));
            }
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn each_numbered_name_says_something() {
    let (mut silent, tool) =
        (Vec::new(), json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "tool_call.id": "c"}));
    assert!(said(&tool).contains("\"t\""));
    for of in NumberedList::ALL {
        for part in NumberedField::ALL.iter().filter(|part| **part != NumberedField::TypeOfText) {
            let is_of_tools = matches!(part, NumberedField::Schema | NumberedField::ToolName);
            if is_of_tools != (*of == NumberedList::Tools) {
                continue;
            }
            for (list, name) in of.keys().iter().flat_map(|list| part.keys().iter().map(move |name| (list, name))) {
                let key = format!("{list}.{}", name.replace('#', "0"));
                let beside = |part: &str| format!("{list}.0.{part}");
                let by = if *of == NumberedList::In { "user" } else { "assistant" };
                let said_before = json!({"gen_ai.operation.name": "chat", beside("message.role"): by, beside("message.content"): "said"});
                let of_call = |part: &str, value: &str| json!({"gen_ai.operation.name": "chat", beside(part): value});
                let spans = [
                    json!({"gen_ai.operation.name": "chat"}),
                    of_call("message.role", by),
                    said_before,
                    of_call("tool_calls.0.id", "q"),
                    of_call("tool_calls.0.name", "t"),
                ];
                let says = spans.into_iter().any(|span| {
                    values().into_iter().any(|value| {
                        let mut with = span.clone();
                        with[&key] = value;
                        said(&with) != said(&span)
                    })
                });
                // Ids and arguments of calls that somebody else made, and ids that answer, count where a conversation has them.
                let needs_more = *of == NumberedList::In
                    && matches!(
                        part,
                        NumberedField::CallId
                            | NumberedField::CallName
                            | NumberedField::CallArgs
                            | NumberedField::Answers
                    );
                // What a model answers is said by the assistant, whatever role stands beside it.
                let is_plain = *of == NumberedList::Out && *part == NumberedField::Role;
                if !says && !needs_more && !is_plain {
                    silent.push(key);
                }
            }
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn whole_numbers_are_those_that_the_library_reads() {
    let digits = "9223372036854775807123";
    let lengths = (0..digits.len()).map(|length| digits.get(..length).unwrap_or_default().to_owned());
    let others = [
        "1",
        "0",
        "01",
        "9223372036854775808",
        "99999999999999999999",
        "1234567890123456789",
        "1a",
        "12345678a",
        "1234567890123456a",
        "12345678901234567a",
        "123456789012345678a",
        "+1",
        "-1",
        "1_0",
        "1.5",
        "",
        "\u{661}",
    ]
    .map(str::to_owned);
    for text in lengths.chain(others) {
        let plain = matches!(text.as_bytes().first(), Some(b'1'..=b'9')).then(|| text.parse::<i64>().ok()).flatten();
        assert_eq!(super::whole_number(&text), plain, "{text}");
    }
}
