//! The fields of one step: what is recorded, with room for what is derived.

use crate::error::PlacedError;
use averment_base::value::{Node, Object, ObjectEntry, TextOrigin, Value};
use averment_runs::run::StepKind;
use bumpalo::Bump;
use std::sync::LazyLock;

/// Maximum standard fields of a kind; a test checks it.
const MOST: usize = 24;

/// Positions in [`Kind::fields`] as bits, by a name's length and first letter.
type FieldPositions = [u32; 32];

static POSITIONS: LazyLock<[FieldPositions; StepKind::ALL.len()]> = LazyLock::new(|| {
    StepKind::ALL.map(|kind| {
        let mut positions = FieldPositions::default();
        for (name, bit) in kind.field_names().iter().zip((0..MOST).map(|position| 1 << position)) {
            if let Some(bits) = positions.get_mut(name_slot(name)) {
                *bits |= bit;
            }
        }
        positions
    })
});

/// Equal for names of the same length and first letter.
fn name_slot(name: &str) -> usize {
    let first = name.as_bytes().first().copied().unwrap_or_default();
    name.len().wrapping_add(usize::from(first)) % 32
}

pub(super) struct StepFields<'run> {
    names: &'static [&'static str],
    positions: &'static FieldPositions,
    slots: [Option<Node<'run>>; MOST],
    recorded: &'run [ObjectEntry<'run>],
    /// Recorded fields that are none of the kind's.
    others: usize,
}

impl<'run> StepFields<'run> {
    pub(super) fn from_recorded(kind: StepKind, recorded: &'run [ObjectEntry<'run>]) -> Self {
        static NONE: FieldPositions = [0; 32];
        let positions = POSITIONS.get(kind as usize).unwrap_or(&NONE);
        let mut fields = Self { names: kind.field_names(), positions, slots: [None; MOST], recorded, others: 0 };
        for entry in recorded {
            if !fields.fill_slot(entry.key, entry.node) {
                fields.others += 1;
            }
        }
        fields
    }

    fn field_slot(&self, name: &str) -> Option<usize> {
        let mut left = *self.positions.get(name_slot(name))?;
        while left != 0 {
            let position = left.trailing_zeros() as usize;
            if self.names.get(position) == Some(&name) {
                return Some(position);
            }
            left &= left.wrapping_sub(1);
        }
        None
    }

    pub(super) fn field_node(&self, name: &str) -> Option<Node<'run>> {
        self.slots.get(self.field_slot(name)?).copied().flatten()
    }

    /// For fields in which `null` means unknown.
    pub(super) fn known_field(&self, name: &str) -> Option<Node<'run>> {
        self.field_node(name).filter(|node| !matches!(node.value, Value::Null | Value::Absent))
    }

    /// For messages: `` : its keys are `fn`, `payload` ``.
    pub(super) fn keys_text(&self) -> String {
        const SHOWN: usize = 8;
        let keys: Vec<String> = self.recorded.iter().take(SHOWN).map(|entry| format!("`{}`", entry.key)).collect();
        let more = if self.recorded.len() > SHOWN { ", …" } else { "" };
        if keys.is_empty() { String::new() } else { format!(": its keys are {}{more}", keys.join(", ")) }
    }

    /// The entries that are no fields of the kind.
    pub(super) fn recorded_others(&self) -> impl Iterator<Item = &'run ObjectEntry<'run>> {
        let is_other = |entry: &&ObjectEntry<'run>| self.field_slot(entry.key).is_none();
        self.recorded.iter().filter(move |_| self.others > 0).filter(is_other)
    }

    pub(super) fn recorded_field(&self, name: &str) -> Option<Node<'run>> {
        self.recorded.iter().find(|entry| entry.key == name).map(|entry| entry.node)
    }

    pub(super) fn set_field(&mut self, name: &str, node: Node<'run>) {
        let _no_such_field = self.fill_slot(name, node);
    }

    /// False where the kind has no such field.
    fn fill_slot(&mut self, name: &str, node: Node<'run>) -> bool {
        let slot = self.field_slot(name).and_then(|slot| self.slots.get_mut(slot));
        slot.is_some_and(|slot| {
            *slot = Some(node);
            true
        })
    }

    pub(super) fn clear_field(&mut self, name: &str) {
        if let Some(slot) = self.field_slot(name).and_then(|slot| self.slots.get_mut(slot)) {
            *slot = None;
        }
    }

    pub(super) fn mark_absent(&mut self, names: &[&str]) {
        for name in names {
            if self.field_node(name).is_none() {
                self.set_field(name, Node::computed(Value::Absent));
            }
        }
    }

    pub(super) fn field_text(&self, name: &str, what: &str) -> Result<Option<(&'run str, TextOrigin)>, PlacedError> {
        match self.known_field(name) {
            None => Ok(None),
            Some(Node { value: Value::Text(text), origin }) => Ok(Some((text.as_str(), origin))),
            Some(node) => Err(wrong_type(node, what, name, "text")),
        }
    }

    /// Recorded fields in order, then derived ones in table order.
    pub(super) fn into_object(self, arena: &'run Bump) -> Object<'run> {
        // Exactly as many as there are: a run may have a million steps.
        let room = self.others + self.slots.iter().flatten().count();
        let mut entries = bumpalo::collections::Vec::with_capacity_in(room, arena);
        let mut placed = [false; MOST];
        for entry in self.recorded {
            match self.field_slot(entry.key) {
                None => entries.push(*entry),
                Some(slot) => {
                    if let Some(done) = placed.get_mut(slot) {
                        *done = true;
                    }
                    if let Some(node) = self.slots.get(slot).copied().flatten() {
                        entries.push(ObjectEntry { key: entry.key, node });
                    }
                }
            }
        }
        for ((key, slot), done) in self.names.iter().zip(&self.slots).zip(&placed) {
            if let (Some(node), false) = (slot, done) {
                entries.push(ObjectEntry { key, node: *node });
            }
        }
        Object::new(arena, entries.into_bump_slice())
    }
}

/// The text of a field that a step has to have.
pub(super) fn required_text<'run>(
    fields: &StepFields<'run>,
    field: &str,
    what: &str,
    origin: TextOrigin,
) -> Result<&'run str, PlacedError> {
    match fields.field_text(field, what)? {
        Some((text, _)) => Ok(text),
        None => {
            let message = format!("{what} without `{field}`{}", fields.keys_text());
            Err(PlacedError::new(origin, message, format!("add `\"{field}\": \"…\"`")))
        }
    }
}

/// ``the `tool` of a call must be text, found number``.
pub(super) fn wrong_type(node: Node<'_>, what: &str, field: &str, expected: &str) -> PlacedError {
    let found = node.value.type_name();
    PlacedError::new(
        node.origin,
        format!("the `{field}` of {what} must be {expected}, found {found}"),
        format!("write {expected}, or leave `{field}` out"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_standard_field_of_every_kind_has_its_slot() {
        for kind in StepKind::ALL {
            assert!(kind.field_names().len() <= MOST, "{kind:?}");
        }
    }
}
