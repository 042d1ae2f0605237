//! Exports of Langfuse: a trace with its observations, or observations alone.

use super::cutting::Cutting;
use super::draft::Draft;
use super::fields::{key_table, value_of};
use super::format::{Format, IN_FULL};
use super::nodes::{are_mostly, list, object};
use super::spans::attributes::Fact;
use super::spans::{Act, Span, Unit, Whole, instant, said, tell, text_of_node, ways};
use crate::error::Placed;
use averment_base::value::{Node, Number, Object, Value};

key_table! {
    /// A trace, and an observation: a span.
    Of {
        Id = "id",
        Trace = "traceId" | "trace_id",
        /// What is said of a trace beside its observations.
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
        /// A message that a tool gave, and what wraps what one was given.
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
    /// The counts of a usage.
    OfUsage {
        In = "input" | "promptTokens" | "prompt_tokens" | "input_tokens",
        Out = "output" | "completionTokens" | "completion_tokens" | "output_tokens",
        All = "total" | "totalTokens" | "total_tokens",
        CacheRead = "input_cached_tokens" | "cache_read_input_tokens" | "input_cache_read",
        CacheWrite = "cache_creation_input_tokens" | "input_cache_creation",
        Reasoning = "output_reasoning_tokens" | "output_reasoning",
    }
}

key_table! {
    /// What an observation is.
    Type {
        Agent = "AGENT",
        Model = "GENERATION",
        Tool = "TOOL",
        Part = "SPAN" | "EVENT" | "CHAIN" | "RETRIEVER" | "EVALUATOR" | "EMBEDDING" | "GUARDRAIL",
    }
}

key_table! {
    /// The level of an observation that went wrong.
    Level {
        Failed = "ERROR",
    }
}

key_table! {
    /// Those that nothing else has.
    Near {
        Any = "observations",
    }
}

key_table! {
    /// Keys of which a trace or an observation has one.
    Mark {
        Any = "observations" | "data" | "level" | "parentObservationId" | "usageDetails" | "statusMessage"
            | "parent_observation_id" | "usage_details" | "status_message",
    }
}

ways! {
    TRACE = [["traceId"], ["trace_id"]];
}

/// A trace of Langfuse.
pub(super) const FORMAT: Format = Format {
    name: "Langfuse export",
    description: "Langfuse exports (a trace with `observations`, or a list of observations)",
    known_by: "observations with `traceId`, a `type` such as `GENERATION`, and `startTime`",
    marks: Mark::Any.keys(),
    near: Near::Any.keys(),
    object: |object| is_trace(object) || is_observation(object) || is_page(object),
    item_marks: Mark::Any.keys(),
    element: |object| is_observation(object) || is_page(object),
    read,
    runs: &[
        Cutting { within: &[], way: &[Of::Data.keys()], by: TRACE, keeps: &[] },
        Cutting { within: &[], way: &[Of::Data.keys()], by: &[], keeps: &[] },
        Cutting { within: &[], way: &[], by: TRACE, keeps: &[] },
    ],
    ..IN_FULL
};

fn is_observation(object: Object<'_>) -> bool {
    let is_text = |word| value_of(object, word).is_some_and(|node| text_of_node(node).is_some());
    value_of(object, Of::Type).and_then(text_of_node).is_some_and(|kind| Type::from_key(kind).is_some())
        && is_text(Of::Id)
        && is_text(Of::Start)
        && is_text(Of::Trace)
}

/// Whether an object is an observation as it stands in its trace.
fn is_part(one: Object<'_>) -> bool {
    value_of(one, Of::Type).and_then(text_of_node).is_some_and(|kind| Type::from_key(kind).is_some())
        && value_of(one, Of::Start).is_some()
}

fn is_trace(trace: Object<'_>) -> bool {
    let observations = value_of(trace, Of::Observations).and_then(list).unwrap_or_default();
    are_mostly(observations.iter(), is_part)
}

fn is_page(page: Object<'_>) -> bool {
    let items = value_of(page, Of::Data).and_then(list).unwrap_or_default();
    are_mostly(items.iter(), |item| is_observation(item) || is_trace(item))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let mut whole = Whole::default();
    let mut observations: Vec<Node<'run>> = Vec::new();
    collect(root, &mut whole, &mut observations, draft);
    let mut spans = Vec::new();
    for node in observations {
        draft.record();
        let Some(object) = object(node).filter(|one| is_part(*one)) else {
            draft.not_understood(node.origin, "what is no observation is passed over");
            continue;
        };
        whole.id = whole.id.or_else(|| value_of(object, Of::Trace));
        spans.push(span(node, object, draft));
    }
    tell(spans, whole, draft);
    Ok(())
}

fn collect<'run>(root: Node<'run>, whole: &mut Whole<'run>, found: &mut Vec<Node<'run>>, draft: &Draft<'run, '_>) {
    const DEEP: usize = 3;
    let mut open = vec![(root, 0)];
    while let Some((node, depth)) = open.pop() {
        match node.value {
            Value::List(items) if depth < DEEP => open.extend(items.iter().rev().map(|item| (*item, depth + 1))),
            Value::Object(trace) if is_trace(trace) => {
                found.extend(value_of(trace, Of::Observations).and_then(list).unwrap_or_default());
                match value_of(trace, Of::About).and_then(object) {
                    // Text stands there as JSON, once or twice.
                    Some(about) => self::whole(about, whole, |node| unquoted(node, 2, draft)),
                    None => self::whole(trace, whole, |node| node),
                }
            }
            // What holds nothing is told as what it is.
            Value::Object(page) if depth < DEEP && !is_observation(page) => match value_of(page, Of::Data) {
                Some(data) => open.push((data, depth + 1)),
                None => found.push(node),
            },
            _ => found.push(node),
        }
    }
}

