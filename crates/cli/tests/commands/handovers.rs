//! Hand-overs between agents, as frameworks record them: `handover` and `by` give the same results for all formats.

use crate::folder::Folder;
use serde_json::{Value, json};

const RULES: &str = "require handover \"billing\" by main\ncount handover == 1\nrequire refund by billing\nnever refund by main\n\
                     before handover \"billing\" -> refund\n";

/// Returns an OTLP span with these attributes.
fn span(id: u32, parent: u32, name: &str, attributes: &Value) -> Value {
    let attributes: Vec<Value> = attributes
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}))
        .collect();
    let parent = if parent == 0 { String::new() } else { format!("{parent:016x}") };
    json!({"traceId": "0123456789abcdef0123456789abcdef", "spanId": format!("{id:016x}"), "parentSpanId": parent, "name": name,
        "startTimeUnixNano": format!("17000000{id:02}000000000"), "endTimeUnixNano": "1700000099000000000", "attributes": attributes})
}

fn otlp(spans: &[Value]) -> String {
    json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "s"}, "spans": spans}]}]}).to_string()
}

/// Returns the same run with one or two spans that hand over work.
fn agents(handing_over: &Value) -> String {
    let agent = |name: &str| json!({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name});
    let model = json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"});
    let refund = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund", "gen_ai.tool.call.arguments": "{}"});
    otlp(&[
        span(1, 0, "invoke_agent triage", &agent("triage")),
        span(2, 1, "chat", &model),
        span(3, 1, handing_over["name"].as_str().unwrap_or("x"), &handing_over["attributes"]),
        span(4, 1, "invoke_agent billing", &agent("billing")),
        span(5, 4, "chat", &model),
        span(6, 4, "execute_tool refund", &refund),
    ])
}

fn sdk() -> String {
    let record = |id: u32, parent: Option<u32>, data: Value| {
        json!({"object": "trace.span", "id": format!("s{id}"), "trace_id": "t", "parent_id": parent.map(|id| format!("s{id}")),
            "started_at": format!("2025-01-01T00:00:{id:02}Z"), "ended_at": "2025-01-01T00:01:00Z", "span_data": data, "error": null})
    };
    json!([
        {"object": "trace", "id": "t", "workflow_name": "desk"},
        record(1, None, json!({"type": "agent", "name": "triage", "handoffs": ["billing"]})),
        record(2, Some(1), json!({"type": "generation", "input": [], "model": "m",
            "output": [{"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "transfer_to_billing", "arguments": "{}"}}]}]})),
        record(3, Some(1), json!({"type": "handoff", "from_agent": "triage", "to_agent": "billing"})),
        record(4, None, json!({"type": "agent", "name": "billing"})),
        record(5, Some(4), json!({"type": "function", "name": "refund", "input": "{}", "output": "done"})),
    ])
    .to_string()
}

fn graph(result: &str) -> String {
    json!({"messages": [
        {"type": "human", "content": "refund it", "id": "1"},
        {"type": "ai", "name": "main", "content": "", "id": "2", "tool_calls": [{"name": "transfer_to_billing", "args": {}, "id": "c", "type": "tool_call"}]},
        {"type": "tool", "name": "transfer_to_billing", "tool_call_id": "c", "content": result, "id": "3"},
        {"type": "ai", "name": "billing", "content": "", "id": "4", "tool_calls": [{"name": "refund", "args": {}, "id": "d", "type": "tool_call"}]},
        {"type": "tool", "name": "refund", "tool_call_id": "d", "content": "done", "id": "5"},
        {"type": "ai", "name": "billing", "content": "It is done.", "id": "6"}
    ]})
    .to_string()
}

#[test]
fn frameworks_hand_over_alike() {
    let tool = |name: &str, args: &str, result: &str| {
        let of = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.arguments": args,
            "gen_ai.tool.call.result": result});
        agents(&json!({"name": format!("execute_tool {name}"), "attributes": of}))
    };
    let traces = [
        ("sdk", sdk()),
        (
            "openllmetry",
            agents(&json!({"name": "triage → billing.handoff", "attributes":
                {"gen_ai.handoff.from_agent": "triage", "gen_ai.handoff.to_agent": "billing", "traceloop.span.kind": "handoff"}})),
        ),
        ("logfire", agents(&json!({"name": "Handoff", "attributes": {"from_agent": "triage", "to_agent": "billing"}}))),
        (
            "openinference",
            agents(&json!({"name": "handoff to billing", "attributes": {"openinference.span.kind": "TOOL"}})),
        ),
        ("adk", tool("transfer_to_agent", "{\"agent_name\": \"billing\"}", "null")),
        ("strands", tool("handoff_to_agent", "{\"agent_name\": \"billing\", \"message\": \"x\"}", "ok")),
        (
            "autogen",
            tool("transfer_to_billing", "{}", "Transferred to billing, adopting the role of billing immediately."),
        ),
        ("responses", tool("transfer_to_billing", "{}", "{\"assistant\": \"billing\"}")),
        ("langgraph", graph("Successfully transferred to billing")),
    ];
    let folder = Folder::new(&[("r.assert", RULES)]);
    for (name, trace) in traces {
        folder.write(&format!("{name}.json"), trace.as_bytes());
        let ran = folder.aver(&format!("check r.assert {name}.json --format short"));
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
    }
}

#[test]
fn a_tool_that_is_only_named_like_one_hands_nothing_over() {
    let of = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "transfer_to_human_agents",
        "gen_ai.tool.call.arguments": "{\"summary\": \"x\"}", "gen_ai.tool.call.result": "Transfer successful"});
    let folder = Folder::new(&[("r.assert", "never handover\n")]);
    for (name, trace) in [
        ("human", agents(&json!({"name": "execute_tool transfer_to_human_agents", "attributes": of}))),
        ("money", graph("Transferred to account 5\n100 EUR")),
        ("failed", graph("Error: no such agent")),
    ] {
        folder.write(&format!("{name}.json"), trace.as_bytes());
        let ran = folder.aver(&format!("check r.assert {name}.json --format json --allow undecided"));
        assert!(!ran.out.contains("\"verdict\":\"fail\""), "{name}: {ran:?}");
    }
}
