//! Home-grown formats: an object with its tool calls in one list, under the names that people choose. Nothing is guessed beyond names:
//! a number whose unit is not plain from its name is left out.

use super::calls::Usage;
use super::draft::{Draft, field};
use super::{Format, first_of, list_of, never, object_of, objects, text_of};
use crate::trace::error::Placed;
use crate::trace::run::Kind;
use crate::value::{Entry, Node, Number, Object, Value};

/// An object with `tool_calls` or its kin.
pub(super) const FORMAT: Format = Format {
    name: "tool calls of one's own making",
    description: "an object with `tool_calls`, each with a `name` or `tool`",
    object: is_generic,
    element: never,
    line: never,
    read,
};

const CALLS: [&str; 7] =
    ["tool_calls", "toolCalls", "tool_uses", "function_calls", "tools_called", "tool_invocations", "actions"];
const TOOL: [&str; 6] = ["tool", "name", "tool_name", "toolName", "function_name", "function"];
const ARGS: [&str; 9] =
    ["args", "arguments", "input", "inputs", "parameters", "params", "kwargs", "tool_input", "tool_args"];
const RESULT: [&str; 7] = ["result", "output", "outputs", "response", "observation", "tool_output", "return_value"];
const ERROR: [&str; 3] = ["error", "error_message", "exception"];
const START: [&str; 6] = ["start", "start_ms", "start_time", "started_at", "startTime", "timestamp"];
const END: [&str; 5] = ["end", "end_ms", "end_time", "ended_at", "endTime"];
const MILLISECONDS: [&str; 5] = ["duration", "duration_ms", "latency_ms", "elapsed_ms", "durationMs"];
const SECONDS: [&str; 6] =
    ["duration_s", "duration_seconds", "latency_s", "latency_seconds", "elapsed_s", "elapsed_seconds"];
const COST: [&str; 5] = ["cost", "cost_usd", "total_cost", "total_cost_usd", "costUsd"];

/// The fields of a call whose names need no reading.
const PLAIN: [(&str, &[&str]); 5] = [
    ("id", &["id", "call_id", "tool_call_id"]),
    ("status", &["status", "outcome"]),
    ("ok", &["ok", "success"]),
    ("turn", &["turn", "turn_index"]),
    ("agent", &["agent", "agent_name", "agent_id"]),
];

fn is_generic(object: Object<'_>) -> bool {
    let has_tool = |node: &Node<'_>| matches!(node.value, Value::Object(call) if tool(call).is_some());
    object.get("calls").is_none()
        && object.get("steps").is_none()
        && CALLS.iter().any(|key| list_of(object, key).is_some_and(|calls| calls.iter().all(has_tool)))
}

/// The name of the tool; OpenAI's `function: {name}` too.
fn tool<'run>(call: Object<'run>) -> Option<Node<'run>> {
    let node = first_of(call, &TOOL)?;
    match node.value {
        Value::Text(_) => Some(node),
        Value::Object(function) => function.get("name").filter(|name| matches!(name.value, Value::Text(_))),
        _ => None,
    }
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let Value::Object(object) = root.value else { return Ok(()) };
    draft.kinds_in_no_order();
    draft.records(&[Kind::Call]);
    let key = CALLS.into_iter().find(|key| list_of(object, key).is_some()).unwrap_or_default();
    for (node, call) in objects(list_of(object, key).unwrap_or_default()) {
        add_call(draft, node, call);
    }
    if let Some(messages) = list_of(object, "messages") {
        draft.records(&[Kind::Message]);
        for (node, message) in objects(messages).filter(|(_, message)| text_of(*message, "role").is_some()) {
            draft.step(Kind::Message, message.entries().to_vec(), node.origin);
        }
    }
    draft.set_some("id", first_of(object, &["id", "run_id", "trace_id", "traceId", "session_id"]));
    let input = first_of(object, &["inputs", "input", "prompt", "question", "query"]);
    draft.set_some("inputs", input);
    draft.set_some("prompt", input.filter(|input| matches!(input.value, Value::Text(_))));
    let answer = ["output", "final_output", "answer", "final_answer", "response", "completion", "result"];
    draft.set_some("output", first_of(object, &answer));
    draft.set_some("error", first_of(object, &ERROR));
    draft.set_some("duration", duration(object));
    read_usage(object, draft);
    for entry in object.entries() {
        if entry.key != key && !TAKEN.contains(&entry.key) {
            draft.set(entry.key, entry.node);
        }
    }
    Ok(())
}

