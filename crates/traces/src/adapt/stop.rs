//! STOP: the spans of the execution of a skill, one a line: calls of tools with their results, files, requests, checks. What is known of a
//! step stands in its attributes, whose keys hold dots.

use super::conversation::{CallResult, ConversationBuilder, StepMeta, ToolCall};
use super::cutting::RunCutting;
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, node_object, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    StopSpanKey {
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
    StopAttributeKey {
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
    StopSpanKind {
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
    /// Status values of spans that did nothing.
    SkippedStatus {
        Skipped = "skipped",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "STOP trace",
    known_by: "spans with `span_id`, `trace_id` and a `kind` of `skill.execute`, `tool.call`, `file.read` and so on",
    description: "traces of STOP (spans, one a line), a run each trace",
    marks: &[StopSpanKey::Id.key()],
    near: &[StopAttributeKey::Skill.key()],
    object: is_span,
    item_marks: &[StopSpanKey::Id.key()],
    element: is_span,
    record_ids: RecordIds::unique(&[&[StopSpanKey::Id.key()]]),
    read: read_run,
    runs: &[RunCutting { within: &[], way: &[], by: &[&[StopSpanKey::Trace.key()]], keeps: &[], joins: None }],
    ..IN_FULL
};

fn is_span(span: Object<'_>) -> bool {
    text_of(span, StopSpanKey::Kind)
        .and_then(StopSpanKind::from_key)
        .is_some_and(|kind| kind != StopSpanKind::Other || text_of(span, StopSpanKey::Status).is_some())
        && text_of(span, StopSpanKey::Id).is_some()
        && text_of(span, StopSpanKey::Trace).is_some()
        && text_of(span, StopSpanKey::Start).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    builder.mark_recorded(&[StepKind::Read, StepKind::Write, StepKind::Http, StepKind::Skill, StepKind::Span]);
    let mut conversation = ConversationBuilder::new(builder);
    let (mut inputs, mut outputs) = (ExchangedValues::default(), ExchangedValues::default());
    for node in items_of::<StopSpanKey>(root, &[]) {
        conversation.builder.count_record();
        let span = node_object(*node)
            .and_then(|span| Some((span, StopSpanKind::from_key(text_of(span, StopSpanKey::Kind)?)?)));
        match span {
            Some((span, kind)) => {
                match kind {
                    StopSpanKind::Input => inputs.take_span(span, &INPUT_KEYS),
                    StopSpanKind::Output => outputs.take_span(span, &OUTPUT_KEYS),
                    _ => {}
                }
                add_span(&mut conversation, *node, span, kind);
            }
            None => conversation.builder.skip_value(node, "a span of unknown kind is skipped"),
        }
    }
    let builder = conversation.finish_without_turns();
    builder.mark_unrecorded(StepKind::Message);
    let (inputs, outputs) = (inputs.into_node(builder), outputs.into_node(builder));
    builder.set_some(of_run::INPUTS, inputs);
    builder.set_some(of_run::OUTPUT, outputs);
    Ok(())
}

/// Keys that hold all inputs or outputs, and prefixes of single ones.
struct ExchangeKeys {
    all: &'static [StopAttributeKey],
    fronts: &'static [&'static str],
}

const INPUT_KEYS: ExchangeKeys = ExchangeKeys {
    all: &[StopAttributeKey::Inputs, StopAttributeKey::SkillInputs],
    fronts: &["skill.inputs.", "skill.input.", "inputs.", "input."],
};
const OUTPUT_KEYS: ExchangeKeys = ExchangeKeys {
    all: &[StopAttributeKey::Outputs, StopAttributeKey::SkillOutputs],
    fronts: &["skill.outputs.", "skill.output.", "outputs.", "output."],
};

/// A skill's input or output, collected from several spans.
#[derive(Default)]
struct ExchangedValues<'run> {
    entries: Vec<ObjectEntry<'run>>,
    whole: Option<Node<'run>>,
    seen: bool,
}

impl<'run> ExchangedValues<'run> {
    /// The value under a key for everything, otherwise each attribute by name.
    fn take_span(&mut self, span: Object<'run>, keys: &ExchangeKeys) {
        self.seen = true;
        let Some(attributes) = object_of(span, StopSpanKey::Attributes) else { return };
        match first_of(attributes, keys.all) {
            Some(node) => match node_object(node) {
                Some(inner) => inner.entries().iter().for_each(|entry| self.set_value(entry.key, entry.node)),
                None => self.whole = Some(node),
            },
            None => attributes.entries().iter().for_each(|entry| {
                let name = keys.fronts.iter().find_map(|front| entry.key.strip_prefix(front)).unwrap_or(entry.key);
                self.set_value(name, entry.node);
            }),
        }
    }

    fn set_value(&mut self, key: &'run str, node: Node<'run>) {
        self.entries.retain(|entry| entry.key != key);
        self.entries.push(ObjectEntry { key, node });
    }

    /// `None` if no span has any.
    fn into_node(self, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
        match self.whole.filter(|_| self.entries.is_empty()) {
            Some(whole) => Some(whole),
            None => self.seen.then(|| builder.object_node(&self.entries)),
        }
    }
}

fn add_span<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    span: Object<'run>,
    kind: StopSpanKind,
) {
    let attributes = object_of(span, StopSpanKey::Attributes);
    let of = |field| attributes.and_then(|attributes| first_of(attributes, &[field]));
    let skipped = text_of(span, StopSpanKey::Status).and_then(SkippedStatus::from_key).is_some();
    // Without its outermost span a run lasts as long as its steps.
    [StopSpanKey::Start, StopSpanKey::End].into_iter().for_each(|at| conversation.note_time(first_of(span, &[at])));
    match kind {
        StopSpanKind::Call if !skipped => add_call(conversation, node, span, attributes),
        StopSpanKind::Result => {
            add_result(conversation, span, of(StopAttributeKey::Result).or(of(StopAttributeKey::Output)))
        }
        StopSpanKind::Read if !skipped => add_step(
            conversation,
            node,
            span,
            StepKind::Read,
            of_step::PATH,
            of(StopAttributeKey::Path).or(span.field(StopSpanKey::Name)),
        ),
        StopSpanKind::Write if !skipped => add_step(
            conversation,
            node,
            span,
            StepKind::Write,
            of_step::PATH,
            of(StopAttributeKey::Path).or(span.field(StopSpanKey::Name)),
        ),
        StopSpanKind::Http if !skipped => add_request(conversation, node, span, attributes),
        StopSpanKind::Skill => {
            if !conversation.builder.has_entry(of_run::ID) {
                conversation.builder.set_some(of_run::ID, span.field(StopSpanKey::Trace));
                conversation.builder.set_some(
                    of_run::DURATION,
                    span.field(StopSpanKey::Duration).filter(|time| NodeShapes.has_shape(*time, ValueShape::Number)),
                );
                conversation.builder.set_some(of_run::ERROR, span_error(span));
            }
            add_step(
                conversation,
                node,
                span,
                StepKind::Skill,
                of_step::NAME,
                of(StopAttributeKey::Skill).or(span.field(StopSpanKey::Name)),
            );
        }
        _ => add_step(conversation, node, span, StepKind::Span, of_step::NAME, span.field(StopSpanKey::Name)),
    }
}

