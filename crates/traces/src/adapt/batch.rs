//! Results of the batch APIs of OpenAI and of Anthropic: a line for each request, with the name that its sender gave it and the answer, or
//! why there is none.

use super::api::{anthropic, responses};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, node_object, object_of, text_of};
use super::openai_chat;
use super::run_builder::RunBuilder;
use crate::error::PlacedError;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;

key_table! {
    BatchKey {
        Custom = "custom_id",
        Response = "response",
        Body = "body",
        Result = "result",
        Type = "type",
        Message = "message",
        Error = "error",
    }
}

key_table! {
    BatchEnd {
        Answered = "succeeded",
        Not = "errored" | "canceled" | "expired",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "batch results",
    known_by: "`custom_id` beside the `response` or the `result` of a request",
    description: "results of the batch APIs of OpenAI and Anthropic (`custom_id` with `response` or `result`)",
    marks: &[BatchKey::Custom.key()],
    near: &[BatchKey::Custom.key()],
    object: |object| {
        text_of(object, BatchKey::Custom).is_some() && (is_of_openai(object) || line_ending(object).is_some())
    },
    read: read_run,
    ..IN_FULL
};

const ANSWERS: [&TraceFormat; 3] = [&responses::FORMAT, &anthropic::FORMAT, &openai_chat::FORMAT];

fn is_of_openai(line: Object<'_>) -> bool {
    match object_of(line, BatchKey::Response) {
        Some(response) => response.field(BatchKey::Body).is_some(),
        None => line.field(BatchKey::Response).is_some() && object_of(line, BatchKey::Error).is_some(),
    }
}

fn line_ending(line: Object<'_>) -> Option<BatchEnd> {
    text_of(object_of(line, BatchKey::Result)?, BatchKey::Type).and_then(BatchEnd::from_key)
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let Some(line) = node_object(root) else { return Ok(()) };
    builder.count_record();
    let holder = object_of(line, BatchKey::Response).or(object_of(line, BatchKey::Result));
    let answer = holder.and_then(|holder| first_of(holder, &[BatchKey::Body, BatchKey::Message]));
    let format = answer.and_then(node_object).and_then(|body| ANSWERS.into_iter().find(|format| (format.object)(body)));
    if let (Some(answer), Some(format)) = (answer, format) {
        (format.read)(answer, builder)?;
    } else if let Some(error) = error_node(line, holder, answer) {
        builder.set_entry(of_run::ERROR, error);
    } else {
        builder.skip_value(answer.unwrap_or(root), "an answer of a batch that is of no known API is skipped");
    }
    builder.set_some(of_run::ID, line.field(BatchKey::Custom).filter(|id| NodeShapes.is_text(*id)));
    Ok(())
}

/// The innermost error has a message; expired and canceled requests only have their end.
fn error_node<'run>(
    line: Object<'run>,
    holder: Option<Object<'run>>,
    answer: Option<Node<'run>>,
) -> Option<Node<'run>> {
    let of = |object: Object<'run>| first_of(object, &[BatchKey::Error]);
    let mut error = answer.and_then(node_object).and_then(of).or(holder.and_then(of)).or(of(line));
    while let Some(inner) =
        error.and_then(node_object).and_then(|error| first_of(error, &[BatchKey::Error, BatchKey::Message]))
    {
        error = Some(inner);
    }
    error.or_else(|| (line_ending(line) == Some(BatchEnd::Not)).then(|| holder?.field(BatchKey::Type)).flatten())
}
