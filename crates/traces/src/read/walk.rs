//! Going through objects and lists by their brackets alone, without reading what is in between.

use super::split::{end_of_value, skip_blank};
use std::ops::Range;

/// An entry of an object: its key without quotes, and its value.
pub(super) struct Entry {
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

/// Goes through the entries of the object at `start`. `inside` is given the key and the start of each value, and gives its end where it
/// has looked for it itself; `Err` ends the way. The end of the object; `None` where it is none.
pub(super) fn object(
    text: &str,
    start: usize,
    mut inside: impl FnMut(&str, usize) -> Option<usize>,
    mut found: impl FnMut(&Entry),
) -> Option<usize> {
    let mut at = first_inside(text, start, b'{')?;
    if byte(text, at) == Some(b'}') {
        return Some(at + 1);
    }
    loop {
        if byte(text, at) != Some(b'"') {
            return None;
        }
        let key_end = end_of_value(text, at)?;
        let key = at + 1..key_end - 1;
        let colon = skip_blank(text, key_end);
        if byte(text, colon) != Some(b':') {
            return None;
        }
        let value = skip_blank(text, colon + 1);
        let end = inside(text.get(key.clone())?, value).or_else(|| end_of_value(text, value))?;
        found(&Entry { key, value: value..end });
        match next(text, end, b'}')? {
            Next::Member(next) => at = next,
            Next::End(end) => return Some(end),
        }
    }
}

/// Goes through the elements of the list at `start`: `inside` is given the start of each and gives its end. The end of the list.
pub(super) fn list(text: &str, start: usize, mut inside: impl FnMut(usize) -> Option<usize>) -> Option<usize> {
    let mut at = first_inside(text, start, b'[')?;
    if byte(text, at) == Some(b']') {
        return Some(at + 1);
    }
    loop {
        let end = inside(at).filter(|end| *end > at)?;
        match next(text, end, b']')? {
            Next::Member(next) => at = next,
            Next::End(end) => return Some(end),
        }
    }
}

/// The value under a way of keys in the object at `start`.
pub(super) fn under(text: &str, start: usize, way: &[&str]) -> Option<Range<usize>> {
    let mut range = start..start;
    for wanted in way {
        let mut at = first_inside(text, range.start, b'{')?;
        range = loop {
            let key_end = (byte(text, at) == Some(b'"')).then(|| end_of_value(text, at)).flatten()?;
            let value = skip_blank(text, skip_blank(text, key_end) + 1);
            let end = end_of_value(text, value)?;
            if text.get(at + 1..key_end - 1) == Some(wanted) {
                break value..end;
            }
            match next(text, end, b'}')? {
                Next::Member(next) => at = next,
                Next::End(_) => return None,
            }
        };
    }
    Some(range)
}

enum Next {
    Member(usize),
    End(usize),
}

fn next(text: &str, end: usize, close: u8) -> Option<Next> {
    let at = skip_blank(text, end);
    match byte(text, at)? {
        b',' => Some(Next::Member(skip_blank(text, at + 1))),
        found if found == close => Some(Next::End(at + 1)),
        _ => None,
    }
}

fn first_inside(text: &str, start: usize, open: u8) -> Option<usize> {
    (byte(text, start) == Some(open)).then(|| skip_blank(text, start + 1))
}

fn byte(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}
