//! Traces of the OpenAI Agents SDK, as its exporters write them: a record for the trace, and one for each span.

use super::cutting::Cutting;
use super::draft::Draft;
use super::fields::{key_table, value_of};
use super::format::{Format, IN_FULL};
use super::nodes::{are_mostly, list, object};
use super::spans::attributes::Fact;
use super::spans::{Act, Span, Unit, Whole, instant, tell, text_of_node, ways};
use crate::error::Placed;
use averment_base::value::{Node, Object, Value};

key_table! {
    /// A record, and what it says of its span.
    Of {
        Object = "object",
        Id = "id",
        Trace = "trace_id",
        Parent = "parent_id",
        Start = "started_at",
        End = "ended_at",
        Data = "span_data",
        Error = "error",
        Message = "message",
        Group = "group_id",
        Type = "type",
        Name = "name",
        Input = "input",
        Output = "output",
        Model = "model",
        Usage = "usage",
        TokensIn = "input_tokens" | "prompt_tokens",
        TokensOut = "output_tokens" | "completion_tokens",
        TokensAll = "total_tokens",
        Response = "response",
        From = "from_agent",
        To = "to_agent",
        Items = "data",
    }
}

key_table! {
    /// What a record is.
    Record {
        Trace = "trace",
        Span = "trace.span",
    }
}

key_table! {
    /// What a span is.
    SpanType {
        Agent = "agent",
        Function = "function",
        Model = "generation" | "response",
        Handover = "handoff",
    }
}

key_table! {
    /// Those that nothing else has.
    Near {
        Any = "span_data" | "workflow_name",
    }
}

key_table! {
    /// Keys of which a record, or what holds records, has one.
    Mark {
        Any = "object" | "data",
    }
}

ways! {
    /// The trace that a record belongs to; a record of a trace has its id.
    TRACE = [["trace_id"], ["id"]];
}

/// A trace of the SDK.
pub(super) const FORMAT: Format = Format {
    name: "OpenAI Agents SDK trace",
    description: "traces of the OpenAI Agents SDK (`object`: `trace` and `trace.span`)",
    known_by: "records whose `object` is `trace` or `trace.span`, with `span_data` or `workflow_name`",
    marks: Mark::Any.keys(),
    near: Near::Any.keys(),
    object: |object| record(object).is_some() || is_payload(object),
    item_marks: Mark::Any.keys(),
    element: |object| record(object).is_some() || is_payload(object),
    read,
    runs: &[
        Cutting { within: &[], way: &[Of::Items.keys()], by: TRACE, keeps: &[] },
        Cutting { within: &[], way: &[], by: TRACE, keeps: &[] },
    ],
    ..IN_FULL
};

fn record(object: Object<'_>) -> Option<Record> {
    let record = value_of(object, Of::Object).and_then(text_of_node).and_then(Record::from_key)?;
    let is_known = match record {
        Record::Trace => value_of(object, Of::Id).is_some_and(|id| text_of_node(id).is_some()),
        Record::Span => value_of(object, Of::Data).is_some_and(|data| super::nodes::object(data).is_some()),
    };
    is_known.then_some(record)
}

fn is_payload(payload: Object<'_>) -> bool {
    let items = value_of(payload, Of::Items).and_then(list).unwrap_or_default();
    are_mostly(items.iter(), |item| record(item).is_some())
}

/// Finds the records; what stands among them and is none has no kind.
fn collect<'run>(node: Node<'run>, found: &mut Vec<(Node<'run>, Option<(Record, Object<'run>)>)>, depth: usize) {
    const DEEP: usize = 4;
    match node.value {
        Value::List(items) if depth < DEEP => items.iter().for_each(|item| collect(*item, found, depth + 1)),
        Value::Object(object) => match (record(object), value_of(object, Of::Items)) {
            (Some(record), _) => found.push((node, Some((record, object)))),
            (None, Some(items)) if depth < DEEP => collect(items, found, depth + 1),
            _ => found.push((node, None)),
        },
        _ => found.push((node, None)),
    }
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let mut records = Vec::new();
    collect(root, &mut records, 0);
    let (mut spans, mut whole) = (Vec::new(), Whole::default());
    for (node, known) in records {
        draft.record();
        let Some((record, object)) = known else {
            draft.not_understood(node.origin, "what is no trace and no span is passed over");
            continue;
        };
        match record {
            Record::Trace => {
                whole.id = value_of(object, Of::Id);
                whole.session = value_of(object, Of::Group);
            }
            Record::Span => {
                whole.id = whole.id.or_else(|| value_of(object, Of::Trace).filter(|id| text_of_node(*id).is_some()));
                spans.push(span(node, object, draft));
            }
        }
    }
    tell(spans, whole, draft);
    Ok(())
}

fn span<'run>(node: Node<'run>, record: Object<'run>, draft: &mut Draft<'run, '_>) -> Span<'run> {
    let mut span = Span::new(node.origin);
    span.id = value_of(record, Of::Id).and_then(text_of_node);
    span.parent = value_of(record, Of::Parent).and_then(text_of_node);
    let at = |word| value_of(record, word).and_then(|node| instant(node, Unit::NanosecondsByLength));
    (span.start, span.end) = (at(Of::Start), at(Of::End));
    span.attributes = value_of(record, Of::Data);
    let error = value_of(record, Of::Error);
    span.error = error.map(|error| object(error).and_then(|error| value_of(error, Of::Message)).unwrap_or(error));
    span.failed = error.map(|_| true);
    let Some(data) = span.attributes.and_then(object) else { return span };
    let kind = value_of(data, Of::Type);
    span.name = value_of(data, Of::Name).or(kind);
    let (input, output) = (value_of(data, Of::Input), value_of(data, Of::Output));
    span.act = match kind.and_then(text_of_node).and_then(SpanType::from_key) {
        Some(SpanType::Agent) => Act::Agent,
        Some(SpanType::Function) => {
            span.tell(Fact::Args, input);
            span.tell(Fact::Result, output);
            Act::Tool
        }
        Some(SpanType::Model) => {
            let response = value_of(data, Of::Response).and_then(object);
            span.tell(Fact::MessagesIn, input);
            span.tell(Fact::MessagesOut, output.or_else(|| value_of(response?, Of::Output)));
            span.tell(Fact::Model, value_of(data, Of::Model).or_else(|| value_of(response?, Of::Model)));
            usage(value_of(data, Of::Usage).or_else(|| value_of(response?, Of::Usage)), &mut span);
            Act::Inference
        }
        Some(SpanType::Handover) => {
            span.tell(Fact::HandoverFrom, value_of(data, Of::From));
            span.tell(Fact::HandoverTo, value_of(data, Of::To));
            Act::Part
        }
        None => Act::Part,
    };
    span.conclude(draft);
    span
}

fn usage<'run>(usage: Option<Node<'run>>, span: &mut Span<'run>) {
    let Some(usage) = usage.and_then(object) else { return };
    for (fact, word) in
        [(Fact::TokensIn, Of::TokensIn), (Fact::TokensOut, Of::TokensOut), (Fact::TokensAll, Of::TokensAll)]
    {
        span.tell(fact, value_of(usage, word));
    }
}
