//! What a model was given and what it said, in whatever form the attributes of its span hold it.

use super::super::nodes::{node_list, node_object};
use super::super::run_builder::RunBuilder;
use super::attributes::{Fact, NumberedField, NumberedList, SpanFacts};
use super::exchange::{RequestedCall, SpanMessage, ToolResult};
use super::node_text;
use super::tool_definitions::is_definition;
use super::tool_roles::{self, DefaultSpeaker};
use crate::adapt::api::responses;
use crate::adapt::blocks::{self, ContentBlock};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::printed_messages::PrintedMessage;
use crate::adapt::{content, printed_messages, streamed_answers};
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::{of_step, role};
use averment_runs::run::StepStatus;

key_table! {
    SpanMessageKey {
        Role = "role" | "message.role",
        Content = "content" | "parts" | "text" | "contents",
        Message = "message" | "gen_ai.message",
        Calls = "tool_calls" | "toolCalls",
        Answers = "tool_call_id" | "toolCallId" | "call_id" | "tool_use_id" | "id" | "toolUseId",
        Tool = "tool_name" | "toolName" | "name",
        Type = "type" | "part_kind" | "kind",
        Args = "arguments" | "args" | "input",
        Function = "function" | "function_call" | "functionCall" | "toolUse",
        Response = "function_response" | "functionResponse" | "toolResult",
        Result = "response" | "result" | "output",
        Thinking = "thinking" | "thought",
        Value = "value",
        Status = "status",
    }
}

key_table! {
    /// An object around messages: a request, a response, a serialized message.
    Holder {
        Messages = "messages" | "contents",
        Prompt = "prompt",
        System = "system" | "system_instruction",
        Config = "config",
        Inner = "kwargs" | "data",
        Lists = "generations" | "choices",
        /// The items of a whole answer of OpenAI's Responses.
        Items = "output",
        Class = "id",
        /// The message as its provider wrote it, in LangChain.
        Provider = "additional_kwargs",
        /// The id of the call that the message of a tool answers, whatever else it says of itself.
        Call = "tool_call_id" | "toolCallId",
    }
}

key_table! {
    SpeakerWord {
        User = "user" | "human" | "HumanMessage" | "HumanMessageChunk" | "MessageRole.USER",
        Assistant = "assistant" | "ai" | "AI" | "model" | "AIMessage" | "AIMessageChunk" | "MessageRole.ASSISTANT",
        System = "system" | "developer" | "SystemMessage" | "MessageRole.SYSTEM",
        Tool = "tool" | "function" | "ToolMessage" | "FunctionMessage",
    }
}

/// Its own role, else its type or class.
fn role_of<'run>(message: Object<'run>, outer: Object<'run>) -> Option<&'static str> {
    let class = |object| node_list(value_of(object, Holder::Class)?)?.last().copied();
    let told = [
        value_of(message, SpanMessageKey::Role),
        value_of(message, SpanMessageKey::Type),
        value_of(outer, SpanMessageKey::Role),
        value_of(outer, SpanMessageKey::Type),
        class(outer),
    ];
    told.into_iter().flatten().filter_map(node_text).find_map(canonical_role)
}

pub(super) fn canonical_role(word: &str) -> Option<&'static str> {
    Some(match SpeakerWord::from_key(word)? {
        SpeakerWord::User => role::USER,
        SpeakerWord::Assistant => role::ASSISTANT,
        SpeakerWord::System => role::SYSTEM,
        // The word for a role is that of the thing.
        SpeakerWord::Tool => of_step::TOOL,
    })
}

key_table! {
    BlockName {
        Any = "text" | "toolUse" | "toolResult" | "reasoningContent",
    }
}

key_table! {
    SpanPartType {
        Text = "text" | "input_text" | "output_text" | "user-prompt" | "system-prompt",
        Thinking = "thinking" | "reasoning",
        Call = "tool_call" | "tool-call" | "tool_use" | "function_call",
        Result = "tool_call_response" | "tool-result" | "tool_result" | "tool-return" | "function_call_output" | "tool_response",
        /// Files that are shown, and objects around messages.
        Silent = "blob" | "file" | "uri" | "message" | "constructor" | "image-url" | "binary" | "retry-prompt"
            | "Microsoft.Extensions.AI.TextReasoningContent",
    }
}

