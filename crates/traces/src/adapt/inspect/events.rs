//! The events of a sample: which tools were executed, by whom and when. Calls of sub-agents, and those that a solver took out of the
//! messages, stand in them alone.

use super::{InspectMessageKey, refused_or_failed, resolve_attachment};
use crate::adapt::content;
use crate::adapt::conversation::{CallResult, ConversationBuilder, StepMeta, ToolCall};
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader, is_true, key_table};
use crate::adapt::nodes::{first_of, list_of, node_object, object_items, object_of, text_of};
use crate::adapt::run_builder::StepId;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_step;
use averment_runs::run::StepStatus;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

key_table! {
    InspectEventKey {
        Event = "event",
        Id = "id",
        Function = "function",
        Arguments = "arguments",
        Result = "result",
        Error = "error",
        Failed = "failed",
        Pending = "pending",
        Time = "timestamp",
        Completed = "completed",
        Message = "message_id",
        /// What happened during the tool's execution, in older logs.
        Inner = "events",
        Span = "span_id",
        Parent = "parent_id",
        Type = "type",
        Name = "name",
        Output = "output",
        Choices = "choices",
        Said = "message",
    }
}

key_table! {
    InspectEventType {
        Tool = "tool",
        Model = "model",
        Span = "span_begin",
        Subtask = "subtask",
        /// What surrounds the agent (its sandbox runs what tools ask for), and what judges it.
        Silent = "sample_init" | "sample_limit" | "sandbox" | "state" | "store" | "approval" | "branch" | "compaction"
            | "input" | "score" | "score_edit" | "error" | "logger" | "info" | "span_end" | "step" | "interrupt"
            | "checkpoint" | "anchor",
    }
}

key_table! {
    InspectSpanType {
        Agent = "agent",
        Tool = "tool" | "handoff",
        Scorer = "scorers" | "scorer",
    }
}

#[derive(Clone, Copy)]
struct ExecutedTool<'run> {
    node: Node<'run>,
    event: Object<'run>,
    /// The sub-agent that called it.
    agent: Option<Node<'run>>,
}

#[derive(Clone, Copy, Default)]
struct SpanContext<'run> {
    agent: Option<Node<'run>>,
    /// Inside an agent or tool: agents here are sub-agents.
    nested: bool,
    /// The scorer's work.
    scores: bool,
}

#[derive(Default)]
pub(super) struct ExecutionIndex<'run> {
    by_call: FxHashMap<&'run str, VecDeque<ExecutedTool<'run>>>,
    /// Calls that no message has, by the message behind which they were made.
    beside: FxHashMap<usize, Vec<ExecutedTool<'run>>>,
    results: FxHashSet<&'run str>,
    called: Vec<(StepId, ExecutedTool<'run>)>,
}

struct MessageIndex<'run> {
    messages: FxHashMap<&'run str, usize>,
    /// Calls that no event is about yet.
    calls: FxHashMap<&'run str, VecDeque<usize>>,
    /// Messages as models gave them: a solver may take calls out.
    asked: FxHashMap<&'run str, usize>,
    spans: FxHashMap<&'run str, SpanContext<'run>>,
    last: usize,
}

fn call_ids(message: Object<'_>) -> impl Iterator<Item = &str> {
    object_items(list_of(message, InspectMessageKey::Calls).unwrap_or_default())
        .filter_map(|(_, call)| text_of(call, InspectMessageKey::Id))
}

impl<'run> MessageIndex<'run> {
    fn new(messages: &'run [Node<'run>]) -> Self {
        let (mut places, mut calls) = (FxHashMap::default(), FxHashMap::default());
        for (place, message) in messages.iter().enumerate() {
            let Some(message) = node_object(*message) else { continue };
            if let Some(id) = text_of(message, InspectMessageKey::Id) {
                places.insert(id, place);
            }
            for id in call_ids(message) {
                calls.entry(id).or_insert_with(VecDeque::new).push_back(place);
            }
        }
        Self { messages: places, calls, asked: FxHashMap::default(), spans: FxHashMap::default(), last: 0 }
    }

    fn begin_span(&mut self, event: Object<'run>) {
        let Some(id) = text_of(event, InspectEventKey::Id) else { return };
        let mut within = self.span_context(text_of(event, InspectEventKey::Parent));
        match text_of(event, InspectEventKey::Type).and_then(InspectSpanType::from_key) {
            Some(InspectSpanType::Agent) => {
                within.agent = if within.nested { event.field(InspectEventKey::Name) } else { within.agent };
                within.nested = true;
            }
            Some(InspectSpanType::Tool) => within.nested = true,
            Some(InspectSpanType::Scorer) => within.scores = true,
            None => {}
        }
        self.spans.insert(id, within);
    }

    fn span_context(&self, span: Option<&str>) -> SpanContext<'run> {
        span.and_then(|span| self.spans.get(span)).copied().unwrap_or_default()
    }

    fn note_answer(&mut self, event: Object<'run>) {
        let choices =
            object_of(event, InspectEventKey::Output).and_then(|output| list_of(output, InspectEventKey::Choices));
        for (_, choice) in object_items(choices.unwrap_or_default()) {
            let Some(message) = object_of(choice, InspectEventKey::Said) else { continue };
            if let Some(place) = text_of(message, InspectMessageKey::Id).and_then(|id| self.messages.get(id)) {
                self.asked.extend(call_ids(message).map(|id| (id, *place)));
            }
        }
    }
}

