//! Messages of LangChain and LangGraph: `human`, `ai`, `tool` and `system`, plain, as `{type, data}`, or as constructors (`lc`, `kwargs`);
//! in a list, under `messages`, or in the state of a graph.

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::messages::{self, ChatMessageKey as OfChat};
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

fn read_run<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let messages = match root.value {
        Value::Object(object) => held_in(object).unwrap_or_default(),
        Value::List(messages) => messages,
        _ => &[],
    };
    let messages = langchain_pieces::join_pieces(messages, draft);
    let mut talk = ConversationBuilder::new(draft);
    read_messages(&mut talk, messages, &mut FxHashSet::default());
    talk.finish_run().insert_derived(handovers::derive_handover);
    Ok(())
}

pub(super) fn read_messages<'run>(
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    messages: &'run [Node<'run>],
    seen: &mut FxHashSet<(&'run str, &'run str)>,
) {
    for node in messages {
        talk.draft.count_record();
        match node_object(*node).and_then(message_sayer) {
            Some((word, message)) => {
                // A stream of states repeats messages.
                if text_of(message, LangChainKey::Id).is_none_or(|id| seen.insert((word, id))) {
                    add_message(talk, *node, LangChainSayer::from_key(word), message);
                }
            }
            None => talk.draft.skip_value(node, "what is no message of a known type is passed over"),
        }
    }
}

fn add_message<'run>(
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    sayer: Option<LangChainSayer>,
    message: Object<'run>,
) {
    let about = StepMeta::default();
    let content = message.field(LangChainKey::Content).unwrap_or(node);
    match sayer {
        Some(LangChainSayer::Model) => {
            let about = say_answer(talk, node, message);
            add_calls(talk, message, &about);
        }
        Some(LangChainSayer::Tool) => {
            let outcome = outcome_of(talk, message);
            let (id, tool) = (text_of(message, LangChainKey::Call), text_of(message, LangChainKey::Name));
            let printed = printed_messages::parse_printed(content, talk.draft.arena, talk.draft.limits);
            let id = id.or(printed.and_then(|printed| node_text(printed.id)));
            let tool = tool.or(printed.and_then(|printed| printed.tool));
            talk.add_result(id, tool, outcome, &about, node.origin);
        }
        Some(LangChainSayer::User) => {
            let more = object_of(message, LangChainKey::More);
            let is_written = more.is_some_and(|more| more.field(LangChainKey::Writer).is_some());
            let speaker = if is_written { Speaker::System } else { Speaker::User };
            talk.add_content(speaker, content, &about, node.origin);
        }
        Some(LangChainSayer::Removal) => {}
        Some(LangChainSayer::System) | None => talk.add_content(Speaker::System, content, &about, node.origin),
    }
}

/// What the model said and took, in a turn of its own.
fn say_answer<'run>(
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
) -> StepMeta<'run> {
    let content = message.field(LangChainKey::Content).unwrap_or(node);
    // In a graph of several agents each message has the name of its agent.
    let agent = message.field(LangChainKey::Name).filter(|name| node_text(*name).is_some_and(|name| !name.is_empty()));
    let about = StepMeta { agent, ..StepMeta::default() };
    talk.begin_turn();
    // The blocks of a provider repeat the calls.
    let has_calls = list_of(message, LangChainKey::Calls).is_some_and(|calls| !calls.is_empty());
    let parts = if has_calls { without_told_calls(talk, content) } else { content };
    talk.draft.note_parts_beside_calls(parts, has_calls);
    talk.add_text(Speaker::Assistant, content, &about, node.origin);
    let of_response = object_of(message, LangChainKey::About);
    let model = of_response.and_then(|about| about.field(LangChainKey::Model));
    talk.add_meta(of_meta::MODEL, model);
    if let Some(tokens) = object_of(message, LangChainKey::Tokens) {
        count_usage(talk, tokens, model);
    }
    about
}

/// What a message of a tool says of its call.
fn outcome_of<'run>(talk: &ConversationBuilder<'_, 'run, '_>, message: Object<'run>) -> CallResult<'run> {
    let content = message.field(LangChainKey::Content).unwrap_or(Node::computed(Value::Null));
    let printed = printed_messages::parse_printed(content, talk.draft.arena, talk.draft.limits);
    let result = || content::content_text(content, talk.draft.arena).unwrap_or(content);
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
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
) -> Vec<&'run str> {
    say_answer(talk, node, message);
    let mut asked = Vec::new();
    for (at, call) in talk.draft.record_objects(list_of(message, LangChainKey::Calls).unwrap_or_default()) {
        match text_of(call, LangChainKey::Name) {
            Some(tool) => asked.push(tool),
            None => talk.draft.note_unknown(at.origin, "a call without the name of its tool is passed over"),
        }
    }
    asked
}

/// What a tool gave, where that is a message.
pub(super) fn result_of<'run>(
    talk: &ConversationBuilder<'_, 'run, '_>,
    output: Node<'run>,
) -> Option<CallResult<'run>> {
    if let Some(printed) = printed_messages::parse_printed(output, talk.draft.arena, talk.draft.limits) {
        return Some(CallResult { result: Some(printed.result), status: printed.status, ..CallResult::default() });
    }
    let (sayer, message) = sayer_of(output)?;
    (sayer == LangChainSayer::Tool).then(|| outcome_of(talk, message))
}

/// The blocks of a content, apart from calls that the message lists.
fn without_told_calls<'run>(talk: &ConversationBuilder<'_, 'run, '_>, content: Node<'run>) -> Node<'run> {
    let Value::List(blocks) = content.value else { return content };
    let is_told = |block: &Node<'run>| {
        let kind = node_object(*block).and_then(|block| text_of(block, LangChainKey::Type));
        kind.and_then(ListedBlockType::from_key).is_some()
    };
    let left: Vec<_> = blocks.iter().filter(|block| !is_told(block)).copied().collect();
    Node::new(Value::List(talk.draft.arena.alloc_slice_copy(&left)), content.origin)
}

/// Its own calls, else the provider's.
fn add_calls<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, message: Object<'run>, about: &StepMeta<'run>) {
    let own = list_of(message, LangChainKey::Calls).unwrap_or_default();
    for (at, call) in talk.draft.record_objects(own) {
        let tool = call.field(LangChainKey::Name).unwrap_or(Node::computed(Value::Null));
        let (args, id) = (call.field(LangChainKey::Args), call.field(LangChainKey::Id));
        talk.add_call(ToolCall { tool, args, id, origin: at.origin }, about);
    }
    let Some(more) = object_of(message, LangChainKey::More).filter(|_| own.is_empty()) else { return };
    let (several, single) = (list_of(more, OfChat::Calls), more.field(OfChat::Call));
    let single = single.filter(|_| several.is_none()).and_then(|node| Some((node, node_object(node)?)));
    for (at, call) in talk.draft.record_objects(several.unwrap_or_default()).chain(single) {
        talk.add_call(messages::tool_call(at, call), about);
    }
}

fn count_usage<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, tokens: Object<'run>, model: Option<Node<'run>>) {
    let mut usage = TokenUsage::default();
    usage.add_usage(tokens);
    let of = |details, field| object_of(tokens, details).and_then(|details: Object<'_>| details.field(field));
    usage.add_count(of_usage::CACHE_READ, of(LangChainKey::InputDetails, LangChainKey::CacheRead));
    usage.add_count(of_usage::CACHE_WRITE, of(LangChainKey::InputDetails, LangChainKey::CacheWrite));
    usage.add_count(of_usage::REASONING, of(LangChainKey::OutputDetails, LangChainKey::Reasoning));
    talk.add_usage(&usage, model);
}
