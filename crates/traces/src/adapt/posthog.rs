//! PostHog: events of its LLM analytics (`$ai_generation`, `$ai_span`, `$ai_trace`), as they are exported and queried. An event is sent
//! when its work ends.

use super::cutting::RunCutting;
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::{ChatMessageKey, ToolCallKey};
use super::nodes::{are_mostly, items_of, node_list, node_object, node_text, object_of, objects_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use super::spans::attributes::Fact;
use super::spans::{InstantUnit, RunEntries, SpanAct, TraceSpan, build_run, instant_milliseconds, ways};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashSet;

key_table! {
    PostHogKey {
        Events = "results" | "events",
        Event = "event",
        Id = "uuid" | "id",
        Properties = "properties",
        Time = "timestamp" | "createdAt",
        Person = "distinct_id",
    }
}

key_table! {
    PostHogProperty {
        Trace = "$ai_trace_id",
        Span = "$ai_span_id" | "$ai_generation_id",
        Parent = "$ai_parent_id",
        Name = "$ai_span_name",
        Kind = "$ai_span_type",
        Input = "$ai_input_state",
        Output = "$ai_output_state",
        MessagesIn = "$ai_input",
        MessagesOut = "$ai_output_choices" | "$ai_output",
        Tools = "$ai_tools",
        Model = "$ai_model",
        TokensIn = "$ai_input_tokens",
        TokensOut = "$ai_output_tokens",
        TokensRead = "$ai_cache_read_input_tokens",
        TokensWrite = "$ai_cache_creation_input_tokens",
        TokensReasoning = "$ai_reasoning_tokens",
        Cost = "$ai_total_cost_usd",
        Seconds = "$ai_latency",
        Failed = "$ai_is_error",
        Error = "$ai_error",
        Session = "$ai_session_id",
    }
}

key_table! {
    PostHogEvent {
        Model = "$ai_generation",
        Span = "$ai_span",
        Trace = "$ai_trace",
        /// Vectors, and what people and judges said of a trace afterwards.
        Silent = "$ai_embedding" | "$ai_metric" | "$ai_feedback" | "$ai_evaluation",
    }
}

key_table! {
    PostHogSpan {
        Tool = "tool",
        Agent = "agent",
    }
}

ways! {
    TRACE = [["properties", "$ai_trace_id"]];
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "PostHog events",
    description: "events of PostHog's LLM analytics (a list, one a line, `results`)",
    known_by: "an `event` such as `$ai_generation` with its `properties`",
    marks: &[PostHogKey::Event.key(), PostHogKey::Events.key(), PostHogKey::Events.last_key()],
    near: &[PostHogKey::Person.key()],
    object: |object| is_event(object) || is_page(object),
    item_marks: &[PostHogKey::Event.key()],
    element: is_event,
    line: is_event,
    record_ids: RecordIds::updated(&[&[PostHogKey::Id.key()], &[PostHogKey::Id.last_key()]]),
    read: read_run,
    runs: &[
        RunCutting { within: &[], way: &[PostHogKey::Events.keys()], by: TRACE, keeps: &[], joins: None },
        RunCutting { within: &[], way: &[], by: TRACE, keeps: &[], joins: None },
    ],
    ..IN_FULL
};

/// How all events of this kind begin.
const PREFIX: &str = "$ai_";

fn is_event(object: Object<'_>) -> bool {
    text_of(object, PostHogKey::Event).is_some_and(|event| event.starts_with(PREFIX))
        && object_of(object, PostHogKey::Properties).is_some()
}

fn is_page(page: Object<'_>) -> bool {
    value_of(page, PostHogKey::Events).and_then(node_list).is_some_and(|list| are_mostly(list.iter(), is_event))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    let (mut whole, mut spans) = (RunEntries::default(), Vec::new());
    let items = items_of(root, &[PostHogKey::Events]);
    let tools = tools_of_models(items);
    for node in items {
        builder.count_record();
        let event = node_object(*node).filter(|event| is_event(*event));
        let Some((event, properties)) =
            event.and_then(|event| Some((event, object_of(event, PostHogKey::Properties)?)))
        else {
            builder.skip_value(node, "what is no event of an agent is skipped");
            continue;
        };
        whole.id = whole.id.or_else(|| value_of(properties, PostHogProperty::Trace));
        whole.session = whole.session.or_else(|| value_of(properties, PostHogProperty::Session));
        match text_of(event, PostHogKey::Event).and_then(PostHogEvent::from_key) {
            Some(PostHogEvent::Trace) => {
                whole.input = value_of(properties, PostHogProperty::Input);
                whole.output = value_of(properties, PostHogProperty::Output);
                whole.error = value_of(properties, PostHogProperty::Error);
            }
            Some(PostHogEvent::Model) => {
                spans.push(read_span(*node, event, properties, &FxHashSet::default(), builder))
            }
            Some(PostHogEvent::Span) => spans.push(read_span(*node, event, properties, &tools, builder)),
            Some(PostHogEvent::Silent) => {}
            None => builder.skip_record(node.origin, "an event of unknown kind is skipped: it may be a call"),
        }
    }
    build_run(spans, whole, builder);
    Ok(())
}

/// The tools that models were offered or called: a span of that name, whose kind is not told, is such a call.
fn tools_of_models<'run>(items: &'run [Node<'run>]) -> FxHashSet<&'run str> {
    let mut tools = FxHashSet::default();
    let mut add = |call: Object<'run>| {
        let function = object_of(call, ToolCallKey::Function).unwrap_or(call);
        tools.extend(text_of(function, ToolCallKey::Name));
    };
    let properties = objects_of(items).filter_map(|event| object_of(event, PostHogKey::Properties));
    for properties in properties {
        let list = |key| value_of(properties, key).and_then(node_list).unwrap_or_default();
        objects_of(list(PostHogProperty::Tools)).for_each(&mut add);
        for message in objects_of(list(PostHogProperty::MessagesOut)) {
            let parts = [ChatMessageKey::Calls, ChatMessageKey::Content];
            for part in parts.into_iter().filter_map(|key| value_of(message, key).and_then(node_list)) {
                objects_of(part).filter(|part| part.field(ToolCallKey::Function).is_some()).for_each(&mut add);
            }
        }
    }
    tools
}

fn read_span<'run>(
    node: Node<'run>,
    event: Object<'run>,
    properties: Object<'run>,
    tools: &FxHashSet<&str>,
    builder: &mut RunBuilder<'run, '_>,
) -> TraceSpan<'run> {
    let get = |key| value_of(properties, key);
    let mut span = TraceSpan::new(node.origin);
    span.id = get(PostHogProperty::Span).and_then(node_text);
    span.parent = get(PostHogProperty::Parent).and_then(node_text);
    span.name = get(PostHogProperty::Name);
    span.end =
        value_of(event, PostHogKey::Time).and_then(|time| instant_milliseconds(time, InstantUnit::NanosecondsByLength));
    let seconds = match get(PostHogProperty::Seconds).map(|seconds| seconds.value) {
        Some(Value::Number(seconds)) => seconds.to_f64(),
        _ => 0.0,
    };
    span.start = span.end.map(|end| end - seconds * 1000.0);
    if is_true(&properties, &NodeShapes, PostHogProperty::Failed) {
        span.failed = Some(true);
        span.error = get(PostHogProperty::Error);
    }
    let kind = get(PostHogProperty::Kind).and_then(node_text);
    let is_named = span.name.and_then(node_text).is_some_and(|name| tools.contains(name));
    span.act = match (text_of(event, PostHogKey::Event).and_then(PostHogEvent::from_key), kind) {
        (Some(PostHogEvent::Model), _) => SpanAct::Inference,
        (_, Some(kind)) => match PostHogSpan::from_key(kind) {
            Some(PostHogSpan::Tool) => SpanAct::Tool,
            Some(PostHogSpan::Agent) => SpanAct::Agent,
            None => span.act_of_word(Some(kind), builder),
        },
        _ if is_named => SpanAct::Tool,
        _ => SpanAct::Part,
    };
    let facts = match span.act {
        SpanAct::Tool => [(Fact::Args, PostHogProperty::Input), (Fact::Result, PostHogProperty::Output)],
        SpanAct::Inference => {
            [(Fact::MessagesIn, PostHogProperty::MessagesIn), (Fact::MessagesOut, PostHogProperty::MessagesOut)]
        }
        _ => [(Fact::Input, PostHogProperty::Input), (Fact::Output, PostHogProperty::Output)],
    };
    let of_model = [
        (Fact::Tools, PostHogProperty::Tools),
        (Fact::Model, PostHogProperty::Model),
        (Fact::TokensIn, PostHogProperty::TokensIn),
        (Fact::TokensOut, PostHogProperty::TokensOut),
        (Fact::TokensCacheRead, PostHogProperty::TokensRead),
        (Fact::TokensCacheWrite, PostHogProperty::TokensWrite),
        (Fact::TokensReasoning, PostHogProperty::TokensReasoning),
        (Fact::Cost, PostHogProperty::Cost),
    ];
    let of_model = of_model.into_iter().filter(|_| span.act == SpanAct::Inference);
    for (fact, key) in facts.into_iter().chain(of_model).collect::<Vec<_>>() {
        span.take_fact(fact, get(key));
    }
    if span.act == SpanAct::Inference {
        note_answers(properties, builder);
    }
    span.conclude_span(builder);
    span
}

/// What is no message in the place of an answer may be a call.
fn note_answers<'run>(properties: Object<'run>, builder: &RunBuilder<'run, '_>) {
    let answers = value_of(properties, PostHogProperty::MessagesOut).and_then(node_list).unwrap_or_default();
    for (node, answer) in builder.known_objects(answers) {
        let keys = [ChatMessageKey::Content, ChatMessageKey::Calls];
        if keys.into_iter().all(|key| answer.field(key).is_none()) {
            builder.note_unknown(node.origin, "an answer without content is skipped: it may be a call");
        }
    }
}
