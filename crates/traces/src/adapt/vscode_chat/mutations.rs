//! The log of a chat (`chatSessions/*.jsonl`): the chat as it began, and each change behind it: a value is set, items are put behind a
//! list (what stands there from a place on is taken out), or a key is deleted.

use super::VsCodePartKey;
use crate::adapt::fields::{FieldRecord as _, key_table};
use crate::adapt::nodes::{list_of, node_list, node_object, node_text, text_of};
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::{Node, Object, ObjectEntry, TextOrigin, Value};
use rustc_hash::FxHashSet;

key_table! {
    MutationKey {
        Kind = "kind",
        Path = "k",
        Value = "v",
        Place = "i",
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MutationKind {
    Initial,
    Set,
    Push,
    Delete,
}

pub(super) fn mutation_kind(line: Object<'_>) -> Option<MutationKind> {
    let kind = match line.field(MutationKey::Kind)?.value {
        Value::Number(kind) => kind.as_i64()?,
        _ => return None,
    };
    let has_path = list_of(line, MutationKey::Path).is_some();
    match kind {
        0 if line.field(MutationKey::Value).and_then(node_object).is_some() => Some(MutationKind::Initial),
        1 if has_path => Some(MutationKind::Set),
        2 if has_path => Some(MutationKind::Push),
        3 if has_path => Some(MutationKind::Delete),
        _ => None,
    }
}

/// The chat with which a log begins.
pub(super) fn initial_chat(line: Object<'_>) -> Option<Object<'_>> {
    line.field(MutationKey::Value).and_then(node_object).filter(|_| mutation_kind(line) == Some(MutationKind::Initial))
}

const TAKEN_OUT: &str = "requests were taken out of the chat: what was done in them is not there";

/// The chat as the last change left it.
pub(super) fn replay_log<'run>(lines: &'run [Node<'run>], builder: &mut RunBuilder<'run, '_>) -> Node<'run> {
    let mut chat = MutableValue::Kept(Node::computed(Value::Null));
    let mut called = Vec::new();
    for (node, line) in builder.record_objects(lines) {
        let value = line.field(MutationKey::Value);
        let path = list_of(line, MutationKey::Path).unwrap_or_default();
        called.extend(value.into_iter().flat_map(call_ids).map(|id| (id, node.origin)));
        let is_done = match mutation_kind(line) {
            Some(MutationKind::Initial) => {
                chat = MutableValue::Kept(value.unwrap_or(node));
                true
            }
            Some(MutationKind::Set) => chat.set_value(path, value),
            Some(MutationKind::Delete) => chat.set_value(path, None),
            Some(MutationKind::Push) => {
                let place = line.field(MutationKey::Place).and_then(item_place);
                let list = chat.find_place(path);
                // What stands in a request is written anew while it grows; requests that go were done before.
                if let (Some(list), Some(place), [_]) = (&list, place, path)
                    && list.holds_behind(place)
                {
                    builder.note_unknown(node.origin, TAKEN_OUT);
                }
                list.is_some_and(|list| list.push_items(place, value.and_then(node_list).unwrap_or_default()))
            }
            None => false,
        };
        if !is_done {
            builder.skip_record(node.origin, "a change of the chat is not understood and skipped");
        }
    }
    let chat = chat.into_node(builder);
    let kept: FxHashSet<&str> = call_ids(chat).collect();
    if let Some((_, origin)) = called.iter().find(|(id, _)| !kept.contains(id)) {
        builder.note_unknown(*origin, "a call was taken out of the chat: it was made before");
    }
    chat
}

/// The ids of the calls in a value.
fn call_ids<'run>(value: Node<'run>) -> impl Iterator<Item = &'run str> {
    let mut open = vec![value];
    std::iter::from_fn(move || {
        let node = open.pop()?;
        match node.value {
            Value::List(items) => open.extend(items),
            Value::Object(object) => open.extend(object.entries().iter().map(|entry| entry.node)),
            _ => {}
        }
        Some(node_object(node).and_then(|object| text_of(object, VsCodePartKey::Call)))
    })
    .flatten()
}

fn item_place(node: Node<'_>) -> Option<usize> {
    match node.value {
        Value::Number(place) => usize::try_from(place.as_i64()?).ok(),
        _ => None,
    }
}

/// A value, of which what changes was taken apart.
enum MutableValue<'run> {
    Kept(Node<'run>),
    Object(TextOrigin, Vec<(&'run str, MutableValue<'run>)>),
    List(TextOrigin, Vec<MutableValue<'run>>),
}

impl<'run> MutableValue<'run> {
    fn take_apart(&mut self) {
        let Self::Kept(node) = *self else { return };
        match node.value {
            Value::Object(object) => {
                let entries = object.entries().iter().map(|entry| (entry.key, Self::Kept(entry.node))).collect();
                *self = Self::Object(node.origin, entries);
            }
            Value::List(items) => *self = Self::List(node.origin, items.iter().map(|item| Self::Kept(*item)).collect()),
            _ => {}
        }
    }

    fn find_place(&mut self, path: &[Node<'run>]) -> Option<&mut Self> {
        let mut at = self;
        for step in path {
            at.take_apart();
            at = match at {
                Self::Object(_, entries) => {
                    let wanted = node_text(*step)?;
                    entries.iter_mut().find(|(key, _)| *key == wanted).map(|(_, inner)| inner)?
                }
                Self::List(_, items) => items.get_mut(item_place(*step)?)?,
                Self::Kept(_) => return None,
            };
        }
        Some(at)
    }

    /// Without a value the key is deleted.
    fn set_value(&mut self, path: &[Node<'run>], value: Option<Node<'run>>) -> bool {
        let Some((last, before)) = path.split_last() else {
            *self = Self::Kept(value.unwrap_or(Node::computed(Value::Null)));
            return true;
        };
        let Some(holder) = self.find_place(before) else { return false };
        holder.take_apart();
        match holder {
            Self::Object(_, entries) => {
                let Some(key) = node_text(*last) else { return false };
                entries.retain(|(known, _)| *known != key);
                entries.extend(value.map(|value| (key, Self::Kept(value))));
                true
            }
            Self::List(_, items) => {
                let place = item_place(*last);
                let value = Self::Kept(value.unwrap_or(Node::computed(Value::Null)));
                if place == Some(items.len()) {
                    items.push(value);
                    return true;
                }
                let item = place.and_then(|place| items.get_mut(place));
                item.map(|item| *item = value).is_some()
            }
            Self::Kept(_) => false,
        }
    }

    fn push_items(&mut self, place: Option<usize>, new: &[Node<'run>]) -> bool {
        self.take_apart();
        if let Self::Kept(Node { value: Value::Null, origin }) = *self {
            *self = Self::List(origin, Vec::new());
        }
        let Self::List(_, items) = self else { return false };
        if let Some(place) = place {
            items.truncate(place);
        }
        items.extend(new.iter().map(|item| Self::Kept(*item)));
        true
    }

    fn holds_behind(&self, place: usize) -> bool {
        match self {
            Self::Kept(node) => node_list(*node).is_some_and(|items| items.len() > place),
            Self::List(_, items) => items.len() > place,
            Self::Object(..) => false,
        }
    }

    /// A path is as long as values are deep at most: so is what was taken apart.
    fn into_node(self, builder: &RunBuilder<'run, '_>) -> Node<'run> {
        match self {
            Self::Kept(node) => node,
            Self::Object(origin, entries) => {
                let entry = |(key, value): (&'run str, Self)| ObjectEntry { key, node: value.into_node(builder) };
                let entries: Vec<ObjectEntry<'run>> = entries.into_iter().map(entry).collect();
                Node::new(builder.object_node(&entries).value, origin)
            }
            Self::List(origin, items) => {
                let items: Vec<Node<'run>> = items.into_iter().map(|item| item.into_node(builder)).collect();
                Node::new(builder.list_node(&items).value, origin)
            }
        }
    }
}
