//! What a model was given and what it said, in whatever form the attributes of its span hold it.

use super::super::content;
use super::super::draft::Draft;
use super::super::nodes::{list, object};
use super::attributes::{Fact, Facts, Numbered, Part};
use super::exchange::{Asked, Said, Told};
use super::text_of_node;
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::printed;
use crate::adapt::printed::Printed;
use averment_base::value::{Entry, Node, Object, Value};
use averment_runs::normal::{of_step, role};
use averment_runs::run::Status;

key_table! {
    /// A message, and a part of one: the names in all dialects.
    OfSaid {
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
        Class = "id",
        /// The message as its provider wrote it, in LangChain.
        Provider = "additional_kwargs",
        /// The id of the call that the message of a tool answers, whatever else it says of itself.
        Call = "tool_call_id" | "toolCallId",
    }
}

key_table! {
    /// Who says a message.
    Speaker {
        User = "user" | "human" | "HumanMessage" | "HumanMessageChunk" | "MessageRole.USER",
        Assistant = "assistant" | "ai" | "AI" | "model" | "AIMessage" | "AIMessageChunk" | "MessageRole.ASSISTANT",
        System = "system" | "developer" | "SystemMessage" | "MessageRole.SYSTEM",
        Tool = "tool" | "function" | "ToolMessage" | "FunctionMessage",
    }
}

/// The role of a message: what it says itself, else its type or its class.
fn role_of<'run>(message: Object<'run>, outer: Object<'run>) -> Option<&'static str> {
    let class = |object| list(value_of(object, Holder::Class)?)?.last().copied();
    let told = [
        value_of(message, OfSaid::Role),
        value_of(message, OfSaid::Type),
        value_of(outer, OfSaid::Role),
        value_of(outer, OfSaid::Type),
        class(outer),
    ];
    told.into_iter().flatten().filter_map(text_of_node).find_map(canonical)
}

pub(super) fn canonical(word: &str) -> Option<&'static str> {
    Some(match Speaker::from_key(word)? {
        Speaker::User => role::USER,
        Speaker::Assistant => role::ASSISTANT,
        Speaker::System => role::SYSTEM,
        // The word for a role is that of the thing.
        Speaker::Tool => of_step::TOOL,
    })
}

key_table! {
    /// The only key of a block of Bedrock.
    Block {
        Any = "text" | "toolUse" | "toolResult" | "reasoningContent",
    }
}

key_table! {
    /// What a part of a message is.
    PartType {
        Text = "text" | "input_text" | "output_text" | "user-prompt" | "system-prompt",
        Thinking = "thinking" | "reasoning",
        Call = "tool_call" | "tool-call" | "tool_use" | "function_call",
        Result = "tool_call_response" | "tool-result" | "tool_result" | "tool-return" | "function_call_output" | "tool_response",
    }
}

/// The value that a text holds, where it holds one.
pub(crate) fn read<'run>(node: Node<'run>, draft: &Draft<'run, '_>) -> Node<'run> {
    match node.value {
        Value::Text(text) if text.as_str().trim_start().starts_with(['{', '[']) => {
            node.embedded(draft.arena, draft.limits).unwrap_or(node)
        }
        _ => node,
    }
}

/// Messages in a list, in an object that holds one, or in text; `by` says whose they are where they do not say it themselves.
pub(crate) fn messages<'run>(node: Node<'run>, by: &'static str, draft: &Draft<'run, '_>) -> Vec<Said<'run>> {
    let value = read(node, draft);
    let Value::Object(outer) = value.value else {
        let items = match value.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(draft.arena.alloc(value)),
        };
        // Some put one list into another: a list of prompts.
        let items = match items {
            [only @ Node { value: Value::List(inner), .. }] if pair(*only).is_none() => inner,
            _ => items,
        };
        return items
            .iter()
            .map(|item| pair(*item).unwrap_or_else(|| message(read(*item, draft), by, draft)))
            .collect();
    };
    let system = value_of(outer, Holder::System).or_else(|| {
        value_of(outer, Holder::Config).and_then(object).and_then(|config| value_of(config, Holder::System))
    });
    let mut found: Vec<Said<'run>> = system.map(|system| message(system, role::SYSTEM, draft)).into_iter().collect();
    let is_message = value_of(outer, OfSaid::Role).is_some();
    match (value_of(outer, Holder::Messages).filter(|_| !is_message), value_of(outer, Holder::Prompt)) {
        (Some(inner), _) if list(inner).is_some() => found.extend(messages(inner, by, draft)),
        (_, Some(prompt)) => found.extend(messages(prompt, by, draft)),
        _ => match value_of(outer, Holder::Lists).filter(|lists| list(*lists).is_some()) {
            Some(inner) => found.extend(messages(inner, by, draft)),
            None => found.push(message(value, by, draft)),
        },
    }
    found
}

/// A message as LangChain takes it, too: who says it, and what.
fn pair<'run>(node: Node<'run>) -> Option<Said<'run>> {
    let [by, text] = list(node)? else { return None };
    let role = text_of_node(*by).and_then(canonical)?;
    text_of_node(*text)?;
    Some(Said { role: Some(role), texts: vec![*text], place: Some(node), ..Said::default() })
}

