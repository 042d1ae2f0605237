//! Cline: the events of its command line (`--json`).

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, node_object, node_text, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::StepStatus;

key_table! {
    ClineEventKey {
        Time = "ts",
        Type = "type",
        Event = "event",
        Session = "sessionId",
        Model = "modelId",
        /// How the run ended.
        Words = "text",
        Reason = "finishReason",
        Usage = "usage",
        Took = "durationMs",
        Message = "message",
    }
}

key_table! {
    ClineRecordType {
        Start = "run_start",
        Event = "agent_event",
        End = "run_result",
        Stopped = "run_aborted",
        Error = "error",
        /// Programs of the user that were told of what is told here, too.
        Silent = "run_abort_requested" | "team_restored" | "hook_event",
    }
}

key_table! {
    ClineStepKey {
        Type = "type",
        Kind = "contentType",
        Words = "text",
        SoFar = "accumulated",
        Thought = "reasoning",
        Tool = "toolName",
        Call = "toolCallId",
        Args = "input",
        Result = "output",
        Error = "error",
        Took = "durationMs",
        Agent = "agentId",
        Parent = "parentAgentId",
        Message = "message",
        In = "inputTokens",
        Out = "outputTokens",
        Read = "cacheReadTokens",
        Write = "cacheWriteTokens",
    }
}

key_table! {
    ClineStepType {
        Begin = "content_start",
        End = "content_end",
        Turn = "iteration_start",
        Usage = "usage",
        Error = "error",
        /// What a tool prints while it runs; what is told to the user; ends that a record of its own tells.
        Silent = "content_update" | "iteration_end" | "notice" | "done",
    }
}

key_table! {
    ClineContent {
        Words = "text",
        Thought = "reasoning",
        Call = "tool",
        Silent = "media",
    }
}

key_table! {
    ClineEnd {
        Ok = "completed",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Cline events",
    known_by: "records with `ts` whose `type` is `agent_event` with an `event`, or `run_result`",
    description: "events of Cline's command line (`--json`)",
    marks: &[ClineEventKey::Event.key()],
    near: &[ClineEventKey::Reason.key()],
    item_marks: &[ClineEventKey::Event.key(), ClineEventKey::Reason.key()],
    element: is_record,
    line: is_record,
    beside: |record| record.field(ClineEventKey::Time).is_some() && type_of(record).is_some(),
    read: read_run,
    ..IN_FULL
};

fn type_of(record: Object<'_>) -> Option<ClineRecordType> {
    text_of(record, ClineEventKey::Type).and_then(ClineRecordType::from_key)
}

fn is_record(record: Object<'_>) -> bool {
    let tells = match type_of(record) {
        Some(ClineRecordType::Event) => object_of(record, ClineEventKey::Event).is_some(),
        Some(ClineRecordType::End) => record.field(ClineEventKey::Reason).is_some(),
        _ => false,
    };
    tells && record.field(ClineEventKey::Time).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut run =
        ClineRun { conversation: ConversationBuilder::from_parts(builder), open: None, wrong: None, is_over: false };
    for node in items_of::<ClineEventKey>(root, &[]) {
        run.conversation.builder.count_record();
        match node_object(*node).and_then(|record| Some((record, type_of(record)?))) {
            Some((record, kind)) => run.read_record(*node, record, kind),
            None => run.conversation.builder.skip_value(node, "a record of unknown type is skipped"),
        }
    }
    run.close_text();
    // Only the names of its tools are known, and what they work on is not: commands and files are not recorded.
    let builder = run.conversation.finish_run();
    builder.set_some(of_run::ERROR, run.wrong);
    if !run.is_over {
        builder.add_warning(root.origin, "the end of the run is not told");
    }
    Ok(())
}

struct ClineRun<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// A text that is still being written, as far as it is.
    open: Option<(Node<'run>, StepMeta<'run>)>,
    /// The error, unless the agent went on.
    wrong: Option<Node<'run>>,
    is_over: bool,
}

impl<'run> ClineRun<'_, 'run, '_> {
    fn read_record(&mut self, node: Node<'run>, record: Object<'run>, kind: ClineRecordType) {
        let time = first_of(record, &[ClineEventKey::Time]);
        self.conversation.note_time(time);
        match kind {
            ClineRecordType::Start => {
                let id = first_of(record, &[ClineEventKey::Session]).filter(|id| NodeShapes.is_text(*id));
                self.conversation.builder.set_some(of_run::ID, id);
                self.conversation.add_meta(of_meta::MODEL, first_of(record, &[ClineEventKey::Model]));
            }
            ClineRecordType::Event => match object_of(record, ClineEventKey::Event) {
                Some(event) => self.read_event(node, event, time),
                None => self.conversation.builder.skip_value(node, "a record without its event is skipped"),
            },
            ClineRecordType::End => self.read_end(record),
            ClineRecordType::Stopped | ClineRecordType::Error => {
                self.is_over |= kind == ClineRecordType::Stopped;
                self.wrong = first_of(record, &[ClineEventKey::Message]).or(self.wrong);
            }
            ClineRecordType::Silent => {}
        }
    }

