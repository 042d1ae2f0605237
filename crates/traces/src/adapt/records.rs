//! What a list of records is, told by its first elements.

use super::{FORMATS, TraceFormat, detect_format, node_object, record_payload};
use averment_base::value::{Node, Object};

/// So many values tell what a list of records holds.
const FIRST_RECORDS: usize = 8;

/// Whether more than half of the first records of a list are of a kind: what stands among them and is none is told where they are read.
pub(super) fn are_mostly<'n>(records: impl Iterator<Item = &'n Node<'n>>, is: impl Fn(Object<'n>) -> bool) -> bool {
    let first = records.take(FIRST_RECORDS).map(|node| node_object(*node).is_some_and(&is));
    let (all, known) = first.fold((0, 0), |(all, known), is| (all + 1, known + usize::from(is)));
    known * 2 > all
}

/// Whether a value is a run of a known format, and says something.
pub(crate) fn is_known_run(node: &Node<'_>) -> bool {
    node_object(*node).is_some_and(|object| !object.entries().is_empty()) && detect_format(node).is_some()
}

/// Whether a value is an element of a list that is one run, such as a message of a conversation; `None` where it may be a run of its own as
/// well as one of several answers in one.
pub(crate) fn is_element_of_one_run(node: &Node<'_>) -> Option<bool> {
    let known = FORMATS.iter().filter(|format| format.is_item(node, format.element));
    belongs_to_run(node, known)
}

/// Whether a value is a line of a file that is one run, such as an event of a session.
pub(crate) fn is_line_of_session(node: &Node<'_>) -> bool {
    let known = FORMATS.iter().filter(|format| format.is_item(node, format.line));
    belongs_to_run(node, known) == Some(true)
}

/// Whether a value that formats know as an item belongs to others.
fn belongs_to_run<'f>(node: &Node<'_>, mut known: impl Iterator<Item = &'f TraceFormat>) -> Option<bool> {
    let Some(format) = known.next() else { return Some(false) };
    (!record_payload(*node).is_some_and(format.alone)).then_some(true)
}
