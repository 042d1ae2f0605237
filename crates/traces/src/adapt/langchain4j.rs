//! LangChain4j: chat messages as its serializer writes them. The type of a message says who speaks.

use super::blocks::{BlockCall, BlockResult, ContentBlock};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::listed_messages::{ListedMessage, listed_calls, read_messages};
use super::messages::MessageRole;
use super::nodes::{list_of, node_list, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::run::StepStatus;

key_table! {
    LangChain4jKey {
        Type = "type",
        Text = "text",
        Contents = "contents",
        Thought = "thinking",
        Calls = "toolExecutionRequests",
        Id = "id",
        Name = "name",
        Arguments = "arguments",
        Tool = "toolName",
        Failed = "isError",
        Custom = "attributes",
    }
}

key_table! {
    LangChain4jType {
        System = "SYSTEM",
        User = "USER",
        Assistant = "AI",
        Result = "TOOL_EXECUTION_RESULT",
        /// What a message of one's own making says nobody knows.
        Custom = "CUSTOM",
    }
}

key_table! {
    LangChain4jPart {
        Text = "TEXT",
        Silent = "IMAGE" | "AUDIO" | "VIDEO" | "PDF",
    }
}

key_table! {
    LangChain4jMark {
        Any = "toolExecutionRequests" | "contents" | "toolName",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "LangChain4j messages",
    known_by: "messages whose `type` is `USER`, `AI`, `SYSTEM` or `TOOL_EXECUTION_RESULT`",
    description: "chat messages of LangChain4j (a list, or one a line)",
    marks: &[LangChain4jKey::Calls.key()],
    near: &[],
    object: is_message,
    item_marks: LangChain4jMark::Any.keys(),
    element: is_message,
    line: is_message,
    record_ids: RecordIds::of_call(&[
        &[LangChain4jKey::Calls.key(), LangChain4jKey::Id.key()],
        &[LangChain4jKey::Id.key()],
    ]),
    read: read_run,
    ..IN_FULL
};

fn type_of(message: Object<'_>) -> Option<LangChain4jType> {
    LangChain4jType::from_key(text_of(message, LangChain4jKey::Type)?)
}

fn is_message(message: Object<'_>) -> bool {
    type_of(message).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let items = node_list(*root).unwrap_or(std::slice::from_ref(root));
    read_messages(items, builder, view_message, classify_part).finish_run();
    Ok(())
}

fn view_message(message: Object<'_>) -> Option<ListedMessage<'_>> {
    let kind = type_of(message)?;
    if kind == LangChain4jType::Result {
        let failed = is_true(&message, &NodeShapes, LangChain4jKey::Failed);
        // Older versions do not say whether it failed.
        let told = value_of(message, LangChain4jKey::Failed);
        let answer = BlockResult {
            id: text_of(message, LangChain4jKey::Id),
            result: value_of(message, LangChain4jKey::Text).or_else(|| value_of(message, LangChain4jKey::Contents)),
            failed,
            status: told.is_none().then_some(StepStatus::Unknown),
            ..BlockResult::default()
        };
        let tool = text_of(message, LangChain4jKey::Tool);
        return Some(ListedMessage {
            role: Some(MessageRole::Result),
            result: Some(answer),
            tool,
            ..Default::default()
        });
    }
    let role = match kind {
        LangChain4jType::User => Some(MessageRole::User),
        LangChain4jType::Assistant => Some(MessageRole::Assistant),
        LangChain4jType::System | LangChain4jType::Result => Some(MessageRole::Other),
        LangChain4jType::Custom => None,
    };
    let said = [LangChain4jKey::Text, LangChain4jKey::Contents].map(|key| value_of(message, key));
    let calls = listed_calls(list_of(message, LangChain4jKey::Calls), call_of);
    Some(ListedMessage { role, contents: said.into_iter().flatten().collect(), calls, ..Default::default() })
}

fn call_of(call: Object<'_>) -> BlockCall<'_> {
    let [tool, args, id] =
        [LangChain4jKey::Name, LangChain4jKey::Arguments, LangChain4jKey::Id].map(|key| value_of(call, key));
    BlockCall { tool, args, id, answer: None }
}

fn classify_part(part: Object<'_>) -> ContentBlock<'_> {
    match text_of(part, LangChain4jKey::Type).and_then(LangChain4jPart::from_key) {
        Some(LangChain4jPart::Text) => {
            part.field(LangChain4jKey::Text).map_or(ContentBlock::Silent, ContentBlock::Says)
        }
        Some(LangChain4jPart::Silent) => ContentBlock::Silent,
        None => ContentBlock::Unknown,
    }
}
