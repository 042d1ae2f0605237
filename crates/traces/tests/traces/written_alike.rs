//! One run, written down in ten formats, is the same run: whatever a rule asks of its calls, messages and answer it is told alike.

use super::formats::with;
use super::wild::json_of;
use averment_runs::normal::of_run;
use averment_runs::run::{Run, StepKind};
use serde_json::{Value as Json, json};

struct WrittenCall {
    id: String,
    tool: String,
    args: Json,
    result: String,
}

/// What was asked, the calls of each turn, and the answer.
struct WrittenRun {
    prompt: String,
    turns: Vec<Vec<WrittenCall>>,
    answer: String,
}

fn written_run(number: usize) -> WrittenRun {
    let turn = |turn: usize| {
        let call = |place: usize| WrittenCall {
            id: format!("call_{turn}_{place}"),
            tool: ["search", "run_query", "send_mail"][(number + turn + place) % 3].to_owned(),
            args: json!({"n": turn, "words": (["a b", "ä\"{"][place % 2]), "deep": {"list": [1, place]}}),
            // Equal results tell no calls apart.
            result: if number.is_multiple_of(2) { "done".to_owned() } else { format!("{turn}:{place} \"x\"") },
        };
        (0..=(number + turn) % 3).map(call).collect()
    };
    WrittenRun {
        prompt: format!("Please do {number} things."),
        turns: (0..number % 4).map(turn).collect(),
        answer: format!("Did {number}."),
    }
}

type WriteRun = fn(&WrittenRun) -> String;

fn lines(values: &[Json]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn args_text(call: &WrittenCall) -> String {
    call.args.to_string()
}

fn as_chat(run: &WrittenRun) -> String {
    let mut messages = vec![json!({"role": "user", "content": run.prompt})];
    for turn in &run.turns {
        let calls = turn.iter().map(|call| json!({"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": args_text(call)}}));
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()}));
        messages
            .extend(turn.iter().map(|call| json!({"role": "tool", "tool_call_id": call.id, "content": call.result})));
    }
    messages.push(json!({"role": "assistant", "content": run.answer}));
    json!({"messages": messages, "tools": []}).to_string()
}

fn in_blocks(run: &WrittenRun) -> Vec<Json> {
    let mut messages = vec![json!({"role": "user", "content": [{"type": "text", "text": run.prompt}]})];
    for turn in &run.turns {
        let calls =
            turn.iter().map(|call| json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.args}));
        let results =
            turn.iter().map(|call| json!({"type": "tool_result", "tool_use_id": call.id, "content": call.result}));
        messages.push(json!({"role": "assistant", "content": calls.collect::<Vec<_>>()}));
        messages.push(json!({"role": "user", "content": results.collect::<Vec<_>>()}));
    }
    messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": run.answer}]}));
    messages
}

fn as_blocks(run: &WrittenRun) -> String {
    json!({"messages": in_blocks(run), "tools": []}).to_string()
}

fn as_session(run: &WrittenRun) -> String {
    let line = |(place, message): (usize, Json)| json!({"type": message["role"], "sessionId": "s", "uuid": format!("u{place}"), "message": message});
    lines(&in_blocks(run).into_iter().enumerate().map(line).collect::<Vec<_>>())
}

fn items_of(run: &WrittenRun) -> Vec<Json> {
    let mut items =
        vec![json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": run.prompt}]})];
    for turn in &run.turns {
        items.extend(turn.iter().map(|call| json!({"type": "function_call", "call_id": call.id, "name": call.tool, "arguments": args_text(call)})));
        items.extend(
            turn.iter().map(|call| json!({"type": "function_call_output", "call_id": call.id, "output": call.result})),
        );
    }
    items.push(
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": run.answer}]}),
    );
    items
}

fn as_rollout(run: &WrittenRun) -> String {
    let start =
        json!({"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/"}});
    let items = items_of(run)
        .into_iter()
        .map(|item| json!({"timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": item}));
    lines(&std::iter::once(start).chain(items).collect::<Vec<_>>())
}

fn as_responses(run: &WrittenRun) -> String {
    let mut items = items_of(run);
    let answer = items.pop().unwrap();
    json!([{"request": {"model": "m", "input": items}, "response": {"id": "r", "object": "response", "model": "m", "output": [answer]}}]).to_string()
}

fn as_gemini(run: &WrittenRun) -> String {
    let mut contents = vec![json!({"role": "user", "parts": [{"text": run.prompt}]})];
    for turn in &run.turns {
        let calls =
            turn.iter().map(|call| json!({"functionCall": {"id": call.id, "name": call.tool, "args": call.args}}));
        let results = turn.iter().map(
            |call| json!({"functionResponse": {"id": call.id, "name": call.tool, "response": {"output": call.result}}}),
        );
        contents.push(json!({"role": "model", "parts": calls.collect::<Vec<_>>()}));
        contents.push(json!({"role": "user", "parts": results.collect::<Vec<_>>()}));
    }
    let answer = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": run.answer}]}, "finishReason": "STOP"}]});
    json!([{"request": {"contents": contents}, "response": answer}]).to_string()
}

