//! Reading single values of a line: in full, or those of their parts that somebody asks for.

use super::{CallField, FieldMask, ProjectedCall, RawValue};
use crate::adapt::calls::are_none;
use crate::adapt::fields::{ByteSpan, FieldSpans, TableRow};
use crate::adapt::unknown::may_hold_call;
use crate::build::failure_signs::tells_ending;
use crate::scan::ScanCursor;
use averment_base::limits::Limits;
use averment_base::value::text::{EscapedText, unescape_text};
use averment_base::value::{Node, Number, Object, ObjectEntry, Value, ValueText, json};
use averment_runs::run::StepStatus;
use bumpalo::Bump;
use smallvec::SmallVec;

/// Bytes of a chunk with what is needed to read values from them.
#[derive(Clone, Copy)]
pub struct ScannedChunk<'a> {
    /// The text.
    pub text: &'a str,
    /// Walks it.
    pub cursor: ScanCursor<'a>,
    /// Where values are put.
    pub arena: &'a Bump,
    /// The limits of values.
    pub limits: &'a Limits,
}

impl<'a> ScannedChunk<'a> {
    /// Without quotes; the outer `None` is for text with escapes.
    #[inline(always)]
    pub(super) fn plain_text(&self, (start, end): ByteSpan) -> Option<Option<&'a str>> {
        if self.cursor.byte_at(start) != b'"' {
            return Some(None);
        }
        if self.cursor.has_escape(start, end) {
            return None;
        }
        self.text.get(start.wrapping_add(1)..end.wrapping_sub(1)).map(Some)
    }

    /// `None` where one of the fields that nobody reads may hold a call: that is for the full reader.
    #[inline]
    pub(super) fn pass_fields<F: TableRow>(&self, fields: &FieldSpans<F>, read: &[F]) -> Option<()> {
        fields.containers_beside(read).all(|span| !self.may_hold_call(span)).then_some(())
    }

    #[inline]
    pub(super) fn may_hold_call(&self, (start, end): ByteSpan) -> bool {
        may_hold_call(self.cursor.slice(start, end))
    }

    /// Reads a value in full; `None` where it is not valid.
    #[must_use]
    pub fn read_value(&self, held: RawValue<'a>) -> Option<Value<'a>> {
        let (start, end) = match held {
            RawValue::Value(value) => return Some(value),
            RawValue::Bytes(start, end) => (start, end),
            RawValue::Written(start, end) => return self.read_written(start, end),
        };
        match self.cursor.byte_at(start) {
            b'"' => {
                let inner = self.text.get(start.wrapping_add(1)..end.wrapping_sub(1))?;
                Some(Value::Text(if self.cursor.has_escape(start, end) {
                    ValueText::Escaped(self.arena.alloc(EscapedText::new(inner, self.arena)))
                } else {
                    ValueText::Plain(inner)
                }))
            }
            _ => self.read_other(start, end),
        }
    }

    fn read_other(&self, start: usize, end: usize) -> Option<Value<'a>> {
        let text = self.text.get(start..end)?;
        if text.len() < 18 && text.starts_with(|first: char| first.is_ascii_digit()) && is_plain_number(text) {
            return Some(Value::Number(Number::Written(text)));
        }
        let document = json::parse(text, start, self.arena, self.limits).ok()?;
        document.duplicates.is_empty().then_some(document.node.value)
    }

    /// Blank text is an empty object.
    fn read_written(&self, start: usize, end: usize) -> Option<Value<'a>> {
        let inner = self.text.get(start.wrapping_add(1)..end.wrapping_sub(1))?;
        let text = if self.cursor.has_escape(start, end) { unescape_text(inner, self.arena) } else { inner };
        if are_none(text) {
            return Some(Value::Object(Object::new(self.arena, &[])));
        }
        let document = json::parse(text, 0, self.arena, self.limits).ok()?;
        document.duplicates.is_empty().then_some(document.node.value)
    }

    /// How a call ended, by what it says of it and by its result; `None` where only the full reader tells.
    #[must_use]
    pub fn call_status(&self, call: &ProjectedCall<'a>) -> Option<StepStatus> {
        let ending = call.ending?;
        let result = match call.field(CallField::Result)? {
            RawValue::Value(Value::Missing | Value::Absent | Value::Null) => None,
            held => Some(Node::computed(self.read_signs(held)?)),
        };
        Some(ending.call_status(result, self.arena))
    }

    /// The parts of a value that a mask names. A value that has no keys is read in full; `None` where one is not valid, and where a key
    /// that is asked for comes twice.
    #[must_use]
    pub fn read_masked(&self, held: RawValue<'a>, mask: &FieldMask) -> Option<Value<'a>> {
        match (held, mask) {
            (RawValue::Bytes(start, _), FieldMask::Keys(wanted)) if self.cursor.byte_at(start) == b'{' => self
                .read_object(start, |key, held| match wanted.iter().find(|(wanted, _)| wanted == key) {
                    Some((_, mask)) => self.read_masked(held, mask).map(Some),
                    None => Some(None),
                }),
            _ => self.read_value(held),
        }
    }

    /// A result with no more of its values than say how its call ended.
    fn read_signs(&self, held: RawValue<'a>) -> Option<Value<'a>> {
        let outline = match held {
            RawValue::Bytes(start, _) if self.cursor.byte_at(start) == b'{' => self.read_object(start, |key, held| {
                if tells_ending(key) { self.read_value(held).map(Some) } else { Some(Some(Value::Null)) }
            }),
            _ => None,
        };
        outline.or_else(|| self.read_value(held))
    }

    /// An object of what `read` gives for its keys; without those for which it gives nothing.
    fn read_object(
        &self,
        start: usize,
        mut read: impl FnMut(&'a str, RawValue<'a>) -> Option<Option<Value<'a>>>,
    ) -> Option<Value<'a>> {
        let cursor = self.cursor;
        let mut found: SmallVec<[ObjectEntry<'a>; 4]> = SmallVec::new();
        let mut at = cursor.skip_blank(start.wrapping_add(1));
        if cursor.byte_at(at) == b'}' {
            return Some(Value::Object(Object::new(self.arena, &[])));
        }
        loop {
            if cursor.byte_at(at) != b'"' {
                return None;
            }
            let end = cursor.next_quote(at.wrapping_add(1))?;
            if cursor.has_escape(at, end) {
                return None;
            }
            let key = self.text.get(at.wrapping_add(1)..end)?;
            let colon = cursor.skip_blank(end.wrapping_add(1));
            if cursor.byte_at(colon) != b':' {
                return None;
            }
            let value = cursor.skip_blank(colon.wrapping_add(1));
            let behind = cursor.value_end(value)?;
            if let Some(value) = read(key, RawValue::Bytes(value, behind))? {
                if found.iter().any(|entry| entry.key == key) {
                    return None;
                }
                found.push(ObjectEntry { key, node: Node::computed(value) });
            }
            at = cursor.skip_blank(behind);
            match cursor.byte_at(at) {
                b',' => at = cursor.skip_blank(at.wrapping_add(1)),
                b'}' => break,
                _ => return None,
            }
        }
        Some(Value::Object(Object::new(self.arena, self.arena.alloc_slice_copy(&found))))
    }
}

pub(super) fn is_plain_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (whole, fraction) = match memchr::memchr(b'.', bytes) {
        Some(at) => (bytes.get(..at).unwrap_or_default(), bytes.get(at + 1..)),
        None => (bytes, None),
    };
    let digits = |digits: &[u8]| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    digits(whole) && (whole.len() == 1 || whole.first() != Some(&b'0')) && fraction.is_none_or(digits)
}