fn span_error(span: Object<'_>) -> Option<Node<'_>> {
    let error = first_of(span, &[StopSpanKey::Error])?;
    Some(node_object(error).and_then(|error| first_of(error, &[StopSpanKey::Message])).unwrap_or(error))
}

fn fields_of<'run>(span: Object<'run>) -> Vec<ObjectEntry<'run>> {
    let known = [
        (of_step::START, StopSpanKey::Start),
        (of_step::END, StopSpanKey::End),
        (of_step::DURATION, StopSpanKey::Duration),
    ];
    known.into_iter().filter_map(|(key, of)| Some(field_entry(key, first_of(span, &[of])?))).collect()
}

fn add_step<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    span: Object<'run>,
    kind: StepKind,
    key: &'static str,
    value: Option<Node<'run>>,
) {
    let Some(value) = value.filter(|value| NodeShapes.is_text(*value)) else { return };
    let mut fields = vec![field_entry(key, value)];
    fields.extend(fields_of(span));
    let known = text_of(span, StopSpanKey::Status).and_then(StepStatus::from_word).is_some();
    if kind != StepKind::Skill && known {
        fields.extend(span.field(StopSpanKey::Status).map(|status| field_entry(of_step::STATUS, status)));
    }
    if kind == StepKind::Span {
        fields
            .extend(span.field(StopSpanKey::Attributes).map(|attributes| field_entry(of_step::ATTRIBUTES, attributes)));
    }
    conversation.builder.add_step(kind, fields, node.origin);
}

