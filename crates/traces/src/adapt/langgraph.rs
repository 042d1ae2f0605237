//! What a graph of LangGraph streams: its updates node by node, and its states, each of which repeats the messages of those before it.

use super::conversation::ConversationBuilder;
use super::fields::{FieldRecord as _, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::handovers;
use super::langchain::{self, LangChainKey};
use super::nodes::{first_of, items_of, list_of, node_list, node_object, node_text, record_payload, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, ObjectEntry, Value, json};
use averment_runs::normal::of_run;
use rustc_hash::{FxHashMap, FxHashSet};

key_table! {
    /// What nodes of graphs are mostly named, and what records of streams have: one of them tells the format.
    GraphNode {
        Any = "agent" | "tools" | "model" | "call_model" | "llm_call" | "llm" | "tool_node" | "action" | "chatbot" | "supervisor"
            | "event" | "ns",
        /// A question to a person: nothing was done.
        Silent = "__interrupt__" | "__start__" | "__metadata__",
    }
}

/// What each node of a graph changed, as `stream_mode="updates"` gives it.
pub(crate) const UPDATES: TraceFormat = TraceFormat {
    name: "LangGraph updates",
    known_by: "objects of a node's name (`agent`, `tools`, …) with the `messages` that it added",
    description: "updates of a LangGraph (`stream_mode=\"updates\"`, also beside other modes; a list or one a line)",
    marks: &[GraphNode::Silent.key()],
    item_marks: GraphNode::Any.keys(),
    element: is_update,
    line: is_update,
    beside: |record| stream_part(record).is_some(),
    record_ids: RecordIds::OWN_READER,
    read: read_updates,
    ..IN_FULL
};

fn is_update(update: Object<'_>) -> bool {
    let adds_messages = |node: &Node<'_>| node_object(*node).and_then(langchain::held_messages).is_some();
    let is_of_node = |entry: &ObjectEntry<'_>| parts_of(&entry.node).iter().any(adds_messages);
    match stream_part(update) {
        Some((_, mode, payload)) => {
            let payload = node_object(payload);
            mode == StreamMode::Updates && payload.is_some_and(is_update)
                || mode == StreamMode::Values && payload.and_then(langchain::held_messages).is_some()
        }
        None => update.entries().len() <= 2 && update.entries().iter().any(is_of_node),
    }
}

/// What a node changed: a node that returns several commands changes the state several times.
fn parts_of<'n, 'run>(update: &'n Node<'run>) -> &'n [Node<'run>]
where
    'run: 'n,
{
    node_list(*update).unwrap_or(std::slice::from_ref(update))
}

key_table! {
    /// What is told, where a stream has several modes or one in a list.
    StreamMode {
        Updates = "updates",
        Values = "values",
        /// Answers piece by piece.
        Pieces = "messages" | "messages/partial" | "messages/complete",
        /// How the work goes on, and what the program itself tells of it.
        Silent = "custom" | "debug" | "tasks" | "checkpoints" | "messages/metadata" | "end",
        /// The run that a server streams, and why it failed.
        Head = "metadata",
        Error = "error",
    }
}

key_table! {
    /// A record of a stream of version 2: its mode and what it tells. A server tells the mode as the name of an event, with the path of a graph
    /// inside of another behind it.
    StreamPartKey {
        Mode = "type",
        Payload = "data",
        Event = "event",
        /// Of an event of LangChain.
        Run = "run_id",
    }
}

/// The path to the graph that tells a record of version 2.
const PATH: &str = GraphNode::Any.last_key();

fn stream_part(part: Object<'_>) -> Option<(&[Node<'_>], StreamMode, Node<'_>)> {
    let payload = part.field(StreamPartKey::Payload)?;
    let event = part.entries().iter().find(|entry| entry.key == StreamPartKey::Event.key());
    if let Some((event, word)) = event.and_then(|event| Some((event, node_text(event.node)?))) {
        let (mode, inner) = word.split_once('|').map_or((word, false), |(mode, _)| (mode, true));
        let path = if inner { std::slice::from_ref(&event.node) } else { &[] };
        let mode = StreamMode::from_key(mode)?;
        return part.field(StreamPartKey::Run).is_none().then_some((path, mode, payload));
    }
    let mode = text_of(part, StreamPartKey::Mode).and_then(StreamMode::from_key)?;
    Some((part.get(PATH).and_then(node_list)?, mode, payload))
}

/// One record of a stream: the path to the graph that tells it (empty for the graph itself), its mode, and what it tells.
fn streamed<'run>(node: Node<'run>) -> Option<(&'run [Node<'run>], StreamMode, Node<'run>)> {
    let mode_of = |node: &Node<'run>| node_text(*node).and_then(StreamMode::from_key);
    match node.value {
        Value::List([mode, payload]) if mode_of(mode).is_some() => Some((&[], mode_of(mode)?, *payload)),
        Value::List([path, mode, payload]) if mode_of(mode).is_some() => {
            Some((node_list(*path)?, mode_of(mode)?, *payload))
        }
        Value::Object(part) => stream_part(part),
        _ => None,
    }
}

