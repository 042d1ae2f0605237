//! The spans of a trace, in the containers of OTLP.
//!
//! What spans and their attributes say is taken out of the bytes, and the full reader tells what it means ([`Trace::tell`]): it leaves
//! out what no projection holds. Where anything stands in a container or a span that is not known here, or anything would give a warning,
//! the trace is for the full reader.

use super::keys::{Keys, keys_of, list};
use super::{Call, Chunk, Field, Held, Projection, ReadSet};
use crate::adapt::draft::{Asked, Draft};
use crate::adapt::fields::{Span, TableRow};
use crate::adapt::nodes::text;
use crate::adapt::otel::{Detail, Form, OfContainer, OfSpan, Trace, Words};
use crate::adapt::spans::attributes::{self, OfAttribute, Typed};
use crate::build::records_any;
use crate::scan::Cursor;
use crate::time;
use averment_base::value::{Entry, Node, Object, Origin, Value, json};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{CallTimes, Kind};
use smallvec::SmallVec;

/// What a key of a container stands for.
#[derive(Debug, Clone, Copy)]
enum InContainer {
    /// The list of what it holds.
    Inner,
    /// Something about it.
    Beside,
    /// It may be another format.
    Refused,
}

/// What a key of a span stands for.
#[derive(Debug, Clone, Copy)]
enum InSpan {
    /// A word of the table, by the rank of its name, with a bit for that.
    Word(OfSpan, u8, u64),
    Beside,
    Refused,
}

/// What a key of an attribute stands for.
#[derive(Debug, Clone, Copy)]
enum InAttribute {
    Key,
    Value,
    Beside,
}

/// Reads traces.
#[derive(Debug)]
pub(super) struct Traces {
    outer: Keys<InContainer>,
    resources: Keys<InContainer>,
    scopes: Keys<InContainer>,
    spans: Spans,
}

/// Reads spans.
#[derive(Debug)]
struct Spans {
    keys: Keys<InSpan>,
    attributes: Attributes,
}

/// Reads attributes.
#[derive(Debug)]
struct Attributes {
    keys: Keys<InAttribute>,
    values: Keys<Option<Typed>>,
}

/// How a text begins that may hold such a trace.
const BEGINNINGS: [&str; 2] = ["[{", "{"];

impl Traces {
    pub(super) fn new() -> Self {
        let inner = |word: OfContainer| word.keys().iter().map(|key| ((*key).to_owned(), InContainer::Inner));
        Self {
            outer: Keys::new(inner(OfContainer::Resources), InContainer::Refused),
            resources: Keys::new(inner(OfContainer::Scopes), InContainer::Beside),
            scopes: Keys::new(inner(OfContainer::Spans), InContainer::Beside),
            spans: Spans::new(),
        }
    }

    /// Whether a text begins as one of these.
    pub(super) fn begins(text: &str) -> bool {
        let open = BEGINNINGS.iter().find_map(|open| text.strip_prefix(open));
        let key = open.and_then(|text| text.trim_start().strip_prefix('"'));
        let is_key = |key: &str| {
            OfContainer::Resources
                .keys()
                .iter()
                .any(|name| key.strip_prefix(name).is_some_and(|behind| behind.starts_with('"')))
        };
        key.is_some_and(is_key)
    }

    /// Reads the trace that a text is. `None` where it is for the full reader; the projection is not to be used then.
    pub(super) fn read<'a>(
        &mut self,
        chunk: Chunk<'a>,
        read_set: &ReadSet,
        projection: &mut Projection<'a>,
    ) -> Option<()> {
        let cursor = chunk.cursor;
        let start = cursor.blank(0);
        let args_as_written = read_set.texts.get(Field::Args as usize) != Some(&true);
        let asked = Asked { entries: &read_set.roots, args_as_written };
        let mut draft = Draft::projection(chunk.arena, chunk.limits, asked);
        let mut trace = Trace::default();
        let mut container = |at| self.container(chunk, at, &mut trace, &mut draft);
        let behind = match cursor.byte(start) {
            b'[' => list(cursor, start, container)?,
            _ => container(start)?,
        };
        if cursor.blank(behind) < chunk.text.len() || trace.is_empty() {
            return None;
        }
        trace.tell(Origin::new(start, behind), &mut draft);
        take(chunk, &draft, read_set, projection)
    }

    /// Reads what holds the spans of resources; gives the offset behind it.
    fn container<'a>(
        &mut self,
        chunk: Chunk<'a>,
        at: usize,
        trace: &mut Trace<'a>,
        draft: &mut Draft<'a, '_>,
    ) -> Option<usize> {
        let Self { outer, resources, scopes, spans } = self;
        let cursor = chunk.cursor;
        holding(outer, cursor, at, |at| {
            holding(resources, cursor, at, |at| {
                holding(scopes, cursor, at, |at| {
                    let (words, behind) = spans.span(chunk, draft, at)?;
                    trace.add(&words, Form::Otlp, Object::EMPTY, draft);
                    Some(behind)
                })
            })
        })
    }
}

