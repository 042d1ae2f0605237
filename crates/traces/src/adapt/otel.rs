//! Spans of OpenTelemetry in the containers in which people have them: OTLP as JSON, exports of Tempo and Jaeger, lists of spans as SDKs
//! print them. What their attributes mean is a matter of dialects ([`super::spans`]); OpenInference is one, with a name of its own.

mod trace;
mod zipkin;

use super::cutting::Cutting;
use super::draft::Draft;
use super::fields::{key_table, value_of};
use super::format::{Format, IN_FULL};
use super::nodes::{are_mostly, list, object, objects};
use super::spans::{text_of_node, ways};
use crate::error::Placed;
use averment_base::value::{Entry, Node, Object, Value};
pub(crate) use trace::{Detail, Form, OfSpan, Trace, Words};

key_table! {
    /// What holds spans.
    OfContainer {
        Resources = "resourceSpans" | "batches" | "resource_spans",
        Scopes = "scopeSpans" | "instrumentationLibrarySpans" | "scope_spans",
        Spans = "spans",
        Data = "data",
        Trace = "trace",
        Processes = "processes",
        /// What an answer of Jaeger's API holds.
        Answer = "result",
    }
}

/// Spans with attributes of OpenInference.
pub(super) const OPEN_INFERENCE: Format = Format {
    name: "OpenInference spans",
    description: "OpenInference spans (OTLP JSON, Jaeger, Phoenix, lists of spans)",
    known_by: "spans with `openinference.span.kind` among their attributes",
    marks: Mark::Any.keys(),
    near: Near::Any.keys(),
    object: |object| holds_spans(object) && says(object, is_open_inference),
    item_marks: Mark::Any.keys(),
    element: |object| holds_spans(object) && says(object, is_open_inference),
    read,
    runs: CUTTINGS,
    ..IN_FULL
};

/// Any spans.
pub(crate) const FORMAT: Format = Format {
    name: "OpenTelemetry spans",
    description: "OpenTelemetry spans (OTLP JSON, Tempo, Jaeger, Zipkin, MLflow, lists of spans) with attributes of `gen_ai.*` or another dialect",
    known_by: "spans with the ids of a trace and of a span, in OTLP, Tempo, Jaeger, Zipkin, MLflow or a list",
    marks: Mark::Any.keys(),
    near: Near::Any.keys(),
    object: holds_spans,
    item_marks: Mark::Any.keys(),
    element: holds_spans,
    read,
    runs: CUTTINGS,
    ..IN_FULL
};

key_table! {
    /// Those that nothing else has.
    Near {
        Any = "resourceSpans" | "resource_spans" | "spanId" | "span_id" | "spanID" | "spanContext" | "localEndpoint",
    }
}

key_table! {
    /// What tells spans: one of these is in each of their containers, and in each span.
    Mark {
        Any = "resourceSpans" | "batches" | "resource_spans" | "data" | "trace" | "spanId" | "span_id" | "spanID" | "context"
            | "spanContext" | "context.span_id" | "localEndpoint",
    }
}

const CUTTINGS: &[Cutting] = &[
    // An answer of Jaeger's API holds OTLP, or a part of it.
    Cutting {
        within: OfContainer::Answer.keys(),
        way: &[OfContainer::Resources.keys(), OfContainer::Scopes.keys(), OfContainer::Spans.keys()],
        by: IDS,
        keeps: &[],
    },
    Cutting {
        within: &[],
        way: &[OfContainer::Resources.keys(), OfContainer::Scopes.keys(), OfContainer::Spans.keys()],
        by: IDS,
        keeps: &[],
    },
    // Jaeger has a list of traces; exports of APIs a list of spans under the same key.
    Cutting { within: &[], way: &[OfContainer::Data.keys(), OfContainer::Spans.keys()], by: IDS, keeps: &[] },
    Cutting { within: &[], way: &[OfContainer::Spans.keys()], by: IDS, keeps: &[] },
    Cutting { within: &[], way: &[OfContainer::Data.keys()], by: IDS, keeps: &[] },
    Cutting { within: &[], way: &[], by: IDS, keeps: &[] },
];

ways! {
    /// The id of the trace that a span belongs to.
    IDS = [["traceId"], ["trace_id"], ["traceID"], ["context", "trace_id"], ["spanContext", "traceId"], ["context", "traceId"], ["context.trace_id"]];
}

/// Whether an object is a span with both ids, as it stands in lists of them.
fn is_span(object: Object<'_>) -> bool {
    let inner = value_of(object, OfSpan::Context).and_then(super::nodes::object).unwrap_or(object);
    let is_text =
        |word| value_of(inner, word).or_else(|| value_of(object, word)).is_some_and(|id| text_of_node(id).is_some());
    is_text(OfSpan::Id)
        && is_text(OfSpan::Trace)
        && value_of(object, OfSpan::Name).is_some_and(|name| text_of_node(name).is_some())
        && [OfSpan::Start, OfSpan::StartNano].into_iter().any(|word| value_of(object, word).is_some())
}

fn is_list_of_spans(node: Node<'_>) -> bool {
    list(node).is_some_and(|items| are_mostly(items.iter(), is_span))
}

/// A trace of Jaeger.
fn is_jaeger(object: Object<'_>) -> bool {
    value_of(object, OfSpan::Trace).is_some()
        && value_of(object, OfContainer::Processes).is_some()
        && value_of(object, OfContainer::Spans).is_some_and(is_list_of_spans)
}

