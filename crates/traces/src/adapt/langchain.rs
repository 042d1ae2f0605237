//! Messages of LangChain and LangGraph: `human`, `ai`, `tool` and `system`, plain, as `{type, data}`, or as constructors (`lc`, `kwargs`);
//! in a list, under `messages`, or in the state of a graph.

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::messages::ChatMessageKey as OfChat;
use super::nodes::{first_of, list_of, node_object, node_text, object_of, objects_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use super::{content, handovers, langchain_pieces, printed_messages};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_usage};
use averment_runs::run::StepStatus;
use rustc_hash::FxHashSet;

key_table! {
    LangChainKey {
        Type = "type",
        Role = "role",
        Data = "data",
        Constructor = "lc",
        Kwargs = "kwargs",
        Id = "id",
        Content = "content",
        Calls = "tool_calls",
        /// Provider-specific data; older messages hold calls only here.
        More = "additional_kwargs",
        /// The part of LangChain that wrote a message in the user's name, such as its summary of what left the context.
        Writer = "lc_source",
        Call = "tool_call_id",
        Name = "name",
        Args = "args",
        Status = "status",
        Artifact = "artifact",
        Tokens = "usage_metadata",
        About = "response_metadata",
        Model = "model_name",
        Messages = "messages",
        Values = "values",
        InputDetails = "input_token_details",
        OutputDetails = "output_token_details",
        CacheRead = "cache_read",
        CacheWrite = "cache_creation",
        Reasoning = "reasoning",
    }
}

key_table! {
    LangChainSayer {
        User = "human" | "HumanMessage" | "HumanMessageChunk",
        Model = "ai" | "AIMessage" | "AIMessageChunk",
        Tool = "tool" | "ToolMessage" | "function" | "FunctionMessage",
        System = "system" | "SystemMessage" | "ChatMessage" | "developer",
        /// Takes a message out of a state: nothing is said or done.
        Removal = "remove" | "RemoveMessage",
    }
}

key_table! {
    /// Blocks that repeat what `tool_calls` and `invalid_tool_calls` list.
    ListedBlockType {
        Any = "tool_call" | "tool_call_chunk" | "invalid_tool_call",
    }
}

key_table! {
    SureMessageType {
        User = "human" | "HumanMessage" | "HumanMessageChunk",
        Model = "ai" | "AIMessage" | "AIMessageChunk",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "LangChain messages",
    known_by: "messages whose `type` is `human` or `ai`, or constructors of them (`lc`, `kwargs`)",
    description: "messages of LangChain and LangGraph (a list, under `messages`, in `values` or in updates)",
    marks: &[LangChainKey::Messages.key(), LangChainKey::Values.key()],
    near: &[LangChainKey::Constructor.key()],
    object: |object| held_in(object).is_some(),
    item_marks: &[LangChainKey::Content.key(), LangChainKey::Data.key(), LangChainKey::Constructor.key()],
    element: |object| message_sayer(object).is_some_and(|(word, _)| SureMessageType::from_key(word).is_some()),
    line: |object| message_sayer(object).is_some_and(|(word, _)| SureMessageType::from_key(word).is_some()),
    record_ids: RecordIds::OWN_READER,
    read: read_run,
    ..IN_FULL
};

pub(super) fn held_messages(state: Object<'_>) -> Option<&[Node<'_>]> {
    let messages = list_of(state, LangChainKey::Messages)?;
    let known = |one: Object<'_>| message_sayer(one).is_some() && one.field(LangChainKey::Role).is_none();
    objects_of(messages).any(known).then_some(messages)
}

fn held_in(object: Object<'_>) -> Option<&[Node<'_>]> {
    let inner = object_of(object, LangChainKey::Values).unwrap_or(object);
    let messages = list_of(inner, LangChainKey::Messages)?;
    let of_chat = |one: Object<'_>| one.field(LangChainKey::Role).is_some();
    let is_sure =
        |one: Object<'_>| message_sayer(one).is_some_and(|(word, _)| SureMessageType::from_key(word).is_some());
    (objects_of(messages).any(is_sure) && !objects_of(messages).any(of_chat)).then_some(messages)
}

pub(super) fn message_sayer(message: Object<'_>) -> Option<(&str, Object<'_>)> {
    if message.field(LangChainKey::Constructor).is_some() {
        let class = list_of(message, LangChainKey::Id)?.last().copied().and_then(node_text)?;
        let held = object_of(message, LangChainKey::Kwargs)?;
        return LangChainSayer::from_key(class).map(|_| (class, held));
    }
    let word = text_of(message, LangChainKey::Type)?;
    let held = object_of(message, LangChainKey::Data).unwrap_or(message);
    (LangChainSayer::from_key(word).is_some() && held.field(LangChainKey::Content).is_some()).then_some((word, held))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let messages = match root.value {
        Value::Object(object) => held_in(object).unwrap_or_default(),
        Value::List(messages) => messages,
        _ => &[],
    };
    let messages = langchain_pieces::join_pieces(messages, builder);
    let mut conversation = ConversationBuilder::new(builder);
    read_messages(&mut conversation, messages, &mut FxHashSet::default());
    conversation.finish_run().insert_derived(handovers::derive_handover);
    Ok(())
}

pub(super) fn read_messages<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    messages: &'run [Node<'run>],
    seen: &mut FxHashSet<(&'run str, &'run str)>,
) {
    for node in messages {
        conversation.builder.count_record();
        match node_object(*node).and_then(message_sayer) {
            Some((word, message)) => {
                // A stream of states repeats messages.
                if text_of(message, LangChainKey::Id).is_none_or(|id| seen.insert((word, id))) {
                    add_message(conversation, *node, LangChainSayer::from_key(word), message);
                }
            }
            None => conversation.builder.skip_value(node, "what is no message of a known type is skipped"),
        }
    }
}

