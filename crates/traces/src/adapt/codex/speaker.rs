//! Who said a message of a session of Codex.

use super::ItemKey;
use crate::adapt::conversation::Speaker;
use crate::adapt::messages::MessageRole;
use crate::adapt::nodes::{node_object, node_text, text_of};
use averment_base::value::{Node, Value};

/// How texts begin that the program writes in the user's name: where it is, what hooks, agents and commands of the user told, skills,
/// and what took the place of a conversation.
const OF_PROGRAM: [&str; 13] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md",
    "<permissions instructions>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<hook_prompt",
    "<skill>",
    "<codex_internal_context",
    "<goal_context>",
    "<recommended_plugins>",
    "Another language model started to solve this problem and produced a summary",
];

pub(super) fn item_speaker(role: Option<MessageRole>, content: Node<'_>) -> Speaker {
    let first = match content.value {
        Value::List([first, ..]) => node_object(*first).and_then(|block| text_of(block, ItemKey::Words)),
        _ => node_text(content),
    };
    match role {
        Some(MessageRole::Assistant) => Speaker::Assistant,
        Some(MessageRole::User)
            if !first.is_some_and(|text| OF_PROGRAM.iter().any(|start| text.starts_with(start))) =>
        {
            Speaker::User
        }
        _ => Speaker::System,
    }
}
