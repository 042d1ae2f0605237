//! Messages as Mastra stores them (version 2): the parts stand in the content, with the calls that they hold.

use super::block_session::{self, UserWords};
use super::blocks;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{items_of, list_of, node_object, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};

key_table! {
    MastraKey {
        Messages = "messages",
        Role = "role",
        Content = "content",
        Version = "format",
        Parts = "parts",
        Time = "createdAt",
        Thread = "threadId",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Mastra messages",
    known_by: "messages whose `content` has a `format` and `parts`",
    description: "messages that Mastra stores (a list, one a line, `messages`)",
    marks: &[MastraKey::Messages.key(), MastraKey::Thread.key()],
    near: &[MastraKey::Thread.key()],
    object: |object| {
        is_message(object)
            || object_items(list_of(object, MastraKey::Messages).unwrap_or_default()).any(|(_, one)| is_message(one))
    },
    item_marks: &[MastraKey::Content.key()],
    element: is_message,
    line: is_message,
    read: read_run,
    ..IN_FULL
};

fn is_message(message: Object<'_>) -> bool {
    text_of(message, MastraKey::Role).is_some()
        && object_of(message, MastraKey::Content).is_some_and(|content| {
            content.field(MastraKey::Version).is_some() && list_of(content, MastraKey::Parts).is_some()
        })
}

fn read_run<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = draft.arena.alloc(root);
    let mut talk = ConversationBuilder::from_parts(draft);
    for node in items_of(root, &[MastraKey::Messages]) {
        talk.draft.count_record();
        let message = node_object(*node);
        let parts = message
            .and_then(|message| object_of(message, MastraKey::Content))
            .and_then(|content| value_of(content, MastraKey::Parts));
        let (Some(message), Some(parts)) = (message, parts) else {
            talk.draft.skip_value(node, "a message without parts is passed over");
            continue;
        };
        let role = talk.draft.role_of(*node, text_of(message, MastraKey::Role));
        let speaker = Speaker::from_role(role);
        if role == Some(MessageRole::Assistant) {
            talk.begin_turn();
        }
        let time = value_of(message, MastraKey::Time).and_then(instant_node);
        let about = StepMeta { time, ..StepMeta::default() };
        block_session::add_content(&mut talk, parts, speaker, &UserWords::PLAIN, &about, blocks::classify_block);
    }
    talk.finish_run();
    Ok(())
}
