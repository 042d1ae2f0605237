//! Opik: traces with their spans as its command writes them, pages of spans, spans alone.

use super::cutting::RunCutting;
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{are_mostly, node_list, node_object, node_text};
use super::run_builder::RunBuilder;
use super::spans::attributes::Fact;
use super::spans::{InstantUnit, RunEntries, SpanAct, TraceSpan, build_run, instant_milliseconds, is_nonzero, ways};
use crate::error::PlacedError;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_step;

key_table! {
    OpikKey {
        Trace = "trace",
        Spans = "spans",
        Content = "content",
        Id = "id",
        OfTrace = "trace_id",
        Parent = "parent_span_id",
        Type = "type",
        Name = "name",
        Start = "start_time",
        End = "end_time",
        Input = "input",
        Output = "output",
        Metadata = "metadata",
        Model = "model",
        Usage = "usage",
        Cost = "total_estimated_cost",
        Error = "error_info",
        Thread = "thread_id",
        Message = "message" | "exception_type",
    }
}

key_table! {
    OpikUsageKey {
        In = "prompt_tokens",
        Out = "completion_tokens",
        All = "total_tokens",
        CacheRead = "original_usage.prompt_tokens_details.cached_tokens" | "original_usage.cache_read_input_tokens",
        CacheWrite = "original_usage.cache_creation_input_tokens",
        Reasoning = "original_usage.completion_tokens_details.reasoning_tokens",
    }
}

key_table! {
    OpikType {
        Model = "llm",
        Tool = "tool",
        Part = "general" | "guardrail",
    }
}

key_table! {
    OpikMark {
        /// The last one is of a page.
        Any = "trace" | "parent_span_id" | "total_estimated_cost" | "sortable_by",
    }
}

key_table! {
    OpikItemMark {
        Any = "trace" | "parent_span_id" | "trace_id",
    }
}

ways! {
    TRACE = [["trace_id"]];
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "Opik export",
    description: "traces of Opik (`trace` with `spans`), pages of its spans (`content`), spans alone",
    known_by: "spans with `trace_id`, `start_time` and a `type` of `llm`, `tool`, `general` or `guardrail`",
    marks: OpikMark::Any.keys(),
    near: &[],
    object: |object| is_trace(object) || is_span(object) || is_page(object),
    item_marks: OpikItemMark::Any.keys(),
    element: |object| is_trace(object) || is_span(object) || is_page(object),
    alone: is_trace,
    read: read_run,
    runs: &[
        RunCutting { within: &[], way: &[OpikKey::Content.keys()], by: TRACE, keeps: &[], joins: None },
        RunCutting { within: &[], way: &[], by: TRACE, keeps: &[], joins: None },
    ],
    ..IN_FULL
};

fn text_in(object: Object<'_>, key: OpikKey) -> Option<&str> {
    value_of(object, key).and_then(node_text)
}

fn is_span(object: Object<'_>) -> bool {
    text_in(object, OpikKey::Type).and_then(OpikType::from_key).is_some()
        && [OpikKey::Id, OpikKey::OfTrace, OpikKey::Start].into_iter().all(|key| text_in(object, key).is_some())
}

fn is_trace(object: Object<'_>) -> bool {
    let trace = value_of(object, OpikKey::Trace).and_then(node_object);
    let spans = value_of(object, OpikKey::Spans).and_then(node_list);
    let is_one = |trace: Object<'_>| [OpikKey::Id, OpikKey::Start].into_iter().all(|key| text_in(trace, key).is_some());
    trace.is_some_and(is_one) && spans.is_some_and(|spans| spans.is_empty() || are_mostly(spans.iter(), is_span))
}

