//! EvalView: results of test cases, each with the `trace` of its run: steps that are calls of tools, in order, with what they cost.

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{are_mostly, first_of, list_of, node_object, object_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;

key_table! {
    EvalViewResultKey {
        Case = "test_case",
        Trace = "trace",
        Query = "input_query",
        Session = "session_id",
        Steps = "steps",
        Start = "start_time",
        End = "end_time",
        Output = "final_output",
        Metrics = "metrics",
        Cost = "total_cost",
        /// In milliseconds.
        Latency = "total_latency",
        Tokens = "total_tokens",
        Passed = "passed",
        Score = "score",
    }
}

key_table! {
    EvalViewCallKey {
        Id = "step_id",
        Name = "step_name",
        Tool = "tool_name",
        Args = "parameters",
        Output = "output",
        Success = "success",
        Error = "error",
        Metrics = "metrics",
        /// In milliseconds.
        Latency = "latency",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "EvalView result",
    known_by: "`test_case` beside a `trace` of `steps` with `tool_name` and `parameters`, or such a `trace` alone",
    description: "results of EvalView (a list, or one with `trace`)",
    marks: &[EvalViewResultKey::Case.key(), EvalViewResultKey::Metrics.key()],
    object: |object| {
        let trace = object_of(object, EvalViewResultKey::Trace)
            .filter(|_| object.field(EvalViewResultKey::Case).is_some())
            .unwrap_or(object);
        is_trace(trace)
    },
    read: read_run,
    ..IN_FULL
};

fn is_trace(trace: Object<'_>) -> bool {
    let is_step =
        |step: Object<'_>| step.field(EvalViewCallKey::Tool).is_some() && step.field(EvalViewCallKey::Id).is_some();
    trace.field(EvalViewResultKey::Output).is_some()
        && trace.field(EvalViewResultKey::Session).is_some()
        && list_of(trace, EvalViewResultKey::Steps)
            .is_some_and(|steps| steps.is_empty() || are_mostly(steps.iter(), is_step))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Value::Object(result) = root.value else { return Ok(()) };
    let trace = object_of(result, EvalViewResultKey::Trace).unwrap_or(result);
    let id = first_of(result, &[EvalViewResultKey::Case]).or(first_of(trace, &[EvalViewResultKey::Session]));
    builder.set_some(of_run::ID, id.filter(|id| NodeShapes.is_text(*id)));
    builder.set_some(of_run::OUTPUT, trace.field(EvalViewResultKey::Output));
    if let Some(metrics) = object_of(trace, EvalViewResultKey::Metrics) {
        let number = |field| metrics.field(field).filter(|node| NodeShapes.has_shape(*node, ValueShape::Number));
        builder.set_some(of_run::COST, number(EvalViewResultKey::Cost));
        builder.set_some(of_run::DURATION, number(EvalViewResultKey::Latency));
    }
    let mut conversation = ConversationBuilder::new(builder);
    conversation.add_meta(EvalViewResultKey::Passed.key(), result.field(EvalViewResultKey::Passed));
    conversation.add_meta(EvalViewResultKey::Score.key(), result.field(EvalViewResultKey::Score));
    if let Some(words) = result.field(EvalViewResultKey::Query) {
        conversation.add_message(Speaker::User, words, &StepMeta::default(), words.origin);
    }
    for node in list_of(trace, EvalViewResultKey::Steps).unwrap_or_default() {
        conversation.builder.count_record();
        match node_object(*node) {
            Some(step) => add_call(&mut conversation, *node, step),
            None => conversation.builder.skip_value(node, "a step that is no object is skipped"),
        }
    }
    if let Some(tokens) =
        object_of(trace, EvalViewResultKey::Metrics).and_then(|metrics| object_of(metrics, EvalViewResultKey::Tokens))
    {
        let mut usage = TokenUsage::default();
        usage.add_usage(tokens);
        conversation.usage = usage;
    }
    if let Some(words) = trace.field(EvalViewResultKey::Output) {
        conversation.add_message(Speaker::Assistant, words, &StepMeta::default(), words.origin);
    }
    conversation.note_time(first_of(trace, &[EvalViewResultKey::Start]));
    conversation.note_time(first_of(trace, &[EvalViewResultKey::End]));
    conversation.finish_without_turns();
    Ok(())
}

fn add_call<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, step: Object<'run>) {
    let tool = first_of(step, &[EvalViewCallKey::Tool, EvalViewCallKey::Name]).unwrap_or(Node::computed(Value::Null));
    let made = ToolCall {
        tool,
        args: step.field(EvalViewCallKey::Args),
        id: step.field(EvalViewCallKey::Id),
        origin: node.origin,
    };
    let Some(call) = conversation.add_call(made, &StepMeta::default()) else { return };
    let status = match step.field(EvalViewCallKey::Success).map(|success| success.value) {
        Some(Value::Boolean(true)) => Some(StepStatus::Ok),
        Some(Value::Boolean(false)) => Some(StepStatus::Failed),
        _ => None,
    };
    let latency = object_of(step, EvalViewCallKey::Metrics).and_then(|metrics| metrics.field(EvalViewCallKey::Latency));
    let outcome = CallResult {
        result: first_of(step, &[EvalViewCallKey::Output]),
        status,
        error: first_of(step, &[EvalViewCallKey::Error]),
        duration: latency.filter(|latency| NodeShapes.has_shape(*latency, ValueShape::Number)),
        ..CallResult::default()
    };
    conversation.end_call(call, outcome, &StepMeta::default());
}