pub(crate) fn read_node<'run>(node: Node<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    match node.value {
        Value::Text(text) if text.as_str().trim_start().starts_with(['{', '[']) => {
            builder.open_json(node).unwrap_or(node)
        }
        Value::Text(_) => streamed_answers::read_stream(node, builder).unwrap_or(node),
        _ => node,
    }
}

/// From a list, an object or text; `by` is the default speaker.
pub(crate) fn read_messages<'run>(
    node: Node<'run>,
    by: &'static str,
    builder: &RunBuilder<'run, '_>,
) -> Vec<SpanMessage<'run>> {
    let mut found = messages_in(read_node(node, builder), by, builder);
    tool_roles::read_tool_roles(&mut found, builder);
    found
}

const UNKNOWN_ANSWER: &str = "what a model answered has a role or a part of no known type: it may be a call";
/// For an exchange that is whole. What a model answered and nobody knows may be a call. What it was given was done before, which the spans of that tell.
pub(super) fn note_answers<'run>(answers: &[SpanMessage<'run>], builder: &RunBuilder<'run, '_>) {
    for said in
        answers.iter().filter(|said| said.has_unknown || said.role.is_some_and(|role| !tool_roles::is_known_role(role)))
    {
        if let Some(place) = said.place {
            builder.note_unknown(place.origin, UNKNOWN_ANSWER);
        }
    }
}

fn messages_in<'run>(value: Node<'run>, by: &'static str, builder: &RunBuilder<'run, '_>) -> Vec<SpanMessage<'run>> {
    let Value::Object(outer) = value.value else {
        let items = match value.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(builder.arena.alloc(value)),
        };
        // Some put one list into another: a list of prompts.
        let items = match items {
            [only @ Node { value: Value::List(inner), .. }] if read_pair(*only).is_none() => inner,
            _ => items,
        };
        let speaker = DefaultSpeaker::among(items, by);
        let read = |item: Node<'run>| read_message(item, speaker.of_message(item), builder);
        return items.iter().map(|item| read_pair(*item).unwrap_or_else(|| read(read_node(*item, builder)))).collect();
    };
    let system = value_of(outer, Holder::System).or_else(|| {
        value_of(outer, Holder::Config).and_then(node_object).and_then(|config| value_of(config, Holder::System))
    });
    let mut found: Vec<SpanMessage<'run>> =
        system.map(|system| read_message(system, role::SYSTEM, builder)).into_iter().collect();
    let is_message = value_of(outer, SpanMessageKey::Role).is_some();
    let prompt = value_of(outer, Holder::Prompt).or_else(|| responses::request_input(outer));
    match (value_of(outer, Holder::Messages).filter(|_| !is_message), prompt) {
        (Some(inner), _) if node_list(inner).is_some() => found.extend(messages_in(inner, by, builder)),
        (_, Some(prompt)) => found.extend(messages_in(read_node(prompt, builder), by, builder)),
        _ => match value_of(outer, Holder::Lists).filter(|lists| node_list(*lists).is_some()) {
            Some(inner) => found.extend(messages_in(inner, by, builder)),
            None => match value_of(outer, Holder::Items).filter(|_| responses::is_response(outer)) {
                Some(items) => found.push(read_message(items, by, builder)),
                None => found.push(read_message(value, by, builder)),
            },
        },
    }
    found
}

/// LangChain's pair form: role and content.
fn read_pair<'run>(node: Node<'run>) -> Option<SpanMessage<'run>> {
    let [by, text] = node_list(node)? else { return None };
    let role = node_text(*by).and_then(canonical_role)?;
    node_text(*text)?;
    Some(SpanMessage { role: Some(role), texts: vec![*text], place: Some(node), ..SpanMessage::default() })
}

