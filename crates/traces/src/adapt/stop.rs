//! STOP: the spans of the execution of a skill, one a line: calls of tools with their results, files, requests, checks. What is known of a
//! step stands in its attributes, whose keys hold dots.

use super::cutting::Cutting;
use super::draft::{Draft, field};
use super::fields::{Parsed, Record, Shape, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::nodes::{first_of, items_of, object, object_of, text_of};
use super::talk::{About, Made, Outcome, Talk};
use crate::build::word_status;
use averment_base::value::{Entry, Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{Kind, Status};

key_table! {
    /// A span.
    OfSpan {
        Id = "span_id",
        Trace = "trace_id",
        Parent = "parent_span_id",
        Start = "start_time",
        End = "end_time",
        Duration = "duration_ms",
        Kind = "kind",
        Name = "name",
        Status = "status",
        Attributes = "attributes",
        Error = "error",
        Message = "message",
    }
}

key_table! {
    /// The attributes.
    OfAttributes {
        Skill = "skill.name",
        Tool = "tool.name",
        Result = "tool.result",
        Output = "tool.output",
        Path = "file.path",
        Method = "http.method",
        Url = "http.url",
        Code = "http.status_code",
        Inputs = "inputs",
        SkillInputs = "skill.inputs",
        Outputs = "outputs",
        SkillOutputs = "skill.outputs",
    }
}

key_table! {
    /// The kinds of spans.
    SpanKind {
        Skill = "skill.execute",
        Call = "tool.call",
        Result = "tool.result",
        Read = "file.read",
        Write = "file.write",
        Http = "http.request",
        Input = "skill.input",
        Output = "skill.output",
        Other = "llm.reason" | "assertion.check" | "branch" | "custom",
    }
}

key_table! {
    /// How a span ended that did nothing.
    Skipped {
        Skipped = "skipped",
    }
}

/// Traces.
pub(crate) const FORMAT: Format = Format {
    name: "STOP trace",
    known_by: "spans with `span_id`, `trace_id` and a `kind` of `skill.execute`, `tool.call`, `file.read` and so on",
    description: "traces of STOP (spans, one a line), a run each trace",
    marks: &[OfSpan::Id.key()],
    near: &[OfAttributes::Skill.key()],
    object: is_span,
    item_marks: &[OfSpan::Id.key()],
    element: is_span,
    read,
    runs: &[Cutting { within: &[], way: &[], by: &[&[OfSpan::Trace.key()]], keeps: &[] }],
    ..IN_FULL
};

fn is_span(span: Object<'_>) -> bool {
    text_of(span, OfSpan::Kind)
        .and_then(SpanKind::from_key)
        .is_some_and(|kind| kind != SpanKind::Other || text_of(span, OfSpan::Status).is_some())
        && text_of(span, OfSpan::Id).is_some()
        && text_of(span, OfSpan::Trace).is_some()
        && text_of(span, OfSpan::Start).is_some()
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    draft.records(&[Kind::Read, Kind::Write, Kind::Http, Kind::Skill, Kind::Span]);
    let mut talk = Talk::new(draft);
    let (mut inputs, mut outputs) = (Exchanged::default(), Exchanged::default());
    for node in items_of::<OfSpan>(root, &[]) {
        talk.draft.record();
        let span = object(*node).and_then(|span| Some((span, SpanKind::from_key(text_of(span, OfSpan::Kind)?)?)));
        match span {
            Some((span, kind)) => {
                match kind {
                    SpanKind::Input => inputs.take(span, &INPUT_KEYS),
                    SpanKind::Output => outputs.take(span, &OUTPUT_KEYS),
                    _ => {}
                }
                one(&mut talk, *node, span, kind);
            }
            None => talk.draft.not_understood(node.origin, "a span of unknown kind is passed over"),
        }
    }
    let draft = talk.finish_without_turns();
    draft.unrecord(Kind::Message);
    let (inputs, outputs) = (inputs.node(draft), outputs.node(draft));
    draft.set_some(of_run::INPUTS, inputs);
    draft.set_some(of_run::OUTPUT, outputs);
    Ok(())
}

/// Keys of attributes that hold all inputs or outputs, and what stands in front of the name of a single one.
struct ExchangeKeys {
    all: &'static [OfAttributes],
    fronts: &'static [&'static str],
}

const INPUT_KEYS: ExchangeKeys = ExchangeKeys {
    all: &[OfAttributes::Inputs, OfAttributes::SkillInputs],
    fronts: &["skill.inputs.", "skill.input.", "inputs.", "input."],
};
const OUTPUT_KEYS: ExchangeKeys = ExchangeKeys {
    all: &[OfAttributes::Outputs, OfAttributes::SkillOutputs],
    fronts: &["skill.outputs.", "skill.output.", "outputs.", "output."],
};

/// What a skill was given, or what it gave: of several spans together.
#[derive(Default)]
struct Exchanged<'run> {
    entries: Vec<Entry<'run>>,
    /// What is no object.
    whole: Option<Node<'run>>,
    seen: bool,
}

