//! Exports of Langfuse: a trace with its observations, or observations alone.

use super::cutting::RunCutting;
use super::run_builder::RunBuilder;
use super::spans::attributes::Fact;
use super::spans::{
    InstantUnit, RunEntries, SpanAct, TraceSpan, build_run, instant_milliseconds, names, span_messages, text_of_node,
    ways,
};
use super::{IN_FULL, TraceFormat, are_mostly, node_list, node_object};
use crate::error::PlacedError;
use averment_base::value::{Node, Number, Object, Value};

names! {
    LangfuseKey {
        Id = ["id"],
        Trace = ["traceId", "trace_id"],
        /// As stored in a database: values are text, JSON if structured.
        Stored = ["trace_id"],
        About = ["trace"],
        Parent = ["parentObservationId", "parent_observation_id"],
        Observations = ["observations"],
        Type = ["type"],
        Name = ["name"],
        Start = ["startTime", "start_time"],
        End = ["endTime", "end_time"],
        Input = ["input"],
        Output = ["output"],
        Model = ["model", "providedModelName", "provided_model_name"],
        Level = ["level"],
        Message = ["statusMessage", "status_message"],
        Usage = ["usageDetails", "usage_details", "usage"],
        Cost = ["calculatedTotalCost", "totalCost", "calculated_total_cost", "total_cost"],
        CostDetails = ["costDetails", "cost_details"],
        Session = ["sessionId", "session_id"],
        /// In seconds.
        Latency = ["latency"],
        Metadata = ["metadata"],
        Attributes = ["attributes"],
        Data = ["data"],
        Error = ["error"],
        /// A tool message, and the wrapper of a tool's input.
        Call = ["tool_call_id"],
        Role = ["role"],
        Said = ["message"],
    }
}

names! {
    LangfuseUsageKey {
        In = ["input", "promptTokens", "prompt_tokens", "input_tokens"],
        Out = ["output", "completionTokens", "completion_tokens", "output_tokens"],
        All = ["total", "totalTokens", "total_tokens"],
        CacheRead = ["input_cached_tokens", "cache_read_input_tokens", "input_cache_read"],
        CacheWrite = ["cache_creation_input_tokens", "input_cache_creation"],
        Reasoning = ["output_reasoning_tokens", "output_reasoning"],
    }
}

names! {
    ObservationType {
        Agent = ["AGENT"],
        Model = ["GENERATION"],
        Tool = ["TOOL"],
        Part = ["SPAN", "EVENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"],
    }
}

names! {
    ObservationLevel {
        Failed = ["ERROR"],
    }
}

names! {
    LangfuseNearMark {
        Any = ["observations"],
    }
}

names! {
    LangfuseMark {
        Any = [
            "observations", "data", "level", "parentObservationId", "usageDetails", "statusMessage", "parent_observation_id", "usage_details",
            "status_message",
        ],
    }
}

ways! {
    TRACE = [["traceId"], ["trace_id"]];
}

fn find_key<'run>(object: Object<'run>, wanted: LangfuseKey) -> Option<Node<'run>> {
    wanted.find(object)
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "Langfuse export",
    description: "Langfuse exports (a trace with `observations`, or a list of observations)",
    known_by: "observations with `traceId`, a `type` such as `GENERATION`, and `startTime`",
    marks: LangfuseMark::Any.names(),
    near: LangfuseNearMark::Any.names(),
    object: |object| is_trace(object) || is_observation(object) || is_page(object),
    item_marks: LangfuseMark::Any.names(),
    element: |object| is_observation(object) || is_page(object),
    read: read_run,
    runs: &[
        RunCutting { within: &[], way: &[LangfuseKey::Data.names()], by: TRACE, keeps: &[] },
        RunCutting { within: &[], way: &[LangfuseKey::Data.names()], by: &[], keeps: &[] },
        RunCutting { within: &[], way: &[], by: TRACE, keeps: &[] },
    ],
    ..IN_FULL
};

fn is_observation(object: Object<'_>) -> bool {
    let is_text = |word| find_key(object, word).is_some_and(|node| text_of_node(node).is_some());
    find_key(object, LangfuseKey::Type)
        .and_then(text_of_node)
        .is_some_and(|kind| ObservationType::from_name(kind).is_some())
        && is_text(LangfuseKey::Id)
        && is_text(LangfuseKey::Start)
        && is_text(LangfuseKey::Trace)
}

fn is_part(one: Object<'_>) -> bool {
    find_key(one, LangfuseKey::Type)
        .and_then(text_of_node)
        .is_some_and(|kind| ObservationType::from_name(kind).is_some())
        && find_key(one, LangfuseKey::Start).is_some()
}