pub(super) fn read_message<'run>(
    node: Node<'run>,
    by: &'static str,
    builder: &RunBuilder<'run, '_>,
) -> SpanMessage<'run> {
    let mut said = SpanMessage { role: Some(by), place: Some(node), ..SpanMessage::default() };
    let Value::Object(mut message) = node.value else {
        sort_parts(node, &mut said, builder, 0);
        return said;
    };
    let outer = message;
    if let Some(inner) = value_of(message, SpanMessageKey::Message).and_then(node_object) {
        message = inner;
    }
    let serialised = message;
    message = unwrap_message(message);
    let written = [message, outer].into_iter().find_map(|one| node_text(value_of(one, SpanMessageKey::Role)?));
    said.role = role_of(message, serialised).or_else(|| role_of(outer, outer)).or(written).or(Some(by));
    let calls = |message| {
        node_list(read_node(value_of(message, SpanMessageKey::Calls)?, builder)).filter(|calls| !calls.is_empty())
    };
    let of_provider = || value_of(message, Holder::Provider).and_then(node_object).and_then(calls);
    let calls = calls(message).or_else(of_provider).unwrap_or_default();
    said.add_calls(calls);
    // Some hold the content itself where others have a message.
    let bare = value_of(outer, SpanMessageKey::Message).filter(|inner| node_object(*inner).is_none());
    let content = value_of(message, SpanMessageKey::Content).map(|content| read_parts(content, builder));
    let content = content.or_else(|| bare.map(|bare| read_node(bare, builder)));
    match (said.role, content) {
        // Some put the definitions of tools among the messages.
        (Some(of_step::TOOL), Some(content)) if is_definition(content) => {}
        (Some(of_step::TOOL), Some(content)) if !holds_parts(content) || holds_text_alone(content) => {
            let tool = value_of(message, SpanMessageKey::Tool).and_then(node_text);
            let id = value_of(message, SpanMessageKey::Answers).filter(|id| node_text(*id).is_some());
            let text = Some(content).filter(|content| holds_parts(*content));
            let result = text.and_then(|text| content::content_text(text, builder.arena)).unwrap_or(content);
            let told = ToolResult { id, tool, result, failed: has_failed(message) };
            said.results.push(told_in(told, builder));
        }
        // What the parts of a message are in is an object of its own in some.
        (_, Some(content)) => match node_object(content).filter(|_| said.role.is_some()) {
            Some(inner) => match value_of(inner, SpanMessageKey::Content) {
                Some(content) => {
                    said.role = role_of(inner, inner).or(said.role);
                    sort_parts(content, &mut said, builder, 0);
                }
                None => sort_parts(content, &mut said, builder, 0),
            },
            None => sort_parts(content, &mut said, builder, 0),
        },
        (_, None) if item_role(message).is_some() => {
            said.role = item_role(message);
            sort_part(node, message, &mut said, builder, 1);
        }
        (_, None) => said.has_unknown |= said.calls.is_empty() && is_unknown_part(message),
    }
    said
}

/// Of a call or a result that stands where a message would, as in the items of OpenAI's Responses.
fn item_role(item: Object<'_>) -> Option<&'static str> {
    match SpanPartType::from_key(node_text(value_of(item, SpanMessageKey::Type)?)?)? {
        SpanPartType::Call => Some(role::ASSISTANT),
        SpanPartType::Result => Some(of_step::TOOL),
        _ => None,
    }
}

fn holds_parts(content: Node<'_>) -> bool {
    let has_type =
        |node: &Node<'_>| node_object(*node).is_some_and(|part| value_of(part, SpanMessageKey::Type).is_some());
    node_list(content)
        .is_some_and(|parts| parts.iter().any(has_type) || !parts.is_empty() && parts.iter().all(is_block))
}

/// What a tool gave, in parts.
fn holds_text_alone(content: Node<'_>) -> bool {
    let kind =
        |part: &Node<'_>| SpanPartType::from_key(node_text(value_of(node_object(*part)?, SpanMessageKey::Type)?)?);
    node_list(content).is_some_and(|parts| parts.iter().all(|part| kind(part) == Some(SpanPartType::Text)))
}

/// A Bedrock block, identified by its only key.
fn is_block(node: &Node<'_>) -> bool {
    let only = node_object(*node).and_then(|block| match block.entries() {
        [only] => BlockName::from_key(only.key),
        _ => None,
    });
    only.is_some()
}

/// Text stays text unless it contains parts.
fn read_parts<'run>(content: Node<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    let value = read_node(content, builder);
    if holds_parts(value) { value } else { content }
}

