//! What a model was given and what it said, in whatever form the attributes of its span hold it.

use super::super::content;
use super::super::run_builder::RunBuilder;
use super::super::{node_list, node_object};
use super::attributes::{Fact, NumberedField, NumberedList, SpanFacts, names};
use super::exchange::{ModelExchange, RequestedCall, SpanMessage, ToolResult};
use super::{numbered_messages, text_of_node, wrapped_values};
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::{of_step, role};

names! {
    SpanMessageKey {
        Role = ["role", "message.role"],
        Content = ["content", "parts", "text", "contents"],
        Message = ["message", "gen_ai.message"],
        Calls = ["tool_calls", "toolCalls"],
        Answers = ["tool_call_id", "toolCallId", "call_id", "tool_use_id", "id", "toolUseId"],
        Tool = ["tool_name", "toolName", "name"],
        Type = ["type", "part_kind", "kind"],
        Args = ["arguments", "args", "input"],
        Function = ["function", "function_call", "functionCall", "toolUse"],
        Response = ["function_response", "functionResponse", "toolResult"],
        Result = ["response", "result", "output"],
        Messages = ["messages", "contents"],
        Prompt = ["prompt"],
        System = ["system", "system_instruction"],
        Config = ["config"],
        EventName = ["event.name"],
        Thinking = ["thinking", "thought"],
        Value = ["value"],
        /// Message holders in serialized messages, generations and responses.
        Inner = ["kwargs", "data"],
        Lists = ["generations", "choices"],
        Class = ["id"],
        /// LangChain's copy of the provider's original message.
        Provider = ["additional_kwargs"],
        /// The call that a tool message answers.
        Call = ["tool_call_id", "toolCallId"],
        Status = ["status"],
    }
}

names! {
    SpeakerWord {
        User = ["user", "human", "HumanMessage", "HumanMessageChunk", "MessageRole.USER"],
        Assistant = ["assistant", "ai", "AI", "model", "AIMessage", "AIMessageChunk", "MessageRole.ASSISTANT"],
        System = ["system", "developer", "SystemMessage", "MessageRole.SYSTEM"],
        Tool = ["tool", "function", "ToolMessage", "FunctionMessage"],
    }
}

/// Its own role, else its type or class.
fn role_of<'run>(message: Object<'run>, outer: Object<'run>) -> Option<&'static str> {
    let class = |object| node_list(find_key(object, SpanMessageKey::Class)?)?.last().copied();
    let told = [
        find_key(message, SpanMessageKey::Role),
        find_key(message, SpanMessageKey::Type),
        find_key(outer, SpanMessageKey::Role),
        find_key(outer, SpanMessageKey::Type),
        class(outer),
    ];
    told.into_iter().flatten().filter_map(text_of_node).find_map(canonical_role)
}

pub(super) fn canonical_role(word: &str) -> Option<&'static str> {
    Some(match SpeakerWord::from_name(word)?.0 {
        SpeakerWord::User => role::USER,
        SpeakerWord::Assistant => role::ASSISTANT,
        SpeakerWord::System => role::SYSTEM,
        // The word for a role is that of the thing.
        SpeakerWord::Tool => of_step::TOOL,
    })
}

fn find_key<'run>(object: Object<'run>, wanted: SpanMessageKey) -> Option<Node<'run>> {
    wanted.find(object)
}

names! {
    BlockName {
        Any = ["text", "toolUse", "toolResult", "reasoningContent"],
    }
}

names! {
    SpanPartType {
        Text = ["text", "input_text", "output_text", "user-prompt", "system-prompt"],
        Thinking = ["thinking", "reasoning"],
        Call = ["tool_call", "tool-call", "tool_use", "function_call"],
        Result = ["tool_call_response", "tool-result", "tool_result", "tool-return", "function_call_output", "tool_response"],
    }
}

