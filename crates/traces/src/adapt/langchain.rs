//! Messages of LangChain and LangGraph: `human`, `ai`, `tool` and `system`, plain, as `{type, data}`, or as constructors (`lc`, `kwargs`);
//! in a list, under `messages`, in the state of a graph, or in its updates node by node.

use super::calls::Usage;
use super::draft::Draft;
use super::fields::{Parsed, Record, key_table};
use super::format::{Format, IN_FULL};
use super::messages::{self, OfCall, OfMessage as OfChat};
use super::nodes::{first_of, list_of, object, object_of, objects, text, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk};
use super::{content, handovers, printed};
use crate::build::word_status;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_usage};
use averment_runs::run::Status;
use rustc_hash::FxHashSet;

key_table! {
    /// A message, or what holds some.
    OfMessage {
        Type = "type",
        Role = "role",
        Data = "data",
        Constructor = "lc",
        Kwargs = "kwargs",
        Id = "id",
        Content = "content",
        Calls = "tool_calls",
        /// What a provider said in words of its own: of older messages the calls stand here alone.
        More = "additional_kwargs",
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
    /// Who says a message; the words of constructors are the names of classes.
    Sayer {
        User = "human" | "HumanMessage" | "HumanMessageChunk",
        Model = "ai" | "AIMessage" | "AIMessageChunk",
        Tool = "tool" | "ToolMessage" | "function" | "FunctionMessage",
        System = "system" | "SystemMessage" | "ChatMessage" | "developer",
    }
}

key_table! {
    /// What makes a list of messages out of a value for sure.
    Sure {
        User = "human" | "HumanMessage" | "HumanMessageChunk",
        Model = "ai" | "AIMessage" | "AIMessageChunk",
    }
}

/// Messages.
pub(crate) const FORMAT: Format = Format {
    name: "LangChain messages",
    known_by: "messages whose `type` is `human` or `ai`, or constructors of them (`lc`, `kwargs`)",
    description: "messages of LangChain and LangGraph (a list, under `messages`, in `values` or in updates)",
    marks: &[OfMessage::Messages.key(), OfMessage::Values.key()],
    near: &[OfMessage::Constructor.key()],
    object: |object| held_in(object).is_some(),
    item_marks: &[OfMessage::Content.key(), OfMessage::Data.key(), OfMessage::Constructor.key()],
    element: |object| sayer(object).is_some_and(|(word, _)| Sure::from_key(word).is_some()),
    line: |object| sayer(object).is_some_and(|(word, _)| Sure::from_key(word).is_some()),
    read,
    ..IN_FULL
};

/// The list of messages that an object holds.
fn held_in(object: Object<'_>) -> Option<&[Node<'_>]> {
    let inner = object_of(object, OfMessage::Values).unwrap_or(object);
    let messages = list_of(inner, OfMessage::Messages)?;
    let of_chat = |(_, one): (Node<'_>, Object<'_>)| one.field(OfMessage::Role).is_some();
    let is_sure = |(_, one): (Node<'_>, Object<'_>)| sayer(one).is_some_and(|(word, _)| Sure::from_key(word).is_some());
    (objects(messages).any(is_sure) && !objects(messages).any(of_chat)).then_some(messages)
}

/// Who says a message, and the object that holds it.
fn sayer(message: Object<'_>) -> Option<(&str, Object<'_>)> {
    if message.field(OfMessage::Constructor).is_some() {
        let class = list_of(message, OfMessage::Id)?.last().copied().and_then(text)?;
        let held = object_of(message, OfMessage::Kwargs)?;
        return Sayer::from_key(class).map(|_| (class, held));
    }
    let word = text_of(message, OfMessage::Type)?;
    let held = object_of(message, OfMessage::Data).unwrap_or(message);
    (Sayer::from_key(word).is_some() && held.field(OfMessage::Content).is_some()).then_some((word, held))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let messages = match root.value {
        Value::Object(object) => held_in(object).unwrap_or_default(),
        Value::List(messages) => messages,
        _ => &[],
    };
    let mut talk = Talk::new(draft);
    let mut seen = FxHashSet::default();
    for node in messages {
        talk.draft.record();
        match object(*node).and_then(sayer) {
            Some((word, message)) => {
                // A stream of states repeats messages.
                if text_of(message, OfMessage::Id).is_none_or(|id| seen.insert((word, id))) {
                    one(&mut talk, *node, Sayer::from_key(word), message);
                }
            }
            None => talk.draft.not_understood(node.origin, "what is no message of a known type is passed over"),
        }
    }
    talk.finish().insert_derived(handovers::of_call);
    Ok(())
}

fn one<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, sayer: Option<Sayer>, message: Object<'run>) {
    let about = About::default();
    let content = message.field(OfMessage::Content).unwrap_or(node);
    match sayer {
        Some(Sayer::Model) => {
            // In a graph of several agents each message has the name of its agent.
            let agent = message.field(OfMessage::Name).filter(|name| text(*name).is_some_and(|name| !name.is_empty()));
            let about = About { agent, ..about };
            talk.begin_turn();
            talk.say_content(Speaker::Assistant, content, &about, node.origin);
            calls(talk, message, &about);
            let of_response = object_of(message, OfMessage::About);
            talk.meta(of_meta::MODEL, of_response.and_then(|about| about.field(OfMessage::Model)));
            if let Some(tokens) = object_of(message, OfMessage::Tokens) {
                count(talk, tokens, of_response.and_then(|about| about.field(OfMessage::Model)));
            }
        }
        Some(Sayer::Tool) => {
            let printed = printed::of(content, talk.draft.arena, talk.draft.limits);
            let result = || content::text(content, talk.draft.arena).unwrap_or(content);
            let result = Some(printed.map_or_else(result, |printed| printed.result));
            // A tool that fails says so; without the word it is not known.
            let status =
                text_of(message, OfMessage::Status).and_then(word_status).filter(|status| *status != Status::Unknown);
            let status = status.or(printed.and_then(|printed| printed.status));
            let details = first_of(message, &[OfMessage::Artifact]);
            let outcome = Outcome { result, status, details, ..Outcome::default() };
            let (id, tool) = (text_of(message, OfMessage::Call), text_of(message, OfMessage::Name));
            let id = id.or(printed.and_then(|printed| text(printed.id)));
            let tool = tool.or(printed.and_then(|printed| printed.tool));
            talk.answer(id, tool, outcome, &about, node.origin);
        }
        Some(Sayer::User) => talk.say_content(Speaker::User, content, &about, node.origin),
        Some(Sayer::System) | None => talk.say_content(Speaker::System, content, &about, node.origin),
    }
}

