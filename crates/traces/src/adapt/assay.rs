//! Assay: events of episodes (version 2), one object a run (version 1), and the lines `tool_call` and `tool_result` of its documentation.

use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall, instant_node};
use super::cutting::RunCutting;
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, list_of, node_object, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::StepStatus;

key_table! {
    AssayKey {
        Type = "type",
        Version = "schema_version",
        Episode = "episode_id",
        Request = "request_id",
        Time = "timestamp",
        Kind = "kind",
        Content = "content",
        Input = "input",
        Prompt = "prompt",
        Meta = "meta",
        Id = "id",
        Tool = "tool",
        Name = "tool_name",
        Args = "args",
        Arguments = "arguments",
        Result = "result",
        Error = "error",
        Outcome = "outcome",
        Output = "final_output",
        Response = "response",
        Words = "text",
        Model = "model",
        Calls = "tool_calls",
        Position = "index",
        Milliseconds = "ts_ms",
    }
}

key_table! {
    AssayLineType {
        Start = "episode_start",
        Step = "step",
        Call = "tool_call",
        Result = "tool_result",
        End = "episode_end",
        Whole = "assay.trace",
    }
}

key_table! {
    AssayStepType {
        User = "user" | "input" | "prompt",
        Model = "model" | "assistant" | "llm" | "message" | "output" | "final",
    }
}

/// Version 1: one object per run.
pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Assay trace",
    known_by: "`type` of `assay.trace`, or `request_id` with `prompt` and `response`",
    description: "traces of Assay, version 1 (`assay.trace`, one a line)",
    marks: &[AssayKey::Request.key(), AssayKey::Version.key()],
    near: &[AssayKey::Request.key()],
    object: is_whole,
    read: read_whole,
    ..IN_FULL
};

/// Version 2: the events of episodes.
pub(crate) const EVENTS: TraceFormat = TraceFormat {
    name: "Assay events",
    known_by: "lines with `episode_id` of type `episode_start`, `step`, `tool_call` or `episode_end`",
    description: "traces of Assay, version 2 (`episode_id`), a run each episode",
    marks: &[AssayKey::Episode.key()],
    object: is_event,
    item_marks: &[AssayKey::Episode.key()],
    element: is_event,
    record_ids: RecordIds::shared(&[&[AssayKey::Time.key()]]),
    read: read_lines,
    runs: &[RunCutting { within: &[], way: &[], by: &[&[AssayKey::Episode.key()]], keeps: &[], joins: None }],
    ..IN_FULL
};

/// The lines shown in the documentation.
pub(crate) const CALLS: TraceFormat = TraceFormat {
    name: "Assay calls",
    known_by: "lines of type `tool_call` with `id`, `tool` and `arguments`, and of type `tool_result` with `id` and `result`",
    description: "lines of calls and results as Assay documents them (`tool_call`, `tool_result`)",
    marks: &[AssayKey::Arguments.key()],
    near: &[AssayKey::Position.key()],
    object: is_call,
    item_marks: &[AssayKey::Tool.key(), AssayKey::Result.key()],
    element: is_call,
    line: is_call,
    record_ids: RecordIds::shared(&[&[AssayKey::Time.key()]]),
    read: read_lines,
    ..IN_FULL
};

/// By its type, or by the shape of lines before types existed.
fn is_whole(line: Object<'_>) -> bool {
    let says = |field| text_of(line, field).is_some();
    match line.field(AssayKey::Type) {
        Some(_) => text_of(line, AssayKey::Type).and_then(AssayLineType::from_key) == Some(AssayLineType::Whole),
        None => {
            says(AssayKey::Request) && says(AssayKey::Prompt) && (says(AssayKey::Response) || says(AssayKey::Words))
        }
    }
}

fn is_event(line: Object<'_>) -> bool {
    text_of(line, AssayKey::Type).and_then(AssayLineType::from_key).is_some()
        && text_of(line, AssayKey::Episode).is_some()
}

fn is_call(line: Object<'_>) -> bool {
    let has = |field| line.field(field).is_some();
    match text_of(line, AssayKey::Type).and_then(AssayLineType::from_key) {
        Some(AssayLineType::Call) => text_of(line, AssayKey::Tool).is_some() && has(AssayKey::Arguments),
        Some(AssayLineType::Result) => has(AssayKey::Id) && has(AssayKey::Result),
        _ => false,
    }
}

fn read_whole<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Value::Object(trace) = root.value else { return Ok(()) };
    builder.set_some(of_run::ID, trace.field(AssayKey::Request).filter(|id| NodeShapes.is_text(*id)));
    let mut conversation = ConversationBuilder::new(builder);
    conversation.add_meta(of_meta::MODEL, trace.field(AssayKey::Model));
    if let Some(words) = trace.field(AssayKey::Prompt) {
        conversation.add_message(Speaker::User, words, &StepMeta::default(), words.origin);
    }
    let meta = object_of(trace, AssayKey::Meta);
    about_run(&mut conversation, meta);
    let calls = meta.and_then(|meta| list_of(meta, AssayKey::Calls)).unwrap_or_default();
    let mut calls: Vec<_> = conversation.builder.record_objects(calls).collect();
    let place = |call: &Object<'_>| {
        call.field(AssayKey::Position).and_then(|place| match place.value {
            Value::Number(place) => place.as_i64(),
            _ => None,
        })
    };
    calls.sort_by_key(|(_, call)| place(call));
    for (node, call) in calls {
        conversation.builder.count_record();
        whole_call(&mut conversation, node, call);
    }
    if let Some(words) = first_of(trace, &[AssayKey::Response, AssayKey::Words]) {
        conversation.add_message(Speaker::Assistant, words, &StepMeta::default(), words.origin);
    }
    conversation.finish_without_turns();
    Ok(())
}

