//! Files in which each row of the tables stands that projections look at.

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
        vec![json!({"ClaudeExportKey.loglines": session(&json!({}))})],
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
    let (said, summary) = (
        plain_line(),
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
    samples
}

/// A line of a session without a mark.
fn plain_line() -> Json {
    json!({"ClaudeKey.type": "assistant", "ClaudeKey.timestamp": "2025-01-01T00:00:09Z", "ClaudeKey.message":
        {"ChatMessageKey.role": "assistant", "ChatMessageKey.model": "m", "ChatMessageKey.content": [{"BlockKey.type": "text", "BlockKey.text": "done"}]}})
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
    lines.extend([last, summary, plain_line()]);
    let mut aside = plain_line();
    aside["ClaudeKey.message"]["ChatMessageKey.content"][0]["BlockKey.text"] = json!("aside");
    aside.as_object_mut().expect("a line").extend(agent.as_object().expect("an object").clone());
    lines.push(aside);
    lines
}