pub(crate) fn read_exchange<'run>(facts: &SpanFacts<'run>, draft: &RunBuilder<'run, '_>) -> ModelExchange<'run> {
    let (given, said) = (
        numbered_messages::read_numbered(facts, NumberedList::In, draft),
        numbered_messages::read_numbered(facts, NumberedList::Out, draft),
    );
    let mut exchange = ModelExchange { input: given, output: said, ..ModelExchange::default() };
    let waits = !draft.is_whole() && !facts.has_any(&[Fact::Messages, Fact::Input]);
    if let Some(node) = facts.fact_node(Fact::MessagesIn).filter(|_| exchange.input.is_empty()) {
        match waits {
            true => exchange.unread = Some(node),
            false => exchange.input = read_messages(node, role::USER, draft),
        }
    }
    if let Some(node) = facts.fact_node(Fact::System).filter(|_| !waits) {
        let mut system = SpanMessage { role: Some(role::SYSTEM), place: Some(node), ..SpanMessage::default() };
        sort_parts(read_node(node, draft), &mut system, draft, 0);
        exchange.input.insert(0, system);
    }
    if let Some(node) = facts.fact_node(Fact::MessagesOut).filter(|_| exchange.output.is_empty()) {
        exchange.output = read_messages(node, role::ASSISTANT, draft);
    }
    if let Some(node) =
        facts.fact_node(Fact::Messages).filter(|_| exchange.output.is_empty() && exchange.input.is_empty())
    {
        split_conversation(read_messages(node, role::USER, draft), &mut exchange);
    }
    if exchange.output.is_empty() {
        let mut said = SpanMessage { role: Some(role::ASSISTANT), ..SpanMessage::default() };
        facts.fact_node(Fact::SaidText).into_iter().for_each(|text| content_of(text, &mut said, draft));
        if let Some(calls) = facts.fact_node(Fact::SaidCalls) {
            said.calls.extend(
                node_list(read_node(calls, draft)).unwrap_or_default().iter().filter_map(|call| requested_call(*call)),
            );
        }
        said.place = [Fact::SaidText, Fact::SaidCalls].into_iter().find_map(|fact| facts.fact_node(fact));
        exchange.output.extend(said.place.is_some().then_some(said));
    }
    if let Some(node) = facts.fact_node(Fact::Input).filter(|_| exchange.input.is_empty()) {
        exchange.input = read_messages(node, role::USER, draft);
    }
    if let Some(node) = facts.fact_node(Fact::Output).filter(|_| exchange.output.iter().all(SpanMessage::is_empty)) {
        exchange.output = read_messages(node, role::ASSISTANT, draft);
    }
    exchange.output.retain(|said| !said.is_empty());
    exchange.records_output |= !exchange.output.is_empty();
    exchange
}

/// The model's trailing messages are output, earlier ones input.
pub(crate) fn split_conversation<'run>(messages: Vec<SpanMessage<'run>>, exchange: &mut ModelExchange<'run>) {
    let last = messages.iter().rposition(|said| !said.is_of_assistant()).map_or(0, |last| last + 1);
    for (place, said) in messages.into_iter().enumerate() {
        if place < last { exchange.input.push(said) } else { exchange.output.push(said) }
    }
}

pub(crate) fn read_node<'run>(node: Node<'run>, draft: &RunBuilder<'run, '_>) -> Node<'run> {
    match node.value {
        Value::Text(text) if text.as_str().trim_start().starts_with(['{', '[']) => {
            node.parse_embedded(draft.arena, draft.limits).unwrap_or(node)
        }
        _ => node,
    }
}

