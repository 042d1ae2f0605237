//! Dify: the events of an answer as its server streams them. A thought of an agent is told several times, and the last telling is the whole one.

use super::calls::TokenUsage;
use super::content;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::dify;
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{node_list, node_object, node_text, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepKind;
use rustc_hash::FxHashMap;

key_table! {
    DifyEventKey {
        Event = "event",
        Task = "task_id",
        Message = "message_id",
        Conversation = "conversation_id",
        Id = "id",
        Answer = "answer",
        Metadata = "metadata",
        Usage = "usage",
        Why = "message",
        Data = "data",
        NodeType = "node_type",
    }
}

key_table! {
    DifyEvent {
        Thought = "agent_thought",
        Words = "agent_message" | "message",
        /// What moderation puts in the place of the answer.
        Replaces = "message_replace",
        End = "message_end",
        Error = "error",
        Node = "node_finished",
        /// How an answer is framed, files, sound, and steps of a workflow whose end is told, too.
        Silent = "ping" | "message_file" | "tts_message" | "tts_message_end" | "workflow_started" | "workflow_finished"
            | "node_started" | "text_chunk" | "text_replace",
    }
}

key_table! {
    /// Nodes of a workflow that call no tool.
    DifyNodeType {
        Harmless = "start" | "end" | "answer" | "llm" | "if-else" | "question-classifier" | "knowledge-retrieval"
            | "template-transform" | "variable-aggregator" | "variable-assigner" | "assigner" | "parameter-extractor"
            | "document-extractor" | "list-operator",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Dify events",
    known_by: "an `event` such as `agent_thought` or `message_end` with a `task_id` and a `message_id`",
    description: "streamed answers of Dify's apps (as sent, a list, one a line)",
    marks: &[DifyEventKey::Event.key()],
    near: &[],
    object: is_event,
    item_marks: &[DifyEventKey::Event.key()],
    element: is_event,
    line: is_event,
    beside: |object| event_kind(object).is_some(),
    read: read_run,
    ..IN_FULL
};

fn event_kind(event: Object<'_>) -> Option<DifyEvent> {
    DifyEvent::from_key(text_of(event, DifyEventKey::Event)?)
}

fn is_event(event: Object<'_>) -> bool {
    event_kind(event).is_some()
        && text_of(event, DifyEventKey::Task).is_some()
        && text_of(event, DifyEventKey::Message).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut stream = DifyStream {
        conversation: ConversationBuilder::from_parts(builder),
        message: None,
        thoughts: Vec::new(),
        places: FxHashMap::default(),
        pieces: Vec::new(),
        is_over: false,
        tells_calls: true,
    };
    for node in node_list(*root).unwrap_or(std::slice::from_ref(root)) {
        stream.conversation.builder.count_record();
        match node_object(*node).and_then(|event| Some((event, event_kind(event)?))) {
            Some((event, kind)) => stream.add_event(*node, event, kind),
            None => {
                stream.conversation.builder.skip_value(node, "an event of unknown kind is skipped: it may be a call")
            }
        }
    }
    stream.close_message();
    let (is_over, tells_calls) = (stream.is_over, stream.tells_calls);
    let builder = stream.conversation.finish_run();
    if !is_over {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    if !tells_calls {
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}

struct DifyStream<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    message: Option<&'run str>,
    thoughts: Vec<(Node<'run>, Object<'run>)>,
    /// Where a thought of the message stands in them, by its id.
    places: FxHashMap<&'run str, usize>,
    pieces: Vec<Node<'run>>,
    is_over: bool,
    tells_calls: bool,
}

impl<'run> DifyStream<'_, 'run, '_> {
    fn add_event(&mut self, node: Node<'run>, event: Object<'run>, kind: DifyEvent) {
        let message = text_of(event, DifyEventKey::Message);
        if message.is_some() && message != self.message {
            self.close_message();
            self.message = message;
            self.is_over = false;
        }
        let builder = &mut *self.conversation.builder;
        if !builder.has_entry(of_run::ID) {
            builder.set_some(of_run::ID, value_of(event, DifyEventKey::Conversation));
        }
        match kind {
            DifyEvent::Thought => {
                let id = text_of(event, DifyEventKey::Id);
                let known = id.and_then(|id| self.places.get(id)).and_then(|place| self.thoughts.get_mut(*place));
                match known {
                    Some(known) => *known = (node, event),
                    None => {
                        self.places.extend(id.map(|id| (id, self.thoughts.len())));
                        self.thoughts.push((node, event));
                    }
                }
            }
            DifyEvent::Words => self.pieces.extend(value_of(event, DifyEventKey::Answer)),
            DifyEvent::Replaces => self.pieces = value_of(event, DifyEventKey::Answer).into_iter().collect(),
            DifyEvent::End => {
                self.is_over = true;
                let usage = object_of(event, DifyEventKey::Metadata);
                if let Some(counts) = usage.and_then(|held| object_of(held, DifyEventKey::Usage)) {
                    let mut usage = TokenUsage::default();
                    usage.add_usage(counts);
                    self.conversation.add_usage(&usage, None);
                }
            }
            DifyEvent::Error => {
                let why = value_of(event, DifyEventKey::Why).filter(|why| node_text(*why).is_some());
                self.conversation.builder.set_some(of_run::ERROR, why);
            }
            DifyEvent::Node => {
                let data = object_of(event, DifyEventKey::Data);
                let word = data.and_then(|data| text_of(data, DifyEventKey::NodeType));
                if word.and_then(DifyNodeType::from_key).is_none() {
                    self.conversation
                        .builder
                        .skip_record(node.origin, "a node of a workflow is skipped: it may be a call");
                }
            }
            DifyEvent::Silent => {}
        }
    }

    fn close_message(&mut self) {
        if self.message.is_none() && self.pieces.is_empty() {
            return;
        }
        // Apps that are no agents have none: what their workflows did stands elsewhere.
        self.tells_calls &= !self.thoughts.is_empty();
        self.places.clear();
        for (node, thought) in std::mem::take(&mut self.thoughts) {
            dify::add_thought(&mut self.conversation, node, thought);
        }
        let words = content::concat_pieces(&std::mem::take(&mut self.pieces), self.conversation.builder.arena);
        if let Some(words) = words {
            self.conversation.begin_message();
            self.conversation.add_message(Speaker::Assistant, words, &StepMeta::default(), words.origin);
        }
    }
}
