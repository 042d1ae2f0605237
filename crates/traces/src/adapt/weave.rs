//! Weave (Weights & Biases): the calls of a trace, one a line or in a list. The name of an operation says whether it asked a model.

use super::cutting::RunCutting;
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{node_list, node_object, node_text};
use super::run_builder::RunBuilder;
use super::spans::attributes::Fact;
use super::spans::{InstantUnit, RunEntries, SpanAct, TraceSpan, build_run, instant_milliseconds, ways};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};
use averment_runs::run::StepKind;

key_table! {
    WeaveKey {
        Id = "id",
        Operation = "op_name",
        Trace = "trace_id",
        Parent = "parent_id",
        Start = "started_at",
        End = "ended_at",
        Input = "inputs",
        Output = "output",
        Error = "exception",
        Kind = "kind",
        About = "attributes",
        Own = "weave",
    }
}

key_table! {
    /// What older and newer versions say of the kind of an operation.
    WeaveKind {
        Model = "llm",
        Tool = "tool",
        Agent = "agent",
        Part = "search" | "scorer" | "guardrail",
    }
}

key_table! {
    /// The operations with which Weave follows the clients of models.
    ModelOperation {
        Any = "completions.create" | "completions.parse" | "responses.create" | "messages.create" | "messages.stream" | "completion"
            | "acompletion" | "generate_content" | "chat.complete" | "chat.stream" | "converse" | "invoke_model",
    }
}

ways! {
    TRACE = [["trace_id"]];
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "Weave calls",
    description: "calls of Weave (`op_name`; a list, or one a line)",
    known_by: "records with `op_name`, `trace_id` and `started_at`",
    marks: &[WeaveKey::Operation.key()],
    object: is_call,
    item_marks: &[WeaveKey::Operation.key()],
    element: is_call,
    read: read_run,
    runs: &[RunCutting { within: &[], way: &[], by: TRACE, keeps: &[], joins: None }],
    ..IN_FULL
};

fn text_in(object: Object<'_>, key: WeaveKey) -> Option<&str> {
    value_of(object, key).and_then(node_text)
}

fn is_call(object: Object<'_>) -> bool {
    [WeaveKey::Operation, WeaveKey::Trace, WeaveKey::Start].into_iter().all(|key| text_in(object, key).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    let (mut whole, mut spans) = (RunEntries::default(), Vec::new());
    let mut untold = None;
    for node in node_list(*root).unwrap_or(std::slice::from_ref(root)) {
        builder.count_record();
        let Some(call) = node_object(*node).filter(|call| is_call(*call)) else {
            builder.skip_value(node, "what is no call of Weave is skipped");
            continue;
        };
        whole.id = whole.id.or_else(|| value_of(call, WeaveKey::Trace));
        let span = read_call(*node, call, builder);
        if span.act == SpanAct::Part && span.parent.is_some() && kind_of(call).is_none() {
            untold = untold.or(Some(*node));
        }
        spans.push(span);
    }
    build_run(spans, whole, builder);
    if let Some(node) = untold {
        builder.add_warning(node.origin, "calls count as not recorded: an operation does not say whether it is a tool");
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}

/// `weave:///ENTITY/PROJECT/op/NAME:DIGEST`, where names of clients have dots.
fn operation_name(call: Object<'_>) -> Option<&str> {
    let whole = text_in(call, WeaveKey::Operation)?;
    let name = whole.rsplit('/').next()?;
    Some(name.rsplit_once(':').map_or(name, |(name, _)| name))
}

fn kind_word(call: Object<'_>) -> Option<&str> {
    let about = value_of(call, WeaveKey::About).and_then(node_object)?;
    let own = value_of(about, WeaveKey::Own).and_then(node_object);
    own.and_then(|own| text_in(own, WeaveKey::Kind)).or_else(|| text_in(about, WeaveKey::Kind))
}

fn kind_of(call: Object<'_>) -> Option<WeaveKind> {
    WeaveKind::from_key(kind_word(call)?)
}

fn read_call<'run>(node: Node<'run>, call: Object<'run>, builder: &mut RunBuilder<'run, '_>) -> TraceSpan<'run> {
    let mut span = TraceSpan::new(node.origin);
    let name = operation_name(call).unwrap_or_default();
    span.id = text_in(call, WeaveKey::Id);
    span.parent = text_in(call, WeaveKey::Parent);
    span.name = Some(Node::computed(Value::plain_text(builder.arena.alloc_str(name))));
    let at = |key| value_of(call, key).and_then(|node| instant_milliseconds(node, InstantUnit::NanosecondsByLength));
    (span.start, span.end) = (at(WeaveKey::Start), at(WeaveKey::End));
    let is_model = ModelOperation::Any.keys().iter().any(|end| name.ends_with(end));
    span.act = match kind_of(call) {
        Some(WeaveKind::Model) => SpanAct::Inference,
        Some(WeaveKind::Tool) => SpanAct::Tool,
        Some(WeaveKind::Agent) => SpanAct::Agent,
        Some(WeaveKind::Part) => SpanAct::Part,
        None if kind_word(call).is_some() => span.act_of_word(kind_word(call), builder),
        None if is_model => SpanAct::Inference,
        None => SpanAct::Part,
    };
    span.error = value_of(call, WeaveKey::Error);
    span.failed = span.error.map(|_| true);
    let (given, gave) = match span.act {
        SpanAct::Tool => (Fact::Args, Fact::Result),
        SpanAct::Inference => (Fact::MessagesIn, Fact::MessagesOut),
        _ => (Fact::Input, Fact::Output),
    };
    span.take_fact(given, value_of(call, WeaveKey::Input));
    span.take_fact(gave, value_of(call, WeaveKey::Output));
    span.conclude_span(builder);
    span
}
