//! Assay: events of episodes (version 2), one object a run (version 1), and the lines `tool_call` and `tool_result` of its documentation.

use super::cutting::Cutting;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::nodes::{first_of, items_of, list_of, object, object_of, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk, instant};
use crate::build::word_status;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::Status;

key_table! {
    /// A line.
    OfLine {
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
    /// The types of lines.
    LineType {
        Start = "episode_start",
        Step = "step",
        Call = "tool_call",
        Result = "tool_result",
        End = "episode_end",
        Whole = "assay.trace",
    }
}

key_table! {
    /// The kinds of steps that hold no answer.
    StepKind {
        User = "user" | "input" | "prompt",
        Model = "model" | "assistant" | "llm" | "message" | "output" | "final",
    }
}

/// Version 1: an object a run.
pub(crate) const FORMAT: Format = Format {
    name: "Assay trace",
    known_by: "`type` of `assay.trace`, or `request_id` with `prompt` and `response`",
    description: "traces of Assay, version 1 (`assay.trace`, one a line)",
    marks: &[OfLine::Request.key(), OfLine::Version.key()],
    near: &[OfLine::Request.key()],
    object: is_whole,
    read: read_whole,
    ..IN_FULL
};

/// Version 2: the events of episodes.
pub(crate) const EVENTS: Format = Format {
    name: "Assay events",
    known_by: "lines with `episode_id` of type `episode_start`, `step`, `tool_call` or `episode_end`",
    description: "traces of Assay, version 2 (`episode_id`), a run each episode",
    marks: &[OfLine::Episode.key()],
    object: is_event,
    item_marks: &[OfLine::Episode.key()],
    element: is_event,
    read: read_lines,
    runs: &[Cutting { within: &[], way: &[], by: &[&[OfLine::Episode.key()]], keeps: &[] }],
    ..IN_FULL
};

/// The lines of the documentation.
pub(crate) const CALLS: Format = Format {
    name: "Assay calls",
    known_by: "lines of type `tool_call` with `id`, `tool` and `arguments`, and of type `tool_result` with `id` and `result`",
    description: "lines of calls and results as Assay documents them (`tool_call`, `tool_result`)",
    marks: &[OfLine::Arguments.key()],
    near: &[OfLine::Position.key()],
    object: is_call,
    item_marks: &[OfLine::Tool.key(), OfLine::Result.key()],
    element: is_call,
    line: is_call,
    read: read_lines,
    ..IN_FULL
};

/// Of the type, or as lines were before they had one.
fn is_whole(line: Object<'_>) -> bool {
    let says = |field| text_of(line, field).is_some();
    match line.field(OfLine::Type) {
        Some(_) => text_of(line, OfLine::Type).and_then(LineType::from_key) == Some(LineType::Whole),
        None => says(OfLine::Request) && says(OfLine::Prompt) && (says(OfLine::Response) || says(OfLine::Words)),
    }
}

fn is_event(line: Object<'_>) -> bool {
    text_of(line, OfLine::Type).and_then(LineType::from_key).is_some() && text_of(line, OfLine::Episode).is_some()
}

fn is_call(line: Object<'_>) -> bool {
    let has = |field| line.field(field).is_some();
    match text_of(line, OfLine::Type).and_then(LineType::from_key) {
        Some(LineType::Call) => text_of(line, OfLine::Tool).is_some() && has(OfLine::Arguments),
        Some(LineType::Result) => has(OfLine::Id) && has(OfLine::Result),
        _ => false,
    }
}

fn read_whole<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let Value::Object(trace) = root.value else { return Ok(()) };
    draft.set_some(of_run::ID, trace.field(OfLine::Request).filter(|id| Parsed.is_text(*id)));
    let mut talk = Talk::new(draft);
    talk.meta(of_meta::MODEL, trace.field(OfLine::Model));
    if let Some(words) = trace.field(OfLine::Prompt) {
        talk.say(Speaker::User, words, &About::default(), words.origin);
    }
    let meta = object_of(trace, OfLine::Meta);
    about_run(&mut talk, meta);
    let calls = meta.and_then(|meta| list_of(meta, OfLine::Calls)).unwrap_or_default();
    let mut calls: Vec<_> = talk.draft.objects(calls).collect();
    let place = |call: &Object<'_>| {
        call.field(OfLine::Position).and_then(|place| match place.value {
            Value::Number(place) => place.as_i64(),
            _ => None,
        })
    };
    calls.sort_by_key(|(_, call)| place(call));
    for (node, call) in calls {
        talk.draft.record();
        whole_call(&mut talk, node, call);
    }
    if let Some(words) = first_of(trace, &[OfLine::Response, OfLine::Words]) {
        talk.say(Speaker::Assistant, words, &About::default(), words.origin);
    }
    talk.finish_without_turns();
    Ok(())
}