/// From a list, an object or text; `by` is the default speaker.
pub(crate) fn read_messages<'run>(
    node: Node<'run>,
    by: &'static str,
    draft: &RunBuilder<'run, '_>,
) -> Vec<SpanMessage<'run>> {
    let value = read_node(node, draft);
    let Value::Object(outer) = value.value else {
        let items = match value.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(draft.arena.alloc(value)),
        };
        // Some put one list into another: a list of prompts.
        let items = match items {
            [only @ Node { value: Value::List(inner), .. }] if read_pair(*only).is_none() => inner,
            _ => items,
        };
        return items
            .iter()
            .map(|item| read_pair(*item).unwrap_or_else(|| read_message(read_node(*item, draft), by, draft)))
            .collect();
    };
    let system = find_key(outer, SpanMessageKey::System).or_else(|| {
        find_key(outer, SpanMessageKey::Config)
            .and_then(node_object)
            .and_then(|config| find_key(config, SpanMessageKey::System))
    });
    let mut found: Vec<SpanMessage<'run>> =
        system.map(|system| read_message(system, role::SYSTEM, draft)).into_iter().collect();
    let is_message = find_key(outer, SpanMessageKey::Role).is_some();
    match (find_key(outer, SpanMessageKey::Messages).filter(|_| !is_message), find_key(outer, SpanMessageKey::Prompt)) {
        (Some(inner), _) if node_list(inner).is_some() => found.extend(read_messages(inner, by, draft)),
        (_, Some(prompt)) => found.extend(read_messages(prompt, by, draft)),
        _ => match find_key(outer, SpanMessageKey::Lists).filter(|lists| node_list(*lists).is_some()) {
            Some(inner) => found.extend(read_messages(inner, by, draft)),
            None => found.push(read_message(value, by, draft)),
        },
    }
    found
}

/// LangChain's pair form: role and content.
fn read_pair<'run>(node: Node<'run>) -> Option<SpanMessage<'run>> {
    let [by, text] = node_list(node)? else { return None };
    let role = text_of_node(*by).and_then(canonical_role)?;
    text_of_node(*text)?;
    Some(SpanMessage { role: Some(role), texts: vec![*text], place: Some(node), ..SpanMessage::default() })
}

pub(super) fn read_message<'run>(
    node: Node<'run>,
    by: &'static str,
    draft: &RunBuilder<'run, '_>,
) -> SpanMessage<'run> {
    let mut said = SpanMessage { role: Some(by), place: Some(node), ..SpanMessage::default() };
    let Value::Object(mut message) = node.value else {
        sort_parts(node, &mut said, draft, 0);
        return said;
    };
    let outer = message;
    if let Some(inner) = find_key(message, SpanMessageKey::Message).and_then(node_object) {
        message = inner;
    }
    let serialised = message;
    message = unwrap_message(message);
    said.role = role_of(message, serialised).or_else(|| role_of(outer, outer)).or(Some(by));
    let calls = |message| {
        node_list(read_node(find_key(message, SpanMessageKey::Calls)?, draft)).filter(|calls| !calls.is_empty())
    };
    let of_provider = || find_key(message, SpanMessageKey::Provider).and_then(node_object).and_then(calls);
    let calls = calls(message).or_else(of_provider).unwrap_or_default();
    said.calls.extend(calls.iter().filter_map(|call| requested_call(*call)));
    // Some hold the content itself where others have a message.
    let bare = find_key(outer, SpanMessageKey::Message).filter(|inner| node_object(*inner).is_none());
    let content = find_key(message, SpanMessageKey::Content).map(|content| read_parts(content, draft));
    let content = content.or_else(|| bare.map(|bare| read_node(bare, draft)));
    match (said.role, content) {
        (Some(of_step::TOOL), Some(content)) if !holds_parts(content) => {
            let tool = find_key(message, SpanMessageKey::Tool).and_then(text_of_node);
            let id = find_key(message, SpanMessageKey::Answers).filter(|id| text_of_node(*id).is_some());
            let told = ToolResult { id, tool, result: content, failed: has_failed(message) };
            said.results.push(wrapped_values::unwrap_result(told, draft));
        }
        // What the parts of a message are in is an object of its own in some.
        (_, Some(content)) => match node_object(content).filter(|_| said.role.is_some()) {
            Some(inner) => match find_key(inner, SpanMessageKey::Content) {
                Some(content) => {
                    said.role = role_of(inner, inner).or(said.role);
                    sort_parts(content, &mut said, draft, 0);
                }
                None => sort_parts(content, &mut said, draft, 0),
            },
            None => sort_parts(content, &mut said, draft, 0),
        },
        (_, None) => {}
    }
    said
}

