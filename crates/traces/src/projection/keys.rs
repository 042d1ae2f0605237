//! The keys of objects, read by expectation: objects of one list have the same keys in the same order nearly always, or are of a few
//! kinds that have.

use crate::adapt::fields::{Record, Spans, TableRow};
use crate::scan::Cursor;
use rustc_hash::FxHashMap;

/// Reads keys and tells what each stands for.
#[derive(Debug)]
pub(super) struct Keys<R> {
    /// What known keys stand for.
    known: FxHashMap<Box<[u8]>, R>,
    /// The keys that came at each place.
    expected: Vec<KeyPosition<R>>,
    other: R,
}

/// What came at one place of objects.
#[derive(Debug)]
struct KeyPosition<R> {
    /// What came last.
    last: ExpectedKey<R>,
    /// What came before that.
    others: Vec<ExpectedKey<R>>,
}

#[derive(Debug)]
struct ExpectedKey<R> {
    /// The first sixteen bytes of the key with quote and colon behind it, and which of them count.
    start: u128,
    mask: u128,
    /// Bytes up to behind the colon.
    length: usize,
    /// The key.
    key: Box<[u8]>,
    role: R,
}

/// Expectations are kept for objects with no more keys.
const MOST: usize = 64;
/// So many keys are expected at one place beside the last one.
const OTHERS: usize = 4;

impl<R: Clone> Keys<R> {
    /// Keys with these roles; any other key has the role `other`.
    pub(super) fn new(known: impl IntoIterator<Item = (String, R)>, other: R) -> Self {
        let known = known.into_iter().map(|(key, role)| (key.into_bytes().into_boxed_slice(), role)).collect();
        Self { known, expected: Vec::new(), other }
    }

    /// Reads the object whose bracket stands at an offset. `each` is told the role and the place of every value and gives the
    /// offset behind it. `None` where the object has no good form, a key holds an escape, or `each` says so.
    #[inline]
    pub(super) fn object(
        &mut self,
        cursor: Cursor<'_>,
        start: usize,
        mut each: impl FnMut(&R, usize) -> Option<usize>,
    ) -> Option<usize> {
        if cursor.byte(start) != b'{' {
            return None;
        }
        let mut at = cursor.blank(start.wrapping_add(1));
        if cursor.byte(at) == b'}' {
            return Some(at.wrapping_add(1));
        }
        let mut place = 0_usize;
        loop {
            if cursor.byte(at) != b'"' {
                return None;
            }
            at = at.wrapping_add(1);
            let value = match self.expected.get(place) {
                Some(expected) if expected.last.fits(cursor, at) => at.wrapping_add(expected.last.length),
                _ => self.turn(cursor, at, place)?,
            };
            let value = cursor.blank(value);
            let role = self.expected.get(place).map_or(&self.other, |expected| &expected.last.role);
            at = cursor.blank(each(role, value)?);
            place = place.wrapping_add(1);
            match cursor.byte(at) {
                b',' => at = cursor.blank(at.wrapping_add(1)),
                b'}' => return Some(at.wrapping_add(1)),
                _ => return None,
            }
        }
    }

    /// Reads a key that was not the last one at its place. Gives the offset behind its colon.
    #[inline]
    fn turn(&mut self, cursor: Cursor<'_>, at: usize, place: usize) -> Option<usize> {
        if let Some(KeyPosition { last, others }) = self.expected.get_mut(place)
            && let Some(other) = others.iter_mut().find(|other| other.fits(cursor, at))
        {
            std::mem::swap(last, other);
            return Some(at.wrapping_add(last.length));
        }
        self.expect(cursor, at, place)
    }

    /// Reads a key that was not expected, and expects it from now on. Gives the offset behind its colon.
    #[inline(never)]
    fn expect(&mut self, cursor: Cursor<'_>, at: usize, place: usize) -> Option<usize> {
        let end = cursor.quote(at)?;
        if cursor.has_escape(at, end) {
            return None;
        }
        let key = cursor.slice(at, end);
        let colon = cursor.blank(end.wrapping_add(1));
        if cursor.byte(colon) != b':' || place >= MOST {
            return None;
        }
        let role = self.known.get(key).unwrap_or(&self.other).clone();
        let expected = ExpectedKey::new(key, role);
        match self.expected.get_mut(place) {
            Some(known) => known.put(expected),
            None => self.expected.push(KeyPosition { last: expected, others: Vec::new() }),
        }
        Some(colon.wrapping_add(1))
    }
}

