//! OpenHands: the events of a session, of the first generation (`action`, `observation`) and of the second (`kind`: `ActionEvent`,
//! `ObservationEvent`). What an action came from is in its `tool_call_metadata`; without it the action itself is the call.

mod sdk_events;

use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, is_true, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use super::tools::{ArgsKey, VIEW};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::StepStatus;
use rustc_hash::FxHashSet;

key_table! {
    OpenHandsKey {
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
    OpenHandsInnerKey {
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
    /// Actions that are no tool calls.
    ActionType {
        Message = "message",
        System = "system",
        Finish = "finish" | "reject",
        Silent = "null" | "change_agent_state" | "recall" | "condensation" | "condensation_request" | "pause" | "resume" | "stop"
            | "send_pr" | "push",
    }
}

key_table! {
    EventSource {
        Agent = "agent",
        User = "user",
    }
}

key_table! {
    ObservationKind {
        Silent = "null" | "recall" | "agent_condensation",
        State = "agent_state_changed",
        Error = "error",
        Rejected = "user_rejected",
    }
}

key_table! {
    FinalState {
        Broken = "error",
    }
}

key_table! {
    /// Views a file, whichever tool does it.
    ViewAction {
        Read = "read",
    }
}

key_table! {
    ConfirmationState {
        Rejected = "rejected",
        Waiting = "awaiting_confirmation",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "OpenHands events",
    known_by: "events with `source` and an `action` with `args`, or an `observation` with `extras` (or `kind` of `ActionEvent` and so on)",
    description: "events of OpenHands (a list, one a line, or `history`)",
    marks: &[OpenHandsKey::History.key(), OpenHandsKey::Trajectory.key()],
    near: &[OpenHandsKey::Metadata.key()],
    object: |object| {
        let lists =
            [OpenHandsKey::History, OpenHandsKey::Trajectory].into_iter().filter_map(|list| list_of(object, list));
        lists.flat_map(|events| object_items(events)).take(super::format::FIRST_ITEMS).any(|(_, event)| is_event(event))
    },
    item_marks: &[OpenHandsKey::Source.key()],
    element: is_event,
    line: is_event,
    record_ids: RecordIds::shared(&[&[OpenHandsKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    let of_first = text_of(event, OpenHandsKey::Action).is_some() && object_of(event, OpenHandsKey::Args).is_some()
        || text_of(event, OpenHandsKey::Observation).is_some() && object_of(event, OpenHandsKey::Extras).is_some();
    of_first && text_of(event, OpenHandsKey::Source).is_some() || sdk_events::is_event(event)
}

/// A stored conversation has a file per event; one alone would be half a run.
const ALONE: &str = "one event of OpenHands is no run: its conversation stands in several files";

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    if let Value::List([one]) = root.value
        && node_object(*one).is_some_and(is_event)
    {
        return Err(PlacedError::new(
            one.origin,
            ALONE,
            "write the events of a conversation into one file: `cat events/*.json > run.json`",
        ));
    }
    let events = items_of(root, &[OpenHandsKey::History, OpenHandsKey::Trajectory]);
    if events.iter().any(|event| node_object(*event).is_some_and(sdk_events::is_event)) {
        sdk_events::read_events(events, builder);
        return Ok(());
    }
    let mut session = OpenHandsSession {
        conversation: ConversationBuilder::new(builder),
        responses: FxHashSet::default(),
        metrics: None,
        wrong: None,
    };
    for node in events {
        session.conversation.builder.count_record();
        match node_object(*node) {
            Some(event) if text_of(event, OpenHandsKey::Action).is_some() => session.read_action(*node, event),
            Some(event) if text_of(event, OpenHandsKey::Observation).is_some() => {
                session.read_observation(*node, event)
            }
            _ => {
                session.conversation.builder.skip_value(node, "what is neither an action nor an observation is skipped")
            }
        }
    }
    session.finish_run();
    Ok(())
}

struct OpenHandsSession<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// Model answers already counted: several events may share one.
    responses: FxHashSet<&'run str>,
    metrics: Option<Object<'run>>,
    /// Why the agent could not go on, unless it did.
    wrong: Option<Node<'run>>,
}

impl<'run> OpenHandsSession<'_, 'run, '_> {
    fn read_action(&mut self, node: Node<'run>, event: Object<'run>) {
        let meta = StepMeta { time: event.field(OpenHandsKey::Time), ..StepMeta::default() };
        let args = object_of(event, OpenHandsKey::Args);
        let of_args = |field| args.and_then(|args| first_of(args, &[field]));
        let of_agent = text_of(event, OpenHandsKey::Source).and_then(EventSource::from_key) == Some(EventSource::Agent);
        self.metrics = object_of(event, OpenHandsKey::Metrics).or(self.metrics);
        let metadata = object_of(event, OpenHandsKey::Metadata);
        let response = metadata.and_then(|metadata| object_of(metadata, OpenHandsInnerKey::Response));
        if let Some(response) = response {
            self.count_usage(response);
        }
        let word = text_of(event, OpenHandsKey::Action).unwrap_or_default();
        let action = ActionType::from_key(word);
        let speaker = if of_agent { Speaker::Assistant } else { Speaker::User };
        match action {
            Some(ActionType::Silent) => return,
            Some(ActionType::Message) => {
                let words = of_args(OpenHandsInnerKey::Content).or(event.field(OpenHandsKey::Message));
                return words
                    .into_iter()
                    .for_each(|words| self.conversation.add_message(speaker, words, &meta, node.origin));
            }
            Some(ActionType::System) => {
                let words = of_args(OpenHandsInnerKey::Content);
                return words
                    .into_iter()
                    .for_each(|words| self.conversation.add_message(Speaker::System, words, &meta, node.origin));
            }
            Some(ActionType::Finish) | None => {}
        }
        let thought = of_args(OpenHandsInnerKey::Thought);
        if let Some(words) = thought.filter(|_| action.is_none()) {
            self.conversation.add_message(Speaker::Assistant, words, &meta, node.origin);
        }
        self.add_call(node, event, args, metadata, &meta);
        if action == Some(ActionType::Finish) {
            let message =
                event.field(OpenHandsKey::Message).filter(|words| NodeShapes.has_shape(*words, ValueShape::Text));
            if let Some(words) = of_args(OpenHandsInnerKey::FinalThought)
                .filter(|words| NodeShapes.has_shape(*words, ValueShape::Text))
                .or(thought)
                .or(message)
            {
                self.conversation.add_message(Speaker::Assistant, words, &meta, node.origin);
            }
        }
    }

    fn add_call(
        &mut self,
        node: Node<'run>,
        event: Object<'run>,
        args: Option<Object<'run>>,
        metadata: Option<Object<'run>>,
        meta: &StepMeta<'run>,
    ) {
        let function = metadata.and_then(|metadata| metadata.field(OpenHandsInnerKey::Function));
        let id = metadata.and_then(|metadata| metadata.field(OpenHandsInnerKey::Call));
        // What the model wrote; the program's own form of it is the fallback.
        let written = metadata.and_then(|metadata| model_arguments(metadata, id.and_then(node_text)));
        let Some(tool) = function.or(event.field(OpenHandsKey::Action)) else { return };
        let id = id.or(event.field(OpenHandsKey::Id).filter(|id| NodeShapes.is_text(*id)));
        let made = ToolCall { tool, args: written.or_else(|| self.own_form(event)), id, origin: node.origin };
        let Some(step) = self.conversation.add_call(made, meta) else { return };
        match args.and_then(|args| text_of(args, OpenHandsInnerKey::Confirmation)).and_then(ConfirmationState::from_key)
        {
            Some(ConfirmationState::Rejected) => self.conversation.set_status(step, StepStatus::Denied),
            Some(ConfirmationState::Waiting) => self.conversation.set_status(step, StepStatus::Pending),
            None => {}
        }
    }

    /// The program's own form omits that an editor only views a file.
    fn own_form(&self, event: Object<'run>) -> Option<Node<'run>> {
        let args = event.field(OpenHandsKey::Args)?;
        let looks = text_of(event, OpenHandsKey::Action).and_then(ViewAction::from_key).is_some();
        let Some(known) = node_object(args).filter(|known| looks && known.field(ArgsKey::Command).is_none()) else {
            return Some(args);
        };
        let view = ObjectEntry::computed(ArgsKey::Command.key(), Value::plain_text(VIEW));
        Some(self.conversation.builder.object_node(&[known.entries(), &[view]].concat()))
    }

    fn read_observation(&mut self, node: Node<'run>, event: Object<'run>) {
        self.metrics = object_of(event, OpenHandsKey::Metrics).or(self.metrics);
        let word = text_of(event, OpenHandsKey::Observation).unwrap_or_default();
        let kind = ObservationKind::from_key(word);
        let metadata = object_of(event, OpenHandsKey::Metadata);
        let id = metadata.and_then(|metadata| text_of(metadata, OpenHandsInnerKey::Call));
        let is_result = id.is_some()
            || event.field(OpenHandsKey::Cause).is_some_and(|cause| NodeShapes.has_shape(cause, ValueShape::Number));
        if kind == Some(ObservationKind::State) {
            return self.set_state(event);
        }
        if kind == Some(ObservationKind::Silent) || !is_result {
            // Of what no action caused nothing is known where its kind is not.
            if kind.is_none() {
                self.conversation
                    .builder
                    .skip_record(node.origin, format!("an observation of unknown kind `{word}` is skipped"));
            }
            return;
        }
        let meta = StepMeta { time: event.field(OpenHandsKey::Time), ..StepMeta::default() };
        let result = event
            .field(OpenHandsKey::Content)
            .map(|content| content::content_text(content, self.conversation.builder.arena).unwrap_or(content));
        let extras = object_of(event, OpenHandsKey::Extras);
        let inside = extras.and_then(|extras| object_of(extras, OpenHandsInnerKey::Metadata)).or(extras);
        let exit_code = inside
            .and_then(|inside| inside.field(OpenHandsInnerKey::ExitCode))
            .filter(|code| NodeShapes.has_shape(*code, ValueShape::Number));
        let status = match kind {
            Some(ObservationKind::Rejected) => Some(StepStatus::Denied),
            Some(ObservationKind::Error) => Some(StepStatus::Failed),
            _ if is_true(&event, &NodeShapes, OpenHandsKey::Success) => Some(StepStatus::Ok),
            _ if event
                .field(OpenHandsKey::Success)
                .is_some_and(|success| NodeShapes.has_shape(success, ValueShape::False)) =>
            {
                Some(StepStatus::Failed)
            }
            _ => None,
        };
        let details = extras.and(event.field(OpenHandsKey::Extras));
        let error =
            first_of(event, &[OpenHandsKey::Error]).filter(|error| !NodeShapes.has_shape(*error, ValueShape::False));
        let outcome = CallResult { result, status, error, exit_code, details, ..CallResult::default() };
        self.conversation.add_result(id, None, outcome, &meta, node.origin);
    }

    /// The last state wins.
    fn set_state(&mut self, event: Object<'run>) {
        let Some(extras) = object_of(event, OpenHandsKey::Extras) else { return };
        let is_broken =
            text_of(extras, OpenHandsInnerKey::State).and_then(FinalState::from_key) == Some(FinalState::Broken);
        let written = |of: &OpenHandsInnerKey| {
            first_of(extras, &[*of]).filter(|words| NodeShapes.has_shape(*words, ValueShape::Text))
        };
        self.wrong =
            [OpenHandsInnerKey::Reason, OpenHandsInnerKey::State].iter().find_map(written).filter(|_| is_broken);
    }

    fn count_usage(&mut self, response: Object<'run>) {
        self.conversation.add_meta(of_meta::MODEL, response.field(OpenHandsInnerKey::Model));
        let is_new = text_of(response, OpenHandsInnerKey::Id).is_none_or(|id| self.responses.insert(id));
        if !is_new {
            self.conversation.continue_turn();
        }
        if let Some(usage) = object_of(response, OpenHandsInnerKey::Usage).filter(|_| is_new) {
            let mut counts = TokenUsage::default();
            counts.add_usage(usage);
            self.conversation.add_usage(&counts, response.field(OpenHandsInnerKey::Model));
        }
    }

    fn finish_run(self) {
        let cost = self.metrics.and_then(|metrics| metrics.field(OpenHandsInnerKey::Cost));
        self.conversation
            .builder
            .set_some(of_run::COST, cost.filter(|cost| NodeShapes.has_shape(*cost, ValueShape::Number)));
        self.conversation.builder.set_some(of_run::ERROR, self.wrong);
        self.conversation.finish_with_tools();
    }
}

/// By call id, as the model wrote them.
fn model_arguments<'run>(metadata: Object<'run>, id: Option<&str>) -> Option<Node<'run>> {
    let response = object_of(metadata, OpenHandsInnerKey::Response)?;
    let (_, choice) = object_items(list_of(response, OpenHandsInnerKey::Choices)?).next()?;
    let message = object_of(choice, OpenHandsInnerKey::Message)?;
    let mut calls = object_items(list_of(message, OpenHandsInnerKey::Calls)?);
    let (_, call) = calls.find(|(_, call)| text_of(*call, OpenHandsInnerKey::Id) == id)?;
    object_of(call, OpenHandsInnerKey::CalledFunction)?.field(OpenHandsInnerKey::Arguments)
}
