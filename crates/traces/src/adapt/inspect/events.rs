//! The events of a sample: which tools were executed, by whom and when. Calls of sub-agents, and those that a solver took out of the
//! messages, stand in them alone.

use super::{OfInspect, refused_or_failed, resolved};
use crate::adapt::content;
use crate::adapt::draft::StepId;
use crate::adapt::fields::{Parsed, Record, Shapes, is_true, key_table};
use crate::adapt::nodes::{first_of, list_of, object, object_of, objects, text_of};
use crate::adapt::talk::{About, Made, Outcome, Talk};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_step;
use averment_runs::run::Status;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

key_table! {
    /// An event.
    OfEvent {
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
        /// The message that holds the result.
        Message = "message_id",
        /// What happened while the tool was at work, in older logs.
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
    /// The events that are read.
    EventType {
        Tool = "tool",
        Model = "model",
        Span = "span_begin",
    }
}

key_table! {
    /// The spans that say whose work is in them.
    SpanType {
        Agent = "agent",
        Tool = "tool" | "handoff",
        Scorer = "scorers" | "scorer",
    }
}

/// A tool that was executed.
#[derive(Clone, Copy)]
struct Execution<'run> {
    node: Node<'run>,
    event: Object<'run>,
    /// The sub-agent that called it.
    agent: Option<Node<'run>>,
}

/// What a span tells of the events in it.
#[derive(Clone, Copy, Default)]
struct Within<'run> {
    /// A sub-agent does it.
    agent: Option<Node<'run>>,
    /// An agent or a tool stands around it: the agents in it are sub-agents.
    nested: bool,
    /// It is the work of who scores the sample.
    scores: bool,
}

/// The tools that were executed, by the calls of the messages.
#[derive(Default)]
pub(super) struct Executed<'run> {
    by_call: FxHashMap<&'run str, VecDeque<Execution<'run>>>,
    /// Those whose calls no message has, by the place of the message behind which they were made.
    beside: FxHashMap<usize, Vec<Execution<'run>>>,
    /// The messages that hold results.
    results: FxHashSet<&'run str>,
    /// The calls of messages, with what was executed.
    called: Vec<(StepId, Execution<'run>)>,
}

/// Where the messages stand that made the calls.
struct Places<'run> {
    messages: FxHashMap<&'run str, usize>,
    /// The calls of messages that no event is about yet.
    calls: FxHashMap<&'run str, VecDeque<usize>>,
    /// The messages as models gave them: a solver may take calls out of them.
    asked: FxHashMap<&'run str, usize>,
    spans: FxHashMap<&'run str, Within<'run>>,
    last: usize,
}

/// The ids of the calls of a message.
fn call_ids(message: Object<'_>) -> impl Iterator<Item = &str> {
    objects(list_of(message, OfInspect::Calls).unwrap_or_default()).filter_map(|(_, call)| text_of(call, OfInspect::Id))
}

impl<'run> Places<'run> {
    fn new(messages: &'run [Node<'run>]) -> Self {
        let (mut places, mut calls) = (FxHashMap::default(), FxHashMap::default());
        for (place, message) in messages.iter().enumerate() {
            let Some(message) = object(*message) else { continue };
            if let Some(id) = text_of(message, OfInspect::Id) {
                places.insert(id, place);
            }
            for id in call_ids(message) {
                calls.entry(id).or_insert_with(VecDeque::new).push_back(place);
            }
        }
        Self { messages: places, calls, asked: FxHashMap::default(), spans: FxHashMap::default(), last: 0 }
    }

    fn begin_span(&mut self, event: Object<'run>) {
        let Some(id) = text_of(event, OfEvent::Id) else { return };
        let mut within = self.within(text_of(event, OfEvent::Parent));
        match text_of(event, OfEvent::Type).and_then(SpanType::from_key) {
            Some(SpanType::Agent) => {
                within.agent = if within.nested { event.field(OfEvent::Name) } else { within.agent };
                within.nested = true;
            }
            Some(SpanType::Tool) => within.nested = true,
            Some(SpanType::Scorer) => within.scores = true,
            None => {}
        }
        self.spans.insert(id, within);
    }

    fn within(&self, span: Option<&str>) -> Within<'run> {
        span.and_then(|span| self.spans.get(span)).copied().unwrap_or_default()
    }

    /// A model answers with a message.
    fn answered(&mut self, event: Object<'run>) {
        let choices = object_of(event, OfEvent::Output).and_then(|output| list_of(output, OfEvent::Choices));
        for (_, choice) in objects(choices.unwrap_or_default()) {
            let Some(message) = object_of(choice, OfEvent::Said) else { continue };
            if let Some(place) = text_of(message, OfInspect::Id).and_then(|id| self.messages.get(id)) {
                self.asked.extend(call_ids(message).map(|id| (id, *place)));
            }
        }
    }
}

