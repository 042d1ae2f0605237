//! Spans of Zipkin, version 2: lists of them, or one a line. All that is not said by a key of theirs stands in tags, whose values are
//! text; an event is text as well, its name with its attributes behind it.

use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_list, node_object, node_text, object_items};
use crate::adapt::run_builder::RunBuilder;
use crate::adapt::spans::{InstantUnit, TraceSpan, instant_milliseconds};
use averment_base::value::{Node, Object, Value, ValueText};

key_table! {
    ZipkinKey {
        Trace = "traceId",
        Id = "id",
        Name = "name",
        Start = "timestamp",
        Duration = "duration",
        Tags = "tags",
        From = "localEndpoint",
        Events = "annotations",
        Value = "value",
        Error = "error",
    }
}

/// With both ids, a numeric start, and tags or an endpoint.
pub(super) fn is_span(span: Object<'_>) -> bool {
    let is_text = |word: ZipkinKey| value_of(span, word).and_then(node_text).is_some_and(|text| !text.is_empty());
    let is_object = |word: ZipkinKey| value_of(span, word).and_then(node_object).is_some();
    [ZipkinKey::Trace, ZipkinKey::Id].into_iter().all(is_text)
        && value_of(span, ZipkinKey::Start).is_some_and(|start| matches!(start.value, Value::Number(_)))
        && [ZipkinKey::Tags, ZipkinKey::From].into_iter().any(is_object)
        && value_of(span, ZipkinKey::Name).is_none_or(|name| node_text(name).is_some())
}

/// In microseconds.
pub(super) fn span_times(span: Object<'_>) -> (Option<f64>, Option<f64>) {
    let of =
        |word: ZipkinKey| value_of(span, word).and_then(|node| instant_milliseconds(node, InstantUnit::Microseconds));
    let start = of(ZipkinKey::Start);
    (start, start.zip(of(ZipkinKey::Duration)).map(|(start, duration)| start + duration))
}

/// Adds id, error (a tag) and events, which Zipkin stores differently.
pub(super) fn complete_span<'run>(record: Object<'run>, span: &mut TraceSpan<'run>, builder: &RunBuilder<'run, '_>) {
    span.id = value_of(record, ZipkinKey::Id).and_then(node_text);
    let tags = value_of(record, ZipkinKey::Tags).and_then(node_object);
    if let Some(error) =
        tags.and_then(|tags| value_of(tags, ZipkinKey::Error)).and_then(|node| Some((node, node_text(node)?)))
    {
        let says = !matches!(error.1, "" | "true" | "false");
        span.failed = Some(error.1 != "false").filter(|failed| *failed).or(span.failed);
        span.error = says.then_some(error.0).or(span.error);
    }
    for (_, event) in value_of(record, ZipkinKey::Events).and_then(node_list).into_iter().flat_map(object_items) {
        if let Some((name, attributes)) =
            value_of(event, ZipkinKey::Value).and_then(|value| named_event(value, builder))
        {
            span.take_event(name, attributes, builder);
        }
    }
}

/// `"NAME": {…}`: event name and attributes.
fn named_event<'run>(event: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<(&'run str, Node<'run>)> {
    let (name, attributes) = node_text(event)?.strip_prefix('"')?.split_once("\":")?;
    let attributes = Node::computed(Value::Text(ValueText::Plain(attributes.trim())));
    Some((name, builder.open_json(attributes)?))
}