fn holds_parts(content: Node<'_>) -> bool {
    let has_type =
        |node: &Node<'_>| node_object(*node).is_some_and(|part| find_key(part, SpanMessageKey::Type).is_some());
    node_list(content)
        .is_some_and(|parts| parts.iter().any(has_type) || !parts.is_empty() && parts.iter().all(is_block))
}

/// A Bedrock block, identified by its only key.
fn is_block(node: &Node<'_>) -> bool {
    let only = node_object(*node).and_then(|block| match block.entries() {
        [only] => BlockName::from_name(only.key),
        _ => None,
    });
    only.is_some()
}

/// Text stays text unless it contains parts.
fn read_parts<'run>(content: Node<'run>, draft: &RunBuilder<'run, '_>) -> Node<'run> {
    let value = read_node(content, draft);
    if holds_parts(value) { value } else { content }
}

pub(crate) fn holds_parts_in_text<'run>(content: Node<'run>, draft: &RunBuilder<'run, '_>) -> bool {
    text_of_node(content).is_some() && holds_parts(read_node(content, draft))
}

/// Sorts content into speech, calls and results, also parts in text.
pub(super) fn content_of<'run>(content: Node<'run>, said: &mut SpanMessage<'run>, draft: &RunBuilder<'run, '_>) {
    sort_parts(read_parts(content, draft), said, draft, 0);
}

fn sort_parts<'run>(content: Node<'run>, said: &mut SpanMessage<'run>, draft: &RunBuilder<'run, '_>, depth: usize) {
    const DEEP: usize = 4;
    match content.value {
        Value::Text(text) if !text.is_empty() => said.texts.push(content),
        Value::List(items) if depth < DEEP => {
            for run in items.chunk_by(content::goes_on) {
                match run {
                    [first, _, ..] => {
                        said.texts
                            .extend(content::content_text(Node::new(Value::List(run), first.origin), draft.arena));
                    }
                    run => run.iter().for_each(|item| sort_parts(*item, said, draft, depth + 1)),
                }
            }
        }
        Value::Object(part) => self::sort_part(content, part, said, draft, depth),
        _ => {}
    }
}

fn sort_part<'run>(
    node: Node<'run>,
    part: Object<'run>,
    said: &mut SpanMessage<'run>,
    draft: &RunBuilder<'run, '_>,
    depth: usize,
) {
    let kind = find_key(part, SpanMessageKey::Type).and_then(text_of_node).and_then(SpanPartType::from_name);
    let content = find_key(part, SpanMessageKey::Content);
    match kind.map(|(kind, _)| kind) {
        Some(SpanPartType::Call) => said.calls.extend(requested_call(node)),
        Some(SpanPartType::Result) => said.results.extend(part_result(part, draft)),
        Some(SpanPartType::Thinking) => said.thoughts.extend(content.or(find_key(part, SpanMessageKey::Thinking))),
        Some(SpanPartType::Text) => {
            said.texts.extend(content.filter(|content| text_of_node(*content).is_some_and(|text| !text.is_empty())))
        }
        None => {
            if find_key(part, SpanMessageKey::Function).is_some() {
                said.calls.extend(requested_call(node));
            } else if let Some(response) = find_key(part, SpanMessageKey::Response).and_then(node_object) {
                said.results.extend(part_result(response, draft));
            } else if let Some(content) = content {
                sort_parts(content, said, draft, depth + 1);
            }
        }
    }
}

