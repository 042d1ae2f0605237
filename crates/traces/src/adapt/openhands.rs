//! OpenHands: the events of a session, of the first generation (`action`, `observation`) and of the second (`kind`: `ActionEvent`,
//! `ObservationEvent`). What an action came from is in its `tool_call_metadata`; without it the action itself is the call.

mod second;

use super::calls::Usage;
use super::content;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, is_true, key_table};
use super::format::{Format, IN_FULL};
use super::nodes::{first_of, items_of, list_of, object, object_of, objects, text, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk};
use super::tools::{OfArgs, VIEW};
use crate::error::Placed;
use averment_base::value::{Entry, Node, Object, Value};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::Status;
use rustc_hash::FxHashSet;

key_table! {
    /// An event.
    OfEvent {
        Id = "id",
        Time = "timestamp",
        Source = "source",
        Action = "action",
        Observation = "observation",
        Args = "args",
        Content = "content",
        Message = "message",
        Cause = "cause",
        Extras = "extras",
        Metadata = "tool_call_metadata",
        Success = "success",
        Error = "error",
        Metrics = "llm_metrics",
        History = "history",
        Trajectory = "trajectory",
    }
}

key_table! {
    /// What stands inside of an event.
    OfInside {
        Function = "function_name",
        Call = "tool_call_id",
        Response = "model_response",
        Id = "id",
        Model = "model",
        Usage = "usage",
        Choices = "choices",
        Message = "message",
        Calls = "tool_calls",
        CalledFunction = "function",
        Arguments = "arguments",
        Thought = "thought",
        Content = "content",
        FinalThought = "final_thought",
        Metadata = "metadata",
        ExitCode = "exit_code",
        Confirmation = "confirmation_state",
        State = "agent_state",
        Reason = "reason",
        Cost = "accumulated_cost",
    }
}

key_table! {
    /// The actions that are no calls of tools.
    Action {
        Message = "message",
        System = "system",
        Finish = "finish" | "reject",
        Silent = "null" | "change_agent_state" | "recall" | "condensation" | "condensation_request" | "pause" | "resume" | "stop"
            | "send_pr" | "push",
    }
}

key_table! {
    /// Who made an event.
    Source {
        Agent = "agent",
        User = "user",
    }
}

key_table! {
    /// The observations that are no results.
    Observation {
        Silent = "null" | "recall" | "agent_condensation",
        State = "agent_state_changed",
        Error = "error",
        Rejected = "user_rejected",
    }
}

key_table! {
    /// The state of an agent that could not go on.
    State {
        Broken = "error",
    }
}

key_table! {
    /// The action that looks at a file, whichever tool does it.
    Look {
        Read = "read",
    }
}

key_table! {
    /// What a confirmation says of an action that was not carried out.
    Confirmation {
        Rejected = "rejected",
        Waiting = "awaiting_confirmation",
    }
}

/// Sessions.
pub(crate) const FORMAT: Format = Format {
    name: "OpenHands events",
    known_by: "events with `source` and an `action` with `args`, or an `observation` with `extras` (or `kind` of `ActionEvent` and so on)",
    description: "events of OpenHands (a list, one a line, or `history`)",
    marks: &[OfEvent::History.key(), OfEvent::Trajectory.key()],
    near: &[OfEvent::Metadata.key()],
    object: |object| {
        let lists = [OfEvent::History, OfEvent::Trajectory].into_iter().filter_map(|list| list_of(object, list));
        lists.flat_map(|events| objects(events)).take(super::format::FIRST_ITEMS).any(|(_, event)| is_event(event))
    },
    item_marks: &[OfEvent::Source.key()],
    element: is_event,
    line: is_event,
    read,
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    let of_first = text_of(event, OfEvent::Action).is_some() && object_of(event, OfEvent::Args).is_some()
        || text_of(event, OfEvent::Observation).is_some() && object_of(event, OfEvent::Extras).is_some();
    of_first && text_of(event, OfEvent::Source).is_some() || second::is_event(event)
}