/// Takes the calls and the entries of a run out of its draft. `None` where they are for the full reader.
fn take<'a>(
    chunk: Chunk<'a>,
    draft: &Draft<'a, '_>,
    read_set: &ReadSet,
    projection: &mut Projection<'a>,
) -> Option<()> {
    let (steps, records_calls) = draft.projected()?;
    let mut records = [false; Field::ALL.len()];
    for step in steps.iter().filter(|step| step.kind == Kind::Call) {
        let fields = CallFields::of(&step.fields);
        let values = [fields.args, fields.result];
        for ((wanted, texts), node) in read_set.texts.iter().zip(&mut projection.texts).zip(values) {
            if let Some(node) = node.filter(|_| *wanted) {
                texts.walk(node.value);
            }
        }
        for (known, now) in records.iter_mut().zip([fields.args.is_some(), fields.has_outcome]) {
            *known |= now;
        }
        projection.calls.push(fields.call(chunk)?);
    }
    (projection.records_calls, projection.conversation) = (records_calls, true);
    projection.settle(|field| records.get(field as usize) == Some(&true));
    let entry = |name: &String| Held::Value(draft.entry(name).map_or(Value::Absent, |node| node.value));
    projection.roots.extend(read_set.roots.iter().map(entry));
    for (root, name) in projection.roots.iter_mut().zip(&read_set.roots) {
        if name == of_run::ERROR && matches!(root, Held::Value(Value::Absent)) {
            *root = Held::Value(Value::Missing);
        }
    }
    Some(())
}