/// Context, embeddings, judgments.
fn about_run<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, meta: Option<Object<'run>>) {
    for entry in meta.iter().flat_map(|meta| meta.entries()).filter(|entry| entry.key != AssayKey::Calls.key()) {
        conversation.add_meta(entry.key, Some(entry.node));
    }
}

fn whole_call<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, call: Object<'run>) {
    let time = first_of(call, &[AssayKey::Milliseconds, AssayKey::Time]);
    let tool = first_of(call, &[AssayKey::Name, AssayKey::Tool]).unwrap_or(Node::computed(Value::Null));
    let args = first_of(call, &[AssayKey::Args, AssayKey::Arguments]);
    let made = ToolCall { tool, args, id: call.field(AssayKey::Id), origin: node.origin };
    let Some(step) = conversation.add_call(made, &StepMeta { time, ..StepMeta::default() }) else { return };
    let (result, error) = (first_of(call, &[AssayKey::Result]), first_of(call, &[AssayKey::Error]));
    // A record has a place for an error: one that is empty says that there was none.
    let told = call.field(AssayKey::Error).is_some() || result.is_some();
    let status = if error.is_some() { Some(StepStatus::Failed) } else { told.then_some(StepStatus::Ok) };
    conversation.end_call(step, CallResult { result, error, status, ..CallResult::default() }, &StepMeta::default());
}

fn read_lines<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::new(builder);
    let mut last = None;
    for node in items_of::<AssayKey>(root, &[]) {
        conversation.builder.count_record();
        let line =
            node_object(*node).and_then(|line| Some((line, AssayLineType::from_key(text_of(line, AssayKey::Type)?)?)));
        match line {
            Some((line, kind)) => one_line(&mut conversation, *node, line, kind, &mut last),
            None => conversation.builder.skip_value(node, "a line of unknown type is skipped"),
        }
    }
    let builder = conversation.finish_without_turns();
    if !builder.has_entry(of_run::OUTPUT) {
        builder.set_some(of_run::OUTPUT, last);
    }
    Ok(())
}

fn one_line<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    line: Object<'run>,
    kind: AssayLineType,
    last: &mut Option<Node<'run>>,
) {
    let about = StepMeta { time: line.field(AssayKey::Time).and_then(instant_node), ..StepMeta::default() };
    conversation.note_time(about.time);
    match kind {
        AssayLineType::Start => {
            conversation.builder.set_some(of_run::ID, line.field(AssayKey::Episode));
            let input = first_of(line, &[AssayKey::Input]);
            conversation.builder.set_some(of_run::INPUTS, input);
            about_run(conversation, object_of(line, AssayKey::Meta));
            if let Some(words) = input.and_then(node_object).and_then(|input| input.field(AssayKey::Prompt)) {
                conversation.add_message(Speaker::User, words, &about, words.origin);
            }
        }
        AssayLineType::Step => {
            let Some(words) =
                first_of(line, &[AssayKey::Content]).filter(|words| NodeShapes.has_shape(*words, ValueShape::Text))
            else {
                return;
            };
            let speaker = match text_of(line, AssayKey::Kind).and_then(AssayStepType::from_key) {
                Some(AssayStepType::User) => Speaker::User,
                Some(AssayStepType::Model) => Speaker::Assistant,
                None => Speaker::System,
            };
            *last = Some(words);
            conversation.add_message(speaker, words, &about, node.origin);
        }
        AssayLineType::Call if line.field(AssayKey::Tool).is_some() => {
            let tool = line.field(AssayKey::Tool).unwrap_or(node);
            let made = ToolCall {
                tool,
                args: line.field(AssayKey::Arguments),
                id: line.field(AssayKey::Id),
                origin: node.origin,
            };
            conversation.add_call(made, &about);
        }
        AssayLineType::Call => event_call(conversation, node, line, &about),
        AssayLineType::Result => {
            let (result, error) = (first_of(line, &[AssayKey::Result]), first_of(line, &[AssayKey::Error]));
            let outcome = CallResult { result, error, ..CallResult::default() };
            conversation.add_result(text_of(line, AssayKey::Id), None, outcome, &about, node.origin);
        }
        AssayLineType::End => {
            conversation.builder.set_some(of_run::OUTPUT, first_of(line, &[AssayKey::Output]));
            let outcome = first_of(line, &[AssayKey::Outcome]);
            let failed =
                outcome.and_then(super::nodes::node_text).and_then(StepStatus::from_word) == Some(StepStatus::Failed);
            conversation.builder.set_some(of_run::ERROR, outcome.filter(|_| failed));
        }
        AssayLineType::Whole => {}
    }
}

/// The call of an event holds its result.
fn event_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    line: Object<'run>,
    about: &StepMeta<'run>,
) {
    let tool = line.field(AssayKey::Name).unwrap_or(Node::computed(Value::Null));
    let made = ToolCall { tool, args: first_of(line, &[AssayKey::Args]), id: None, origin: node.origin };
    let Some(step) = conversation.add_call(made, about) else { return };
    let (result, error) = (first_of(line, &[AssayKey::Result]), first_of(line, &[AssayKey::Error]));
    let status = if error.is_some() { Some(StepStatus::Failed) } else { result.map(|_| StepStatus::Ok) };
    conversation.end_call(step, CallResult { result, error, status, ..CallResult::default() }, &StepMeta::default());
}