/// Of a conversation that the program keeps in a folder each event has a file of its own. One would be a run without its other half: a call
/// without its result, or the other way around.
const ALONE: &str = "one event of OpenHands is no run: its conversation stands in several files";

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let root = draft.arena.alloc(root);
    if let Value::List([one]) = root.value
        && object(*one).is_some_and(is_event)
    {
        return Err(Placed::new(
            one.origin,
            ALONE,
            "write the events of a conversation into one file: `cat events/*.json > run.json`",
        ));
    }
    let events = items_of(root, &[OfEvent::History, OfEvent::Trajectory]);
    if events.iter().any(|event| object(*event).is_some_and(second::is_event)) {
        second::read(events, draft);
        return Ok(());
    }
    let mut session = Session { talk: Talk::new(draft), responses: FxHashSet::default(), metrics: None, wrong: None };
    for node in events {
        session.talk.draft.record();
        match object(*node) {
            Some(event) if text_of(event, OfEvent::Action).is_some() => session.action(*node, event),
            Some(event) if text_of(event, OfEvent::Observation).is_some() => session.observation(*node, event),
            _ => session
                .talk
                .draft
                .not_understood(node.origin, "what is neither an action nor an observation is passed over"),
        }
    }
    session.finish();
    Ok(())
}

struct Session<'a, 'run, 'limits> {
    talk: Talk<'a, 'run, 'limits>,
    /// The answers of the model whose tokens are counted: several events may come from one.
    responses: FxHashSet<&'run str>,
    /// The last sum of cost and tokens.
    metrics: Option<Object<'run>>,
    /// Why the agent could not go on, unless it did.
    wrong: Option<Node<'run>>,
}

impl<'run> Session<'_, 'run, '_> {
    fn action(&mut self, node: Node<'run>, event: Object<'run>) {
        let about = About { time: event.field(OfEvent::Time), ..About::default() };
        let args = object_of(event, OfEvent::Args);
        let of_args = |field| args.and_then(|args| first_of(args, &[field]));
        let of_agent = text_of(event, OfEvent::Source).and_then(Source::from_key) == Some(Source::Agent);
        self.metrics = object_of(event, OfEvent::Metrics).or(self.metrics);
        let metadata = object_of(event, OfEvent::Metadata);
        let response = metadata.and_then(|metadata| object_of(metadata, OfInside::Response));
        if let Some(response) = response {
            self.count(response);
        }
        let word = text_of(event, OfEvent::Action).unwrap_or_default();
        let action = Action::from_key(word);
        let speaker = if of_agent { Speaker::Assistant } else { Speaker::User };
        match action {
            Some(Action::Silent) => return,
            Some(Action::Message) => {
                let words = of_args(OfInside::Content).or(event.field(OfEvent::Message));
                return words.into_iter().for_each(|words| self.talk.say(speaker, words, &about, node.origin));
            }
            Some(Action::System) => {
                let words = of_args(OfInside::Content);
                return words.into_iter().for_each(|words| self.talk.say(Speaker::System, words, &about, node.origin));
            }
            Some(Action::Finish) | None => {}
        }
        let thought = of_args(OfInside::Thought);
        if let Some(words) = thought.filter(|_| action.is_none()) {
            self.talk.say(Speaker::Assistant, words, &about, node.origin);
        }
        self.call(node, event, args, metadata, &about);
        if action == Some(Action::Finish) {
            let message = event.field(OfEvent::Message).filter(|words| Parsed.is(*words, Shape::Text));
            if let Some(words) =
                of_args(OfInside::FinalThought).filter(|words| Parsed.is(*words, Shape::Text)).or(thought).or(message)
            {
                self.talk.say(Speaker::Assistant, words, &about, node.origin);
            }
        }
    }

    fn call(
        &mut self,
        node: Node<'run>,
        event: Object<'run>,
        args: Option<Object<'run>>,
        metadata: Option<Object<'run>>,
        about: &About<'run>,
    ) {
        let function = metadata.and_then(|metadata| metadata.field(OfInside::Function));
        let id = metadata.and_then(|metadata| metadata.field(OfInside::Call));
        // What the model wrote; the program's own form of it is the fallback.
        let written = metadata.and_then(|metadata| arguments(metadata, id.and_then(text)));
        let Some(tool) = function.or(event.field(OfEvent::Action)) else { return };
        let id = id.or(event.field(OfEvent::Id).filter(|id| Parsed.is_text(*id)));
        let made = Made { tool, args: written.or_else(|| self.own_form(event)), id, origin: node.origin };
        let Some(step) = self.talk.call(made, about) else { return };
        match args.and_then(|args| text_of(args, OfInside::Confirmation)).and_then(Confirmation::from_key) {
            Some(Confirmation::Rejected) => self.talk.mark(step, Status::Denied),
            Some(Confirmation::Waiting) => self.talk.mark(step, Status::Pending),
            None => {}
        }
    }

