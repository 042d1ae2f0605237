//! Items of OpenAI's Conversations API: a page of a list. The API lists the newest item first unless it was asked for the other order.

use super::responses::{self, ItemKey};
use super::{ExchangeMerger, push_items};
use crate::adapt::fields::{FieldRecord as _, key_table};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::messages::MessageRole;
use crate::adapt::nodes::{list_of, node_object, object_items, text_of};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;

key_table! {
    ItemListKey {
        Object = "object",
        Data = "data",
        More = "has_more",
    }
}

key_table! {
    ItemListKind {
        List = "list",
    }
}

key_table! {
    ListedItemType {
        Message = "message",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "OpenAI conversation items",
    known_by: "a `list` whose `data` holds items such as `message` and `function_call`",
    description: "items of OpenAI's Conversations API (`data` of a list)",
    marks: &[ItemListKey::Data.key()],
    near: &[],
    object: |object| {
        text_of(object, ItemListKey::Object).and_then(ItemListKind::from_key).is_some()
            && list_of(object, ItemListKey::Data).is_some_and(|data| object_items(data).any(|(_, item)| is_item(item)))
    },
    read: |root, builder| {
        let Some(list) = node_object(root) else { return Ok(()) };
        let listed = list_of(list, ItemListKey::Data).unwrap_or_default();
        let items = builder.arena.alloc_slice_fill_iter(listed.iter().copied());
        if is_newest_first(listed) {
            items.reverse();
        }
        let items = &*items;
        items.iter().for_each(|_| builder.count_record());
        let mut pieces = Vec::new();
        push_items(items, &mut pieces, builder);
        ExchangeMerger { pieces, ..ExchangeMerger::default() }.finish_run(builder);
        // The rest of the conversation stands on other pages.
        if matches!(list.field(ItemListKey::More).map(|more| more.value), Some(Value::Boolean(true))) {
            builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
        }
        Ok(())
    },
    ..IN_FULL
};

fn is_item(item: Object<'_>) -> bool {
    let is_message = text_of(item, ItemKey::Type).and_then(ListedItemType::from_key).is_some()
        && text_of(item, ItemKey::Role).is_some()
        && list_of(item, ItemKey::Content).is_some();
    is_message || responses::is_item(item)
}

/// A result in front of its call, else an answer in front of all questions.
fn is_newest_first<'run>(items: &'run [Node<'run>]) -> bool {
    let kinds = || object_items(items).filter_map(|(_, item)| Some((item, responses::is_result(item)?)));
    let first_call = kinds().find(|(_, is_result)| !is_result).and_then(|(item, _)| text_of(item, ItemKey::CallId));
    let place = |wanted: bool| {
        let same =
            |(item, is_result): (Object<'_>, bool)| is_result == wanted && text_of(item, ItemKey::CallId) == first_call;
        object_items(items).position(|(_, item)| responses::is_result(item).is_some_and(|is| same((item, is))))
    };
    if let (Some(_), Some(call), Some(result)) = (first_call, place(false), place(true)) {
        return result < call;
    }
    let role = |item: Object<'run>| text_of(item, ItemKey::Role).and_then(MessageRole::from_key);
    let said = || object_items(items).filter_map(|(_, item)| role(item));
    let user = said().position(|role| role == MessageRole::User);
    let assistant = said().position(|role| role == MessageRole::Assistant);
    user.zip(assistant).is_some_and(|(user, assistant)| assistant < user)
}
