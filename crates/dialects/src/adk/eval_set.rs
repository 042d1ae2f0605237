//! Reads eval sets into trees: the cases, the turns of each case, and the expected results of each turn.

use crate::Lowering;
use crate::spelling::{check_keys, field, list};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

pub(super) struct ExpectedCase {
    pub(super) place: Span,
    pub(super) id: String,
    pub(super) turns: Vec<ExpectedTurn>,
    /// True if a simulated user leads the conversation.
    pub(super) is_simulated: bool,
}

/// Expected calls and answer of one turn.
pub(super) struct ExpectedTurn {
    pub(super) place: Span,
    /// The message of the user.
    pub(super) prompt: Option<String>,
    pub(super) calls: Vec<ExpectedCall>,
    /// The expected answer and its location.
    pub(super) response: (String, Span),
}

pub(super) struct ExpectedCall {
    pub(super) place: Span,
    pub(super) tool: String,
    pub(super) args: Option<YamlNode>,
}

/// Reads the cases of an eval set.
pub(super) fn read_cases(document: &YamlNode, lowering: &mut Lowering<'_>) -> Vec<ExpectedCase> {
    if document.is_list() {
        return document.items().iter().filter_map(|case| read_older_case(case, lowering)).collect();
    }
    list(document, "eval_cases", "an eval set", lowering).iter().filter_map(|case| read_case(case, lowering)).collect()
}

fn read_case(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<ExpectedCase> {
    let id = case_name(node, "eval_id", lowering)?;
    let is_simulated = field(node, "conversation_scenario").is_some();
    if !is_simulated && field(node, "conversation").is_none() {
        let help = "write the turns under `conversation`";
        lowering.sink.error(Slug::TypeMismatch, node.span, format!("`{id}` has no `conversation`"), help);
        return None;
    }
    let turns = list(node, "conversation", "a case", lowering);
    let turns = turns.iter().filter_map(|turn| read_turn(turn, lowering)).collect();
    Some(ExpectedCase { place: node.span, id, turns, is_simulated })
}

fn case_name(node: &YamlNode, key: &str, lowering: &mut Lowering<'_>) -> Option<String> {
    if !node.is_map() {
        lowering.sink.wrong_shape(node, "a case", &format!("a mapping with `{key}`"));
        return None;
    }
    match field(node, key) {
        Some(id) => lowering.sink.as_text(id, &format!("`{key}` of a case")).map(str::to_owned),
        None => lowering.sink.required_text(node, key, "a case").map(str::to_owned),
    }
}

fn read_turn(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<ExpectedTurn> {
    const KEYS: &[&str] = &[
        "invocation_id",
        "user_content",
        "final_response",
        "intermediate_data",
        "creation_timestamp",
        "duration",
        "model_duration",
        "tool_duration",
        "rubrics",
        "app_details",
    ];
    if !check_keys(node, "a turn", KEYS, lowering) {
        return None;
    }
    let Some(asked) = field(node, "user_content") else {
        let help = "write `user_content: {parts: [{text: …}]}`";
        lowering.sink.error(Slug::TypeMismatch, node.span, "a turn has no `user_content`", help);
        return None;
    };
    let prompt = part_texts(asked, lowering).into_iter().next();
    let response = field(node, "final_response");
    let answer = response.map(|content| part_texts(content, lowering).join("\n")).unwrap_or_default();
    let between = field(node, "intermediate_data");
    let calls = between.map(|between| read_calls(between, lowering)).unwrap_or_default();
    let place = response.map_or(node.span, |response| response.span);
    Some(ExpectedTurn { place: node.span, prompt, calls, response: (answer, place) })
}

fn part_texts(content: &YamlNode, lowering: &mut Lowering<'_>) -> Vec<String> {
    if !content.is_map() {
        lowering.sink.wrong_shape(content, "the content of a message", "a mapping with `parts`");
    }
    let parts = list(content, "parts", "a message", lowering).iter();
    parts.filter_map(|part| field(part, "text")?.as_text()).filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

/// Reads expected calls from lists of calls, or from events that hold calls.
fn read_calls(between: &YamlNode, lowering: &mut Lowering<'_>) -> Vec<ExpectedCall> {
    const KEYS: &[&str] = &["tool_uses", "tool_responses", "intermediate_responses", "invocation_events"];
    if !check_keys(between, "`intermediate_data`", KEYS, lowering) {
        return Vec::new();
    }
    let mut calls = Vec::new();
    for call in list(between, "tool_uses", "`intermediate_data`", lowering) {
        calls.extend(read_call(call, lowering));
    }
    for event in list(between, "invocation_events", "`intermediate_data`", lowering) {
        let Some(content) = field(event, "content") else { continue };
        for part in list(content, "parts", "a message", lowering) {
            calls.extend(field(part, "function_call").and_then(|call| read_call(call, lowering)));
        }
    }
    calls
}

fn read_call(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<ExpectedCall> {
    const KEYS: &[&str] = &["id", "name", "args", "partial_args", "will_continue"];
    if !check_keys(node, "an expected call", KEYS, lowering) {
        return None;
    }
    let tool = lowering.sink.required_text(node, "name", "an expected call")?.to_owned();
    let args = checked_args(node, "args", lowering)?;
    Some(ExpectedCall { place: node.span, tool, args })
}

/// Returns the expected arguments. The outer `None` means that they are not a mapping, which was reported.
fn checked_args(node: &YamlNode, key: &str, lowering: &mut Lowering<'_>) -> Option<Option<YamlNode>> {
    match field(node, key) {
        Some(args) if !args.is_map() => {
            lowering.sink.wrong_shape(args, &format!("`{key}` of an expected call"), "a mapping");
            None
        }
        args => Some(args.cloned()),
    }
}

/// Reads a case in the format that preceded eval sets: a list of entries with `name` and `data`.
fn read_older_case(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<ExpectedCase> {
    let id = case_name(node, "name", lowering)?;
    let mut turns = Vec::new();
    for turn in list(node, "data", "a case", lowering) {
        let prompt = lowering.sink.required_text(turn, "query", "a turn").map(str::to_owned);
        let mut calls = Vec::new();
        for call in list(turn, "expected_tool_use", "a turn", lowering) {
            let Some(tool) = lowering.sink.required_text(call, "tool_name", "an expected call") else { continue };
            let Some(args) = checked_args(call, "tool_input", lowering) else { continue };
            calls.push(ExpectedCall { place: call.span, tool: tool.to_owned(), args });
        }
        let reference = turn.get("reference");
        let answer = match reference.map(|node| &node.value) {
            Some(YamlValue::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let place = reference.map_or(turn.span, |reference| reference.span);
        turns.push(ExpectedTurn { place: turn.span, prompt, calls, response: (answer, place) });
    }
    Some(ExpectedCase { place: node.span, id, turns, is_simulated: false })
}
