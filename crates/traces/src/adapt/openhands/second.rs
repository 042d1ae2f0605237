//! The events of the second generation: `{kind, id, timestamp, source, …}`.

use super::{OfEvent, Source};
use crate::adapt::content;
use crate::adapt::draft::Draft;
use crate::adapt::fields::{Parsed, Record, Shape, Shapes, is_true, key_table};
use crate::adapt::nodes::{first_of, object, object_of, text_of};
use crate::adapt::talk::{About, Made, Outcome, Speaker, Talk};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::Status;

key_table! {
    /// An event.
    OfSecond {
        Kind = "kind",
        Message = "llm_message",
        Content = "content",
        Prompt = "system_prompt",
        Thought = "thought",
        Tool = "tool_name",
        Call = "tool_call_id",
        ToolCall = "tool_call",
        Function = "function",
        Arguments = "arguments",
        Action = "action",
        Observation = "observation",
        ExitCode = "exit_code",
        Failed = "is_error",
        Error = "error",
        Reason = "rejection_reason",
        Said = "message",
        Detail = "detail",
        Code = "code",
    }
}

key_table! {
    /// The kinds of events.
    EventKind {
        Message = "MessageEvent",
        Action = "ActionEvent",
        Observation = "ObservationEvent",
        Error = "AgentErrorEvent",
        Rejected = "UserRejectObservation",
        Prompt = "SystemPromptEvent",
        Silent = "PauseEvent" | "Condensation" | "CondensationRequest" | "CondensationSummaryEvent"
            | "ConversationStateUpdateEvent" | "TokenEvent",
        /// The conversation came to an end by it, unless it was taken up again.
        Broken = "ConversationErrorEvent",
    }
}

pub(super) fn is_event(event: Object<'_>) -> bool {
    text_of(event, OfSecond::Kind).and_then(EventKind::from_key).is_some() && text_of(event, OfEvent::Source).is_some()
}

pub(super) fn read<'run>(events: &'run [Node<'run>], draft: &mut Draft<'run, '_>) {
    let mut talk = Talk::new(draft);
    let mut wrong = None;
    for node in events {
        talk.draft.record();
        let event = object(*node)
            .and_then(|event| Some((event, text_of(event, OfSecond::Kind).and_then(EventKind::from_key)?)));
        match event {
            Some((event, EventKind::Broken)) => {
                wrong = first_of(event, &[OfSecond::Detail, OfSecond::Code]);
            }
            Some((event, kind)) => {
                wrong = wrong.filter(|_| !goes_on(event, kind));
                one(&mut talk, *node, event, kind);
            }
            None => talk.draft.not_understood(node.origin, "an event of unknown kind is passed over"),
        }
    }
    talk.draft.set_some(of_run::ERROR, wrong);
    talk.finish_with_tools();
}

/// Whether the agent does something, or somebody asks it to: an error before that was not the end.
fn goes_on(event: Object<'_>, kind: EventKind) -> bool {
    let source = text_of(event, OfEvent::Source).and_then(Source::from_key);
    matches!(kind, EventKind::Message | EventKind::Action) && source.is_some()
}

fn one<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, event: Object<'run>, kind: EventKind) {
    let about = About { time: event.field(OfEvent::Time), ..About::default() };
    let of_agent = text_of(event, OfEvent::Source).and_then(Source::from_key) == Some(Source::Agent);
    match kind {
        EventKind::Message => {
            let content = object_of(event, OfSecond::Message).and_then(|message| message.field(OfSecond::Content));
            let speaker = if of_agent { Speaker::Assistant } else { Speaker::User };
            content.into_iter().for_each(|content| talk.say_content(speaker, content, &about, node.origin));
        }
        EventKind::Prompt => {
            let words = event.field(OfSecond::Prompt);
            words.into_iter().for_each(|words| talk.say_content(Speaker::System, words, &about, node.origin));
        }
        EventKind::Action => action(talk, node, event, &about),
        EventKind::Observation => {
            let observation = object_of(event, OfSecond::Observation);
            let of = |field| observation.and_then(|observation| first_of(observation, &[field]));
            let given = of(OfSecond::Content).or(event.field(OfSecond::Observation));
            let result = given.map(|given| content::text(given, talk.draft.arena).unwrap_or(given));
            let failed = observation.map(|observation| is_true(&observation, &Parsed, OfSecond::Failed));
            let exit_code = of(OfSecond::ExitCode).filter(|code| Parsed.is(*code, Shape::Number));
            let status = match failed {
                Some(true) => Some(Status::Failed),
                Some(false) if of(OfSecond::Failed).is_some() && exit_code.is_none() => Some(Status::Ok),
                _ => None,
            };
            let outcome = Outcome { result, status, exit_code, ..Outcome::default() };
            talk.answer(text_of(event, OfSecond::Call), None, outcome, &about, node.origin);
        }
        EventKind::Error | EventKind::Rejected => {
            let status = if kind == EventKind::Error { Status::Failed } else { Status::Denied };
            let error = first_of(event, &[OfSecond::Error, OfSecond::Reason]);
            let outcome = Outcome { status: Some(status), error, ..Outcome::default() };
            talk.answer(text_of(event, OfSecond::Call), None, outcome, &about, node.origin);
        }
        EventKind::Silent | EventKind::Broken => {}
    }
}

/// The last action hands over the answer.
fn action<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, event: Object<'run>, about: &About<'run>) {
    if let Some(thought) = event.field(OfSecond::Thought) {
        talk.say_content(Speaker::Assistant, thought, about, node.origin);
    }
    let call = object_of(event, OfSecond::ToolCall);
    let function = call.and_then(|call| object_of(call, OfSecond::Function)).or(call);
    let written = function.and_then(|function| function.field(OfSecond::Arguments));
    let args = written.or(event.field(OfSecond::Action).filter(|args| Parsed.is(*args, Shape::Object)));
    let tool = event.field(OfSecond::Tool).unwrap_or(Node::computed(Value::Null));
    talk.call(Made { tool, args, id: event.field(OfSecond::Call), origin: node.origin }, about);
    let said = object_of(event, OfSecond::Action).and_then(|action| first_of(action, &[OfSecond::Said]));
    if let (Some(words), Some(FINISH)) = (said, text_of(event, OfSecond::Tool)) {
        talk.say(Speaker::Assistant, words, about, node.origin);
    }
}

/// The tool that ends a session.
const FINISH: &str = "finish";