/// What the records of a stream told so far.
struct StreamReader<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    seen: FxHashSet<(&'run str, &'run str)>,
    /// The last state of each graph, by its path.
    states: FxHashMap<String, &'run [Node<'run>]>,
    /// Messages without an id that updates told, and no state repeated yet.
    nameless: FxHashMap<String, usize>,
    /// Pieces of answers by the ids of these.
    pieces: Vec<(&'run str, Node<'run>)>,
}

fn read_updates<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let records = builder.arena.alloc(root);
    let mut reader = StreamReader::new(ConversationBuilder::new(builder));
    for node in items_of::<LangChainKey>(records, &[]) {
        match streamed(*node) {
            Some((_, StreamMode::Updates, payload)) => reader.add_update(payload, node_object(payload)),
            Some((path, StreamMode::Values, payload)) => reader.add_state(path, payload),
            Some((_, StreamMode::Pieces, payload)) => reader.add_piece(payload),
            Some((_, StreamMode::Silent, _)) => reader.conversation.builder.count_record(),
            Some((_, StreamMode::Head, payload)) => reader.add_head(payload),
            Some((_, StreamMode::Error, payload)) => reader.add_error(payload),
            None => reader.add_update(*node, record_payload(*node)),
        }
    }
    reader.tell_pieces();
    reader.conversation.finish_run().insert_derived(handovers::derive_handover);
    Ok(())
}

impl<'a, 'run, 'limits> StreamReader<'a, 'run, 'limits> {
    fn new(conversation: ConversationBuilder<'a, 'run, 'limits>) -> Self {
        let (seen, states, nameless) = (FxHashSet::default(), FxHashMap::default(), FxHashMap::default());
        Self { conversation, seen, states, nameless, pieces: Vec::new() }
    }

    fn add_update(&mut self, node: Node<'run>, update: Option<Object<'run>>) {
        let Some(update) = update else {
            self.conversation.builder.count_record();
            self.conversation.builder.skip_value(node, "what is no update of a graph is skipped");
            return;
        };
        // Words and numbers alone are what a server says of the run, or a record of something else.
        let is_word = |value: &Value<'_>| matches!(value, Value::Text(_) | Value::Number(_) | Value::Boolean(_));
        if update.entries().iter().all(|entry| is_word(&entry.node.value)) && !is_stream_head(update) {
            self.conversation.builder.count_record();
            return self.conversation.builder.skip_record(node.origin, "what is no update of a graph is skipped");
        }
        for entry in update.entries().iter().filter(|entry| GraphNode::from_key(entry.key) != Some(GraphNode::Silent)) {
            for part in parts_of(&entry.node) {
                self.add_change(*part);
            }
        }
    }

    fn add_change(&mut self, change: Node<'run>) {
        self.conversation.builder.count_record();
        let messages = node_object(change).and_then(|state| list_of(state, LangChainKey::Messages));
        match (messages, change.value) {
            (Some(messages), _) => {
                for message in messages.iter().filter(|message| message_id(**message).is_none()) {
                    *self.nameless.entry(json::to_json(&message.value)).or_default() += 1;
                }
                langchain::read_messages(&mut self.conversation, messages, &mut self.seen);
            }
            // A node that changed nothing, and what a server says of the run.
            (None, Value::Null | Value::Text(_) | Value::Number(_) | Value::Boolean(_)) => {}
            (None, _) => {
                self.conversation.builder.skip_record(change.origin, "an update without `messages` is skipped")
            }
        }
    }

