//! What a list of records is, told by its first elements.

use super::{FORMATS, TraceFormat, detect_format, node_object, record_payload};
use averment_base::value::{Node, Object};

/// Values examined to classify a list of records.
const FIRST_RECORDS: usize = 8;

/// True if more than half of the first records match; others are reported later.
pub(super) fn are_mostly<'n>(records: impl Iterator<Item = &'n Node<'n>>, is: impl Fn(Object<'n>) -> bool) -> bool {
    let first = records.take(FIRST_RECORDS).map(|node| node_object(*node).is_some_and(&is));
    let (all, known) = first.fold((0, 0), |(all, known), is| (all + 1, known + usize::from(is)));
    known * 2 > all
}

/// True for a known, non-empty run.
pub(crate) fn is_known_run(node: &Node<'_>) -> bool {
    node_object(*node).is_some_and(|object| !object.entries().is_empty()) && detect_format(node).is_some()
}

/// `None` if it may be a run of its own, or one of several answers in one.
pub(crate) fn is_element_of_one_run(node: &Node<'_>) -> Option<bool> {
    let known = FORMATS.iter().filter(|format| format.is_item(node, format.element));
    belongs_to_run(node, known)
}

pub(crate) fn is_line_of_session(node: &Node<'_>) -> bool {
    let known = FORMATS.iter().filter(|format| format.is_item(node, format.line));
    belongs_to_run(node, known) == Some(true)
}

/// True if a known item belongs to a larger run.
fn belongs_to_run<'f>(node: &Node<'_>, mut known: impl Iterator<Item = &'f TraceFormat>) -> Option<bool> {
    let Some(format) = known.next() else { return Some(false) };
    (!record_payload(*node).is_some_and(format.alone)).then_some(true)
}
