//! Calls that were cut off: their arguments are not whole. A program may have carried one out or not, so that it is a call where something
//! tells what it gave, and otherwise nobody knows. Every reader of streams asks here. A call that is whole was asked for, however its
//! answer ended.

use super::MessagePart;
use super::responses::{self, ItemKey};
use crate::adapt::fields::key_table;
use crate::adapt::nodes::{first_of, node_object, node_text, text_of};
use crate::adapt::run_builder::RunBuilder;
use averment_base::limits::Limits;
use averment_base::value::{Node, Object, json};
use bumpalo::Bump;
use rustc_hash::FxHashSet;

pub(in crate::adapt) const CUT_CALL: &str = "a call whose arguments are cut off is passed over";

key_table! {
    CutStatus {
        Any = "incomplete" | "in_progress",
    }
}

/// Of a text that is cut off nothing is JSON.
pub(in crate::adapt) fn is_whole(arguments: &str, limits: &Limits) -> bool {
    json::parse(arguments, 0, &Bump::new(), limits).is_ok()
}

fn is_cut(item: Object<'_>, limits: &Limits) -> bool {
    let arguments = || first_of(item, &[ItemKey::Arguments, ItemKey::Input]);
    text_of(item, ItemKey::Status).and_then(CutStatus::from_key).is_some()
        && responses::is_function_call(item)
        && arguments().is_none_or(|node| {
            node_object(node).is_none() && !node_text(node).is_some_and(|text| is_whole(text, limits))
        })
}

/// Calls among items that were cut off, and of which no item tells what they gave: the places of these are told and returned.
pub(in crate::adapt) fn note_cut_calls<'run>(
    items: &[Option<(Node<'run>, Object<'run>)>],
    draft: &RunBuilder<'run, '_>,
) -> FxHashSet<usize> {
    let is_cut = |(place, item): (usize, &Option<(Node<'run>, Object<'run>)>)| {
        item.filter(|(_, item)| is_cut(*item, draft.limits)).map(|item| (place, item))
    };
    let mut cut: Vec<_> = items.iter().enumerate().filter_map(is_cut).collect();
    if !cut.is_empty() {
        let results = items.iter().flatten().filter(|(_, item)| responses::is_result(*item) == Some(true));
        let answered: FxHashSet<_> = results.filter_map(|(_, item)| text_of(*item, ItemKey::CallId)).collect();
        cut.retain(|(_, (_, item))| !text_of(*item, ItemKey::CallId).is_some_and(|id| answered.contains(id)));
    }
    cut.iter().for_each(|(_, (node, _))| draft.note_unknown(node.origin, CUT_CALL));
    cut.into_iter().map(|(place, _)| place).collect()
}

/// See [`note_cut_calls`].
pub(super) fn drop_cut_calls<'run>(pieces: &mut Vec<MessagePart<'run>>, draft: &RunBuilder<'run, '_>) {
    let item = |piece: &MessagePart<'run>| match *piece {
        MessagePart::Item(node, item) | MessagePart::Hosted(node, item) => Some((node, item)),
        _ => None,
    };
    if pieces.iter().any(|piece| item(piece).is_some()) {
        let cut = note_cut_calls(&pieces.iter().map(item).collect::<Vec<_>>(), draft);
        let mut places = 0..;
        pieces.retain(|_| !places.next().is_some_and(|place| cut.contains(&place)));
    }
}
