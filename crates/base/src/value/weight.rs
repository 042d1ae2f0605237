//! How much a value is when it is looked through.
//!
//! What rules compute may hold the same part many times: a few lists of two lists each are more than any memory when they are written out.
//! What looks through a value asks here first what that takes, without doing it.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::compare::with_deep_stack;
use super::{Node, Number, ObjectEntry, Value, ValueText};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// The weights of lists and objects that were computed: about the bytes of their JSON text, parts that they hold several times counted each
/// time. What stands in a run weighs what it takes there.
#[derive(Debug, Default)]
pub struct ValueWeights {
    computed: RefCell<FxHashMap<(usize, usize), u64>>,
}

impl ValueWeights {
    /// The weight of a value.
    #[must_use]
    pub fn weight_of(&self, node: &Node<'_>) -> u64 {
        match node.value {
            Value::Text(ValueText::Plain(text)) => text.len() as u64,
            Value::Text(ValueText::Escaped(text)) => text.raw_text().len() as u64,
            Value::Number(Number::Written(text)) => text.len() as u64,
            Value::List([]) => 2,
            Value::List(items) => self.of_many(slice_identity(items), node, || self.of_items(items)),
            Value::Object(object) if object.entries().is_empty() => 2,
            Value::Object(object) => {
                self.of_many(slice_identity(object.entries()), node, || self.of_entries(object.entries()))
            }
            _ => 8,
        }
    }

    /// Remembers a list that has the place of a value in a run, and holds parts of it perhaps many times.
    pub fn note_list(&self, items: &[Node<'_>]) {
        const MANY: usize = 64;
        let inner = |item: &Node<'_>| matches!(item.value, Value::List(_) | Value::Object(_));
        if items.len() > MANY || items.iter().any(inner) {
            let weight = self.of_items(items);
            self.computed.borrow_mut().insert(slice_identity(items), weight);
        }
    }

    fn of_many(&self, key: (usize, usize), node: &Node<'_>, sum: impl FnOnce() -> u64) -> u64 {
        if let Some(known) = self.computed.borrow().get(&key) {
            return *known;
        }
        if let Some(range) = node.origin.byte_range() {
            return range.len() as u64;
        }
        let weight = with_deep_stack(sum);
        self.computed.borrow_mut().insert(key, weight);
        weight
    }

    fn of_items(&self, items: &[Node<'_>]) -> u64 {
        items.iter().fold(2, |sum: u64, item| sum.saturating_add(self.weight_of(item)).saturating_add(1))
    }

    fn of_entries(&self, entries: &[ObjectEntry<'_>]) -> u64 {
        let of = |entry: &ObjectEntry<'_>| self.weight_of(&entry.node).saturating_add(entry.key.len() as u64);
        entries.iter().fold(2, |sum: u64, entry| sum.saturating_add(of(entry)).saturating_add(4))
    }
}

/// Address and length: values are not moved or changed while a run is judged.
fn slice_identity<T>(slice: &[T]) -> (usize, usize) {
    (slice.as_ptr().addr(), slice.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;

    #[test]
    fn what_a_value_holds_twice_counts_twice_and_is_not_looked_through() {
        let (arena, weights) = (Bump::new(), ValueWeights::default());
        let twice = |inner| Node::computed(Value::List(arena.alloc([inner, inner])));
        let deep = (0..60).fold(Node::computed(Value::plain_text("four")), |inner, _| twice(inner));
        assert!(weights.weight_of(&deep) > 1 << 62);
        let deeper = (0..1_000).fold(deep, |inner, _| twice(inner));
        assert_eq!(weights.weight_of(&deeper), u64::MAX);
    }
}
