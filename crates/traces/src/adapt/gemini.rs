//! Gemini CLI: the file of a session (`messages` of type `user` and `gemini`), and the events of `--output-format stream-json`.

use super::calls::Usage;
use super::content;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::messages::Role;
use super::nodes::{first_of, list_of, object, object_of, objects, text, text_of};
use super::talk::{About, Made, Markers, Outcome, Speaker, Talk, markers, number_behind};
use crate::build::word_status;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::Status;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// What stands before an exit code.
static EXIT_CODE: Markers = LazyLock::new(|| markers(["Exit Code:"]));

key_table! {
    /// A session.
    OfSession {
        Id = "sessionId",
        Project = "projectHash",
        Messages = "messages",
        /// In files with a record on each line: what changes in the session, and that the user went back in it.
        Set = "$set",
        Rewind = "$rewindTo",
    }
}

key_table! {
    /// A message.
    OfMessage {
        Id = "id",
        Type = "type",
        Time = "timestamp",
        Content = "content",
        Thoughts = "thoughts",
        Calls = "toolCalls",
        Model = "model",
        Tokens = "tokens",
        Description = "description",
        Words = "text",
    }
}

key_table! {
    /// A call with its result.
    OfCall {
        Id = "id",
        Name = "name",
        Args = "args",
        Result = "result",
        Display = "resultDisplay",
        Status = "status",
        Time = "timestamp",
        Answer = "functionResponse",
        Response = "response",
        Output = "output",
        Error = "error",
    }
}

key_table! {
    /// The tokens of a message.
    OfTokens {
        Input = "input",
        Output = "output",
        Cached = "cached",
        Thoughts = "thoughts",
        Total = "total",
    }
}

key_table! {
    /// An event of a stream.
    OfEvent {
        Type = "type",
        Time = "timestamp",
        Session = "session_id",
        Model = "model",
        Role = "role",
        Content = "content",
        Delta = "delta",
        Tool = "tool_name",
        Call = "tool_id",
        Args = "parameters",
        Status = "status",
        Output = "output",
        Error = "error",
        Stats = "stats",
        Duration = "duration_ms",
        Message = "message",
        Severity = "severity",
    }
}

key_table! {
    /// Who says a message of a session.
    Sayer {
        Model = "gemini" | "model",
        User = "user",
        Program = "info" | "error" | "warning" | "system" | "about" | "help" | "stats" | "quit" | "compression",
    }
}

key_table! {
    /// How much an error matters.
    Severity {
        /// The program goes on.
        Warning = "warning",
    }
}

key_table! {
    /// The types of events.
    EventType {
        Start = "init",
        Said = "message",
        Call = "tool_use",
        Result = "tool_result",
        Error = "error",
        End = "result",
    }
}

/// Sessions.
pub(crate) const FORMAT: Format = Format {
    name: "Gemini CLI session",
    known_by: "`sessionId` and `projectHash` beside `messages` of type `user` or `gemini`, or in front of such on lines",
    description: "sessions of Gemini CLI (`projectHash`, `messages`, or a message a line)",
    marks: &[OfSession::Project.key()],
    object: |object| list_of(object, OfSession::Messages).is_some() && object.field(OfSession::Id).is_some(),
    item_marks: &[
        OfSession::Project.key(),
        OfSession::Set.key(),
        OfSession::Rewind.key(),
        OfMessage::Calls.key(),
        OfMessage::Thoughts.key(),
    ],
    element: is_record,
    line: is_record,
    read,
    ..IN_FULL
};

/// Whether an object is a line of a session.
fn is_record(line: Object<'_>) -> bool {
    let has = |field| line.field(field).is_some();
    has(OfSession::Project) && has(OfSession::Id) && !has(OfSession::Messages)
        || changes(line).is_some()
        || text_of(line, OfMessage::Type) == Some(MODEL) && text_of(line, OfMessage::Id).is_some()
}

/// What only messages of Gemini CLI have for a type.
const MODEL: &str = "gemini";

