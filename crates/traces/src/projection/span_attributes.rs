//! The attributes of a span, as OTLP lists them. Nearly every span of a trace writes the same names in the same order, so that the bytes in
//! front of a value are those of the span before: they are compared, and not read again.

use super::ScannedChunk;
use super::keys::{KeyReader, keys_of, read_list};
use super::spans::value_at;
use crate::adapt::fields::ByteSpan;
use crate::adapt::run_builder::RunBuilder;
use crate::adapt::spans::attributes::{self, AttributeKey, TypedValueKey};
use crate::scan::ScanCursor;
use averment_base::value::{Node, Object, ObjectEntry, TextOrigin, Value};
use smallvec::SmallVec;

#[derive(Debug, Clone, Copy)]
enum AttributeRole {
    Key,
    Value,
    Beside,
}

#[derive(Debug)]
pub(super) struct AttributeReader {
    starts: AttributeStarts,
    keys: KeyReader<AttributeRole>,
    values: KeyReader<Option<TypedValueKey>>,
}

/// Usual maximum number of a span's entries.
const ENTRIES: usize = 16;

/// The bytes from the bracket of an attribute to its value, and what was read from them.
#[derive(Debug)]
struct AttributeStart {
    bytes: Box<[u8]>,
    key: ByteSpan,
    typed: TypedValueKey,
}

/// Beginnings seen at each position of a list, the last one first.
#[derive(Debug, Default)]
struct AttributeStarts {
    places: Vec<Vec<AttributeStart>>,
}

/// Positions beyond this are not predicted.
const MOST: usize = 64;
/// Beginnings kept per position.
const OTHERS: usize = 5;
/// Bytes; longer beginnings are not kept.
const LONG: usize = 128;

impl AttributeStart {
    fn value_at(&self, at: usize) -> usize {
        at.wrapping_add(self.bytes.len())
    }

    /// Without its quotes.
    fn key_at(&self, at: usize) -> ByteSpan {
        (at.wrapping_add(self.key.0), at.wrapping_add(self.key.1))
    }

    fn fits_at(&self, cursor: ScanCursor<'_>, at: usize) -> bool {
        cursor.slice(at, self.value_at(at)) == &*self.bytes
    }
}

impl AttributeStarts {
    /// The known beginning of the attribute at an offset.
    #[inline]
    fn find_start(&mut self, cursor: ScanCursor<'_>, at: usize, place: usize) -> Option<&AttributeStart> {
        let starts = self.places.get_mut(place)?;
        let known = starts.iter().position(|start| start.fits_at(cursor, at))?;
        if known > 0 {
            starts.swap(0, known);
        }
        starts.first()
    }

    /// Expects the beginning from `at` to `value` from now on, with the text of the key at `key`.
    fn learn_start(
        &mut self,
        cursor: ScanCursor<'_>,
        (at, value): ByteSpan,
        key: ByteSpan,
        place: usize,
        typed: TypedValueKey,
    ) {
        let bytes = cursor.slice(at, value);
        if bytes.is_empty() || bytes.len() > LONG || place >= MOST {
            return;
        }
        if self.places.len() <= place {
            self.places.resize_with(place.saturating_add(1), Vec::new);
        }
        let Some(starts) = self.places.get_mut(place) else { return };
        starts.truncate(OTHERS.saturating_sub(1));
        let key = (key.0.wrapping_sub(at), key.1.wrapping_sub(at));
        starts.insert(0, AttributeStart { bytes: bytes.into(), key, typed });
    }
}

impl AttributeReader {
    pub(super) fn new() -> Self {
        let [key, value] = [(AttributeKey::Key, AttributeRole::Key), (AttributeKey::Value, AttributeRole::Value)]
            .map(|(word, role)| word.keys().iter().map(move |name| ((*name).to_owned(), role)));
        let typed = keys_of().map(|(key, typed): (String, TypedValueKey)| (key, Some(typed)));
        Self {
            starts: AttributeStarts::default(),
            keys: KeyReader::new(key.chain(value), AttributeRole::Beside),
            values: KeyReader::new(typed, None),
        }
    }

