//! The spans of a trace, whatever container holds them, one by one.

use super::zipkin;
use crate::adapt::fields::{TableRow, key_table, value_of};
use crate::adapt::nodes::{node_list, node_object, node_text, object_items};
use crate::adapt::run_builder::RunBuilder;
use crate::adapt::spans::attributes::{self, Fact, SpanFacts};
use crate::adapt::spans::{
    ActWord, InstantUnit, RunEntries, SpanAct, TraceSpan, attributes_act, build_run, event_bodies, id_of_node,
    instant_milliseconds, of_word,
};
use averment_base::value::{Node, Object, ObjectEntry, TextOrigin, Value};
use averment_runs::normal::of_run;
use rustc_hash::FxHashSet;

key_table! {
    SpanKey {
        Id = "spanId" | "span_id" | "spanID" | "context.span_id",
        Trace = "traceId" | "trace_id" | "traceID" | "context.trace_id",
        Parent = "parentSpanId" | "parent_span_id" | "parentSpanID" | "parent_id" | "parentId",
        Name = "name" | "operationName" | "span_name",
        Context = "context" | "spanContext" | "span_context",
        ParentContext = "parentSpanContext" | "parent",
        StartNano = "startTimeUnixNano" | "start_time_unix_nano",
        EndNano = "endTimeUnixNano" | "end_time_unix_nano",
        Start = "startTime" | "start_time",
        End = "endTime" | "end_time",
        /// Jaeger, in microseconds.
        Duration = "duration",
        Attributes = "attributes" | "tags",
        Events = "events" | "span_events" | "logs",
        References = "references",
        Status = "status",
        StatusCode = "status_code" | "statusCode" | "code",
        StatusMessage = "status_message" | "statusMessage" | "message" | "description",
        Kind = "kind" | "span_kind",
    }
}

key_table! {
    /// What else stands in a span of OTLP: no run tells of it.
    Detail {
        Any = "traceState" | "trace_state" | "flags" | "links" | "droppedAttributesCount" | "dropped_attributes_count"
            | "droppedEventsCount" | "dropped_events_count" | "droppedLinksCount" | "dropped_links_count",
    }
}

key_table! {
    /// Values that mark a span's start record, rewritten when it ends.
    SpanStage {
        Begun = "pending_span",
    }
}

key_table! {
    SpanEventKey {
        Name = "name" | "event_name",
        Attributes = "attributes" | "fields",
        Body = "body",
    }
}

/// How a span is written, which decides the units of its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanForm {
    Otlp,
    Jaeger,
    Flat,
    /// As `Flat`, in milliseconds since 1970, where a name of a tool makes a call.
    Promptfoo,
    Zipkin,
}

#[derive(Default)]
pub(crate) struct SpanTrace<'run> {
    spans: Vec<TraceSpan<'run>>,
    id: Option<Node<'run>>,
    ids: FxHashSet<&'run str>,
    /// The id of the span before.
    last_id: Option<&'run str>,
    /// The spans whose start is recorded, and that end in a record of their own.
    begun: Vec<&'run str>,
    /// The first span without a start time.
    without_time: Option<TextOrigin>,
}

impl<'run> SpanTrace<'run> {
    /// With memory for so many spans.
    pub(crate) fn with_room(spans: usize) -> Self {
        Self { spans: Vec::with_capacity(spans), ..Self::default() }
    }

    /// The record is kept while more of it may count.
    pub(crate) fn add_span(
        &mut self,
        words: &SpanValues<'run>,
        form: SpanForm,
        record: Object<'run>,
        builder: &mut RunBuilder<'run, '_>,
    ) {
        builder.count_record();
        if let Some(id) = context_id(words, SpanKey::Trace) {
            self.id.get_or_insert(id);
            let id = id_of_node(id);
            if self.last_id != id {
                self.ids.extend(id);
                self.last_id = id;
            }
        }
        let span = read_span(words, form, record, builder);
        if span.facts.fact_text(Fact::Stage).and_then(SpanStage::from_key).is_some() {
            // The record of a start is a child of the span that it is of.
            self.begun.extend(span.parent.or(span.id));
            return;
        }
        if span.start.is_none() {
            self.without_time.get_or_insert(span.origin);
        }
        self.spans.push(span);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub(crate) fn span_count(&self) -> usize {
        self.spans.len()
    }

    /// What began and has not ended may be a call.
    fn has_open_spans(&self) -> bool {
        if self.begun.is_empty() {
            return false;
        }
        let ended: FxHashSet<&str> = self.spans.iter().filter_map(|span| span.id).collect();
        self.begun.iter().any(|id| !ended.contains(id))
    }

    pub(crate) fn build_run(self, origin: TextOrigin, builder: &mut RunBuilder<'run, '_>) {
        if self.ids.len() > 1 {
            builder.add_warning(origin, format!("spans of {} traces are read as one run", self.ids.len()));
        }
        if let Some(place) = self.without_time {
            builder.add_warning(place, WITHOUT_TIME);
        }
        if !self.spans.iter().any(|span| span.act != SpanAct::Other) {
            builder.add_warning(origin, OF_NOTHING);
        }
        if self.has_open_spans() {
            builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
            builder.needs_whole();
        }
        let id = self.id.filter(|id| node_text(*id).is_some());
        build_run(self.spans, RunEntries { id, ..RunEntries::default() }, builder);
    }
}

const WITHOUT_TIME: &str =
    "the start of a span is no point in time in a known unit: its place among the others is not recorded";
const OF_NOTHING: &str = "no span is one of an agent, a model or a tool: this is a trace of something else";

pub(crate) struct SpanValues<'run>([Option<(u8, Node<'run>)>; SpanKey::ALL.len()]);

