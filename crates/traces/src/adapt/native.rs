//! The normal form itself.

use super::{Format, never};
use crate::build::Normal;
use averment_base::value::{Node, Object};
use averment_runs::run::{ReadWarning, RunSource};

/// The normal form.
pub(super) const FORMAT: Format = Format {
    name: "normal form",
    description: "the normal form (`calls`, `messages`, `output`, …)",
    object: is_normal,
    element: never,
    line: never,
    read: |_, _| Ok(()),
};

/// The keys of the normal form.
const KEYS: [&str; 23] = [
    "id", "inputs", "prompt", "output", "calls", "messages", "commands", "reads", "writes", "skills", "http", "spans",
    "steps", "usage", "cost", "duration", "turns", "error", "meta", "env", "tools", "files", "complete",
];

/// Any key of the normal form is enough, and so is none at all: such a run records nothing.
fn is_normal(object: Object<'_>) -> bool {
    object.entries().is_empty() || object.entries().iter().any(|entry| KEYS.contains(&entry.key))
}

/// A run in normal form as it stands.
pub(crate) fn normal<'run>(
    object: Node<'run>,
    text: &'run str,
    source: RunSource,
    warnings: Vec<ReadWarning>,
) -> Normal<'run> {
    Normal { text, source, format: FORMAT.name, object, order: None, warnings }
}