/// Whether an object holds spans of OTLP.
fn is_otlp(object: Object<'_>) -> bool {
    let resources = value_of(object, OfContainer::Resources).and_then(list).unwrap_or_default();
    are_mostly(resources.iter(), |resource| value_of(resource, OfContainer::Scopes).and_then(list).is_some())
}

fn holds_spans(object: Object<'_>) -> bool {
    let inside =
        |word, is: &dyn Fn(Object<'_>) -> bool| value_of(object, word).and_then(super::nodes::object).is_some_and(is);
    let data = || value_of(object, OfContainer::Data);
    is_otlp(object)
        || is_jaeger(object)
        || is_span(object)
        || zipkin::is_span(object)
        || inside(OfContainer::Trace, &is_otlp)
        || inside(OfContainer::Data, &|data| value_of(data, OfContainer::Spans).is_some_and(is_list_of_spans))
        || data().is_some_and(is_list_of_spans)
        || data().and_then(list).is_some_and(|data| are_mostly(data.iter(), is_jaeger))
        || value_of(object, OfContainer::Spans).is_some_and(is_list_of_spans)
}

/// Whether one of the first spans has an attribute.
fn says(object: Object<'_>, is: fn(&str) -> bool) -> bool {
    const FIRST: usize = 1000;
    let mut left = FIRST;
    let mut found = false;
    each_span(
        Node::computed(Value::Object(object)),
        &mut |one| {
            if let (Found::Span(span, _), true) = (one, left > 0 && !found) {
                left -= 1;
                let attributes = value_of(span, OfSpan::Attributes);
                found = in_columns(span).any(|entry| is(entry.key))
                    || attributes.is_some_and(|attributes| match attributes.value {
                        Value::Object(object) => object.entries().iter().any(|entry| is(entry.key)),
                        Value::List(items) => objects(items).any(|(_, item)| {
                            item.entries().iter().any(|entry| text_of_node(entry.node).is_some_and(is))
                        }),
                        _ => false,
                    });
            }
        },
        0,
    );
    found
}

fn is_open_inference(name: &str) -> bool {
    name == "openinference.span.kind"
}

/// Looks at each span in a container, with the form that it is written in, and at what stands in the place of one and is none.
fn each_span<'run>(node: Node<'run>, look: &mut dyn FnMut(Found<'run>), depth: usize) {
    const DEEP: usize = 3;
    let Value::Object(object) = node.value else {
        return match list(node).filter(|nodes| depth < DEEP && (depth == 0 || !nodes.is_empty())) {
            Some(nodes) => nodes.iter().for_each(|node| each_span(*node, look, depth + 1)),
            None => look(Found::Other(node)),
        };
    };
    if let Some(resources) = value_of(object, OfContainer::Resources) {
        for scopes in inside_each(resources, OfContainer::Scopes, look) {
            for spans in inside_each(scopes, OfContainer::Spans, look) {
                each_of(spans, Form::Otlp, look);
            }
        }
    } else if let Some(trace) = value_of(object, OfContainer::Trace).filter(|_| depth < DEEP) {
        each_span(trace, look, depth + 1);
    } else if is_jaeger(object) {
        value_of(object, OfContainer::Spans).into_iter().for_each(|spans| each_of(spans, Form::Jaeger, look));
    } else if is_span(object) {
        look(Found::Span(object, Form::Flat));
    } else if zipkin::is_span(object) {
        look(Found::Span(object, Form::Zipkin));
    } else if let Some(inner) =
        [OfContainer::Data, OfContainer::Spans].into_iter().find_map(|word| value_of(object, word))
    {
        each_span(inner, look, depth + 1);
    } else {
        look(Found::Other(node));
    }
}

/// What stands in the place of a span.
enum Found<'run> {
    Span(Object<'run>, Form),
    Other(Node<'run>),
}

/// What the containers of a list hold; what is no object is none.
fn inside_each<'run>(containers: Node<'run>, inner: OfContainer, look: &mut dyn FnMut(Found<'run>)) -> Vec<Node<'run>> {
    let mut inside = Vec::new();
    for node in list(containers).unwrap_or_default() {
        match object(*node) {
            Some(object) => inside.extend(value_of(object, inner)),
            None => look(Found::Other(*node)),
        }
    }
    inside
}

/// The spans of a list that holds nothing else.
fn each_of<'run>(spans: Node<'run>, form: Form, look: &mut dyn FnMut(Found<'run>)) {
    for node in list(spans).unwrap_or_default() {
        look(object(*node).filter(is_one).map_or(Found::Other(*node), |object| Found::Span(object, form)));
    }
}

/// Whether an object in a list of spans is one.
fn is_one(object: &Object<'_>) -> bool {
    Words::of(*object).are_of_one()
}

/// The attributes of a span that is a row of a table, each in a column of its own.
fn in_columns<'run>(span: Object<'run>) -> impl Iterator<Item = Entry<'run>> {
    let attribute = |entry: &Entry<'run>| Some(Entry { key: entry.key.strip_prefix("attributes.")?, node: entry.node });
    span.entries().iter().filter_map(attribute)
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    let mut take = |one| match one {
        Found::Span(object, form) => found.push((object, form)),
        Found::Other(node) => others.push(node),
    };
    each_span(root, &mut take, 0);
    for node in others {
        draft.record();
        draft.not_understood(node.origin, "what is no span is passed over");
    }
    let mut trace = Trace::default();
    for (object, form) in found {
        trace.add(&Words::of(object), form, object, draft);
    }
    trace.tell(root.origin, draft);
    Ok(())
}
