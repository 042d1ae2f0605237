//! Files in which each row of the tables stands that projections look at.

use super::tests::{changed, named};
use crate::adapt::fields::TableRow;
use crate::adapt::otel::{ContainerKey, SpanKey};
use crate::adapt::spans::attributes::TypedValueKey;
use serde_json::{Value as Json, json};

/// Files in which each row stands: the key of a row has the name of its table in front.
pub(super) fn samples() -> Vec<Vec<Json>> {
    let user = json!({"ChatMessageKey.role": "user", "ChatMessageKey.content": "hello"});
    let chat = json!([
        user,
        {"ChatMessageKey.role": "assistant", "ChatMessageKey.content": "so", "ChatMessageKey.tool_calls": [
            {"ToolCallKey.id": "a", "ToolCallKey.function": {"ToolCallKey.name": "get", "ToolCallKey.arguments": "{\"n\":1}"}},
            {"ToolCallKey.id": "b", "ToolCallKey.custom": {"ToolCallKey.name": "put", "ToolCallKey.input": {"n": 2}}},
            {"ToolCallKey.id": "c", "ToolCallKey.name": "del", "ToolCallKey.args": {"n": 3}},
            {"ToolCallKey.name": "see", "ToolCallKey.args": {"n": 4}},
            {"ToolCallKey.name": "hear", "ToolCallKey.args": {"n": 5}},
        ]},
        {"ChatMessageKey.role": "tool", "ChatMessageKey.tool_name": "hear", "ChatMessageKey.content": "H"},
        {"ChatMessageKey.role": "tool", "ChatMessageKey.tool_call_id": "b", "ChatMessageKey.content": "B"},
        {"ChatMessageKey.role": "tool", "ChatMessageKey.tool_call_id": "a", "ChatMessageKey.status": "denied",
            "ChatMessageKey.content": [{"BlockKey.type": "text", "BlockKey.text": "A"}]},
        {"ChatMessageKey.role": "assistant", "ChatMessageKey.content": null,
            "ChatMessageKey.function_call": {"ToolCallKey.name": "old", "ToolCallKey.arguments": "{}"}},
        {"ChatMessageKey.role": "function", "ChatMessageKey.name": "old", "ChatMessageKey.content": "D"},
        {"ChatMessageKey.role": "assistant", "ChatMessageKey.content": "all done"},
    ]);
    let blocks = json!([
        user,
        {"ChatMessageKey.role": "assistant", "ChatMessageKey.id": "m", "ChatMessageKey.content": [
            {"BlockKey.type": "text", "BlockKey.text": "so"}, {"BlockKey.type": "thinking", "BlockKey.thinking": "hm"},
            {"BlockKey.type": "tool_use", "BlockKey.id": "a", "BlockKey.name": "get", "BlockKey.input": {"n": 1}},
        ]},
        {"ChatMessageKey.role": "user", "ChatMessageKey.content": [{"BlockKey.type": "tool_result", "BlockKey.tool_use_id": "a",
            "BlockKey.content": "The user doesn't want to proceed with this tool use.", "BlockKey.is_error": true}]},
        {"ChatMessageKey.role": "assistant", "ChatMessageKey.id": "m", "ChatMessageKey.usage": {"input_tokens": 3},
            "ChatMessageKey.content": [{"BlockKey.type": "text", "BlockKey.text": "done"}, {"BlockKey.type": "text", "BlockKey.text": "and dusted", "BlockKey.citations": []}]},
    ]);
    let page = |key: &str, tool: Json| json!({"tools": [], "ChatExchangeKey.messages": [user, {"ChatMessageKey.role": "assistant", "ChatMessageKey.content": "x", key: [tool]}]});
    let refused = |key: &str, words: Json| json!({"tools": [], "ChatExchangeKey.messages": [user, {"ChatMessageKey.role": "assistant", "ChatMessageKey.tool_calls": [], key: words}]});
    let mut samples = vec![
        vec![
            json!({"ChatExchangeKey.messages": chat, "ChatExchangeKey.id": "r", "ChatExchangeKey.tools": [{"name": "get"}]}),
        ],
        vec![
            json!({"ChatExchangeKey.messages": blocks, "ChatExchangeKey.usage": {"input_tokens": 1}, "ChatExchangeKey.model": "m"}),
        ],
        vec![json!({"TauBenchKey.traj": chat, "reward": 1})],
        vec![
            json!({"TauBenchKey.traj": [{"ChatMessageKey.role": "user", "ChatMessageKey.content": "x", "ChatMessageKey.messages": []}]}),
        ],
        vec![json!({"ChatExchangeKey.messages": [user], "ChatExchangeKey.functions": []})],
        vec![refused("ChatMessageKey.refusal", json!("no"))],
        vec![
            json!({"tools": [], "ChatExchangeKey.messages": [user, {"ChatMessageKey.role": "assistant", "ChatMessageKey.content": "x", "ChatMessageKey.sender": "Bot"}]}),
        ],
        vec![refused("ChatMessageKey.content", json!([{"BlockKey.type": "refusal", "BlockKey.refusal": "no"}]))],
        vec![page("ChatMessageKey.toolInvocations", json!({"toolName": "a", "state": "call"}))],
        vec![page("ChatMessageKey.parts", json!({"type": "dynamic-tool", "toolName": "b", "state": "call"}))],
        vec![
            json!({"ChatMessageKey.role": "user", "ChatMessageKey.content": "x", "ChatMessageKey.type": "y"}),
            json!({"role": "user", "content": "x", "type": "y"}),
        ],
        vec![json!({
            "ChatExchangeKey.request": {"ChatExchangeKey.messages": [user], "ChatExchangeKey.tools": [{"ToolCallKey.function": {"name": "f"}}]},
            "ChatExchangeKey.response": {"ChatExchangeKey.choices": [{"ChoiceKey.message": {"role": "assistant", "content": "yes"}}],
                "ChatExchangeKey.usage": {"input_tokens": 1}},
        })],
        vec![
            json!({"ChatExchangeKey.messages": [user], "ChatExchangeKey.response": {"ChatExchangeKey.choices": [{"message": {"role": "assistant", "content": "yes"}}]},
            "ChatExchangeKey.cost": 0.5}),
        ],
        vec![
            json!({"ChatExchangeKey.messages": [user], "ChatExchangeKey.response": user, "ChatExchangeKey.response_cost": 0.5}),
        ],
        vec![
            json!({"ChatExchangeKey.messages": [user], "ChatExchangeKey.raw_messages": chat, "ChatExchangeKey.tools": []}),
        ],
        vec![
            json!({"ChatExchangeKey.messages": [user], "ChatExchangeKey.response": {"ChatExchangeKey.error": {"message": "busy"}}}),
        ],
        vec![json!({"ClaudeExportKey.loglines": session(&json!({}))})],
        vec![json!({"ClaudeExportKey.messages": session(&json!({}))})],
    ];
    // What tells a sub-agent from the main one decides about the output; what marks a session, whether it is one.
    for line in [
        json!({"ClaudeKey.isSidechain": true, "ClaudeKey.isMeta": true}),
        json!({"ClaudeKey.agentId": "x"}),
        json!({"ClaudeKey.parent_tool_use_id": "x"}),
    ] {
        samples.push(session(&line));
    }
    samples.push(session(&json!({"ClaudeKey.isApiErrorMessage": true})));
    samples.push(session(&json!({"ClaudeKey.is_api_error_message": true})));
    let mut made_up = session(&json!({}));
    made_up.push(json!({"ClaudeKey.type": "assistant", "ClaudeKey.error": "rate_limit", "ClaudeKey.message":
        {"ChatMessageKey.role": "assistant", "ChatMessageKey.model": "<synthetic>", "ChatMessageKey.content": "later"}}));
    samples.push(made_up);
    let mut denied = session(&json!({}));
    denied.push(
        json!({"ClaudeKey.type": "system", "ClaudeKey.subtype": "permission_denied", "ClaudeKey.tool_use_id": "b"}),
    );
    samples.push(denied);
    let mut denied = session(&json!({}));
    denied.push(json!({"ClaudeKey.type": "result", "ClaudeKey.permission_denials": [{"ClaudeKey.tool_use_id": "a"}]}));
    samples.push(denied);
    let mut aside = session(&json!({}));
    aside.push(
        json!({"ClaudeKey.type": "progress", "ClaudeKey.data": {"ClaudeKey.agentId": "x", "ClaudeKey.message": plain_line()}}),
    );
    samples.push(aside);
    let mut counted = session(&json!({}));
    counted.push(json!({"ClaudeKey.type": "assistant", "ClaudeKey.message":
        {"ChatMessageKey.role": "assistant", "ChatMessageKey.id": "c", "ChatMessageKey.metrics": {"input_tokens": 2},
        "ChatMessageKey.content": [{"BlockKey.type": "text", "BlockKey.text": "counted"}]}}));
    samples.push(counted);
    let mut of_qwen = session(&json!({}));
    of_qwen.push(json!({"ClaudeKey.type": "system", "ClaudeKey.subtype": "init", "ClaudeKey.qwen_code_version": "1"}));
    of_qwen.push(json!({"ClaudeKey.type": "assistant", "ClaudeKey.message":
        {"ChatMessageKey.role": "assistant", "ChatMessageKey.id": "q", "ChatMessageKey.usage": {"input_tokens": 9, "cache_read_input_tokens": 2},
        "ChatMessageKey.content": [{"BlockKey.type": "text", "BlockKey.text": "counted"}]}}));
    samples.push(of_qwen);
    let (said, summary) = (
        calling_line(),
        json!({
            "ClaudeKey.type": "result", "ClaudeKey.result": "sum", "ClaudeKey.total_cost_usd": 0.5, "ClaudeKey.usage": {"input_tokens": 9, "output_tokens": 9}, "ClaudeKey.duration_ms": 12, "ClaudeKey.num_turns": 2, "ClaudeKey.is_error": true,
        }),
    );
    for mark in ["sessionId", "session_id", "leafUuid", "parentUuid", "uuid", "messageId"] {
        let mut line = json!({"ClaudeKey.type": "summary", "ClaudeKey.version": "1"});
        line[format!("ClaudeKey.{mark}")] = json!("u");
        samples.push(vec![line, said.clone(), summary.clone()]);
    }
    let mut failed = json!({"ClaudeKey.result": null, "ClaudeKey.subtype": "max", "ClaudeKey.is_error": true});
    failed["ClaudeKey.type"] = json!("result");
    failed["ClaudeKey.session_id"] = json!("s");
    samples.push(vec![said, failed]);
    samples.extend(responses());
    samples.extend(traces());
    samples
}

