//! Exports of Langfuse: a trace with its observations, or observations alone.

use super::cutting::RunCutting;
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{are_mostly, node_list, node_object, node_text};
use super::run_builder::RunBuilder;
use super::spans::attributes::Fact;
use super::spans::{
    InstantUnit, RunEntries, SpanAct, TraceSpan, build_run, instant_milliseconds, is_nonzero, span_messages, ways,
};
use crate::error::PlacedError;
use averment_base::value::{Node, Number, Object, Value};

key_table! {
    LangfuseKey {
        Id = "id",
        Trace = "traceId" | "trace_id",
        About = "trace",
        Parent = "parentObservationId" | "parent_observation_id",
        Observations = "observations",
        Type = "type",
        Name = "name",
        Start = "startTime" | "start_time",
        End = "endTime" | "end_time",
        Input = "input",
        Output = "output",
        Model = "model" | "providedModelName" | "provided_model_name",
        Level = "level",
        Message = "statusMessage" | "status_message",
        Usage = "usageDetails" | "usage_details" | "usage",
        Cost = "calculatedTotalCost" | "totalCost" | "calculated_total_cost" | "total_cost",
        CostDetails = "costDetails" | "cost_details",
        Session = "sessionId" | "session_id",
        /// In seconds.
        Latency = "latency",
        Metadata = "metadata",
        Attributes = "attributes",
        Data = "data",
        Error = "error",
        /// A tool message, and the wrapper of a tool's input.
        Call = "tool_call_id",
        Role = "role",
        Said = "message",
    }
}

key_table! {
    /// The trace of an observation whose values are kept as a store has them: as text, JSON where they are more than that.
    Stored {
        Trace = "trace_id",
    }
}

key_table! {
    LangfuseUsageKey {
        In = "input" | "promptTokens" | "prompt_tokens" | "input_tokens",
        Out = "output" | "completionTokens" | "completion_tokens" | "output_tokens",
        All = "total" | "totalTokens" | "total_tokens",
        CacheRead = "input_cached_tokens" | "cache_read_input_tokens" | "input_cache_read",
        CacheWrite = "cache_creation_input_tokens" | "input_cache_creation",
        Reasoning = "output_reasoning_tokens" | "output_reasoning",
    }
}

key_table! {
    ObservationType {
        Agent = "AGENT",
        Model = "GENERATION",
        Tool = "TOOL",
        Part = "SPAN" | "EVENT" | "CHAIN" | "RETRIEVER" | "EVALUATOR" | "EMBEDDING" | "GUARDRAIL",
    }
}

key_table! {
    ObservationLevel {
        Failed = "ERROR",
    }
}

key_table! {
    LangfuseNearMark {
        Any = "observations",
    }
}

key_table! {
    LangfuseMark {
        Any = "observations" | "data" | "level" | "parentObservationId" | "usageDetails" | "statusMessage"
            | "parent_observation_id" | "usage_details" | "status_message",
    }
}

ways! {
    TRACE = [["traceId"], ["trace_id"]];
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "Langfuse export",
    description: "Langfuse exports (a trace with `observations`, or a list of observations)",
    known_by: "observations with `traceId`, a `type` such as `GENERATION`, and `startTime`",
    marks: LangfuseMark::Any.keys(),
    near: LangfuseNearMark::Any.keys(),
    object: |object| is_trace(object) || is_observation(object) || is_page(object),
    item_marks: LangfuseMark::Any.keys(),
    element: |object| is_observation(object) || is_page(object),
    read: read_run,
    runs: &[
        RunCutting { within: &[], way: &[LangfuseKey::Data.keys()], by: TRACE, keeps: &[], joins: None },
        RunCutting { within: &[], way: &[LangfuseKey::Data.keys()], by: &[], keeps: &[], joins: None },
        RunCutting { within: &[], way: &[], by: TRACE, keeps: &[], joins: None },
    ],
    ..IN_FULL
};

fn is_observation(object: Object<'_>) -> bool {
    let is_text = |word| value_of(object, word).is_some_and(|node| node_text(node).is_some());
    value_of(object, LangfuseKey::Type)
        .and_then(node_text)
        .is_some_and(|kind| ObservationType::from_key(kind).is_some())
        && is_text(LangfuseKey::Id)
        && is_text(LangfuseKey::Start)
        && is_text(LangfuseKey::Trace)
}

