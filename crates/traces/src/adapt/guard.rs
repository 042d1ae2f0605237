//! The log of a session that `aver guard` keeps: an event a line, in the order in which an agent told them. A call that was let through
//! counts as executed, whether or not its result came; one that was denied was proposed alone.

use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, node_object, node_text, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, absent_node};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    GuardKey {
        Event = "guard",
        Id = "id",
        Agent = "agent",
        Tool = "tool",
        Args = "args",
        Time = "time",
        Result = "result",
        Error = "error",
        Role = "role",
        Text = "text",
        By = "by",
        Messages = "messages",
    }
}

key_table! {
    GuardEvent {
        Session = "session",
        Call = "call",
        Denied = "denied",
        Result = "result",
        Message = "message",
        Stop = "stop",
        /// What a rule would have denied, and was let through.
        Warned = "warned",
    }
}

key_table! {
    GuardRole {
        Assistant = "assistant",
        User = "user",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "aver guard session",
    known_by: "lines with `guard`, which is `session`, `call`, `result` and so on",
    description: "sessions that `aver guard` keeps (an event a line)",
    marks: &[GuardKey::Event.key()],
    object: is_event,
    item_marks: &[GuardKey::Event.key()],
    element: is_event,
    line: is_event,
    record_ids: RecordIds::shared(&[&[GuardKey::Time.key()]]),
    read: read_run,
    partial_roles: &[],
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    text_of(event, GuardKey::Event).and_then(GuardEvent::from_key).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    builder.mark_recorded(&[StepKind::Call]);
    let mut conversation = ConversationBuilder::new(builder);
    let (mut has_ended, mut hears_all) = (false, false);
    for node in items_of::<GuardKey>(root, &[]) {
        conversation.builder.count_record();
        let event =
            node_object(*node).and_then(|event| Some((event, GuardEvent::from_key(text_of(event, GuardKey::Event)?)?)));
        let Some((event, kind)) = event else {
            // The log holds nothing but objects: anything else may be what is left of an event.
            conversation.builder.skip_record(node.origin, "an event of unknown kind is skipped");
            continue;
        };
        has_ended = kind == GuardEvent::Stop || kind == GuardEvent::Session && has_ended;
        hears_all |= matches!(event.field(GuardKey::Messages).map(|all| all.value), Some(Value::Boolean(true)));
        read_event(&mut conversation, *node, event, kind);
    }
    let builder = conversation.finish_with_tools();
    builder.forget_field(of_run::TURNS, of_step::TURN);
    builder.set_entry(of_run::TURNS, absent_node());
    if !hears_all {
        builder.mark_unrecorded(StepKind::Message);
        builder.set_entry(of_run::OUTPUT, absent_node());
    }
    if !has_ended {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    Ok(())
}

fn read_event<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    event: Object<'run>,
    kind: GuardEvent,
) {
    let meta = StepMeta { time: event.field(GuardKey::Time), agent: event.field(GuardKey::By), aside: false };
    match kind {
        GuardEvent::Session => {
            conversation.builder.set_some(of_run::ID, event.field(GuardKey::Id));
            conversation.add_meta(GuardKey::Agent.key(), event.field(GuardKey::Agent));
        }
        GuardEvent::Call | GuardEvent::Denied => {
            let tool = event.field(GuardKey::Tool).unwrap_or(Node::computed(Value::Null));
            let id = event.field(GuardKey::Id);
            let made = ToolCall { tool, args: event.field(GuardKey::Args), id, origin: node.origin };
            let call = conversation.add_call(made, &meta);
            if let Some(call) = call.filter(|_| kind == GuardEvent::Denied) {
                conversation.set_status(call, StepStatus::Denied);
                conversation.unanswered.withdraw_call(call);
            }
        }
        GuardEvent::Result => {
            let error = event.field(GuardKey::Error);
            let status = if error.is_some() { StepStatus::Failed } else { StepStatus::Ok };
            // A result may be `null`, which is one; one that was too large to be kept is not recorded.
            let result = Some(event.get(GuardKey::Result.key()).unwrap_or_else(absent_node));
            let outcome = CallResult { result, error, status: Some(status), ..CallResult::default() };
            let (id, tool) = (text_of(event, GuardKey::Id), text_of(event, GuardKey::Tool));
            conversation.add_result(id, tool, outcome, &StepMeta { agent: None, ..meta }, node.origin);
        }
        GuardEvent::Message => {
            let role = event.field(GuardKey::Role).and_then(node_text).and_then(GuardRole::from_key);
            let speaker = match role {
                Some(GuardRole::Assistant) => Speaker::Assistant,
                Some(GuardRole::User) => Speaker::User,
                None => Speaker::System,
            };
            if let Some(text) = event.field(GuardKey::Text) {
                conversation.add_message(speaker, text, &meta, node.origin);
            }
        }
        GuardEvent::Stop | GuardEvent::Warned => conversation.note_time(meta.time),
    }
}