impl<'run> SpanValues<'run> {
    pub(crate) fn empty_values() -> Self {
        Self([None; SpanKey::ALL.len()])
    }

    /// Forgets the values of a span.
    pub(crate) fn clear_values(&mut self) {
        self.0.fill(None);
    }

    pub(crate) fn of_span(span: Object<'run>) -> Self {
        let mut words = Self::empty_values();
        for entry in span.entries() {
            if let Some(word) = SpanKey::from_key(entry.key) {
                words.offer_value(word, word.rank(entry.key), entry.node);
            }
        }
        words
    }

    /// The first name with a value wins.
    pub(crate) fn offer_value(&mut self, word: SpanKey, rank: u8, node: Node<'run>) {
        let slot = self.0.get_mut(word as usize).filter(|_| !matches!(node.value, Value::Null));
        if let Some(slot) = slot.filter(|slot| slot.is_none_or(|(known, _)| rank < known)) {
            *slot = Some((rank, node));
        }
    }

    fn value_of(&self, word: SpanKey) -> Option<Node<'run>> {
        self.0.get(word as usize).copied().flatten().map(|(_, node)| node)
    }

    pub(crate) fn can_be_span(&self) -> bool {
        let has = |word| context_id(self, word).is_some();
        has(SpanKey::Id)
            || has(SpanKey::Name) && (has(SpanKey::Start) || has(SpanKey::StartNano) || has(SpanKey::Trace))
    }
}

/// Beside the name, or in the span's context.
fn context_id<'run>(words: &SpanValues<'run>, word: SpanKey) -> Option<Node<'run>> {
    words.value_of(word).or_else(|| value_of(words.value_of(SpanKey::Context).and_then(node_object)?, word))
}

fn read_span<'run>(
    words: &SpanValues<'run>,
    form: SpanForm,
    record: Object<'run>,
    builder: &mut RunBuilder<'run, '_>,
) -> TraceSpan<'run> {
    let place = [SpanKey::Name, SpanKey::Id].into_iter().find_map(|word| context_id(words, word));
    let mut span = TraceSpan::new(place.map_or(TextOrigin::COMPUTED, |place| place.origin));
    span.id = context_id(words, SpanKey::Id).and_then(id_of_node);
    span.name = words.value_of(SpanKey::Name);
    span.parent = parent_id(words);
    (span.start, span.end) =
        if form == SpanForm::Zipkin { zipkin::span_times(record) } else { span_times(words, form) };
    let attributes = words.value_of(SpanKey::Attributes);
    span.facts.reserve_for(attributes.map_or(0, attributes::count_attributes).saturating_add(1));
    if let Some(kind) = words.value_of(SpanKey::Kind) {
        span.facts.set_fact(Fact::SpanKind, kind);
        span.act = node_text(kind).and_then(ActWord::parse_act).unwrap_or(SpanAct::Other);
    }
    let columns: Vec<ObjectEntry<'run>> = super::column_attributes(record).collect();
    let columns = (!columns.is_empty()).then(|| builder.object_node(&columns));
    if let Some(attributes) = attributes.or(columns) {
        span.take_attributes(attributes, builder);
    } else if record.entries().iter().any(|entry| may_be_attributes(entry, form, builder)) {
        let message = "a span has no `attributes`, and a key that is not known holds such: it may be a call";
        builder.note_unknown(span.origin, message);
    }
    read_status(words, &mut span);
    if form == SpanForm::Zipkin {
        zipkin::complete_span(record, &mut span, builder);
    }
    for (_, event) in words.value_of(SpanKey::Events).and_then(node_list).into_iter().flat_map(object_items) {
        self::read_event(event, &mut span, builder);
    }
    // promptfoo takes a span for a call where it names a tool, whatever else stands in it.
    let names_tool = || span.facts.fact_node(Fact::Tool).is_some();
    if form == SpanForm::Promptfoo && attributes_act(&span.facts) == SpanAct::Other && names_tool() {
        span.act = SpanAct::Tool;
    }
    span.conclude_span(builder);
    span
}