pub(crate) fn holds_parts_in_text<'run>(content: Node<'run>, builder: &RunBuilder<'run, '_>) -> bool {
    node_text(content).is_some() && holds_parts(read_node(content, builder))
}

/// Sorts content into speech, calls and results, also parts in text.
pub(super) fn content_of<'run>(content: Node<'run>, said: &mut SpanMessage<'run>, builder: &RunBuilder<'run, '_>) {
    sort_parts(read_parts(content, builder), said, builder, 0);
}

pub(super) fn sort_parts<'run>(
    content: Node<'run>,
    said: &mut SpanMessage<'run>,
    builder: &RunBuilder<'run, '_>,
    depth: usize,
) {
    const DEEP: usize = 4;
    match content.value {
        Value::Text(text) if !text.is_empty() => said.texts.push(content),
        Value::List(items) if depth < DEEP => {
            for run in items.chunk_by(content::goes_on) {
                match run {
                    [first, _, ..] => {
                        said.texts
                            .extend(content::content_text(Node::new(Value::List(run), first.origin), builder.arena));
                    }
                    run => run.iter().for_each(|item| sort_parts(*item, said, builder, depth + 1)),
                }
            }
        }
        Value::Object(part) => self::sort_part(content, part, said, builder, depth),
        _ => {}
    }
}

fn sort_part<'run>(
    node: Node<'run>,
    part: Object<'run>,
    said: &mut SpanMessage<'run>,
    builder: &RunBuilder<'run, '_>,
    depth: usize,
) {
    let kind = value_of(part, SpanMessageKey::Type).and_then(node_text).and_then(SpanPartType::from_key);
    let content = value_of(part, SpanMessageKey::Content);
    match kind {
        Some(SpanPartType::Call) => said.add_call_part(requested_call(node)),
        Some(SpanPartType::Result) => said.results.extend(part_result(part, builder)),
        Some(SpanPartType::Thinking) => said.thoughts.extend(content.or(value_of(part, SpanMessageKey::Thinking))),
        Some(SpanPartType::Text) => {
            said.has_unknown |= content.is_some_and(super::holds_values);
            said.texts.extend(content.filter(|content| node_text(*content).is_some_and(|text| !text.is_empty())))
        }
        None | Some(SpanPartType::Silent) => {
            said.has_unknown |= depth > 0 && kind.is_none() && is_unknown_part(part);
            if value_of(part, SpanMessageKey::Function).is_some() {
                said.add_call_part(requested_call(node));
            } else if let Some(response) = value_of(part, SpanMessageKey::Response).and_then(node_object) {
                said.results.extend(part_result(response, builder));
            } else if let Some(content) = content {
                sort_parts(content, said, builder, depth + 1);
            }
        }
    }
}

/// A part with a type of its own that no provider has.
fn is_unknown_part(part: Object<'_>) -> bool {
    let is_call = [SpanMessageKey::Function, SpanMessageKey::Response].iter().any(|key| value_of(part, *key).is_some());
    let word = value_of(part, SpanMessageKey::Type).and_then(node_text);
    let is_message = word.is_none_or(|word| SpanPartType::from_key(word).is_some() || canonical_role(word).is_some());
    !is_call && !is_message && matches!(blocks::classify_block(part), ContentBlock::Unknown)
}

pub(super) fn requested_call<'run>(node: Node<'run>) -> Option<RequestedCall<'run>> {
    let outer = node_object(node)?;
    let call = value_of(outer, SpanMessageKey::Function).and_then(node_object).unwrap_or(outer);
    let tool = value_of(call, SpanMessageKey::Tool).filter(|tool| node_text(*tool).is_some())?;
    let id = value_of(outer, SpanMessageKey::Answers)
        .or(value_of(call, SpanMessageKey::Answers))
        .filter(|id| node_text(*id).is_some());
    Some(RequestedCall { id, tool, args: value_of(call, SpanMessageKey::Args), place: node })
}

