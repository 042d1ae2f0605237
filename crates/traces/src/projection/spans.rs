//! The spans of a trace, in the containers of OTLP.
//!
//! What spans and their attributes say is taken out of the bytes, and the full reader tells what it means ([`SpanTrace::build_run`]): it leaves
//! out what no projection holds. Where anything stands in a container or a span that is not known here, or anything would give a warning,
//! the trace is for the full reader.

use super::keys::{KeyReader, keys_of, read_list};
use super::span_attributes::AttributeReader;
use super::{CallField, ProjectedCall, RawValue, ReadSet, RunProjection, ScannedChunk, TextPool};
use crate::adapt::fields::TableRow;
use crate::adapt::nodes::node_text;
use crate::adapt::otel::{ContainerKey, Detail, SpanForm, SpanKey, SpanTrace, SpanValues};
use crate::adapt::run_builder::{RequestedParts, RunBuilder};
use crate::build::records_any;
use crate::time;
use averment_base::value::{Node, Object, ObjectEntry, TextOrigin, Value, json};
use averment_runs::normal::of_step;
use averment_runs::run::{CallTimes, StepKind};
use std::ops::Range;

#[derive(Debug, Clone, Copy)]
enum ContainerRole {
    Inner,
    Beside,
    Refused,
}

#[derive(Debug, Clone, Copy)]
enum SpanRole {
    /// A word, its name's rank, and a bit to detect duplicates.
    Word(SpanKey, u8, u64),
    Beside,
    Refused,
}

#[derive(Debug)]
pub(super) struct TraceReader {
    outer: KeyReader<ContainerRole>,
    resources: KeyReader<ContainerRole>,
    scopes: KeyReader<ContainerRole>,
    spans: SpanReader,
    /// What the trace before took.
    room: TraceRoom,
}

/// Traces of one file are mostly alike: memory is asked for once, and not while it grows.
#[derive(Debug, Default, Clone, Copy)]
struct TraceRoom {
    spans: usize,
    /// Bytes, by [`CallField`].
    texts: [usize; 2],
}

/// So much is asked for at most, in spans and in bytes.
const MOST_SPANS: usize = 256;
const MOST_TEXT: usize = 256 << 10;

#[derive(Debug)]
struct SpanReader {
    keys: KeyReader<SpanRole>,
    attributes: AttributeReader,
}

const BEGINNINGS: [&str; 2] = ["[{", "{"];

impl TraceReader {
    pub(super) fn new() -> Self {
        let inner = |word: ContainerKey| word.keys().iter().map(|key| ((*key).to_owned(), ContainerRole::Inner));
        Self {
            outer: KeyReader::new(inner(ContainerKey::Resources), ContainerRole::Refused),
            resources: KeyReader::new(inner(ContainerKey::Scopes), ContainerRole::Beside),
            scopes: KeyReader::new(inner(ContainerKey::Spans), ContainerRole::Beside),
            spans: SpanReader::new(),
            room: TraceRoom::default(),
        }
    }

    pub(super) fn may_begin(text: &str) -> bool {
        let open = BEGINNINGS.iter().find_map(|open| text.strip_prefix(open));
        let key = open.and_then(|text| text.trim_start().strip_prefix('"'));
        let is_key = |key: &str| {
            ContainerKey::Resources
                .keys()
                .iter()
                .any(|name| key.strip_prefix(name).is_some_and(|behind| behind.starts_with('"')))
        };
        key.is_some_and(is_key)
    }

    /// `None` for the full reader: then the projection is unusable.
    pub(super) fn read_trace<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        read_set: &ReadSet,
        projection: &mut RunProjection<'a>,
    ) -> Option<()> {
        let cursor = chunk.cursor;
        let start = cursor.skip_blank(0);
        let args_as_written = read_set.texts.get(CallField::Args as usize) != Some(&true);
        let asked = RequestedParts { entries: &read_set.roots, args_as_written };
        let mut builder = RunBuilder::for_projection(chunk.arena, chunk.limits, asked);
        let mut trace = SpanTrace::with_room(self.room.spans);
        let mut container = |at| self.read_container(chunk, at, &mut trace, &mut builder);
        let behind = match cursor.byte_at(start) {
            b'[' => read_list(cursor, start, container)?,
            _ => container(start)?,
        };
        if cursor.skip_blank(behind) < chunk.text.len() || trace.is_empty() {
            return None;
        }
        self.room.spans = trace.span_count().min(MOST_SPANS);
        trace.build_run(TextOrigin::new(start, behind), &mut builder);
        for (pool, bytes) in projection.texts.iter_mut().zip(self.room.texts) {
            pool.text.reserve(bytes);
        }
        take_run(chunk, &builder, read_set, projection)?;
        self.room.texts = projection.texts.each_ref().map(|pool| pool.text.len().min(MOST_TEXT));
        Some(())
    }

    fn read_container<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        at: usize,
        trace: &mut SpanTrace<'a>,
        builder: &mut RunBuilder<'a, '_>,
    ) -> Option<usize> {
        let Self { outer, resources, scopes, spans, .. } = self;
        let mut words = SpanValues::empty_values();
        read_holder(outer, chunk, at, |at| {
            read_holder(resources, chunk, at, |at| {
                read_holder(scopes, chunk, at, |at| {
                    let behind = spans.read_span(chunk, builder, at, &mut words)?;
                    trace.add_span(&words, SpanForm::Otlp, Object::EMPTY, builder);
                    Some(behind)
                })
            })
        })
    }
}

