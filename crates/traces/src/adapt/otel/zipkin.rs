//! Spans of Zipkin, version 2: lists of them, or one a line. All that is not said by a key of theirs stands in tags, whose values are
//! text; an event is text as well, its name with its attributes behind it.

use crate::adapt::draft::Draft;
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{list, object, objects};
use crate::adapt::spans::{Span, Unit, instant, text_of_node};
use averment_base::value::{Node, Object, Text, Value};

key_table! {
    /// A span, and an event in it.
    OfZipkin {
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

/// Whether an object is a span of Zipkin: with both ids, a start in numbers, and tags or where it was recorded.
pub(super) fn is_span(span: Object<'_>) -> bool {
    let is_text = |word: OfZipkin| value_of(span, word).and_then(text_of_node).is_some_and(|text| !text.is_empty());
    let is_object = |word: OfZipkin| value_of(span, word).and_then(object).is_some();
    [OfZipkin::Trace, OfZipkin::Id].into_iter().all(is_text)
        && value_of(span, OfZipkin::Start).is_some_and(|start| matches!(start.value, Value::Number(_)))
        && [OfZipkin::Tags, OfZipkin::From].into_iter().any(is_object)
        && value_of(span, OfZipkin::Name).is_none_or(|name| text_of_node(name).is_some())
}

/// Start and end, both in microseconds.
pub(super) fn times(span: Object<'_>) -> (Option<f64>, Option<f64>) {
    let of = |word: OfZipkin| value_of(span, word).and_then(|node| instant(node, Unit::Microseconds));
    let start = of(OfZipkin::Start);
    (start, start.zip(of(OfZipkin::Duration)).map(|(start, duration)| start + duration))
}

/// Takes in what stands where other spans do not have it: the id, the error, which is a tag, and the events.
pub(super) fn complete<'run>(record: Object<'run>, span: &mut Span<'run>, draft: &Draft<'run, '_>) {
    span.id = value_of(record, OfZipkin::Id).and_then(text_of_node);
    let tags = value_of(record, OfZipkin::Tags).and_then(object);
    if let Some(error) =
        tags.and_then(|tags| value_of(tags, OfZipkin::Error)).and_then(|node| Some((node, text_of_node(node)?)))
    {
        let says = !matches!(error.1, "" | "true" | "false");
        span.failed = Some(error.1 != "false").filter(|failed| *failed).or(span.failed);
        span.error = says.then_some(error.0).or(span.error);
    }
    for (_, event) in value_of(record, OfZipkin::Events).and_then(list).into_iter().flat_map(objects) {
        if let Some((name, attributes)) = value_of(event, OfZipkin::Value).and_then(|value| named(value, draft)) {
            span.take_event(name, attributes, draft);
        }
    }
}

/// The name of an event and its attributes: `"NAME": {…}`.
fn named<'run>(event: Node<'run>, draft: &Draft<'run, '_>) -> Option<(&'run str, Node<'run>)> {
    let (name, attributes) = text_of_node(event)?.strip_prefix('"')?.split_once("\":")?;
    let attributes = Node::computed(Value::Text(Text::Plain(attributes.trim())));
    Some((name, attributes.embedded(draft.arena, draft.limits)?))
}