/// What a trace says of itself.
fn whole<'run>(trace: Object<'run>, whole: &mut Whole<'run>, value: impl Fn(Node<'run>) -> Node<'run>) {
    whole.id = value_of(trace, Of::Id).filter(|id| text_of_node(*id).is_some());
    (whole.input, whole.output) = (value_of(trace, Of::Input).map(&value), value_of(trace, Of::Output).map(&value));
    whole.session = value_of(trace, Of::Session);
    whole.cost = value_of(trace, Of::Cost).filter(|cost| is_some(*cost));
    whole.duration = match value_of(trace, Of::Latency).map(|latency| latency.value) {
        Some(Value::Number(seconds)) => Some(seconds.to_f64() * 1e3),
        _ => None,
    };
}

/// The text that is written as JSON, at most so many times.
fn unquoted<'run>(mut node: Node<'run>, times: usize, draft: &Draft<'run, '_>) -> Node<'run> {
    for _ in 0..times {
        let inner = text_of_node(node)
            .filter(|text| text.starts_with('"'))
            .and_then(|_| node.embedded(draft.arena, draft.limits));
        node = inner.unwrap_or(node);
    }
    node
}

fn span<'run>(node: Node<'run>, one: Object<'run>, draft: &mut Draft<'run, '_>) -> Span<'run> {
    let mut span = Span::new(node.origin);
    span.id = value_of(one, Of::Id).and_then(text_of_node);
    span.parent = value_of(one, Of::Parent).and_then(text_of_node);
    span.name = value_of(one, Of::Name);
    let at = |word| value_of(one, word).and_then(|node| instant(node, Unit::NanosecondsByLength));
    (span.start, span.end) = (at(Of::Start), at(Of::End));
    let metadata = value_of(one, Of::Metadata).map(|metadata| said::read(metadata, draft));
    if let Some(attributes) = metadata.and_then(object).and_then(|metadata| value_of(metadata, Of::Attributes)) {
        span.take_attributes(attributes, draft);
    }
    span.attributes = metadata.filter(|metadata| object(*metadata).is_some());
    span.act = match value_of(one, Of::Type).and_then(text_of_node).and_then(Type::from_key) {
        Some(Type::Agent) => Act::Agent,
        Some(Type::Model) => Act::Inference,
        Some(Type::Tool) => Act::Tool,
        // What was recorded by way of OpenTelemetry says more than that it is a span.
        Some(Type::Part) | None => match super::spans::act(&span.facts) {
            Act::Other => Act::Part,
            known => known,
        },
    };
    let failed = value_of(one, Of::Level)
        .and_then(text_of_node)
        .is_some_and(|level| matches!(Level::from_key(level), Some(Level::Failed)));
    span.failed = failed.then_some(true);
    span.error = value_of(one, Of::Message).filter(|_| failed);
    exchange(&mut span, one, draft);
    span.tell(Fact::Model, value_of(one, Of::Model));
    span.tell(Fact::Cost, cost(one, span.act));
    if let Some(usage) = value_of(one, Of::Usage).and_then(object) {
        let count = |wanted: OfUsage| value_of(usage, wanted);
        for (fact, word) in [
            (Fact::TokensIn, OfUsage::In),
            (Fact::TokensOut, OfUsage::Out),
            (Fact::TokensAll, OfUsage::All),
            (Fact::TokensCacheRead, OfUsage::CacheRead),
            (Fact::TokensCacheWrite, OfUsage::CacheWrite),
            (Fact::TokensReasoning, OfUsage::Reasoning),
        ] {
            span.tell(fact, count(word).filter(|count| is_some(*count)));
        }
    }
    span.conclude(draft);
    span
}

