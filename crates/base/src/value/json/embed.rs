//! JSON inside text: a value that was written into a string, as the arguments of a tool call often are. Every place still points at
//! the bytes of the outer text, through the escapes.

use super::{JsonDocument, JsonError, JsonReader, read_whole};
use crate::limits::Limits;
use crate::value::text::{EscapeSegment, ValueText, text_segments};
use crate::value::{Node, TextOrigin};
use bumpalo::Bump;

/// Reads the JSON that is the content of a text. `node` is where that text stands; a computed text gives computed places.
///
/// # Errors
/// As [`super::parse`]; places of the error count in the unescaped text.
pub fn parse_text<'run>(
    text: ValueText<'run>,
    origin: TextOrigin,
    arena: &'run Bump,
    limits: &Limits,
) -> Result<JsonDocument<'run>, JsonError> {
    read_whole(JsonReader::new(text.as_str(), OffsetMap::inside_text(text, origin, arena), arena, limits))
}

/// False if a raw JSON string surely is not an object or list, judged by its start.
#[must_use]
pub fn may_hold(mut raw: &[u8]) -> bool {
    loop {
        raw = match raw {
            [b'{' | b'[', ..] => return true,
            [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] | [b'\\', b'n' | b't' | b'r', rest @ ..] => rest,
            // Brackets and space that are written as their numbers.
            [b'\\', b'u', b'0', b'0', b'0' | b'2' | b'5' | b'7', ..] => return true,
            _ => return false,
        }
    }
}

/// Maps offsets of the parsed text to the run's text.
pub(super) struct OffsetMap<'run> {
    kind: OffsetKind<'run>,
}

enum OffsetKind<'run> {
    Shifted(usize),
    /// All values share one place, because nothing more precise is known.
    Fixed(TextOrigin),
    /// Unescaped text: every escape shifts what follows.
    Mapped(EscapeMap<'run>),
}

struct EscapeMap<'run> {
    /// Inner and outer offset of each escape-free range, in order.
    plain_ranges: &'run [(usize, usize)],
    /// The range of the last query; queries must ascend.
    current: usize,
}

impl<'run> OffsetMap<'run> {
    pub(super) fn shifted_by(base: usize) -> Self {
        Self { kind: OffsetKind::Shifted(base) }
    }

    fn inside_text(text: ValueText<'run>, origin: TextOrigin, arena: &'run Bump) -> Self {
        let raw = text.raw_text();
        // Text inside text inside text is unescaped twice: then the outer string is the nearest known place.
        let kind = match (origin.byte_range(), text) {
            (Some(range), _) if range.len() != raw.len() + 2 => OffsetKind::Fixed(origin),
            (Some(range), ValueText::Plain(_)) => OffsetKind::Shifted(range.start + 1),
            (Some(range), ValueText::Escaped(_)) => {
                OffsetKind::Mapped(EscapeMap { plain_ranges: plain_ranges(raw, range.start + 1, arena), current: 0 })
            }
            (None, _) => OffsetKind::Fixed(TextOrigin::COMPUTED),
        };
        Self { kind }
    }

    /// Offsets must be queried in ascending order.
    pub(super) fn source_offset(&mut self, offset: usize) -> usize {
        match &mut self.kind {
            OffsetKind::Shifted(base) => *base + offset,
            OffsetKind::Fixed(_) => 0,
            OffsetKind::Mapped(map) => map.outer_offset(offset),
        }
    }

    pub(super) fn source_origin(&mut self, start: usize, end: usize) -> TextOrigin {
        match self.kind {
            OffsetKind::Fixed(origin) => origin,
            _ => TextOrigin::new(start, self.source_offset(end)),
        }
    }
}

impl EscapeMap<'_> {
    fn outer_offset(&mut self, inner: usize) -> usize {
        while self.plain_ranges.get(self.current + 1).is_some_and(|(start, _)| *start <= inner) {
            self.current += 1;
        }
        self.plain_ranges.get(self.current).map_or(0, |(start, outer)| outer + inner.saturating_sub(*start))
    }
}

fn plain_ranges<'run>(raw: &str, start: usize, arena: &'run Bump) -> &'run [(usize, usize)] {
    let mut list = bumpalo::vec![in arena; (0, start)];
    let (mut inner, mut outer) = (0, start);
    for segment in text_segments(raw) {
        match segment {
            EscapeSegment::Plain(text) => {
                inner += text.len();
                outer += text.len();
            }
            EscapeSegment::Escape(character, length) => {
                inner += character.len_utf8();
                outer += length;
                list.push((inner, outer));
            }
        }
    }
    list.into_bump_slice()
}

impl<'run> Node<'run> {
    /// Reads the JSON inside a text node; `None` when it is no text, or no JSON.
    #[must_use]
    pub fn parse_embedded(self, arena: &'run Bump, limits: &Limits) -> Option<Node<'run>> {
        match self.value {
            crate::value::Value::Text(text) => Some(parse_text(text, self.origin, arena, limits).ok()?.node),
            _ => None,
        }
    }
}