fn add_message<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    sayer: Option<LangChainSayer>,
    message: Object<'run>,
) {
    let meta = StepMeta::default();
    let content = message.field(LangChainKey::Content).unwrap_or(node);
    match sayer {
        Some(LangChainSayer::Model) => {
            let meta = say_answer(conversation, node, message);
            add_calls(conversation, message, &meta);
        }
        Some(LangChainSayer::Tool) => {
            let outcome = outcome_of(conversation, message);
            let (id, tool) = (text_of(message, LangChainKey::Call), text_of(message, LangChainKey::Name));
            let printed =
                printed_messages::parse_printed(content, conversation.builder.arena, conversation.builder.limits);
            let id = id.or(printed.and_then(|printed| node_text(printed.id)));
            let tool = tool.or(printed.and_then(|printed| printed.tool));
            conversation.add_result(id, tool, outcome, &meta, node.origin);
        }
        Some(LangChainSayer::User) => {
            let more = object_of(message, LangChainKey::More);
            let is_written = more.is_some_and(|more| more.field(LangChainKey::Writer).is_some());
            let speaker = if is_written { Speaker::System } else { Speaker::User };
            conversation.add_content(speaker, content, &meta, node.origin);
        }
        Some(LangChainSayer::Removal) => {}
        Some(LangChainSayer::System) | None => conversation.add_content(Speaker::System, content, &meta, node.origin),
    }
}

/// What the model said and took, in a turn of its own.
fn say_answer<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
) -> StepMeta<'run> {
    let content = message.field(LangChainKey::Content).unwrap_or(node);
    // In a graph of several agents each message has the name of its agent.
    let agent = message.field(LangChainKey::Name).filter(|name| node_text(*name).is_some_and(|name| !name.is_empty()));
    let meta = StepMeta { agent, ..StepMeta::default() };
    conversation.begin_turn();
    // The blocks of a provider repeat the calls.
    let has_calls = list_of(message, LangChainKey::Calls).is_some_and(|calls| !calls.is_empty());
    let parts = if has_calls { without_told_calls(conversation, content) } else { content };
    conversation.builder.note_parts_beside_calls(parts, has_calls);
    conversation.add_text(Speaker::Assistant, content, &meta, node.origin);
    let of_response = object_of(message, LangChainKey::About);
    let model = of_response.and_then(|meta| meta.field(LangChainKey::Model));
    conversation.add_meta(of_meta::MODEL, model);
    if let Some(tokens) = object_of(message, LangChainKey::Tokens) {
        count_usage(conversation, tokens, model);
    }
    meta
}

/// What a message of a tool says of its call.
fn outcome_of<'run>(conversation: &ConversationBuilder<'_, 'run, '_>, message: Object<'run>) -> CallResult<'run> {
    let content = message.field(LangChainKey::Content).unwrap_or(Node::computed(Value::Null));
    let printed = printed_messages::parse_printed(content, conversation.builder.arena, conversation.builder.limits);
    let result = || content::content_text(content, conversation.builder.arena).unwrap_or(content);
    let result = Some(printed.map_or_else(result, |printed| printed.result));
    // A tool that fails says so; without the word it is not known.
    let status = text_of(message, LangChainKey::Status)
        .and_then(StepStatus::from_word)
        .filter(|status| *status != StepStatus::Unknown);
    let status = status.or(printed.and_then(|printed| printed.status));
    let details = first_of(message, &[LangChainKey::Artifact]);
    CallResult { result, status, details, ..CallResult::default() }
}