impl<'run> Executed<'run> {
    /// What the events of a sample say.
    pub(super) fn new(talk: &mut Talk<'_, 'run, '_>, messages: &'run [Node<'run>], events: &'run [Node<'run>]) -> Self {
        let mut executed = Self::default();
        executed.walk(talk, &mut Places::new(messages), events);
        executed
    }

    fn walk(&mut self, talk: &mut Talk<'_, 'run, '_>, places: &mut Places<'run>, events: &'run [Node<'run>]) {
        for (node, event) in talk.draft.objects(events) {
            match text_of(event, OfEvent::Event).and_then(EventType::from_key) {
                Some(EventType::Span) => places.begin_span(event),
                Some(EventType::Model) => places.answered(event),
                Some(EventType::Tool) => {
                    self.tool(places, node, event);
                    self.walk(talk, places, list_of(event, OfEvent::Inner).unwrap_or_default());
                }
                None => {}
            }
        }
    }

    fn tool(&mut self, places: &mut Places<'run>, node: Node<'run>, event: Object<'run>) {
        let Within { agent, scores, .. } = places.within(text_of(event, OfEvent::Span));
        if scores {
            return;
        }
        self.results.extend(text_of(event, OfEvent::Message));
        let execution = Execution { node, event, agent };
        let id = text_of(event, OfEvent::Id);
        let called = id.and_then(|id| Some((id, places.calls.get_mut(id)?.pop_front()?)));
        if let Some((id, place)) = called {
            places.last = place;
            self.by_call.entry(id).or_default().push_back(execution);
        } else {
            let place = id.and_then(|id| places.asked.get(id)).copied().unwrap_or(places.last);
            self.beside.entry(place).or_default().push(execution);
        }
    }

    /// Whether a message holds what a tool gave back.
    pub(super) fn is_result(&self, message: Object<'_>) -> bool {
        text_of(message, OfInspect::Id).is_some_and(|id| self.results.contains(id))
    }

    /// Notes what was executed for a call of a message.
    pub(super) fn call(&mut self, step: StepId, id: &str) {
        let Some(execution) = self.by_call.get_mut(id).and_then(VecDeque::pop_front) else { return };
        self.called.push((step, execution));
    }

    /// Adds the calls that were made behind a message and that no message has.
    pub(super) fn behind(&mut self, talk: &mut Talk<'_, 'run, '_>, place: usize, attachments: Option<Object<'run>>) {
        for Execution { node, event, agent } in self.beside.remove(&place).unwrap_or_default() {
            let about = About { agent, aside: agent.is_some(), time: None };
            let tool = event.field(OfEvent::Function).unwrap_or(Node::computed(Value::Null));
            let (args, id) = (event.field(OfEvent::Arguments), event.field(OfEvent::Id));
            let Some(step) = talk.call(Made { tool, args, id, origin: node.origin }, &about) else { continue };
            times(talk, step, event);
            end(talk, step, event, attachments);
        }
    }

    /// Says when the calls of messages were executed and by whom, and how those ended whose results no message has.
    pub(super) fn finish(mut self, talk: &mut Talk<'_, 'run, '_>, attachments: Option<Object<'run>>) {
        // A sample may have no messages.
        self.behind(talk, 0, attachments);
        for (step, execution) in self.called {
            times(talk, step, execution.event);
            if let Some(agent) = execution.agent {
                talk.draft.amend(step, of_step::AGENT, agent);
            }
            if [of_step::RESULT, of_step::STATUS].iter().all(|key| talk.draft.field(step, key).is_none()) {
                end(talk, step, execution.event, attachments);
            }
        }
    }
}

fn times<'run>(talk: &mut Talk<'_, 'run, '_>, step: StepId, event: Object<'run>) {
    let known = |field| first_of(event, &[field]).filter(|node| Parsed.is_text(*node));
    known(OfEvent::Time).into_iter().for_each(|time| talk.draft.amend(step, of_step::START, time));
    known(OfEvent::Completed).into_iter().for_each(|time| talk.draft.amend(step, of_step::END, time));
}

/// What a tool gave back, and how that ended.
fn end<'run>(talk: &mut Talk<'_, 'run, '_>, step: StepId, event: Object<'run>, attachments: Option<Object<'run>>) {
    let error = first_of(event, &[OfEvent::Error]);
    let given = first_of(event, &[OfEvent::Result]).map(|given| resolved(given, attachments));
    let failed = is_true(&event, &Parsed, OfEvent::Failed);
    let status = match refused_or_failed(error) {
        Some(status) => status,
        None if failed => Status::Failed,
        None if given.is_none() || is_true(&event, &Parsed, OfEvent::Pending) => return,
        None => Status::Ok,
    };
    let result = given.map(|given| content::text(given, talk.draft.arena).unwrap_or(given));
    talk.end_within(step, Outcome { result, error, status: Some(status), ..Outcome::default() }, &About::default());
}
