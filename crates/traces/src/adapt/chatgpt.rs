//! ChatGPT's export: a tree of messages (`mapping`), of which the way to `current_node` was shown. A message for a recipient is a call.

use super::block_session;
use super::blocks::{BlockCall, BlockResult};
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{list_of, node_object, node_text, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;
use rustc_hash::FxHashSet;

key_table! {
    ChatGptKey {
        Tree = "mapping",
        Current = "current_node",
        Id = "conversation_id" | "id",
        Message = "message",
        Parent = "parent",
        Children = "children",
        Author = "author",
        Role = "role",
        Name = "name",
        Content = "content",
        Kind = "content_type",
        Parts = "parts",
        Text = "text" | "result",
        To = "recipient",
        Time = "create_time",
    }
}

key_table! {
    ChatGptContent {
        Said = "text" | "multimodal_text",
        /// The arguments of a tool, and what it gave.
        Data = "code" | "execution_output" | "tether_quote" | "tether_browsing_display" | "system_error" | "super_widget",
        Silent = "thoughts" | "reasoning_recap" | "user_editable_context" | "model_editable_context",
    }
}

key_table! {
    ChatGptRecipient {
        Everybody = "all",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "ChatGPT conversation",
    known_by: "a `mapping` of messages with a `parent`, most often beside `current_node`",
    description: "conversations of ChatGPT's export (`mapping`)",
    marks: &[ChatGptKey::Tree.key()],
    object: |object| {
        object_of(object, ChatGptKey::Tree)
            .is_some_and(|tree| text_of(object, ChatGptKey::Current).is_some() || last_message(tree).is_some())
    },
    read: read_run,
    ..IN_FULL
};

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(run) = node_object(root) else { return Ok(()) };
    builder.set_some(of_run::ID, value_of(run, ChatGptKey::Id));
    let way = way_to_current(root, run, builder);
    let mut conversation = ConversationBuilder::from_parts(builder);
    for (node, message) in way {
        conversation.builder.count_record();
        add_message(&mut conversation, node, message);
    }
    conversation.finish_run();
    Ok(())
}

/// The end of the way on which each message was answered last.
fn last_message<'run>(tree: Object<'run>) -> Option<&'run str> {
    let is_first = |node: Node<'run>| {
        node_object(node).is_some_and(|entry| {
            entry.get(ChatGptKey::Parent.key()).is_some_and(|parent| matches!(parent.value, Value::Null))
        })
    };
    let mut last = tree.entries().iter().rfind(|entry| is_first(entry.node))?.key;
    // A message that is its own answer ends the way.
    for _ in tree.entries() {
        let children = tree.get(last).and_then(node_object).and_then(|entry| list_of(entry, ChatGptKey::Children));
        let Some(next) = children.and_then(<[_]>::last).copied().and_then(node_text) else { break };
        last = next;
    }
    Some(last)
}

/// The messages from the first to the current one: what stands beside them was asked or answered in another way.
fn way_to_current<'run>(
    root: Node<'run>,
    run: Object<'run>,
    builder: &RunBuilder<'run, '_>,
) -> Vec<(Node<'run>, Object<'run>)> {
    let Some(tree) = object_of(run, ChatGptKey::Tree) else { return Vec::new() };
    let (mut way, mut seen) = (Vec::new(), FxHashSet::default());
    let mut next = text_of(run, ChatGptKey::Current).or_else(|| {
        builder.note_warning(root.origin, "the tree has no `current_node`: the last answer to each message counts");
        last_message(tree)
    });
    while let Some(id) = next.filter(|id| seen.insert(*id)) {
        let Some(node) = tree.get(id) else {
            builder.note_unknown(root.origin, "a message of the tree is missing");
            break;
        };
        let entry = node_object(node);
        if let Some(message) = entry.and_then(|entry| value_of(entry, ChatGptKey::Message))
            && let Some(object) = node_object(message)
        {
            way.push((message, object));
        }
        if entry.is_some_and(|entry| entry.get(ChatGptKey::Parent.key()).is_none()) {
            builder.note_unknown(node.origin, "a message does not say which one stands before it");
        }
        next = entry.and_then(|entry| text_of(entry, ChatGptKey::Parent));
    }
    way.reverse();
    way
}

fn add_message<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, message: Object<'run>) {
    let author = object_of(message, ChatGptKey::Author);
    let role = conversation.builder.role_of(node, author.and_then(|author| text_of(author, ChatGptKey::Role)));
    let time = value_of(message, ChatGptKey::Time).and_then(instant_node);
    let meta = StepMeta { time, ..StepMeta::default() };
    let content = object_of(message, ChatGptKey::Content);
    let kind = content.and_then(|content| ChatGptContent::from_key(text_of(content, ChatGptKey::Kind)?));
    let words = content.and_then(words_of);
    let to = value_of(message, ChatGptKey::To)
        .filter(|to| node_text(*to).is_some_and(|to| ChatGptRecipient::from_key(to).is_none()));
    match (role, to) {
        (Some(MessageRole::Assistant), Some(tool)) => {
            block_session::add_call(
                conversation,
                node,
                BlockCall { tool: Some(tool), args: words, ..Default::default() },
                &meta,
            );
        }
        (Some(MessageRole::Result), _) => {
            let result = BlockResult {
                result: words,
                is_value: true,
                status: Some(StepStatus::Unknown),
                ..BlockResult::default()
            };
            // Results name the tool alone, and a tool may say more than once what it found.
            let tool = author.and_then(|author| text_of(author, ChatGptKey::Name));
            block_session::add_result(conversation, node, &result, tool, &meta);
        }
        _ => match (kind, words) {
            (Some(ChatGptContent::Silent), _) | (_, None) => {}
            (Some(_), Some(words)) => {
                if role == Some(MessageRole::Assistant) {
                    conversation.begin_turn();
                }
                conversation.add_content(Speaker::from_role(role), words, &meta, node.origin);
            }
            (None, Some(_)) => conversation.builder.skip_record(node.origin, "a content of unknown kind is skipped"),
        },
    }
}

fn words_of(content: Object<'_>) -> Option<Node<'_>> {
    let only = |parts: &[Node<'_>]| parts.iter().all(|part| node_text(*part).is_some()) && parts.len() == 1;
    let parts = list_of(content, ChatGptKey::Parts);
    let one = parts.filter(|parts| only(parts)).and_then(|parts| parts.first().copied());
    one.or_else(|| value_of(content, ChatGptKey::Parts)).or_else(|| value_of(content, ChatGptKey::Text))
}