fn is_part(one: Object<'_>) -> bool {
    value_of(one, LangfuseKey::Type).and_then(node_text).is_some_and(|kind| ObservationType::from_key(kind).is_some())
        && value_of(one, LangfuseKey::Start).is_some()
}

fn is_trace(trace: Object<'_>) -> bool {
    let observations = value_of(trace, LangfuseKey::Observations).and_then(node_list).unwrap_or_default();
    are_mostly(observations.iter(), is_part)
}

fn is_page(page: Object<'_>) -> bool {
    let items = value_of(page, LangfuseKey::Data).and_then(node_list).unwrap_or_default();
    are_mostly(items.iter(), |item| is_observation(item) || is_trace(item))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let mut whole = RunEntries::default();
    let mut observations: Vec<Node<'run>> = Vec::new();
    collect_observations(root, &mut whole, &mut observations, builder);
    let mut spans = Vec::new();
    for node in observations {
        builder.count_record();
        let Some(object) = node_object(node).filter(|one| is_part(*one)) else {
            builder.skip_value(node, "what is no observation is skipped");
            continue;
        };
        whole.id = whole.id.or_else(|| value_of(object, LangfuseKey::Trace));
        spans.push(read_span(node, object, builder));
    }
    build_run(spans, whole, builder);
    Ok(())
}

fn collect_observations<'run>(
    root: Node<'run>,
    whole: &mut RunEntries<'run>,
    found: &mut Vec<Node<'run>>,
    builder: &RunBuilder<'run, '_>,
) {
    const DEEP: usize = 3;
    let mut open = vec![(root, 0)];
    while let Some((node, depth)) = open.pop() {
        match node.value {
            Value::List(items) if depth < DEEP => open.extend(items.iter().rev().map(|item| (*item, depth + 1))),
            Value::Object(trace) if is_trace(trace) => {
                found.extend(value_of(trace, LangfuseKey::Observations).and_then(node_list).unwrap_or_default());
                match value_of(trace, LangfuseKey::About).and_then(node_object) {
                    // Text stands there as JSON, once or twice.
                    Some(meta) => self::read_trace_entries(meta, whole, |node| unquote_json(node, 2, builder)),
                    None => self::read_trace_entries(trace, whole, |node| node),
                }
            }
            // What holds nothing is told as what it is.
            Value::Object(page) if depth < DEEP && !is_observation(page) => match value_of(page, LangfuseKey::Data) {
                Some(data) => open.push((data, depth + 1)),
                None => found.push(node),
            },
            _ => found.push(node),
        }
    }
}

fn read_trace_entries<'run>(
    trace: Object<'run>,
    whole: &mut RunEntries<'run>,
    value: impl Fn(Node<'run>) -> Node<'run>,
) {
    whole.id = value_of(trace, LangfuseKey::Id).filter(|id| node_text(*id).is_some());
    (whole.input, whole.output) =
        (value_of(trace, LangfuseKey::Input).map(&value), value_of(trace, LangfuseKey::Output).map(&value));
    whole.session = value_of(trace, LangfuseKey::Session);
    whole.cost = value_of(trace, LangfuseKey::Cost).filter(|cost| is_nonzero(*cost));
    whole.duration = match value_of(trace, LangfuseKey::Latency).map(|latency| latency.value) {
        Some(Value::Number(seconds)) => Some(seconds.to_f64() * 1e3),
        _ => None,
    };
}

/// Unwraps JSON in text, at most `times` times.
fn unquote_json<'run>(mut node: Node<'run>, times: usize, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    for _ in 0..times {
        let inner = node_text(node).filter(|text| text.starts_with('"')).and_then(|_| builder.open_json(node));
        node = inner.unwrap_or(node);
    }
    node
}

