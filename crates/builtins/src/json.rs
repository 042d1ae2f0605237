//! Functions for JSON: parsing, searching in text, JSONPath.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult, borrowed_text};
use super::json_search::each_json;
use super::{path_cost, path_filter};
use averment_base::value::compare::with_deep_stack;
use averment_base::value::{Node, Object, ObjectEntry, Value, ValueText};
use serde_json_path::{JsonPath, NormalizedPath, PathElement};

pub use super::cache::{JsonCache, ValueMemory};
pub use super::json_search::{find_json, is_json};

pub(super) fn json<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let node = call.argument_node(0);
    let Value::Text(text) = node.value else { return Ok(node) };
    call.cache.read_text(text, node.origin, ValueMemory { arena: call.arena, limits: call.limits, meter: call.meter })
}

pub(super) fn first_json<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let Value::Text(text) = call.argument_node(0).value else { return call.give_missing() };
    let text = text.as_str();
    let found = find_json(text, call.limits, call.meter, |_, _| Ok(true))?;
    let Some(json) = found.and_then(|range| text.get(range)) else { return call.give_missing() };
    let memory = ValueMemory { arena: call.arena, limits: call.limits, meter: call.meter };
    call.cache.read_text(ValueText::Plain(json), Node::computed(Value::Null).origin, memory)
}

pub(super) fn all_json<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let text = call.text_argument(0);
    let mut ranges = Vec::new();
    each_json(text, call.limits, call.meter, &mut |node, meter| {
        meter.charge_memory(size_of::<Node<'_>>())?;
        ranges.extend(node.origin.byte_range());
        Ok(true)
    })?;
    let mut found = Vec::with_capacity(ranges.len());
    for json in ranges.into_iter().filter_map(|range| text.get(range)) {
        let memory = ValueMemory { arena: call.arena, limits: call.limits, meter: call.meter };
        found.push(call.cache.read_text(ValueText::Plain(json), Node::computed(Value::Null).origin, memory)?);
    }
    call.give_list(found)
}

pub(super) fn without<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let keys: Vec<&str> = call
        .list_argument(1)
        .iter()
        .filter_map(|key| match key.value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    if keys.len() != call.list_argument(1).len() {
        return call.give_missing();
    }
    let value = call.argument_node(0);
    leave_out(call, value, &keys)
}

/// Removes keys at any depth. Visits each part of the value once, and compares each entry with each key.
fn leave_out<'run>(call: &mut BuiltinCall<'_, 'run>, node: Node<'run>, keys: &[&str]) -> BuiltinResult<'run> {
    let value = match node.value {
        Value::List(items) => {
            call.meter.charge_memory(size_of_val(items))?;
            let keep = |item: &Node<'run>| leave_out(call, *item, keys);
            let kept: Vec<Node<'run>> = with_deep_stack(|| items.iter().map(keep).collect::<Result<_, _>>())?;
            Value::List(call.arena.alloc_slice_copy(&kept))
        }
        Value::Object(object) => {
            call.meter.charge_memory(size_of_val(object.entries()))?;
            call.meter.charge_fuel((object.entries().len() as u64).saturating_mul(keys.len() as u64))?;
            let kept = object.entries().iter().filter(|entry| !keys.contains(&entry.key));
            let mut keep = |entry: &ObjectEntry<'run>| {
                leave_out(call, entry.node, keys).map(|node| ObjectEntry { key: entry.key, node })
            };
            let kept: Vec<ObjectEntry<'run>> = with_deep_stack(|| kept.map(&mut keep).collect::<Result<_, _>>())?;
            Value::Object(Object::new(call.arena, call.arena.alloc_slice_copy(&kept)))
        }
        _ => return Ok(node),
    };
    call.meter.charge_fuel(1)?;
    Ok(Node::new(value, node.origin))
}

pub(super) fn type_of<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    Ok(borrowed_text(call.argument_node(0).value.type_name()))
}

pub(super) fn coalesce<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let value = call.argument_node(0);
    let nothing = matches!(value.value, Value::Missing | Value::Absent | Value::Null);
    Ok(if nothing { call.argument_node(1) } else { value })
}

pub(super) fn undecided<'run>(_: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    Ok(Node::computed(Value::Absent))
}

/// An error in a JSONPath.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathError {
    /// The byte offset in the path.
    pub offset: usize,
    /// The problem.
    pub message: String,
}

/// Returns the reason if a JSONPath is refused because it would be too expensive.
#[must_use]
pub fn too_much(path: &str) -> Option<String> {
    path_cost::path_refusal(path)
}

/// Checks the syntax of a JSONPath (RFC 9535), for the checker.
///
/// # Errors
/// Returns the location and the problem.
pub fn check_path(path: &str) -> Result<(), PathError> {
    if !path.starts_with('$') {
        return Err(PathError { offset: 0, message: "a path starts with `$`, the value it looks into".to_owned() });
    }
    if let Some(message) = path_cost::path_refusal(path) {
        return Err(PathError { offset: 0, message });
    }
    JsonPath::parse(path)
        .map(|_| ())
        .map_err(|error| PathError { offset: error.position().min(path.len()), message: error.message().to_owned() })
}

pub(super) fn jsonpath<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let (root, text) = (call.argument_node(0), call.text_argument(1));
    let memory = ValueMemory { arena: call.arena, limits: call.limits, meter: call.meter };
    // Paths continue into JSON inside a text, as in the language's own paths.
    let root = call.cache.parse_container(&root, memory)?.unwrap_or(root);
    let Some(path) = call.cache.path(text) else { return call.give_missing() };
    let converted = call.cache.converted(root.value, call.meter)?;
    path_cost::charge_path(text, &converted, call.meter)?;
    let found = path.query_located(&converted);
    let nodes = found.locations().filter_map(|location| node_at(root, location));
    let list = call.give_list(nodes)?;
    let is_empty = matches!(list.value, Value::List([]));
    let nowhere = is_empty && path_filter::compares_nothing(text, &converted, call.meter)?;
    Ok(if nowhere { Node::from_nowhere(list.value) } else { list })
}

fn node_at<'run>(root: Node<'run>, path: &NormalizedPath<'_>) -> Option<Node<'run>> {
    path.iter().try_fold(root, |node, element| match (element, node.value) {
        (PathElement::Name(name), Value::Object(object)) => object.get(name),
        (PathElement::Index(index), Value::List(items)) => items.get(*index).copied(),
        _ => None,
    })
}
