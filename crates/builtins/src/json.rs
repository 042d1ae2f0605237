//! JSON: reading it from text, finding it in text, JSONPath.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult, borrowed_text};
use super::convert::to_library;
use super::path_cost;
use averment_base::limits::{FuelMeter, LimitError, Limits};
use averment_base::value::json::{may_hold, parse_prefix, parse_text};
use averment_base::value::weight::ValueWeights;
use averment_base::value::{Node, ObjectEntry, TextOrigin, Value, ValueText};
use bumpalo::Bump;
use rustc_hash::FxHashMap;
use serde_json_path::{JsonPath, NormalizedPath, PathElement};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

/// Caches parsed JSON texts and the last value that a path looked into, for one run.
#[derive(Debug, Default)]
pub struct JsonCache<'run> {
    read: RefCell<FxHashMap<(usize, usize), Node<'run>>>,
    converted: RefCell<Option<(Value<'run>, Rc<serde_json::Value>)>>,
    paths: RefCell<FxHashMap<&'run str, Option<Rc<JsonPath>>>>,
    /// Sizes of the run's computed values.
    pub weights: ValueWeights,
    /// The text that `no … in` is examining, and its key.
    looked_at: Cell<Option<(&'run str, ValueText<'run>)>>,
}

/// Where values that are read are put, and what counts them.
#[derive(Debug)]
pub struct ValueMemory<'m, 'run> {
    /// Where they live.
    pub arena: &'run Bump,
    /// The limits of values.
    pub limits: &'m Limits,
    /// The remaining budget.
    pub meter: &'m mut FuelMeter,
}

impl<'run> JsonCache<'run> {
    /// Notes which text is looked at by itself, and the key under which it stands: a key may make a secret of it.
    pub fn look_at(&self, entry: Option<(&'run str, ValueText<'run>)>) {
        self.looked_at.set(entry);
    }

    /// The object or the list that a text holds as a whole; `None` where it holds none. A path goes on in it.
    ///
    /// # Errors
    /// Only when a limit is reached.
    pub fn parse_container(
        &self,
        node: &Node<'run>,
        memory: ValueMemory<'_, 'run>,
    ) -> Result<Option<Node<'run>>, LimitError> {
        let Value::Text(text) = node.value else { return Ok(None) };
        if !may_hold(text.raw_text().as_bytes()) {
            return Ok(None);
        }
        let read = self.read_text(text, node.origin, memory)?;
        Ok(Some(read).filter(|read| matches!(read.value, Value::Object(_) | Value::List(_))))
    }

    /// Parses a text once per run; missing if it is not JSON.
    fn read_text(
        &self,
        text: ValueText<'run>,
        origin: TextOrigin,
        memory: ValueMemory<'_, 'run>,
    ) -> Result<Node<'run>, LimitError> {
        let key = slice_identity(text.as_str().as_bytes());
        if let Some(known) = self.read.borrow().get(&key) {
            return Ok(*known);
        }
        let ValueMemory { arena, limits, meter } = memory;
        meter.charge_scan(key.1.saturating_mul(4))?;
        let before = arena.allocated_bytes();
        let read = parse_text(text, origin, arena, limits).map(|document| document.node);
        meter.charge_memory(arena.allocated_bytes().saturating_sub(before))?;
        let read = read.unwrap_or(Node::computed(Value::Missing));
        self.read.borrow_mut().insert(key, read);
        Ok(read)
    }

    /// The key of a text that is examined on its own.
    pub(super) fn name_of(&self, value: &Value<'run>) -> Option<&'run str> {
        let (name, looked_at) = self.looked_at.get()?;
        matches!(value, Value::Text(text) if text.as_str() == looked_at.as_str()).then_some(name)
    }
}

/// Address and length: run values never move or change while the run is judged.
fn slice_identity<T>(slice: &[T]) -> (usize, usize) {
    (slice.as_ptr().addr(), slice.len())
}

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

pub(super) fn type_of<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    Ok(borrowed_text(call.argument_node(0).value.type_name()))
}

pub(super) fn coalesce<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let value = call.argument_node(0);
    let nothing = matches!(value.value, Value::Missing | Value::Absent | Value::Null);
    Ok(if nothing { call.argument_node(1) } else { value })
}

