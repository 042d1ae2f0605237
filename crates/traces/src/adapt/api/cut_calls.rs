//! Calls that were cut off: their arguments are not whole. A program may have carried one out or not, so that it is a call where something
//! tells what it gave, and otherwise nobody knows. Every reader of streams and of whole answers asks here. A call that is whole was asked
//! for, however its answer ended.

use super::MessagePart;
use super::answer_ends::AnswerEnds;
use super::responses::{self, ItemKey};
use crate::adapt::fields::key_table;
use crate::adapt::messages::{self, ChatMessageKey, ToolCallKey};
use crate::adapt::nodes::{first_of, node_object, node_text, text_of};
use crate::adapt::run_builder::{RunBuilder, field_entry};
use averment_base::limits::Limits;
use averment_base::value::{Node, Object, Value, json};
use bumpalo::Bump;
use rustc_hash::FxHashSet;

pub(in crate::adapt) const CUT_CALL: &str = "a call whose arguments are cut off is skipped";

key_table! {
    CutStatus {
        Any = "incomplete" | "in_progress",
    }
}

key_table! {
    /// How an answer says why it ended: a choice, or the answer itself.
    EndKey {
        Reason = "finish_reason",
        Status = "status",
    }
}

key_table! {
    /// Why an answer ended that is not whole.
    CutReason {
        Any = "length" | "max_tokens" | "MAX_TOKENS" | "content_filter" | "error" | "ERROR" | "incomplete",
    }
}

/// Whether an answer says that more would have come.
pub(in crate::adapt) fn is_cut_end(answer: Object<'_>) -> bool {
    let told = [EndKey::Reason, EndKey::Status].into_iter().filter_map(|key| text_of(answer, key));
    told.filter_map(CutReason::from_key).next().is_some()
}

/// Of a text that is cut off nothing is JSON.
pub(in crate::adapt) fn is_whole(arguments: &str, limits: &Limits) -> bool {
    json::parse(arguments, 0, &Bump::new(), limits).is_ok()
}

fn is_broken(arguments: Option<Node<'_>>, limits: &Limits) -> bool {
    arguments
        .is_none_or(|node| node_object(node).is_none() && !node_text(node).is_some_and(|text| is_whole(text, limits)))
}

/// An item whose own status says so, or that has none in an answer that was cut off.
fn is_cut(item: Object<'_>, is_of_cut: bool, limits: &Limits) -> bool {
    text_of(item, ItemKey::Status).map_or(is_of_cut, |word| CutStatus::from_key(word).is_some())
        && responses::is_function_call(item)
        && is_broken(first_of(item, &[ItemKey::Arguments, ItemKey::Input]), limits)
}

/// A call of an answer that was cut off, in the form of chat messages. Empty arguments are only doubtful for the last call.
fn is_cut_call(call: Object<'_>, is_last: bool, limits: &Limits) -> bool {
    let function = messages::called_function(call);
    let arguments = messages::call_arguments(&function);
    let is_empty = || arguments.is_none_or(|given| node_text(given).is_some_and(str::is_empty));
    is_broken(arguments, limits) && (is_last || !is_empty())
}

/// Calls among items that were cut off, and of which no item tells what they gave: the places of these are told and returned.
pub(in crate::adapt) fn note_cut_calls<'run>(
    items: &[Option<(Node<'run>, Object<'run>)>],
    is_of_cut: impl Fn(usize) -> bool,
    builder: &RunBuilder<'run, '_>,
) -> FxHashSet<usize> {
    let is_cut = |(place, item): (usize, &Option<(Node<'run>, Object<'run>)>)| {
        item.filter(|(_, item)| is_cut(*item, is_of_cut(place), builder.limits)).map(|item| (place, item))
    };
    let mut cut: Vec<_> = items.iter().enumerate().filter_map(is_cut).collect();
    if !cut.is_empty() {
        let results = items.iter().flatten().filter(|(_, item)| responses::is_result(*item) == Some(true));
        let answered: FxHashSet<_> = results.filter_map(|(_, item)| text_of(*item, ItemKey::CallId)).collect();
        cut.retain(|(_, (_, item))| !text_of(*item, ItemKey::CallId).is_some_and(|id| answered.contains(id)));
    }
    cut.iter().for_each(|(_, (node, _))| builder.note_unknown(node.origin, CUT_CALL));
    cut.into_iter().map(|(place, _)| place).collect()
}