/// Responses of OpenAI.
fn responses() -> Vec<Vec<Json>> {
    let message = json!({"ItemKey.type": "message", "ItemKey.role": "assistant", "ItemKey.content": [{"BlockKey.type": "output_text", "BlockKey.text": "done"}]});
    let call = |id: &str| json!({"ItemKey.type": "function_call", "ItemKey.id": "i", "ItemKey.call_id": id, "ItemKey.name": "get", "ItemKey.arguments": "{\"n\":1}", "ItemKey.status": "completed"});
    let thought =
        |key: &str| json!({"ItemKey.type": "reasoning", key: [{"type": "summary_text", "ItemKey.text": "hm"}]});
    let response = |items: &[Json]| vec![json!({"object": "response", "id": "r", "model": "m", "output": items})];
    let whole = |items: &[Json]| {
        vec![
            json!({"ApiKey.object": "response", "ApiKey.id": "r", "ApiKey.output": items, "ApiKey.error": null, "ApiKey.model": "m",
            "ApiKey.previous_response_id": null, "ApiKey.conversation": null, "ApiKey.usage": {"input_tokens": 1}}),
        ]
    };
    let mut samples = vec![whole(&[
        thought("ItemKey.summary"),
        call("a"),
        json!({"ItemKey.type": "function_call_output", "ItemKey.call_id": "a", "ItemKey.output": "A"}),
        thought("ItemKey.content"),
        call("b"),
        message.clone(),
    ])];
    // What only the full reader knows.
    let mut items: Vec<Json> = ["input", "action", "code", "queries", "operation"]
        .map(|key| json!({"ItemKey.type": "custom_tool_call", "ItemKey.call_id": "a", "ItemKey.name": "get", format!("ItemKey.{key}"): {"n": 1}}))
        .into();
    items.extend(["output", "outputs", "results", "result"].map(
        |key| json!({"ItemKey.type": "web_search_call", "ItemKey.id": "a", "ItemKey.status": "completed", format!("ItemKey.{key}"): "found"}),
    ));
    items.push(
        json!({"ItemKey.type": "function_call", "ItemKey.callId": "a", "ItemKey.name": "get", "ItemKey.arguments": "{}"}),
    );
    items.push(json!({"ItemKey.type": "mcp_call", "ItemKey.id": "a", "ItemKey.name": "get", "ItemKey.arguments": "{}", "ItemKey.error": "no"}));
    samples.extend(items.into_iter().map(|item| response(&[item, message.clone()])));
    samples.push(response(&[
        json!({"ItemKey.type": "tool_search_call", "ItemKey.call_id": "a", "ItemKey.arguments": "{}"}),
        json!({"ItemKey.type": "tool_search_output", "ItemKey.call_id": "a", "ItemKey.tools": [{"name": "get"}]}),
    ]));
    samples.push(response(&[
        json!({"ItemKey.type": "shell_call", "ItemKey.call_id": "a", "ItemKey.action": {"n": 1}}),
        json!({"ItemKey.type": "shell_call_output", "ItemKey.call_id": "a", "ItemKey.output": [{"ItemKey.outcome": {"ItemKey.exit_code": 1}}]}),
    ]));
    samples.push(response(&[
        json!({"ItemKey.type": "mcp_approval_request", "ItemKey.id": "a", "ItemKey.name": "get", "ItemKey.arguments": "{}"}),
        json!({"ItemKey.type": "mcp_approval_response", "ItemKey.approval_request_id": "a", "ItemKey.approve": false}),
    ]));
    let answer = response(std::slice::from_ref(&message)).remove(0);
    let mut open = answer.clone();
    open["ApiKey.status"] = json!("in_progress");
    samples.push(vec![open]);
    for conversation in ["previous_response_id", "conversation"] {
        let mut next = answer.clone();
        next[format!("ApiKey.{conversation}")] = json!("r");
        samples.push(vec![answer.clone(), next]);
    }
    let request = json!({"ApiKey.input": "hello", "ApiKey.instructions": "be brief", "ApiKey.tools": [{"type": "function", "name": "get"}]});
    samples.push(vec![json!({"ApiKey.request": request, "ApiKey.response": answer})]);
    let chat = json!({"ApiKey.messages": [{"role": "user", "content": "hello"}], "ApiKey.model": "m", "max_tokens": 9, "ApiKey.system": "so"});
    let anthropic = json!({"type": "message", "ApiKey.id": "r", "ApiKey.role": "assistant", "ApiKey.content": [{"type": "text", "text": "yes"}],
        "ApiKey.model": "m", "ApiKey.stop_reason": "end_turn", "ApiKey.usage": {"input_tokens": 1}});
    samples.push(vec![anthropic.clone()]);
    samples.push(vec![json!({"ApiKey.request": chat, "ApiKey.response": anthropic})]);
    let choices = json!({"ApiKey.choices": [{"ApiKey.message": {"role": "assistant", "content": "yes"}}]});
    samples.push(vec![
        json!({"ApiKey.request": chat, "ApiKey.response": choices}),
        json!({"ApiKey.request": chat, "ApiKey.response": anthropic}),
    ]);
    samples
}

