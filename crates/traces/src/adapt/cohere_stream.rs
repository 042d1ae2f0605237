//! Events of Cohere's chat API, put together into the answer that it gives whole.

use super::chunks::{DeltaKey, PartialAnswer};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, node_object, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, field_entry};
use super::{logged_requests, openai_chat};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::of_run;

key_table! {
    CohereKey {
        Type = "type",
        Id = "id",
        Index = "index",
        Delta = "delta",
        Message = "message",
        Content = "content",
        Text = "text",
        Calls = "tool_calls",
        Ended = "finish_reason",
        Usage = "usage",
    }
}

key_table! {
    CohereEvent {
        Content = "content-start" | "content-delta",
        Call = "tool-call-start" | "tool-call-delta",
        Begin = "message-start",
        End = "message-end",
        /// Nothing that rules read: what a model plans to call, and where words are from.
        Silent = "content-end" | "tool-plan-delta" | "tool-call-end" | "citation-start" | "citation-end",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Cohere events",
    known_by: "events whose `type` is `message-start`, `content-delta`, `tool-call-start` and so on",
    description: "streamed answers of Cohere's chat API (an event a line, a list)",
    marks: &[CohereKey::Delta.key()],
    item_marks: &[CohereKey::Delta.key(), CohereKey::Index.key()],
    element: is_event,
    line: is_event,
    record_ids: RecordIds::OWN_READER,
    read: read_run,
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    event_kind(event).is_some()
}

/// Each answer is an exchange of which nobody wrote down what was asked.
fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    let begins = |node: &Node<'run>| node_object(*node).and_then(event_kind) == Some(CohereEvent::Begin);
    let mut answers: Vec<&'run [Node<'run>]> = Vec::new();
    for events in items_of::<CohereKey>(root, &[]).chunk_by(|_, next| !begins(next)) {
        for node in events {
            builder.count_record();
            if !node_object(*node).is_some_and(is_event) {
                builder.skip_value(node, "what is no event of an answer is skipped");
            }
        }
        let id = answer_id(events);
        match answers.iter_mut().find(|answer| id.is_some() && answer_id(answer) == id) {
            Some(answer) if answer.len() < events.len() => *answer = events,
            Some(_) => {}
            None => answers.push(events),
        }
    }
    let (mut exchanges, mut is_over) = (Vec::new(), true);
    for events in answers {
        if let Some((answer, is_whole)) = compose_answer(events, builder) {
            exchanges.push(logged_requests::lone_exchange(answer, builder));
            is_over &= is_whole;
        }
    }
    let exchanges = Node::new(builder.list_node(&exchanges).value, root.origin);
    (openai_chat::FORMAT.read)(exchanges, builder)?;
    if !is_over {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    Ok(())
}

fn answer_id<'run>(events: &[Node<'run>]) -> Option<&'run str> {
    node_object(*events.first()?).and_then(|begin| text_of(begin, CohereKey::Id))
}

fn event_kind(event: Object<'_>) -> Option<CohereEvent> {
    text_of(event, CohereKey::Type).and_then(CohereEvent::from_key)
}

/// The answer that events make together, and whether it is whole; `None` if they are none.
pub(super) fn compose_answer<'run>(
    events: &'run [Node<'run>],
    builder: &RunBuilder<'run, '_>,
) -> Option<(Node<'run>, bool)> {
    events.iter().filter_map(|event| node_object(*event)).find(|event| event_kind(*event).is_some())?;
    let mut answer = PartialAnswer::default();
    let mut end: Option<Object<'run>> = None;
    for (node, event) in builder.known_objects(events) {
        let delta = object_of(event, CohereKey::Delta);
        let said = delta.and_then(|delta| object_of(delta, CohereKey::Message));
        match event_kind(event) {
            Some(CohereEvent::Content) => {
                let content = said.and_then(|said| object_of(said, CohereKey::Content));
                // Thoughts are content of another kind.
                if let Some(words) = content.and_then(|content| value_of(content, CohereKey::Text)) {
                    let delta = builder.object_node(&[field_entry(DeltaKey::Content.key(), words)]);
                    answer.add_delta_node(delta, builder);
                }
            }
            Some(CohereEvent::Call) => {
                let call = said.and_then(|said| object_of(said, CohereKey::Calls));
                let index = value_of(event, CohereKey::Index).map(|index| field_entry(DeltaKey::Index.key(), index));
                let entries: Vec<ObjectEntry<'run>> =
                    call.into_iter().flat_map(|call| call.entries().iter().copied()).chain(index).collect();
                let call = Node::new(builder.object_node(&entries).value, node.origin);
                let calls = field_entry(DeltaKey::Calls.key(), builder.list_node(&[call]));
                answer.add_delta_node(builder.object_node(&[calls]), builder);
            }
            Some(CohereEvent::End) => {
                end = delta;
                delta.into_iter().for_each(|delta| answer.note_end(delta));
                answer.is_over = true;
            }
            Some(CohereEvent::Begin | CohereEvent::Silent) => {}
            None => builder.note_unknown(node.origin, "an event of an answer is of no known kind: it may be of a call"),
        }
    }
    let is_over = answer.is_over;
    let mut entries = vec![field_entry(CohereKey::Message.key(), answer.into_message(builder))];
    let kept = [CohereKey::Ended, CohereKey::Usage];
    entries.extend(kept.into_iter().filter_map(|key| Some(field_entry(key.key(), end?.field(key)?))));
    Some((builder.object_node(&entries), is_over))
}
