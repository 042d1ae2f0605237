//! Spans as platforms hand them out whose records have a `type`: traces of LangWatch, runs of Lunary, spans of Laminar.

use super::cutting::RunCutting;
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_list, node_object, object_of, objects_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, field_entry};
use super::spans::attributes::Fact;
use super::spans::{InstantUnit, RunEntries, SpanAct, TraceSpan, build_run, instant_milliseconds, ways};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};

key_table! {
    PlatformKey {
        Spans = "spans",
        Id = "span_id" | "spanId" | "id",
        Trace = "trace_id" | "traceId",
        Parent = "parent_id" | "parentSpanId" | "parentRunId",
        Type = "spanType" | "type",
        Name = "name",
        Times = "timestamps",
        Start = "started_at" | "startTime" | "createdAt",
        End = "finished_at" | "endTime" | "endedAt",
        Input = "input",
        /// Older versions list several.
        Output = "output" | "outputs",
        /// LangWatch says of what type a value is.
        Value = "value",
        Error = "error",
        Message = "message",
        Model = "model",
        Attributes = "attributes",
        Metrics = "metrics" | "tokens",
        TokensIn = "prompt_tokens" | "prompt",
        TokensOut = "completion_tokens" | "completion",
        Cost = "cost",
        Project = "projectId",
    }
}

key_table! {
    PlatformType {
        Model = "llm" | "LLM",
        Tool = "tool" | "TOOL",
        Agent = "agent",
        Part = "span" | "chain" | "rag" | "guardrail" | "evaluation" | "workflow" | "component" | "module" | "server" | "client"
            | "producer" | "consumer" | "task" | "retriever" | "embed" | "chat" | "thread" | "convo" | "message" | "log"
            | "DEFAULT" | "PIPELINE" | "EXECUTOR" | "EVALUATOR" | "HUMAN_EVALUATOR" | "EVALUATION" | "CACHED" | "EVENT",
    }
}

key_table! {
    /// A message of Lunary has the keys of OpenAI's in another spelling.
    SpelledKey {
        Calls = "toolCalls",
        Answers = "toolCallId",
    }
}

key_table! {
    PlatformMark {
        LangWatch = "timestamps" | "project_id",
        Lunary = "parentRunId" | "projectId",
        Laminar = "spanType",
    }
}

ways! {
    LAMINAR_TRACE = [["traceId"]];
}

pub(crate) const LANGWATCH: TraceFormat = TraceFormat {
    name: "LangWatch trace",
    known_by: "`spans` whose `timestamps` have a `started_at`",
    description: "traces of LangWatch with their spans",
    marks: PlatformMark::LangWatch.keys(),
    near: &[],
    object: |object| list_of(object, PlatformKey::Spans).is_some_and(|spans| objects_of(spans).any(is_langwatch)),
    record_ids: RecordIds::OWN_READER,
    read: read_run,
    ..IN_FULL
};

pub(crate) const LUNARY: TraceFormat = TraceFormat {
    name: "Lunary runs",
    known_by: "records with `projectId` or `parentRunId`, a `type` and a `createdAt`",
    description: "runs of Lunary as they are exported (one a line, or a list)",
    marks: PlatformMark::Lunary.keys(),
    near: &[],
    object: is_lunary,
    item_marks: PlatformMark::Lunary.keys(),
    element: is_lunary,
    line: is_lunary,
    record_ids: RecordIds::updated(&[&[PlatformKey::Id.last_key()]]),
    read: read_run,
    ..IN_FULL
};

pub(crate) const LAMINAR: TraceFormat = TraceFormat {
    name: "Laminar spans",
    known_by: "spans with `spanType`, `spanId` and `traceId`",
    description: "spans of Laminar as they are exported (one a line, or a list), a run for each trace",
    marks: PlatformMark::Laminar.keys(),
    object: is_laminar,
    item_marks: PlatformMark::Laminar.keys(),
    element: is_laminar,
    line: is_laminar,
    record_ids: RecordIds::OWN_READER,
    read: read_run,
    runs: &[RunCutting { within: &[], way: &[], by: LAMINAR_TRACE, keeps: &[], joins: None }],
    ..IN_FULL
};

fn is_langwatch(span: Object<'_>) -> bool {
    text_of(span, PlatformKey::Type).is_some()
        && object_of(span, PlatformKey::Times).is_some_and(|times| times.field(PlatformKey::Start).is_some())
}

fn is_lunary(run: Object<'_>) -> bool {
    text_of(run, PlatformKey::Type).and_then(PlatformType::from_key).is_some()
        && value_of(run, PlatformKey::Id).is_some()
        && run.get(PlatformKey::Start.last_key()).is_some()
        && (run.field(PlatformKey::Project).is_some() || run.get(PlatformKey::Parent.last_key()).is_some())
}

