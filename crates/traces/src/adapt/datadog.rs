//! Datadog's LLM Observability: spans as they are sent and exported. `meta` says what a span is, what it was given and what it gave.

use super::cutting::RunCutting;
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{node_list, node_object, node_text};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use super::spans::attributes::Fact;
use super::spans::{RunEntries, SpanAct, TraceSpan, build_run, ways};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};

key_table! {
    DatadogKey {
        Trace = "trace_id",
        Span = "span_id",
        Parent = "parent_id",
        Name = "name",
        Start = "start_ns",
        Duration = "duration",
        Status = "status",
        Meta = "meta",
        Metrics = "metrics",
        Session = "session_id",
    }
}

key_table! {
    DatadogMetaKey {
        Model = "model_name",
        Input = "input",
        Output = "output",
        Value = "value",
        Messages = "messages",
        Error = "error.message" | "error",
        TokensIn = "input_tokens",
        TokensOut = "output_tokens",
        TokensAll = "total_tokens",
        CacheRead = "cache_read_input_tokens",
        CacheWrite = "cache_write_input_tokens",
        Reasoning = "reasoning_output_tokens",
    }
}

key_table! {
    /// The API and the library name the kind of a span in two ways.
    DatadogKindKey {
        Any = "kind" | "span.kind",
    }
}

key_table! {
    DatadogKind {
        Model = "llm",
        Tool = "tool",
        Agent = "agent",
        Part = "workflow" | "task" | "step" | "retrieval" | "embedding" | "experiment" | "evaluation",
    }
}

key_table! {
    DatadogStatus {
        Ok = "ok",
        Failed = "error",
    }
}

key_table! {
    /// The parent of a span without one.
    NoParent {
        Any = "undefined",
    }
}

ways! {
    TRACE = [["trace_id"]];
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "Datadog LLM spans",
    description: "spans of Datadog's LLM Observability (`meta`, `metrics`; a list, or one a line)",
    known_by: "spans with `span_id`, `start_ns` and a `meta` that names its kind",
    marks: &[DatadogKey::Start.key()],
    object: is_span,
    item_marks: &[DatadogKey::Start.key()],
    element: is_span,
    record_ids: RecordIds::OWN_READER,
    read: read_run,
    runs: &[RunCutting { within: &[], way: &[], by: TRACE, keeps: &[], joins: None }],
    ..IN_FULL
};

fn object_in(object: Object<'_>, key: DatadogKey) -> Option<Object<'_>> {
    value_of(object, key).and_then(node_object)
}

fn kind_in(meta: Object<'_>) -> Option<Node<'_>> {
    let entry = meta.entries().iter().find(|entry| DatadogKindKey::from_key(entry.key).is_some());
    entry.map(|entry| entry.node)
}

fn is_span(object: Object<'_>) -> bool {
    let kind = object_in(object, DatadogKey::Meta).and_then(kind_in);
    kind.is_some_and(|kind| node_text(kind).is_some() || node_object(kind).is_some())
        && value_of(object, DatadogKey::Span).is_some()
        && value_of(object, DatadogKey::Start).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    let (mut whole, mut spans) = (RunEntries::default(), Vec::new());
    for node in node_list(*root).unwrap_or(std::slice::from_ref(root)) {
        builder.count_record();
        let Some(span) = node_object(*node).filter(|span| is_span(*span)) else {
            builder.skip_value(node, "what is no span is skipped");
            continue;
        };
        whole.id = whole.id.or_else(|| value_of(span, DatadogKey::Trace));
        whole.session = whole.session.or_else(|| value_of(span, DatadogKey::Session));
        spans.push(read_span(*node, span, builder));
    }
    build_run(spans, whole, builder);
    Ok(())
}

/// Nanoseconds.
fn milliseconds_in(span: Object<'_>, key: DatadogKey) -> Option<f64> {
    match value_of(span, key)?.value {
        Value::Number(time) => Some(time.to_f64() / 1e6).filter(|time| time.is_finite()),
        _ => None,
    }
}

fn read_span<'run>(node: Node<'run>, record: Object<'run>, builder: &mut RunBuilder<'run, '_>) -> TraceSpan<'run> {
    let mut span = TraceSpan::new(node.origin);
    let text = |key| value_of(record, key).and_then(node_text);
    span.id = text(DatadogKey::Span);
    span.parent = text(DatadogKey::Parent).filter(|id| NoParent::from_key(id).is_none());
    span.name = value_of(record, DatadogKey::Name);
    span.start = milliseconds_in(record, DatadogKey::Start);
    span.end = span.start.zip(milliseconds_in(record, DatadogKey::Duration)).map(|(start, length)| start + length);
    let meta = object_in(record, DatadogKey::Meta);
    let told = |key| meta.and_then(|meta| value_of(meta, key));
    // In the text of a kind, or in an object around it.
    let kind = meta.and_then(kind_in);
    let word = kind.and_then(node_text).or_else(|| node_text(value_of(node_object(kind?)?, DatadogMetaKey::Value)?));
    span.act = match word.map(DatadogKind::from_key) {
        Some(Some(DatadogKind::Model)) => SpanAct::Inference,
        Some(Some(DatadogKind::Tool)) => SpanAct::Tool,
        Some(Some(DatadogKind::Agent)) => SpanAct::Agent,
        Some(Some(DatadogKind::Part)) => SpanAct::Part,
        Some(None) | None => span.act_of_word(word.or(Some("")), builder),
    };
    span.failed = match text(DatadogKey::Status).and_then(DatadogStatus::from_key) {
        Some(DatadogStatus::Ok) => Some(false),
        Some(DatadogStatus::Failed) => Some(true),
        None => None,
    };
    span.error = told(DatadogMetaKey::Error).filter(|_| span.failed == Some(true));
    let (given, gave) = match span.act {
        SpanAct::Tool => (Fact::Args, Fact::Result),
        SpanAct::Inference => (Fact::MessagesIn, Fact::MessagesOut),
        _ => (Fact::Input, Fact::Output),
    };
    for (fact, key) in [(given, DatadogMetaKey::Input), (gave, DatadogMetaKey::Output)] {
        let side = told(key);
        let held = side.and_then(node_object);
        let inner = held.and_then(|held| {
            value_of(held, DatadogMetaKey::Messages).or_else(|| value_of(held, DatadogMetaKey::Value))
        });
        span.take_fact(fact, inner.or(side.filter(|_| held.is_none())));
    }
    if span.act == SpanAct::Inference {
        span.take_fact(Fact::Model, told(DatadogMetaKey::Model));
        let metrics = object_in(record, DatadogKey::Metrics);
        for (fact, key) in [
            (Fact::TokensIn, DatadogMetaKey::TokensIn),
            (Fact::TokensOut, DatadogMetaKey::TokensOut),
            (Fact::TokensAll, DatadogMetaKey::TokensAll),
            (Fact::TokensCacheRead, DatadogMetaKey::CacheRead),
            (Fact::TokensCacheWrite, DatadogMetaKey::CacheWrite),
            (Fact::TokensReasoning, DatadogMetaKey::Reasoning),
        ] {
            span.take_fact(fact, metrics.and_then(|metrics| value_of(metrics, key)));
        }
    }
    span.conclude_span(builder);
    span
}
