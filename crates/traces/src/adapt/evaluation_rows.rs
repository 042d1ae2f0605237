//! Rows of evaluations in Azure AI Foundry: a `query` and the `response` to it, as messages whose content holds the calls and their results.

use super::block_session::{self, UserWords};
use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::cutting::RunCutting;
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::{ChatMessageKey, MessageRole};
use super::nodes::{list_of, node_list, node_object, object_items, object_of, objects_of, text_of};
use super::run_builder::RunBuilder;
use super::{calls, messages};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    RowKey {
        /// The result of an evaluation writes the columns that were given with a prefix.
        Query = "query" | "inputs.query",
        Response = "response" | "inputs.response",
        Tools = "tool_definitions" | "inputs.tool_definitions",
        Calls = "tool_calls" | "inputs.tool_calls",
        /// A conversation of several turns, in the place of both.
        Conversation = "conversation" | "inputs.conversation",
        Messages = "messages",
        Rows = "rows",
        Time = "createdAt",
    }
}

key_table! {
    RowBlockKey {
        Type = "type",
        Call = "tool_call_id" | "id",
        Inner = "tool_call",
        Function = "function",
        Name = "name",
        Args = "arguments",
    }
}

key_table! {
    RowBlockType {
        Call = "tool_call",
        Result = "tool_result",
    }
}

key_table! {
    /// Tools of the service whose calls its converter leaves out of a row.
    SkippedTool {
        Any = "bing_custom_search" | "sharepoint_grounding" | "openapi",
    }
}

key_table! {
    RowMark {
        Any = "tool_definitions" | "inputs.query" | "inputs.response" | "rows" | "query" | "conversation"
            | "inputs.conversation",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "evaluation row",
    known_by: "`tool_definitions` with a `query` and a `response`, of which one is a list of messages, or with `tool_calls`; a `query` beside a `response` of messages; a `conversation` whose `messages` hold calls",
    description: "rows of evaluations in Azure AI Foundry (`query` and `response`, or `conversation`; `tool_definitions`)",
    marks: RowMark::Any.keys(),
    near: &[RowKey::Tools.key()],
    object: |object| is_row(object) || list_of(object, RowKey::Rows).is_some_and(|rows| objects_of(rows).any(is_row)),
    read: read_run,
    runs: &[RunCutting { within: &[], way: &[RowKey::Rows.keys()], by: &[], keeps: &[], joins: None }],
    ..IN_FULL
};

fn holds_messages(row: Object<'_>, side: RowKey) -> bool {
    let is = |message: Object<'_>| {
        text_of(message, ChatMessageKey::Role).is_some() && message.field(ChatMessageKey::Content).is_some()
    };
    list_of(row, side).is_some_and(|list| objects_of(list).any(is))
}

fn is_call(node: &Node<'_>) -> bool {
    let kind = node_object(*node).and_then(|block| text_of(block, RowBlockKey::Type));
    kind.and_then(RowBlockType::from_key) == Some(RowBlockType::Call)
}

/// Messages of a conversation, where definitions of tools stand beside it or it holds calls.
fn conversation_messages(row: Object<'_>) -> Option<&[Node<'_>]> {
    let conversation = object_of(row, RowKey::Conversation)?;
    let messages =
        list_of(conversation, RowKey::Messages).filter(|_| holds_messages(conversation, RowKey::Messages))?;
    let holds_calls = |message: Object<'_>| {
        list_of(message, ChatMessageKey::Content).is_some_and(|content| content.iter().any(is_call))
    };
    let tells_calls = value_of(row, RowKey::Tools).is_some() || objects_of(messages).any(holds_calls);
    tells_calls.then_some(messages)
}

