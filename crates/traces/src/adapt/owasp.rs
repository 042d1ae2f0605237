//! The traces of OWASP's Agent Security Regression Harness: `messages`, `tool_calls` and `events` beside each other, or events that hold
//! the messages. In which order calls and messages came is not recorded.

use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    OwaspTraceKey {
        Messages = "messages",
        Calls = "tool_calls",
        Events = "events",
        Memory = "memory",
        Output = "final_output",
    }
}

key_table! {
    OwaspEntryKey {
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
    OwaspEventType {
        Said = "prompt" | "response",
        Approval = "approval",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "OWASP agent security trace",
    known_by: "`events` of type `approval` with a `decision`, or of type `prompt` and `response` with `data` of `messages`",
    description: "traces of OWASP's Agent Security Regression Harness (`messages`, `tool_calls`, `events`)",
    marks: &[OwaspTraceKey::Events.key()],
    near: &[OwaspEntryKey::Decision.key()],
    object: |object| {
        list_of(object, OwaspTraceKey::Events)
            .is_some_and(|events| object_items(events).any(|(_, event)| is_event(event)))
    },
    read: read_run,
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    match text_of(event, OwaspEntryKey::Type).and_then(OwaspEventType::from_key) {
        Some(OwaspEventType::Approval) => {
            event.field(OwaspEntryKey::Decision).is_some() && event.field(OwaspEntryKey::Action).is_some()
        }
        Some(OwaspEventType::Said) => {
            object_of(event, OwaspEntryKey::Data).is_some_and(|data| list_of(data, OwaspTraceKey::Messages).is_some())
        }
        _ => false,
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Value::Object(trace) = root.value else { return Ok(()) };
    let apart = list_of(trace, OwaspTraceKey::Calls).is_some();
    builder.set_some(of_run::OUTPUT, value_of(trace, OwaspTraceKey::Output));
    let mut conversation = ConversationBuilder::new(builder);
    conversation.add_meta(OwaspTraceKey::Events.key(), trace.field(OwaspTraceKey::Events));
    conversation.add_meta(OwaspTraceKey::Memory.key(), trace.field(OwaspTraceKey::Memory));
    add_messages(&mut conversation, list_of(trace, OwaspTraceKey::Messages).unwrap_or_default(), &StepMeta::default());
    for (at, event) in conversation.builder.record_objects(list_of(trace, OwaspTraceKey::Events).unwrap_or_default()) {
        conversation.builder.count_record();
        let meta = StepMeta { time: value_of(event, OwaspEntryKey::Time), ..StepMeta::default() };
        let data = object_of(event, OwaspEntryKey::Data);
        let is_known = text_of(event, OwaspEntryKey::Type).is_none_or(|word| OwaspEventType::from_key(word).is_some());
        if data.is_none() && !is_event(event) || !is_known {
            conversation.builder.skip_value(at, "an event of unknown type is skipped");
        }
        let inside = |field| data.and_then(|data| list_of(data, field)).unwrap_or_default();
        add_messages(&mut conversation, inside(OwaspTraceKey::Messages), &meta);
        add_calls(&mut conversation, inside(OwaspTraceKey::Calls), &meta);
    }
    add_calls(&mut conversation, list_of(trace, OwaspTraceKey::Calls).unwrap_or_default(), &StepMeta::default());
    let builder = conversation.finish_without_turns();
    if apart {
        builder.mark_unordered();
    } else if trace.field(OwaspTraceKey::Messages).is_some() && builder.steps_of_kind(StepKind::Call).is_empty() {
        // Beside such messages calls have a list of their own, which may be empty.
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}

fn add_messages<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    messages: &'run [Node<'run>],
    meta: &StepMeta<'run>,
) {
    for (node, message) in conversation.builder.record_objects(messages) {
        conversation.builder.count_record();
        let speaker = Speaker::from_role(conversation.builder.role_of(node, text_of(message, OwaspEntryKey::Role)));
        match message.field(OwaspEntryKey::Content) {
            Some(content) => conversation.add_content(speaker, content, meta, node.origin),
            None => conversation.builder.skip_value(node, "a message without `content` is skipped"),
        }
    }
}

fn add_calls<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    calls: &'run [Node<'run>],
    meta: &StepMeta<'run>,
) {
    for (node, call) in conversation.builder.record_objects(calls) {
        conversation.builder.count_record();
        let tool = call.field(OwaspEntryKey::Name).unwrap_or(Node::computed(Value::Null));
        let args = value_of(call, OwaspEntryKey::Args);
        let made = ToolCall { tool, args, id: call.field(OwaspEntryKey::Id), origin: node.origin };
        let Some(step) = conversation.add_call(made, meta) else { continue };
        let result = value_of(call, OwaspEntryKey::Result);
        let status = text_of(call, OwaspEntryKey::Status)
            .and_then(StepStatus::from_word)
            .filter(|status| *status != StepStatus::Unknown);
        if result.is_some() || status.is_some() {
            conversation.end_call(step, CallResult { result, status, ..CallResult::default() }, &StepMeta::default());
        }
    }
}
