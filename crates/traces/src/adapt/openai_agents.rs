//! Traces of the OpenAI Agents SDK, as its exporters write them: a record for the trace, and one for each span.

use super::cutting::RunCutting;
use super::run_builder::RunBuilder;
use super::spans::attributes::Fact;
use super::spans::{
    InstantUnit, RunEntries, SpanAct, TraceSpan, build_run, instant_milliseconds, names, text_of_node, ways,
};
use super::{IN_FULL, TraceFormat, are_mostly, node_list, node_object};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};

names! {
    AgentsKey {
        Object = ["object"],
        Id = ["id"],
        Trace = ["trace_id"],
        Parent = ["parent_id"],
        Start = ["started_at"],
        End = ["ended_at"],
        Data = ["span_data"],
        Error = ["error"],
        Message = ["message"],
        Group = ["group_id"],
        Type = ["type"],
        Name = ["name"],
        Input = ["input"],
        Output = ["output"],
        Model = ["model"],
        Usage = ["usage"],
        TokensIn = ["input_tokens", "prompt_tokens"],
        TokensOut = ["output_tokens", "completion_tokens"],
        TokensAll = ["total_tokens"],
        Response = ["response"],
        From = ["from_agent"],
        To = ["to_agent"],
        Items = ["data"],
    }
}

names! {
    RecordType {
        Trace = ["trace"],
        Span = ["trace.span"],
    }
}

names! {
    AgentsSpanType {
        Agent = ["agent"],
        Function = ["function"],
        Model = ["generation", "response"],
        Handover = ["handoff"],
    }
}

names! {
    AgentsNearMark {
        Any = ["span_data", "workflow_name"],
    }
}

names! {
    AgentsMark {
        Any = ["object", "data"],
    }
}

ways! {
    TRACE = [["trace_id"], ["id"]];
}

fn find_key<'run>(object: Object<'run>, wanted: AgentsKey) -> Option<Node<'run>> {
    wanted.find(object)
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "OpenAI Agents SDK trace",
    description: "traces of the OpenAI Agents SDK (`object`: `trace` and `trace.span`)",
    known_by: "records whose `object` is `trace` or `trace.span`, with `span_data` or `workflow_name`",
    marks: AgentsMark::Any.names(),
    near: AgentsNearMark::Any.names(),
    object: |object| record_type(object).is_some() || is_payload(object),
    item_marks: AgentsMark::Any.names(),
    element: |object| record_type(object).is_some() || is_payload(object),
    read: read_run,
    runs: &[
        RunCutting { within: &[], way: &[AgentsKey::Items.names()], by: TRACE, keeps: &[] },
        RunCutting { within: &[], way: &[], by: TRACE, keeps: &[] },
    ],
    ..IN_FULL
};

fn record_type(object: Object<'_>) -> Option<RecordType> {
    let (record, _) = find_key(object, AgentsKey::Object).and_then(text_of_node).and_then(RecordType::from_name)?;
    let is_known = match record {
        RecordType::Trace => find_key(object, AgentsKey::Id).is_some_and(|id| text_of_node(id).is_some()),
        RecordType::Span => find_key(object, AgentsKey::Data).is_some_and(|data| super::node_object(data).is_some()),
    };
    is_known.then_some(record)
}

fn is_payload(payload: Object<'_>) -> bool {
    let items = find_key(payload, AgentsKey::Items).and_then(node_list).unwrap_or_default();
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
        Value::Object(object) => match (record_type(object), find_key(object, AgentsKey::Items)) {
            (Some(record), _) => found.push((node, Some((record, object)))),
            (None, Some(items)) if depth < DEEP => collect_records(items, found, depth + 1),
            _ => found.push((node, None)),
        },
        _ => found.push((node, None)),
    }
}

fn read_run<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let mut records = Vec::new();
    collect_records(root, &mut records, 0);
    let (mut spans, mut whole) = (Vec::new(), RunEntries::default());
    for (node, known) in records {
        draft.count_record();
        let Some((record, object)) = known else {
            draft.warn_skipped(node.origin, "what is no trace and no span is passed over");
            continue;
        };
        match record {
            RecordType::Trace => {
                whole.id = find_key(object, AgentsKey::Id);
                whole.session = find_key(object, AgentsKey::Group);
            }
            RecordType::Span => {
                whole.id =
                    whole.id.or_else(|| find_key(object, AgentsKey::Trace).filter(|id| text_of_node(*id).is_some()));
                spans.push(read_span(node, object, draft));
            }
        }
    }
    build_run(spans, whole, draft);
    Ok(())
}

fn read_span<'run>(node: Node<'run>, record: Object<'run>, draft: &mut RunBuilder<'run, '_>) -> TraceSpan<'run> {
    let mut span = TraceSpan::new(node.origin);
    span.id = find_key(record, AgentsKey::Id).and_then(text_of_node);
    span.parent = find_key(record, AgentsKey::Parent).and_then(text_of_node);
    let at =
        |word| find_key(record, word).and_then(|node| instant_milliseconds(node, InstantUnit::NanosecondsByLength));
    (span.start, span.end) = (at(AgentsKey::Start), at(AgentsKey::End));
    span.attributes = find_key(record, AgentsKey::Data);
    let error = find_key(record, AgentsKey::Error);
    span.error =
        error.map(|error| node_object(error).and_then(|error| find_key(error, AgentsKey::Message)).unwrap_or(error));
    span.failed = error.map(|_| true);
    let Some(data) = span.attributes.and_then(node_object) else { return span };
    let kind = find_key(data, AgentsKey::Type);
    span.name = find_key(data, AgentsKey::Name).or(kind);
    let (input, output) = (find_key(data, AgentsKey::Input), find_key(data, AgentsKey::Output));
    span.act = match kind.and_then(text_of_node).and_then(AgentsSpanType::from_name) {
        Some((AgentsSpanType::Agent, _)) => SpanAct::Agent,
        Some((AgentsSpanType::Function, _)) => {
            span.take_fact(Fact::Args, input);
            span.take_fact(Fact::Result, output);
            SpanAct::Tool
        }
        Some((AgentsSpanType::Model, _)) => {
            let response = find_key(data, AgentsKey::Response).and_then(node_object);
            span.take_fact(Fact::MessagesIn, input);
            span.take_fact(Fact::MessagesOut, output.or_else(|| find_key(response?, AgentsKey::Output)));
            span.take_fact(
                Fact::Model,
                find_key(data, AgentsKey::Model).or_else(|| find_key(response?, AgentsKey::Model)),
            );
            read_usage(find_key(data, AgentsKey::Usage).or_else(|| find_key(response?, AgentsKey::Usage)), &mut span);
            SpanAct::Inference
        }
        Some((AgentsSpanType::Handover, _)) => {
            span.take_fact(Fact::HandoverFrom, find_key(data, AgentsKey::From));
            span.take_fact(Fact::HandoverTo, find_key(data, AgentsKey::To));
            SpanAct::Part
        }
        None => SpanAct::Part,
    };
    span.conclude_span(draft);
    span
}

fn read_usage<'run>(usage: Option<Node<'run>>, span: &mut TraceSpan<'run>) {
    let Some(usage) = usage.and_then(node_object) else { return };
    for (fact, word) in [
        (Fact::TokensIn, AgentsKey::TokensIn),
        (Fact::TokensOut, AgentsKey::TokensOut),
        (Fact::TokensAll, AgentsKey::TokensAll),
    ] {
        span.take_fact(fact, find_key(usage, word));
    }
}
