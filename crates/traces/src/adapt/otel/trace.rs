//! The spans of a trace, whatever container holds them, one by one.

use super::zipkin;
use crate::adapt::draft::Draft;
use crate::adapt::fields::{TableRow, key_table, value_of};
use crate::adapt::nodes::{list, object, objects};
use crate::adapt::spans::attributes::Fact;
use crate::adapt::spans::{Act, ActWord, Span, Unit, Whole, bodies, instant, of_word, tell, text_of_node};
use averment_base::value::{Entry, Node, Object, Origin, Value};
use rustc_hash::FxHashSet;

key_table! {
    /// A span.
    OfSpan {
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
        /// Of Jaeger, in microseconds.
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
    /// What says that a span is only the beginning of another one, which is written when that ends.
    Stage {
        Begun = "pending_span",
    }
}

key_table! {
    /// An event of a span.
    OfEvent {
        Name = "name" | "event_name",
        Attributes = "attributes" | "fields",
        Body = "body",
    }
}

/// How a span is written: what its numbers mean follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Otlp,
    Jaeger,
    Flat,
    Zipkin,
}

/// The spans of a trace, as they are read.
#[derive(Default)]
pub(crate) struct Trace<'run> {
    spans: Vec<Span<'run>>,
    id: Option<Node<'run>>,
    ids: FxHashSet<&'run str>,
    /// The first span whose start is not known.
    without_time: Option<Origin>,
}

impl<'run> Trace<'run> {
    /// Takes in a span with what stands in it, and the record that it is, as far as more of it may count.
    pub(crate) fn add(&mut self, words: &Words<'run>, form: Form, record: Object<'run>, draft: &mut Draft<'run, '_>) {
        draft.record();
        if let Some(id) = context(words, OfSpan::Trace) {
            self.id.get_or_insert(id);
            self.ids.extend(text_of_node(id));
        }
        let span = span(words, form, record, draft);
        if span.facts.text(Fact::Stage).and_then(Stage::from_key).is_some() {
            return;
        }
        if span.start.is_none() {
            self.without_time.get_or_insert(span.origin);
        }
        self.spans.push(span);
    }

    /// Whether there is a span.
    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Tells the run that they are, which stands at a place.
    pub(crate) fn tell(self, origin: Origin, draft: &mut Draft<'run, '_>) {
        if self.ids.len() > 1 {
            draft.warn(origin, format!("spans of {} traces are read as one run", self.ids.len()));
        }
        if let Some(place) = self.without_time {
            draft.warn(place, WITHOUT_TIME);
        }
        if !self.spans.iter().any(|span| span.act != Act::Other) {
            draft.warn(origin, OF_NOTHING);
        }
        let id = self.id.filter(|id| text_of_node(*id).is_some());
        tell(self.spans, Whole { id, ..Whole::default() }, draft);
    }
}

const WITHOUT_TIME: &str =
    "the start of a span is no point in time in a known unit: its place among the others is not recorded";
const OF_NOTHING: &str = "no span is one of an agent, a model or a tool: this is a trace of something else";

/// What stands in a span, by the words of the table.
pub(crate) struct Words<'run>([Option<(u8, Node<'run>)>; OfSpan::ALL.len()]);

impl<'run> Words<'run> {
    /// Nothing.
    pub(crate) fn none() -> Self {
        Self([None; OfSpan::ALL.len()])
    }

    /// Those of a span that was read in full.
    pub(super) fn of(span: Object<'run>) -> Self {
        let mut words = Self::none();
        for entry in span.entries() {
            if let Some(word) = OfSpan::from_key(entry.key) {
                words.offer(word, word.rank(entry.key), entry.node);
            }
        }
        words
    }

    /// Takes in what stands under one of the names of a word: the first of them that holds something counts.
    pub(crate) fn offer(&mut self, word: OfSpan, rank: u8, node: Node<'run>) {
        let slot = self.0.get_mut(word as usize).filter(|_| !matches!(node.value, Value::Null));
        if let Some(slot) = slot.filter(|slot| slot.is_none_or(|(known, _)| rank < known)) {
            *slot = Some((rank, node));
        }
    }

    fn get(&self, word: OfSpan) -> Option<Node<'run>> {
        self.0.get(word as usize).copied().flatten().map(|(_, node)| node)
    }

    /// Whether they are those of a span.
    pub(crate) fn are_of_one(&self) -> bool {
        [OfSpan::Id, OfSpan::Name].into_iter().any(|word| context(self, word).is_some())
    }
}

