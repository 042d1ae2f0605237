//! What the functions of one run remember: JSON in texts, compiled paths, converted values.

// What rules and runs make of numbers may not overflow.
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

/// What the functions of one run remember: texts that were read as JSON, and the last value that a path looked into. A rule file
/// with a hundred assertions on `json(output)` reads it once.
#[derive(Debug, Default)]
pub struct JsonCache<'run> {
    read: RefCell<FxHashMap<(usize, usize), Node<'run>>>,
    converted: RefCell<Option<(Value<'run>, Rc<serde_json::Value>)>>,
    paths: RefCell<FxHashMap<&'run str, Option<Rc<JsonPath>>>>,
    /// How much the computed values of the run are.
    pub weights: ValueWeights,
    /// The text that `no … in` looks at just now, and the key under which it stands.
    looked_at: Cell<Option<(&'run str, ValueText<'run>)>>,
}

/// Where values that are read are put, and what counts them.
#[derive(Debug)]
pub struct ValueMemory<'m, 'run> {
    /// Where they live.
    pub arena: &'run Bump,
    /// The limits of values.
    pub limits: &'m Limits,
    /// What the evaluation may still use.
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

    /// The JSON in a text, read once in a run; missing where it is none.
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

    /// The key under which a text stands that is looked at by itself.
    pub(super) fn name_of(&self, value: &Value<'run>) -> Option<&'run str> {
        let (name, looked_at) = self.looked_at.get()?;
        matches!(value, Value::Text(text) if text.as_str() == looked_at.as_str()).then_some(name)
    }

    /// A JSONPath, compiled once in a run; `None` where it cannot be used.
    pub(super) fn path(&self, text: &'run str) -> Option<Rc<JsonPath>> {
        let read = || if path_cost::path_refusal(text).is_some() { None } else { JsonPath::parse(text).ok() };
        self.paths.borrow_mut().entry(text).or_insert_with(|| read().map(Rc::new)).clone()
    }

    /// The value for the library, converted once for all paths into it.
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

/// Address and length: values of a run never move or change while it is judged.
fn slice_identity<T>(slice: &[T]) -> (usize, usize) {
    (slice.as_ptr().addr(), slice.len())
}

/// So many bytes of a value are looked through for a unit of fuel before it is known what it takes.
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

/// About how much there is to copy: one for each value and eight bytes of text.
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
