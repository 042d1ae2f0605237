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

/// Whether a text, as it stands between the quotes of JSON, may hold an object or a list as a whole: one that does not begins with
/// something else.
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

/// Where the bytes of the text that is read stand in the text of the run.
pub(super) struct OffsetMap<'run> {
    kind: OffsetKind<'run>,
}

enum OffsetKind<'run> {
    /// A part of the run's text, from this offset.
    Shifted(usize),
    /// All values stand at one place: it is not known better.
    Fixed(TextOrigin),
    /// Unescaped text: what follows each escape is shifted further.
    Mapped(EscapeMap<'run>),
}

struct EscapeMap<'run> {
    /// Inner and outer offset of each range without escapes, in order.
    plain_ranges: &'run [(usize, usize)],
    /// The range of the last question. Questions come in ascending order.
    current: usize,
}

impl<'run> OffsetMap<'run> {
    /// The places of a part of the run's text that starts at `base`.
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

    /// The place of an offset. Offsets must be asked for in ascending order.
    pub(super) fn source_offset(&mut self, offset: usize) -> usize {
        match &mut self.kind {
            OffsetKind::Shifted(base) => *base + offset,
            OffsetKind::Fixed(_) => 0,
            OffsetKind::Mapped(map) => map.outer_offset(offset),
        }
    }

    /// The origin of a value from the place of its start to the offset of its end.
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
