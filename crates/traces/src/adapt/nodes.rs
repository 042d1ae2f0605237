//! What readers of formats ask of parsed values: the text, the object or the list that a node or a field is.

use super::fields::{FieldRecord, NodeShapes, TableRow, first_field, key_table};
use averment_base::value::{Node, Object, Value};

/// The text that a node is.
pub(crate) fn node_text(node: Node<'_>) -> Option<&str> {
    match node.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}

/// The object that a node is.
pub(crate) fn node_object(node: Node<'_>) -> Option<Object<'_>> {
    match node.value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// The list that a node is.
pub(super) fn node_list(node: Node<'_>) -> Option<&[Node<'_>]> {
    match node.value {
        Value::List(items) => Some(items),
        _ => None,
    }
}

/// The text of a field.
pub(super) fn text_of<F: TableRow>(object: Object<'_>, field: F) -> Option<&str> {
    object.field(field).and_then(node_text)
}

/// The object in a field.
pub(super) fn object_of<F: TableRow>(object: Object<'_>, field: F) -> Option<Object<'_>> {
    object.field(field).and_then(self::node_object)
}

/// The list in a field.
pub(super) fn list_of<F: TableRow>(object: Object<'_>, field: F) -> Option<&[Node<'_>]> {
    object.field(field).and_then(node_list)
}

/// The first of several fields that is there and not `null`.
pub(super) fn first_of<'run, F: TableRow>(object: Object<'run>, fields: &[F]) -> Option<Node<'run>> {
    first_field(&object, &NodeShapes, fields)
}

/// The objects of a list; others are skipped.
pub(super) fn object_items<'run>(items: &'run [Node<'run>]) -> impl Iterator<Item = (Node<'run>, Object<'run>)> {
    items.iter().filter_map(|node| Some((*node, node_object(*node)?)))
}

/// The objects of a list without their nodes; others are skipped.
pub(super) fn objects_of<'run>(items: &'run [Node<'run>]) -> impl Iterator<Item = Object<'run>> {
    object_items(items).map(|(_, object)| object)
}

key_table! {
    /// What LangGraph says of a message that it streams, beside the message.
    AboutKey {
        Node = "langgraph_node",
    }
}

/// The message that a graph of LangGraph streams, in a pair with what the graph says of it.
pub(super) fn paired_message(node: Node<'_>) -> Option<Node<'_>> {
    let Value::List([message, meta]) = node.value else { return None };
    node_object(*meta)?.field(AboutKey::Node).map(|_| *message)
}

/// The object that a record is, or holds behind the name of what was called, behind the path to what told it and the kind that it is of, or
/// in front of what is said of it.
pub(super) fn record_payload(node: Node<'_>) -> Option<Object<'_>> {
    let is_path =
        |node: &Node<'_>| node_list(*node).is_some_and(|path| path.iter().all(|name| node_text(*name).is_some()));
    match node.value {
        Value::Object(object) => Some(object),
        Value::List([name, payload]) if node_text(*name).is_some() || is_path(name) => node_object(*payload),
        Value::List([path, kind, payload]) if is_path(path) && node_text(*kind).is_some() => node_object(*payload),
        _ => paired_message(node).and_then(node_object),
    }
}

/// The items of a run: the elements of a list, the list that an object holds under a key, or the object itself.
pub(super) fn items_of<'run, F: TableRow>(root: &'run Node<'run>, keys: &[F]) -> &'run [Node<'run>] {
    match root.value {
        Value::List(items) => items,
        Value::Object(object) => {
            keys.iter().find_map(|key| list_of(object, *key)).unwrap_or(std::slice::from_ref(root))
        }
        _ => &[],
    }
}

/// So many values tell what a list of records holds.
const FIRST_RECORDS: usize = 8;

/// Whether more than half of the first records of a list are of a kind: what stands among them and is none is told where they are read.
pub(super) fn are_mostly<'n>(records: impl Iterator<Item = &'n Node<'n>>, is: impl Fn(Object<'n>) -> bool) -> bool {
    let first = records.take(FIRST_RECORDS).map(|node| node_object(*node).is_some_and(&is));
    let (all, known) = first.fold((0, 0), |(all, known), is| (all + 1, known + usize::from(is)));
    known * 2 > all
}