/// Keys of the run that are read under a name of the normal form; all others stay as they are.
const TAKEN: [&str; 42] = [
    "id",
    "run_id",
    "trace_id",
    "traceId",
    "session_id",
    "inputs",
    "input",
    "prompt",
    "question",
    "query",
    "output",
    "final_output",
    "answer",
    "final_answer",
    "response",
    "completion",
    "result",
    "error",
    "error_message",
    "exception",
    "duration",
    "duration_ms",
    "latency_ms",
    "elapsed_ms",
    "durationMs",
    "duration_s",
    "duration_seconds",
    "latency_s",
    "latency_seconds",
    "elapsed_s",
    "elapsed_seconds",
    "cost",
    "cost_usd",
    "total_cost",
    "total_cost_usd",
    "costUsd",
    "usage",
    "token_usage",
    "messages",
    "calls",
    "steps",
    "turn",
];

fn add_call<'run>(draft: &mut Draft<'run, '_>, node: Node<'run>, call: Object<'run>) {
    let mut fields: Vec<Entry<'run>> = Vec::with_capacity(call.entries().len());
    let mut add = |key: &'run str, node: Option<Node<'run>>| {
        if let Some(node) = node {
            fields.push(field(key, node));
        }
    };
    add("tool", tool(call));
    let function = object_of(call, "function");
    let args = first_of(call, &ARGS).or_else(|| first_of(function?, &ARGS));
    add("args", args.map(|args| super::calls::arguments(draft, args)));
    // `null` is what serialisers write for no result and no error; a result of `null` with nothing else said is a result.
    let result = first_of(call, &RESULT).or_else(|| RESULT.iter().find_map(|key| call.get(key)));
    add("result", result);
    add("error", first_of(call, &ERROR));
    add("start", first_of(call, &START));
    add("end", first_of(call, &END));
    add("duration", duration(call));
    for (name, keys) in PLAIN {
        add(name, first_of(call, keys));
    }
    let standard = fields.len();
    for entry in call.entries() {
        let known = [&TOOL as &[&str], &ARGS, &RESULT, &ERROR, &START, &END, &MILLISECONDS, &SECONDS];
        let plain = PLAIN.iter().any(|(_, keys)| keys.contains(&entry.key));
        let taken = fields.iter().take(standard).any(|field| field.key == entry.key);
        if !plain && !taken && !known.iter().any(|keys| keys.contains(&entry.key)) {
            fields.push(*entry);
        }
    }
    draft.step(Kind::Call, fields, node.origin);
}

/// Milliseconds, from a name that says its unit.
fn duration<'run>(object: Object<'run>) -> Option<Node<'run>> {
    first_of(object, &MILLISECONDS).or_else(|| {
        let node = first_of(object, &SECONDS)?;
        let Value::Number(seconds) = node.value else { return None };
        Some(Node::new(crate::trace::time::value(seconds.multiply(Number::Integer(1000))?.to_f64()), node.origin))
    })
}

fn read_usage<'run>(object: Object<'run>, draft: &mut Draft<'run, '_>) {
    let usage = object_of(object, "usage").or_else(|| object_of(object, "token_usage"));
    let cost = first_of(object, &COST).or_else(|| first_of(usage?, &COST));
    draft.set_some("cost", cost.filter(|cost| matches!(cost.value, Value::Number(_))));
    if let Some(usage) = usage {
        let mut counts = Usage::default();
        counts.add(usage);
        counts.set(draft);
    }
}
