//! OpenAI's Realtime API: the events of a session, of either side. Items are told several times, and the last telling is the whole one.

use super::api::{cut_calls, responses};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{items_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use super::unknown::UNKNOWN_ROLE;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run};
use rustc_hash::FxHashMap;

key_table! {
    RealtimeKey {
        Type = "type",
        Event = "event_id",
        Item = "item",
        Response = "response",
        Output = "output",
        Usage = "usage",
        Session = "session",
        Id = "id",
        ItemId = "item_id",
        Call = "call_id",
        Model = "model",
        Error = "error",
        Why = "message",
        Status = "status",
        Role = "role",
        Content = "content",
        Text = "text",
        Transcript = "transcript",
        /// Of a recorded connection: its frames, and the event in each.
        Frames = "interactions",
        Data = "data",
    }
}

key_table! {
    RealtimeEventType {
        Session = "session.created" | "session.updated",
        Item = "conversation.item.created" | "conversation.item.added" | "conversation.item.done"
            | "conversation.item.retrieved" | "response.output_item.added" | "response.output_item.done",
        /// What the program sends comes back as an item, unless only the program's side is kept.
        Sent = "conversation.item.create",
        Begin = "response.created",
        End = "response.done",
        Heard = "conversation.item.input_audio_transcription.completed",
        Failed = "error",
        /// Pieces of what comes whole, sound, and settings: nothing that is not told elsewhere.
        Silent = "conversation.created" | "conversation.item.delete" | "conversation.item.deleted"
            | "conversation.item.truncate" | "conversation.item.truncated" | "conversation.item.retrieve"
            | "conversation.item.input_audio_transcription.delta" | "conversation.item.input_audio_transcription.failed"
            | "conversation.item.input_audio_transcription.segment" | "session.update" | "response.create"
            | "response.cancel" | "rate_limits.updated" | "response.content_part.added" | "response.content_part.done"
            | "response.text.delta" | "response.text.done" | "response.output_text.delta" | "response.output_text.done"
            | "response.audio.delta" | "response.audio.done" | "response.output_audio.delta" | "response.output_audio.done"
            | "response.audio_transcript.delta" | "response.audio_transcript.done"
            | "response.output_audio_transcript.delta" | "response.output_audio_transcript.done"
            | "response.function_call_arguments.delta" | "response.function_call_arguments.done"
            | "response.mcp_call_arguments.delta" | "response.mcp_call_arguments.done" | "response.mcp_call.in_progress"
            | "response.mcp_call.completed" | "response.mcp_call.failed" | "mcp_list_tools.in_progress"
            | "mcp_list_tools.completed" | "mcp_list_tools.failed" | "input_audio_buffer.append"
            | "input_audio_buffer.commit" | "input_audio_buffer.committed" | "input_audio_buffer.clear"
            | "input_audio_buffer.cleared" | "input_audio_buffer.speech_started" | "input_audio_buffer.speech_stopped"
            | "input_audio_buffer.timeout_triggered" | "input_audio_buffer.dtmf_event_received" | "output_audio_buffer.started" | "output_audio_buffer.stopped"
            | "output_audio_buffer.cleared" | "output_audio_buffer.clear",
    }
}

key_table! {
    RealtimeWord {
        Message = "message",
        Result = "function_call_output",
        Open = "in_progress",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "OpenAI Realtime events",
    known_by: "events with an `event_id` whose `type` is one of the Realtime API's",
    description: "events of sessions of OpenAI's Realtime API (a list, one a line, or recorded connections)",
    marks: &[RealtimeKey::Frames.key()],
    object: |object| {
        list_of(object, RealtimeKey::Frames).is_some_and(|frames| {
            object_items(frames).any(|(_, frame)| object_of(frame, RealtimeKey::Data).is_some_and(is_event))
        })
    },
    item_marks: &[RealtimeKey::Event.key()],
    element: is_event,
    line: is_event,
    record_ids: RecordIds::unique(&[&[RealtimeKey::Event.key()]]),
    read: read_run,
    ..IN_FULL
};

fn event_type(event: Object<'_>) -> Option<RealtimeEventType> {
    RealtimeEventType::from_key(text_of(event, RealtimeKey::Type)?)
}

fn is_event(event: Object<'_>) -> bool {
    let is_sure = event_type(event).is_some_and(|kind| kind != RealtimeEventType::Failed);
    is_sure && text_of(event, RealtimeKey::Event).is_some()
}

#[derive(Default)]
struct RealtimeItems<'run> {
    items: Vec<(Node<'run>, Object<'run>)>,
    places: FxHashMap<(&'run str, Option<&'run str>), usize>,
    heard: FxHashMap<&'run str, Node<'run>>,
    usage: Vec<Object<'run>>,
    model: Option<Node<'run>>,
    open: usize,
}

