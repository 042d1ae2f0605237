//! Texts of values: for those who ask for them, and those of a message as one.

use super::{Chunk, Field, Held, Projection, ReadSet, call};
use crate::adapt::content;
use crate::adapt::fields::{Shape, Shapes, Span};

/// Gives the texts of a field to those who ask for them. `None` where they are for the full reader.
pub(super) fn take_texts<'a>(
    chunk: Chunk<'a>,
    read_set: &ReadSet,
    projection: &mut Projection<'a>,
    field: Field,
    held: Held<'a>,
) -> Option<()> {
    if read_set.texts.get(field as usize) != Some(&true) {
        return Some(());
    }
    let texts = projection.texts.get_mut(field as usize)?;
    match held {
        Held::Bytes(start, end) if chunk.cursor.is((start, end), Shape::Null) => {}
        Held::Bytes(start, end) => call::take_texts(chunk.cursor, chunk.text, start, end, texts)?,
        held => texts.walk(chunk.read(held)?),
    }
    Some(())
}

/// The texts of a message, joined. The outer `None` is for what cannot be read.
pub(super) fn joined<'a>(chunk: Chunk<'a>, texts: &[Span]) -> Option<Option<Held<'a>>> {
    let bytes = |(start, end): &Span| Held::Bytes(*start, *end);
    if let [] | [_] = texts {
        return Some(texts.first().map(bytes));
    }
    let texts: Option<Vec<_>> = texts.iter().map(|text| chunk.read(bytes(text))).collect();
    Some(Some(Held::Value(content::together(texts?.into_iter(), chunk.arena))))
}
