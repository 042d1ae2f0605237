//! Rows of tables of spans: those that OpenTelemetry's exporter writes into ClickHouse, and those of Logfire. What their attributes mean is
//! told where it is for all spans.

use super::cutting::RunCutting;
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{are_mostly, items_of, node_list, node_object, node_text, object_items};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use super::spans::{InstantUnit, RunEntries, TraceSpan, build_run, instant_milliseconds, of_word, ways};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;

key_table! {
    SpanRowKey {
        Rows = "rows" | "data",
        Id = "SpanId" | "span_id",
        Trace = "TraceId" | "trace_id",
        Parent = "ParentSpanId" | "parent_span_id",
        Name = "SpanName" | "span_name",
        Start = "Timestamp" | "start_timestamp",
        End = "end_timestamp",
        /// In nanoseconds.
        Duration = "Duration",
        Attributes = "SpanAttributes" | "attributes",
        Code = "StatusCode" | "otel_status_code",
        Message = "StatusMessage" | "otel_status_message",
        Events = "otel_events",
        EventName = "event_name" | "name",
        /// The events of a span, each column a list.
        EventNames = "Events.Name",
        EventAttributes = "Events.Attributes",
        Kind = "kind",
    }
}

key_table! {
    SpanRowMark {
        Any = "SpanId" | "span_id" | "rows" | "data",
    }
}

key_table! {
    SpanRowKind {
        Whole = "span" | "log",
        /// The begin of a span, which has a row of its own when it ends.
        Begun = "pending_span",
        /// An event, which stands in the row of its span, too.
        Event = "span_event",
    }
}

ways! {
    TRACE = [["TraceId"], ["trace_id"]];
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "rows of spans",
    description: "rows of tables of spans: ClickHouse (`SpanId`, `SpanAttributes`), Logfire (`span_id`, `start_timestamp`)",
    known_by: "`SpanName` with `Timestamp`, or `span_name` with `start_timestamp`, beside the ids of a span and its trace",
    marks: SpanRowMark::Any.keys(),
    near: SpanRowKey::Name.keys(),
    object: |object| is_row(object) || is_page(object),
    item_marks: &[SpanRowKey::Id.key(), SpanRowKey::Id.last_key()],
    element: is_row,
    line: is_row,
    record_ids: RecordIds::OWN_READER,
    read: read_run,
    runs: &[
        RunCutting { within: &[], way: &[SpanRowKey::Rows.keys()], by: TRACE, keeps: &[], joins: None },
        RunCutting { within: &[], way: &[], by: TRACE, keeps: &[], joins: None },
    ],
    ..IN_FULL
};

fn is_row(row: Object<'_>) -> bool {
    [SpanRowKey::Id, SpanRowKey::Trace, SpanRowKey::Name, SpanRowKey::Start]
        .into_iter()
        .all(|key| value_of(row, key).and_then(node_text).is_some())
}

fn is_page(page: Object<'_>) -> bool {
    value_of(page, SpanRowKey::Rows).and_then(node_list).is_some_and(|rows| are_mostly(rows.iter(), is_row))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    let (mut whole, mut spans, mut begun) = (RunEntries::default(), Vec::new(), Vec::new());
    for node in items_of(root, &[SpanRowKey::Rows]) {
        builder.count_record();
        let Some(row) = node_object(*node).filter(|row| is_row(*row)) else {
            builder.skip_value(node, "what is no span is skipped");
            continue;
        };
        whole.id = whole.id.or_else(|| value_of(row, SpanRowKey::Trace));
        let word = value_of(row, SpanRowKey::Kind).and_then(node_text);
        match word.map_or(Some(SpanRowKind::Whole), SpanRowKind::from_key) {
            Some(SpanRowKind::Begun) => begun.extend(value_of(row, SpanRowKey::Id).and_then(node_text)),
            Some(SpanRowKind::Event) => {}
            Some(SpanRowKind::Whole) => spans.push(read_span(*node, row, builder)),
            None => builder.skip_record(node.origin, "a row of unknown kind is skipped: it may be a call"),
        }
    }
    // What began and has not ended may be a call.
    if begun.iter().any(|id| !spans.iter().any(|span: &TraceSpan<'_>| span.id == Some(*id))) {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    build_run(spans, whole, builder);
    Ok(())
}

fn read_span<'run>(node: Node<'run>, row: Object<'run>, builder: &mut RunBuilder<'run, '_>) -> TraceSpan<'run> {
    let get = |key| value_of(row, key);
    let mut span = TraceSpan::new(node.origin);
    span.id = get(SpanRowKey::Id).and_then(node_text);
    span.parent = get(SpanRowKey::Parent).and_then(node_text).filter(|id| !id.is_empty());
    span.name = get(SpanRowKey::Name);
    let at = |key, unit| get(key).and_then(|node| instant_milliseconds(node, unit));
    span.start = at(SpanRowKey::Start, InstantUnit::NanosecondsByLength);
    let duration = || at(SpanRowKey::Duration, InstantUnit::Nanoseconds);
    span.end = at(SpanRowKey::End, InstantUnit::NanosecondsByLength)
        .or_else(|| span.start.zip(duration()).map(|(start, duration)| start + duration));
    if let Some(attributes) = get(SpanRowKey::Attributes) {
        span.take_attributes(attributes, builder);
    }
    span.failed = get(SpanRowKey::Code).and_then(node_text).and_then(of_word);
    let is_said = |message: &Node<'_>| node_text(*message).is_some_and(|text| !text.is_empty());
    span.error = get(SpanRowKey::Message).filter(|message| span.failed == Some(true) && is_said(message));
    for (_, event) in object_items(get(SpanRowKey::Events).and_then(node_list).unwrap_or_default()) {
        if let Some(fields) = value_of(event, SpanRowKey::Attributes) {
            let name = value_of(event, SpanRowKey::EventName).and_then(node_text);
            span.take_event(name.unwrap_or_default(), fields, builder);
        }
    }
    let list = |key| get(key).and_then(node_list).unwrap_or_default();
    for (name, fields) in list(SpanRowKey::EventNames).iter().zip(list(SpanRowKey::EventAttributes)) {
        span.take_event(node_text(*name).unwrap_or_default(), *fields, builder);
    }
    span.conclude_span(builder);
    span
}
