//! LlamaIndex: chat messages with `blocks`. Calls are blocks, or stand in what a provider adds to a message.

use super::blocks::{BlockCall, BlockResult, ContentBlock};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::listed_messages::{ListedMessage, listed_calls, read_messages};
use super::messages::MessageRole;
use super::nodes::{items_of, list_of, node_object, object_items, object_of, objects_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::run::StepStatus;

key_table! {
    LlamaKey {
        /// A memory stores its messages under another name.
        Messages = "messages" | "chat_history",
        Role = "role",
        Blocks = "blocks",
        Content = "content",
        More = "additional_kwargs",
        Calls = "tool_calls",
        Of = "tool_call_id",
    }
}

key_table! {
    LlamaBlockKey {
        Type = "block_type",
        Text = "text",
        Content = "content",
        Id = "tool_call_id" | "id",
        Name = "tool_name" | "name",
        Args = "tool_kwargs" | "arguments",
        Function = "function",
    }
}

key_table! {
    LlamaBlock {
        Text = "text",
        Thought = "thinking",
        Call = "tool_call",
        Silent = "image" | "audio" | "video" | "document" | "cache" | "citable" | "citation",
    }
}

key_table! {
    LlamaRole {
        Assistant = "assistant" | "chatbot" | "model",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "LlamaIndex messages",
    known_by: "messages with `role`, `additional_kwargs` and `blocks` that have a `block_type`, or calls among the former",
    description: "chat messages of LlamaIndex (`role`, `blocks`; a list, one a line, `messages`)",
    marks: &[LlamaKey::Messages.key(), LlamaKey::Blocks.key()],
    near: &[],
    object: |object| {
        is_message(object) || objects_of(list_of(object, LlamaKey::Messages).unwrap_or_default()).any(is_message)
    },
    item_marks: &[LlamaKey::Blocks.key(), LlamaKey::More.key()],
    element: is_message,
    line: is_message,
    record_ids: RecordIds::of_call(&[
        &[LlamaKey::Blocks.key(), LlamaBlockKey::Id.key()],
        &[LlamaKey::More.key(), LlamaKey::Of.key()],
        &[LlamaKey::More.key(), LlamaKey::Calls.key(), LlamaBlockKey::Id.last_key()],
    ]),
    read: read_run,
    ..IN_FULL
};

fn is_message(message: Object<'_>) -> bool {
    let is_block = |block: Object<'_>| text_of(block, LlamaBlockKey::Type).is_some();
    text_of(message, LlamaKey::Role).is_some()
        && message.field(LlamaKey::More).is_some()
        && match list_of(message, LlamaKey::Blocks) {
            Some(blocks) => blocks.is_empty() || objects_of(blocks).any(is_block),
            // Older versions have no blocks.
            None => object_of(message, LlamaKey::More)
                .is_some_and(|more| list_of(more, LlamaKey::Calls).is_some() || text_of(more, LlamaKey::Of).is_some()),
        }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    read_messages(items_of(root, &[LlamaKey::Messages]), builder, view_message, classify_block).finish_run();
    Ok(())
}

pub(super) fn view_message(message: Object<'_>) -> Option<ListedMessage<'_>> {
    let word = text_of(message, LlamaKey::Role)?;
    let role = LlamaRole::from_key(word).map_or_else(|| MessageRole::from_key(word), |_| Some(MessageRole::Assistant));
    let more = object_of(message, LlamaKey::More);
    let content = value_of(message, LlamaKey::Blocks).or_else(|| value_of(message, LlamaKey::Content));
    if role == Some(MessageRole::Result) {
        let answer = BlockResult {
            id: more.and_then(|more| text_of(more, LlamaKey::Of)),
            result: content.map(only_text),
            status: Some(StepStatus::Unknown),
            ..BlockResult::default()
        };
        let tool = more.and_then(|more| text_of(more, LlamaBlockKey::Name));
        return Some(ListedMessage { role, result: Some(answer), tool, ..Default::default() });
    }
    // A provider's own calls repeat those of the blocks.
    let blocks = object_items(list_of(message, LlamaKey::Blocks).unwrap_or_default());
    let has_calls = blocks.into_iter().any(|(_, block)| block_of(block) == Some(LlamaBlock::Call));
    let calls = listed_calls(more.and_then(|more| list_of(more, LlamaKey::Calls)).filter(|_| !has_calls), call_of);
    Some(ListedMessage { role, contents: content.into_iter().collect(), calls, ..Default::default() })
}

/// A result is a list of blocks, nearly always of one text.
pub(super) fn only_text(content: Node<'_>) -> Node<'_> {
    let blocks = super::nodes::node_list(content).unwrap_or_default();
    match blocks {
        [only] => node_object(*only).and_then(|block| value_of(block, LlamaBlockKey::Text)).unwrap_or(content),
        _ => content,
    }
}

fn block_of(block: Object<'_>) -> Option<LlamaBlock> {
    LlamaBlock::from_key(text_of(block, LlamaBlockKey::Type)?)
}

fn call_of(call: Object<'_>) -> BlockCall<'_> {
    let function = object_of(call, LlamaBlockKey::Function).unwrap_or(call);
    let [tool, args] = [LlamaBlockKey::Name, LlamaBlockKey::Args].map(|key| value_of(function, key));
    BlockCall { tool, args, id: value_of(call, LlamaBlockKey::Id), answer: None }
}

pub(super) fn classify_block(block: Object<'_>) -> ContentBlock<'_> {
    match block_of(block) {
        Some(LlamaBlock::Text) => block.field(LlamaBlockKey::Text).map_or(ContentBlock::Silent, ContentBlock::Says),
        Some(LlamaBlock::Thought) => {
            value_of(block, LlamaBlockKey::Content).map_or(ContentBlock::Silent, ContentBlock::Thinks)
        }
        Some(LlamaBlock::Call) => ContentBlock::Calls(call_of(block)),
        Some(LlamaBlock::Silent) => ContentBlock::Silent,
        None => ContentBlock::Unknown,
    }
}
