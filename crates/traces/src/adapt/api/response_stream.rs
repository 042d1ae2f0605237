//! Streamed events of OpenAI's Responses API, and what they make together.

use super::responses::{ItemKey, RESPONSE, ResponseEventKey, is_event};
use super::{ApiKey, ExchangeMerger, MessagePart};
use crate::adapt::fields::{FieldRecord, key_table};
use crate::adapt::nodes::{first_of, list_of, node_object, object_of, text_of};
use crate::adapt::run_builder::{RunBuilder, field_entry};
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::of_run;

key_table! {
    ResponseEventType {
        Item = "response.output_item.done",
        /// An incomplete item, and its arguments once complete.
        Added = "response.output_item.added",
        Arguments = "response.function_call_arguments.done" | "response.mcp_call_arguments.done"
            | "response.custom_tool_call_input.done",
        Failed = "error",
        End = "response.completed" | "response.incomplete" | "response.failed" | "response.done",
    }
}

/// The complete response wins, else complete items and calls with complete arguments. Without its end more may come.
pub(super) fn read_stream<'run>(events: &'run [Node<'run>], builder: &mut RunBuilder<'run, '_>) {
    let mut exchanges = ExchangeMerger::default();
    let mut streamed = StreamedItems::default();
    let mut is_over = false;
    for (node, event) in builder.record_objects(events) {
        builder.count_record();
        let kind = text_of(event, ResponseEventKey::Type).and_then(ResponseEventType::from_key);
        match kind {
            Some(kind) if streamed.add_event(kind, event) => {}
            Some(ResponseEventType::Failed) => {
                builder.set_some(of_run::ERROR, first_of(event, &[ResponseEventKey::Why]))
            }
            Some(ResponseEventType::End) => {
                let response = object_of(event, ResponseEventKey::Response);
                if let Some(response) = response
                    .filter(|response| list_of(*response, ApiKey::Output).is_some_and(|items| !items.is_empty()))
                {
                    streamed = StreamedItems::default();
                    exchanges.add_exchange(node, response, builder);
                }
            }
            None if !is_event(event) => builder.skip_value(node, "what is no event of a response is skipped"),
            _ => {}
        }
        is_over = kind == Some(ResponseEventType::End);
    }
    let items = streamed.finish_items(builder);
    if !items.is_empty() {
        exchanges.pieces.push(MessagePart::Turn);
    }
    let items = builder.arena.alloc_slice_copy(&items);
    super::push_items(items, &mut exchanges.pieces, builder);
    exchanges.finish_run(builder);
    if !is_over {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
}

/// The items that events have told so far.
#[derive(Default)]
struct StreamedItems<'run> {
    whole: Vec<Node<'run>>,
    open: Vec<PartialItem<'run>>,
}

impl<'run> StreamedItems<'run> {
    /// Takes over what an event tells of an item; false if it is about something else.
    fn add_event(&mut self, kind: ResponseEventType, event: Object<'run>) -> bool {
        match kind {
            ResponseEventType::Item => {
                self.open.retain(|growing| !growing.is_of(event));
                self.whole.extend(event.field(ResponseEventKey::Item));
            }
            ResponseEventType::Added => self.open.extend(PartialItem::from_event(event)),
            ResponseEventType::Arguments => {
                let args = first_of(event, &[ResponseEventKey::Arguments, ResponseEventKey::Input]);
                self.open.iter_mut().filter(|growing| growing.is_of(event)).for_each(|growing| growing.args = args);
            }
            ResponseEventType::Failed | ResponseEventType::End => return false,
        }
        true
    }

    /// The whole items, and the calls whose arguments are known.
    fn finish_items(mut self, builder: &RunBuilder<'run, '_>) -> Vec<Node<'run>> {
        self.whole.extend(self.open.into_iter().filter_map(|growing| growing.into_call(builder)));
        self.whole
    }
}

struct PartialItem<'run> {
    place: Option<Node<'run>>,
    node: Node<'run>,
    item: Object<'run>,
    args: Option<Node<'run>>,
}

impl<'run> PartialItem<'run> {
    fn from_event(event: Object<'run>) -> Option<Self> {
        let node = event.field(ResponseEventKey::Item)?;
        Some(Self { place: event.field(ResponseEventKey::Index), node, item: node_object(node)?, args: None })
    }

    /// By its id, else by its position.
    fn is_of(&self, event: Object<'run>) -> bool {
        let id = text_of(event, ResponseEventKey::Of)
            .or(object_of(event, ResponseEventKey::Item).and_then(|item| text_of(item, ItemKey::Id)));
        match (id, text_of(self.item, ItemKey::Id)) {
            (Some(id), Some(own)) => id == own,
            _ => self
                .place
                .zip(event.field(ResponseEventKey::Index))
                .is_some_and(|(own, place)| values_equal(&own.value, &place.value)),
        }
    }

    /// `None` unless its arguments are known.
    fn into_call(self, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
        let args = self.args?;
        let keys = [ItemKey::Arguments.key(), ItemKey::Input.key()];
        let others = self.item.entries().iter().filter(|entry| !keys.contains(&entry.key)).copied();
        let entries: Vec<ObjectEntry<'run>> =
            others.chain([ObjectEntry { key: ItemKey::Arguments.key(), node: args }]).collect();
        Some(Node::new(builder.object_node(&entries).value, self.node.origin))
    }
}

/// The answer that events make together, and whether it is whole; `None` if they are none.
pub(in crate::adapt) fn compose_answer<'run>(
    events: &'run [Node<'run>],
    builder: &RunBuilder<'run, '_>,
) -> Option<(Node<'run>, bool)> {
    let is_own = |node: &Node<'run>| node_object(*node).is_some_and(is_event);
    events.iter().find(|node| is_own(node))?;
    let mut streamed = StreamedItems::default();
    let mut response: Option<Object<'run>> = None;
    let mut is_over = false;
    for (node, event) in builder.known_objects(events) {
        let kind = text_of(event, ResponseEventKey::Type).and_then(ResponseEventType::from_key);
        response = object_of(event, ResponseEventKey::Response).or(response);
        match kind {
            Some(kind) if streamed.add_event(kind, event) => {}
            Some(ResponseEventType::End) => is_over = true,
            None if is_event(event) => {}
            _ => {
                builder.note_unknown(node.origin, "an event of a streamed answer is not understood");
            }
        }
    }
    let told =
        response.and_then(|response| list_of(response, ApiKey::Output)).filter(|told| !told.is_empty() && is_over);
    let items = streamed.finish_items(builder);
    let output = builder.list_node(told.unwrap_or(&items));
    // Whether it is whole the events say.
    let own = [ApiKey::Output.key(), ApiKey::Object.key(), ApiKey::Status.key()];
    let kept = response.map_or(&[][..], |response| response.entries()).iter().filter(|entry| !own.contains(&entry.key));
    let made = [
        field_entry(ApiKey::Object.key(), Node::computed(Value::plain_text(RESPONSE))),
        field_entry(ApiKey::Output.key(), output),
    ];
    let entries: Vec<ObjectEntry<'run>> = kept.copied().chain(made).collect();
    Some((builder.object_node(&entries), is_over))
}
