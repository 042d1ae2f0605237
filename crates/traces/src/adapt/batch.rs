//! Results of the batch APIs of OpenAI and of Anthropic: a line for each request, with the name that its sender gave it and the answer, or
//! why there is none.

use super::api::{anthropic, responses};
use super::draft::Draft;
use super::fields::{Parsed, Record, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::nodes::{first_of, object, object_of, text_of};
use super::openai_chat;
use crate::error::Placed;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;

key_table! {
    /// A result, and what it holds the answer in.
    OfBatch {
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
    /// How a request of Anthropic's ended.
    End {
        Answered = "succeeded",
        Not = "errored" | "canceled" | "expired",
    }
}

/// Results of a batch, one a line.
pub(crate) const FORMAT: Format = Format {
    name: "batch results",
    known_by: "`custom_id` beside the `response` or the `result` of a request",
    description: "results of the batch APIs of OpenAI and Anthropic (`custom_id` with `response` or `result`)",
    marks: &[OfBatch::Custom.key()],
    near: &[OfBatch::Custom.key()],
    object: |object| text_of(object, OfBatch::Custom).is_some() && (is_of_openai(object) || end(object).is_some()),
    read,
    ..IN_FULL
};

/// The formats that an answer may be in.
const ANSWERS: [&Format; 3] = [&responses::FORMAT, &anthropic::FORMAT, &openai_chat::FORMAT];

/// A response with its body, or none and why.
fn is_of_openai(line: Object<'_>) -> bool {
    match object_of(line, OfBatch::Response) {
        Some(response) => response.field(OfBatch::Body).is_some(),
        None => line.field(OfBatch::Response).is_some() && object_of(line, OfBatch::Error).is_some(),
    }
}

fn end(line: Object<'_>) -> Option<End> {
    text_of(object_of(line, OfBatch::Result)?, OfBatch::Type).and_then(End::from_key)
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let Some(line) = object(root) else { return Ok(()) };
    draft.record();
    let holder = object_of(line, OfBatch::Response).or(object_of(line, OfBatch::Result));
    let answer = holder.and_then(|holder| first_of(holder, &[OfBatch::Body, OfBatch::Message]));
    let format = answer.and_then(object).and_then(|body| ANSWERS.into_iter().find(|format| (format.object)(body)));
    if let (Some(answer), Some(format)) = (answer, format) {
        (format.read)(answer, draft)?;
    } else if let Some(error) = error(line, holder, answer) {
        draft.set(of_run::ERROR, error);
    } else {
        draft.not_understood(
            answer.unwrap_or(root).origin,
            "an answer of a batch that is of no known API is passed over",
        );
    }
    draft.set_some(of_run::ID, line.field(OfBatch::Custom).filter(|id| Parsed.is_text(*id)));
    Ok(())
}

/// Why there is no answer: what is innermost says it in words. What ran out of time or was given up has no words but its end.
fn error<'run>(line: Object<'run>, holder: Option<Object<'run>>, answer: Option<Node<'run>>) -> Option<Node<'run>> {
    let of = |object: Object<'run>| first_of(object, &[OfBatch::Error]);
    let mut error = answer.and_then(object).and_then(of).or(holder.and_then(of)).or(of(line));
    while let Some(inner) =
        error.and_then(object).and_then(|error| first_of(error, &[OfBatch::Error, OfBatch::Message]))
    {
        error = Some(inner);
    }
    error.or_else(|| (end(line) == Some(End::Not)).then(|| holder?.field(OfBatch::Type)).flatten())
}