fn requested_call<'run>(node: Node<'run>) -> Option<RequestedCall<'run>> {
    let outer = node_object(node)?;
    let call = find_key(outer, SpanMessageKey::Function).and_then(node_object).unwrap_or(outer);
    let tool = find_key(call, SpanMessageKey::Tool).filter(|tool| text_of_node(*tool).is_some())?;
    let id = find_key(outer, SpanMessageKey::Answers)
        .or(find_key(call, SpanMessageKey::Answers))
        .filter(|id| text_of_node(*id).is_some());
    Some(RequestedCall { id, tool, args: find_key(call, SpanMessageKey::Args), place: node })
}

fn part_result<'run>(part: Object<'run>, draft: &RunBuilder<'run, '_>) -> Option<ToolResult<'run>> {
    let result = find_key(part, SpanMessageKey::Result).or(find_key(part, SpanMessageKey::Content))?;
    // What Bedrock puts around it tells nothing.
    let is_text = |block: &Node<'run>| {
        is_block(block) && node_object(*block).is_some_and(|block| find_key(block, SpanMessageKey::Content).is_some())
    };
    let blocks = node_list(result).filter(|blocks| !blocks.is_empty() && blocks.iter().all(is_text));
    let result = blocks.and_then(|_| content::content_text(result, draft.arena)).unwrap_or(result);
    // Some say what type a result is beside it.
    let typed =
        |result: Node<'run>| node_object(result).filter(|object| find_key(*object, SpanMessageKey::Type).is_some());
    let inner = |result| find_key(typed(result)?, SpanMessageKey::Value);
    Some(ToolResult {
        id: find_key(part, SpanMessageKey::Answers).filter(|id| text_of_node(*id).is_some()),
        tool: find_key(part, SpanMessageKey::Tool).and_then(text_of_node),
        result: inner(result).unwrap_or(result),
        failed: has_failed(part),
    })
}

fn has_failed(told: Object<'_>) -> Option<bool> {
    let is_true = |key: &&str| matches!(told.get(key).map(|node| node.value), Some(Value::Boolean(true)));
    let word = || find_key(told, SpanMessageKey::Status).and_then(text_of_node).and_then(super::of_word);
    if of_step::IS_ERROR.iter().any(is_true) { Some(true) } else { word() }
}

fn unwrap_message(message: Object<'_>) -> Object<'_> {
    let inner = find_key(message, SpanMessageKey::Inner).and_then(node_object);
    inner.filter(|inner| find_key(*inner, SpanMessageKey::Content).is_some()).unwrap_or(message)
}

pub(super) fn message_result<'run>(node: Node<'run>, draft: &RunBuilder<'run, '_>) -> Option<ToolResult<'run>> {
    let message = unwrap_message(node_object(node)?);
    let id = find_key(message, SpanMessageKey::Call).filter(|id| text_of_node(*id).is_some())?;
    let content = find_key(message, SpanMessageKey::Content)?;
    let result = content::of_blocks(content, draft.arena).unwrap_or(content);
    Some(ToolResult { id: Some(id), tool: None, result, failed: has_failed(message) })
}

pub(crate) fn offered_tools<'run>(facts: &SpanFacts<'run>, draft: &RunBuilder<'run, '_>) -> Vec<Node<'run>> {
    let mut found: Vec<Node<'run>> = Vec::new();
    for one in facts.numbered_parts(NumberedList::Tools) {
        match one.part {
            NumberedField::Schema => found.push(offered_tool(read_node(one.node, draft))),
            NumberedField::ToolName => {
                found.push(draft.object_node(&[ObjectEntry { key: of_step::NAME, node: one.node }]))
            }
            _ => {}
        }
    }
    if let Some(node) = facts.fact_node(Fact::Tools).filter(|_| found.is_empty()) {
        let items = node_list(read_node(node, draft)).unwrap_or_default();
        found.extend(items.iter().map(|item| offered_tool(read_node(*item, draft))));
    }
    found
}

fn offered_tool<'run>(node: Node<'run>) -> Node<'run> {
    let inner = node_object(node).and_then(|tool| find_key(tool, SpanMessageKey::Function));
    inner.filter(|inner| node_object(*inner).is_some()).unwrap_or(node)
}