/// Whether a line says something about the session that is no message, and the messages that it holds all the same.
fn changes(line: Object<'_>) -> Option<&[Node<'_>]> {
    let only = line.entries().len() == 1;
    let changed = object_of(line, OfSession::Set).filter(|_| only);
    let went_back = line.field(OfSession::Rewind).filter(|_| only);
    let messages = changed.and_then(|changed| list_of(changed, OfSession::Messages));
    changed.map(|_| ()).or(went_back.map(|_| ())).map(|()| messages.unwrap_or_default())
}

/// Streams.
pub(crate) const STREAM: Format = Format {
    name: "Gemini CLI events",
    known_by: "`tool_use` events with `tool_name` and `tool_id`, or an `init` event with `session_id` and `timestamp`",
    description: "events of Gemini CLI (`--output-format stream-json`)",
    marks: &[OfEvent::Call.key()],
    item_marks: &[OfEvent::Call.key(), OfEvent::Session.key()],
    element: is_event,
    line: is_event,
    read: read_stream,
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    let has = |field| event.field(field).is_some();
    match text_of(event, OfEvent::Type).and_then(EventType::from_key) {
        Some(EventType::Start) => has(OfEvent::Session) && has(OfEvent::Time) && has(OfEvent::Model),
        Some(EventType::Call) => has(OfEvent::Call) && has(OfEvent::Tool),
        Some(EventType::Result) => has(OfEvent::Call) && has(OfEvent::Status),
        _ => false,
    }
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let mut talk = Talk::new(draft);
    let messages = match root.value {
        Value::Object(session) if !is_record(session) => {
            begins(&mut talk, session);
            let messages = list_of(session, OfSession::Messages).unwrap_or_default();
            messages.iter().for_each(|_| talk.draft.record());
            messages.to_vec()
        }
        Value::List(lines) => of_lines(&mut talk, lines),
        _ => of_lines(&mut talk, &[root]),
    };
    for node in &messages {
        let said = object(*node);
        let sayer = said.and_then(|message| text_of(message, OfMessage::Type)).and_then(Sayer::from_key);
        let (Some(message), Some(sayer)) = (said, sayer) else {
            talk.draft.not_understood(node.origin, "a message of unknown type is passed over");
            continue;
        };
        let about = About { time: message.field(OfMessage::Time), ..About::default() };
        match sayer {
            Sayer::Model => answer(&mut talk, *node, message, &about),
            Sayer::User | Sayer::Program => {
                let of_user = sayer == Sayer::User && !is_summary(message);
                let speaker = if of_user { Speaker::User } else { Speaker::System };
                if let Some(content) = message.field(OfMessage::Content) {
                    talk.say_content(speaker, content, &about, node.origin);
                }
            }
        }
    }
    talk.finish_with_tools();
    Ok(())
}

fn begins<'run>(talk: &mut Talk<'_, 'run, '_>, session: Object<'run>) {
    talk.draft.set_some(of_run::ID, session.field(OfSession::Id).filter(|id| Parsed.is_text(*id)));
}

/// The messages of a session with a record on each line: of several with one id the last counts, in the place of the first. What was
/// done stays done where the user went back, or where messages were summed up.
fn of_lines<'run>(talk: &mut Talk<'_, 'run, '_>, lines: &[Node<'run>]) -> Vec<Node<'run>> {
    let mut messages: Vec<Node<'run>> = Vec::new();
    let mut places = FxHashMap::default();
    for node in lines {
        talk.draft.record();
        let line = object(*node);
        if let Some(session) = line.filter(|line| line.field(OfSession::Project).is_some()) {
            begins(talk, session);
            continue;
        }
        let changed = line.and_then(changes);
        for message in changed.unwrap_or(std::slice::from_ref(node)) {
            let id = object(*message).and_then(|message| text_of(message, OfMessage::Id));
            let place = id.map_or(messages.len(), |id| *places.entry(id).or_insert(messages.len()));
            match messages.get_mut(place) {
                // A summary of the session repeats messages, and may leave their calls out.
                Some(known) if changed.is_none() => *known = *message,
                Some(_) => {}
                None => messages.push(*message),
            }
        }
    }
    messages
}

/// Whether the program sums up what was said so far, in the name of the user.
fn is_summary(message: Object<'_>) -> bool {
    let content = message.field(OfMessage::Content);
    let first = content.and_then(|content| match content.value {
        Value::List([first, ..]) => text_of(object(*first)?, OfMessage::Words),
        _ => text(content),
    });
    first.is_some_and(|words| words.trim_start().starts_with("<state_snapshot>"))
}

fn answer<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, message: Object<'run>, about: &About<'run>) {
    talk.begin_turn();
    talk.meta(of_meta::MODEL, message.field(OfMessage::Model));
    for (at, thought) in talk.draft.objects(list_of(message, OfMessage::Thoughts).unwrap_or_default()) {
        if let Some(words) = thought.field(OfMessage::Description) {
            let about = About { time: thought.field(OfMessage::Time), ..*about };
            talk.say(Speaker::Thinking, words, &about, at.origin);
        }
    }
    if let Some(content) = message.field(OfMessage::Content) {
        talk.say_content(Speaker::Assistant, content, about, node.origin);
    }
    for (at, call) in talk.draft.objects(list_of(message, OfMessage::Calls).unwrap_or_default()) {
        one_call(talk, at, call, about);
    }
    if let Some(tokens) = object_of(message, OfMessage::Tokens) {
        count(talk, tokens);
    }
}