impl<R> KeyPosition<R> {
    fn put(&mut self, expected: ExpectedKey<R>) {
        let before = std::mem::replace(&mut self.last, expected);
        if before.key == self.last.key {
            return;
        }
        if self.others.len() == OTHERS {
            self.others.remove(0);
        }
        self.others.push(before);
    }
}

impl<R> ExpectedKey<R> {
    fn new(key: &[u8], role: R) -> Self {
        let mut whole = key.to_vec();
        whole.extend_from_slice(b"\":");
        let (mut start, mut mask) = ([0_u8; 16], [0_u8; 16]);
        for ((byte, start), mask) in whole.iter().zip(&mut start).zip(&mut mask) {
            (*start, *mask) = (*byte, 0xFF);
        }
        let (start, mask) = (u128::from_le_bytes(start), u128::from_le_bytes(mask));
        Self { start, mask, length: whole.len(), key: key.into(), role }
    }

    #[inline]
    fn fits(&self, cursor: Cursor<'_>, at: usize) -> bool {
        let Some(bytes) = cursor.sixteen(at) else { return false };
        u128::from_le_bytes(*bytes) & self.mask == self.start && (self.length <= 16 || self.fits_slowly(cursor, at))
    }

    #[inline(never)]
    fn fits_slowly(&self, cursor: Cursor<'_>, at: usize) -> bool {
        let end = at.wrapping_add(self.key.len());
        cursor.slice(at, end) == &*self.key && cursor.slice(end, end.wrapping_add(2)) == b"\":"
    }
}

/// Reads the list whose bracket stands at an offset. `each` is told the place of every element and gives the offset behind it.
#[inline]
pub(super) fn list(cursor: Cursor<'_>, start: usize, mut each: impl FnMut(usize) -> Option<usize>) -> Option<usize> {
    if cursor.byte(start) != b'[' {
        return None;
    }
    let mut at = cursor.blank(start.wrapping_add(1));
    if cursor.byte(at) == b']' {
        return Some(at.wrapping_add(1));
    }
    loop {
        at = cursor.blank(each(at)?);
        match cursor.byte(at) {
            b',' => at = cursor.blank(at.wrapping_add(1)),
            b']' => return Some(at.wrapping_add(1)),
            _ => return None,
        }
    }
}

/// What a key of an object of a table stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Key<F> {
    /// A field of the table.
    Field(F),
    /// An object with this key is for the full reader.
    Refused,
    /// Nothing that counts.
    Other,
}

/// The keys of a table, each with its row.
pub(super) fn keys_of<F: TableRow>() -> impl Iterator<Item = (String, F)> {
    F::ALL.iter().flat_map(|row| row.keys().iter().map(|key| ((*key).to_owned(), *row)))
}

impl<F: TableRow> Keys<Key<F>> {
    /// The keys of a table. An object with one of the `refused` is for the full reader.
    pub(super) fn of_table(refused: impl IntoIterator<Item = &'static str>) -> Self {
        Self::new(
            keys_of::<F>()
                .map(|(key, field)| (key, Key::Field(field)))
                .chain(refused.into_iter().map(|key| (key.to_owned(), Key::Refused))),
            Key::Other,
        )
    }

    /// Reads an object; gives the offset behind it, too. `None` where it is for the full reader: also where a field comes again.
    #[inline]
    pub(super) fn spans(&mut self, cursor: Cursor<'_>, start: usize) -> Option<(Spans<F>, usize)> {
        let mut spans = Spans::default();
        let behind = self.object(cursor, start, |row, at| {
            let end = cursor.value(at)?;
            match row {
                Key::Field(field) if spans.field(*field).is_some() => return None,
                Key::Field(field) => spans.set(*field, (at, end)),
                Key::Refused => return None,
                Key::Other => {}
            }
            Some(end)
        })?;
        Some((spans, behind))
    }
}
