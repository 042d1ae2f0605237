//! Events that stream the entries of a conversation: the pieces of an entry have its id.

use super::{EntryKey, EntryType, add_entry, count_usage};
use crate::adapt::content;
use crate::adapt::conversation::ConversationBuilder;
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_text, text_of};
use crate::adapt::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::of_run;

key_table! {
    EntryEvent {
        Begin = "conversation.response.started",
        Over = "conversation.response.done",
        Failed = "conversation.response.error",
        Words = "message.output.delta",
        Call = "function.call.delta",
        Hosted = "tool.execution.started" | "tool.execution.delta",
        HostedEnd = "tool.execution.done",
        /// Names who hands over; who takes over stands where it ends.
        Leaving = "agent.handoff.started",
        Handover = "agent.handoff.done",
    }
}

key_table! {
    EventKey {
        Why = "message",
    }
}

pub(super) fn is_event(object: Object<'_>) -> bool {
    event_of(object).is_some()
}

fn event_of(object: Object<'_>) -> Option<EntryEvent> {
    text_of(object, EntryKey::Type).and_then(EntryEvent::from_key)
}

/// An entry of which pieces arrive.
struct GrowingEntry<'run> {
    node: Node<'run>,
    kind: EntryType,
    id: Option<&'run str>,
    entries: Vec<ObjectEntry<'run>>,
    words: String,
}

/// The entries of the answer that arrives, in the order in which they began.
#[derive(Default)]
pub(super) struct StreamedEntries<'run> {
    open: Vec<GrowingEntry<'run>>,
    is_running: bool,
}

impl<'run> StreamedEntries<'run> {
    /// False for what is no event.
    pub(super) fn add_event(
        &mut self,
        node: Node<'run>,
        event: Object<'run>,
        conversation: &mut ConversationBuilder<'_, 'run, '_>,
    ) -> bool {
        let Some(kind) = event_of(event) else { return false };
        match kind {
            EntryEvent::Begin => {
                self.end_stream(conversation);
                self.is_running = true;
                conversation.builder.set_some(of_run::ID, value_of(event, EntryKey::Conversation));
            }
            EntryEvent::Over => {
                self.is_running = false;
                self.end_stream(conversation);
                count_usage(conversation, event);
            }
            EntryEvent::Failed => {
                self.is_running = false;
                conversation.builder.set_some(of_run::ERROR, value_of(event, EventKey::Why));
            }
            EntryEvent::Words => self.grow_entry(node, event, EntryType::Said, EntryKey::Content, conversation.builder),
            EntryEvent::Call => {
                self.grow_entry(node, event, EntryType::Call, EntryKey::Arguments, conversation.builder)
            }
            EntryEvent::Hosted => {
                self.grow_entry(node, event, EntryType::Hosted, EntryKey::Arguments, conversation.builder)
            }
            EntryEvent::HostedEnd => {
                self.grow_entry(node, event, EntryType::Hosted, EntryKey::Arguments, conversation.builder);
                self.end_hosted(event);
            }
            EntryEvent::Handover => {
                self.grow_entry(node, event, EntryType::Handover, EntryKey::Arguments, conversation.builder)
            }
            EntryEvent::Leaving => {}
        }
        true
    }

    /// Tells what arrived. False if the answer broke off.
    pub(super) fn end_stream(&mut self, conversation: &mut ConversationBuilder<'_, 'run, '_>) -> bool {
        for entry in std::mem::take(&mut self.open) {
            let (node, kind) = (entry.node, entry.kind);
            let whole = entry.whole_entry(conversation.builder);
            add_entry(conversation, node, whole, kind);
        }
        !self.is_running
    }

    fn grow_entry(
        &mut self,
        node: Node<'run>,
        event: Object<'run>,
        kind: EntryType,
        grows: EntryKey,
        builder: &mut RunBuilder<'run, '_>,
    ) {
        let id = text_of(event, EntryKey::Id);
        let place = self.open.iter().position(|open| open.kind == kind && open.id == id);
        let place = place.unwrap_or_else(|| {
            let entries = event.entries().iter().filter(|entry| !grows.keys().contains(&entry.key)).copied().collect();
            self.open.push(GrowingEntry { node, kind, id, entries, words: String::new() });
            self.open.len() - 1
        });
        let (Some(open), Some(piece)) = (self.open.get_mut(place), value_of(event, grows)) else { return };
        match node_text(piece).or_else(|| content::block_text(&piece).and_then(node_text)) {
            Some(words) => open.words.push_str(words),
            None => builder.note_parts(builder.list_node(&[piece])),
        }
    }

    /// What a tool of the service gave stands where it ends.
    fn end_hosted(&mut self, event: Object<'run>) {
        let id = text_of(event, EntryKey::Id);
        let Some(open) = self.open.iter_mut().find(|open| open.kind == EntryType::Hosted && open.id == id) else {
            return;
        };
        let end = value_of(event, EntryKey::Time).unwrap_or(open.node);
        open.entries.extend(value_of(event, EntryKey::Info).map(|info| field_entry(EntryKey::Info.key(), info)));
        open.entries.push(field_entry(EntryKey::End.key(), end));
    }
}

impl<'run> GrowingEntry<'run> {
    fn whole_entry(mut self, builder: &RunBuilder<'run, '_>) -> Object<'run> {
        let grows = if self.kind == EntryType::Said { EntryKey::Content } else { EntryKey::Arguments };
        if !self.words.is_empty() {
            let words = Node::new(Value::plain_text(builder.arena.alloc_str(&self.words)), self.node.origin);
            self.entries.push(field_entry(grows.key(), words));
        }
        Object::new(builder.arena, builder.arena.alloc_slice_copy(&self.entries))
    }
}
