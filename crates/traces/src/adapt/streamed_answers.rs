//! An answer that was kept as it was streamed: server-sent events in a text, put together into the answer that the API gives whole.

use super::api::{ApiKey, anthropic, converse_stream, response_stream};
use super::nodes::{node_list, node_text};
use super::run_builder::RunBuilder;
use super::{bedrock_agent, chunks, cohere_stream, gemini_api};
use crate::read::events::{DONE, event_values, is_event_stream};
use averment_base::value::{Node, Object, Value, json};

type ComposeAnswer = for<'run> fn(&'run [Node<'run>], &RunBuilder<'run, '_>) -> Option<(Node<'run>, bool)>;

/// The APIs whose streams are known.
const APIS: [ComposeAnswer; 7] = [
    chunks::compose_answer,
    anthropic::compose_answer,
    response_stream::compose_answer,
    gemini_api::compose_answer,
    converse_stream::compose_answer,
    bedrock_agent::compose_answer,
    cohere_stream::compose_answer,
];

/// The answer that a text of events holds; `None` if it is no such text.
pub(super) fn read_stream<'run>(text: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let words = node_text(text).filter(|words| is_event_stream(words))?;
    let start = text.origin.byte_range().map_or(0, |range| range.start);
    let mut events = Vec::new();
    for (offset, data) in event_values(words, builder.arena) {
        match json::parse(data, start + offset, builder.arena, builder.limits) {
            Ok(document) => events.push(document.node),
            Err(_) => builder.note_unknown(text.origin, "an event of a streamed answer is no JSON"),
        }
    }
    let events = Node::new(Value::List(builder.arena.alloc_slice_copy(&events)), text.origin);
    // Some providers leave out why an answer ends, and say only that it does.
    let answer = compose_events(events, words.trim_end().ends_with(DONE), builder);
    if answer.is_none() {
        builder.note_unknown(text.origin, "a streamed answer is of no known API");
    }
    answer
}

/// The answer that a list of events makes; `None` if they are of no known API.
pub(super) fn compose_events<'run>(
    list: Node<'run>,
    says_end: bool,
    builder: &RunBuilder<'run, '_>,
) -> Option<Node<'run>> {
    let events = node_list(list)?;
    let (answer, is_whole) = APIS.into_iter().find_map(|compose| compose(events, builder))?;
    if !is_whole && !says_end {
        builder.note_unknown(list.origin, "a streamed answer breaks off");
    }
    Some(Node::new(answer.value, list.origin))
}

pub(super) const UNKNOWN_ANSWER: &str = "a response of no known form is skipped: it may have asked for calls";

/// Where an exchange has a place for its response and nothing stands there, nor an error: what was answered is not recorded.
pub(super) fn note_lost_answer<'run>(
    node: Node<'run>,
    exchange: Object<'run>,
    builder: &mut RunBuilder<'run, '_>,
) -> bool {
    let is_lost = exchange.get(ApiKey::Response.key()).is_some_and(|response| matches!(response.value, Value::Null))
        && exchange.get(ApiKey::Error.key()).is_none();
    if is_lost {
        builder.skip_record(node.origin, "a response is `null`: it may have asked for calls");
    }
    is_lost
}

/// A response, put together where its events are kept.
pub(super) fn whole_answer<'run>(response: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    match response.value {
        Value::Object(_) => Some(response),
        Value::List(_) => compose_events(response, false, builder),
        _ => read_body(response, builder),
    }
}

/// The value that a text holds: JSON, or a stream of events.
pub(super) fn read_body<'run>(text: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let words = node_text(text)?.trim_start();
    match words.starts_with(['{', '[']) {
        true => builder.open_json(text),
        false => read_stream(text, builder),
    }
}

/// Whether a text may hold a value.
pub(super) fn may_hold_value(node: Node<'_>) -> bool {
    let Value::Text(text) = node.value else { return false };
    let words = text.as_str().trim_start();
    words.starts_with(['{', '[']) || is_event_stream(words)
}