pub(super) fn message<'run>(node: Node<'run>, by: &'static str, draft: &Draft<'run, '_>) -> Said<'run> {
    let mut said = Said { role: Some(by), place: Some(node), ..Said::default() };
    let Value::Object(mut message) = node.value else {
        parts(node, &mut said, draft, 0);
        return said;
    };
    let outer = message;
    if let Some(inner) = value_of(message, OfSaid::Message).and_then(object) {
        message = inner;
    }
    let serialised = message;
    message = held(message);
    said.role = role_of(message, serialised).or_else(|| role_of(outer, outer)).or(Some(by));
    let calls = |message| list(read(value_of(message, OfSaid::Calls)?, draft)).filter(|calls| !calls.is_empty());
    let of_provider = || value_of(message, Holder::Provider).and_then(object).and_then(calls);
    let calls = calls(message).or_else(of_provider).unwrap_or_default();
    said.calls.extend(calls.iter().filter_map(|call| asked(*call)));
    // Some hold the content itself where others have a message.
    let bare = value_of(outer, OfSaid::Message).filter(|inner| object(*inner).is_none());
    let content = value_of(message, OfSaid::Content).map(|content| read_parts(content, draft));
    let content = content.or_else(|| bare.map(|bare| read(bare, draft)));
    match (said.role, content) {
        (Some(of_step::TOOL), Some(content)) if !holds_parts(content) => {
            let tool = value_of(message, OfSaid::Tool).and_then(text_of_node);
            let id = value_of(message, OfSaid::Answers).filter(|id| text_of_node(*id).is_some());
            let told = Told { id, tool, result: content, failed: failed(message) };
            said.results.push(told_in(told, draft));
        }
        // What the parts of a message are in is an object of its own in some.
        (_, Some(content)) => match object(content).filter(|_| said.role.is_some()) {
            Some(inner) => match value_of(inner, OfSaid::Content) {
                Some(content) => {
                    said.role = role_of(inner, inner).or(said.role);
                    parts(content, &mut said, draft, 0);
                }
                None => parts(content, &mut said, draft, 0),
            },
            None => parts(content, &mut said, draft, 0),
        },
        (_, None) => {}
    }
    said
}

fn holds_parts(content: Node<'_>) -> bool {
    let has_type = |node: &Node<'_>| object(*node).is_some_and(|part| value_of(part, OfSaid::Type).is_some());
    list(content).is_some_and(|parts| parts.iter().any(has_type) || !parts.is_empty() && parts.iter().all(is_block))
}

/// Whether a value is a block of Bedrock: what it holds is told by its only key.
fn is_block(node: &Node<'_>) -> bool {
    let only = object(*node).and_then(|block| match block.entries() {
        [only] => Block::from_key(only.key),
        _ => None,
    });
    only.is_some()
}

/// The content of a message that is text stays text, unless it holds parts.
fn read_parts<'run>(content: Node<'run>, draft: &Draft<'run, '_>) -> Node<'run> {
    let value = read(content, draft);
    if holds_parts(value) { value } else { content }
}

/// Whether text holds parts of a content.
pub(crate) fn holds_parts_in_text<'run>(content: Node<'run>, draft: &Draft<'run, '_>) -> bool {
    text_of_node(content).is_some() && holds_parts(read(content, draft))
}

/// Sorts a content into what is said, asked for and told: text that holds parts, too.
pub(super) fn content_of<'run>(content: Node<'run>, said: &mut Said<'run>, draft: &Draft<'run, '_>) {
    parts(read_parts(content, draft), said, draft, 0);
}

/// Sorts the parts of a content into what is said, asked for and told.
pub(super) fn parts<'run>(content: Node<'run>, said: &mut Said<'run>, draft: &Draft<'run, '_>, depth: usize) {
    const DEEP: usize = 4;
    match content.value {
        Value::Text(text) if !text.is_empty() => said.texts.push(content),
        Value::List(items) if depth < DEEP => {
            for run in items.chunk_by(content::goes_on) {
                match run {
                    [first, _, ..] => {
                        said.texts.extend(content::text(Node::new(Value::List(run), first.origin), draft.arena));
                    }
                    run => run.iter().for_each(|item| parts(*item, said, draft, depth + 1)),
                }
            }
        }
        Value::Object(part) => self::part(content, part, said, draft, depth),
        _ => {}
    }
}

fn part<'run>(node: Node<'run>, part: Object<'run>, said: &mut Said<'run>, draft: &Draft<'run, '_>, depth: usize) {
    let kind = value_of(part, OfSaid::Type).and_then(text_of_node).and_then(PartType::from_key);
    let content = value_of(part, OfSaid::Content);
    match kind {
        Some(PartType::Call) => said.calls.extend(asked(node)),
        Some(PartType::Result) => said.results.extend(told(part, draft)),
        Some(PartType::Thinking) => said.thoughts.extend(content.or(value_of(part, OfSaid::Thinking))),
        Some(PartType::Text) => {
            said.texts.extend(content.filter(|content| text_of_node(*content).is_some_and(|text| !text.is_empty())))
        }
        None => {
            if value_of(part, OfSaid::Function).is_some() {
                said.calls.extend(asked(node));
            } else if let Some(response) = value_of(part, OfSaid::Response).and_then(object) {
                said.results.extend(told(response, draft));
            } else if let Some(content) = content {
                parts(content, said, draft, depth + 1);
            }
        }
    }
}