impl<'run> RealtimeItems<'run> {
    /// The last telling wins, in the place of the first. What a call gave is told by the id of its call.
    fn add_item(&mut self, node: Node<'run>, item: Object<'run>) {
        // The server's own call holds what it gave, and is told by its own id.
        let is_result = responses::is_item(item) && value_of(item, RealtimeKey::Output).is_some();
        let id = if is_result { None } else { text_of(item, RealtimeKey::Id) };
        let id = id.or_else(|| text_of(item, RealtimeKey::Call));
        let is_open = text_of(item, RealtimeKey::Status).and_then(RealtimeWord::from_key) == Some(RealtimeWord::Open);
        let id = id.map(|id| (id, text_of(item, RealtimeKey::Type)));
        let place = id.and_then(|id| self.places.get(&id).copied());
        match place.and_then(|place| self.items.get_mut(place)) {
            Some(_) if is_open => {}
            Some(known) => *known = (node, item),
            None => {
                // A call of another session may have the id that an earlier one had: what that one gave is not what this one gives.
                if let Some(call) = text_of(item, RealtimeKey::Call).filter(|_| !is_result) {
                    self.places.remove(&(call, Some(RealtimeWord::Result.key())));
                }
                if let Some(id) = id {
                    self.places.insert(id, self.items.len());
                }
                self.items.push((node, item));
            }
        }
    }
}

impl<'run> RealtimeItems<'run> {
    /// What was heard stands for an item that nothing else tells so far.
    fn add_heard(&mut self, id: &'run str, node: Node<'run>, event: Object<'run>) {
        let sign = (id, Some(RealtimeWord::Message.key()));
        if !self.places.contains_key(&sign) {
            self.places.insert(sign, self.items.len());
            self.items.push((node, event));
        }
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let frames = items_of(root, &[RealtimeKey::Frames]);
    let event_in = |frame: &Node<'run>| node_object(*frame).and_then(|frame| value_of(frame, RealtimeKey::Data));
    let events: Vec<Node<'run>> = frames.iter().map(|frame| event_in(frame).unwrap_or(*frame)).collect();
    let events: &'run [Node<'run>] = builder.arena.alloc_slice_copy(&events);
    let kinds = || events.iter().filter_map(|node| node_object(*node)).filter_map(event_type);
    let has_echo = kinds().any(|kind| kind == RealtimeEventType::Item)
        && object_items(events).any(|(_, event)| {
            text_of(event, RealtimeKey::Type).is_some_and(|word| word.starts_with("conversation.item."))
                && event_type(event) == Some(RealtimeEventType::Item)
        });
    let mut told = RealtimeItems::default();
    for node in events {
        builder.count_record();
        let Some((event, kind)) = node_object(*node).and_then(|event| Some((event, event_type(event)?))) else {
            builder.skip_value(node, "an event of unknown type is skipped");
            continue;
        };
        read_event(&mut told, *node, kind, event, has_echo, builder);
    }
    let is_open = told.open > 0;
    let items: Vec<_> = told.items.iter().copied().map(Some).collect();
    let cut = cut_calls::note_cut_calls(&items, |_| false, builder);
    let mut conversation = ConversationBuilder::new(builder);
    for usage in told.usage {
        let mut counts = TokenUsage::default();
        counts.add_usage(usage);
        conversation.usage.merge_usage(&counts);
    }
    conversation.add_meta(of_meta::MODEL, told.model);
    for (_, (node, item)) in told.items.into_iter().enumerate().filter(|(place, _)| !cut.contains(place)) {
        add_item(&mut conversation, node, item, &told.heard);
    }
    let builder = conversation.finish_run();
    if is_open {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    Ok(())
}

fn read_event<'run>(
    told: &mut RealtimeItems<'run>,
    node: Node<'run>,
    kind: RealtimeEventType,
    event: Object<'run>,
    has_echo: bool,
    builder: &mut RunBuilder<'run, '_>,
) {
    let item = event.field(RealtimeKey::Item).and_then(|node| Some((node, node_object(node)?)));
    match kind {
        RealtimeEventType::Session => {
            let session = object_of(event, RealtimeKey::Session);
            told.model = told.model.or(session.and_then(|session| value_of(session, RealtimeKey::Model)));
            let id = session.and_then(|session| value_of(session, RealtimeKey::Id));
            builder.set_some(of_run::ID, id.filter(|id| node_text(*id).is_some()));
        }
        RealtimeEventType::Item | RealtimeEventType::Sent => match item {
            Some((at, item)) => {
                // Words that the program sends have no id before they come back.
                let is_message =
                    text_of(item, RealtimeKey::Type).and_then(RealtimeWord::from_key) == Some(RealtimeWord::Message);
                let comes_back = kind == RealtimeEventType::Sent && has_echo && is_message;
                if !comes_back || text_of(item, RealtimeKey::Id).is_some() {
                    told.add_item(at, item);
                }
            }
            None => builder.skip_record(node.origin, "an event without its item is skipped"),
        },
        RealtimeEventType::Begin => told.open += 1,
        RealtimeEventType::End => {
            told.open = told.open.saturating_sub(1);
            let Some(response) = object_of(event, RealtimeKey::Response) else {
                return builder.skip_record(node.origin, "an event without its response is skipped");
            };
            told.usage.extend(object_of(response, RealtimeKey::Usage));
            for (at, item) in builder.record_objects(list_of(response, RealtimeKey::Output).unwrap_or_default()) {
                told.add_item(at, item);
            }
        }
        RealtimeEventType::Heard => {
            let words = value_of(event, RealtimeKey::Transcript);
            if let (Some(id), Some(words)) = (text_of(event, RealtimeKey::ItemId), words) {
                told.heard.insert(id, words);
                told.add_heard(id, node, event);
            }
        }
        RealtimeEventType::Failed => {
            let error = value_of(event, RealtimeKey::Error);
            let why = error.and_then(node_object).and_then(|error| value_of(error, RealtimeKey::Why));
            builder.set_some(of_run::ERROR, why.or(error));
        }
        RealtimeEventType::Silent => {}
    }
}