/// Who speaks in a message, and what it holds.
pub(super) fn sayer_of(node: Node<'_>) -> Option<(LangChainSayer, Object<'_>)> {
    let (word, held) = node_object(node).and_then(message_sayer)?;
    Some((LangChainSayer::from_key(word)?, held))
}

/// The message that a model gave: alone, or the first of what it generated.
pub(super) fn said_message(output: Node<'_>) -> Option<Object<'_>> {
    let generated = || {
        let lists = node_object(output).and_then(|output| list_of(output, GeneratedKey::Generations))?;
        let first = lists.first().copied().and_then(super::nodes::node_list)?.first().copied()?;
        node_object(first)?.field(GeneratedKey::Message).and_then(sayer_of)
    };
    let (sayer, message) = sayer_of(output).or_else(generated)?;
    (sayer == LangChainSayer::Model).then_some(message)
}

key_table! {
    GeneratedKey {
        Generations = "generations",
        Message = "message",
    }
}

/// Says what a model answered, and gives the tools that it asked for: each that runs is told of elsewhere.
pub(super) fn add_answer<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
) -> Vec<&'run str> {
    say_answer(conversation, node, message);
    let mut asked = Vec::new();
    for (at, call) in conversation.builder.record_objects(list_of(message, LangChainKey::Calls).unwrap_or_default()) {
        match text_of(call, LangChainKey::Name) {
            Some(tool) => asked.push(tool),
            None => conversation.builder.note_unknown(at.origin, "a call without the name of its tool is skipped"),
        }
    }
    asked
}

/// What a tool gave, where that is a message.
pub(super) fn result_of<'run>(
    conversation: &ConversationBuilder<'_, 'run, '_>,
    output: Node<'run>,
) -> Option<CallResult<'run>> {
    if let Some(printed) =
        printed_messages::parse_printed(output, conversation.builder.arena, conversation.builder.limits)
    {
        return Some(CallResult { result: Some(printed.result), status: printed.status, ..CallResult::default() });
    }
    let (sayer, message) = sayer_of(output)?;
    (sayer == LangChainSayer::Tool).then(|| outcome_of(conversation, message))
}

/// The blocks of a content, apart from calls that the message lists.
fn without_told_calls<'run>(conversation: &ConversationBuilder<'_, 'run, '_>, content: Node<'run>) -> Node<'run> {
    let Value::List(blocks) = content.value else { return content };
    let is_told = |block: &Node<'run>| {
        let kind = node_object(*block).and_then(|block| text_of(block, LangChainKey::Type));
        kind.and_then(ListedBlockType::from_key).is_some()
    };
    let left: Vec<_> = blocks.iter().filter(|block| !is_told(block)).copied().collect();
    Node::new(Value::List(conversation.builder.arena.alloc_slice_copy(&left)), content.origin)
}

/// Its own calls, else the provider's.
fn add_calls<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, message: Object<'run>, meta: &StepMeta<'run>) {
    let own = list_of(message, LangChainKey::Calls).unwrap_or_default();
    for (at, call) in conversation.builder.record_objects(own) {
        let tool = call.field(LangChainKey::Name).unwrap_or(Node::computed(Value::Null));
        let (args, id) = (call.field(LangChainKey::Args), call.field(LangChainKey::Id));
        conversation.add_call(ToolCall { tool, args, id, origin: at.origin }, meta);
    }
    let Some(more) = object_of(message, LangChainKey::More).filter(|_| own.is_empty()) else { return };
    let (several, single) = (list_of(more, OfChat::Calls), more.field(OfChat::Call));
    let single = single.filter(|_| several.is_none()).and_then(|node| Some((node, node_object(node)?)));
    for (at, call) in conversation.builder.record_objects(several.unwrap_or_default()).chain(single) {
        conversation.add_call(ToolCall::of_message(at, call), meta);
    }
}

fn count_usage<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    tokens: Object<'run>,
    model: Option<Node<'run>>,
) {
    let mut usage = TokenUsage::default();
    usage.add_usage(tokens);
    let of = |details, field| object_of(tokens, details).and_then(|details: Object<'_>| details.field(field));
    usage.add_count(of_usage::CACHE_READ, of(LangChainKey::InputDetails, LangChainKey::CacheRead));
    usage.add_count(of_usage::CACHE_WRITE, of(LangChainKey::InputDetails, LangChainKey::CacheWrite));
    usage.add_count(of_usage::REASONING, of(LangChainKey::OutputDetails, LangChainKey::Reasoning));
    conversation.add_usage(&usage, model);
}
