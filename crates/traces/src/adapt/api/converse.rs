//! Bedrock's Converse: responses (`output.message`), and requests with their responses.

use super::{ApiKey, is_exchange, read_exchanges};
use crate::adapt::fields::{FieldRecord, key_table};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::nodes::{items_of, object_of, text_of};
use averment_base::value::Object;

key_table! {
    ConverseKey {
        Stop = "stopReason",
        Output = "output",
        Message = "message",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Bedrock Converse",
    known_by: "an `output` with a `message` beside `stopReason`",
    description: "responses of Bedrock's Converse, and requests with their responses",
    marks: &[ConverseKey::Stop.key(), ApiKey::Request.key()],
    object: |object| is_response(object) || is_exchange(object, is_response),
    item_marks: &[ConverseKey::Stop.key(), ApiKey::Request.key()],
    element: |object| is_response(object) || is_exchange(object, is_response),
    line: |object| is_exchange(object, is_response),
    alone: is_response,
    read: |root, draft| {
        let root = draft.arena.alloc(root);
        read_exchanges(items_of::<ApiKey>(root, &[]), draft);
        Ok(())
    },
    ..IN_FULL
};

fn is_response(object: Object<'_>) -> bool {
    text_of(object, ConverseKey::Stop).is_some()
        && object_of(object, ConverseKey::Output).is_some_and(|output| output.field(ConverseKey::Message).is_some())
}
