//! Going through objects and lists by their brackets alone, without reading what is in between.

use super::split::{self, skip_blank};
use crate::scan::{ByteIndex, ScanCursor};
use averment_base::limits::LONG;
use std::ops::Range;

/// A text with an optional index, which finds ends faster.
#[derive(Clone, Copy)]
pub(super) struct IndexedText<'a> {
    pub(super) text: &'a str,
    pub(super) cursor: Option<ScanCursor<'a>>,
}

impl<'a> IndexedText<'a> {
    pub(super) fn without_index(text: &'a str) -> Self {
        Self { text, cursor: None }
    }

    /// With an index, which is made here, unless the text is too long for one or needs a closer look.
    pub(super) fn new(text: &'a str, index: &'a mut ByteIndex, depth: usize) -> Self {
        let indexed = text.len() <= LONG && index.build_index(text.as_bytes()).is_ok() && index.is_clean();
        Self { text, cursor: indexed.then(|| ScanCursor::new(text.as_bytes(), index, depth)) }
    }

    /// `None` if the text ends inside it.
    pub(super) fn end_of_value(self, start: usize) -> Option<usize> {
        let found = self.cursor.and_then(|cursor| cursor.value_end(start));
        found.or_else(|| split::end_of_value(self.text, start))
    }
}

pub(super) struct EntrySpan {
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

/// `inside` gets key and start and may return the end; `Err` stops. `None` if it is no object.
pub(super) fn walk_object(
    indexed: IndexedText<'_>,
    start: usize,
    mut inside: impl FnMut(&str, usize) -> Option<usize>,
    mut found: impl FnMut(&EntrySpan),
) -> Option<usize> {
    let text = indexed.text;
    let mut at = first_inside(text, start, b'{')?;
    if byte_at(text, at) == Some(b'}') {
        return Some(at + 1);
    }
    loop {
        if byte_at(text, at) != Some(b'"') {
            return None;
        }
        let key_end = indexed.end_of_value(at)?;
        let key = at + 1..key_end - 1;
        let colon = skip_blank(text, key_end);
        if byte_at(text, colon) != Some(b':') {
            return None;
        }
        let value = skip_blank(text, colon + 1);
        let end = inside(text.get(key.clone())?, value).or_else(|| indexed.end_of_value(value))?;
        found(&EntrySpan { key, value: value..end });
        match next(text, end, b'}')? {
            NextToken::Member(next) => at = next,
            NextToken::End(end) => return Some(end),
        }
    }
}

/// `inside` gets each element's start and returns its end.
pub(super) fn walk_list(text: &str, start: usize, mut inside: impl FnMut(usize) -> Option<usize>) -> Option<usize> {
    let mut at = first_inside(text, start, b'[')?;
    if byte_at(text, at) == Some(b']') {
        return Some(at + 1);
    }
    loop {
        let end = inside(at).filter(|end| *end > at)?;
        match next(text, end, b']')? {
            NextToken::Member(next) => at = next,
            NextToken::End(end) => return Some(end),
        }
    }
}

pub(super) fn value_under(indexed: IndexedText<'_>, start: usize, way: &[&str]) -> Option<Range<usize>> {
    let text = indexed.text;
    let mut range = start..start;
    for wanted in way {
        let mut at = first_inside(text, range.start, b'{')?;
        range = loop {
            let key_end = (byte_at(text, at) == Some(b'"')).then(|| indexed.end_of_value(at)).flatten()?;
            let value = skip_blank(text, skip_blank(text, key_end) + 1);
            let end = indexed.end_of_value(value)?;
            if text.get(at + 1..key_end - 1) == Some(wanted) {
                break value..end;
            }
            match next(text, end, b'}')? {
                NextToken::Member(next) => at = next,
                NextToken::End(_) => return None,
            }
        };
    }
    Some(range)
}

/// Elements of a list examined for keys.
const ELEMENTS: usize = 4;

/// Keys of the object, or of a list's first elements.
pub(super) fn end_and_keys(indexed: IndexedText<'_>, start: usize) -> (Option<usize>, Vec<Range<usize>>) {
    let (text, mut keys) = (indexed.text, Vec::new());
    if text.as_bytes().get(start) != Some(&b'[') {
        let end = walk_object(indexed, start, |_, _| None, |entry| keys.push(entry.key.clone()));
        return (end.or_else(|| indexed.end_of_value(start)), keys);
    }
    let mut at = skip_blank(text, start + 1);
    for _ in 0..ELEMENTS {
        let of_object = walk_object(indexed, at, |_, _| None, |entry| keys.push(entry.key.clone()));
        let Some(end) = of_object.or_else(|| indexed.end_of_value(at)).filter(|end| *end > at) else { break };
        let next = skip_blank(text, end);
        if text.as_bytes().get(next) != Some(&b',') {
            break;
        }
        at = skip_blank(text, next + 1);
    }
    (indexed.end_of_value(start), keys)
}

enum NextToken {
    Member(usize),
    End(usize),
}

fn next(text: &str, end: usize, close: u8) -> Option<NextToken> {
    let at = skip_blank(text, end);
    match byte_at(text, at)? {
        b',' => Some(NextToken::Member(skip_blank(text, at + 1))),
        found if found == close => Some(NextToken::End(at + 1)),
        _ => None,
    }
}

fn first_inside(text: &str, start: usize, open: u8) -> Option<usize> {
    (byte_at(text, start) == Some(open)).then(|| skip_blank(text, start + 1))
}

fn byte_at(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}