fn is_laminar(span: Object<'_>) -> bool {
    span.get(PlatformKey::Type.key()).is_some()
        && [PlatformKey::Id, PlatformKey::Trace].into_iter().all(|key| text_of(span, key).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    let (mut whole, mut spans) = (RunEntries::default(), Vec::new());
    if let Some(trace) = node_object(*root).filter(|trace| list_of(*trace, PlatformKey::Spans).is_some()) {
        whole.id = value_of(trace, PlatformKey::Trace);
        whole.input = value_of(trace, PlatformKey::Input).map(inner_value);
        whole.output = value_of(trace, PlatformKey::Output).map(inner_value);
    }
    for node in items_of(root, &[PlatformKey::Spans]) {
        builder.count_record();
        match node_object(*node).filter(|span| text_of(*span, PlatformKey::Id).is_some()) {
            Some(span) => {
                whole.id = whole.id.or_else(|| value_of(span, PlatformKey::Trace));
                spans.push(read_span(*node, span, builder));
            }
            None => builder.skip_value(node, "what is no span is skipped"),
        }
    }
    build_run(spans, whole, builder);
    Ok(())
}

/// What a value with a type holds.
fn inner_value(node: Node<'_>) -> Node<'_> {
    let one = match node.value {
        Value::List([one]) if node_object(*one).is_some_and(|one| one.field(PlatformKey::Value).is_some()) => *one,
        _ => node,
    };
    node_object(one).and_then(|typed| value_of(typed, PlatformKey::Value)).unwrap_or(one)
}

fn read_span<'run>(node: Node<'run>, record: Object<'run>, builder: &RunBuilder<'run, '_>) -> TraceSpan<'run> {
    let mut span = TraceSpan::new(node.origin);
    span.id = text_of(record, PlatformKey::Id);
    span.parent = text_of(record, PlatformKey::Parent);
    span.name = value_of(record, PlatformKey::Name);
    let times = object_of(record, PlatformKey::Times).unwrap_or(record);
    let at = |key| value_of(times, key).and_then(|node| instant_milliseconds(node, InstantUnit::Milliseconds));
    (span.start, span.end) = (at(PlatformKey::Start), at(PlatformKey::End));
    span.error = value_of(record, PlatformKey::Error)
        .map(|error| node_object(error).and_then(|it| value_of(it, PlatformKey::Message)).unwrap_or(error));
    span.failed = span.error.map(|_| true);
    if let Some(attributes) = value_of(record, PlatformKey::Attributes).filter(|it| node_object(*it).is_some()) {
        span.take_attributes(attributes, builder);
    }
    let word = text_of(record, PlatformKey::Type);
    span.act = match word.and_then(PlatformType::from_key) {
        Some(PlatformType::Model) => SpanAct::Inference,
        Some(PlatformType::Tool) => SpanAct::Tool,
        Some(PlatformType::Agent) => SpanAct::Agent,
        Some(PlatformType::Part) => SpanAct::Part,
        None => span.act_of_word(word, builder),
    };
    let (given, gave) = match span.act {
        SpanAct::Tool => (Fact::Args, Fact::Result),
        SpanAct::Inference => (Fact::MessagesIn, Fact::MessagesOut),
        _ => (Fact::Input, Fact::Output),
    };
    for (fact, key) in [(given, PlatformKey::Input), (gave, PlatformKey::Output)] {
        let told = value_of(record, key).map(inner_value);
        let is_said = span.act == SpanAct::Inference;
        span.take_fact(fact, told.map(|told| if is_said { respelled(told, builder) } else { told }));
    }
    if span.act == SpanAct::Inference {
        let model = value_of(record, PlatformKey::Model).or_else(|| value_of(record, PlatformKey::Name));
        span.take_fact(Fact::Model, model);
        span.take_fact(Fact::Cost, value_of(record, PlatformKey::Cost));
        if let Some(counts) = object_of(record, PlatformKey::Metrics) {
            span.take_fact(Fact::TokensIn, value_of(counts, PlatformKey::TokensIn));
            span.take_fact(Fact::TokensOut, value_of(counts, PlatformKey::TokensOut));
            span.take_fact(Fact::Cost, value_of(counts, PlatformKey::Cost));
        }
    }
    span.conclude_span(builder);
    span
}

/// Messages with the keys that OpenAI writes.
fn respelled<'run>(node: Node<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    if let Some(list) = node_list(node) {
        let list: Vec<_> = list.iter().map(|message| respelled(*message, builder)).collect();
        return Node::new(builder.list_node(&list).value, node.origin);
    }
    let Some(message) = node_object(node) else { return node };
    let entries = message.entries().iter().map(|entry| {
        let key = match SpelledKey::from_key(entry.key) {
            Some(SpelledKey::Calls) => super::messages::ChatMessageKey::Calls.key(),
            Some(SpelledKey::Answers) => super::messages::ChatMessageKey::Answers.key(),
            None => entry.key,
        };
        field_entry(key, entry.node)
    });
    Node::new(builder.object_node(&entries.collect::<Vec<_>>()).value, node.origin)
}