/// The sum of input and output leaves out what was thought: the total holds it.
fn count(talk: &mut Talk<'_, '_, '_>, tokens: Object<'_>) {
    let counts = [
        (of_usage::INPUT, OfTokens::Input),
        (of_usage::OUTPUT, OfTokens::Output),
        (of_usage::CACHE_READ, OfTokens::Cached),
        (of_usage::REASONING, OfTokens::Thoughts),
        (of_usage::TOTAL, OfTokens::Total),
    ];
    let mut usage = Usage::default();
    for (name, field) in counts {
        usage.count(name, tokens.field(field));
    }
    talk.usage.join(&usage);
}

fn one_call<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, call: Object<'run>, about: &About<'run>) {
    let tool = call.field(OfCall::Name).unwrap_or(Node::computed(Value::Null));
    let made = Made { tool, args: call.field(OfCall::Args), id: call.field(OfCall::Id), origin: node.origin };
    let Some(step) = talk.call(made, &About { time: None, ..*about }) else { return };
    let result = call.field(OfCall::Result).and_then(|result| given_back(talk, result));
    let result = result.or_else(|| first_of(call, &[OfCall::Display]).filter(|shown| Parsed.is_text(*shown)));
    let status = text_of(call, OfCall::Status).and_then(status_of);
    let exit_code = result.and_then(|result| number_behind(result, &EXIT_CODE));
    let status = with_code(status, exit_code);
    talk.end_within(
        step,
        Outcome { result, exit_code, status, ..Outcome::default() },
        &About { time: call.field(OfCall::Time), ..*about },
    );
}

/// A command that ended with another code than 0 is a success for the program that ran it.
fn with_code(status: Option<Status>, exit_code: Option<Node<'_>>) -> Option<Status> {
    let failed = exit_code.is_some_and(|code| !matches!(code.value, Value::Number(code) if code.as_i64() == Some(0)));
    if failed { Some(Status::Failed) } else { status }
}

/// A call that was cancelled was turned down by the user.
fn status_of(word: &str) -> Option<Status> {
    match word {
        "cancelled" => Some(Status::Denied),
        word => word_status(word).filter(|status| *status != Status::Unknown),
    }
}

/// What a tool gave back: the output or the error in its answer, else the answer, else the text of its parts.
fn given_back<'run>(talk: &Talk<'_, 'run, '_>, result: Node<'run>) -> Option<Node<'run>> {
    let Value::List(parts) = result.value else { return Some(result) };
    let answer = objects(parts).find_map(|(_, part)| object_of(part, OfCall::Answer)?.field(OfCall::Response));
    match answer {
        Some(answer) => {
            Some(object(answer).and_then(|answer| first_of(answer, &[OfCall::Output, OfCall::Error])).unwrap_or(answer))
        }
        None => content::text(result, talk.draft.arena),
    }
}