/// What is known of the run beside its calls: context, embeddings, judgements.
fn about_run<'run>(talk: &mut Talk<'_, 'run, '_>, meta: Option<Object<'run>>) {
    for entry in meta.iter().flat_map(|meta| meta.entries()).filter(|entry| entry.key != OfLine::Calls.key()) {
        talk.meta(entry.key, Some(entry.node));
    }
}

/// A call with its result.
fn whole_call<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, call: Object<'run>) {
    let time = first_of(call, &[OfLine::Milliseconds, OfLine::Time]);
    let tool = first_of(call, &[OfLine::Name, OfLine::Tool]).unwrap_or(Node::computed(Value::Null));
    let args = first_of(call, &[OfLine::Args, OfLine::Arguments]);
    let made = Made { tool, args, id: call.field(OfLine::Id), origin: node.origin };
    let Some(step) = talk.call(made, &About { time, ..About::default() }) else { return };
    let (result, error) = (first_of(call, &[OfLine::Result]), first_of(call, &[OfLine::Error]));
    // A record has a place for an error: one that is empty says that there was none.
    let told = call.field(OfLine::Error).is_some() || result.is_some();
    let status = if error.is_some() { Some(Status::Failed) } else { told.then_some(Status::Ok) };
    talk.end(step, Outcome { result, error, status, ..Outcome::default() }, &About::default());
}

fn read_lines<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let mut talk = Talk::new(draft);
    let mut last = None;
    for node in items_of::<OfLine>(root, &[]) {
        talk.draft.record();
        let line = object(*node).and_then(|line| Some((line, LineType::from_key(text_of(line, OfLine::Type)?)?)));
        match line {
            Some((line, kind)) => one_line(&mut talk, *node, line, kind, &mut last),
            None => talk.draft.not_understood(node.origin, "a line of unknown type is passed over"),
        }
    }
    let draft = talk.finish_without_turns();
    if !draft.has(of_run::OUTPUT) {
        draft.set_some(of_run::OUTPUT, last);
    }
    Ok(())
}

fn one_line<'run>(
    talk: &mut Talk<'_, 'run, '_>,
    node: Node<'run>,
    line: Object<'run>,
    kind: LineType,
    last: &mut Option<Node<'run>>,
) {
    let about = About { time: line.field(OfLine::Time).and_then(instant), ..About::default() };
    talk.note_time(about.time);
    match kind {
        LineType::Start => {
            talk.draft.set_some(of_run::ID, line.field(OfLine::Episode));
            let input = first_of(line, &[OfLine::Input]);
            talk.draft.set_some(of_run::INPUTS, input);
            about_run(talk, object_of(line, OfLine::Meta));
            if let Some(words) = input.and_then(object).and_then(|input| input.field(OfLine::Prompt)) {
                talk.say(Speaker::User, words, &about, words.origin);
            }
        }
        LineType::Step => {
            let Some(words) = first_of(line, &[OfLine::Content]).filter(|words| Parsed.is(*words, Shape::Text)) else {
                return;
            };
            let speaker = match text_of(line, OfLine::Kind).and_then(StepKind::from_key) {
                Some(StepKind::User) => Speaker::User,
                Some(StepKind::Model) => Speaker::Assistant,
                None => Speaker::System,
            };
            *last = Some(words);
            talk.say(speaker, words, &about, node.origin);
        }
        LineType::Call if line.field(OfLine::Tool).is_some() => {
            let tool = line.field(OfLine::Tool).unwrap_or(node);
            let made =
                Made { tool, args: line.field(OfLine::Arguments), id: line.field(OfLine::Id), origin: node.origin };
            talk.call(made, &about);
        }
        LineType::Call => event_call(talk, node, line, &about),
        LineType::Result => {
            let (result, error) = (first_of(line, &[OfLine::Result]), first_of(line, &[OfLine::Error]));
            let outcome = Outcome { result, error, ..Outcome::default() };
            talk.answer(text_of(line, OfLine::Id), None, outcome, &about, node.origin);
        }
        LineType::End => {
            talk.draft.set_some(of_run::OUTPUT, first_of(line, &[OfLine::Output]));
            let outcome = first_of(line, &[OfLine::Outcome]);
            let failed = outcome.and_then(super::nodes::text).and_then(word_status) == Some(Status::Failed);
            talk.draft.set_some(of_run::ERROR, outcome.filter(|_| failed));
        }
        LineType::Whole => {}
    }
}

/// The call of an event holds its result.
fn event_call<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, line: Object<'run>, about: &About<'run>) {
    let tool = line.field(OfLine::Name).unwrap_or(Node::computed(Value::Null));
    let made = Made { tool, args: first_of(line, &[OfLine::Args]), id: None, origin: node.origin };
    let Some(step) = talk.call(made, about) else { return };
    let (result, error) = (first_of(line, &[OfLine::Result]), first_of(line, &[OfLine::Error]));
    let status = if error.is_some() { Some(Status::Failed) } else { result.map(|_| Status::Ok) };
    talk.end(step, Outcome { result, error, status, ..Outcome::default() }, &About::default());
}
