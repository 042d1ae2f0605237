//! The messages of the Claude Agent SDK for Python as their fields alone (`dataclasses.asdict`): nothing names their types, which follow from
//! the fields. Each becomes the line of a session that it is.

use super::{ClaudeKey, ClaudeLineType, session};
use crate::adapt::fields::{FieldRecord as _, key_table};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::messages::{BlockKey, BlockType, ChatMessageKey};
use crate::adapt::nodes::{items_of, list_of, node_list, node_object, object_items};
use crate::adapt::repeated_records::RecordIds;
use crate::adapt::run_builder::{RunBuilder, field_entry};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::role;

key_table! {
    SdkObjectKey {
        Content = "content",
        Model = "model",
        Subtype = "subtype",
        Data = "data",
        Turns = "num_turns",
        Event = "event",
        /// What other formats call a message by.
        Named = "type" | "role" | "kind",
    }
}

pub(in crate::adapt) const FORMAT: TraceFormat = TraceFormat {
    name: "Claude Agent SDK messages",
    known_by: "a list of `content` blocks with `id`, `name` and `input`, or `tool_use_id`, without `type` and `role`",
    description: "messages of the Claude Agent SDK for Python, as their fields (a list, one a line)",
    marks: &[SdkObjectKey::Turns.key()],
    item_marks: &[SdkObjectKey::Content.key(), SdkObjectKey::Turns.key()],
    element: is_sure,
    line: is_sure,
    beside: |message| type_of(message).is_some(),
    record_ids: RecordIds::OWN_READER,
    read: read_run,
    ..IN_FULL
};

fn has(object: Object<'_>, key: SdkObjectKey) -> bool {
    key.keys().iter().any(|key| object.get(key).is_some())
}

/// The type of a block, by its fields.
fn block_type(block: Object<'_>) -> Option<BlockType> {
    let has = |key: BlockKey| block.field(key).is_some();
    if has(BlockKey::Type) {
        None
    } else if has(BlockKey::Answers) {
        Some(BlockType::Result)
    } else if has(BlockKey::Id) && has(BlockKey::Name) && has(BlockKey::Input) {
        Some(BlockType::Call)
    } else if has(BlockKey::Thinking) {
        Some(BlockType::Thinking)
    } else {
        Some(BlockType::Text).filter(|_| has(BlockKey::Text))
    }
}

/// The type of the line that a message becomes, by its fields.
fn type_of(message: Object<'_>) -> Option<&'static str> {
    if has(message, SdkObjectKey::Named) {
        return None;
    }
    match (has(message, SdkObjectKey::Content), has(message, SdkObjectKey::Subtype)) {
        (true, _) if has(message, SdkObjectKey::Model) => Some(role::ASSISTANT),
        (true, _) => Some(role::USER),
        (false, true) if has(message, SdkObjectKey::Turns) => Some(ClaudeLineType::Result.key()),
        (false, true) => Some(ClaudeLineType::System.key()).filter(|_| has(message, SdkObjectKey::Data)),
        (false, false) => Some(ClaudeLineType::Silent.key()).filter(|_| has(message, SdkObjectKey::Event)),
    }
}

/// A message that no other format has: with a call or a result.
fn is_sure(message: Object<'_>) -> bool {
    let blocks = list_of(message, SdkObjectKey::Content).unwrap_or_default();
    let is_of_tool = |block| matches!(block_type(block), Some(BlockType::Call | BlockType::Result));
    type_of(message).is_some() && object_items(blocks).any(|(_, block)| is_of_tool(block))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    let items = items_of::<SdkObjectKey>(root, &[]);
    let lines: Vec<_> = items.iter().map(|node| session_line(*node, builder).unwrap_or(*node)).collect();
    session::read_session(&lines, builder);
    Ok(())
}

fn session_line<'run>(node: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let message = node_object(node)?;
    let kind = type_of(message)?;
    let object = |entries: &[ObjectEntry<'run>]| Node::new(builder.object_node(entries).value, node.origin);
    let word = field_entry(ClaudeKey::Type.key(), Node::computed(Value::plain_text(kind)));
    let is_content = |entry: &&ObjectEntry<'run>| entry.key == SdkObjectKey::Content.key();
    let mut entries: Vec<ObjectEntry<'run>> = vec![word];
    entries.extend(message.entries().iter().filter(|entry| !is_content(entry)));
    if [role::ASSISTANT, role::USER].contains(&kind) {
        let inner = message.entries().iter().map(|entry| match is_content(&entry) {
            true => field_entry(ChatMessageKey::Content.key(), typed_blocks(entry.node, builder)),
            false => *entry,
        });
        entries.push(field_entry(ClaudeKey::Message.key(), object(&inner.collect::<Vec<_>>())));
    }
    Some(object(&entries))
}

fn typed_blocks<'run>(content: Node<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    let Some(blocks) = node_list(content) else { return content };
    let typed = blocks.iter().map(|node| {
        let known = node_object(*node).and_then(|block| Some((block, block_type(block)?)));
        let Some((block, kind)) = known else { return *node };
        let word = field_entry(BlockKey::Type.key(), Node::computed(Value::plain_text(kind.key())));
        let entries: Vec<_> = std::iter::once(word).chain(block.entries().iter().copied()).collect();
        Node::new(builder.object_node(&entries).value, node.origin)
    });
    Node::new(builder.list_node(&typed.collect::<Vec<_>>()).value, content.origin)
}