fn part_result<'run>(part: Object<'run>, builder: &RunBuilder<'run, '_>) -> Option<ToolResult<'run>> {
    let result = value_of(part, SpanMessageKey::Result).or(value_of(part, SpanMessageKey::Content))?;
    // What Bedrock puts around it tells nothing.
    let is_text = |block: &Node<'run>| {
        is_block(block) && node_object(*block).is_some_and(|block| value_of(block, SpanMessageKey::Content).is_some())
    };
    let blocks = node_list(result).filter(|blocks| !blocks.is_empty() && blocks.iter().all(is_text));
    let result = blocks.and_then(|_| content::content_text(result, builder.arena)).unwrap_or(result);
    // Some say what type a result is beside it.
    let typed =
        |result: Node<'run>| node_object(result).filter(|object| value_of(*object, SpanMessageKey::Type).is_some());
    let inner = |result| value_of(typed(result)?, SpanMessageKey::Value);
    Some(ToolResult {
        id: value_of(part, SpanMessageKey::Answers).filter(|id| node_text(*id).is_some()),
        tool: value_of(part, SpanMessageKey::Tool).and_then(node_text),
        result: inner(result).unwrap_or(result),
        failed: has_failed(part),
    })
}

fn has_failed(told: Object<'_>) -> Option<bool> {
    let is_true = |key: &&str| matches!(told.get(key).map(|node| node.value), Some(Value::Boolean(true)));
    let word = || value_of(told, SpanMessageKey::Status).and_then(node_text).and_then(super::of_word);
    if of_step::IS_ERROR.iter().any(is_true) { Some(true) } else { word() }
}

fn unwrap_message(message: Object<'_>) -> Object<'_> {
    let inner = value_of(message, Holder::Inner).and_then(node_object);
    inner.filter(|inner| value_of(*inner, SpanMessageKey::Content).is_some()).unwrap_or(message)
}

pub(super) fn message_result<'run>(node: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<ToolResult<'run>> {
    let message = unwrap_message(node_object(node)?);
    let id = value_of(message, Holder::Call).filter(|id| node_text(*id).is_some())?;
    let content = value_of(message, SpanMessageKey::Content)?;
    let result = content::of_blocks(content, builder.arena).unwrap_or(content);
    Some(ToolResult { id: Some(id), tool: None, result, failed: has_failed(message) })
}

/// The message of a tool that a text prints.
pub(super) fn printed_message<'run>(node: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<ToolResult<'run>> {
    let PrintedMessage { result, id, tool, status } =
        printed_messages::parse_printed(node, builder.arena, builder.limits)?;
    let failed = status.filter(|status| *status != StepStatus::Unknown).map(|status| status != StepStatus::Ok);
    Some(ToolResult { id: Some(id), tool, result, failed })
}

/// What is told of a call in a message that says so, without what its content wraps it into.
fn told_in<'run>(told: ToolResult<'run>, builder: &RunBuilder<'run, '_>) -> ToolResult<'run> {
    let Some(printed) = printed_message(told.result, builder) else { return told };
    ToolResult {
        id: told.id.or(printed.id),
        tool: told.tool.or(printed.tool),
        result: printed.result,
        failed: told.failed.or(printed.failed),
    }
}

pub(crate) fn offered_tools<'run>(facts: &SpanFacts<'run>, builder: &RunBuilder<'run, '_>) -> Vec<Node<'run>> {
    let mut found: Vec<Node<'run>> = Vec::new();
    for one in facts.numbered_parts(NumberedList::Tools) {
        match one.part {
            NumberedField::Schema => found.push(offered_tool(read_node(one.node, builder))),
            NumberedField::ToolName => {
                found.push(builder.object_node(&[ObjectEntry { key: of_step::NAME, node: one.node }]))
            }
            _ => {}
        }
    }
    if let Some(node) = facts.fact_node(Fact::Tools).filter(|_| found.is_empty()) {
        let items = node_list(read_node(node, builder)).unwrap_or_default();
        found.extend(items.iter().map(|item| offered_tool(read_node(*item, builder))));
    }
    found
}

fn offered_tool<'run>(node: Node<'run>) -> Node<'run> {
    let inner = node_object(node).and_then(|tool| value_of(tool, SpanMessageKey::Function));
    inner.filter(|inner| node_object(*inner).is_some()).unwrap_or(node)
}