    /// The arguments in the program's own form, which leaves out that an editor only looks at a file.
    fn own_form(&self, event: Object<'run>) -> Option<Node<'run>> {
        let args = event.field(OfEvent::Args)?;
        let looks = text_of(event, OfEvent::Action).and_then(Look::from_key).is_some();
        let Some(known) = object(args).filter(|known| looks && known.field(OfArgs::Command).is_none()) else {
            return Some(args);
        };
        let view = Entry::computed(OfArgs::Command.key(), Value::plain(VIEW));
        Some(self.talk.draft.object(&[known.entries(), &[view]].concat()))
    }

    fn observation(&mut self, node: Node<'run>, event: Object<'run>) {
        self.metrics = object_of(event, OfEvent::Metrics).or(self.metrics);
        let word = text_of(event, OfEvent::Observation).unwrap_or_default();
        let kind = Observation::from_key(word);
        let metadata = object_of(event, OfEvent::Metadata);
        let id = metadata.and_then(|metadata| text_of(metadata, OfInside::Call));
        let is_result =
            id.is_some() || event.field(OfEvent::Cause).is_some_and(|cause| Parsed.is(cause, Shape::Number));
        if kind == Some(Observation::State) {
            return self.state(event);
        }
        if kind == Some(Observation::Silent) || !is_result {
            return;
        }
        let about = About { time: event.field(OfEvent::Time), ..About::default() };
        let result = event
            .field(OfEvent::Content)
            .map(|content| content::text(content, self.talk.draft.arena).unwrap_or(content));
        let extras = object_of(event, OfEvent::Extras);
        let inside = extras.and_then(|extras| object_of(extras, OfInside::Metadata)).or(extras);
        let exit_code =
            inside.and_then(|inside| inside.field(OfInside::ExitCode)).filter(|code| Parsed.is(*code, Shape::Number));
        let status = match kind {
            Some(Observation::Rejected) => Some(Status::Denied),
            Some(Observation::Error) => Some(Status::Failed),
            _ if is_true(&event, &Parsed, OfEvent::Success) => Some(Status::Ok),
            _ if event.field(OfEvent::Success).is_some_and(|success| Parsed.is(success, Shape::False)) => {
                Some(Status::Failed)
            }
            _ => None,
        };
        let details = extras.and(event.field(OfEvent::Extras));
        let error = first_of(event, &[OfEvent::Error]).filter(|error| !Parsed.is(*error, Shape::False));
        let outcome = Outcome { result, status, error, exit_code, details, ..Outcome::default() };
        self.talk.answer(id, None, outcome, &about, node.origin);
    }

    /// The agent changes its state: of several the last counts.
    fn state(&mut self, event: Object<'run>) {
        let Some(extras) = object_of(event, OfEvent::Extras) else { return };
        let is_broken = text_of(extras, OfInside::State).and_then(State::from_key) == Some(State::Broken);
        let written = |of: &OfInside| first_of(extras, &[*of]).filter(|words| Parsed.is(*words, Shape::Text));
        self.wrong = [OfInside::Reason, OfInside::State].iter().find_map(written).filter(|_| is_broken);
    }

    fn count(&mut self, response: Object<'run>) {
        self.talk.meta(of_meta::MODEL, response.field(OfInside::Model));
        let is_new = text_of(response, OfInside::Id).is_none_or(|id| self.responses.insert(id));
        if !is_new {
            self.talk.goes_on();
        }
        if let Some(usage) = object_of(response, OfInside::Usage).filter(|_| is_new) {
            let mut counts = Usage::default();
            counts.add(usage);
            self.talk.spends(&counts, response.field(OfInside::Model));
        }
    }

    fn finish(self) {
        let cost = self.metrics.and_then(|metrics| metrics.field(OfInside::Cost));
        self.talk.draft.set_some(of_run::COST, cost.filter(|cost| Parsed.is(*cost, Shape::Number)));
        self.talk.draft.set_some(of_run::ERROR, self.wrong);
        self.talk.finish_with_tools();
    }
}

/// The arguments of a call as the model wrote them, by the id of the call.
fn arguments<'run>(metadata: Object<'run>, id: Option<&str>) -> Option<Node<'run>> {
    let response = object_of(metadata, OfInside::Response)?;
    let (_, choice) = objects(list_of(response, OfInside::Choices)?).next()?;
    let message = object_of(choice, OfInside::Message)?;
    let mut calls = objects(list_of(message, OfInside::Calls)?);
    let (_, call) = calls.find(|(_, call)| text_of(*call, OfInside::Id) == id)?;
    object_of(call, OfInside::CalledFunction)?.field(OfInside::Arguments)
}