/// See [`note_cut_calls`].
pub(super) fn drop_cut_calls<'run>(
    pieces: &mut Vec<MessagePart<'run>>,
    ends: &AnswerEnds<'run>,
    builder: &RunBuilder<'run, '_>,
) {
    let item = |piece: &MessagePart<'run>| match *piece {
        MessagePart::Item(node, item) | MessagePart::Hosted(node, item) => Some((node, item)),
        _ => None,
    };
    let mut cut = FxHashSet::default();
    if pieces.iter().any(|piece| item(piece).is_some()) {
        let items: Vec<_> = pieces.iter().map(item).collect();
        cut = note_cut_calls(&items, |place| ends.is_cut(place), builder);
    }
    let answer = |piece: &MessagePart<'run>| match *piece {
        MessagePart::Result(_, message) => text_of(message, ChatMessageKey::Answers),
        _ => None,
    };
    let answered: FxHashSet<_> =
        if ends.has_cut() { pieces.iter().filter_map(answer).collect() } else { FxHashSet::default() };
    for (place, piece) in pieces.iter().enumerate().filter(|(place, _)| ends.is_cut(*place)) {
        let MessagePart::Call(node, call) = *piece else { continue };
        let is_last = !matches!(pieces.get(place + 1), Some(MessagePart::Call(..)));
        let id = text_of(call, ToolCallKey::Id);
        let is_answered = || id.is_some_and(|id| answered.contains(id));
        if is_cut_call(call, is_last, builder.limits) && !is_answered() {
            builder.note_unknown(node.origin, CUT_CALL);
            cut.insert(place);
        }
    }
    let mut places = 0..;
    pieces.retain(|_| !places.next().is_some_and(|place| cut.contains(&place)));
}

/// See [`note_cut_calls`]: of messages, and the places of those with which answers were told that a limit cut off.
pub(in crate::adapt) fn drop_cut_from<'run>(
    messages: &mut [Node<'run>],
    places: &[usize],
    builder: &RunBuilder<'run, '_>,
) {
    if places.is_empty() {
        return;
    }
    let said = messages.iter().filter_map(|message| node_object(*message));
    let answered: FxHashSet<_> = said.filter_map(|message| text_of(message, ChatMessageKey::Answers)).collect();
    for place in places {
        let Some(node) = messages.get_mut(*place) else { continue };
        let Some(message) = node_object(*node) else { continue };
        let entries = message.entries().iter().map(|entry| {
            let calls = match (ChatMessageKey::from_key(entry.key), &entry.node.value) {
                (Some(ChatMessageKey::Calls), Value::List(calls)) => *calls,
                (Some(ChatMessageKey::Call), Value::Object(_)) => std::slice::from_ref(&entry.node),
                _ => return *entry,
            };
            let is_left = |(at, call): (usize, &Node<'run>)| {
                let is_cut = node_object(*call).is_some_and(|call| {
                    is_cut_call(call, at + 1 == calls.len(), builder.limits)
                        && !text_of(call, ToolCallKey::Id).is_some_and(|id| answered.contains(id))
                });
                if is_cut {
                    builder.note_unknown(call.origin, CUT_CALL);
                }
                (!is_cut).then_some(*call)
            };
            let left: Vec<_> = calls.iter().enumerate().filter_map(is_left).collect();
            match left.len() == calls.len() {
                true => *entry,
                // An empty list says that the message tells of calls.
                false => field_entry(ChatMessageKey::Calls.key(), builder.list_node(&left)),
            }
        });
        let entries: Vec<_> = entries.collect();
        *node = Node::new(builder.object_node(&entries).value, node.origin);
    }
}