    /// A state repeats what updates told before it, and tells what was said to the graph.
    fn add_state(&mut self, path: &'run [Node<'run>], state: Node<'run>) {
        self.conversation.builder.count_record();
        let Some(messages) = node_object(state).and_then(|state| list_of(state, LangChainKey::Messages)) else {
            return self.conversation.builder.skip_value(state, "what is no state of a graph is skipped");
        };
        let of_graph = path.iter().filter_map(|part| node_text(*part)).collect::<Vec<_>>().join("|");
        let before = self.states.get(&of_graph).copied().unwrap_or_default();
        let new = new_messages(messages, before);
        for message in new {
            if !self.is_repeated(message, path) {
                langchain::read_messages(&mut self.conversation, std::slice::from_ref(message), &mut self.seen);
            }
        }
        // A stream that is resumed may begin with an earlier state.
        if !new.is_empty() {
            self.states.insert(of_graph, messages);
        }
    }

    /// What a server says of a run before it streams it.
    fn add_head(&mut self, head: Node<'run>) {
        self.conversation.builder.count_record();
        let id = node_object(head).and_then(|head| head.field(StreamKey::Run)).filter(|id| node_text(*id).is_some());
        self.conversation.builder.set_some(of_run::ID, id);
    }

    fn add_error(&mut self, wrong: Node<'run>) {
        self.conversation.builder.count_record();
        let why = node_object(wrong).and_then(|wrong| first_of(wrong, &[StreamKey::Why, StreamKey::Error]));
        self.conversation.builder.set_some(of_run::ERROR, why.or(Some(wrong)));
    }

    fn is_repeated(&mut self, message: &'run Node<'run>, path: &'run [Node<'run>]) -> bool {
        if message_id(*message).is_some() {
            return false;
        }
        match self.nameless.get_mut(&json::to_json(&message.value)).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            // A graph inside of another begins with messages of that one.
            None if !path.is_empty() => self.conversation.builder.skip_value(message, UNTOLD),
            None => return false,
        }
        true
    }

    fn add_piece(&mut self, payload: Node<'run>) {
        self.conversation.builder.count_record();
        let piece = node_list(payload).and_then(|pair| pair.first()).copied();
        match piece.and_then(|piece| Some((message_id(piece)?, piece))) {
            Some(piece) => self.pieces.push(piece),
            None => self.conversation.builder.skip_value(payload, UNTOLD),
        }
    }

    /// A tool may ask models, too: what they say stands in no update.
    fn tell_pieces(&mut self) {
        let known: FxHashSet<&str> = self.seen.iter().map(|(_, id)| *id).collect();
        // A whole answer may have a number behind the id of its pieces.
        let is_known = |id: &str| known.contains(id) || known.contains(&*format!("{id}-0"));
        if let Some((_, piece)) = self.pieces.iter().find(|(id, _)| !is_known(id)) {
            self.conversation.builder.skip_value(piece, UNTOLD);
        }
    }
}

const UNTOLD: &str = "a message that stands in no update of a graph is skipped";

fn message_id(message: Node<'_>) -> Option<&str> {
    let (_, message) = node_object(message).and_then(langchain::message_sayer)?;
    text_of(message, LangChainKey::Id)
}

/// What a state has behind the messages of the state before it.
fn new_messages<'run>(messages: &'run [Node<'run>], before: &[Node<'run>]) -> &'run [Node<'run>] {
    let is_same = |(a, b): &(&Node<'run>, &Node<'_>)| values_equal(&a.value, &b.value);
    let known = messages.iter().zip(before).take_while(is_same).count();
    messages.get(known..).unwrap_or_default()
}

key_table! {
    /// How the server begins a stream, and how it says what went wrong.
    StreamKey {
        Run = "run_id",
        Attempt = "attempt",
        Error = "error",
        Why = "message",
    }
}

/// The states of a graph, as a server streams them (`stream_mode="values"`): each repeats the messages of those before it.
pub(crate) const STATES: TraceFormat = TraceFormat {
    name: "LangGraph states",
    known_by: "objects with `messages` of LangChain, each with those of the one before it, also behind a `run_id` with an `attempt` alone",
    description: "states of a graph, as it or its server streams them (`stream_mode=\"values\"`)",
    marks: &[StreamKey::Attempt.key()],
    item_marks: &[StreamKey::Attempt.key()],
    repeat_marks: &[LangChainKey::Messages.key()],
    element: |record| is_stream_head(record) || langchain::held_messages(record).is_some(),
    alone: |record| !is_stream_head(record),
    repeats: repeats_state,
    record_ids: RecordIds::OWN_READER,
    read: read_states,
    ..IN_FULL
};

/// Whether a state goes on behind another: it has all messages of that one, by their ids.
fn repeats_state<'run>(before: Object<'run>, state: Object<'run>) -> bool {
    let [before, state] = [before, state].map(|state| langchain::held_messages(state).unwrap_or_default());
    let is_same = |(a, b): (&Node<'run>, &Node<'run>)| message_id(*a).is_some() && message_id(*a) == message_id(*b);
    !before.is_empty() && before.len() <= state.len() && before.iter().zip(state).all(is_same)
}

fn holds_messages(state: Object<'_>) -> bool {
    list_of(state, LangChainKey::Messages).is_some()
}

fn is_stream_head(head: Object<'_>) -> bool {
    head.entries().len() == 2 && [StreamKey::Run, StreamKey::Attempt].into_iter().all(|key| head.field(key).is_some())
}

fn read_states<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let states = builder.arena.alloc(root);
    let mut reader = StreamReader::new(ConversationBuilder::new(builder));
    for node in items_of::<LangChainKey>(states, &[]) {
        match node_object(*node) {
            Some(head) if is_stream_head(head) => reader.add_head(*node),
            Some(wrong) if first_of(wrong, &[StreamKey::Error]).is_some() && !holds_messages(wrong) => {
                reader.add_error(*node);
            }
            _ => reader.add_state(&[], *node),
        }
    }
    reader.conversation.finish_run().insert_derived(handovers::derive_handover);
    Ok(())
}
