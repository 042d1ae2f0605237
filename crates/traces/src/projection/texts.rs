//! Texts of values: for those who ask for them, and those of a message as one.

use super::{CallField, RawValue, ReadSet, RunProjection, ScannedChunk, call};
use crate::adapt::content;
use crate::adapt::fields::{ByteSpan, ShapeReader, ValueShape};

/// `None` for the full reader.
pub(super) fn take_texts<'a>(
    chunk: ScannedChunk<'a>,
    read_set: &ReadSet,
    projection: &mut RunProjection<'a>,
    field: CallField,
    held: RawValue<'a>,
) -> Option<()> {
    if read_set.texts.get(field as usize) != Some(&true) {
        return Some(());
    }
    let texts = projection.texts.get_mut(field as usize)?;
    match held {
        RawValue::Bytes(start, end) if chunk.cursor.has_shape((start, end), ValueShape::Null) => {}
        RawValue::Bytes(start, end) => call::take_texts(chunk.cursor, chunk.text, start, end, texts)?,
        held => texts.add_texts_in(chunk.read_value(held)?),
    }
    Some(())
}

/// The outer `None` is for unreadable text.
pub(super) fn join_texts<'a>(chunk: ScannedChunk<'a>, texts: &[ByteSpan]) -> Option<Option<RawValue<'a>>> {
    let bytes = |(start, end): &ByteSpan| RawValue::Bytes(*start, *end);
    if let [] | [_] = texts {
        return Some(texts.first().map(bytes));
    }
    let texts: Option<Vec<_>> = texts.iter().map(|text| chunk.read_value(bytes(text))).collect();
    Some(Some(RawValue::Value(content::join_lines(texts?.into_iter(), chunk.arena))))
}
