//! Spans of OpenTelemetry in the containers in which people have them: OTLP as JSON, exports of Tempo and Jaeger, lists of spans as SDKs
//! print them. What their attributes mean is a matter of dialects ([`super::spans`]); OpenInference is one, with a name of its own.

mod trace;
mod zipkin;

use super::cutting::RunCutting;
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{are_mostly, node_list, node_object, node_text, object_items};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use super::spans::{id_of_node, ways};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, ObjectEntry, Value};
pub(crate) use trace::{Detail, SpanForm, SpanKey, SpanTrace, SpanValues};

key_table! {
    ContainerKey {
        Resources = "resourceSpans" | "batches" | "resource_spans",
        Scopes = "scopeSpans" | "instrumentationLibrarySpans" | "scope_spans",
        Spans = "spans",
        Data = "data",
        Trace = "trace",
        Processes = "processes",
        Answer = "result",
    }
}

pub(super) const OPEN_INFERENCE: TraceFormat = TraceFormat {
    name: "OpenInference spans",
    description: "OpenInference spans (OTLP JSON, Jaeger, Phoenix, lists of spans)",
    known_by: "spans with `openinference.span.kind` among their attributes",
    marks: OtelMark::Any.keys(),
    near: OtelNearMark::Any.keys(),
    object: |object| holds_spans(object) && any_attribute(object, is_open_inference),
    item_marks: OtelMark::Any.keys(),
    element: |object| holds_spans(object) && any_attribute(object, is_open_inference),
    record_ids: RecordIds::OWN_READER,
    read: read_run,
    runs: CUTTINGS,
    ..IN_FULL
};

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "OpenTelemetry spans",
    description: "OpenTelemetry spans (OTLP JSON, Tempo, Jaeger, Zipkin, MLflow, lists of spans) with attributes of `gen_ai.*` or another dialect",
    known_by: "spans with the ids of a trace and of a span, in OTLP, Tempo, Jaeger, Zipkin, MLflow or a list",
    marks: OtelMark::Any.keys(),
    near: OtelNearMark::Any.keys(),
    object: holds_spans,
    item_marks: OtelMark::Any.keys(),
    element: holds_spans,
    record_ids: RecordIds::OWN_READER,
    read: read_run,
    runs: CUTTINGS,
    ..IN_FULL
};

key_table! {
    OtelNearMark {
        Any = "resourceSpans" | "resource_spans" | "spanId" | "span_id" | "spanID" | "spanContext" | "localEndpoint",
    }
}

key_table! {
    /// Every span container, and every span, has one of these.
    OtelMark {
        Any = "resourceSpans" | "batches" | "resource_spans" | "data" | "trace" | "spanId" | "span_id" | "spanID" | "context"
            | "spanContext" | "context.span_id" | "localEndpoint",
    }
}

const CUTTINGS: &[RunCutting] = &[
    // An answer of Jaeger's API holds OTLP, or a part of it.
    RunCutting {
        within: ContainerKey::Answer.keys(),
        way: &[ContainerKey::Resources.keys(), ContainerKey::Scopes.keys(), ContainerKey::Spans.keys()],
        by: IDS,
        keeps: &[],
        joins: None,
    },
    RunCutting {
        within: &[],
        way: &[ContainerKey::Resources.keys(), ContainerKey::Scopes.keys(), ContainerKey::Spans.keys()],
        by: IDS,
        keeps: &[],
        joins: None,
    },
    // Jaeger has a list of traces; exports of APIs a list of spans under the same key.
    RunCutting {
        within: &[],
        way: &[ContainerKey::Data.keys(), ContainerKey::Spans.keys()],
        by: IDS,
        keeps: &[],
        joins: None,
    },
    RunCutting { within: &[], way: &[ContainerKey::Spans.keys()], by: IDS, keeps: &[], joins: None },
    RunCutting { within: &[], way: &[ContainerKey::Data.keys()], by: IDS, keeps: &[], joins: None },
    RunCutting { within: &[], way: &[], by: IDS, keeps: &[], joins: None },
];

ways! {
    IDS = [["traceId"], ["trace_id"], ["traceID"], ["context", "trace_id"], ["spanContext", "traceId"], ["context", "traceId"], ["context.trace_id"]];
}

fn is_span(object: Object<'_>) -> bool {
    let inner = value_of(object, SpanKey::Context).and_then(super::nodes::node_object).unwrap_or(object);
    let is_id =
        |word| value_of(inner, word).or_else(|| value_of(object, word)).is_some_and(|id| id_of_node(id).is_some());
    is_id(SpanKey::Id)
        && is_id(SpanKey::Trace)
        && value_of(object, SpanKey::Name).is_some_and(|name| node_text(name).is_some())
        && [SpanKey::Start, SpanKey::StartNano].into_iter().any(|word| value_of(object, word).is_some())
}

fn is_list_of_spans(node: Node<'_>) -> bool {
    node_list(node).is_some_and(|items| are_mostly(items.iter(), is_span))
}

fn is_jaeger(object: Object<'_>) -> bool {
    value_of(object, SpanKey::Trace).is_some()
        && value_of(object, ContainerKey::Processes).is_some()
        && value_of(object, ContainerKey::Spans).is_some_and(is_list_of_spans)
}

fn is_otlp(object: Object<'_>) -> bool {
    let resources = value_of(object, ContainerKey::Resources).and_then(node_list).unwrap_or_default();
    are_mostly(resources.iter(), |resource| value_of(resource, ContainerKey::Scopes).and_then(node_list).is_some())
}

