//! Messages in a list, with parts: what formats of frameworks and services have in common. A format says who speaks in a message and
//! what its parts are.

use super::block_session;
use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::messages::MessageRole;
use super::nodes::{node_list, node_object};
use super::run_builder::RunBuilder;
use super::unknown::UNKNOWN_ROLE;
use averment_base::value::{Node, Object};

/// One message, in the words of its format.
#[derive(Default)]
pub(super) struct ListedMessage<'run> {
    /// `None` where the format does not know the word for it.
    pub(super) role: Option<MessageRole>,
    /// Texts and lists of parts, in order.
    pub(super) contents: Vec<Node<'run>>,
    /// Calls that stand beside the parts.
    pub(super) calls: Vec<(Node<'run>, BlockCall<'run>)>,
    /// The message is a result as a whole.
    pub(super) result: Option<BlockResult<'run>>,
    /// The tool that gave it, where there is no id.
    pub(super) tool: Option<&'run str>,
    pub(super) time: Option<Node<'run>>,
    pub(super) agent: Option<Node<'run>>,
}

/// The calls of a list; what is none there has no tool, and is told where it is added.
pub(super) fn listed_calls<'run>(
    list: Option<&'run [Node<'run>]>,
    call_of: impl Fn(Object<'run>) -> BlockCall<'run>,
) -> Vec<(Node<'run>, BlockCall<'run>)> {
    let call = |node: &Node<'run>| (*node, node_object(*node).map_or_else(BlockCall::default, &call_of));
    list.unwrap_or_default().iter().map(call).collect()
}

/// Reads the messages of a list; what `view` does not know is told.
pub(super) fn read_messages<'a, 'run, 'limits>(
    items: &'run [Node<'run>],
    builder: &'a mut RunBuilder<'run, 'limits>,
    view: impl Fn(Object<'run>) -> Option<ListedMessage<'run>>,
    classify: impl Fn(Object<'run>) -> ContentBlock<'run>,
) -> ConversationBuilder<'a, 'run, 'limits> {
    let mut conversation = ConversationBuilder::from_parts(builder);
    for node in items {
        conversation.builder.count_record();
        match node_object(*node).and_then(&view) {
            Some(message) => add_message(&mut conversation, *node, message, &classify),
            None => conversation.builder.skip_value(node, "what is no message of the format is skipped"),
        }
    }
    conversation
}

pub(super) fn add_message<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: ListedMessage<'run>,
    classify: impl Fn(Object<'run>) -> ContentBlock<'run>,
) {
    if message.role.is_none() {
        conversation.builder.note_unknown(node.origin, UNKNOWN_ROLE);
    }
    if message.role == Some(MessageRole::Assistant) {
        conversation.begin_turn();
    }
    let meta = StepMeta { time: message.time, agent: message.agent, aside: false };
    if let Some(answer) = message.result {
        return block_session::add_result(conversation, node, &answer, message.tool, &meta);
    }
    let speaker = Speaker::from_role(message.role);
    for content in message.contents {
        // A list holds parts: a bare text among them is none.
        for part in node_list(content).unwrap_or(std::slice::from_ref(&content)) {
            if node_list(content).is_some() && node_object(*part).is_none() {
                conversation.builder.skip_value(part, blocks::UNKNOWN);
                continue;
            }
            block_session::add_answer(conversation, *part, speaker, &meta, &classify);
        }
    }
    for (node, call) in message.calls {
        block_session::add_call(conversation, node, call, &meta);
    }
}