/// Without definitions of tools both sides have to be there, and the answer has to be messages or to stand beside calls.
fn is_row(row: Object<'_>) -> bool {
    let has_tools = value_of(row, RowKey::Tools).is_some();
    let is_answer = holds_messages(row, RowKey::Response)
        || list_of(row, RowKey::Calls).is_some_and(|calls| calls.iter().any(is_call));
    conversation_messages(row).is_some()
        || row.field(RowKey::Response).is_some()
            && (has_tools || value_of(row, RowKey::Query).is_some())
            && (is_answer || has_tools && holds_messages(row, RowKey::Query))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(row) = node_object(root) else { return Ok(()) };
    // Each row of a result is a run.
    let first = list_of(row, RowKey::Rows).and_then(|rows| object_items(rows).next());
    let row = first.map_or(row, |(_, row)| row);
    if let Some(tools) = list_of(row, RowKey::Tools) {
        let is_skipped = |tool| text_of(tool, RowBlockKey::Type).and_then(SkippedTool::from_key).is_some();
        if let Some((node, _)) = object_items(tools).find(|(_, tool)| is_skipped(*tool)) {
            builder.note_unknown(node.origin, "rows do not tell of calls of this tool");
        }
        let tools = calls::tool_list(builder, tools);
        builder.set_entry(of_run::TOOLS, tools);
    }
    let mut conversation = ConversationBuilder::from_parts(builder);
    let meta = StepMeta::default();
    if let Some(messages) = conversation_messages(row) {
        messages.iter().for_each(|node| read_message(&mut conversation, *node));
        conversation.finish_run();
        return Ok(());
    }
    for (side, speaker) in [(RowKey::Query, Speaker::User), (RowKey::Response, Speaker::Assistant)] {
        let Some(value) = value_of(row, side) else { continue };
        match node_list(value).filter(|_| holds_messages(row, side)) {
            Some(list) => list.iter().for_each(|node| read_message(&mut conversation, *node)),
            None => conversation.add_content(speaker, value, &meta, value.origin),
        }
    }
    // An answer that is text tells no calls; a list of them beside it does, and may repeat those of messages.
    let listed = list_of(row, RowKey::Calls);
    for (node, block) in conversation.builder.record_objects(listed.unwrap_or_default()) {
        match classify_block(block, None) {
            ContentBlock::Calls(call) => {
                let id = call.id.and_then(super::nodes::node_text);
                if id.is_none_or(|id| conversation.find_call(id).is_none()) {
                    block_session::add_call(&mut conversation, node, call, &meta);
                }
            }
            _ => conversation.builder.skip_record(node.origin, blocks::UNKNOWN),
        }
    }
    if listed.is_none() && !holds_messages(row, RowKey::Response) {
        conversation.builder.mark_unrecorded(StepKind::Call);
    }
    conversation.finish_run();
    Ok(())
}

fn read_message<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>) {
    conversation.builder.count_record();
    let Some((message, content)) =
        node_object(node).and_then(|message| Some((message, value_of(message, ChatMessageKey::Content)?)))
    else {
        return conversation.builder.skip_value(node, "a message without `content` is skipped");
    };
    let role = conversation.builder.role_of(node, text_of(message, ChatMessageKey::Role));
    if role == Some(MessageRole::Assistant) {
        conversation.begin_turn();
    }
    let time = value_of(message, RowKey::Time).and_then(instant_node);
    let meta = StepMeta { time, ..StepMeta::default() };
    let id = text_of(message, ChatMessageKey::Answers);
    let holds_result = |block| matches!(classify_block(block, id), ContentBlock::Answers(_));
    let has_result = node_list(content).is_some_and(|blocks| objects_of(blocks).any(holds_result));
    if role == Some(MessageRole::Result) && !has_result {
        let answer =
            BlockResult { id, result: Some(content), status: Some(StepStatus::Unknown), ..BlockResult::default() };
        return block_session::add_result(conversation, node, &answer, None, &meta);
    }
    let classify = |block| classify_block(block, id);
    block_session::add_content(conversation, content, Speaker::from_role(role), &UserWords::PLAIN, &meta, classify);
    for (at, call) in conversation.builder.record_objects(list_of(message, ChatMessageKey::Calls).unwrap_or_default()) {
        let function = messages::called_function(call);
        let made = BlockCall {
            tool: value_of(function, RowBlockKey::Name),
            args: value_of(function, RowBlockKey::Args),
            id: value_of(call, RowBlockKey::Call),
            answer: None,
        };
        block_session::add_call(conversation, at, made, &meta);
    }
}

fn classify_block<'run>(block: Object<'run>, id: Option<&'run str>) -> ContentBlock<'run> {
    match text_of(block, RowBlockKey::Type).and_then(RowBlockType::from_key) {
        Some(RowBlockType::Call) => {
            let call = object_of(block, RowBlockKey::Inner).unwrap_or(block);
            let function = object_of(call, RowBlockKey::Function).unwrap_or(call);
            ContentBlock::Calls(BlockCall {
                tool: value_of(function, RowBlockKey::Name),
                args: value_of(function, RowBlockKey::Args),
                id: value_of(call, RowBlockKey::Call),
                answer: None,
            })
        }
        // The result stands under the word for its type.
        Some(RowBlockType::Result) => {
            match block.get(RowBlockType::Result.key()).filter(|result| !matches!(result.value, Value::Null)) {
                Some(result) => ContentBlock::Answers(BlockResult {
                    id: id.or(text_of(block, RowBlockKey::Call)),
                    result: Some(result),
                    is_value: true,
                    status: Some(StepStatus::Unknown),
                    ..BlockResult::default()
                }),
                None => blocks::classify_block(block),
            }
        }
        None => blocks::classify_block(block),
    }
}
