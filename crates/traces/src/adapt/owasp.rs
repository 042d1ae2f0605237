//! The traces of OWASP's Agent Security Regression Harness: `messages`, `tool_calls` and `events` beside each other, or events that hold
//! the messages. In which order calls and messages came is not recorded.

use super::draft::Draft;
use super::fields::{Record, key_table, value_of};
use super::format::{Format, IN_FULL};
use super::messages::Role;
use super::nodes::{list_of, object_of, objects, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk};
use crate::build::word_status;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::Status;

key_table! {
    /// A trace.
    OfTrace {
        Messages = "messages",
        Calls = "tool_calls",
        Events = "events",
        Memory = "memory",
        Output = "final_output",
    }
}

key_table! {
    /// A message, a call or an event.
    OfEntry {
        Type = "type",
        Time = "timestamp",
        Data = "data",
        Decision = "decision",
        Action = "action",
        Role = "role",
        Content = "content",
        Name = "name",
        Args = "arguments" | "args",
        Id = "id",
        Result = "result",
        Status = "status",
    }
}

key_table! {
    /// The types of events.
    EventType {
        Said = "prompt" | "response",
        Approval = "approval",
    }
}

/// Traces.
pub(crate) const FORMAT: Format = Format {
    name: "OWASP agent security trace",
    known_by: "`events` of type `approval` with a `decision`, or of type `prompt` and `response` with `data` of `messages`",
    description: "traces of OWASP's Agent Security Regression Harness (`messages`, `tool_calls`, `events`)",
    marks: &[OfTrace::Events.key()],
    near: &[OfEntry::Decision.key()],
    object: |object| {
        list_of(object, OfTrace::Events).is_some_and(|events| objects(events).any(|(_, event)| is_event(event)))
    },
    read,
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    match text_of(event, OfEntry::Type).and_then(EventType::from_key) {
        Some(EventType::Approval) => event.field(OfEntry::Decision).is_some() && event.field(OfEntry::Action).is_some(),
        Some(EventType::Said) => {
            object_of(event, OfEntry::Data).is_some_and(|data| list_of(data, OfTrace::Messages).is_some())
        }
        _ => false,
    }
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let Value::Object(trace) = root.value else { return Ok(()) };
    let apart = list_of(trace, OfTrace::Calls).is_some();
    draft.set_some(of_run::OUTPUT, value_of(trace, OfTrace::Output));
    let mut talk = Talk::new(draft);
    talk.meta(OfTrace::Events.key(), trace.field(OfTrace::Events));
    talk.meta(OfTrace::Memory.key(), trace.field(OfTrace::Memory));
    said(&mut talk, list_of(trace, OfTrace::Messages).unwrap_or_default(), &About::default());
    for (at, event) in talk.draft.objects(list_of(trace, OfTrace::Events).unwrap_or_default()) {
        talk.draft.record();
        let about = About { time: value_of(event, OfEntry::Time), ..About::default() };
        let data = object_of(event, OfEntry::Data);
        if data.is_none() && !is_event(event) {
            talk.draft.not_understood(at.origin, "an event of unknown type is passed over");
        }
        let inside = |field| data.and_then(|data| list_of(data, field)).unwrap_or_default();
        said(&mut talk, inside(OfTrace::Messages), &about);
        calls(&mut talk, inside(OfTrace::Calls), &about);
    }
    calls(&mut talk, list_of(trace, OfTrace::Calls).unwrap_or_default(), &About::default());
    let draft = talk.finish_without_turns();
    if apart {
        draft.kinds_in_no_order();
    }
    Ok(())
}

fn said<'run>(talk: &mut Talk<'_, 'run, '_>, messages: &'run [Node<'run>], about: &About<'run>) {
    for (node, message) in talk.draft.objects(messages) {
        talk.draft.record();
        let speaker = match text_of(message, OfEntry::Role).and_then(Role::from_key) {
            Some(Role::Assistant) => Speaker::Assistant,
            Some(Role::User) => Speaker::User,
            _ => Speaker::System,
        };
        match message.field(OfEntry::Content) {
            Some(content) => talk.say_content(speaker, content, about, node.origin),
            None => talk.draft.not_understood(node.origin, "a message without `content` is passed over"),
        }
    }
}

fn calls<'run>(talk: &mut Talk<'_, 'run, '_>, calls: &'run [Node<'run>], about: &About<'run>) {
    for (node, call) in talk.draft.objects(calls) {
        talk.draft.record();
        let tool = call.field(OfEntry::Name).unwrap_or(Node::computed(Value::Null));
        let args = value_of(call, OfEntry::Args);
        let made = Made { tool, args, id: call.field(OfEntry::Id), origin: node.origin };
        let Some(step) = talk.call(made, about) else { continue };
        let result = value_of(call, OfEntry::Result);
        let status = text_of(call, OfEntry::Status).and_then(word_status).filter(|status| *status != Status::Unknown);
        if result.is_some() || status.is_some() {
            talk.end(step, Outcome { result, status, ..Outcome::default() }, &About::default());
        }
    }
}