/// Whether a text is JSON as a whole, white space around it allowed.
#[must_use]
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Finds JSON inside a text: the first object from the left that `accept` takes, else the first list. Only whole values count, not
/// what is inside them; objects in a list stand for themselves as well, since answers often wrap one object into a list.
///
/// # Errors
/// Only when a limit is reached.
pub fn find_json(
    text: &str,
    limits: &Limits,
    meter: &mut FuelMeter,
    mut accept: impl FnMut(&Value<'_>, &mut FuelMeter) -> Result<bool, LimitError>,
) -> Result<Option<Range<usize>>, LimitError> {
    let mut lists = Vec::new();
    let mut found = None;
    each_json(text, limits, meter, &mut |node, meter| {
        if let (Value::List(_), Some(range)) = (node.value, node.origin.byte_range()) {
            lists.push(range);
        }
        found = first_object(node, meter, &mut accept)?;
        Ok(found.is_none())
    })?;
    for range in lists {
        if found.is_some() {
            break;
        }
        let list = text.get(range.clone()).unwrap_or_default();
        each_json(list, limits, meter, &mut |node, meter| {
            found = accept(&node.value, meter)?.then(|| range.clone());
            Ok(false)
        })?;
    }
    Ok(found)
}

fn first_object(
    node: &Node<'_>,
    meter: &mut FuelMeter,
    accept: &mut impl FnMut(&Value<'_>, &mut FuelMeter) -> Result<bool, LimitError>,
) -> Result<Option<Range<usize>>, LimitError> {
    match node.value {
        Value::Object(_) if accept(&node.value, meter)? => Ok(node.origin.byte_range()),
        Value::List(items) => averment_base::value::compare::with_deep_stack(|| {
            for item in items {
                if let Some(found) = first_object(item, meter, accept)? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        }),
        _ => Ok(None),
    }
}

/// Visits the outermost objects and lists in a text, from the left, while `show` returns true.
fn each_json(
    text: &str,
    limits: &Limits,
    meter: &mut FuelMeter,
    show: &mut dyn FnMut(&Node<'_>, &mut FuelMeter) -> Result<bool, LimitError>,
) -> Result<(), LimitError> {
    let mut arena = Bump::new();
    let mut at = 0;
    meter.charge_scan(text.len())?;
    while let Some(offset) = text.as_bytes().get(at..).and_then(|rest| memchr::memchr2(b'{', b'[', rest)) {
        let start = at.saturating_add(offset);
        arena.reset();
        match parse_prefix(text.get(start..).unwrap_or_default(), start, &arena, limits) {
            Ok(document) => {
                meter.charge_scan(document.end.saturating_mul(4))?;
                at = start.saturating_add(document.end);
                if !show(&document.node, meter)? {
                    return Ok(());
                }
            }
            Err(error) => {
                meter.charge_scan(error.offset.saturating_mul(4))?;
                at = start.saturating_add(1);
            }
        }
    }
    Ok(())
}

/// Why a JSONPath cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathError {
    /// Where, in bytes of the path.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
}

/// Why a JSONPath is not read, although it may be one: it would take too much.
#[must_use]
pub fn too_much(path: &str) -> Option<String> {
    path_cost::path_refusal(path)
}

/// Checks the syntax of a JSONPath (RFC 9535), for the checker.
///
/// # Errors
/// Where and what is wrong.
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
    // A path goes into the value that a text holds, this one like those of the language.
    let root = call.cache.parse_container(&root, memory)?.unwrap_or(root);
    let Some(path) = compiled_path(call, text) else { return call.give_missing() };
    let converted = library_value(call, root.value)?;
    path_cost::charge_path(text, &converted, call.meter)?;
    let found = path.query_located(&converted);
    let nodes = found.locations().filter_map(|location| node_at(root, location));
    call.give_list(nodes)
}

fn compiled_path<'run>(call: &BuiltinCall<'_, 'run>, text: &'run str) -> Option<Rc<JsonPath>> {
    let mut paths = call.cache.paths.borrow_mut();
    paths.entry(text).or_insert_with(|| read_path(text).map(Rc::new)).clone()
}

fn read_path(text: &str) -> Option<JsonPath> {
    if path_cost::path_refusal(text).is_some() { None } else { JsonPath::parse(text).ok() }
}

/// Converted once for all paths into the value.
fn library_value<'run>(
    call: &mut BuiltinCall<'_, 'run>,
    value: Value<'run>,
) -> Result<Rc<serde_json::Value>, LimitError> {
    if let Some((known, converted)) = &*call.cache.converted.borrow()
        && same_place(known, &value)
    {
        return Ok(Rc::clone(converted));
    }
    call.meter.charge_fuel(call.cache.weights.weight_of(&Node::computed(value)) / LOOKED_THROUGH)?;
    let size = size_of_value(&value);
    call.meter.charge_fuel(size as u64)?;
    call.meter.check_memory(size.saturating_mul(32))?;
    let converted = Rc::new(to_library(&value));
    *call.cache.converted.borrow_mut() = Some((value, Rc::clone(&converted)));
    Ok(converted)
}

/// Bytes searched per unit of fuel before the actual cost is known.
const LOOKED_THROUGH: u64 = 64;

fn same_place(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => !a.is_empty() && slice_identity(a) == slice_identity(b),
        (Value::Object(a), Value::Object(b)) => {
            !a.entries().is_empty() && slice_identity(a.entries()) == slice_identity(b.entries())
        }
        _ => false,
    }
}

/// Copy cost: one per value and per eight bytes of text.
fn size_of_value(value: &Value<'_>) -> usize {
    averment_base::value::compare::with_deep_stack(|| match value {
        Value::Text(text) => (text.as_str().len() / 8).saturating_add(1),
        Value::List(items) => items.iter().map(|item| size_of_value(&item.value)).fold(1, usize::saturating_add),
        Value::Object(object) => {
            let of = |entry: &ObjectEntry<'_>| (entry.key.len() / 8).saturating_add(size_of_value(&entry.node.value));
            object.entries().iter().map(of).fold(1, usize::saturating_add)
        }
        _ => 1,
    })
}

fn node_at<'run>(root: Node<'run>, path: &NormalizedPath<'_>) -> Option<Node<'run>> {
    path.iter().try_fold(root, |node, element| match (element, node.value) {
        (PathElement::Name(name), Value::Object(object)) => object.get(name),
        (PathElement::Index(index), Value::List(items)) => items.get(*index).copied(),
        _ => None,
    })
}
