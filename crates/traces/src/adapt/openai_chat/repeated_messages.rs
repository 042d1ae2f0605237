//! What makes a message the same as another, whichever request repeats it.

use super::message_role;
use crate::adapt::content;
use crate::adapt::fields::FieldRecord;
use crate::adapt::messages::{self, ChatMessageKey, MessageRole, ToolCallKey, called_function};
use crate::adapt::nodes::{first_of, list_of, node_object, node_text, object_items, text_of};
use averment_base::limits::Limits;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value, json};
use bumpalo::Bump;

/// Instructions and empty messages say nothing that was said or done.
pub(super) fn says_something(message: &Node<'_>) -> bool {
    let Some(message) = node_object(*message) else { return true };
    let has = |field| first_of(message, &[field]).is_some_and(|node| !matches!(node.value, Value::List([])));
    let is_said = !matches!(plain_content(message), None | Some(Value::Null));
    message_role(message) != Some(MessageRole::Other)
        && (is_said || has(ChatMessageKey::Calls) || has(ChatMessageKey::Call))
}

/// The id of the first call of a message, or of the call that it answers: without it [`same_calls`] holds of no other.
pub(super) fn first_call_id<'run>(message: &Node<'run>) -> Option<&'run str> {
    let message = node_object(*message)?;
    match list_of(message, ChatMessageKey::Calls).unwrap_or_default() {
        [] => text_of(message, ChatMessageKey::Answers),
        [first, ..] => text_of(node_object(*first)?, ToolCallKey::Id),
    }
}

/// Calls are the same where their ids are, with the same tools and arguments; so are results.
pub(super) fn same_calls<'run>(a: &Node<'run>, b: &Node<'run>) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a.value, b.value) else { return false };
    let calls = |object: Object<'run>| list_of(object, ChatMessageKey::Calls).unwrap_or_default();
    let answered = text_of(a, ChatMessageKey::Answers).filter(|id| !id.is_empty());
    match (calls(a), calls(b)) {
        ([], []) => {
            answered.is_some() && same_message(&Node::computed(Value::Object(a)), &Node::computed(Value::Object(b)))
        }
        (known, new) => known.len() == new.len() && known.iter().zip(new).all(|(a, b)| is_same_call(a, b)),
    }
}

/// The same tool with the same arguments, whatever else a call says of itself.
fn same_function<'run>(a: &Node<'run>, b: &Node<'run>) -> bool {
    let told = |call: &Node<'run>| {
        let call = node_object(*call)?;
        let function = called_function(call);
        Some((text_of(function, ToolCallKey::Name), messages::call_arguments(&function)))
    };
    told(a).zip(told(b)).is_some_and(|((a, with), (b, with_too))| a == b && same_arguments(with, with_too))
}

/// Programs write the JSON of arguments anew.
fn same_arguments<'run>(a: Option<Node<'run>>, b: Option<Node<'run>>) -> bool {
    let value = |args: Option<Node<'run>>| args.map_or(Value::Null, |args| args.value);
    let (a, b) = (value(a), value(b));
    if values_equal(&a, &b) {
        return true;
    }
    let (arena, limits) = (Bump::new(), Limits::default());
    let text = |value: &Value<'_>| match value {
        Value::Text(text) => text.as_str().to_owned(),
        other => json::to_json(other),
    };
    let (a, b) = (text(&a), text(&b));
    let read = |text: &str| json::parse(arena.alloc_str(text), 0, &arena, &limits).ok().map(|read| read.node.value);
    read(&a).zip(read(&b)).is_some_and(|(a, b)| values_equal(&a, &b))
}

/// Whether a request repeats a message, if with other ids of its calls.
pub(super) fn repeats_message<'run>(before: &Node<'run>, message: &Node<'run>) -> bool {
    let (Value::Object(a), Value::Object(b)) = (before.value, message.value) else { return false };
    let calls = |object: Object<'run>| list_of(object, ChatMessageKey::Calls).unwrap_or_default();
    let (known, new) = (calls(a), calls(b));
    let same = || known.len() == new.len() && known.iter().zip(new).all(|(a, b)| same_function(a, b));
    same_message(before, message)
        || !known.is_empty() && same_words(a, b) && same()
        || repeats_some_calls(before, message)
}