fn read_span<'run>(node: Node<'run>, one: Object<'run>, builder: &mut RunBuilder<'run, '_>) -> TraceSpan<'run> {
    let mut span = TraceSpan::new(node.origin);
    span.id = value_of(one, LangfuseKey::Id).and_then(node_text);
    span.parent = value_of(one, LangfuseKey::Parent).and_then(node_text);
    span.name = value_of(one, LangfuseKey::Name);
    let at = |word| value_of(one, word).and_then(|node| instant_milliseconds(node, InstantUnit::NanosecondsByLength));
    (span.start, span.end) = (at(LangfuseKey::Start), at(LangfuseKey::End));
    let metadata = value_of(one, LangfuseKey::Metadata).map(|metadata| span_messages::read_node(metadata, builder));
    if let Some(attributes) =
        metadata.and_then(node_object).and_then(|metadata| value_of(metadata, LangfuseKey::Attributes))
    {
        span.take_attributes(attributes, builder);
    }
    span.attributes = metadata.filter(|metadata| node_object(*metadata).is_some());
    span.act = match value_of(one, LangfuseKey::Type).and_then(node_text).and_then(ObservationType::from_key) {
        Some(ObservationType::Agent) => SpanAct::Agent,
        Some(ObservationType::Model) => SpanAct::Inference,
        Some(ObservationType::Tool) => SpanAct::Tool,
        // What was recorded by way of OpenTelemetry says more than that it is a span.
        Some(ObservationType::Part) | None => match super::spans::attributes_act(&span.facts) {
            SpanAct::Other => SpanAct::Part,
            known => known,
        },
    };
    let failed = value_of(one, LangfuseKey::Level)
        .and_then(node_text)
        .is_some_and(|level| matches!(ObservationLevel::from_key(level), Some(ObservationLevel::Failed)));
    span.failed = failed.then_some(true);
    span.error = value_of(one, LangfuseKey::Message).filter(|_| failed);
    read_exchange(&mut span, one, builder);
    span.take_fact(Fact::Model, value_of(one, LangfuseKey::Model));
    span.take_fact(Fact::Cost, observation_cost(one, span.act));
    if let Some(usage) = value_of(one, LangfuseKey::Usage).and_then(node_object) {
        // The first count of a kind stays.
        add_details(&mut span, usage);
        let count = |wanted: LangfuseUsageKey| value_of(usage, wanted);
        for (fact, word) in [
            (Fact::TokensIn, LangfuseUsageKey::In),
            (Fact::TokensOut, LangfuseUsageKey::Out),
            (Fact::TokensAll, LangfuseUsageKey::All),
            (Fact::TokensCacheRead, LangfuseUsageKey::CacheRead),
            (Fact::TokensCacheWrite, LangfuseUsageKey::CacheWrite),
            (Fact::TokensReasoning, LangfuseUsageKey::Reasoning),
        ] {
            span.take_fact(fact, count(word).filter(|count| is_nonzero(*count)));
        }
    }
    span.conclude_span(builder);
    span
}

/// Langfuse takes the tokens of details (`input_cache_read`, `output_reasoning`) out of what they are part of. The total tells whether it did.
fn add_details<'run>(span: &mut TraceSpan<'run>, usage: Object<'run>) {
    let count = |node: Node<'run>| match node.value {
        Value::Number(count) => count.as_i64().filter(|count| *count > 0),
        _ => None,
    };
    let of_side = |side: &str, named: &[LangfuseUsageKey], whole: LangfuseUsageKey| {
        let entries = usage.entries().iter().filter(|entry| {
            let is_named = || named.iter().any(|row| row.keys().contains(&entry.key));
            !whole.keys().contains(&entry.key) && (entry.key.starts_with(side) || is_named())
        });
        entries.filter_map(|entry| count(entry.node)).sum::<i64>()
    };
    let of_input =
        of_side(INPUT_DETAIL, &[LangfuseUsageKey::CacheRead, LangfuseUsageKey::CacheWrite], LangfuseUsageKey::In);
    let of_output = of_side(OUTPUT_DETAIL, &[LangfuseUsageKey::Reasoning], LangfuseUsageKey::Out);
    let told = |key| value_of(usage, key).and_then(count).unwrap_or(0);
    let (input, output) = (told(LangfuseUsageKey::In), told(LangfuseUsageKey::Out));
    if of_input + of_output == 0 || input + output + of_input + of_output != told(LangfuseUsageKey::All) {
        return;
    }
    for (fact, whole) in [(Fact::TokensIn, input + of_input), (Fact::TokensOut, output + of_output)] {
        span.take_fact(fact, Some(Node::computed(Value::Number(Number::Integer(whole)))));
    }
}