pub(super) fn asked<'run>(node: Node<'run>) -> Option<Asked<'run>> {
    let outer = object(node)?;
    let call = value_of(outer, OfSaid::Function).and_then(object).unwrap_or(outer);
    let tool = value_of(call, OfSaid::Tool).filter(|tool| text_of_node(*tool).is_some())?;
    let id =
        value_of(outer, OfSaid::Answers).or(value_of(call, OfSaid::Answers)).filter(|id| text_of_node(*id).is_some());
    Some(Asked { id, tool, args: value_of(call, OfSaid::Args), place: node })
}

fn told<'run>(part: Object<'run>, draft: &Draft<'run, '_>) -> Option<Told<'run>> {
    let result = value_of(part, OfSaid::Result).or(value_of(part, OfSaid::Content))?;
    // What Bedrock puts around it tells nothing.
    let is_text = |block: &Node<'run>| {
        is_block(block) && object(*block).is_some_and(|block| value_of(block, OfSaid::Content).is_some())
    };
    let blocks = list(result).filter(|blocks| !blocks.is_empty() && blocks.iter().all(is_text));
    let result = blocks.and_then(|_| content::text(result, draft.arena)).unwrap_or(result);
    // Some say what type a result is beside it.
    let typed = |result: Node<'run>| object(result).filter(|object| value_of(*object, OfSaid::Type).is_some());
    let inner = |result| value_of(typed(result)?, OfSaid::Value);
    Some(Told {
        id: value_of(part, OfSaid::Answers).filter(|id| text_of_node(*id).is_some()),
        tool: value_of(part, OfSaid::Tool).and_then(text_of_node),
        result: inner(result).unwrap_or(result),
        failed: failed(part),
    })
}

/// Whether what is told of a call says how it ended.
fn failed(told: Object<'_>) -> Option<bool> {
    let is_true = |key: &&str| matches!(told.get(key).map(|node| node.value), Some(Value::Boolean(true)));
    let word = || value_of(told, OfSaid::Status).and_then(text_of_node).and_then(super::of_word);
    if of_step::IS_ERROR.iter().any(is_true) { Some(true) } else { word() }
}

/// The object that holds a message which was written out with its class.
fn held(message: Object<'_>) -> Object<'_> {
    let inner = value_of(message, Holder::Inner).and_then(object);
    inner.filter(|inner| value_of(*inner, OfSaid::Content).is_some()).unwrap_or(message)
}

/// What a message to the model says of a call, where a value is one.
pub(super) fn answer<'run>(node: Node<'run>, draft: &Draft<'run, '_>) -> Option<Told<'run>> {
    let message = held(object(node)?);
    let id = value_of(message, Holder::Call).filter(|id| text_of_node(*id).is_some())?;
    let content = value_of(message, OfSaid::Content)?;
    let result = content::of_blocks(content, draft.arena).unwrap_or(content);
    Some(Told { id: Some(id), tool: None, result, failed: failed(message) })
}

/// The message of a tool that a text prints.
pub(super) fn printed_message<'run>(node: Node<'run>, draft: &Draft<'run, '_>) -> Option<Told<'run>> {
    let Printed { result, id, tool, status } = printed::of(node, draft.arena, draft.limits)?;
    let failed = status.filter(|status| *status != Status::Unknown).map(|status| status != Status::Ok);
    Some(Told { id: Some(id), tool, result, failed })
}

/// What is told of a call in a message that says so, without what its content wraps it into.
fn told_in<'run>(told: Told<'run>, draft: &Draft<'run, '_>) -> Told<'run> {
    let Some(printed) = printed_message(told.result, draft) else { return told };
    Told {
        id: told.id.or(printed.id),
        tool: told.tool.or(printed.tool),
        result: printed.result,
        failed: told.failed.or(printed.failed),
    }
}

/// The tools that a model could use.
pub(crate) fn tools<'run>(facts: &Facts<'run>, draft: &Draft<'run, '_>) -> Vec<Node<'run>> {
    let mut found: Vec<Node<'run>> = Vec::new();
    for one in facts.written(Numbered::Tools) {
        match one.part {
            Part::Schema => found.push(tool(read(one.node, draft))),
            Part::ToolName => found.push(draft.object(&[Entry { key: of_step::NAME, node: one.node }])),
            _ => {}
        }
    }
    if let Some(node) = facts.get(Fact::Tools).filter(|_| found.is_empty()) {
        let items = list(read(node, draft)).unwrap_or_default();
        found.extend(items.iter().map(|item| tool(read(*item, draft))));
    }
    found
}

fn tool<'run>(node: Node<'run>) -> Node<'run> {
    let inner = object(node).and_then(|tool| value_of(tool, OfSaid::Function));
    inner.filter(|inner| object(*inner).is_some()).unwrap_or(node)
}
