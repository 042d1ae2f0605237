//! Reading single values of a line: in full, or what stands at a way of keys inside of them.

use super::Held;
use crate::scan::Cursor;
use averment_base::limits::Limits;
use averment_base::value::text::{Escaped, unescape};
use averment_base::value::{Number, Object, Text, Value, json};
use bumpalo::Bump;

/// Bytes of a stretch with what is needed to read values from them.
#[derive(Clone, Copy)]
pub struct Stretch<'a> {
    /// The text.
    pub text: &'a str,
    /// Walks it.
    pub cursor: Cursor<'a>,
    /// Where values are put.
    pub arena: &'a Bump,
    /// The limits of values.
    pub limits: &'a Limits,
}

impl<'a> Stretch<'a> {
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
        if text.trim().is_empty() {
            return Some(Value::Object(Object::new(self.arena, &[])));
        }
        let document = json::parse(text, 0, self.arena, self.limits).ok()?;
        document.duplicates.is_empty().then_some(document.node.value)
    }

    /// The value at a way of keys inside of a value: missing where the way leads nowhere; `None` where it is not valid.
    #[must_use]
    pub fn at(&self, held: Held<'a>, way: &[String]) -> Option<Value<'a>> {
        let mut held = held;
        for (number, key) in way.iter().enumerate() {
            match held {
                Held::Value(value) => return Some(inside(value, way.get(number..).unwrap_or_default())),
                Held::Written(..) => return Some(inside(self.read(held)?, way.get(number..).unwrap_or_default())),
                // Nothing has fields but an object; a value that is none has to be a good one all the same.
                Held::Bytes(start, _) if self.cursor.byte(start) != b'{' => {
                    return self.read(held).map(|_| Value::Missing);
                }
                Held::Bytes(start, _) => match self.field(start, key.as_bytes())? {
                    Some(found) => held = found,
                    None => return Some(Value::Missing),
                },
            }
        }
        self.read(held)
    }

    /// The value of a key of an object. The outer `None` is for what has no good form, and for a key that comes twice.
    fn field(&self, start: usize, key: &[u8]) -> Option<Option<Held<'a>>> {
        let cursor = self.cursor;
        let mut found = None;
        let mut at = cursor.blank(start.wrapping_add(1));
        if cursor.byte(at) == b'}' {
            return Some(None);
        }
        loop {
            if cursor.byte(at) != b'"' {
                return None;
            }
            let end = cursor.quote(at.wrapping_add(1))?;
            if cursor.has_escape(at, end) {
                return None;
            }
            let this = cursor.slice(at.wrapping_add(1), end) == key;
            let colon = cursor.blank(end.wrapping_add(1));
            if cursor.byte(colon) != b':' {
                return None;
            }
            let value = cursor.blank(colon.wrapping_add(1));
            let behind = cursor.value(value)?;
            if this && found.replace(Held::Bytes(value, behind)).is_some() {
                return None;
            }
            at = cursor.blank(behind);
            match cursor.byte(at) {
                b',' => at = cursor.blank(at.wrapping_add(1)),
                b'}' => return Some(found),
                _ => return None,
            }
        }
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

/// The value at a way of keys, as an expression takes it.
pub fn inside<'a>(value: Value<'a>, way: &[String]) -> Value<'a> {
    way.iter().fold(value, |value, key| match value {
        Value::Object(object) => object.get(key).map_or(Value::Missing, |node| node.value),
        Value::Absent => Value::Absent,
        _ => Value::Missing,
    })
}