    fn read_end(&mut self, record: Object<'run>) {
        self.is_over = true;
        let words = first_of(record, &[ClineEventKey::Words]);
        let reason = text_of(record, ClineEventKey::Reason);
        if reason.is_some_and(|reason| ClineEnd::from_key(reason).is_none()) {
            self.wrong = self.wrong.or(words).or_else(|| first_of(record, &[ClineEventKey::Reason]));
        } else {
            let words = words.filter(|words| node_text(*words).is_some_and(|words| !words.is_empty()));
            self.conversation.builder.set_some(of_run::OUTPUT, words);
        }
        if let Some(counts) = object_of(record, ClineEventKey::Usage) {
            self.conversation.usage = token_usage(counts);
        }
        let took = first_of(record, &[ClineEventKey::Took]);
        self.conversation
            .builder
            .set_some(of_run::DURATION, took.filter(|took| matches!(took.value, Value::Number(_))));
    }

    fn read_event(&mut self, node: Node<'run>, event: Object<'run>, time: Option<Node<'run>>) {
        // An agent that another one began is a sub-agent.
        let is_sub = text_of(event, ClineStepKey::Parent).is_some();
        let agent = first_of(event, &[ClineStepKey::Agent]).filter(|_| is_sub);
        if is_sub {
            self.conversation.builder.mark_agents_named();
        }
        let meta = StepMeta { time, agent, aside: is_sub };
        let kind = text_of(event, ClineStepKey::Type).and_then(ClineStepType::from_key);
        let content = text_of(event, ClineStepKey::Kind).and_then(ClineContent::from_key);
        match (kind, content) {
            (Some(ClineStepType::Turn), _) => {
                self.close_text();
                self.wrong = None;
                self.conversation.begin_turn();
            }
            (Some(ClineStepType::Usage), _) => self.conversation.add_usage(&token_usage(event), None),
            (Some(ClineStepType::Error), _) => {
                let error = first_of(event, &[ClineStepKey::Error]);
                let message = error.and_then(node_object).and_then(|error| first_of(error, &[ClineStepKey::Message]));
                self.wrong = message.or(error).or(self.wrong);
            }
            (Some(ClineStepType::Silent), _) | (Some(_), Some(ClineContent::Silent)) => {}
            (Some(ClineStepType::Begin), Some(ClineContent::Words)) => {
                let so_far = first_of(event, &[ClineStepKey::SoFar, ClineStepKey::Words]);
                self.open = so_far.map(|so_far| (so_far, meta)).or(self.open);
            }
            (Some(ClineStepType::End), Some(ClineContent::Words)) => {
                let open = self.open.take().map(|(so_far, _)| so_far);
                let words = first_of(event, &[ClineStepKey::Words]).or(open);
                words.into_iter().for_each(|words| {
                    self.conversation.add_message(Speaker::Assistant, words, &meta, node.origin);
                });
            }
            (Some(ClineStepType::Begin), Some(ClineContent::Thought)) => {}
            (Some(ClineStepType::End), Some(ClineContent::Thought)) => {
                let words = first_of(event, &[ClineStepKey::Thought, ClineStepKey::Words]);
                words.into_iter().for_each(|words| {
                    self.conversation.add_message(Speaker::Thinking, words, &meta, node.origin);
                });
            }
            (Some(ClineStepType::Begin), Some(ClineContent::Call)) => {
                self.close_text();
                self.add_call(node, event, &meta);
            }
            (Some(ClineStepType::End), Some(ClineContent::Call)) => self.end_call(node, event, &meta),
            _ => self.conversation.builder.skip_record(node.origin, "an event of unknown type is skipped"),
        }
    }

    fn add_call(&mut self, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) {
        let id = event.field(ClineStepKey::Call);
        if id.and_then(node_text).is_some_and(|id| self.conversation.find_call(id).is_some()) {
            return;
        }
        let tool = event.field(ClineStepKey::Tool).unwrap_or(Node::computed(Value::Null));
        let made = ToolCall { tool, args: event.field(ClineStepKey::Args), id, origin: node.origin };
        self.conversation.add_call(made, meta);
    }

    /// Without an error nothing says that the tool did what it was to do.
    fn end_call(&mut self, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) {
        let error = first_of(event, &[ClineStepKey::Error]);
        let outcome = CallResult {
            result: first_of(event, &[ClineStepKey::Result]).or(error),
            error,
            status: error.map(|_| StepStatus::Failed),
            duration: first_of(event, &[ClineStepKey::Took]),
            ..CallResult::default()
        };
        let [id, tool] = [ClineStepKey::Call, ClineStepKey::Tool].map(|key| text_of(event, key));
        self.conversation.add_result(id, tool, outcome, meta, node.origin);
    }

    /// A text whose end is not told is as long as it is.
    fn close_text(&mut self) {
        if let Some((words, meta)) = self.open.take() {
            self.conversation.add_message(Speaker::Assistant, words, &meta, words.origin);
        }
    }
}

/// The input holds what came from a cache and went there.
fn token_usage(counts: Object<'_>) -> TokenUsage {
    let mut usage = TokenUsage::default();
    for (name, key) in [
        (of_usage::INPUT, ClineStepKey::In),
        (of_usage::OUTPUT, ClineStepKey::Out),
        (of_usage::CACHE_READ, ClineStepKey::Read),
        (of_usage::CACHE_WRITE, ClineStepKey::Write),
    ] {
        usage.add_count(name, counts.field(key));
    }
    usage
}