fn read_stream<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let mut talk = Talk::new(draft);
    let mut growing: Option<(Node<'run>, String, About<'run>)> = None;
    for node in super::nodes::items_of::<OfEvent>(root, &[]) {
        talk.draft.record();
        let event = object(*node);
        let kind = event.and_then(|event| text_of(event, OfEvent::Type)).and_then(EventType::from_key);
        let (Some(event), Some(kind)) = (event, kind) else {
            talk.draft.not_understood(node.origin, "an event of unknown type is passed over");
            continue;
        };
        let about = About { time: event.field(OfEvent::Time), ..About::default() };
        let words = event.field(OfEvent::Content).and_then(text);
        if let (EventType::Said, Some(words), true) = (kind, words, is_delta(event)) {
            growing.get_or_insert_with(|| (*node, String::new(), about)).1.push_str(words);
            continue;
        }
        grown(&mut talk, growing.take());
        one_event(&mut talk, *node, event, kind, &about);
    }
    grown(&mut talk, growing.take());
    talk.finish_with_tools();
    Ok(())
}

fn is_delta(event: Object<'_>) -> bool {
    super::fields::is_true(&event, &Parsed, OfEvent::Delta)
}

/// The parts of one message are together.
fn grown<'run>(talk: &mut Talk<'_, 'run, '_>, growing: Option<(Node<'run>, String, About<'run>)>) {
    if let Some((node, words, about)) = growing {
        let words = Node::new(Value::plain(talk.draft.arena.alloc_str(&words)), node.origin);
        talk.say(Speaker::Assistant, words, &about, node.origin);
    }
}

fn one_event<'run>(
    talk: &mut Talk<'_, 'run, '_>,
    node: Node<'run>,
    event: Object<'run>,
    kind: EventType,
    about: &About<'run>,
) {
    match kind {
        EventType::Start => {
            talk.draft.set_some(of_run::ID, event.field(OfEvent::Session));
            talk.meta(of_meta::MODEL, event.field(OfEvent::Model));
            talk.note_time(about.time);
        }
        EventType::Said => {
            let speaker = match text_of(event, OfEvent::Role).and_then(Role::from_key) {
                Some(Role::Assistant) => Speaker::Assistant,
                Some(Role::User) => Speaker::User,
                _ => Speaker::System,
            };
            if let Some(content) = event.field(OfEvent::Content) {
                talk.say_content(speaker, content, about, node.origin);
            }
        }
        EventType::Call => {
            let tool = event.field(OfEvent::Tool).unwrap_or(Node::computed(Value::Null));
            let made =
                Made { tool, args: event.field(OfEvent::Args), id: event.field(OfEvent::Call), origin: node.origin };
            talk.call(made, about);
        }
        EventType::Result => {
            let result = event.field(OfEvent::Output);
            let error = first_of(event, &[OfEvent::Error]);
            let status = text_of(event, OfEvent::Status).and_then(status_of);
            let exit_code = result.and_then(|result| number_behind(result, &EXIT_CODE));
            let status = with_code(status, exit_code);
            let outcome = Outcome { result, error, status, exit_code, ..Outcome::default() };
            talk.answer(text_of(event, OfEvent::Call), None, outcome, about, node.origin);
        }
        EventType::Error
            if text_of(event, OfEvent::Severity).and_then(Severity::from_key) == Some(Severity::Warning) =>
        {
            if let Some(message) = event.field(OfEvent::Message) {
                talk.say(Speaker::System, message, about, node.origin);
            }
        }
        EventType::Error => {
            if let Some(message) = event.field(OfEvent::Message) {
                talk.draft.set(of_run::ERROR, message);
            }
        }
        EventType::End => {
            talk.note_time(about.time);
            let error = first_of(event, &[OfEvent::Error]);
            let message = error.and_then(object).and_then(|error| first_of(error, &[OfEvent::Message])).or(error);
            talk.draft.set_some(of_run::ERROR, message);
            if let Some(stats) = object_of(event, OfEvent::Stats) {
                talk.usage.add(stats);
                talk.usage.count(of_usage::CACHE_READ, stats.field(OfTokens::Cached));
                talk.draft.set_some(of_run::DURATION, stats.field(OfEvent::Duration));
            }
        }
    }
}