impl<'run> Exchanged<'run> {
    /// Takes what a span holds: what stands under a key for all of it, otherwise every attribute by its name.
    fn take(&mut self, span: Object<'run>, keys: &ExchangeKeys) {
        self.seen = true;
        let Some(attributes) = object_of(span, OfSpan::Attributes) else { return };
        match first_of(attributes, keys.all) {
            Some(node) => match object(node) {
                Some(inner) => inner.entries().iter().for_each(|entry| self.set(entry.key, entry.node)),
                None => self.whole = Some(node),
            },
            None => attributes.entries().iter().for_each(|entry| {
                let name = keys.fronts.iter().find_map(|front| entry.key.strip_prefix(front)).unwrap_or(entry.key);
                self.set(name, entry.node);
            }),
        }
    }

    fn set(&mut self, key: &'run str, node: Node<'run>) {
        self.entries.retain(|entry| entry.key != key);
        self.entries.push(Entry { key, node });
    }

    /// It as a value; `None` where no span told it.
    fn node(self, draft: &Draft<'run, '_>) -> Option<Node<'run>> {
        match self.whole.filter(|_| self.entries.is_empty()) {
            Some(whole) => Some(whole),
            None => self.seen.then(|| draft.object(&self.entries)),
        }
    }
}

fn one<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, span: Object<'run>, kind: SpanKind) {
    let attributes = object_of(span, OfSpan::Attributes);
    let of = |field| attributes.and_then(|attributes| first_of(attributes, &[field]));
    let skipped = text_of(span, OfSpan::Status).and_then(Skipped::from_key).is_some();
    // Without its outermost span a run lasts as long as its steps.
    [OfSpan::Start, OfSpan::End].into_iter().for_each(|at| talk.note_time(first_of(span, &[at])));
    match kind {
        SpanKind::Call if !skipped => call(talk, node, span, attributes),
        SpanKind::Result => result(talk, span, of(OfAttributes::Result).or(of(OfAttributes::Output))),
        SpanKind::Read if !skipped => {
            step(talk, node, span, Kind::Read, of_step::PATH, of(OfAttributes::Path).or(span.field(OfSpan::Name)))
        }
        SpanKind::Write if !skipped => {
            step(talk, node, span, Kind::Write, of_step::PATH, of(OfAttributes::Path).or(span.field(OfSpan::Name)))
        }
        SpanKind::Http if !skipped => request(talk, node, span, attributes),
        SpanKind::Skill => {
            if !talk.draft.has(of_run::ID) {
                talk.draft.set_some(of_run::ID, span.field(OfSpan::Trace));
                talk.draft.set_some(
                    of_run::DURATION,
                    span.field(OfSpan::Duration).filter(|time| Parsed.is(*time, Shape::Number)),
                );
                talk.draft.set_some(of_run::ERROR, error(span));
            }
            step(talk, node, span, Kind::Skill, of_step::NAME, of(OfAttributes::Skill).or(span.field(OfSpan::Name)));
        }
        _ => step(talk, node, span, Kind::Span, of_step::NAME, span.field(OfSpan::Name)),
    }
}

