//! OpenCode: the messages of a session as its server gives them (version 2 of the API). What the assistant says, thinks and calls stands in
//! the `content` of its messages; a call holds its result.

use super::{OpenCodeCallState, OpenCodeInfoKey, OpenCodeSession, is_refusal};
use crate::adapt::content;
use crate::adapt::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use crate::adapt::fields::{FieldRecord, key_table, value_of};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::nodes::{items_of, list_of, node_object, node_text, object_of, objects_of, text_of};
use crate::adapt::repeated_records::RecordIds;
use crate::adapt::run_builder::RunBuilder;
use crate::time;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::StepStatus;

key_table! {
    SessionMessageKey {
        /// A page of messages.
        Page = "data",
        Cursor = "cursor",
        Type = "type",
        Id = "id",
        Time = "time",
        Words = "text",
        Content = "content",
        Model = "model",
        Provider = "providerID",
        Name = "name",
        State = "state",
        Status = "status",
        Input = "input",
        Error = "error",
        Message = "message",
        Structured = "structured",
        Ran = "ran",
    }
}

key_table! {
    SessionMessageType {
        User = "user",
        /// The program; and commands of the user, which the model is told of.
        Program = "synthetic" | "system" | "shell",
        Assistant = "assistant",
        /// Who works on, and that the conversation so far was summed up.
        Silent = "agent-switched" | "model-switched" | "compaction",
    }
}