    pub(super) fn read_list<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        builder: &RunBuilder<'a, '_>,
        start: usize,
    ) -> Option<(Node<'a>, usize)> {
        let mut entries: SmallVec<[ObjectEntry<'a>; ENTRIES]> = SmallVec::new();
        let mut place = 0_usize;
        let behind = read_list(chunk.cursor, start, |at| {
            let known = self.read_known(chunk, at, place);
            let behind = match known {
                Some((entry, behind)) => {
                    entries.push(entry);
                    behind
                }
                None => {
                    let (entry, behind) = self.read_attribute(chunk, builder, at, place)?;
                    entries.extend(entry);
                    behind
                }
            };
            place = place.wrapping_add(1);
            Some(behind)
        })?;
        let object = Object::new(chunk.arena, chunk.arena.alloc_slice_copy(&entries));
        Some((Node::new(Value::Object(object), TextOrigin::new(start, behind)), behind))
    }

    /// An attribute that begins like one before it, and ends behind its value. Any other is `None`.
    #[inline]
    fn read_known<'a>(&mut self, chunk: ScannedChunk<'a>, at: usize, place: usize) -> Option<(ObjectEntry<'a>, usize)> {
        let cursor = chunk.cursor;
        let known = self.starts.find_start(cursor, at, place)?;
        let (value, key) = (known.value_at(at), known.key_at(at));
        if matches!(cursor.byte_at(value), b'{' | b'[') {
            return None;
        }
        let end = cursor.value_end(value)?;
        let behind = behind_value(chunk, end)?;
        let node = typed_node(chunk, known.typed, (value, end))?;
        Some((ObjectEntry { key: chunk.text.get(key.0..key.1)?, node }, behind))
    }

    /// What is no attribute has no entry.
    fn read_attribute<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        builder: &RunBuilder<'a, '_>,
        at: usize,
        place: usize,
    ) -> Option<(Option<ObjectEntry<'a>>, usize)> {
        let (mut key, mut value) = (None, None);
        let behind = self.keys.read_object(chunk.cursor, at, |role, at| {
            let end = chunk.cursor.value_end(at)?;
            match role {
                AttributeRole::Key if key.is_none() => {
                    key = Some((chunk.plain_text((at, end))??, (at.wrapping_add(1), end.wrapping_sub(1))));
                }
                AttributeRole::Value if value.is_none() => value = Some((at, end)),
                AttributeRole::Beside if chunk.may_hold_call((at, end)) => return None,
                AttributeRole::Beside => {}
                AttributeRole::Key | AttributeRole::Value => return None,
            }
            Some(end)
        })?;
        match (key, read_typed(&mut self.values, chunk, value?)) {
            (Some((key, span)), Some((node, typed, inner))) => {
                if behind_value(chunk, inner.1) == Some(behind) {
                    self.starts.learn_start(chunk.cursor, (at, inner.0), span, place, typed);
                }
                Some((Some(ObjectEntry { key, node }), behind))
            }
            _ if chunk.may_hold_call((at, behind)) => None,
            _ => Some((attributes::attribute_entry(value_at(chunk, at, behind)?, builder, 0), behind)),
        }
    }
}

/// Behind an attribute whose two brackets close right behind its value.
fn behind_value(chunk: ScannedChunk<'_>, end: usize) -> Option<usize> {
    let behind = end.wrapping_add(2);
    (chunk.cursor.slice(end, behind) == b"}}").then_some(behind)
}

#[inline]
fn typed_node<'a>(chunk: ScannedChunk<'a>, typed: TypedValueKey, (start, end): ByteSpan) -> Option<Node<'a>> {
    let node = value_at(chunk, start, end)?;
    Some(if typed == TypedValueKey::Integer { attributes::integer_node(node) } else { node })
}

/// Only for text, numbers and booleans; with the type and the place of what is in it.
fn read_typed<'a>(
    keys: &mut KeyReader<Option<TypedValueKey>>,
    chunk: ScannedChunk<'a>,
    (start, _): ByteSpan,
) -> Option<(Node<'a>, TypedValueKey, ByteSpan)> {
    let mut found = None;
    keys.read_object(chunk.cursor, start, |typed, at| {
        let end = chunk.cursor.value_end(at)?;
        match (typed, found) {
            (Some(typed @ (TypedValueKey::Plain | TypedValueKey::Integer)), None) => found = Some((*typed, (at, end))),
            _ => return None,
        }
        Some(end)
    })?;
    let (typed, span) = found?;
    Some((typed_node(chunk, typed, span)?, typed, span))
}