fn holds_spans(object: Object<'_>) -> bool {
    let inside = |word, is: &dyn Fn(Object<'_>) -> bool| {
        value_of(object, word).and_then(super::nodes::node_object).is_some_and(is)
    };
    let data = || value_of(object, ContainerKey::Data);
    is_otlp(object)
        || is_jaeger(object)
        || is_span(object)
        || zipkin::is_span(object)
        || inside(ContainerKey::Trace, &is_otlp)
        || inside(ContainerKey::Data, &|data| value_of(data, ContainerKey::Spans).is_some_and(is_list_of_spans))
        || data().is_some_and(is_list_of_spans)
        || data().and_then(node_list).is_some_and(|data| are_mostly(data.iter(), is_jaeger))
        || value_of(object, ContainerKey::Spans).is_some_and(is_list_of_spans)
}

fn any_attribute(object: Object<'_>, is: fn(&str) -> bool) -> bool {
    const FIRST: usize = 1000;
    let mut left = FIRST;
    let mut found = false;
    each_span(
        Node::computed(Value::Object(object)),
        &mut |one| {
            if let (SpanRecord::Span(span, _), true) = (one, left > 0 && !found) {
                left -= 1;
                let attributes = value_of(span, SpanKey::Attributes);
                found = column_attributes(span).any(|entry| is(entry.key))
                    || attributes.is_some_and(|attributes| match attributes.value {
                        Value::Object(object) => object.entries().iter().any(|entry| is(entry.key)),
                        Value::List(items) => object_items(items)
                            .any(|(_, item)| item.entries().iter().any(|entry| node_text(entry.node).is_some_and(is))),
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

/// Also visits non-spans in a span's place.
fn each_span<'run>(node: Node<'run>, look: &mut dyn FnMut(SpanRecord<'run>), depth: usize) {
    const DEEP: usize = 3;
    let Value::Object(object) = node.value else {
        return match node_list(node).filter(|nodes| depth < DEEP && (depth == 0 || !nodes.is_empty())) {
            Some(nodes) => nodes.iter().for_each(|node| each_span(*node, look, depth + 1)),
            None => look(SpanRecord::Other(node)),
        };
    };
    if let Some(resources) = value_of(object, ContainerKey::Resources) {
        for scopes in inner_lists(resources, ContainerKey::Scopes, look) {
            for spans in inner_lists(scopes, ContainerKey::Spans, look) {
                each_listed(spans, SpanForm::Otlp, look);
            }
        }
    } else if let Some(trace) = value_of(object, ContainerKey::Trace).filter(|_| depth < DEEP) {
        each_span(trace, look, depth + 1);
    } else if is_jaeger(object) {
        value_of(object, ContainerKey::Spans).into_iter().for_each(|spans| each_listed(spans, SpanForm::Jaeger, look));
    } else if is_span(object) {
        look(SpanRecord::Span(object, SpanForm::Flat));
    } else if zipkin::is_span(object) {
        look(SpanRecord::Span(object, SpanForm::Zipkin));
    } else if let Some(inner) =
        [ContainerKey::Data, ContainerKey::Spans].into_iter().find_map(|word| value_of(object, word))
    {
        each_span(inner, look, depth + 1);
    } else {
        look(SpanRecord::Other(node));
    }
}

enum SpanRecord<'run> {
    Span(Object<'run>, SpanForm),
    Other(Node<'run>),
}

key_table! {
    /// What a container says of itself.
    OfContainer {
        Any = "resource" | "scope" | "instrumentationLibrary" | "instrumentation_library" | "schemaUrl",
    }
}

/// Elements that are no containers are looked at as they are.
fn inner_lists<'run>(
    containers: Node<'run>,
    inner: ContainerKey,
    look: &mut dyn FnMut(SpanRecord<'run>),
) -> Vec<Node<'run>> {
    let mut inside = Vec::new();
    for node in node_list(containers).unwrap_or_default() {
        match node_object(*node) {
            Some(object) if value_of(object, inner).is_some() => inside.extend(value_of(object, inner)),
            // A resource or a scope of which nothing was recorded.
            Some(object) if value_of(object, OfContainer::Any).is_some() => {}
            _ => look(SpanRecord::Other(*node)),
        }
    }
    inside
}

fn each_listed<'run>(spans: Node<'run>, form: SpanForm, look: &mut dyn FnMut(SpanRecord<'run>)) {
    for node in node_list(spans).unwrap_or_default() {
        look(
            node_object(*node)
                .filter(is_span_object)
                .map_or(SpanRecord::Other(*node), |object| SpanRecord::Span(object, form)),
        );
    }
}

fn is_span_object(object: &Object<'_>) -> bool {
    SpanValues::of_span(*object).can_be_span()
}

/// A span as a table row, with one column per attribute.
fn column_attributes<'run>(span: Object<'run>) -> impl Iterator<Item = ObjectEntry<'run>> {
    let attribute =
        |entry: &ObjectEntry<'run>| Some(ObjectEntry { key: entry.key.strip_prefix("attributes.")?, node: entry.node });
    span.entries().iter().filter_map(attribute)
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    let mut take = |one| match one {
        SpanRecord::Span(object, form) => found.push((object, form)),
        SpanRecord::Other(node) => others.push(node),
    };
    each_span(root, &mut take, 0);
    for node in others {
        builder.count_record();
        builder.skip_value(node, "what is no span is skipped");
    }
    let mut trace = SpanTrace::default();
    for (object, form) in found {
        trace.add_span(&SpanValues::of_span(object), form, object, builder);
    }
    trace.build_run(root.origin, builder);
    Ok(())
}
