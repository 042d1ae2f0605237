//! The normal form itself.

use super::{Format, Projected, never};
use crate::build::Normal;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;
use averment_runs::run::{Kind, ReadWarning, Records, RunSource};

/// The normal form.
pub(super) const FORMAT: Format = Format {
    name: "normal form",
    known_by: "all keys at the top are keys of the normal form",
    description: "the normal form (`calls`, `messages`, `output`, …)",
    marks: &[],
    object: is_normal,
    item_marks: &[],
    element: never,
    line: never,
    read: |_, _| Ok(()),
    runs: &[],
    projected: Projected::Calls,
};

/// Any key of the normal form is enough, and so is none at all: such a run records nothing.
fn is_normal(object: Object<'_>) -> bool {
    object.entries().is_empty() || object.entries().iter().any(|entry| is_key(entry.key))
}

/// Whether a key is an entry of a run in normal form.
pub(super) fn is_key(key: &str) -> bool {
    of_run::ALL.contains(&key) || Kind::ALL.iter().any(|kind| kind.list_key() == key)
}

/// A run in normal form as it stands.
pub(crate) fn normal<'run>(
    object: Node<'run>,
    text: &'run str,
    source: RunSource,
    warnings: Vec<ReadWarning>,
) -> Normal<'run> {
    Normal { text, source, format: FORMAT.name, object, order: None, records: Records::default(), warnings }
}
