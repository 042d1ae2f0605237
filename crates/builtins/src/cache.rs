//! Caches for the functions of one run: JSON in texts, compiled paths, converted values.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::convert::to_library;
use super::path_cost;
use averment_base::limits::{FuelMeter, LimitError, Limits};
use averment_base::value::json::{may_hold, parse_text};
use averment_base::value::weight::ValueWeights;
use averment_base::value::{Node, ObjectEntry, TextOrigin, Value, ValueText};
use bumpalo::Bump;
use rustc_hash::FxHashMap;
use serde_json_path::JsonPath;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Caches for the functions of one run: texts that were parsed as JSON, and the last value that a path was applied to. So a rule file with a hundred
/// assertions about `json(output)` parses it once.
#[derive(Debug, Default)]
pub struct JsonCache<'run> {
    read: RefCell<FxHashMap<(usize, usize), Node<'run>>>,
    converted: RefCell<Option<(Value<'run>, Rc<serde_json::Value>)>>,
    paths: RefCell<FxHashMap<&'run str, Option<Rc<JsonPath>>>>,
    /// The sizes of computed values of the run.
    pub weights: ValueWeights,
    /// The text that `no … in` currently examines, with its key.
    looked_at: Cell<Option<(&'run str, ValueText<'run>)>>,
}

/// The memory for parsed values, and its limits.
#[derive(Debug)]
pub struct ValueMemory<'m, 'run> {
    /// The arena that owns the values.
    pub arena: &'run Bump,
    /// The limits of values.
    pub limits: &'m Limits,
    /// The remaining fuel and memory.
    pub meter: &'m mut FuelMeter,
}

impl<'run> JsonCache<'run> {
    /// Sets the text that is examined separately, with its key, because the key can mark the text as a secret.
    pub fn look_at(&self, entry: Option<(&'run str, ValueText<'run>)>) {
        self.looked_at.set(entry);
    }

    /// Parses the object or list that a text consists of; `None` for any other text. Paths continue in such a value.
    ///
    /// # Errors
    /// Returns an error only if a limit is reached.
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

    /// Parses the JSON in a text, once per run; missing if it is no JSON.
    pub(super) fn read_text(
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

    /// Returns the key of a text that is examined separately.
    pub(super) fn name_of(&self, value: &Value<'run>) -> Option<&'run str> {
        let (name, looked_at) = self.looked_at.get()?;
        matches!(value, Value::Text(text) if text.as_str() == looked_at.as_str()).then_some(name)
    }

    /// Returns a compiled JSONPath, compiled once per run; `None` if it is invalid.
    pub(super) fn path(&self, text: &'run str) -> Option<Rc<JsonPath>> {
        let read = || if path_cost::path_refusal(text).is_some() { None } else { JsonPath::parse(text).ok() };
        self.paths.borrow_mut().entry(text).or_insert_with(|| read().map(Rc::new)).clone()
    }

    /// Returns the value in the library's form, converted once for consecutive paths into it.
    pub(super) fn converted(
        &self,
        value: Value<'run>,
        meter: &mut FuelMeter,
    ) -> Result<Rc<serde_json::Value>, LimitError> {
        if let Some((known, converted)) = &*self.converted.borrow()
            && same_place(known, &value)
        {
            return Ok(Rc::clone(converted));
        }
        meter.charge_fuel(self.weights.weight_of(&Node::computed(value)) / LOOKED_THROUGH)?;
        let size = size_of_value(&value);
        meter.charge_fuel(size as u64)?;
        meter.check_memory(size.saturating_mul(32))?;
        let converted = Rc::new(to_library(&value));
        *self.converted.borrow_mut() = Some((value, Rc::clone(&converted)));
        Ok(converted)
    }
}

/// Address and length identify a slice, because values of a run do not move or change while it is judged.
fn slice_identity<T>(slice: &[T]) -> (usize, usize) {
    (slice.as_ptr().addr(), slice.len())
}

/// Bytes of a value that one unit of fuel pays for while its size is computed.
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

/// Returns the approximate cost to copy a value: one for each value, and one for each eight bytes of text.
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
