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

fn read_run<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = draft.arena.alloc(root);
    let mut run = ClineRun { talk: ConversationBuilder::from_parts(draft), open: None, wrong: None, is_over: false };
    for node in items_of::<ClineEventKey>(root, &[]) {
        run.talk.draft.count_record();
        match node_object(*node).and_then(|record| Some((record, type_of(record)?))) {
            Some((record, kind)) => run.read_record(*node, record, kind),
            None => run.talk.draft.skip_value(node, "a record of unknown type is passed over"),
        }
    }
    run.close_text();
    // Only the names of its tools are known, and what they work on is not: commands and files are not recorded.
    let draft = run.talk.finish_run();
    draft.set_some(of_run::ERROR, run.wrong);
    if !run.is_over {
        draft.add_warning(root.origin, "the end of the run is not told");
    }
    Ok(())
}

struct ClineRun<'a, 'run, 'limits> {
    talk: ConversationBuilder<'a, 'run, 'limits>,
    /// A text that is still being written, as far as it is.
    open: Option<(Node<'run>, StepMeta<'run>)>,
    /// The error, unless the agent went on.
    wrong: Option<Node<'run>>,
    is_over: bool,
}

impl<'run> ClineRun<'_, 'run, '_> {
    fn read_record(&mut self, node: Node<'run>, record: Object<'run>, kind: ClineRecordType) {
        let time = first_of(record, &[ClineEventKey::Time]);
        self.talk.note_time(time);
        match kind {
            ClineRecordType::Start => {
                let id = first_of(record, &[ClineEventKey::Session]).filter(|id| NodeShapes.is_text(*id));
                self.talk.draft.set_some(of_run::ID, id);
                self.talk.add_meta(of_meta::MODEL, first_of(record, &[ClineEventKey::Model]));
            }
            ClineRecordType::Event => match object_of(record, ClineEventKey::Event) {
                Some(event) => self.read_event(node, event, time),
                None => self.talk.draft.skip_value(node, "a record without its event is passed over"),
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
            self.talk.draft.set_some(of_run::OUTPUT, words);
        }
        if let Some(counts) = object_of(record, ClineEventKey::Usage) {
            self.talk.usage = token_usage(counts);
        }
        let took = first_of(record, &[ClineEventKey::Took]);
        self.talk.draft.set_some(of_run::DURATION, took.filter(|took| matches!(took.value, Value::Number(_))));
    }

    fn read_event(&mut self, node: Node<'run>, event: Object<'run>, time: Option<Node<'run>>) {
        // An agent that another one began is a sub-agent.
        let is_sub = text_of(event, ClineStepKey::Parent).is_some();
        let agent = first_of(event, &[ClineStepKey::Agent]).filter(|_| is_sub);
        if is_sub {
            self.talk.draft.mark_agents_named();
        }
        let about = StepMeta { time, agent, aside: is_sub };
        let kind = text_of(event, ClineStepKey::Type).and_then(ClineStepType::from_key);
        let content = text_of(event, ClineStepKey::Kind).and_then(ClineContent::from_key);
        match (kind, content) {
            (Some(ClineStepType::Turn), _) => {
                self.close_text();
                self.wrong = None;
                self.talk.begin_turn();
            }
            (Some(ClineStepType::Usage), _) => self.talk.add_usage(&token_usage(event), None),
            (Some(ClineStepType::Error), _) => {
                let error = first_of(event, &[ClineStepKey::Error]);
                let message = error.and_then(node_object).and_then(|error| first_of(error, &[ClineStepKey::Message]));
                self.wrong = message.or(error).or(self.wrong);
            }
            (Some(ClineStepType::Silent), _) | (Some(_), Some(ClineContent::Silent)) => {}
            (Some(ClineStepType::Begin), Some(ClineContent::Words)) => {
                let so_far = first_of(event, &[ClineStepKey::SoFar, ClineStepKey::Words]);
                self.open = so_far.map(|so_far| (so_far, about)).or(self.open);
            }
            (Some(ClineStepType::End), Some(ClineContent::Words)) => {
                let open = self.open.take().map(|(so_far, _)| so_far);
                let words = first_of(event, &[ClineStepKey::Words]).or(open);
                words.into_iter().for_each(|words| {
                    self.talk.add_message(Speaker::Assistant, words, &about, node.origin);
                });
            }
            (Some(ClineStepType::Begin), Some(ClineContent::Thought)) => {}
            (Some(ClineStepType::End), Some(ClineContent::Thought)) => {
                let words = first_of(event, &[ClineStepKey::Thought, ClineStepKey::Words]);
                words.into_iter().for_each(|words| {
                    self.talk.add_message(Speaker::Thinking, words, &about, node.origin);
                });
            }
            (Some(ClineStepType::Begin), Some(ClineContent::Call)) => {
                self.close_text();
                self.add_call(node, event, &about);
            }
            (Some(ClineStepType::End), Some(ClineContent::Call)) => self.end_call(node, event, &about),
            _ => self.talk.draft.skip_record(node.origin, "an event of unknown type is passed over"),
        }
    }

    fn add_call(&mut self, node: Node<'run>, event: Object<'run>, about: &StepMeta<'run>) {
        let id = event.field(ClineStepKey::Call);
        if id.and_then(node_text).is_some_and(|id| self.talk.find_call(id).is_some()) {
            return;
        }
        let tool = event.field(ClineStepKey::Tool).unwrap_or(Node::computed(Value::Null));
        let made = ToolCall { tool, args: event.field(ClineStepKey::Args), id, origin: node.origin };
        self.talk.add_call(made, about);
    }

    /// Without an error nothing says that the tool did what it was to do.
    fn end_call(&mut self, node: Node<'run>, event: Object<'run>, about: &StepMeta<'run>) {
        let error = first_of(event, &[ClineStepKey::Error]);
        let outcome = CallResult {
            result: first_of(event, &[ClineStepKey::Result]).or(error),
            error,
            status: error.map(|_| StepStatus::Failed),
            duration: first_of(event, &[ClineStepKey::Took]),
            ..CallResult::default()
        };
        let [id, tool] = [ClineStepKey::Call, ClineStepKey::Tool].map(|key| text_of(event, key));
        self.talk.add_result(id, tool, outcome, about, node.origin);
    }

    /// A text whose end is not told is as long as it is.
    fn close_text(&mut self) {
        if let Some((words, about)) = self.open.take() {
            self.talk.add_message(Speaker::Assistant, words, &about, words.origin);
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
