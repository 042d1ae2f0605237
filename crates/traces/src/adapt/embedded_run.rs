//! A file whose JSON was written into a text of JSON, as programs do that write JSON twice. A text among runs is none of them.

use super::fields::key_table;
use super::format::{LineProjection, TraceFormat};
use super::nodes::{node_list, node_object, node_text};
use super::registry::{detect_format, is_element_of_one_run, is_line_of_session};
use crate::error::PlacedError;
use averment_base::limits::Limits;
use averment_base::value::{Node, Object, ObjectEntry, Value, json};
use averment_runs::run::RunSource;
use bumpalo::Bump;

/// Unpacks a text that holds a run of a known format; otherwise unchanged.
pub(super) fn unpack_text<'run>(
    root: Node<'run>,
    source: &RunSource,
    arena: &'run Bump,
    limits: &Limits,
) -> Result<Node<'run>, PlacedError> {
    let Value::Text(text) = root.value else { return Ok(root) };
    let is_alone = !source.by_line && source.position.is_none();
    if !is_alone || !text.as_str().trim_start().starts_with(['{', '[']) {
        return Ok(root);
    }
    let Ok(document) = json::parse_text(text, root.origin, arena, limits) else { return Ok(root) };
    match detect_format(&document.node) {
        // Files are cut into runs before texts are looked into.
        Some(format) if may_hold_several(format, &document.node) => {
            let message = format!("a text holds JSON that has to be cut into runs ({}): that is not done", format.name);
            Err(PlacedError::new(root.origin, message, "write what the text holds into the file: `jq -r . FILE`"))
        }
        Some(_) => Ok(document.node),
        None => Ok(root),
    }
}

key_table! {
    /// Where rows of data sets hold a conversation, some as JSON in text.
    ConversationColumn {
        Any = "messages" | "conversations" | "trajectory" | "conversation" | "history",
    }
}

/// A row whose list of messages is JSON in text, with the list in its place; `None` if no format knows it then.
pub(super) fn unpack_messages<'run>(root: Node<'run>, arena: &'run Bump, limits: &Limits) -> Option<Node<'run>> {
    let row = node_object(root)?;
    let (place, list) = row.entries().iter().enumerate().find_map(|(place, entry)| {
        let text = ConversationColumn::from_key(entry.key).and_then(|_| node_text(entry.node))?;
        let list = text.trim_start().starts_with('[').then(|| entry.node.parse_embedded(arena, limits)).flatten()?;
        node_list(list).is_some_and(|list| !list.is_empty()).then_some((place, list))
    })?;
    let with_key = |key: Option<&'run str>| {
        let entry = |(at, entry): (usize, &ObjectEntry<'run>)| {
            if at == place { ObjectEntry { key: key.unwrap_or(entry.key), node: list } } else { *entry }
        };
        let entries: Vec<_> = row.entries().iter().enumerate().map(entry).collect();
        let row = Value::Object(Object::new(arena, arena.alloc_slice_copy(&entries)));
        Some(Node::new(row, root.origin)).filter(|row| detect_format(row).is_some())
    };
    with_key(None).or_else(|| with_key(Some(ConversationColumn::Any.key())))
}

key_table! {
    /// Where programs put a run into an object of their own.
    EnvelopeKey {
        Any = "messages" | "events" | "trace" | "trajectory" | "transcript" | "conversation" | "history" | "session" | "records"
            | "entries" | "log" | "steps" | "run" | "data" | "agent",
    }
}

/// The one run of a known format that stands under such a key of an object which no format knows. Runs in the normal form and in
/// custom formats have no marks of their own, so they are not looked for there.
pub(super) fn open_envelope<'run>(root: Node<'run>) -> Option<(Node<'run>, &'static TraceFormat)> {
    let is_run = |entry: &ObjectEntry<'run>| {
        EnvelopeKey::from_key(entry.key)?;
        let one = match entry.node.value {
            Value::List(items) => items
                .iter()
                .find(|item| node_object(**item).is_some())
                .is_some_and(|first| is_line_of_session(first) || is_element_of_one_run(first) == Some(true)),
            Value::Object(_) => true,
            _ => false,
        };
        let format = detect_format(&entry.node).filter(|_| one)?;
        let is_own = matches!(format.projected, LineProjection::Calls);
        (!is_own && !may_hold_several(format, &entry.node)).then_some((entry.node, format))
    };
    let entries = node_object(root)?.entries();
    let mut runs = entries.iter().filter_map(is_run);
    let only = runs.next().filter(|_| runs.next().is_none())?;
    // A list of records beside it may be a part of the run that this reader would leave out.
    let lists = entries.iter().filter_map(|entry| {
        node_list(entry.node).filter(|items| items.iter().any(|item| node_object(*item).is_some()))
    });
    let is_alone = lists.count() <= usize::from(node_list(only.0).is_some());
    is_alone.then_some(only)
}

/// True if parts name their runs, or there are several.
fn may_hold_several(format: &TraceFormat, node: &Node<'_>) -> bool {
    let Some(holder) = node_object(*node) else { return !format.runs.is_empty() };
    if format.runs.iter().any(|cutting| !cutting.by.is_empty()) {
        return true;
    }
    let lists = format.runs.iter().filter_map(|cutting| cutting.way.first());
    let parts = lists.flat_map(|keys| keys.iter()).filter_map(|key| holder.get(key));
    parts.filter_map(node_list).any(|parts| parts.len() > 1)
}
