//! Bedrock's Converse: responses (`output.message`), whole or as streamed events, and requests with their responses.

use super::converse_stream::{ConverseEventKey, compose_answers, is_beside, is_event};
use super::{ApiKey, is_exchange, read_exchanges};
use crate::adapt::fields::{FieldRecord, key_table};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::nodes::{items_of, object_of, text_of};
use crate::adapt::run_builder::RunBuilder;
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;

key_table! {
    ConverseKey {
        Stop = "stopReason",
        Output = "output",
        Message = "message",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Bedrock Converse",
    known_by: "an `output` with a `message` beside `stopReason`, or events such as `contentBlockDelta`",
    description: "responses of Bedrock's Converse, streamed events included, and requests with their responses",
    marks: &[ConverseKey::Stop.key(), ApiKey::Request.key()],
    object: |object| is_response(object) || is_exchange(object, is_response, is_event),
    item_marks: &[
        ConverseKey::Stop.key(),
        ApiKey::Request.key(),
        ConverseEventKey::Begin.key(),
        ConverseEventKey::Block.key(),
        ConverseEventKey::Delta.key(),
        ConverseEventKey::BlockEnd.key(),
        ConverseEventKey::End.key(),
    ],
    element: |object| is_response(object) || is_exchange(object, is_response, is_event) || is_event(object),
    line: |object| is_exchange(object, is_response, is_event) || is_event(object),
    beside: is_beside,
    alone: is_response,
    read: read_run,
    ..IN_FULL
};

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    let (answers, is_over) = compose_answers(items_of::<ApiKey>(root, &[]), builder);
    read_exchanges(builder.arena.alloc_slice_copy(&answers), builder);
    if !is_over {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    Ok(())
}

fn is_response(object: Object<'_>) -> bool {
    text_of(object, ConverseKey::Stop).is_some()
        && object_of(object, ConverseKey::Output).is_some_and(|output| output.field(ConverseKey::Message).is_some())
}
