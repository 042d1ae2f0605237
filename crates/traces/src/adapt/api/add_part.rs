//! The parts of a conversation as steps of a run.

use super::{MessagePart, anthropic, responses};
use crate::adapt::conversation::{CallResult, ConversationBuilder, StepMeta};
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape};
use crate::adapt::messages::{self, ChatMessageKey};
use crate::adapt::nodes::{node_text, text_of};
use crate::adapt::{content, executed_tools, printed_messages};

pub(super) fn add_part<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, piece: &MessagePart<'run>) {
    let about = StepMeta::default();
    match *piece {
        MessagePart::Turn => talk.note_input(),
        MessagePart::Speech(speaker, words) => talk.add_message(speaker, words, &about, words.origin),
        MessagePart::Block(node, block) => anthropic::add_block(talk, node, block, &about),
        MessagePart::Call(node, call) => _ = talk.add_call(messages::tool_call(node, call), &about),
        MessagePart::Result(node, message) => {
            let content = message
                .field(ChatMessageKey::Content)
                .filter(|content| !NodeShapes.has_shape(*content, ValueShape::Null));
            let printed = content
                .and_then(|content| printed_messages::parse_printed(content, talk.draft.arena, talk.draft.limits));
            let result = content.map(|content| content::content_text(content, talk.draft.arena).unwrap_or(content));
            let result = printed.map(|printed| printed.result).or(result);
            let status = printed.and_then(|printed| printed.status);
            let outcome = CallResult { result, status, ..CallResult::default() };
            let tool = messages::answered_tool(&message, &NodeShapes).and_then(node_text);
            let id = text_of(message, ChatMessageKey::Answers).or(printed.and_then(|printed| node_text(printed.id)));
            let tool = tool.or(printed.and_then(|printed| printed.tool));
            talk.add_result(id, tool, outcome, &about, node.origin);
        }
        MessagePart::Item(node, item) => responses::add_item(talk, node, item, &about),
        MessagePart::Executed(node, tool) => executed_tools::add_executed(talk, node, tool, &about),
        MessagePart::Hosted(node, item) => talk.within_message(|talk| responses::add_item(talk, node, item, &about)),
    }
}
