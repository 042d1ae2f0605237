//! Agno: the events of a run as they are streamed. What was asked is not among them, so that messages count as not recorded.

use super::blocks::{BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, StepMeta, instant_node, seconds_to_ms};
use super::fields::{NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{node_list, node_object, node_text, object_of, text_of};
use super::run_builder::RunBuilder;
use super::{block_session, blocks};
use averment_base::value::{Node, Object, Value, ValueText};
use averment_runs::normal::{of_meta, of_run, of_step, of_usage};
use averment_runs::run::{StepKind, StepStatus};
use bumpalo::collections::String as ArenaString;

key_table! {
    /// Keys of events, and of the calls that a run lists.
    AgnoKey {
        Event = "event",
        Run = "run_id",
        Parent = "parent_run_id",
        Agent = "agent_name" | "team_name" | "agent_id" | "team_id",
        Time = "created_at",
        Tool = "tool",
        Content = "content",
        Error = "error",
        Model = "model",
        TokensIn = "input_tokens",
        TokensOut = "output_tokens",
        TokensRead = "cache_read_tokens",
        TokensWrite = "cache_write_tokens",
        Reasoning = "reasoning_tokens",
        Id = "tool_call_id",
        Name = "tool_name",
        Args = "tool_args",
        Failed = "tool_call_error",
        Result = "result",
        Confirmed = "confirmed",
        Depth = "nested_depth",
        /// What a whole run took.
        Metrics = "metrics",
        Duration = "duration",
    }
}

key_table! {
    /// The events of agents; those of teams have `Team` in front.
    AgnoEvent {
        Begins = "RunStarted",
        Content = "RunContent",
        /// The whole of an answer that came in pieces before.
        Completed = "RunCompleted",
        Failed = "RunError",
        ToolBegins = "ToolCallStarted",
        ToolEnds = "ToolCallCompleted",
        /// Comes behind the end of the call, and says once more that it failed.
        ToolFails = "ToolCallError",
        Model = "ModelRequestCompleted" | "ParserModelResponseCompleted" | "OutputModelResponseCompleted",
        /// The run waits for somebody: which calls wait is told where they begin.
        Cut = "RunPaused" | "RunCancelled",
        /// What the program does around a run, steps of thought, and pieces of what comes whole.
        Silent = "RunContentCompleted" | "RunIntermediateContent" | "RunContinued" | "PreHookStarted" | "PreHookCompleted"
            | "PostHookStarted" | "PostHookCompleted" | "ReasoningStarted" | "ReasoningStep" | "ReasoningContentDelta"
            | "ToolCallArgsDelta" | "ReasoningCompleted" | "MemoryUpdateStarted" | "MemoryUpdateCompleted" | "SessionSummaryStarted"
            | "SessionSummaryCompleted" | "ParserModelResponseStarted" | "OutputModelResponseStarted"
            | "ModelRequestStarted" | "CompressionStarted" | "CompressionCompleted" | "CompactionStarted"
            | "CompactionCompleted" | "FollowupsStarted" | "FollowupsCompleted" | "TaskIterationStarted"
            | "TaskIterationCompleted" | "TaskStateUpdated" | "TaskCreated" | "TaskUpdated",
    }
}

key_table! {
    AgnoPrefix {
        Team = "Team",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Agno events",
    known_by: "an `event` such as `RunStarted` or `ToolCallCompleted` with a `run_id` and a `created_at`",
    description: "events of runs of Agno (a list, one a line)",
    marks: &[AgnoKey::Event.key()],
    near: &[AgnoKey::Depth.key()],
    object: is_event,
    item_marks: &[AgnoKey::Event.key()],
    element: is_event,
    line: is_event,
    read: read_run,
    ..IN_FULL
};

fn event_kind(event: Object<'_>) -> Option<AgnoEvent> {
    let word = text_of(event, AgnoKey::Event)?;
    AgnoEvent::from_key(word.strip_prefix(AgnoPrefix::Team.key()).unwrap_or(word))
}

/// Whether an event, wherever it stands, is about what the program does around calls and answers.
pub(super) fn tells_no_call(event: Object<'_>) -> bool {
    use AgnoEvent::{Begins, Model, Silent, ToolFails};
    matches!(event_kind(event), Some(Begins | Model | Silent | ToolFails))
}

fn is_event(event: Object<'_>) -> bool {
    event_kind(event).is_some() && text_of(event, AgnoKey::Run).is_some() && value_of(event, AgnoKey::Time).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut stream = EventStream {
        conversation: ConversationBuilder::new(builder),
        main: None,
        pieces: Vec::new(),
        answer: None,
        whole: None,
        is_cut: false,
        metrics: None,
        counts_part: false,
    };
    for node in node_list(*root).unwrap_or(std::slice::from_ref(root)) {
        stream.conversation.builder.count_record();
        match node_object(*node).filter(|event| text_of(*event, AgnoKey::Event).is_some()) {
            Some(event) => stream.add_event(*node, event),
            None => stream.conversation.builder.skip_value(node, "what is no event is skipped"),
        }
    }
    stream.end_text();
    stream.count_whole_run();
    let EventStream { conversation, answer, whole, main, is_cut, .. } = stream;
    let builder = conversation.finish_run();
    builder.set_some(of_run::ID, main);
    // An answer that is an object was asked for in that form.
    builder.set_some(of_run::OUTPUT, whole.or(answer));
    if is_cut {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    builder.mark_unrecorded(StepKind::Message);
    Ok(())
}

struct EventStream<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// The run that the others belong to.
    main: Option<Node<'run>>,
    /// Pieces of what an agent is saying.
    pieces: Vec<Node<'run>>,
    answer: Option<Node<'run>>,
    whole: Option<Node<'run>>,
    is_cut: bool,
    /// What the main run took.
    metrics: Option<Object<'run>>,
    /// Requests tell what they took, or other runs are there, of which nobody knows whether the main one counts them.
    counts_part: bool,
}

impl<'run> EventStream<'_, 'run, '_> {
    fn add_event(&mut self, node: Node<'run>, event: Object<'run>) {
        self.main = self.main.or_else(|| value_of(event, AgnoKey::Run));
        let is_main = value_of(event, AgnoKey::Parent).is_none();
        self.counts_part |= !is_main;
        let agent = value_of(event, AgnoKey::Agent).filter(|_| !is_main);
        let meta = StepMeta { time: value_of(event, AgnoKey::Time).and_then(instant_node), agent, aside: !is_main };
        let content = value_of(event, AgnoKey::Content);
        let kind = event_kind(event);
        if let Some(words) = content.filter(|_| matches!(kind, Some(AgnoEvent::Content | AgnoEvent::Completed))) {
            self.conversation.builder.note_parts(words);
        }
        if !matches!(kind, Some(AgnoEvent::Content | AgnoEvent::Silent)) {
            self.end_text();
        }
        match kind {
            Some(AgnoEvent::Begins) => self.conversation.add_meta(of_meta::MODEL, value_of(event, AgnoKey::Model)),
            Some(AgnoEvent::Content) => self.pieces.extend(content.filter(|_| is_main)),
            Some(AgnoEvent::Completed) => {
                self.whole = content.filter(|_| is_main).or(self.whole);
                self.metrics = object_of(event, AgnoKey::Metrics).filter(|_| is_main).or(self.metrics);
            }
            Some(AgnoEvent::Failed) if is_main => {
                let why = content.or_else(|| value_of(event, AgnoKey::Error));
                self.conversation.builder.set_some(of_run::ERROR, why);
            }
            Some(AgnoEvent::Failed) => {}
            Some(AgnoEvent::ToolBegins) => self.add_tool(node, event, false, &meta),
            Some(AgnoEvent::ToolFails) if self.has_failed(event) => {}
            Some(AgnoEvent::ToolEnds | AgnoEvent::ToolFails) => self.add_tool(node, event, true, &meta),
            Some(AgnoEvent::Model) => {
                self.counts_part = true;
                self.count_tokens(event, value_of(event, AgnoKey::Model));
            }
            Some(AgnoEvent::Cut) => self.is_cut |= is_main,
            Some(AgnoEvent::Silent) => {}
            None => {
                self.conversation
                    .builder
                    .skip_record(node.origin, "an event of unknown kind is skipped: it may be a call");
            }
        }
    }

    /// The pieces so far are one text.
    fn end_text(&mut self) {
        let mut words = ArenaString::new_in(self.conversation.builder.arena);
        let texts = self.pieces.iter().filter_map(|piece| node_text(*piece));
        texts.for_each(|text| words.push_str(text));
        if let Some(first) = self.pieces.first()
            && !words.trim().is_empty()
        {
            self.answer = Some(Node::new(Value::Text(ValueText::Plain(words.into_bump_str())), first.origin));
        }
        self.pieces.clear();
    }

    fn add_tool(&mut self, node: Node<'run>, event: Object<'run>, ends: bool, meta: &StepMeta<'run>) {
        let Some(call) = object_of(event, AgnoKey::Tool) else {
            return self.conversation.builder.skip_record(node.origin, blocks::UNKNOWN);
        };
        let id = text_of(call, AgnoKey::Id);
        let is_known = id.is_some_and(|id| self.conversation.find_call(id).is_some());
        let is_lone_end = ends && id.is_none();
        if !is_known && !is_lone_end {
            let [tool, args, id] = [AgnoKey::Name, AgnoKey::Args, AgnoKey::Id].map(|key| value_of(call, key));
            block_session::add_call(&mut self.conversation, node, BlockCall { tool, args, id, answer: None }, meta);
        }
        if !ends {
            return;
        }
        let failed = is_true(&call, &NodeShapes, AgnoKey::Failed) || value_of(event, AgnoKey::Error).is_some();
        let is_refused = matches!(value_of(call, AgnoKey::Confirmed).map(|it| it.value), Some(Value::Boolean(false)));
        let status = match (is_refused, failed) {
            (true, _) => StepStatus::Denied,
            (_, true) => StepStatus::Failed,
            _ => StepStatus::Ok,
        };
        let result = value_of(call, AgnoKey::Result).or_else(|| value_of(event, AgnoKey::Error));
        let answer = BlockResult { id, result, is_value: true, failed, status: Some(status) };
        block_session::add_result(&mut self.conversation, node, &answer, text_of(call, AgnoKey::Name), meta);
    }

    /// Whether the end of the call said so before.
    fn has_failed(&self, event: Object<'run>) -> bool {
        let id = object_of(event, AgnoKey::Tool).and_then(|call| text_of(call, AgnoKey::Id));
        let call = id.and_then(|id| self.conversation.find_call(id));
        let status =
            call.and_then(|call| self.conversation.builder.step_field(call, of_step::STATUS)).and_then(node_text);
        status.and_then(StepStatus::from_word) == Some(StepStatus::Failed)
    }

    fn count_whole_run(&mut self) {
        let Some(metrics) = self.metrics else { return };
        if !self.counts_part {
            self.count_tokens(metrics, None);
        }
        // The events are told to the second.
        self.conversation
            .builder
            .set_some(of_run::DURATION, value_of(metrics, AgnoKey::Duration).and_then(seconds_to_ms));
    }

    fn count_tokens(&mut self, event: Object<'run>, model: Option<Node<'run>>) {
        let mut usage = TokenUsage::default();
        for (name, key) in [
            (of_usage::INPUT, AgnoKey::TokensIn),
            (of_usage::OUTPUT, AgnoKey::TokensOut),
            (of_usage::CACHE_READ, AgnoKey::TokensRead),
            (of_usage::CACHE_WRITE, AgnoKey::TokensWrite),
            (of_usage::REASONING, AgnoKey::Reasoning),
        ] {
            usage.add_count(name, value_of(event, key));
        }
        self.conversation.add_usage(&usage, model);
    }
}
