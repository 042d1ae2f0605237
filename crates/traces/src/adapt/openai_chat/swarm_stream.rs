//! What OpenAI's Swarm streams: the pieces of each answer between two delimiters, and at the end the messages that all of it made.

use crate::adapt::fields::{key_table, value_of};
use crate::adapt::messages::{ChatMessageKey, MessageRole};
use crate::adapt::nodes::{list_of, node_object, object_of, text_of};
use crate::adapt::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, Value};

key_table! {
    SwarmKey {
        Delimiter = "delim",
        Response = "response",
        Messages = "messages",
    }
}

key_table! {
    SwarmDelimiter {
        Start = "start",
        End = "end",
    }
}

fn delimiter_of(record: Object<'_>) -> Option<SwarmDelimiter> {
    text_of(record, SwarmKey::Delimiter).and_then(SwarmDelimiter::from_key)
}

fn messages_of(record: Object<'_>) -> Option<&[Node<'_>]> {
    object_of(record, SwarmKey::Response).and_then(|response| list_of(response, SwarmKey::Messages))
}

/// Whether the records are such a stream, with all messages at its end.
pub(super) fn is_stream(records: &[Node<'_>]) -> bool {
    let first = records.first().and_then(|node| node_object(*node)).and_then(delimiter_of);
    first == Some(SwarmDelimiter::Start)
        && records.last().and_then(|node| node_object(*node)).and_then(messages_of).is_some()
}

/// The messages of the stream. They have the name of the agent that began; who gave each answer its first piece says.
pub(super) fn collect_messages<'run>(
    records: &'run [Node<'run>],
    builder: &mut RunBuilder<'run, '_>,
) -> Vec<Node<'run>> {
    let (mut all, mut senders): (Vec<Node<'run>>, Vec<Option<Node<'run>>>) = (Vec::new(), Vec::new());
    for node in records {
        builder.count_record();
        let Some(record) = node_object(*node) else {
            builder.skip_value(node, "what is no piece of an answer is skipped");
            continue;
        };
        if let Some(messages) = messages_of(record) {
            let of_model = messages.iter().filter(|message| is_of_model(message)).count();
            // Where they are not the answers that were streamed nobody knows whose they are.
            let mut senders = std::mem::take(&mut senders).into_iter();
            let are_told = senders.len() == of_model;
            for message in messages {
                let sender = if is_of_model(message) { senders.next().flatten() } else { None };
                let sender = sender.filter(|_| are_told);
                all.push(with_sender(*message, sender, builder));
            }
        } else if delimiter_of(record) == Some(SwarmDelimiter::Start) {
            senders.push(None);
        } else if let Some(last) = senders.last_mut() {
            *last = last.or(value_of(record, ChatMessageKey::Sender));
        }
    }
    all
}

fn is_of_model(message: &Node<'_>) -> bool {
    let role = node_object(*message).and_then(|message| text_of(message, ChatMessageKey::Role));
    role.and_then(MessageRole::from_key) == Some(MessageRole::Assistant)
}

fn with_sender<'run>(message: Node<'run>, sender: Option<Node<'run>>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    let Value::Object(object) = message.value else { return message };
    let kept = object.entries().iter().filter(|entry| entry.key != ChatMessageKey::Sender.key()).copied();
    let sender = sender.map(|sender| field_entry(ChatMessageKey::Sender.key(), sender));
    let entries: Vec<_> = kept.chain(sender).collect();
    Node::new(builder.object_node(&entries).value, message.origin)
}
