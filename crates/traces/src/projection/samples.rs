//! Files in which each row of the tables stands that projections look at.

use super::tests::{changed, named};
use crate::adapt::fields::TableRow;
use crate::adapt::otel::{ContainerKey, SpanKey};
use crate::adapt::spans::attributes::TypedValueKey;
use serde_json::{Value as Json, json};

/// Files in which each row stands: the key of a row has the name of its table in front.
pub(super) fn samples() -> Vec<Vec<Json>> {
    let user = json!({"OfMessage.role": "user", "OfMessage.content": "hello"});
    let chat = json!([
        user,
        {"OfMessage.role": "assistant", "OfMessage.content": "so", "OfMessage.tool_calls": [
            {"OfCall.id": "a", "OfCall.function": {"OfCall.name": "get", "OfCall.arguments": "{\"n\":1}"}},
            {"OfCall.id": "b", "OfCall.custom": {"OfCall.name": "put", "OfCall.input": {"n": 2}}},
            {"OfCall.id": "c", "OfCall.name": "del", "OfCall.args": {"n": 3}},
            {"OfCall.name": "see", "OfCall.args": {"n": 4}},
            {"OfCall.name": "hear", "OfCall.args": {"n": 5}},
        ]},
        {"OfMessage.role": "tool", "OfMessage.tool_name": "hear", "OfMessage.content": "H"},
        {"OfMessage.role": "tool", "OfMessage.tool_call_id": "b", "OfMessage.content": "B"},
        {"OfMessage.role": "tool", "OfMessage.tool_call_id": "a", "OfMessage.status": "denied",
            "OfMessage.content": [{"OfBlock.type": "text", "OfBlock.text": "A"}]},
        {"OfMessage.role": "assistant", "OfMessage.content": null,
            "OfMessage.function_call": {"OfCall.name": "old", "OfCall.arguments": "{}"}},
        {"OfMessage.role": "function", "OfMessage.name": "old", "OfMessage.content": "D"},
        {"OfMessage.role": "assistant", "OfMessage.content": "all done"},
    ]);
    let blocks = json!([
        user,
        {"OfMessage.role": "assistant", "OfMessage.id": "m", "OfMessage.content": [
            {"OfBlock.type": "text", "OfBlock.text": "so"}, {"OfBlock.type": "thinking", "OfBlock.thinking": "hm"},
            {"OfBlock.type": "tool_use", "OfBlock.id": "a", "OfBlock.name": "get", "OfBlock.input": {"n": 1}},
        ]},
        {"OfMessage.role": "user", "OfMessage.content": [{"OfBlock.type": "tool_result", "OfBlock.tool_use_id": "a",
            "OfBlock.content": "The user doesn't want to proceed with this tool use.", "OfBlock.is_error": true}]},
        {"OfMessage.role": "assistant", "OfMessage.id": "m", "OfMessage.usage": {"input_tokens": 3},
            "OfMessage.content": [{"OfBlock.type": "text", "OfBlock.text": "done"}, {"OfBlock.type": "text", "OfBlock.text": "and dusted", "OfBlock.citations": []}]},
    ]);
    let page = |key: &str, tool: Json| json!({"tools": [], "OfExchange.messages": [user, {"OfMessage.role": "assistant", "OfMessage.content": "x", key: [tool]}]});
    let mut samples = vec![
        vec![json!({"OfExchange.messages": chat, "OfExchange.id": "r", "OfExchange.tools": [{"name": "get"}]})],
        vec![json!({"OfExchange.messages": blocks, "OfExchange.usage": {"input_tokens": 1}, "OfExchange.model": "m"})],
        vec![json!({"OfResult.traj": chat, "reward": 1})],
        vec![
            json!({"OfResult.traj": [{"OfMessage.role": "user", "OfMessage.content": "x", "OfMessage.messages": []}]}),
        ],
        vec![json!({"OfExchange.messages": [user], "OfExchange.functions": []})],
        vec![page("OfMessage.toolInvocations", json!({"toolName": "a", "state": "call"}))],
        vec![page("OfMessage.parts", json!({"type": "dynamic-tool", "toolName": "b", "state": "call"}))],
        vec![
            json!({"OfMessage.role": "user", "OfMessage.content": "x", "OfMessage.type": "y"}),
            json!({"role": "user", "content": "x", "type": "y"}),
        ],
        vec![json!({
            "OfExchange.request": {"OfExchange.messages": [user], "OfExchange.tools": [{"OfCall.function": {"name": "f"}}]},
            "OfExchange.response": {"OfExchange.choices": [{"OfChoice.message": {"role": "assistant", "content": "yes"}}],
                "OfExchange.usage": {"input_tokens": 1}},
        })],
        vec![
            json!({"OfExchange.messages": [user], "OfExchange.response": {"OfExchange.choices": [{"message": {"role": "assistant", "content": "yes"}}]},
            "OfExchange.cost": 0.5}),
        ],
        vec![json!({"OfExchange.messages": [user], "OfExchange.response": user, "OfExchange.response_cost": 0.5})],
        vec![json!({"OfExport.loglines": session(&json!({}))})],
    ];
    // What tells a sub-agent from the main one decides about the output; what marks a session, whether it is one.
    for line in [
        json!({"OfLine.isSidechain": true, "OfLine.isMeta": true}),
        json!({"OfLine.agentId": "x"}),
        json!({"OfLine.parent_tool_use_id": "x"}),
    ] {
        samples.push(session(&line));
    }
    samples.push(session(&json!({"OfLine.isApiErrorMessage": true})));
    samples.push(session(&json!({"OfLine.is_api_error_message": true})));
    let mut made_up = session(&json!({}));
    made_up.push(json!({"OfLine.type": "assistant", "OfLine.error": "rate_limit", "OfLine.message":
        {"OfMessage.role": "assistant", "OfMessage.model": "<synthetic>", "OfMessage.content": "later"}}));
    samples.push(made_up);
    let mut denied = session(&json!({}));
    denied.push(json!({"OfLine.type": "system", "OfLine.subtype": "permission_denied", "OfLine.tool_use_id": "b"}));
    samples.push(denied);
    let mut denied = session(&json!({}));
    denied.push(json!({"OfLine.type": "result", "OfLine.permission_denials": [{"OfLine.tool_use_id": "a"}]}));
    samples.push(denied);
    let mut aside = session(&json!({}));
    aside.push(
        json!({"OfLine.type": "progress", "OfLine.data": {"OfLine.agentId": "x", "OfLine.message": plain_line()}}),
    );
    samples.push(aside);
    let (said, summary) = (
        plain_line(),
        json!({
            "OfLine.type": "result", "OfLine.result": "sum", "OfLine.total_cost_usd": 0.5, "OfLine.usage": {"input_tokens": 9, "output_tokens": 9}, "OfLine.duration_ms": 12, "OfLine.num_turns": 2, "OfLine.is_error": true,
        }),
    );
    for mark in ["sessionId", "session_id", "leafUuid", "parentUuid", "uuid", "messageId"] {
        let mut line = json!({"OfLine.type": "summary", "OfLine.version": "1"});
        line[format!("OfLine.{mark}")] = json!("u");
        samples.push(vec![line, said.clone(), summary.clone()]);
    }
    let mut failed = json!({"OfLine.result": null, "OfLine.subtype": "max", "OfLine.is_error": true});
    failed["OfLine.type"] = json!("result");
    failed["OfLine.session_id"] = json!("s");
    samples.push(vec![said, failed]);
    samples.extend(responses());
    samples.extend(traces());
    samples
}

