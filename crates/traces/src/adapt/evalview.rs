//! EvalView: results of test cases, each with the `trace` of its run: steps that are calls of tools, in order, with what they cost.

use super::calls::Usage;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::nodes::{are_mostly, first_of, list_of, object, object_of};
use super::talk::{About, Made, Outcome, Speaker, Talk};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::Status;

key_table! {
    /// A result, or its trace alone.
    OfResult {
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
    /// A step.
    OfCall {
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

/// Results.
pub(crate) const FORMAT: Format = Format {
    name: "EvalView result",
    known_by: "`test_case` beside a `trace` of `steps` with `tool_name` and `parameters`, or such a `trace` alone",
    description: "results of EvalView (a list, or one with `trace`)",
    marks: &[OfResult::Case.key(), OfResult::Metrics.key()],
    object: |object| {
        let trace =
            object_of(object, OfResult::Trace).filter(|_| object.field(OfResult::Case).is_some()).unwrap_or(object);
        is_trace(trace)
    },
    read,
    ..IN_FULL
};

fn is_trace(trace: Object<'_>) -> bool {
    let is_step = |step: Object<'_>| step.field(OfCall::Tool).is_some() && step.field(OfCall::Id).is_some();
    trace.field(OfResult::Output).is_some()
        && trace.field(OfResult::Session).is_some()
        && list_of(trace, OfResult::Steps).is_some_and(|steps| steps.is_empty() || are_mostly(steps.iter(), is_step))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let Value::Object(result) = root.value else { return Ok(()) };
    let trace = object_of(result, OfResult::Trace).unwrap_or(result);
    let id = first_of(result, &[OfResult::Case]).or(first_of(trace, &[OfResult::Session]));
    draft.set_some(of_run::ID, id.filter(|id| Parsed.is_text(*id)));
    draft.set_some(of_run::OUTPUT, trace.field(OfResult::Output));
    if let Some(metrics) = object_of(trace, OfResult::Metrics) {
        let number = |field| metrics.field(field).filter(|node| Parsed.is(*node, Shape::Number));
        draft.set_some(of_run::COST, number(OfResult::Cost));
        draft.set_some(of_run::DURATION, number(OfResult::Latency));
    }
    let mut talk = Talk::new(draft);
    talk.meta(OfResult::Passed.key(), result.field(OfResult::Passed));
    talk.meta(OfResult::Score.key(), result.field(OfResult::Score));
    if let Some(words) = result.field(OfResult::Query) {
        talk.say(Speaker::User, words, &About::default(), words.origin);
    }
    for node in list_of(trace, OfResult::Steps).unwrap_or_default() {
        talk.draft.record();
        match object(*node) {
            Some(step) => call(&mut talk, *node, step),
            None => talk.draft.not_understood(node.origin, "a step that is no object is passed over"),
        }
    }
    if let Some(tokens) = object_of(trace, OfResult::Metrics).and_then(|metrics| object_of(metrics, OfResult::Tokens)) {
        let mut usage = Usage::default();
        usage.add(tokens);
        talk.usage = usage;
    }
    if let Some(words) = trace.field(OfResult::Output) {
        talk.say(Speaker::Assistant, words, &About::default(), words.origin);
    }
    talk.note_time(first_of(trace, &[OfResult::Start]));
    talk.note_time(first_of(trace, &[OfResult::End]));
    talk.finish_without_turns();
    Ok(())
}

fn call<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, step: Object<'run>) {
    let tool = first_of(step, &[OfCall::Tool, OfCall::Name]).unwrap_or(Node::computed(Value::Null));
    let made = Made { tool, args: step.field(OfCall::Args), id: step.field(OfCall::Id), origin: node.origin };
    let Some(call) = talk.call(made, &About::default()) else { return };
    let status = match step.field(OfCall::Success).map(|success| success.value) {
        Some(Value::Boolean(true)) => Some(Status::Ok),
        Some(Value::Boolean(false)) => Some(Status::Failed),
        _ => None,
    };
    let latency = object_of(step, OfCall::Metrics).and_then(|metrics| metrics.field(OfCall::Latency));
    let outcome = Outcome {
        result: first_of(step, &[OfCall::Output]),
        status,
        error: first_of(step, &[OfCall::Error]),
        duration: latency.filter(|latency| Parsed.is(*latency, Shape::Number)),
        ..Outcome::default()
    };
    talk.end(call, outcome, &About::default());
}