/// A sample with another key in the place of the first one of its row, and without the names of tables in front of all others.
fn written_with(sample: &Json, first: &str, other: &str) -> Option<Json> {
    let [first, other] = [first, other].map(|key| format!("\"{key}\""));
    let text = sample.to_string();
    let marked: Json = serde_json::from_str(&text.replace(&first, "\"@\"")).expect("JSON");
    let plain = changed(&marked, "", &mut 0, &None).to_string();
    text.contains(&first).then(|| serde_json::from_str(&plain.replace("\"@\"", &other)).expect("JSON"))
}

/// The keys of each row of a table.
fn rows<F: TableRow>() -> Vec<Vec<String>> {
    let keys = |row: &F| row.keys().iter().map(|key| named::<F>(key)).collect();
    F::ALL.iter().map(keys).collect()
}

/// Traces of spans, one for each key that something is written under.
fn traces() -> Vec<Vec<Json>> {
    let word = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let agent = json!({"SpanKey.traceId": "t", "SpanKey.spanId": "a", "SpanKey.name": "a", "SpanKey.attributes": [
            word("gen_ai.operation.name", "invoke_agent"), word("gen_ai.agent.name", "main"), word("output.value", "done")],
        "SpanKey.startTimeUnixNano": "1767225600000000000", "SpanKey.endTimeUnixNano": "1767225605000000000"});
    let tool = json!({"SpanKey.traceId": "t", "SpanKey.spanId": "b", "SpanKey.parentSpanId": "a", "SpanKey.name": "b", "startTimeUnixNano": "1767225601000000000", "endTimeUnixNano": "1767225602000000000",
        "SpanKey.status": {"SpanKey.code": 2, "SpanKey.message": "refused"}, "SpanKey.attributes": [
            {"AttributeKey.key": "gen_ai.operation.name", "AttributeKey.value": {"TypedValueKey.stringValue": "execute_tool"}},
            word("gen_ai.tool.name", "get"),
            {"key": "gen_ai.tool.call.arguments", "value": {"TypedValueKey.kvlistValue": {"AttributeKey.values": [
                {"AttributeKey.key": "n", "AttributeKey.value": {"TypedValueKey.intValue": "1"}}]}}},
            {"key": "gen_ai.tool.call.result", "value": {"TypedValueKey.arrayValue": {"AttributeKey.values": [
                {"TypedValueKey.stringValue": "x"}, {"TypedValueKey.boolValue": true}, {"TypedValueKey.doubleValue": 0.5}, {"TypedValueKey.bytesValue": "eA=="}]}}}]});
    let in_context = json!({"SpanKey.context": {"SpanKey.traceId": "t", "SpanKey.spanId": "c"}, "SpanKey.parentSpanContext": {"SpanKey.spanId": "a"},
        "startTimeUnixNano": "1767225601000000000", "endTimeUnixNano": "1767225602000000000", "SpanKey.status_code": "ERROR", "SpanKey.status_message": "refused", "name": "c", "attributes": [word("gen_ai.tool.name", "get"), word("gen_ai.operation.name", "execute_tool")]});
    let request = json!({"traceId": "t", "spanId": "d", "parentSpanId": "a", "name": "d", "SpanKey.startTime": "1767225601000000000",
        "SpanKey.endTime": "1767225602000000000", "SpanKey.kind": 3, "attributes": [word("http.request.method", "GET"), word("url.full", "https://a.b")]});
    let told = json!({"traceId": "t", "spanId": "e", "parentSpanId": "a", "name": "e", "startTimeUnixNano": "1767225601000000000", "endTimeUnixNano": "1767225602000000000", "status": {"code": 2}, "SpanKey.events": [
            {"name": "exception", "attributes": [word("exception.message", "no")]}],
        "attributes": [word("gen_ai.tool.name", "get"), word("gen_ai.operation.name", "execute_tool")]});
    let held = |spans: &[&Json]| json!({"ContainerKey.resourceSpans": [{"resource": {}, "ContainerKey.scopeSpans": [{"scope": {}, "ContainerKey.spans": spans}]}]});
    let whole = held(&[&agent, &tool]);
    let jaeger = json!({"ContainerKey.data": [{"traceID": "t", "ContainerKey.processes": {"p": {"serviceName": "s"}}, "ContainerKey.spans": [
        {"traceID": "t", "SpanKey.spanID": "b", "SpanKey.operationName": "b", "SpanKey.startTime": 1_767_225_600_000_000_i64, "SpanKey.duration": 1000,
            "SpanKey.references": [{"refType": "CHILD_OF", "SpanKey.spanID": "a"}], "SpanKey.tags": [{"key": "gen_ai.tool.name", "value": "get"}, {"key": "gen_ai.operation.name", "value": "execute_tool"}],
            "SpanKey.logs": [{"fields": [{"key": "exception.message", "value": "no"}]}]},
        {"traceID": "t", "spanID": "a", "operationName": "a", "startTime": 1_767_225_600_000_000_i64, "duration": 1000, "tags": [{"key": "gen_ai.operation.name", "value": "invoke_agent"}]},
    ]}]});
    let others = [held(&[&agent, &in_context]), held(&[&agent, &request]), held(&[&agent, &told]), jaeger];
    let around = ["trace", "result"].map(|key| json!({format!("ContainerKey.{key}"): whole}));
    let mut all: Vec<Vec<Json>> = [whole].into_iter().chain(others).chain(around).map(|sample| vec![sample]).collect();
    let known = [rows::<ContainerKey>(), rows::<SpanKey>(), rows::<TypedValueKey>()].concat();
    let written: Vec<Json> = all.iter().flatten().cloned().collect();
    for (keys, sample) in known.iter().flat_map(|keys| written.iter().map(move |sample| (keys, sample))) {
        let others = keys.iter().skip(1).filter_map(|other| written_with(sample, &keys[0], other));
        all.extend(others.map(|sample| vec![sample]));
    }
    all
}