/// An id of a span: beside its name, or in its context.
fn context<'run>(words: &Words<'run>, word: OfSpan) -> Option<Node<'run>> {
    words.get(word).or_else(|| value_of(words.get(OfSpan::Context).and_then(object)?, word))
}

fn span<'run>(words: &Words<'run>, form: Form, record: Object<'run>, draft: &mut Draft<'run, '_>) -> Span<'run> {
    let place = [OfSpan::Name, OfSpan::Id].into_iter().find_map(|word| context(words, word));
    let mut span = Span::new(place.map_or(Origin::COMPUTED, |place| place.origin));
    span.id = context(words, OfSpan::Id).and_then(text_of_node);
    span.name = words.get(OfSpan::Name);
    span.parent = parent(words);
    (span.start, span.end) = if form == Form::Zipkin { zipkin::times(record) } else { times(words, form) };
    if let Some(kind) = words.get(OfSpan::Kind) {
        span.facts.add("span.kind", kind);
        span.act = text_of_node(kind).and_then(ActWord::act).unwrap_or(Act::Other);
    }
    let columns: Vec<Entry<'run>> = super::in_columns(record).collect();
    let columns = (!columns.is_empty()).then(|| draft.object(&columns));
    if let Some(attributes) = words.get(OfSpan::Attributes).or(columns) {
        span.take_attributes(attributes, draft);
    }
    status(words, &mut span);
    if form == Form::Zipkin {
        zipkin::complete(record, &mut span, draft);
    }
    for (_, event) in words.get(OfSpan::Events).and_then(list).into_iter().flat_map(objects) {
        self::event(event, &mut span, draft);
    }
    span.conclude(draft);
    span
}

fn parent<'run>(words: &Words<'run>) -> Option<&'run str> {
    let is_id = |id: &&str| !id.is_empty() && id.bytes().any(|byte| byte != b'0');
    let context = words.get(OfSpan::ParentContext).and_then(object);
    let own = words.get(OfSpan::Parent).and_then(text_of_node);
    let referenced = || {
        let references = words.get(OfSpan::References).and_then(list)?;
        objects(references).find_map(|(_, reference)| value_of(reference, OfSpan::Id).and_then(text_of_node))
    };
    own.filter(is_id)
        .or_else(|| value_of(context?, OfSpan::Id).and_then(text_of_node))
        .or_else(referenced)
        .filter(is_id)
}

fn times(words: &Words<'_>, form: Form) -> (Option<f64>, Option<f64>) {
    let at = |word, unit| words.get(word).and_then(|node| instant(node, unit));
    match form {
        Form::Jaeger => {
            let start = at(OfSpan::Start, Unit::Microseconds);
            let duration = words.get(OfSpan::Duration).and_then(|node| instant(node, Unit::Microseconds));
            (start, start.zip(duration).map(|(start, duration)| start + duration))
        }
        Form::Otlp | Form::Flat | Form::Zipkin => {
            let either = |exact, other| at(exact, Unit::Nanoseconds).or_else(|| at(other, Unit::NanosecondsByLength));
            (either(OfSpan::StartNano, OfSpan::Start), either(OfSpan::EndNano, OfSpan::End))
        }
    }
}

/// A status is an object with a code, or a word; the code is a word or a number.
fn status<'run>(outer: &Words<'run>, span: &mut Span<'run>) {
    let status = outer.get(OfSpan::Status);
    let inner = status.and_then(object);
    let code = inner
        .and_then(|inner| value_of(inner, OfSpan::StatusCode))
        .or_else(|| outer.get(OfSpan::StatusCode))
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
    let message =
        inner.and_then(|inner| value_of(inner, OfSpan::StatusMessage)).or_else(|| outer.get(OfSpan::StatusMessage));
    span.error = message
        .filter(|message| span.failed == Some(true) && text_of_node(*message).is_some_and(|text| !text.is_empty()));
}

fn event<'run>(event: Object<'run>, span: &mut Span<'run>, draft: &mut Draft<'run, '_>) {
    let Some(attributes) = value_of(event, OfEvent::Attributes) else { return };
    let name = value_of(event, OfEvent::Name).and_then(text_of_node).unwrap_or_default();
    span.take_event(name, attributes, draft);
    if let Some(body) = value_of(event, OfEvent::Body) {
        span.take_event(name, body, draft);
        bodies::take(span, name, body, draft);
    }
}
