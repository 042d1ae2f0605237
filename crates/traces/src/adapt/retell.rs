//! Retell: the transcript of a call by voice with the calls of tools in it.

use super::blocks::{BlockCall, BlockResult, ContentBlock};
use super::fields::{NodeShapes, ShapeReader as _, ValueShape, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::listed_messages::{ListedMessage, read_messages};
use super::messages::MessageRole;
use super::nodes::{list_of, node_object, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;

key_table! {
    RetellKey {
        Transcript = "transcript_with_tool_calls",
        Id = "call_id",
        Role = "role",
        Content = "content",
        Call = "tool_call_id",
        Name = "name",
        Arguments = "arguments",
        Successful = "successful",
    }
}

key_table! {
    RetellRole {
        Assistant = "agent" | "transfer_target",
        User = "user",
        Call = "tool_call_invocation",
        Result = "tool_call_result",
        /// The way through the conversation, and keys that were pressed.
        Silent = "node_transition" | "dtmf",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Retell call",
    known_by: "`transcript_with_tool_calls`",
    description: "calls of Retell (`transcript_with_tool_calls`)",
    marks: &[RetellKey::Transcript.key()],
    object: |object| list_of(object, RetellKey::Transcript).is_some(),
    read: read_run,
    ..IN_FULL
};

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(run) = node_object(root) else { return Ok(()) };
    builder.set_some(of_run::ID, value_of(run, RetellKey::Id));
    let items = list_of(run, RetellKey::Transcript).unwrap_or_default();
    read_messages(items, builder, |message| view_message(message), |_| ContentBlock::Unknown).finish_run();
    Ok(())
}

fn view_message<'run>(message: Object<'run>) -> Option<ListedMessage<'run>> {
    let role = RetellRole::from_key(text_of(message, RetellKey::Role)?);
    let content = value_of(message, RetellKey::Content);
    let mut view = ListedMessage { tool: text_of(message, RetellKey::Name), ..ListedMessage::default() };
    match role {
        Some(RetellRole::Call) => {
            let [tool, args, id] =
                [RetellKey::Name, RetellKey::Arguments, RetellKey::Call].map(|key| value_of(message, key));
            let node = tool.or(id)?;
            view.calls.push((node, BlockCall { tool, args, id, answer: None }));
        }
        Some(RetellRole::Result) => {
            let told = value_of(message, RetellKey::Successful);
            let is = |shape| told.is_some_and(|told: Node<'run>| NodeShapes.has_shape(told, shape));
            let status = match (is(ValueShape::True), is(ValueShape::False)) {
                (true, _) => StepStatus::Ok,
                (_, true) => StepStatus::Failed,
                _ => StepStatus::Unknown,
            };
            view.result = Some(BlockResult {
                id: text_of(message, RetellKey::Call),
                result: content,
                is_value: true,
                failed: status == StepStatus::Failed,
                status: Some(status),
            });
        }
        Some(RetellRole::Assistant | RetellRole::User) => view.contents.extend(content),
        Some(RetellRole::Silent) | None => {}
    }
    view.role = role.map(|role| match role {
        RetellRole::Assistant | RetellRole::Call => MessageRole::Assistant,
        RetellRole::User => MessageRole::User,
        RetellRole::Result => MessageRole::Result,
        RetellRole::Silent => MessageRole::Other,
    });
    Some(view)
}