/// A line of a session without a mark.
fn plain_line() -> Json {
    json!({"ClaudeKey.type": "assistant", "ClaudeKey.timestamp": "2025-01-01T00:00:09Z", "ClaudeKey.message":
        {"ChatMessageKey.role": "assistant", "ChatMessageKey.model": "m", "ChatMessageKey.content": [{"BlockKey.type": "text", "BlockKey.text": "done"}]}})
}

/// The same with a call: only the full reader reads runs without any.
fn calling_line() -> Json {
    let mut line = plain_line();
    let call = json!({"BlockKey.type": "tool_use", "BlockKey.id": "z", "BlockKey.name": "look", "BlockKey.input": {}});
    line["ClaudeKey.message"]["ChatMessageKey.content"].as_array_mut().unwrap().push(call);
    line
}

/// A session whose last line is about this agent.
fn session(agent: &Json) -> Vec<Json> {
    let mut number = 0;
    let mut line = |kind: &str, message: Json| {
        number += 1;
        json!({"ClaudeKey.sessionId": "s", "ClaudeKey.uuid": format!("u{number}"), "ClaudeKey.type": kind, "ClaudeKey.message": message,
            "ClaudeKey.timestamp": format!("2025-01-01T00:00:0{number}Z")})
    };
    let call = |id: &str, tool: &str, input: Json| json!({"BlockKey.type": "tool_use", "BlockKey.id": id, "BlockKey.name": tool, "BlockKey.input": input});
    let mut lines = vec![line("user", json!({"ChatMessageKey.role": "user", "ChatMessageKey.content": "hello"}))];
    for (id, tool, input, details) in [
        ("a", "Bash", json!({"OfArgs.command": "ls", "OfArgs.run_in_background": true}), json!({})),
        ("b", "Bash", json!({"OfArgs.command": "ls"}), json!({"OfDetails.returnCodeInterpretation": "x"})),
        ("c", "Bash", json!({"OfArgs.command": "ls"}), json!({"OfDetails.backgroundTaskId": "x"})),
        ("d", "Bash", json!({"OfArgs.command": "ls"}), json!({"OfDetails.interrupted": true})),
        ("e", "Read", json!({"OfArgs.file_path": "/a"}), json!({})),
        ("f", "NotebookRead", json!({"OfArgs.notebook_path": "/a"}), json!({})),
        ("g", "Skill", json!({"OfArgs.skill": "s"}), json!({})),
        ("h", "Skill", json!({"OfArgs.name": "s"}), json!({})),
        ("i", "WebFetch", json!({"OfArgs.url": "https://a.b"}), json!({"OfDetails.code": 200})),
    ] {
        lines.push(line(
            "assistant",
            json!({"ChatMessageKey.role": "assistant", "ChatMessageKey.id": id, "ChatMessageKey.usage": {"input_tokens": 1}, "ChatMessageKey.content": [call(id, tool, input)]}),
        ));
        let mut answer = line(
            "user",
            json!({"ChatMessageKey.role": "user", "ChatMessageKey.content": [{"BlockKey.type": "tool_result", "BlockKey.tool_use_id": id, "BlockKey.content": "fine"}]}),
        );
        answer[if id == "i" { "ClaudeKey.tool_use_result" } else { "ClaudeKey.toolUseResult" }] = details;
        lines.push(answer);
    }
    lines.push(json!({"ClaudeKey.type": "system", "ClaudeKey.subtype": "init", "ClaudeKey.tools": ["Bash"], "ClaudeKey.cwd": "/x",
        "ClaudeKey.claude_code_version": "2", "ClaudeKey.gitBranch": "m"}));
    let mut last = line("user", json!({"ChatMessageKey.role": "user", "ChatMessageKey.content": "more"}));
    last["ClaudeKey.isMeta"] = json!(true);
    let mut summary = line("user", json!({"ChatMessageKey.role": "user", "ChatMessageKey.content": "so far"}));
    summary["ClaudeKey.isCompactSummary"] = json!(true);
    let mut synthetic = line("user", json!({"ChatMessageKey.role": "user", "ChatMessageKey.content": "made up"}));
    synthetic["ClaudeKey.isSynthetic"] = json!(true);
    let queued = json!({"ClaudeKey.type": "attachment", "ClaudeKey.attachment": {"type": "queued_command", "prompt": "and this"}});
    lines.extend([last, summary, synthetic, queued, plain_line()]);
    let mut aside = plain_line();
    aside["ClaudeKey.message"]["ChatMessageKey.content"][0]["BlockKey.text"] = json!("aside");
    aside.as_object_mut().expect("a line").extend(agent.as_object().expect("an object").clone());
    lines.push(aside);
    lines
}