/// The fields of a call that count here.
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
    fn of(entries: &[Entry<'a>]) -> Self {
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

    /// The call; `None` where it is for the full reader.
    fn call(self, chunk: Chunk<'a>) -> Option<Call<'a>> {
        let name = self.tool.and_then(text)?;
        let in_seconds = |node: &Node<'_>| time::is_in_seconds(&node.value);
        if self.start.iter().chain(&self.end).any(in_seconds) {
            return None;
        }
        let instant = |node: Option<Node<'_>>| node.and_then(|node| time::milliseconds(&node.value));
        let turn = match self.turn.map(|node| node.value) {
            Some(Value::Number(turn)) => Some(turn.as_i64().and_then(|turn| u32::try_from(turn).ok())?),
            _ => None,
        };
        let times = CallTimes { start: instant(self.start), end: instant(self.end), turn };
        let missing = Held::Value(Value::Missing);
        let args = self.args.map_or(Some(missing), |args| written(chunk, args))?;
        let result = self.result.map_or(missing, |result| Held::Value(result.value));
        Some(Call { name, fields: [args, result], times: Some(times), place: None })
    }
}

/// Arguments, which may stand as an object in a text. `None` where they are for the full reader.
fn written<'a>(chunk: Chunk<'a>, args: Node<'a>) -> Option<Held<'a>> {
    let raw = match args.value {
        Value::Text(text) if json::may_hold(text.raw().as_bytes()) => text.raw(),
        value => return Some(Held::Value(value)),
    };
    // JSON in JSON in text is for the full reader.
    let range = args.origin.range().filter(|range| raw.starts_with('{') && chunk.cursor.byte(range.start) == b'"')?;
    Some(Held::Written(range.start, range.end))
}

/// Reads an object that holds one list of others; gives the offset behind it.
fn holding(
    keys: &mut Keys<InContainer>,
    cursor: Cursor<'_>,
    at: usize,
    mut each: impl FnMut(usize) -> Option<usize>,
) -> Option<usize> {
    let mut has_list = false;
    let behind = keys.object(cursor, at, |key, at| match key {
        InContainer::Inner if std::mem::replace(&mut has_list, true) => None,
        InContainer::Inner => list(cursor, at, &mut each),
        InContainer::Beside => cursor.value(at),
        InContainer::Refused => None,
    })?;
    has_list.then_some(behind)
}

/// So many entries a span has at most, as a rule.
const ENTRIES: usize = 16;

impl Spans {
    fn new() -> Self {
        let words = (0_u32..).zip(keys_of::<OfSpan>()).map(|(bit, (key, word))| {
            let rank = word.rank(&key);
            (key, InSpan::Word(word, rank, 1_u64.wrapping_shl(bit)))
        });
        let beside = Detail::Any.keys().iter().map(|key| ((*key).to_owned(), InSpan::Beside));
        let [key, value] = [(OfAttribute::Key, InAttribute::Key), (OfAttribute::Value, InAttribute::Value)]
            .map(|(word, role)| word.keys().iter().map(move |name| ((*name).to_owned(), role)));
        let typed = keys_of().map(|(key, typed): (String, Typed)| (key, Some(typed)));
        Self {
            keys: Keys::new(words.chain(beside), InSpan::Refused),
            attributes: Attributes {
                keys: Keys::new(key.chain(value), InAttribute::Beside),
                values: Keys::new(typed, None),
            },
        }
    }

    /// Reads a span: what stands in it, its attributes as an object. Gives the offset behind it, too.
    fn span<'a>(&mut self, chunk: Chunk<'a>, draft: &Draft<'a, '_>, at: usize) -> Option<(Words<'a>, usize)> {
        let cursor = chunk.cursor;
        let (mut words, mut seen) = (Words::none(), 0_u64);
        let Self { keys, attributes } = self;
        let behind = keys.object(cursor, at, |key, at| {
            let (word, rank, bit) = match key {
                InSpan::Word(word, rank, bit) => (*word, *rank, *bit),
                InSpan::Beside => return cursor.value(at),
                InSpan::Refused => return None,
            };
            if seen & bit != 0 {
                return None;
            }
            seen |= bit;
            let (node, end) = match word {
                OfSpan::Attributes if cursor.byte(at) == b'[' => attributes.read(chunk, draft, at)?,
                _ => {
                    let end = cursor.value(at)?;
                    (value_at(chunk, at, end)?, end)
                }
            };
            words.offer(word, rank, node);
            Some(end)
        })?;
        words.are_of_one().then_some((words, behind))
    }
}

impl Attributes {
    /// Reads a list of attributes as an object; gives the offset behind it, too.
    fn read<'a>(&mut self, chunk: Chunk<'a>, draft: &Draft<'a, '_>, start: usize) -> Option<(Node<'a>, usize)> {
        let mut entries: SmallVec<[Entry<'a>; ENTRIES]> = SmallVec::new();
        let behind = list(chunk.cursor, start, |at| {
            let (mut key, mut value) = (None, None);
            let behind = self.keys.object(chunk.cursor, at, |role, at| {
                let end = chunk.cursor.value(at)?;
                match role {
                    InAttribute::Key if key.is_none() => key = Some(chunk.plain((at, end))??),
                    InAttribute::Value if value.is_none() => value = Some((at, end)),
                    InAttribute::Beside => {}
                    InAttribute::Key | InAttribute::Value => return None,
                }
                Some(end)
            })?;
            match (key, typed(&mut self.values, chunk, value?)) {
                (Some(key), Some(node)) => entries.push(Entry { key, node }),
                _ => entries.extend(attributes::attribute(value_at(chunk, at, behind)?, draft, 0)),
            }
            Some(behind)
        })?;
        let object = Object::new(chunk.arena, chunk.arena.alloc_slice_copy(&entries));
        Some((Node::new(Value::Object(object), Origin::new(start, behind)), behind))
    }
}

/// The value that says its type by its only key, where it is text, a number or a boolean.
fn typed<'a>(keys: &mut Keys<Option<Typed>>, chunk: Chunk<'a>, (start, _): Span) -> Option<Node<'a>> {
    let mut found = None;
    keys.object(chunk.cursor, start, |typed, at| {
        let end = chunk.cursor.value(at)?;
        match (typed, found) {
            (Some(typed @ (Typed::Plain | Typed::Integer)), None) => found = Some((*typed, at, end)),
            _ => return None,
        }
        Some(end)
    })?;
    let (typed, start, end) = found?;
    let node = value_at(chunk, start, end)?;
    Some(if typed == Typed::Integer { attributes::integer(node) } else { node })
}

/// A value in full.
fn value_at<'a>(chunk: Chunk<'a>, start: usize, end: usize) -> Option<Node<'a>> {
    let value = match chunk.cursor.byte(start) {
        b'{' if end.wrapping_sub(start) == 2 => Value::Object(Object::EMPTY),
        b'[' if end.wrapping_sub(start) == 2 => Value::List(&[]),
        _ => chunk.read(Held::Bytes(start, end))?,
    };
    Some(Node::new(value, Origin::new(start, end)))
}