/// `None` for the full reader.
fn take_run<'a>(
    chunk: ScannedChunk<'a>,
    builder: &RunBuilder<'a, '_>,
    read_set: &ReadSet,
    projection: &mut RunProjection<'a>,
) -> Option<()> {
    let (steps, records_calls) = builder.projected_steps()?;
    projection.calls.reserve(steps.len());
    let mut records = [false; CallField::ALL.len()];
    for step in steps.iter().filter(|step| step.kind == StepKind::Call) {
        let fields = CallFields::from_entries(&step.fields);
        let values = [fields.args, fields.result];
        for ((wanted, texts), node) in read_set.texts.iter().zip(&mut projection.texts).zip(values) {
            if let Some(node) = node.filter(|_| *wanted) {
                add_texts(chunk, node, texts);
            }
        }
        for (known, now) in records.iter_mut().zip([fields.args.is_some(), fields.has_outcome]) {
            *known |= now;
        }
        projection.calls.push(fields.into_call(chunk)?);
    }
    (projection.records_calls, projection.conversation) = (records_calls, true);
    projection.settle_fields(|field| records.get(field as usize) == Some(&true));
    let entry = |name: &String| RawValue::Value(builder.run_entry(name).map_or(Value::Absent, |node| node.value));
    projection.roots.extend(read_set.roots.iter().map(entry));
    projection.settle_error(&read_set.roots);
    Some(())
}

/// A text that stands in the chunk is unescaped from there.
fn add_texts(chunk: ScannedChunk<'_>, node: Node<'_>, texts: &mut TextPool) {
    match (node.value, node.origin.byte_range()) {
        (Value::Text(text), Some(range)) if is_quoted_at(chunk, &range, text.raw_text()) => {
            texts.any = true;
            texts.add_text(chunk.cursor, chunk.text, range.start, range.end.wrapping_sub(1));
        }
        _ => texts.add_texts_in(node.value),
    }
}

/// What stands in another text has its place, and not its bytes.
fn is_quoted_at(chunk: ScannedChunk<'_>, range: &Range<usize>, raw: &str) -> bool {
    let inside = chunk.text.get(range.start.wrapping_add(1)..range.end.wrapping_sub(1));
    chunk.cursor.byte_at(range.start) == b'"' && inside.is_some_and(|inside| std::ptr::eq(inside, raw))
}

#[derive(Default)]
struct CallFields<'a> {
    tool: Option<Node<'a>>,
    args: Option<Node<'a>>,
    result: Option<Node<'a>>,
    start: Option<Node<'a>>,
    end: Option<Node<'a>>,
    turn: Option<Node<'a>>,
    has_outcome: bool,
}

