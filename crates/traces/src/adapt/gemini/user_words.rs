//! What a user typed: Gemini CLI puts the files behind it that it names.

use super::{GeminiKey, add_words as add_content, text_of_parts};
use crate::adapt::content;
use crate::adapt::conversation::{ConversationBuilder, Speaker, StepMeta};
use crate::adapt::fields::value_of;
use crate::adapt::nodes::{node_list, node_text};
use averment_base::value::{Node, Object};

/// In front of the content of files.
const FILES: &str = "--- Content from referenced files ---";

pub(super) fn add_words<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    message: Object<'run>,
    given: Node<'run>,
    (meta, node): (&StepMeta<'run>, Node<'run>),
) {
    let shown = value_of(message, GeminiKey::Shown).and_then(|shown| text_of_parts(shown, conversation));
    let is_same = |shown: Node<'run>| text_of_parts(given, conversation).and_then(node_text) == node_text(shown);
    if let Some(shown) = shown.filter(|shown| !is_same(*shown)) {
        conversation.add_message(Speaker::User, shown, meta, node.origin);
        return add_content(conversation, Speaker::System, given, (meta, node));
    }
    let parts = node_list(given).unwrap_or_default();
    let is_mark = |part: &Node<'run>| {
        content::block_text(part).and_then(node_text).is_some_and(|text| text.trim_start().starts_with(FILES))
    };
    let Some((typed, files)) = parts.iter().position(is_mark).and_then(|at| parts.split_at_checked(at)) else {
        return add_content(conversation, Speaker::User, given, (meta, node));
    };
    for (speaker, parts) in [(Speaker::User, typed), (Speaker::System, files)] {
        let parts = conversation.builder.list_node(parts);
        add_content(conversation, speaker, parts, (meta, node));
    }
}
