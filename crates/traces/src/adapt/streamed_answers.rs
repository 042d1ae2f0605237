//! An answer that was kept as it was streamed: server-sent events in a text, put together into the answer that the API gives whole.

use super::api::{anthropic, response_stream};
use super::nodes::node_text;
use super::run_builder::RunBuilder;
use super::{chunks, gemini_api};
use crate::read::events::{DONE, event_values, is_event_stream};
use averment_base::value::{Node, Value, json};

type ComposeAnswer = for<'run> fn(&'run [Node<'run>], &RunBuilder<'run, '_>) -> Option<(Node<'run>, bool)>;

/// The APIs whose streams are known.
const APIS: [ComposeAnswer; 4] =
    [chunks::compose_answer, anthropic::compose_answer, response_stream::compose_answer, gemini_api::compose_answer];

/// The answer that a text of events holds; `None` if it is no such text.
pub(super) fn read_stream<'run>(text: Node<'run>, draft: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let words = node_text(text).filter(|words| is_event_stream(words))?;
    let start = text.origin.byte_range().map_or(0, |range| range.start);
    let mut events = Vec::new();
    for (offset, data) in event_values(words) {
        match json::parse(data, start + offset, draft.arena, draft.limits) {
            Ok(document) => events.push(document.node),
            Err(_) => draft.note_unknown(text.origin, "an event of a streamed answer is no JSON"),
        }
    }
    let events = draft.arena.alloc_slice_copy(&events);
    let Some((answer, is_whole)) = APIS.into_iter().find_map(|compose| compose(events, draft)) else {
        draft.note_unknown(text.origin, "a streamed answer is of no known API");
        return None;
    };
    // Some providers leave out why an answer ends, and say only that it does.
    if !is_whole && !words.trim_end().ends_with(DONE) {
        draft.note_unknown(text.origin, "a streamed answer breaks off");
    }
    Some(Node::new(answer.value, text.origin))
}

/// The value that a text holds: JSON, or a stream of events.
pub(super) fn read_body<'run>(text: Node<'run>, draft: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let words = node_text(text)?.trim_start();
    match words.starts_with(['{', '[']) {
        true => text.parse_embedded(draft.arena, draft.limits),
        false => read_stream(text, draft),
    }
}

/// Whether a text may hold a value.
pub(super) fn may_hold_value(node: Node<'_>) -> bool {
    let Value::Text(text) = node.value else { return false };
    let words = text.as_str().trim_start();
    words.starts_with(['{', '[']) || is_event_stream(words)
}
