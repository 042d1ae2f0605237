//! The fields of one step: what is recorded, with room for what is derived.

use crate::error::Placed;
use averment_base::value::{Entry, Node, Object, Origin, Value};
use averment_runs::run::Kind;
use bumpalo::Bump;
use std::sync::LazyLock;

/// No kind has more standard fields than this; a test proves it.
const MOST: usize = 24;

/// Where the names of a kind's fields stand in [`Kind::fields`], as bits, by the length and the first letter of a name.
type Positions = [u32; 32];

static POSITIONS: LazyLock<[Positions; Kind::ALL.len()]> = LazyLock::new(|| {
    Kind::ALL.map(|kind| {
        let mut positions = Positions::default();
        for (name, bit) in kind.fields().iter().zip((0..MOST).map(|position| 1 << position)) {
            if let Some(bits) = positions.get_mut(alike(name)) {
                *bits |= bit;
            }
        }
        positions
    })
});

/// A number that names have in common which are of one length and begin alike, and few others.
fn alike(name: &str) -> usize {
    let first = name.as_bytes().first().copied().unwrap_or_default();
    name.len().wrapping_add(usize::from(first)) % 32
}

/// The standard fields of a step by their position in [`Kind::fields`].
pub(super) struct Fields<'run> {
    names: &'static [&'static str],
    positions: &'static Positions,
    slots: [Option<Node<'run>>; MOST],
    recorded: &'run [Entry<'run>],
}

impl<'run> Fields<'run> {
    pub(super) fn of(kind: Kind, recorded: &'run [Entry<'run>]) -> Self {
        static NONE: Positions = [0; 32];
        let positions = POSITIONS.get(kind as usize).unwrap_or(&NONE);
        let mut fields = Self { names: kind.fields(), positions, slots: [None; MOST], recorded };
        for entry in recorded {
            fields.set(entry.key, entry.node);
        }
        fields
    }

    fn slot(&self, name: &str) -> Option<usize> {
        let mut left = *self.positions.get(alike(name))?;
        while left != 0 {
            let position = left.trailing_zeros() as usize;
            if self.names.get(position) == Some(&name) {
                return Some(position);
            }
            left &= left.wrapping_sub(1);
        }
        None
    }

    pub(super) fn get(&self, name: &str) -> Option<Node<'run>> {
        self.slots.get(self.slot(name)?).copied().flatten()
    }

    /// The value of a field that is recorded and not `null`: for fields in which `null` says that nothing is known.
    pub(super) fn known(&self, name: &str) -> Option<Node<'run>> {
        self.get(name).filter(|node| !matches!(node.value, Value::Null | Value::Absent))
    }

    /// `` : its keys are `fn`, `payload` ``: what is there, where something else is looked for.
    pub(super) fn keys(&self) -> String {
        const SHOWN: usize = 8;
        let keys: Vec<String> = self.recorded.iter().take(SHOWN).map(|entry| format!("`{}`", entry.key)).collect();
        let more = if self.recorded.len() > SHOWN { ", …" } else { "" };
        if keys.is_empty() { String::new() } else { format!(": its keys are {}{more}", keys.join(", ")) }
    }

    /// Any recorded field, standard or not.
    pub(super) fn other(&self, name: &str) -> Option<Node<'run>> {
        self.recorded.iter().find(|entry| entry.key == name).map(|entry| entry.node)
    }

    /// Sets a standard field; any other name is left alone.
    pub(super) fn set(&mut self, name: &str, node: Node<'run>) {
        if let Some(slot) = self.slot(name).and_then(|slot| self.slots.get_mut(slot)) {
            *slot = Some(node);
        }
    }

    /// Takes a standard field out: as if it were not recorded.
    pub(super) fn clear(&mut self, name: &str) {
        if let Some(slot) = self.slot(name).and_then(|slot| self.slots.get_mut(slot)) {
            *slot = None;
        }
    }

    /// Marks standard fields without a value as not recorded.
    pub(super) fn absent(&mut self, names: &[&str]) {
        for name in names {
            if self.get(name).is_none() {
                self.set(name, Node::computed(Value::Absent));
            }
        }
    }

    /// Text of a field that must be text where it is recorded.
    pub(super) fn text(&self, name: &str, what: &str) -> Result<Option<(&'run str, Origin)>, Placed> {
        match self.known(name) {
            None => Ok(None),
            Some(Node { value: Value::Text(text), origin }) => Ok(Some((text.as_str(), origin))),
            Some(node) => Err(wrong_type(node, what, name, "text")),
        }
    }

    /// The object: recorded fields in their order, then the derived ones in the order of the table.
    pub(super) fn into_object(self, arena: &'run Bump) -> Object<'run> {
        let mut entries = bumpalo::collections::Vec::with_capacity_in(self.names.len() + self.recorded.len(), arena);
        let mut placed = [false; MOST];
        for entry in self.recorded {
            match self.slot(entry.key) {
                None => entries.push(*entry),
                Some(slot) => {
                    if let Some(done) = placed.get_mut(slot) {
                        *done = true;
                    }
                    if let Some(node) = self.slots.get(slot).copied().flatten() {
                        entries.push(Entry { key: entry.key, node });
                    }
                }
            }
        }
        for ((key, slot), done) in self.names.iter().zip(&self.slots).zip(&placed) {
            if let (Some(node), false) = (slot, done) {
                entries.push(Entry { key, node: *node });
            }
        }
        Object::new(arena, entries.into_bump_slice())
    }
}

/// The text of a field that a step has to have.
pub(super) fn required<'run>(
    fields: &Fields<'run>,
    field: &str,
    what: &str,
    origin: Origin,
) -> Result<&'run str, Placed> {
    match fields.text(field, what)? {
        Some((text, _)) => Ok(text),
        None => {
            let message = format!("{what} without `{field}`{}", fields.keys());
            Err(Placed::new(origin, message, format!("add `\"{field}\": \"…\"`")))
        }
    }
}

/// `the `tool` of a call must be text, found number`.
pub(super) fn wrong_type(node: Node<'_>, what: &str, field: &str, expected: &str) -> Placed {
    let found = node.value.type_name();
    Placed::new(
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
        for kind in Kind::ALL {
            assert!(kind.fields().len() <= MOST, "{kind:?}");
        }
    }
}