impl<'run> ExecutionIndex<'run> {
    pub(super) fn new(
        conversation: &mut ConversationBuilder<'_, 'run, '_>,
        messages: &'run [Node<'run>],
        events: &'run [Node<'run>],
    ) -> Self {
        let mut executed = Self::default();
        executed.walk_events(conversation, &mut MessageIndex::new(messages), events);
        executed
    }

    fn walk_events(
        &mut self,
        conversation: &mut ConversationBuilder<'_, 'run, '_>,
        places: &mut MessageIndex<'run>,
        events: &'run [Node<'run>],
    ) {
        for (node, event) in conversation.builder.record_objects(events) {
            match text_of(event, InspectEventKey::Event).and_then(InspectEventType::from_key) {
                Some(InspectEventType::Span) => places.begin_span(event),
                Some(InspectEventType::Model) => places.note_answer(event),
                Some(InspectEventType::Tool) => {
                    self.add_tool(places, node, event);
                    self.walk_events(conversation, places, list_of(event, InspectEventKey::Inner).unwrap_or_default());
                }
                Some(InspectEventType::Subtask) => {
                    self.walk_events(conversation, places, list_of(event, InspectEventKey::Inner).unwrap_or_default());
                }
                Some(InspectEventType::Silent) => {}
                None => conversation.builder.skip_record(node.origin, "an event of unknown type is skipped"),
            }
        }
    }

    fn add_tool(&mut self, places: &mut MessageIndex<'run>, node: Node<'run>, event: Object<'run>) {
        let SpanContext { agent, scores, .. } = places.span_context(text_of(event, InspectEventKey::Span));
        if scores {
            return;
        }
        self.results.extend(text_of(event, InspectEventKey::Message));
        let execution = ExecutedTool { node, event, agent };
        let id = text_of(event, InspectEventKey::Id);
        let called = id.and_then(|id| Some((id, places.calls.get_mut(id)?.pop_front()?)));
        if let Some((id, place)) = called {
            places.last = place;
            self.by_call.entry(id).or_default().push_back(execution);
        } else {
            let place = id.and_then(|id| places.asked.get(id)).copied().unwrap_or(places.last);
            self.beside.entry(place).or_default().push(execution);
        }
    }

    pub(super) fn is_result(&self, message: Object<'_>) -> bool {
        text_of(message, InspectMessageKey::Id).is_some_and(|id| self.results.contains(id))
    }

    pub(super) fn note_call(&mut self, step: StepId, id: &str) {
        let Some(execution) = self.by_call.get_mut(id).and_then(VecDeque::pop_front) else { return };
        self.called.push((step, execution));
    }

    /// Adds calls that no message has.
    pub(super) fn add_calls_behind(
        &mut self,
        conversation: &mut ConversationBuilder<'_, 'run, '_>,
        place: usize,
        attachments: Option<Object<'run>>,
    ) {
        for ExecutedTool { node, event, agent } in self.beside.remove(&place).unwrap_or_default() {
            let meta = StepMeta { agent, aside: agent.is_some(), time: None };
            let tool = event.field(InspectEventKey::Function).unwrap_or(Node::computed(Value::Null));
            let (args, id) = (event.field(InspectEventKey::Arguments), event.field(InspectEventKey::Id));
            let Some(step) = conversation.add_call(ToolCall { tool, args, id, origin: node.origin }, &meta) else {
                continue;
            };
            set_times(conversation, step, event);
            end_call(conversation, step, event, attachments);
        }
    }

    /// Sets times, agents, and outcomes that no message has.
    pub(super) fn finish_calls(
        mut self,
        conversation: &mut ConversationBuilder<'_, 'run, '_>,
        attachments: Option<Object<'run>>,
    ) {
        // A sample may have no messages.
        self.add_calls_behind(conversation, 0, attachments);
        for (step, execution) in self.called {
            set_times(conversation, step, execution.event);
            if let Some(agent) = execution.agent {
                conversation.builder.add_field(step, of_step::AGENT, agent);
            }
            if [of_step::RESULT, of_step::STATUS].iter().all(|key| conversation.builder.step_field(step, key).is_none())
            {
                end_call(conversation, step, execution.event, attachments);
            }
        }
    }
}

fn set_times<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, step: StepId, event: Object<'run>) {
    let known = |field| first_of(event, &[field]).filter(|node| NodeShapes.is_text(*node));
    known(InspectEventKey::Time)
        .into_iter()
        .for_each(|time| conversation.builder.add_field(step, of_step::START, time));
    known(InspectEventKey::Completed)
        .into_iter()
        .for_each(|time| conversation.builder.add_field(step, of_step::END, time));
}

fn end_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    step: StepId,
    event: Object<'run>,
    attachments: Option<Object<'run>>,
) {
    let error = first_of(event, &[InspectEventKey::Error]);
    let given = first_of(event, &[InspectEventKey::Result]).map(|given| resolve_attachment(given, attachments));
    let failed = is_true(&event, &NodeShapes, InspectEventKey::Failed);
    let status = match refused_or_failed(error) {
        Some(status) => status,
        None if failed => StepStatus::Failed,
        None if given.is_none() || is_true(&event, &NodeShapes, InspectEventKey::Pending) => return,
        None => StepStatus::Ok,
    };
    let result = given.map(|given| content::content_text(given, conversation.builder.arena).unwrap_or(given));
    conversation.end_within(
        step,
        CallResult { result, error, status: Some(status), ..CallResult::default() },
        &StepMeta::default(),
    );
}