key_table! {
    RealtimePartType {
        Any = "text" | "input_text" | "output_text" | "audio" | "input_audio" | "output_audio" | "input_image",
    }
}

fn add_item<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    heard: &FxHashMap<&'run str, Node<'run>>,
) {
    let meta = StepMeta::default();
    if event_type(item) == Some(RealtimeEventType::Heard) {
        let words = value_of(item, RealtimeKey::Transcript);
        return words.into_iter().for_each(|words| conversation.add_message(Speaker::User, words, &meta, node.origin));
    }
    if text_of(item, RealtimeKey::Type).and_then(RealtimeWord::from_key) != Some(RealtimeWord::Message) {
        return responses::add_item(conversation, node, item, &meta);
    }
    let role = text_of(item, RealtimeKey::Role).and_then(MessageRole::from_key);
    if role.is_none() {
        conversation.builder.note_unknown(node.origin, UNKNOWN_ROLE);
    }
    let speaker = Speaker::from_role(role);
    if speaker == Speaker::Assistant {
        conversation.begin_turn();
    }
    let parts = list_of(item, RealtimeKey::Content).unwrap_or_default();
    let words = object_items(parts)
        .filter_map(|(_, part)| value_of(part, RealtimeKey::Text).or_else(|| value_of(part, RealtimeKey::Transcript)));
    let mut words: Vec<_> = words.collect();
    if words.is_empty() {
        words.extend(text_of(item, RealtimeKey::Id).and_then(|id| heard.get(id).copied()));
    }
    for (at, part) in object_items(parts) {
        if text_of(part, RealtimeKey::Type).is_some_and(|kind| RealtimePartType::from_key(kind).is_none()) {
            conversation.builder.note_unknown(at.origin, super::blocks::UNKNOWN);
        }
    }
    let words = super::content::join_texts(&words, conversation.builder.arena);
    words.into_iter().for_each(|words| conversation.add_message(speaker, words, &meta, node.origin));
}