/// Whether a program that makes only some of the calls that a model asked for repeats those, by their ids.
pub(super) fn repeats_some_calls<'run>(before: &Node<'run>, message: &Node<'run>) -> bool {
    let (Value::Object(a), Value::Object(b)) = (before.value, message.value) else { return false };
    let calls = |object: Object<'run>| list_of(object, ChatMessageKey::Calls).unwrap_or_default();
    let (known, new) = (calls(a), calls(b));
    let is_known = |call: &Node<'run>| known.iter().any(|other| is_same_call(other, call));
    !new.is_empty() && new.len() < known.len() && same_words(a, b) && new.iter().all(is_known)
}

/// By its id, its tool and its arguments.
fn is_same_call<'run>(a: &Node<'run>, b: &Node<'run>) -> bool {
    let id = |node: &Node<'run>| node_object(*node).and_then(|call| text_of(call, ToolCallKey::Id));
    id(a).is_some_and(|id| !id.is_empty()) && id(a) == id(b) && same_function(a, b)
}

/// Compares an answer with its repetition in the next request.
pub(super) fn same_message<'run>(a: &Node<'run>, b: &Node<'run>) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a.value, b.value) else { return false };
    let ids = |object: Object<'run>| {
        let calls = object_items(list_of(object, ChatMessageKey::Calls).unwrap_or_default());
        calls.map(|(_, call)| text_of(call, ToolCallKey::Id)).collect::<Vec<_>>()
    };
    same_words(a, b) && ids(a) == ids(b)
}

fn same_words<'run>(a: Object<'run>, b: Object<'run>) -> bool {
    let value = |object: Object<'run>, field| object.field(field).map_or(Value::Null, |node: Node<'run>| node.value);
    let content = |object| plain_content(object).unwrap_or(Value::Null);
    same_content(content(a), content(b))
        && [ChatMessageKey::Role, ChatMessageKey::Answers]
            .into_iter()
            .all(|field| values_equal(&value(a, field), &value(b, field)))
}

/// White space is put in beside calls and at the ends of an answer, and left out again.
fn same_content<'run>(a: Value<'run>, b: Value<'run>) -> bool {
    let (Value::List(known), Value::List(new)) = (a, b) else { return same_text(a, b) };
    let said = |blocks: &'run [Node<'run>]| blocks.iter().filter(|block| !is_blank(block));
    let same_block = |(a, b): (&'run Node<'run>, &'run Node<'run>)| {
        let words = content::block_text(a).zip(content::block_text(b));
        values_equal(&a.value, &b.value) || words.is_some_and(|(a, b)| same_text(a.value, b.value))
    };
    said(known).count() == said(new).count() && said(known).zip(said(new)).all(same_block)
}

fn same_text(a: Value<'_>, b: Value<'_>) -> bool {
    values_equal(&a, &b) || matches!((a, b), (Value::Text(a), Value::Text(b)) if a.as_str().trim() == b.as_str().trim())
}

fn is_blank(block: &Node<'_>) -> bool {
    content::block_text(block).and_then(node_text).is_some_and(|words| words.trim().is_empty())
}

/// The words of a message, which some write as a list of one block. A message of calls alone has none, or empty ones.
fn plain_content<'run>(message: Object<'run>) -> Option<Value<'run>> {
    let content = first_of(message, &[ChatMessageKey::Content])?;
    let words = match content.value {
        Value::List([]) => return Some(Value::Null),
        Value::List([only]) => content::block_text(only).map_or(content.value, |words| words.value),
        value => value,
    };
    Some(if matches!(words, Value::Text(text) if text.as_str().trim().is_empty()) { Value::Null } else { words })
}
