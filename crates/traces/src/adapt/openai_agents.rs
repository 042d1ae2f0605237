//! Traces of the OpenAI Agents SDK, as its exporters write them: a record for the trace, and one for each span.

use super::cutting::RunCutting;
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{are_mostly, node_list, node_object, node_text};
use super::run_builder::RunBuilder;
use super::spans::attributes::Fact;
use super::spans::{InstantUnit, RunEntries, SpanAct, TraceSpan, build_run, instant_milliseconds, ways};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};

key_table! {
    AgentsKey {
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
    RecordType {
        Trace = "trace",
        Span = "trace.span",
    }
}

key_table! {
    AgentsSpanType {
        Agent = "agent",
        Function = "function",
        Model = "generation" | "response",
        Handover = "handoff",
        /// What the program does around its tools; each of these calls none itself (`span_data.py` of the SDK).
        Part = "guardrail" | "mcp_tools" | "custom" | "task" | "turn" | "transcription" | "speech" | "speech_group",
    }
}

key_table! {
    AgentsNearMark {
        Any = "span_data" | "workflow_name",
    }
}

key_table! {
    AgentsMark {
        Any = "object" | "data",
    }
}

ways! {
    TRACE = [["trace_id"], ["id"]];
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "OpenAI Agents SDK trace",
    description: "traces of the OpenAI Agents SDK (`object`: `trace` and `trace.span`)",
    known_by: "records whose `object` is `trace` or `trace.span`, with `span_data` or `workflow_name`",
    marks: AgentsMark::Any.keys(),
    near: AgentsNearMark::Any.keys(),
    object: |object| record_type(object).is_some() || is_payload(object),
    item_marks: AgentsMark::Any.keys(),
    element: |object| record_type(object).is_some() || is_payload(object),
    read: read_run,
    runs: &[
        RunCutting { within: &[], way: &[AgentsKey::Items.keys()], by: TRACE, keeps: &[], joins: None },
        RunCutting { within: &[], way: &[], by: TRACE, keeps: &[], joins: None },
    ],
    ..IN_FULL
};

fn record_type(object: Object<'_>) -> Option<RecordType> {
    let record = value_of(object, AgentsKey::Object).and_then(node_text).and_then(RecordType::from_key)?;
    let is_known = match record {
        RecordType::Trace => value_of(object, AgentsKey::Id).is_some_and(|id| node_text(id).is_some()),
        RecordType::Span => {
            value_of(object, AgentsKey::Data).is_some_and(|data| super::nodes::node_object(data).is_some())
        }
    };
    is_known.then_some(record)
}

fn is_payload(payload: Object<'_>) -> bool {
    let items = value_of(payload, AgentsKey::Items).and_then(node_list).unwrap_or_default();
    are_mostly(items.iter(), |item| record_type(item).is_some())
}

/// Elements that are no records have no kind.
fn collect_records<'run>(
    node: Node<'run>,
    found: &mut Vec<(Node<'run>, Option<(RecordType, Object<'run>)>)>,
    depth: usize,
) {
    const DEEP: usize = 4;
    match node.value {
        Value::List(items) if depth < DEEP => items.iter().for_each(|item| collect_records(*item, found, depth + 1)),
        Value::Object(object) => match (record_type(object), value_of(object, AgentsKey::Items)) {
            (Some(record), _) => found.push((node, Some((record, object)))),
            (None, Some(items)) if depth < DEEP => collect_records(items, found, depth + 1),
            _ => found.push((node, None)),
        },
        _ => found.push((node, None)),
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let mut records = Vec::new();
    collect_records(root, &mut records, 0);
    let (mut spans, mut whole) = (Vec::new(), RunEntries::default());
    for (node, known) in records {
        builder.count_record();
        let Some((record, object)) = known else {
            builder.skip_value(node, "what is no trace and no span is skipped");
            continue;
        };
        match record {
            RecordType::Trace => {
                whole.id = value_of(object, AgentsKey::Id);
                whole.session = value_of(object, AgentsKey::Group);
            }
            RecordType::Span => {
                whole.id =
                    whole.id.or_else(|| value_of(object, AgentsKey::Trace).filter(|id| node_text(*id).is_some()));
                spans.push(read_span(node, object, builder));
            }
        }
    }
    build_run(spans, whole, builder);
    Ok(())
}

fn read_span<'run>(node: Node<'run>, record: Object<'run>, builder: &mut RunBuilder<'run, '_>) -> TraceSpan<'run> {
    let mut span = TraceSpan::new(node.origin);
    span.id = value_of(record, AgentsKey::Id).and_then(node_text);
    span.parent = value_of(record, AgentsKey::Parent).and_then(node_text);
    let at =
        |word| value_of(record, word).and_then(|node| instant_milliseconds(node, InstantUnit::NanosecondsByLength));
    (span.start, span.end) = (at(AgentsKey::Start), at(AgentsKey::End));
    span.attributes = value_of(record, AgentsKey::Data);
    let error = value_of(record, AgentsKey::Error);
    span.error =
        error.map(|error| node_object(error).and_then(|error| value_of(error, AgentsKey::Message)).unwrap_or(error));
    span.failed = error.map(|_| true);
    let Some(data) = span.attributes.and_then(node_object) else { return span };
    let kind = value_of(data, AgentsKey::Type);
    span.name = value_of(data, AgentsKey::Name).or(kind);
    let (input, output) = (value_of(data, AgentsKey::Input), value_of(data, AgentsKey::Output));
    span.act = match kind.and_then(node_text).and_then(AgentsSpanType::from_key) {
        Some(AgentsSpanType::Agent) => SpanAct::Agent,
        Some(AgentsSpanType::Function) => {
            span.take_fact(Fact::Args, input);
            span.take_fact(Fact::Result, output);
            SpanAct::Tool
        }
        Some(AgentsSpanType::Model) => {
            let response = value_of(data, AgentsKey::Response).and_then(node_object);
            span.take_fact(Fact::MessagesIn, input);
            span.take_fact(Fact::MessagesOut, output.or_else(|| value_of(response?, AgentsKey::Output)));
            span.take_fact(
                Fact::Model,
                value_of(data, AgentsKey::Model).or_else(|| value_of(response?, AgentsKey::Model)),
            );
            read_usage(value_of(data, AgentsKey::Usage).or_else(|| value_of(response?, AgentsKey::Usage)), &mut span);
            SpanAct::Inference
        }
        Some(AgentsSpanType::Handover) => {
            span.take_fact(Fact::HandoverFrom, value_of(data, AgentsKey::From));
            span.take_fact(Fact::HandoverTo, value_of(data, AgentsKey::To));
            SpanAct::Part
        }
        Some(AgentsSpanType::Part) => SpanAct::Part,
        None => {
            builder.note_unknown(node.origin, "a span of an unknown kind: it may be a call");
            SpanAct::Part
        }
    };
    span.conclude_span(builder);
    span
}

fn read_usage<'run>(usage: Option<Node<'run>>, span: &mut TraceSpan<'run>) {
    let Some(usage) = usage.and_then(node_object) else { return };
    for (fact, word) in [
        (Fact::TokensIn, AgentsKey::TokensIn),
        (Fact::TokensOut, AgentsKey::TokensOut),
        (Fact::TokensAll, AgentsKey::TokensAll),
    ] {
        span.take_fact(fact, value_of(usage, word));
    }
}