/// How the names of details begin.
const INPUT_DETAIL: &str = "input_";
const OUTPUT_DETAIL: &str = "output_";

fn read_exchange<'run>(span: &mut TraceSpan<'run>, one: Object<'run>, builder: &RunBuilder<'run, '_>) {
    let times = usize::from(value_of(one, Stored::Trace).is_some());
    let value = |word| value_of(one, word).map(|node| unquote_json(node, times, builder));
    let (mut input, output) = (value(LangfuseKey::Input), value(LangfuseKey::Output));
    if span.act == SpanAct::Part && output.is_some_and(|output| is_told_of_tool(output, span)) {
        span.act = SpanAct::Tool;
        // Arguments in the notation of a language are told by the model, too, and in JSON.
        input = input.filter(|input| node_object(span_messages::read_node(*input, builder)).is_some());
    }
    let (given, gave) = match span.act {
        SpanAct::Tool => (Fact::Args, Fact::Result),
        SpanAct::Inference => (Fact::MessagesIn, Fact::MessagesOut),
        _ => (Fact::Input, Fact::Output),
    };
    let is_tool = span.act == SpanAct::Tool;
    let is_message = |node: Node<'run>, is: &dyn Fn(Object<'run>) -> bool| {
        let value = span_messages::read_node(node, builder);
        is_tool && node_list(value).map_or(node_object(value), |items| node_object(*items.first()?)).is_some_and(is)
    };
    let wraps_given =
        |node| is_message(node, &|one| value_of(one, LangfuseKey::Role).and_then(node_text) == Some(TOOL));
    let of_call = |one| {
        let id = value_of(one, LangfuseKey::Id).and_then(node_text);
        id.is_some() && id == span.facts.fact_text(Fact::CallId)
    };
    let in_parts =
        |one| value_of(one, LangfuseKey::Said).is_some_and(|said| span_messages::holds_parts_in_text(said, builder));
    let wraps = |one| {
        has_only(one, &[LangfuseKey::Said, LangfuseKey::Id])
            && value_of(one, LangfuseKey::Said).is_some()
            && (of_call(one) || in_parts(one))
    };
    let wraps_gave = |node| is_message(node, &wraps);
    let (given, gave) = (
        if input.is_some_and(wraps_given) { Fact::MessagesIn } else { given },
        if output.is_some_and(wraps_gave) { Fact::MessagesOut } else { gave },
    );
    for (fact, beside, node) in [(given, Fact::Input, input), (gave, Fact::Output, output)] {
        // What is empty here may stand among the attributes.
        let says_more = node.is_some_and(is_empty) && span.facts.has_any(&[fact, beside]);
        span.take_fact(fact, node.filter(|_| !says_more));
    }
}

const TOOL: &str = averment_runs::normal::of_step::TOOL;

fn has_only(one: Object<'_>, words: &[LangfuseKey]) -> bool {
    one.entries().iter().all(|entry| words.iter().any(|word| word.keys().contains(&entry.key)))
}

fn is_empty(node: Node<'_>) -> bool {
    match node.value {
        Value::Object(object) => object.entries().is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Text(text) => text.is_empty(),
        _ => false,
    }
}

/// True if the output is the message of the tool that the span is named after.
fn is_told_of_tool<'run>(output: Node<'run>, span: &TraceSpan<'run>) -> bool {
    let named = |message: Object<'run>| value_of(message, LangfuseKey::Name).and_then(node_text);
    let message =
        node_object(output).filter(|message| value_of(*message, LangfuseKey::Call).and_then(node_text).is_some());
    message.and_then(named).is_some_and(|name| span.name.and_then(node_text) == Some(name))
}

/// 0 also stands for an unknown price.
fn observation_cost<'run>(one: Object<'run>, act: SpanAct) -> Option<Node<'run>> {
    let details = value_of(one, LangfuseKey::CostDetails).and_then(node_object);
    let total = value_of(one, LangfuseKey::Cost).or_else(|| value_of(details?, LangfuseUsageKey::All));
    let is_priced = act == SpanAct::Inference && details.is_some_and(|details| !details.entries().is_empty());
    total.filter(|cost| is_nonzero(*cost) || is_priced)
}