/// The calls of a message; where it has none of its own, those of the provider.
fn calls<'run>(talk: &mut Talk<'_, 'run, '_>, message: Object<'run>, about: &About<'run>) {
    let own = list_of(message, OfMessage::Calls).unwrap_or_default();
    for (at, call) in talk.draft.objects(own) {
        let tool = call.field(OfMessage::Name).unwrap_or(Node::computed(Value::Null));
        let (args, id) = (call.field(OfMessage::Args), call.field(OfMessage::Id));
        talk.call(Made { tool, args, id, origin: at.origin }, about);
    }
    let Some(more) = object_of(message, OfMessage::More).filter(|_| own.is_empty()) else { return };
    let (several, single) = (list_of(more, OfChat::Calls), more.field(OfChat::Call));
    let single = single.filter(|_| several.is_none()).and_then(|node| Some((node, object(node)?)));
    for (at, call) in talk.draft.objects(several.unwrap_or_default()).chain(single) {
        let function = messages::function(&call, &Parsed).and_then(object).unwrap_or(call);
        let tool = function.field(OfCall::Name).unwrap_or(Node::computed(Value::Null));
        let (args, id) = (messages::arguments(&function), call.field(OfCall::Id));
        talk.call(Made { tool, args, id, origin: at.origin }, about);
    }
}

fn count<'run>(talk: &mut Talk<'_, 'run, '_>, tokens: Object<'run>, model: Option<Node<'run>>) {
    let mut usage = Usage::default();
    usage.add(tokens);
    let of = |details, field| object_of(tokens, details).and_then(|details: Object<'_>| details.field(field));
    usage.count(of_usage::CACHE_READ, of(OfMessage::InputDetails, OfMessage::CacheRead));
    usage.count(of_usage::CACHE_WRITE, of(OfMessage::InputDetails, OfMessage::CacheWrite));
    usage.count(of_usage::REASONING, of(OfMessage::OutputDetails, OfMessage::Reasoning));
    talk.spends(&usage, model);
}
