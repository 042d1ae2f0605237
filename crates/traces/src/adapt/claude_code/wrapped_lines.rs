//! Lines of a session that a program put into an object of its own.

use super::{ClaudeExportKey, ClaudeKey, ClaudeLineType, is_line};
use crate::adapt::fields::{FieldRecord as _, key_table};
use crate::adapt::messages::ChatMessageKey;
use crate::adapt::nodes::{node_list, node_object, object_of, text_of};
use averment_base::value::{Node, Value};
use bumpalo::Bump;

key_table! {
    FrameKey {
        /// Where a line went, in a frame around it.
        Direction = "direction",
    }
}

/// The lines of a session that a program put under `messages`, some without what else lines have, or each in a frame.
pub(in crate::adapt) fn lines_under_messages<'run>(root: Node<'run>, arena: &'run Bump) -> Option<Node<'run>> {
    let lines = node_object(root)?.field(ClaudeExportKey::Messages)?;
    let framed = |frame: &Node<'run>| {
        let frame = node_object(*frame)?;
        frame.field(FrameKey::Direction)?;
        let line = frame.field(ClaudeKey::Message)?;
        node_object(line).and_then(|line| line.field(ClaudeKey::Type)).map(|_| line)
    };
    let framed: Option<Vec<_>> = node_list(lines)?.iter().map(framed).collect();
    if let Some(framed) = framed.filter(|lines| lines.iter().filter_map(|line| node_object(*line)).any(is_line)) {
        return Some(Node::new(Value::List(arena.alloc_slice_copy(&framed)), lines.origin));
    }
    let is_spoken = |line: &Node<'run>| {
        node_object(*line).is_some_and(|line| {
            text_of(line, ClaudeKey::Type).and_then(ClaudeLineType::from_key) == Some(ClaudeLineType::Spoken)
                && text_of(line, ChatMessageKey::Role).is_none()
                && object_of(line, ClaudeKey::Message)
                    .is_some_and(|message| text_of(message, ChatMessageKey::Role).is_some())
        })
    };
    node_list(lines)?.first().is_some_and(is_spoken).then_some(lines)
}
