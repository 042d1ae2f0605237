//! Cursor: the transcript that its agent writes of a conversation (a message a line, with `role` beside `message`). What calls gave
//! is not in it.

use super::block_session::{self, UserWords};
use super::blocks::{self, ContentBlock};
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::{ChatMessageKey, MessageRole};
use super::nodes::{items_of, node_object, node_text, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;

key_table! {
    CursorLineKey {
        Role = "role",
        Message = "message",
        Type = "type",
        Time = "timestamp",
        Status = "status",
        Error = "error",
    }
}

key_table! {
    CursorLineType {
        /// Ends a turn, and says nothing of what was done.
        Silent = "turn_ended",
    }
}

key_table! {
    CursorTurnEnd {
        Failed = "error",
    }
}

/// The words of the user stand between tags, beside what the editor adds.
const WORDS: UserWords<'static> = UserWords { tags: &["user_query"], are_last: true, untagged: Speaker::User };

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Cursor transcript",
    known_by: "lines with `role` beside a `message` with `content`, and no `type`",
    description: "transcripts of Cursor's agent (`agent-transcripts`, a message a line)",
    marks: &[CursorLineKey::Role.key()],
    item_marks: &[CursorLineKey::Role.key()],
    element: is_line,
    line: is_line,
    beside: |line| text_of(line, CursorLineKey::Type).and_then(CursorLineType::from_key).is_some(),
    read: read_run,
    ..IN_FULL
};

fn is_line(line: Object<'_>) -> bool {
    let role = text_of(line, CursorLineKey::Role).and_then(MessageRole::from_key);
    matches!(role, Some(MessageRole::User | MessageRole::Assistant))
        && line.field(CursorLineKey::Type).is_none()
        && object_of(line, CursorLineKey::Message).is_some_and(|message| {
            message.field(ChatMessageKey::Content).is_some() && message.field(ChatMessageKey::Role).is_none()
        })
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    let mut error = None;
    for node in items_of::<CursorLineKey>(root, &[]) {
        conversation.builder.count_record();
        match node_object(*node) {
            Some(line) if is_line(line) => read_line(&mut conversation, line),
            Some(line) if (FORMAT.beside)(line) => error = turn_error(line),
            _ => conversation.builder.skip_value(node, "what is no message with a `role` is skipped"),
        }
    }
    conversation.builder.set_some(of_run::ERROR, error);
    block_session::leave_results_open(conversation.finish_with_tools());
    Ok(())
}

/// Why a turn failed; one that the user ended did not.
fn turn_error(line: Object<'_>) -> Option<Node<'_>> {
    let failed = text_of(line, CursorLineKey::Status).and_then(CursorTurnEnd::from_key).is_some();
    value_of(line, CursorLineKey::Error).filter(|_| failed)
}

fn read_line<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, line: Object<'run>) {
    let role = text_of(line, CursorLineKey::Role).and_then(MessageRole::from_key);
    if role == Some(MessageRole::Assistant) {
        conversation.begin_turn();
    }
    let meta = StepMeta { time: line.field(CursorLineKey::Time), ..StepMeta::default() };
    let content = object_of(line, CursorLineKey::Message).and_then(|message| message.field(ChatMessageKey::Content));
    if let Some(content) = content {
        let speaker = Speaker::from_role(role);
        block_session::add_content(conversation, content, speaker, &WORDS, &meta, classify_block);
    }
}

/// What Cursor writes in place of what a model thought, in a text of its own or behind its words.
const LEFT_OUT: &str = "[REDACTED]";

fn classify_block(block: Object<'_>) -> ContentBlock<'_> {
    let ContentBlock::Says(words) = blocks::classify_block(block) else { return blocks::classify_block(block) };
    match node_text(words).and_then(|text| text.trim_end().strip_suffix(LEFT_OUT)).map(str::trim_end) {
        None => ContentBlock::Says(words),
        Some("") => ContentBlock::Silent,
        Some(said) => ContentBlock::Says(Node::new(Value::plain_text(said), words.origin)),
    }
}
