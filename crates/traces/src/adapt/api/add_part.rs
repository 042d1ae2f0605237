//! The parts of a conversation as steps of a run.

use super::{MessagePart, anthropic, responses};
use crate::adapt::conversation::{CallResult, ConversationBuilder, StepMeta, ToolCall};
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape};
use crate::adapt::messages::{self, ChatMessageKey};
use crate::adapt::nodes::{node_text, text_of};
use crate::adapt::{content, executed_tools, printed_messages};

pub(super) fn add_part<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, piece: &MessagePart<'run>) {
    let meta = StepMeta::default();
    match *piece {
        MessagePart::Turn => conversation.note_input(),
        MessagePart::Speech(speaker, words) => conversation.add_message(speaker, words, &meta, words.origin),
        MessagePart::Block(node, block) => anthropic::add_block(conversation, node, block, &meta),
        MessagePart::Call(node, call) => _ = conversation.add_call(ToolCall::of_message(node, call), &meta),
        MessagePart::Result(node, message) => {
            let content = message
                .field(ChatMessageKey::Content)
                .filter(|content| !NodeShapes.has_shape(*content, ValueShape::Null));
            let printed = content.and_then(|content| {
                printed_messages::parse_printed(content, conversation.builder.arena, conversation.builder.limits)
            });
            let result =
                content.map(|content| content::content_text(content, conversation.builder.arena).unwrap_or(content));
            let result = printed.map(|printed| printed.result).or(result);
            let status = printed.and_then(|printed| printed.status);
            let outcome = CallResult { result, status, ..CallResult::default() };
            let tool = messages::answered_tool(&message, &NodeShapes).and_then(node_text);
            let id = text_of(message, ChatMessageKey::Answers).or(printed.and_then(|printed| node_text(printed.id)));
            let tool = tool.or(printed.and_then(|printed| printed.tool));
            conversation.add_result(id, tool, outcome, &meta, node.origin);
        }
        MessagePart::Item(node, item) => responses::add_item(conversation, node, item, &meta),
        MessagePart::Executed(node, tool) => executed_tools::add_executed(conversation, node, tool, &meta),
        MessagePart::Hosted(node, item) => {
            conversation.within_message(|conversation| responses::add_item(conversation, node, item, &meta))
        }
    }
}