fn is_page(page: Object<'_>) -> bool {
    value_of(page, OpikKey::Content).and_then(node_list).is_some_and(|spans| are_mostly(spans.iter(), is_span))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    let mut whole = RunEntries::default();
    let mut spans = Vec::new();
    for node in node_list(*root).unwrap_or(std::slice::from_ref(root)) {
        let holder = node_object(*node);
        let trace = holder.filter(|holder| is_trace(*holder)).and_then(|holder| value_of(holder, OpikKey::Trace));
        if let Some(trace) = trace.and_then(node_object) {
            read_trace(trace, &mut whole);
        }
        let page =
            |key| holder.filter(|one| is_trace(*one) || is_page(*one)).and_then(|one| node_list(value_of(one, key)?));
        let items = page(OpikKey::Spans).or_else(|| page(OpikKey::Content));
        for node in items.unwrap_or(std::slice::from_ref(node)) {
            builder.count_record();
            let Some(span) = node_object(*node).filter(|span| is_span(*span)) else {
                builder.skip_value(node, "what is no span is skipped");
                continue;
            };
            whole.id = whole.id.or_else(|| value_of(span, OpikKey::OfTrace));
            spans.push(read_span(*node, span, builder));
        }
    }
    build_run(spans, whole, builder);
    Ok(())
}

fn read_trace<'run>(trace: Object<'run>, whole: &mut RunEntries<'run>) {
    whole.id = value_of(trace, OpikKey::Id);
    whole.input = value_of(trace, OpikKey::Input);
    whole.output = value_of(trace, OpikKey::Output).map(only_output);
    whole.session = value_of(trace, OpikKey::Thread);
    whole.cost = value_of(trace, OpikKey::Cost).filter(|cost| is_nonzero(*cost));
    whole.error = value_of(trace, OpikKey::Error).map(error_of);
}

fn error_of(error: Node<'_>) -> Node<'_> {
    node_object(error).and_then(|error| value_of(error, OpikKey::Message)).unwrap_or(error)
}

/// What a function gave that is no object is kept under this name alone.
fn only_output(output: Node<'_>) -> Node<'_> {
    match node_object(output).map(|output| output.entries()) {
        Some([only]) if only.key == of_step::OUTPUT => only.node,
        _ => output,
    }
}

fn read_span<'run>(node: Node<'run>, record: Object<'run>, builder: &mut RunBuilder<'run, '_>) -> TraceSpan<'run> {
    let mut span = TraceSpan::new(node.origin);
    span.id = text_in(record, OpikKey::Id);
    span.parent = text_in(record, OpikKey::Parent);
    span.name = value_of(record, OpikKey::Name);
    let at = |key| value_of(record, key).and_then(|node| instant_milliseconds(node, InstantUnit::NanosecondsByLength));
    (span.start, span.end) = (at(OpikKey::Start), at(OpikKey::End));
    span.act = match text_in(record, OpikKey::Type).and_then(OpikType::from_key) {
        Some(OpikType::Model) => SpanAct::Inference,
        Some(OpikType::Tool) => SpanAct::Tool,
        Some(OpikType::Part) | None => SpanAct::Part,
    };
    span.error = value_of(record, OpikKey::Error).map(error_of);
    span.failed = span.error.map(|_| true);
    span.attributes = value_of(record, OpikKey::Metadata).filter(|metadata| node_object(*metadata).is_some());
    let (given, gave) = match span.act {
        SpanAct::Tool => (Fact::Args, Fact::Result),
        SpanAct::Inference => (Fact::MessagesIn, Fact::MessagesOut),
        _ => (Fact::Input, Fact::Output),
    };
    let output = value_of(record, OpikKey::Output);
    span.take_fact(given, value_of(record, OpikKey::Input));
    span.take_fact(gave, if span.act == SpanAct::Inference { output } else { output.map(only_output) });
    if span.act == SpanAct::Inference {
        span.take_fact(Fact::Model, value_of(record, OpikKey::Model));
        span.take_fact(Fact::Cost, value_of(record, OpikKey::Cost).filter(|cost| is_nonzero(*cost)));
        let usage = value_of(record, OpikKey::Usage).and_then(node_object);
        for (fact, key) in [
            (Fact::TokensIn, OpikUsageKey::In),
            (Fact::TokensOut, OpikUsageKey::Out),
            (Fact::TokensAll, OpikUsageKey::All),
            (Fact::TokensCacheRead, OpikUsageKey::CacheRead),
            (Fact::TokensCacheWrite, OpikUsageKey::CacheWrite),
            (Fact::TokensReasoning, OpikUsageKey::Reasoning),
        ] {
            span.take_fact(fact, usage.and_then(|usage| value_of(usage, key)));
        }
    }
    span.conclude_span(builder);
    span
}