/// Attributes beside the tool are its arguments.
fn add_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    span: Object<'run>,
    attributes: Option<Object<'run>>,
) {
    use StopAttributeKey::{Output, Result, Tool};
    let beside = [Tool.key(), Result.key(), Output.key()];
    let entries = attributes.map_or(&[][..], |attributes| attributes.entries());
    let args: Vec<_> = entries.iter().filter(|entry| !beside.contains(&entry.key)).map(of_tool).collect();
    let args = conversation.builder.object_node(&args);
    let of = |field| attributes.and_then(|attributes| first_of(attributes, &[field]));
    let tool = of(Tool).or(span.field(StopSpanKey::Name)).unwrap_or(Node::computed(Value::Null));
    let meta = StepMeta { time: first_of(span, &[StopSpanKey::Start]), ..StepMeta::default() };
    let made = ToolCall { tool, args: Some(args), id: span.field(StopSpanKey::Id), origin: node.origin };
    let Some(step) = conversation.add_call(made, &meta) else { return };
    let status = text_of(span, StopSpanKey::Status)
        .and_then(StepStatus::from_word)
        .filter(|status| *status != StepStatus::Unknown);
    let outcome = CallResult {
        result: of(Result).or(of(Output)),
        status,
        error: span_error(span),
        duration: first_of(span, &[StopSpanKey::Duration])
            .filter(|time| NodeShapes.has_shape(*time, ValueShape::Number)),
        ..CallResult::default()
    };
    conversation.end_call(
        step,
        outcome,
        &StepMeta { time: first_of(span, &[StopSpanKey::End]), ..StepMeta::default() },
    );
}

fn of_tool<'run>(entry: &ObjectEntry<'run>) -> ObjectEntry<'run> {
    ObjectEntry { key: entry.key.strip_prefix("tool.").unwrap_or(entry.key), node: entry.node }
}

/// The result has its own span below the call.
fn add_result<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    span: Object<'run>,
    given: Option<Node<'run>>,
) {
    let call = text_of(span, StopSpanKey::Parent).and_then(|parent| conversation.find_call(parent));
    let given = given.or(first_of(span, &[StopSpanKey::Attributes]));
    if let (Some(call), Some(given)) = (call, given) {
        conversation.builder.set_field(call, of_step::RESULT, given);
    }
}

fn add_request<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    span: Object<'run>,
    attributes: Option<Object<'run>>,
) {
    let of = |field| attributes.and_then(|attributes| first_of(attributes, &[field]));
    let Some(url) = of(StopAttributeKey::Url).filter(|url| NodeShapes.is_text(*url)) else { return };
    let mut fields = vec![field_entry(of_step::URL, url)];
    fields.extend(of(StopAttributeKey::Method).map(|method| field_entry(of_step::METHOD, method)));
    let code = of(StopAttributeKey::Code).filter(|code| NodeShapes.has_shape(*code, ValueShape::Number));
    fields.extend(code.map(|code| field_entry(of_step::STATUS, code)));
    fields.extend(fields_of(span));
    conversation.builder.add_step(StepKind::Http, fields, node.origin);
}
