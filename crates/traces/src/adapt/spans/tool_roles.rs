//! Messages of tools that do not say to be such: their role is the name of the tool, or none.

use super::exchange::{RequestedCall, SpanMessage, ToolResult};
use super::node_text;
use super::span_messages::{Holder, SpanMessageKey};
use crate::adapt::content;
use crate::adapt::fields::value_of;
use crate::adapt::nodes::node_object;
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::Node;
use averment_runs::normal::{of_step, role};

/// The role of a message that names none among others that do: Langfuse leaves it out if the message of a tool does not name its tool.
pub(super) const NOBODY: &str = "";

/// Who speaks where a message does not say so.
#[derive(Clone, Copy)]
pub(super) struct DefaultSpeaker {
    by: &'static str,
    /// Other messages of the list name their speakers.
    others_are_named: bool,
}

impl DefaultSpeaker {
    pub(super) fn among(items: &[Node<'_>], by: &'static str) -> Self {
        let names_role =
            |item: &Node<'_>| node_object(*item).is_some_and(|one| value_of(one, SpanMessageKey::Role).is_some());
        Self { by, others_are_named: by == role::USER && items.iter().any(names_role) }
    }

    pub(super) fn of_message(self, item: Node<'_>) -> &'static str {
        if self.others_are_named && is_nameless(item) { NOBODY } else { self.by }
    }
}

/// True for a message with content that says neither who speaks nor what it is. Parts without a role are the user's in Gemini's API.
fn is_nameless(item: Node<'_>) -> bool {
    node_object(item).is_some_and(|message| {
        let told = [SpanMessageKey::Role, SpanMessageKey::Type, SpanMessageKey::Message];
        told.into_iter().all(|key| value_of(message, key).is_none())
            && message.get(SpanMessageKey::Content.key()).is_some()
            && value_of(message, Holder::Inner).is_none()
    })
}

/// Gives messages that do not say to be a tool's the calls that they answer.
pub(super) fn read_tool_roles<'run>(messages: &mut [SpanMessage<'run>], builder: &RunBuilder<'run, '_>) {
    let is_told = |said: &SpanMessage<'_>| said.role.is_none_or(|role| role != NOBODY && is_known_role(role));
    if messages.iter().all(is_told) {
        return;
    }
    let mut asked: Vec<RequestedCall<'run>> = Vec::new();
    for said in messages {
        asked.extend(&said.calls);
        if is_told(said) {
            continue;
        }
        let tool = said.role.filter(|role| *role != NOBODY);
        // Of several that wait nobody knows which one is meant.
        let place = match tool {
            Some(_) => asked.iter().position(|call| node_text(call.tool) == tool),
            None => (asked.len() == 1).then_some(0),
        };
        let Some(place) = place else { continue };
        let RequestedCall { id, tool, .. } = asked.remove(place);
        let told = |result| ToolResult { id, tool: node_text(tool), result, failed: None };
        said.results.extend(content::join_texts(&said.texts, builder.arena).map(told));
        said.texts.clear();
        said.role = Some(of_step::TOOL);
    }
}

pub(super) fn is_known_role(role: &str) -> bool {
    [NOBODY, role::USER, role::ASSISTANT, role::SYSTEM, role::THINKING, of_step::TOOL].contains(&role)
}