fn as_converse(run: &WrittenRun) -> String {
    let mut messages = vec![json!({"role": "user", "content": [{"text": run.prompt}]})];
    for turn in &run.turns {
        let calls =
            turn.iter().map(|call| json!({"toolUse": {"toolUseId": call.id, "name": call.tool, "input": call.args}}));
        let results =
            turn.iter().map(|call| json!({"toolResult": {"toolUseId": call.id, "content": [{"text": call.result}]}}));
        messages.push(json!({"role": "assistant", "content": calls.collect::<Vec<_>>()}));
        messages.push(json!({"role": "user", "content": results.collect::<Vec<_>>()}));
    }
    let answer = json!({"output": {"message": {"role": "assistant", "content": [{"text": run.answer}]}}, "stopReason": "end_turn", "usage": {"inputTokens": 1, "outputTokens": 1}});
    json!([{"request": {"messages": messages, "toolConfig": {"tools": []}}, "response": answer}]).to_string()
}

fn as_pydantic(run: &WrittenRun) -> String {
    let mut messages = vec![json!({"kind": "request", "parts": [{"part_kind": "user-prompt", "content": run.prompt}]})];
    for turn in &run.turns {
        let calls = turn.iter().map(|call| json!({"part_kind": "tool-call", "tool_name": call.tool, "args": call.args, "tool_call_id": call.id}));
        let results = turn.iter().map(|call| json!({"part_kind": "tool-return", "tool_name": call.tool, "content": call.result, "tool_call_id": call.id}));
        messages.push(json!({"kind": "response", "parts": calls.collect::<Vec<_>>()}));
        messages.push(json!({"kind": "request", "parts": results.collect::<Vec<_>>()}));
    }
    messages.push(json!({"kind": "response", "parts": [{"part_kind": "text", "content": run.answer}]}));
    Json::Array(messages).to_string()
}

fn as_langchain(run: &WrittenRun) -> String {
    let mut messages = vec![json!({"type": "human", "content": run.prompt})];
    for turn in &run.turns {
        let calls =
            turn.iter().map(|call| json!({"name": call.tool, "args": call.args, "id": call.id, "type": "tool_call"}));
        messages.push(json!({"type": "ai", "content": "", "tool_calls": calls.collect::<Vec<_>>()}));
        messages.extend(
            turn.iter().map(
                |call| json!({"type": "tool", "content": call.result, "name": call.tool, "tool_call_id": call.id}),
            ),
        );
    }
    messages.push(json!({"type": "ai", "content": run.answer, "tool_calls": []}));
    json!({"messages": messages}).to_string()
}

const FORMATS: [(&str, WriteRun); 10] = [
    ("chat messages", as_chat),
    ("blocks", as_blocks),
    ("Claude Code", as_session),
    ("Codex", as_rollout),
    ("Responses", as_responses),
    ("Gemini", as_gemini),
    ("Converse", as_converse),
    ("Pydantic AI", as_pydantic),
    ("LangChain", as_langchain),
    ("recorder", |run| {
        let body = as_chat(run);
        json!({"interactions": [{"request": {"method": "GET", "uri": "u", "body": null}, "response": {"status": 200, "body": null}},
            {"request": {"method": "POST", "uri": "u", "body": body}, "response": {"status": {"code": 503}, "body": ""}}]})
        .to_string()
    }),
];

fn told(run: &Run<'_>) -> Json {
    let calls: Vec<_> = run.steps.iter().filter(|step| step.kind == StepKind::Call).collect();
    let field = |key: &str| -> Vec<Json> {
        calls.iter().map(|call| call.object.get(key).map_or(Json::Null, |node| json_of(node.value))).collect()
    };
    // Gemini wraps what a tool gave.
    let result = |result: Json| if result.is_object() { result["output"].clone() } else { result };
    json!({
        "tools": calls.iter().map(|call| call.name).collect::<Vec<_>>(),
        "args": field("args"),
        "results": field("result").into_iter().map(result).collect::<Vec<_>>(),
        "ids": field("id"),
        "prompt": json_of(run.root_value(of_run::PROMPT).value),
        "output": json_of(run.root_value(of_run::OUTPUT).value),
        "recorded": run.complete && run.recorded.get(StepKind::Call as usize) == Some(&true),
    })
}

#[test]
fn ninety_runs_are_told_alike_in_ten_formats() {
    for number in 0..9 {
        let run = written_run(number);
        let calls = || run.turns.iter().flatten();
        let expected = json!({
            "tools": calls().map(|call| call.tool.clone()).collect::<Vec<_>>(),
            "args": calls().map(|call| call.args.clone()).collect::<Vec<_>>(),
            "results": calls().map(|call| call.result.clone()).collect::<Vec<_>>(),
            "ids": calls().map(|call| call.id.clone()).collect::<Vec<_>>(),
            "prompt": run.prompt, "output": run.answer, "recorded": true,
        });
        for (format, write) in FORMATS {
            with(&write(&run), |read| assert_eq!(told(read), expected, "{format}, run {number}"));
        }
    }
}