fn error(span: Object<'_>) -> Option<Node<'_>> {
    let error = first_of(span, &[OfSpan::Error])?;
    Some(object(error).and_then(|error| first_of(error, &[OfSpan::Message])).unwrap_or(error))
}

/// The fields that all steps have.
fn fields_of<'run>(span: Object<'run>) -> Vec<Entry<'run>> {
    let known = [(of_step::START, OfSpan::Start), (of_step::END, OfSpan::End), (of_step::DURATION, OfSpan::Duration)];
    known.into_iter().filter_map(|(key, of)| Some(field(key, first_of(span, &[of])?))).collect()
}

fn step<'run>(
    talk: &mut Talk<'_, 'run, '_>,
    node: Node<'run>,
    span: Object<'run>,
    kind: Kind,
    key: &'static str,
    value: Option<Node<'run>>,
) {
    let Some(value) = value.filter(|value| Parsed.is_text(*value)) else { return };
    let mut fields = vec![field(key, value)];
    fields.extend(fields_of(span));
    let known = text_of(span, OfSpan::Status).and_then(word_status).is_some();
    if kind != Kind::Skill && known {
        fields.extend(span.field(OfSpan::Status).map(|status| field(of_step::STATUS, status)));
    }
    if kind == Kind::Span {
        fields.extend(span.field(OfSpan::Attributes).map(|attributes| field(of_step::ATTRIBUTES, attributes)));
    }
    talk.draft.step(kind, fields, node.origin);
}

/// A call: what stands in the attributes beside the tool are its arguments.
fn call<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, span: Object<'run>, attributes: Option<Object<'run>>) {
    use OfAttributes::{Output, Result, Tool};
    let beside = [Tool.key(), Result.key(), Output.key()];
    let entries = attributes.map_or(&[][..], |attributes| attributes.entries());
    let args: Vec<_> = entries.iter().filter(|entry| !beside.contains(&entry.key)).map(of_tool).collect();
    let args = talk.draft.object(&args);
    let of = |field| attributes.and_then(|attributes| first_of(attributes, &[field]));
    let tool = of(Tool).or(span.field(OfSpan::Name)).unwrap_or(Node::computed(Value::Null));
    let about = About { time: first_of(span, &[OfSpan::Start]), ..About::default() };
    let made = Made { tool, args: Some(args), id: span.field(OfSpan::Id), origin: node.origin };
    let Some(step) = talk.call(made, &about) else { return };
    let status = text_of(span, OfSpan::Status).and_then(word_status).filter(|status| *status != Status::Unknown);
    let outcome = Outcome {
        result: of(Result).or(of(Output)),
        status,
        error: error(span),
        duration: first_of(span, &[OfSpan::Duration]).filter(|time| Parsed.is(*time, Shape::Number)),
        ..Outcome::default()
    };
    talk.end(step, outcome, &About { time: first_of(span, &[OfSpan::End]), ..About::default() });
}

/// What is said of the tool is an argument under its last word.
fn of_tool<'run>(entry: &Entry<'run>) -> Entry<'run> {
    Entry { key: entry.key.strip_prefix("tool.").unwrap_or(entry.key), node: entry.node }
}

/// What came back stands in a span of its own below the call.
fn result<'run>(talk: &mut Talk<'_, 'run, '_>, span: Object<'run>, given: Option<Node<'run>>) {
    let call = text_of(span, OfSpan::Parent).and_then(|parent| talk.called(parent));
    let given = given.or(first_of(span, &[OfSpan::Attributes]));
    if let (Some(call), Some(given)) = (call, given) {
        talk.draft.replace(call, of_step::RESULT, given);
    }
}

fn request<'run>(
    talk: &mut Talk<'_, 'run, '_>,
    node: Node<'run>,
    span: Object<'run>,
    attributes: Option<Object<'run>>,
) {
    let of = |field| attributes.and_then(|attributes| first_of(attributes, &[field]));
    let Some(url) = of(OfAttributes::Url).filter(|url| Parsed.is_text(*url)) else { return };
    let mut fields = vec![field(of_step::URL, url)];
    fields.extend(of(OfAttributes::Method).map(|method| field(of_step::METHOD, method)));
    let code = of(OfAttributes::Code).filter(|code| Parsed.is(*code, Shape::Number));
    fields.extend(code.map(|code| field(of_step::STATUS, code)));
    fields.extend(fields_of(span));
    talk.draft.step(Kind::Http, fields, node.origin);
}