/// Whether a span's key that the convention does not have holds what attributes tell; in OTLP any list may.
fn may_be_attributes<'run>(entry: &ObjectEntry<'run>, form: SpanForm, builder: &RunBuilder<'run, '_>) -> bool {
    if SpanKey::from_key(entry.key).is_some() || Detail::from_key(entry.key).is_some() {
        return false;
    }
    if form == SpanForm::Otlp && node_list(entry.node).is_some_and(|list| !list.is_empty()) {
        return true;
    }
    let mut facts = SpanFacts::default();
    let told = node_object(attributes::as_object(entry.node, builder));
    told.into_iter().flat_map(|told| told.entries()).for_each(|entry| facts.add_attribute(entry.key, entry.node));
    facts.has_any(&OF_WORK)
}

/// What tells that a span may be the work of a model or of a tool.
const OF_WORK: [Fact; 12] = [
    Fact::Operation,
    Fact::Kind,
    Fact::FunctionOfSdk,
    Fact::Tool,
    Fact::CallId,
    Fact::Args,
    Fact::Result,
    Fact::Parameters,
    Fact::Input,
    Fact::Output,
    Fact::MessagesIn,
    Fact::MessagesOut,
];

fn parent_id<'run>(words: &SpanValues<'run>) -> Option<&'run str> {
    let is_id = |id: &&str| !id.is_empty() && id.bytes().any(|byte| byte != b'0');
    let context = words.value_of(SpanKey::ParentContext).and_then(node_object);
    let own = words.value_of(SpanKey::Parent).and_then(id_of_node);
    let referenced = || {
        let references = words.value_of(SpanKey::References).and_then(node_list)?;
        object_items(references).find_map(|(_, reference)| value_of(reference, SpanKey::Id).and_then(id_of_node))
    };
    own.filter(is_id).or_else(|| value_of(context?, SpanKey::Id).and_then(id_of_node)).or_else(referenced).filter(is_id)
}

fn span_times(words: &SpanValues<'_>, form: SpanForm) -> (Option<f64>, Option<f64>) {
    let at = |word, unit| words.value_of(word).and_then(|node| instant_milliseconds(node, unit));
    match form {
        SpanForm::Jaeger => {
            let start = at(SpanKey::Start, InstantUnit::Microseconds);
            let duration = words
                .value_of(SpanKey::Duration)
                .and_then(|node| instant_milliseconds(node, InstantUnit::Microseconds));
            (start, start.zip(duration).map(|(start, duration)| start + duration))
        }
        SpanForm::Promptfoo => {
            (at(SpanKey::Start, InstantUnit::Milliseconds), at(SpanKey::End, InstantUnit::Milliseconds))
        }
        SpanForm::Otlp | SpanForm::Flat | SpanForm::Zipkin => {
            let either = |exact, other| {
                at(exact, InstantUnit::Nanoseconds).or_else(|| at(other, InstantUnit::NanosecondsByLength))
            };
            (either(SpanKey::StartNano, SpanKey::Start), either(SpanKey::EndNano, SpanKey::End))
        }
    }
}

/// An object with a code, or a word; the code is a word or a number.
fn read_status<'run>(outer: &SpanValues<'run>, span: &mut TraceSpan<'run>) {
    let status = outer.value_of(SpanKey::Status);
    let inner = status.and_then(node_object).filter(|inner| !inner.entries().is_empty());
    let code = inner
        .and_then(|inner| value_of(inner, SpanKey::StatusCode))
        .or_else(|| outer.value_of(SpanKey::StatusCode))
        .or(status);
    span.failed = match code.map(|code| code.value) {
        Some(Value::Text(word)) => of_word(word.as_str()),
        Some(Value::Number(code)) => match code.as_i64() {
            Some(1) => Some(false),
            Some(2) => Some(true),
            _ => None,
        },
        _ => None,
    };
    let message = inner
        .and_then(|inner| value_of(inner, SpanKey::StatusMessage))
        .or_else(|| outer.value_of(SpanKey::StatusMessage));
    span.error =
        message.filter(|message| span.failed == Some(true) && node_text(*message).is_some_and(|text| !text.is_empty()));
}

fn read_event<'run>(event: Object<'run>, span: &mut TraceSpan<'run>, builder: &mut RunBuilder<'run, '_>) {
    let Some(attributes) = value_of(event, SpanEventKey::Attributes) else { return };
    let name = value_of(event, SpanEventKey::Name).and_then(node_text).unwrap_or_default();
    span.take_event(name, attributes, builder);
    if let Some(body) = value_of(event, SpanEventKey::Body) {
        span.take_event(name, body, builder);
        event_bodies::take_body(span, name, body, builder);
    }
}
