//! Files in which each row of the tables stands that projections look at.

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
    samples
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