/// What went into an observation and came out of it.
fn exchange<'run>(span: &mut Span<'run>, one: Object<'run>, draft: &Draft<'run, '_>) {
    let times = usize::from(value_of(one, Stored::Trace).is_some());
    let value = |word| value_of(one, word).map(|node| unquoted(node, times, draft));
    let (mut input, output) = (value(Of::Input), value(Of::Output));
    if span.act == Act::Part && output.is_some_and(|output| is_told_of_tool(output, span)) {
        span.act = Act::Tool;
        // Arguments in the notation of a language are told by the model, too, and in JSON.
        input = input.filter(|input| object(said::read(*input, draft)).is_some());
    }
    let (given, gave) = match span.act {
        Act::Tool => (Fact::Args, Fact::Result),
        Act::Inference => (Fact::MessagesIn, Fact::MessagesOut),
        _ => (Fact::Input, Fact::Output),
    };
    let is_tool = span.act == Act::Tool;
    let is_message = |node: Node<'run>, is: &dyn Fn(Object<'run>) -> bool| {
        let value = said::read(node, draft);
        is_tool && list(value).map_or(object(value), |items| object(*items.first()?)).is_some_and(is)
    };
    let wraps_given = |node| is_message(node, &|one| value_of(one, Of::Role).and_then(text_of_node) == Some(TOOL));
    let of_call = |one| {
        let id = value_of(one, Of::Id).and_then(text_of_node);
        id.is_some() && id == span.facts.text(Fact::CallId)
    };
    let in_parts = |one| value_of(one, Of::Said).is_some_and(|said| said::holds_parts_in_text(said, draft));
    let wraps = |one| {
        has_only(one, &[Of::Said, Of::Id]) && value_of(one, Of::Said).is_some() && (of_call(one) || in_parts(one))
    };
    let wraps_gave = |node| is_message(node, &wraps);
    let (given, gave) = (
        if input.is_some_and(wraps_given) { Fact::MessagesIn } else { given },
        if output.is_some_and(wraps_gave) { Fact::MessagesOut } else { gave },
    );
    for (fact, beside, node) in [(given, Fact::Input, input), (gave, Fact::Output, output)] {
        // What is empty here may stand among the attributes.
        let says_more = node.is_some_and(is_empty) && span.facts.has(&[fact, beside]);
        span.tell(fact, node.filter(|_| !says_more));
    }
}

/// Who says what a tool is given, where that stands in a message.
const TOOL: &str = averment_runs::normal::of_step::TOOL;

fn has_only(one: Object<'_>, words: &[Of]) -> bool {
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

/// Whether what a span gave is the message of the tool that it is named after.
fn is_told_of_tool<'run>(output: Node<'run>, span: &Span<'run>) -> bool {
    let named = |message: Object<'run>| value_of(message, Of::Name).and_then(text_of_node);
    let message = object(output).filter(|message| value_of(*message, Of::Call).and_then(text_of_node).is_some());
    message.and_then(named).is_some_and(|name| span.name.and_then(text_of_node) == Some(name))
}

/// What an observation cost, where that is recorded: 0 is what stands for no price, too.
fn cost<'run>(one: Object<'run>, act: Act) -> Option<Node<'run>> {
    let details = value_of(one, Of::CostDetails).and_then(object);
    let total = value_of(one, Of::Cost).or_else(|| value_of(details?, OfUsage::All));
    let is_priced = act == Act::Inference && details.is_some_and(|details| !details.entries().is_empty());
    total.filter(|cost| is_some(*cost) || is_priced)
}

/// Observations that used nothing say 0 of what was used.
fn is_some(count: Node<'_>) -> bool {
    matches!(count.value, Value::Number(count) if count != Number::Integer(0) && count.to_f64() != 0.0)
}
