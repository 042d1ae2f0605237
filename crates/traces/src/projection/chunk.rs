//! Reading single values of a line: in full, or those of their parts that somebody asks for.

use super::{FieldMask, Held};
use crate::adapt::calls::are_none;
use crate::adapt::fields::Span;
use crate::scan::Cursor;
use averment_base::limits::Limits;
use averment_base::value::text::{Escaped, unescape};
use averment_base::value::{Entry, Node, Number, Object, Text, Value, json};
use bumpalo::Bump;
use smallvec::SmallVec;

/// Bytes of a chunk with what is needed to read values from them.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    /// The text.
    pub text: &'a str,
    /// Walks it.
    pub cursor: Cursor<'a>,
    /// Where values are put.
    pub arena: &'a Bump,
    /// The limits of values.
    pub limits: &'a Limits,
}

impl<'a> Chunk<'a> {
    /// The text of a value, where it is one: between its quotes. The outer `None` is for one with escapes.
    #[inline]
    pub(super) fn plain(&self, (start, end): Span) -> Option<Option<&'a str>> {
        if self.cursor.byte(start) != b'"' {
            return Some(None);
        }
        if self.cursor.has_escape(start, end) {
            return None;
        }
        self.text.get(start.wrapping_add(1)..end.wrapping_sub(1)).map(Some)
    }

    /// Reads a value in full; `None` where it is not valid.
    #[must_use]
    pub fn read(&self, held: Held<'a>) -> Option<Value<'a>> {
        let (start, end) = match held {
            Held::Value(value) => return Some(value),
            Held::Bytes(start, end) => (start, end),
            Held::Written(start, end) => return self.written(start, end),
        };
        let text = self.text.get(start..end)?;
        match self.cursor.byte(start) {
            b'"' => {
                let inner = text.get(1..text.len().checked_sub(1)?)?;
                Some(Value::Text(if self.cursor.has_escape(start, end) {
                    Text::Escaped(self.arena.alloc(Escaped::new(inner, self.arena)))
                } else {
                    Text::Plain(inner)
                }))
            }
            b'0'..=b'9' if text.len() < 18 && is_plain_number(text) => Some(Value::Number(Number::Written(text))),
            _ => {
                let document = json::parse(text, start, self.arena, self.limits).ok()?;
                document.duplicates.is_empty().then_some(document.node.value)
            }
        }
    }

    /// The value that a text holds as JSON. Blank text stands for an empty object.
    fn written(&self, start: usize, end: usize) -> Option<Value<'a>> {
        let inner = self.text.get(start.wrapping_add(1)..end.wrapping_sub(1))?;
        let text = if self.cursor.has_escape(start, end) { unescape(inner, self.arena) } else { inner };
        if are_none(text) {
            return Some(Value::Object(Object::new(self.arena, &[])));
        }
        let document = json::parse(text, 0, self.arena, self.limits).ok()?;
        document.duplicates.is_empty().then_some(document.node.value)
    }

    /// The parts of a value that a mask names. A value that has no keys is read in full; `None` where one is not valid, and where a key
    /// that is asked for comes twice.
    #[must_use]
    pub fn masked(&self, held: Held<'a>, mask: &FieldMask) -> Option<Value<'a>> {
        match (held, mask) {
            (Held::Bytes(start, _), FieldMask::Keys(wanted)) if self.cursor.byte(start) == b'{' => {
                self.object(start, wanted)
            }
            _ => self.read(held),
        }
    }

    /// An object with these keys and no others.
    fn object(&self, start: usize, wanted: &[(String, FieldMask)]) -> Option<Value<'a>> {
        let cursor = self.cursor;
        let mut found: SmallVec<[Entry<'a>; 4]> = SmallVec::new();
        let mut at = cursor.blank(start.wrapping_add(1));
        if cursor.byte(at) == b'}' {
            return Some(Value::Object(Object::new(self.arena, &[])));
        }
        loop {
            if cursor.byte(at) != b'"' {
                return None;
            }
            let end = cursor.quote(at.wrapping_add(1))?;
            if cursor.has_escape(at, end) {
                return None;
            }
            let key = self.text.get(at.wrapping_add(1)..end)?;
            let colon = cursor.blank(end.wrapping_add(1));
            if cursor.byte(colon) != b':' {
                return None;
            }
            let value = cursor.blank(colon.wrapping_add(1));
            let behind = cursor.value(value)?;
            if let Some((_, mask)) = wanted.iter().find(|(wanted, _)| wanted == key) {
                if found.iter().any(|entry| entry.key == key) {
                    return None;
                }
                found.push(Entry { key, node: Node::computed(self.masked(Held::Bytes(value, behind), mask)?) });
            }
            at = cursor.blank(behind);
            match cursor.byte(at) {
                b',' => at = cursor.blank(at.wrapping_add(1)),
                b'}' => break,
                _ => return None,
            }
        }
        Some(Value::Object(Object::new(self.arena, self.arena.alloc_slice_copy(&found))))
    }
}

/// Digits, and one point between them at most.
pub(super) fn is_plain_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (whole, fraction) = match memchr::memchr(b'.', bytes) {
        Some(at) => (bytes.get(..at).unwrap_or_default(), bytes.get(at + 1..)),
        None => (bytes, None),
    };
    let digits = |digits: &[u8]| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    digits(whole) && (whole.len() == 1 || whole.first() != Some(&b'0')) && fraction.is_none_or(digits)
}