/// Responses of OpenAI.
fn responses() -> Vec<Vec<Json>> {
    let message = json!({"OfItem.type": "message", "OfItem.role": "assistant", "OfItem.content": [{"OfBlock.type": "output_text", "OfBlock.text": "done"}]});
    let call = |id: &str| json!({"OfItem.type": "function_call", "OfItem.id": "i", "OfItem.call_id": id, "OfItem.name": "get", "OfItem.arguments": "{\"n\":1}", "OfItem.status": "completed"});
    let thought = |key: &str| json!({"OfItem.type": "reasoning", key: [{"type": "summary_text", "OfItem.text": "hm"}]});
    let response = |items: &[Json]| vec![json!({"object": "response", "id": "r", "model": "m", "output": items})];
    let whole = |items: &[Json]| {
        vec![
            json!({"OfApi.object": "response", "OfApi.id": "r", "OfApi.output": items, "OfApi.error": null, "OfApi.model": "m",
            "OfApi.previous_response_id": null, "OfApi.conversation": null, "OfApi.usage": {"input_tokens": 1}}),
        ]
    };
    let mut samples = vec![whole(&[
        thought("OfItem.summary"),
        call("a"),
        json!({"OfItem.type": "function_call_output", "OfItem.call_id": "a", "OfItem.output": "A"}),
        thought("OfItem.content"),
        call("b"),
        message.clone(),
    ])];
    // What only the full reader knows.
    let mut items: Vec<Json> = ["input", "action", "code", "queries", "operation"]
        .map(|key| json!({"OfItem.type": "custom_tool_call", "OfItem.call_id": "a", "OfItem.name": "get", format!("OfItem.{key}"): {"n": 1}}))
        .into();
    items.extend(["output", "outputs", "results", "result"].map(
        |key| json!({"OfItem.type": "web_search_call", "OfItem.id": "a", "OfItem.status": "completed", format!("OfItem.{key}"): "found"}),
    ));
    items.push(
        json!({"OfItem.type": "function_call", "OfItem.callId": "a", "OfItem.name": "get", "OfItem.arguments": "{}"}),
    );
    items.push(json!({"OfItem.type": "mcp_call", "OfItem.id": "a", "OfItem.name": "get", "OfItem.arguments": "{}", "OfItem.error": "no"}));
    samples.extend(items.into_iter().map(|item| response(&[item, message.clone()])));
    samples.push(response(&[
        json!({"OfItem.type": "tool_search_call", "OfItem.call_id": "a", "OfItem.arguments": "{}"}),
        json!({"OfItem.type": "tool_search_output", "OfItem.call_id": "a", "OfItem.tools": [{"name": "get"}]}),
    ]));
    samples.push(response(&[
        json!({"OfItem.type": "shell_call", "OfItem.call_id": "a", "OfItem.action": {"n": 1}}),
        json!({"OfItem.type": "shell_call_output", "OfItem.call_id": "a", "OfItem.output": [{"OfItem.outcome": {"OfItem.exit_code": 1}}]}),
    ]));
    samples.push(response(&[
        json!({"OfItem.type": "mcp_approval_request", "OfItem.id": "a", "OfItem.name": "get", "OfItem.arguments": "{}"}),
        json!({"OfItem.type": "mcp_approval_response", "OfItem.approval_request_id": "a", "OfItem.approve": false}),
    ]));
    let answer = response(std::slice::from_ref(&message)).remove(0);
    for conversation in ["previous_response_id", "conversation"] {
        let mut next = answer.clone();
        next[format!("OfApi.{conversation}")] = json!("r");
        samples.push(vec![answer.clone(), next]);
    }
    let request = json!({"OfApi.input": "hello", "OfApi.instructions": "be brief", "OfApi.tools": [{"type": "function", "name": "get"}]});
    samples.push(vec![json!({"OfApi.request": request, "OfApi.response": answer})]);
    let chat = json!({"OfApi.messages": [{"role": "user", "content": "hello"}], "OfApi.model": "m", "max_tokens": 9, "OfApi.system": "so"});
    let anthropic = json!({"type": "message", "OfApi.id": "r", "OfApi.role": "assistant", "OfApi.content": [{"type": "text", "text": "yes"}],
        "OfApi.model": "m", "OfApi.stop_reason": "end_turn", "OfApi.usage": {"input_tokens": 1}});
    samples.push(vec![anthropic.clone()]);
    samples.push(vec![json!({"OfApi.request": chat, "OfApi.response": anthropic})]);
    let choices = json!({"OfApi.choices": [{"OfApi.message": {"role": "assistant", "content": "yes"}}]});
    samples.push(vec![
        json!({"OfApi.request": chat, "OfApi.response": choices}),
        json!({"OfApi.request": chat, "OfApi.response": anthropic}),
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
    let agent = json!({"OfSpan.traceId": "t", "OfSpan.spanId": "a", "OfSpan.name": "a", "OfSpan.attributes": [
            word("gen_ai.operation.name", "invoke_agent"), word("gen_ai.agent.name", "main"), word("output.value", "done")],
        "OfSpan.startTimeUnixNano": "1767225600000000000", "OfSpan.endTimeUnixNano": "1767225605000000000"});
    let tool = json!({"OfSpan.traceId": "t", "OfSpan.spanId": "b", "OfSpan.parentSpanId": "a", "OfSpan.name": "b", "startTimeUnixNano": "1767225601000000000", "endTimeUnixNano": "1767225602000000000",
        "OfSpan.status": {"OfSpan.code": 2, "OfSpan.message": "refused"}, "OfSpan.attributes": [
            {"OfAttribute.key": "gen_ai.operation.name", "OfAttribute.value": {"Typed.stringValue": "execute_tool"}},
            word("gen_ai.tool.name", "get"),
            {"key": "gen_ai.tool.call.arguments", "value": {"Typed.kvlistValue": {"OfAttribute.values": [
                {"OfAttribute.key": "n", "OfAttribute.value": {"Typed.intValue": "1"}}]}}},
            {"key": "gen_ai.tool.call.result", "value": {"Typed.arrayValue": {"OfAttribute.values": [
                {"Typed.stringValue": "x"}, {"Typed.boolValue": true}, {"Typed.doubleValue": 0.5}, {"Typed.bytesValue": "eA=="}]}}}]});
    let in_context = json!({"OfSpan.context": {"OfSpan.traceId": "t", "OfSpan.spanId": "c"}, "OfSpan.parentSpanContext": {"OfSpan.spanId": "a"},
        "startTimeUnixNano": "1767225601000000000", "endTimeUnixNano": "1767225602000000000", "OfSpan.status_code": "ERROR", "OfSpan.status_message": "refused", "name": "c", "attributes": [word("gen_ai.tool.name", "get"), word("gen_ai.operation.name", "execute_tool")]});
    let request = json!({"traceId": "t", "spanId": "d", "parentSpanId": "a", "name": "d", "OfSpan.startTime": "1767225601000000000",
        "OfSpan.endTime": "1767225602000000000", "OfSpan.kind": 3, "attributes": [word("http.request.method", "GET"), word("url.full", "https://a.b")]});
    let told = json!({"traceId": "t", "spanId": "e", "parentSpanId": "a", "name": "e", "startTimeUnixNano": "1767225601000000000", "endTimeUnixNano": "1767225602000000000", "status": {"code": 2}, "OfSpan.events": [
            {"name": "exception", "attributes": [word("exception.message", "no")]}],
        "attributes": [word("gen_ai.tool.name", "get"), word("gen_ai.operation.name", "execute_tool")]});
    let held = |spans: &[&Json]| json!({"OfContainer.resourceSpans": [{"resource": {}, "OfContainer.scopeSpans": [{"scope": {}, "OfContainer.spans": spans}]}]});
    let whole = held(&[&agent, &tool]);
    let jaeger = json!({"OfContainer.data": [{"traceID": "t", "OfContainer.processes": {"p": {"serviceName": "s"}}, "OfContainer.spans": [
        {"traceID": "t", "OfSpan.spanID": "b", "OfSpan.operationName": "b", "OfSpan.startTime": 1_767_225_600_000_000_i64, "OfSpan.duration": 1000,
            "OfSpan.references": [{"refType": "CHILD_OF", "OfSpan.spanID": "a"}], "OfSpan.tags": [{"key": "gen_ai.tool.name", "value": "get"}, {"key": "gen_ai.operation.name", "value": "execute_tool"}],
            "OfSpan.logs": [{"fields": [{"key": "exception.message", "value": "no"}]}]},
        {"traceID": "t", "spanID": "a", "operationName": "a", "startTime": 1_767_225_600_000_000_i64, "duration": 1000, "tags": [{"key": "gen_ai.operation.name", "value": "invoke_agent"}]},
    ]}]});
    let others = [held(&[&agent, &in_context]), held(&[&agent, &request]), held(&[&agent, &told]), jaeger];
    let around = ["trace", "result"].map(|key| json!({format!("OfContainer.{key}"): whole}));
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
    json!({"OfLine.type": "assistant", "OfLine.timestamp": "2025-01-01T00:00:09Z", "OfLine.message":
        {"OfMessage.role": "assistant", "OfMessage.model": "m", "OfMessage.content": [{"OfBlock.type": "text", "OfBlock.text": "done"}]}})
}

/// A session whose last line is about this agent.
fn session(agent: &Json) -> Vec<Json> {
    let mut number = 0;
    let mut line = |kind: &str, message: Json| {
        number += 1;
        json!({"OfLine.sessionId": "s", "OfLine.uuid": format!("u{number}"), "OfLine.type": kind, "OfLine.message": message,
            "OfLine.timestamp": format!("2025-01-01T00:00:0{number}Z")})
    };
    let call = |id: &str, tool: &str, input: Json| json!({"OfBlock.type": "tool_use", "OfBlock.id": id, "OfBlock.name": tool, "OfBlock.input": input});
    let mut lines = vec![line("user", json!({"OfMessage.role": "user", "OfMessage.content": "hello"}))];
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
            json!({"OfMessage.role": "assistant", "OfMessage.id": id, "OfMessage.usage": {"input_tokens": 1}, "OfMessage.content": [call(id, tool, input)]}),
        ));
        let mut answer = line(
            "user",
            json!({"OfMessage.role": "user", "OfMessage.content": [{"OfBlock.type": "tool_result", "OfBlock.tool_use_id": id, "OfBlock.content": "fine"}]}),
        );
        answer[if id == "i" { "OfLine.tool_use_result" } else { "OfLine.toolUseResult" }] = details;
        lines.push(answer);
    }
    lines.push(json!({"OfLine.type": "system", "OfLine.subtype": "init", "OfLine.tools": ["Bash"], "OfLine.cwd": "/x",
        "OfLine.claude_code_version": "2", "OfLine.gitBranch": "m"}));
    let mut last = line("user", json!({"OfMessage.role": "user", "OfMessage.content": "more"}));
    last["OfLine.isMeta"] = json!(true);
    let mut summary = line("user", json!({"OfMessage.role": "user", "OfMessage.content": "so far"}));
    summary["OfLine.isCompactSummary"] = json!(true);
    lines.extend([last, summary, plain_line()]);
    let mut aside = plain_line();
    aside["OfLine.message"]["OfMessage.content"][0]["OfBlock.text"] = json!("aside");
    aside.as_object_mut().expect("a line").extend(agent.as_object().expect("an object").clone());
    lines.push(aside);
    lines
}