impl<'a> CallFields<'a> {
    fn from_entries(entries: &[ObjectEntry<'a>]) -> Self {
        let mut fields = Self { has_outcome: records_any(entries, &of_step::OUTCOME), ..Self::default() };
        for entry in entries {
            let slot = match entry.key {
                of_step::TOOL => &mut fields.tool,
                of_step::ARGS => &mut fields.args,
                of_step::RESULT => &mut fields.result,
                of_step::START => &mut fields.start,
                of_step::END => &mut fields.end,
                of_step::TURN => &mut fields.turn,
                _ => continue,
            };
            *slot = Some(entry.node);
        }
        fields
    }

    /// `None` for the full reader.
    fn into_call(self, chunk: ScannedChunk<'a>) -> Option<ProjectedCall<'a>> {
        let name = self.tool.and_then(node_text)?;
        let in_seconds = |node: &Node<'_>| time::is_in_seconds(&node.value);
        if self.start.iter().chain(&self.end).any(in_seconds) {
            return None;
        }
        let instant = |node: Option<Node<'_>>| node.and_then(|node| time::to_milliseconds(&node.value));
        let turn = match self.turn.map(|node| node.value) {
            Some(Value::Number(turn)) => Some(turn.as_i64().and_then(|turn| u32::try_from(turn).ok())?),
            _ => None,
        };
        let times = CallTimes { start: instant(self.start), end: instant(self.end), turn };
        let missing = RawValue::Value(Value::Missing);
        let args = self.args.map_or(Some(missing), |args| written_args(chunk, args))?;
        let result = self.result.map_or(missing, |result| RawValue::Value(result.value));
        Some(ProjectedCall {
            name,
            fields: [args, result],
            times: Some(times),
            may_have_parent: true,
            ending: None,
            place: None,
        })
    }
}

/// Also an object in text. `None` for the full reader.
fn written_args<'a>(chunk: ScannedChunk<'a>, args: Node<'a>) -> Option<RawValue<'a>> {
    let raw = match args.value {
        Value::Text(text) if json::may_hold(text.raw_text().as_bytes()) => text.raw_text(),
        value => return Some(RawValue::Value(value)),
    };
    // JSON in JSON in text is for the full reader.
    let range =
        args.origin.byte_range().filter(|range| raw.starts_with('{') && chunk.cursor.byte_at(range.start) == b'"')?;
    Some(RawValue::Written(range.start, range.end))
}

fn read_holder(
    keys: &mut KeyReader<ContainerRole>,
    chunk: ScannedChunk<'_>,
    at: usize,
    mut each: impl FnMut(usize) -> Option<usize>,
) -> Option<usize> {
    let mut has_list = false;
    let cursor = chunk.cursor;
    let behind = keys.read_object(cursor, at, |key, at| match key {
        ContainerRole::Inner if std::mem::replace(&mut has_list, true) => None,
        ContainerRole::Inner => read_list(cursor, at, &mut each),
        ContainerRole::Beside => pass_value(chunk, at),
        ContainerRole::Refused => None,
    })?;
    has_list.then_some(behind)
}

impl SpanReader {
    fn new() -> Self {
        let words = (0_u32..).zip(keys_of::<SpanKey>()).map(|(bit, (key, word))| {
            let rank = word.rank(&key);
            (key, SpanRole::Word(word, rank, 1_u64.wrapping_shl(bit)))
        });
        let beside = Detail::Any.keys().iter().map(|key| ((*key).to_owned(), SpanRole::Beside));
        Self { keys: KeyReader::new(words.chain(beside), SpanRole::Refused), attributes: AttributeReader::new() }
    }

    fn read_span<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        builder: &RunBuilder<'a, '_>,
        at: usize,
        words: &mut SpanValues<'a>,
    ) -> Option<usize> {
        let cursor = chunk.cursor;
        let mut seen = 0_u64;
        words.clear_values();
        let Self { keys, attributes } = self;
        let behind = keys.read_object(cursor, at, |key, at| {
            let (word, rank, bit) = match key {
                SpanRole::Word(word, rank, bit) => (*word, *rank, *bit),
                SpanRole::Beside => return pass_value(chunk, at),
                SpanRole::Refused => return None,
            };
            if seen & bit != 0 {
                return None;
            }
            seen |= bit;
            let (node, end) = match word {
                SpanKey::Attributes if cursor.byte_at(at) == b'[' => attributes.read_list(chunk, builder, at)?,
                _ => {
                    let end = pass_value(chunk, at)?;
                    (value_at(chunk, at, end)?, end)
                }
            };
            words.offer_value(word, rank, node);
            Some(end)
        })?;
        words.can_be_span().then_some(behind)
    }
}

/// Behind a value in which nobody looks for calls. `None` for the full reader.
#[inline]
fn pass_value(chunk: ScannedChunk<'_>, at: usize) -> Option<usize> {
    let end = chunk.cursor.value_end(at)?;
    (!chunk.may_hold_call((at, end))).then_some(end)
}

#[inline]
pub(super) fn value_at<'a>(chunk: ScannedChunk<'a>, start: usize, end: usize) -> Option<Node<'a>> {
    if chunk.cursor.byte_at(start) == b'"' && !chunk.cursor.has_escape(start, end) {
        let text = chunk.text.get(start.wrapping_add(1)..end.wrapping_sub(1))?;
        return Some(Node::new(Value::plain_text(text), TextOrigin::new(start, end)));
    }
    other_value_at(chunk, start, end)
}

/// A value that is no plain text.
#[inline(never)]
fn other_value_at<'a>(chunk: ScannedChunk<'a>, start: usize, end: usize) -> Option<Node<'a>> {
    let value = match chunk.cursor.byte_at(start) {
        b'{' if end.wrapping_sub(start) == 2 => Value::Object(Object::EMPTY),
        b'[' if end.wrapping_sub(start) == 2 => Value::List(&[]),
        _ => chunk.read_value(RawValue::Bytes(start, end))?,
    };
    Some(Node::new(value, TextOrigin::new(start, end)))
}