key_table! {
    SessionContentType {
        Said = "text",
        Thought = "reasoning",
        Call = "tool",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "OpenCode messages",
    known_by: "messages of type `assistant` with a `model` of a `providerID` and `content`",
    description: "messages of a session as OpenCode's server gives them (`data`, a list, or one a line)",
    marks: &[SessionMessageKey::Cursor.key()],
    object: |object| list_of(object, SessionMessageKey::Page).is_some_and(|page| objects_of(page).any(is_answer)),
    item_marks: &[SessionMessageKey::Content.key()],
    element: is_answer,
    line: is_answer,
    beside: |message| kind_of(message).is_some() && object_of(message, SessionMessageKey::Time).is_some(),
    record_ids: RecordIds::unique(&[&[SessionMessageKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn kind_of(message: Object<'_>) -> Option<SessionMessageType> {
    text_of(message, SessionMessageKey::Type).and_then(SessionMessageType::from_key)
}

fn is_answer(message: Object<'_>) -> bool {
    let model = object_of(message, SessionMessageKey::Model);
    kind_of(message) == Some(SessionMessageType::Assistant)
        && model.is_some_and(|model| text_of(model, SessionMessageKey::Provider).is_some())
        && list_of(message, SessionMessageKey::Content).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut session = OpenCodeSession::new(builder);
    let page = items_of(root, &[SessionMessageKey::Page]);
    let mut listed: Vec<&'run Node<'run>> = page.iter().collect();
    if is_newest_first(page) {
        listed.reverse();
    }
    let cursor = node_object(*root).and_then(|page| object_of(page, SessionMessageKey::Cursor));
    if cursor
        .is_some_and(|cursor| cursor.entries().iter().any(|end| node_text(end.node).is_some_and(|end| !end.is_empty())))
    {
        session.conversation.builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    for node in listed {
        session.conversation.builder.count_record();
        match node_object(*node).and_then(|message| Some((message, kind_of(message)?))) {
            Some((message, kind)) => read_message(&mut session, *node, message, kind),
            None => session.conversation.builder.skip_value(node, "a message of unknown type is skipped"),
        }
    }
    session.finish_run();
    Ok(())
}

/// A page may go either way: times say which.
fn is_newest_first<'run>(page: &'run [Node<'run>]) -> bool {
    let created = |message| {
        let time = object_of(message, SessionMessageKey::Time)?;
        time::to_milliseconds(&value_of(time, OpenCodeInfoKey::Created)?.value)
    };
    let mut times = objects_of(page).filter_map(created);
    let first = times.next();
    first.zip(times.last()).is_some_and(|(first, last)| first > last)
}

fn read_message<'run>(
    session: &mut OpenCodeSession<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
    kind: SessionMessageType,
) {
    let times = object_of(message, SessionMessageKey::Time);
    let at = |key| times.and_then(|times| value_of(times, key));
    let meta = StepMeta { time: at(OpenCodeInfoKey::Created), ..StepMeta::default() };
    let words = value_of(message, SessionMessageKey::Words);
    match kind {
        SessionMessageType::User | SessionMessageType::Program => {
            session.wrong = None;
            let speaker = if kind == SessionMessageType::User { Speaker::User } else { Speaker::System };
            words.into_iter().for_each(|words| session.conversation.add_message(speaker, words, &meta, node.origin));
        }
        SessionMessageType::Silent => {}
        SessionMessageType::Assistant => {
            session.conversation.begin_turn();
            session.conversation.note_time(at(OpenCodeInfoKey::Completed));
            let model = object_of(message, SessionMessageKey::Model);
            let model = model.and_then(|model| model.field(SessionMessageKey::Id));
            session.conversation.add_meta(of_meta::MODEL, model);
            let (tokens, cost) = (message.field(OpenCodeInfoKey::Tokens), message.field(OpenCodeInfoKey::Cost));
            session.count_usage(tokens, cost, model);
            session.wrong = value_of(message, SessionMessageKey::Error);
            let content = list_of(message, SessionMessageKey::Content).unwrap_or_default();
            for (at, part) in session.conversation.builder.record_objects(content) {
                add_part(&mut session.conversation, at, part, &meta);
            }
        }
    }
}

fn add_part<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    part: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let word = text_of(part, SessionMessageKey::Type).unwrap_or_default();
    let words = value_of(part, SessionMessageKey::Words);
    match SessionContentType::from_key(word) {
        Some(SessionContentType::Said) => {
            words.into_iter().for_each(|words| conversation.add_message(Speaker::Assistant, words, meta, node.origin));
        }
        Some(SessionContentType::Thought) => {
            words.into_iter().for_each(|words| conversation.add_message(Speaker::Thinking, words, meta, node.origin));
        }
        Some(SessionContentType::Call) => add_call(conversation, node, part),
        None => conversation.builder.skip_record(node.origin, format!("a part of unknown type `{word}` is skipped")),
    }
}

fn add_call<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, part: Object<'run>) {
    let state = object_of(part, SessionMessageKey::State);
    let of = |key| state.and_then(|state| value_of(state, key));
    let times = object_of(part, SessionMessageKey::Time);
    let at = |time: Option<Node<'run>>| StepMeta { time, ..StepMeta::default() };
    let started =
        times.and_then(|times| value_of(times, SessionMessageKey::Ran).or(value_of(times, OpenCodeInfoKey::Created)));
    let made = ToolCall {
        tool: part.field(SessionMessageKey::Name).unwrap_or(Node::computed(Value::Null)),
        args: of(SessionMessageKey::Input),
        id: part.field(SessionMessageKey::Id),
        origin: node.origin,
    };
    let Some(step) = conversation.add_call(made, &at(started)) else { return };
    let told = state.and_then(|state| text_of(state, SessionMessageKey::Status)).and_then(OpenCodeCallState::from_key);
    let error = of(SessionMessageKey::Error);
    let why = error
        .map(|error| node_object(error).and_then(|error| value_of(error, SessionMessageKey::Message)).unwrap_or(error));
    let status = match told {
        Some(OpenCodeCallState::Ok) => StepStatus::Ok,
        Some(OpenCodeCallState::Failed) if why.and_then(node_text).is_some_and(is_refusal) => StepStatus::Denied,
        Some(OpenCodeCallState::Failed) => StepStatus::Failed,
        Some(OpenCodeCallState::Open) | None => return,
    };
    let said =
        of(SessionMessageKey::Content).and_then(|given| content::content_text(given, conversation.builder.arena));
    let details = of(SessionMessageKey::Structured)
        .filter(|given| node_object(*given).is_none_or(|given| !given.entries().is_empty()));
    let outcome = CallResult {
        result: said.or(details).or(why),
        error: why,
        status: Some(status),
        details,
        ..CallResult::default()
    };
    let ended = times.and_then(|times| value_of(times, OpenCodeInfoKey::Completed));
    conversation.end_within(step, outcome, &at(ended));
}
