//! Vapi: the messages of a call by voice. Times are milliseconds since 1970.

use super::blocks::{BlockCall, BlockResult, ContentBlock};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::listed_messages::{ListedMessage, listed_calls, read_messages};
use super::messages::MessageRole;
use super::nodes::{list_of, node_object, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;

key_table! {
    VapiKey {
        /// What the service keeps of a call, and the call itself.
        Artifact = "artifact",
        Messages = "messages",
        Id = "id",
        Role = "role",
        Words = "message",
        Seconds = "secondsFromStart",
        Time = "time",
        Calls = "toolCalls" | "toolCallList",
        Function = "function",
        Name = "name",
        Arguments = "arguments",
        Result = "result",
        Call = "toolCallId",
    }
}

key_table! {
    VapiRole {
        Assistant = "bot" | "assistant",
        User = "user",
        Calls = "tool_calls" | "tool-calls",
        Result = "tool_call_result",
        System = "system",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Vapi call",
    known_by: "`messages` with `role`, `message` or `toolCalls`, and `secondsFromStart`",
    description: "calls of Vapi (`messages` with `secondsFromStart`)",
    marks: &[VapiKey::Messages.key(), VapiKey::Artifact.key()],
    near: &[],
    object: |object| object_items(messages_of(object)).any(|(_, one)| is_message(one)),
    item_marks: &[VapiKey::Seconds.key()],
    element: is_message,
    line: is_message,
    read: read_run,
    ..IN_FULL
};

fn messages_of(run: Object<'_>) -> &[Node<'_>] {
    let kept = object_of(run, VapiKey::Artifact).and_then(|kept| list_of(kept, VapiKey::Messages));
    list_of(run, VapiKey::Messages).or(kept).unwrap_or_default()
}

fn is_message(message: Object<'_>) -> bool {
    text_of(message, VapiKey::Role).is_some() && message.field(VapiKey::Seconds).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let run = node_object(*root);
    builder.set_some(of_run::ID, run.and_then(|run| value_of(run, VapiKey::Id)));
    let items = super::nodes::node_list(*root).or_else(|| run.map(messages_of)).unwrap_or_default();
    read_messages(items, builder, view_message, |_| ContentBlock::Unknown).finish_run();
    Ok(())
}

fn view_message(message: Object<'_>) -> Option<ListedMessage<'_>> {
    let role = VapiRole::from_key(text_of(message, VapiKey::Role)?);
    let calls = listed_calls(list_of(message, VapiKey::Calls), call_of);
    let answer = BlockResult {
        id: text_of(message, VapiKey::Call),
        result: value_of(message, VapiKey::Result),
        is_value: true,
        status: Some(StepStatus::Unknown),
        ..BlockResult::default()
    };
    Some(ListedMessage {
        role: role.map(|role| match role {
            VapiRole::Assistant | VapiRole::Calls => MessageRole::Assistant,
            VapiRole::User => MessageRole::User,
            VapiRole::Result => MessageRole::Result,
            VapiRole::System => MessageRole::Other,
        }),
        contents: value_of(message, VapiKey::Words).filter(|_| role != Some(VapiRole::Calls)).into_iter().collect(),
        calls,
        result: Some(answer).filter(|_| role == Some(VapiRole::Result)),
        tool: text_of(message, VapiKey::Name),
        time: value_of(message, VapiKey::Time),
        agent: None,
    })
}

fn call_of(call: Object<'_>) -> BlockCall<'_> {
    let function = object_of(call, VapiKey::Function).unwrap_or(call);
    let [tool, args] = [VapiKey::Name, VapiKey::Arguments].map(|key| value_of(function, key));
    BlockCall { tool, args, id: value_of(call, VapiKey::Id), answer: None }
}
