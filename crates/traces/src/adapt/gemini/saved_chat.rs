//! Gemini CLI: a chat that was saved (`/chat save`), which is the conversation with the model as its API has it. Older versions save the
//! list alone, which programs on the API write down, too: what a tool of that name did there nobody knows.

use crate::adapt::adk::{AdkPartKey, is_part_key, is_plain_text, server_tools};
use crate::adapt::blocks;
use crate::adapt::content;
use crate::adapt::conversation::{ConversationBuilder, Speaker, StepMeta};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::nodes::{items_of, list_of, node_object, objects_of, text_of};
use crate::adapt::qwen_code;
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::{Node, Object, ObjectEntry};

key_table! {
    SavedChatKey {
        History = "history",
        Role = "role",
    }
}

key_table! {
    SavedRole {
        User = "user",
        Model = "model",
        /// Holds results.
        Program = "function" | "tool",
    }
}

/// How the program begins what it says of itself and of the folder, in the name of the user.
const SURROUNDINGS: [&str; 2] = ["This is the Gemini CLI.", "<session_context>"];

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Gemini CLI saved chat",
    known_by: "a `history` of contents with a `role` and `parts`, or such contents alone",
    description: "chats that Gemini CLI saved (`/chat save`), and lists of contents of Gemini's API",
    marks: &[SavedChatKey::History.key()],
    object: |object| {
        list_of(object, SavedChatKey::History).is_some_and(|history| {
            !history.is_empty() && history.iter().all(|content| node_object(*content).is_some_and(is_content))
        })
    },
    item_marks: &[AdkPartKey::Parts.key()],
    element: is_content,
    read: read_run,
    ..IN_FULL
};

/// A content of the API, and nothing else.
fn is_content(content: Object<'_>) -> bool {
    let is_own = |entry: &ObjectEntry<'_>| {
        SavedChatKey::from_key(entry.key) == Some(SavedChatKey::Role)
            || AdkPartKey::from_key(entry.key) == Some(AdkPartKey::Parts)
    };
    let is_part = |key: &str| is_part_key(key) || server_tools::is_server_key(key);
    let has_part = |part: Object<'_>| part.entries().iter().any(|entry| is_part(entry.key));
    text_of(content, SavedChatKey::Role).and_then(SavedRole::from_key).is_some()
        && content.entries().iter().all(is_own)
        && list_of(content, AdkPartKey::Parts)
            .is_some_and(|parts| objects_of(parts).all(|part| has_part(part) && !blocks::has_type(part)))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let is_saved = node_object(*root).is_some_and(|chat| list_of(chat, SavedChatKey::History).is_some());
    let mut conversation = ConversationBuilder::from_pieces(builder);
    let mut of_program = is_saved;
    for node in items_of(root, &[SavedChatKey::History]) {
        conversation.builder.count_record();
        let content = node_object(*node);
        let role = content.and_then(|content| text_of(content, SavedChatKey::Role)).and_then(SavedRole::from_key);
        let parts = content.and_then(|content| list_of(content, AdkPartKey::Parts));
        let (Some(role), Some(parts)) = (role, parts) else {
            conversation.builder.skip_value(node, "a content without a known `role` and `parts` is skipped");
            continue;
        };
        of_program |= tells_surroundings(parts);
        let speaker = match role {
            SavedRole::Model => {
                conversation.begin_turn();
                Speaker::Assistant
            }
            SavedRole::User if !tells_surroundings(parts) && !holds_results(parts) => Speaker::User,
            SavedRole::User | SavedRole::Program => Speaker::System,
        };
        add_parts(&mut conversation, parts, speaker);
    }
    if of_program {
        conversation.finish_with_tools();
    } else {
        conversation.finish_run();
    }
    Ok(())
}

/// Texts that follow one another are pieces of one text.
fn add_parts<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, parts: &'run [Node<'run>], speaker: Speaker) {
    let meta = StepMeta::default();
    let words_of = |part: &Node<'run>| {
        let part = node_object(*part).filter(|part| is_plain_text(*part))?;
        value_of(part, AdkPartKey::Words)
    };
    for run in parts.chunk_by(|a, b| words_of(a).is_some() && words_of(b).is_some()) {
        let pieces: Vec<Node<'run>> = run.iter().filter_map(words_of).collect();
        match content::concat_pieces(&pieces, conversation.builder.arena) {
            Some(words) => conversation.add_message(speaker, words, &meta, words.origin),
            None => qwen_code::add_parts(conversation, run, speaker, &meta, None),
        }
    }
}

fn tells_surroundings<'run>(parts: &'run [Node<'run>]) -> bool {
    let words = objects_of(parts).next().and_then(|part| text_of(part, AdkPartKey::Words));
    words.is_some_and(|words| SURROUNDINGS.iter().any(|start| words.trim_start().starts_with(start)))
}

/// What stands beside a result comes from the program that ran the tool.
fn holds_results<'run>(parts: &'run [Node<'run>]) -> bool {
    objects_of(parts).any(|part| value_of(part, AdkPartKey::Response).is_some())
}
