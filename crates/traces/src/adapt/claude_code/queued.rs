//! What the user wrote while the agent was working: the program hands it on with the next result, and no line of the user repeats it.

use super::{ClaudeKey, ClaudeReader, LineMeta};
use crate::adapt::content;
use crate::adapt::fields::{FieldRecord, key_table};
use crate::adapt::messages::MessageRole;
use crate::adapt::nodes::{object_of, text_of};
use averment_base::value::Object;
use averment_runs::normal::role;

key_table! {
    QueuedKey {
        Type = "type",
        Words = "prompt",
        Mode = "commandMode",
        Origin = "origin",
        Kind = "kind",
    }
}

key_table! {
    QueuedType {
        Command = "queued_command",
    }
}

key_table! {
    /// Who wrote it: the program hands on what background tasks tell in the same way.
    QueuedWord {
        Person = "prompt" | "human",
    }
}

/// Whether somebody else than the user sent what stands in a line or an attachment: another session, a task, a server.
pub(super) fn is_of_others(record: Object<'_>) -> bool {
    let kind = object_of(record, QueuedKey::Origin).and_then(|origin| text_of(origin, QueuedKey::Kind));
    kind.is_some_and(|kind| QueuedWord::from_key(kind).is_none())
}

pub(super) fn read_line<'run>(reader: &mut ClaudeReader<'_, 'run, '_>, line: Object<'run>) {
    let Some(queued) = object_of(line, ClaudeKey::Attachment) else { return };
    if text_of(queued, QueuedKey::Type).and_then(QueuedType::from_key).is_none() {
        return;
    }
    let words = queued.field(QueuedKey::Words).and_then(|words| content::content_text(words, reader.builder.arena));
    let mode = text_of(queued, QueuedKey::Mode);
    let of_program = mode.is_some_and(|mode| QueuedWord::from_key(mode).is_none()) || is_of_others(queued);
    let speaker = of_program.then_some(role::SYSTEM);
    if let Some(words) = words {
        reader.close_text();
        let time = line.field(ClaudeKey::Time);
        let meta = LineMeta { turn: reader.turn + 1, time, speaker, ..LineMeta::default() };
        reader.say_text(words, Some(MessageRole::User), &meta, words.origin);
    }
}
