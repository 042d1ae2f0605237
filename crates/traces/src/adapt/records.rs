//! What a list of records is, told by its first elements.

use super::{detect, object};
use averment_base::value::{Node, Object};

/// So many values tell what a list of records holds.
const FIRST_RECORDS: usize = 8;

/// Whether more than half of the first records of a list are of a kind: what stands among them and is none is told where they are read.
pub(super) fn are_mostly<'n>(records: impl Iterator<Item = &'n Node<'n>>, is: impl Fn(Object<'n>) -> bool) -> bool {
    let first = records.take(FIRST_RECORDS).map(|node| object(*node).is_some_and(&is));
    let (all, known) = first.fold((0, 0), |(all, known), is| (all + 1, known + usize::from(is)));
    known * 2 > all
}

/// Whether a value is a run of a known format, and says something.
pub(crate) fn is_told(node: &Node<'_>) -> bool {
    object(*node).is_some_and(|object| !object.entries().is_empty()) && detect(node).is_some()
}