fn is_trace(trace: Object<'_>) -> bool {
    let observations = find_key(trace, LangfuseKey::Observations).and_then(node_list).unwrap_or_default();
    are_mostly(observations.iter(), is_part)
}

fn is_page(page: Object<'_>) -> bool {
    let items = find_key(page, LangfuseKey::Data).and_then(node_list).unwrap_or_default();
    are_mostly(items.iter(), |item| is_observation(item) || is_trace(item))
}

fn read_run<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let mut whole = RunEntries::default();
    let mut observations: Vec<Node<'run>> = Vec::new();
    collect_observations(root, &mut whole, &mut observations, draft);
    let mut spans = Vec::new();
    for node in observations {
        draft.count_record();
        let Some(object) = node_object(node).filter(|one| is_part(*one)) else {
            draft.warn_skipped(node.origin, "what is no observation is passed over");
            continue;
        };
        whole.id = whole.id.or_else(|| find_key(object, LangfuseKey::Trace));
        spans.push(read_span(node, object, draft));
    }
    build_run(spans, whole, draft);
    Ok(())
}

fn collect_observations<'run>(
    root: Node<'run>,
    whole: &mut RunEntries<'run>,
    found: &mut Vec<Node<'run>>,
    draft: &RunBuilder<'run, '_>,
) {
    const DEEP: usize = 3;
    let mut open = vec![(root, 0)];
    while let Some((node, depth)) = open.pop() {
        match node.value {
            Value::List(items) if depth < DEEP => open.extend(items.iter().rev().map(|item| (*item, depth + 1))),
            Value::Object(trace) if is_trace(trace) => {
                found.extend(find_key(trace, LangfuseKey::Observations).and_then(node_list).unwrap_or_default());
                match find_key(trace, LangfuseKey::About).and_then(node_object) {
                    // Text stands there as JSON, once or twice.
                    Some(about) => self::read_trace_entries(about, whole, |node| unquote_json(node, 2, draft)),
                    None => self::read_trace_entries(trace, whole, |node| node),
                }
            }
            // What holds nothing is told as what it is.
            Value::Object(page) if depth < DEEP && !is_observation(page) => match find_key(page, LangfuseKey::Data) {
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
    whole.id = find_key(trace, LangfuseKey::Id).filter(|id| text_of_node(*id).is_some());
    (whole.input, whole.output) =
        (find_key(trace, LangfuseKey::Input).map(&value), find_key(trace, LangfuseKey::Output).map(&value));
    whole.session = find_key(trace, LangfuseKey::Session);
    whole.cost = find_key(trace, LangfuseKey::Cost).filter(|cost| is_some(*cost));
    whole.duration = match find_key(trace, LangfuseKey::Latency).map(|latency| latency.value) {
        Some(Value::Number(seconds)) => Some(seconds.to_f64() * 1e3),
        _ => None,
    };
}

/// Unwraps JSON in text, at most `times` times.
fn unquote_json<'run>(mut node: Node<'run>, times: usize, draft: &RunBuilder<'run, '_>) -> Node<'run> {
    for _ in 0..times {
        let inner = text_of_node(node)
            .filter(|text| text.starts_with('"'))
            .and_then(|_| node.parse_embedded(draft.arena, draft.limits));
        node = inner.unwrap_or(node);
    }
    node
}

fn read_span<'run>(node: Node<'run>, one: Object<'run>, draft: &mut RunBuilder<'run, '_>) -> TraceSpan<'run> {
    let mut span = TraceSpan::new(node.origin);
    span.id = find_key(one, LangfuseKey::Id).and_then(text_of_node);
    span.parent = find_key(one, LangfuseKey::Parent).and_then(text_of_node);
    span.name = find_key(one, LangfuseKey::Name);
    let at = |word| find_key(one, word).and_then(|node| instant_milliseconds(node, InstantUnit::NanosecondsByLength));
    (span.start, span.end) = (at(LangfuseKey::Start), at(LangfuseKey::End));
    let metadata = find_key(one, LangfuseKey::Metadata).map(|metadata| span_messages::read_node(metadata, draft));
    if let Some(attributes) =
        metadata.and_then(node_object).and_then(|metadata| find_key(metadata, LangfuseKey::Attributes))
    {
        span.take_attributes(attributes, draft);
    }
    span.attributes = metadata.filter(|metadata| node_object(*metadata).is_some());
    span.act = match find_key(one, LangfuseKey::Type).and_then(text_of_node).and_then(ObservationType::from_name) {
        Some((ObservationType::Agent, _)) => SpanAct::Agent,
        Some((ObservationType::Model, _)) => SpanAct::Inference,
        Some((ObservationType::Tool, _)) => SpanAct::Tool,
        // What was recorded by way of OpenTelemetry says more than that it is a span.
        Some((ObservationType::Part, _)) | None => match super::spans::attributes_act(&span.facts) {
            SpanAct::Other => SpanAct::Part,
            known => known,
        },
    };
    let failed = find_key(one, LangfuseKey::Level)
        .and_then(text_of_node)
        .is_some_and(|level| matches!(ObservationLevel::from_name(level), Some((ObservationLevel::Failed, _))));
    span.failed = failed.then_some(true);
    span.error = find_key(one, LangfuseKey::Message).filter(|_| failed);
    read_exchange(&mut span, one, draft);
    span.take_fact(Fact::Model, find_key(one, LangfuseKey::Model));
    span.take_fact(Fact::Cost, observation_cost(one, span.act));
    if let Some(usage) = find_key(one, LangfuseKey::Usage).and_then(node_object) {
        let count = |wanted: LangfuseUsageKey| wanted.find(usage);
        for (fact, word) in [
            (Fact::TokensIn, LangfuseUsageKey::In),
            (Fact::TokensOut, LangfuseUsageKey::Out),
            (Fact::TokensAll, LangfuseUsageKey::All),
            (Fact::TokensCacheRead, LangfuseUsageKey::CacheRead),
            (Fact::TokensCacheWrite, LangfuseUsageKey::CacheWrite),
            (Fact::TokensReasoning, LangfuseUsageKey::Reasoning),
        ] {
            span.take_fact(fact, count(word).filter(|count| is_some(*count)));
        }
    }
    span.conclude_span(draft);
    span
}

fn read_exchange<'run>(span: &mut TraceSpan<'run>, one: Object<'run>, draft: &RunBuilder<'run, '_>) {
    let times = usize::from(find_key(one, LangfuseKey::Stored).is_some());
    let value = |word| find_key(one, word).map(|node| unquote_json(node, times, draft));
    let (mut input, output) = (value(LangfuseKey::Input), value(LangfuseKey::Output));
    if span.act == SpanAct::Part && output.is_some_and(|output| is_told_of_tool(output, span)) {
        span.act = SpanAct::Tool;
        // Arguments in the notation of a language are told by the model, too, and in JSON.
        input = input.filter(|input| node_object(span_messages::read_node(*input, draft)).is_some());
    }
    let (given, gave) = match span.act {
        SpanAct::Tool => (Fact::Args, Fact::Result),
        SpanAct::Inference => (Fact::MessagesIn, Fact::MessagesOut),
        _ => (Fact::Input, Fact::Output),
    };
    let is_tool = span.act == SpanAct::Tool;
    let is_message = |node: Node<'run>, is: &dyn Fn(Object<'run>) -> bool| {
        let value = span_messages::read_node(node, draft);
        is_tool && node_list(value).map_or(node_object(value), |items| node_object(*items.first()?)).is_some_and(is)
    };
    let wraps_given =
        |node| is_message(node, &|one| find_key(one, LangfuseKey::Role).and_then(text_of_node) == Some(TOOL));
    let of_call = |one| {
        let id = find_key(one, LangfuseKey::Id).and_then(text_of_node);
        id.is_some() && id == span.facts.fact_text(Fact::CallId)
    };
    let in_parts =
        |one| find_key(one, LangfuseKey::Said).is_some_and(|said| span_messages::holds_parts_in_text(said, draft));
    let wraps = |one| {
        has_only(one, &[LangfuseKey::Said, LangfuseKey::Id])
            && find_key(one, LangfuseKey::Said).is_some()
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
    one.entries().iter().all(|entry| words.iter().any(|word| word.names().contains(&entry.key)))
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
    let named = |message: Object<'run>| find_key(message, LangfuseKey::Name).and_then(text_of_node);
    let message =
        node_object(output).filter(|message| find_key(*message, LangfuseKey::Call).and_then(text_of_node).is_some());
    message.and_then(named).is_some_and(|name| span.name.and_then(text_of_node) == Some(name))
}

/// 0 also stands for an unknown price.
fn observation_cost<'run>(one: Object<'run>, act: SpanAct) -> Option<Node<'run>> {
    let details = find_key(one, LangfuseKey::CostDetails).and_then(node_object);
    let total = find_key(one, LangfuseKey::Cost).or_else(|| LangfuseUsageKey::All.find(details?));
    let is_priced = act == SpanAct::Inference && details.is_some_and(|details| !details.entries().is_empty());
    total.filter(|cost| is_some(*cost) || is_priced)
}

/// Observations without usage report 0.
fn is_some(count: Node<'_>) -> bool {
    matches!(count.value, Value::Number(count) if count != Number::Integer(0) && count.to_f64() != 0.0)
}
