//! Strands Agents: the messages of a session as its manager keeps them, a file each. The blocks are those of Bedrock.

use super::blocks;
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::listed_messages::{ListedMessage, read_messages};
use super::messages::MessageRole;
use super::nodes::{list_of, node_list, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};

key_table! {
    StrandsKey {
        Message = "message",
        Number = "message_id",
        Redacted = "redact_message",
        Role = "role",
        Content = "content",
        Time = "created_at",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Strands session messages",
    known_by: "`message_id` and `redact_message` or `created_at` beside a `message` with blocks",
    description: "messages of Strands Agents' sessions (a list, or one behind the other)",
    marks: &[StrandsKey::Number.key()],
    near: &[],
    object: is_record,
    item_marks: &[StrandsKey::Number.key()],
    element: is_record,
    line: is_record,
    record_ids: RecordIds::shared(&[&[StrandsKey::Time.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_record(record: Object<'_>) -> bool {
    let message = object_of(record, StrandsKey::Message);
    record.field(StrandsKey::Number).is_some()
        && record.field(StrandsKey::Time).is_some()
        && message.is_some_and(|message| {
            text_of(message, StrandsKey::Role).is_some() && list_of(message, StrandsKey::Content).is_some()
        })
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let items = node_list(*root).unwrap_or(std::slice::from_ref(root));
    read_messages(items, builder, view_record, blocks::classify_block).finish_run();
    Ok(())
}

/// What a guardrail put in the place of a message is what the model was told.
fn view_record(record: Object<'_>) -> Option<ListedMessage<'_>> {
    let message = object_of(record, StrandsKey::Redacted).or_else(|| object_of(record, StrandsKey::Message))?;
    Some(ListedMessage {
        role: text_of(message, StrandsKey::Role).and_then(MessageRole::from_key),
        contents: vec![value_of(message, StrandsKey::Content)?],
        time: value_of(record, StrandsKey::Time),
        ..ListedMessage::default()
    })
}
