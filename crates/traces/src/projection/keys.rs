//! The keys of objects, read by expectation: objects of one list have the same keys in the same order nearly always, or are of a few
//! kinds that have.

use crate::adapt::fields::{FieldSpans, TableRow};
use crate::adapt::unknown::may_hold_call;
use crate::scan::ScanCursor;
use rustc_hash::FxHashMap;

#[derive(Debug)]
pub(super) struct KeyReader<R> {
    known: FxHashMap<Box<[u8]>, R>,
    expected: Vec<KeyPosition<R>>,
    other: R,
    /// The roles of keys that no table holds; by itself such a key has the role `other`.
    unknown: fn(&[u8]) -> Option<R>,
}

#[derive(Debug)]
struct KeyPosition<R> {
    last: ExpectedKey<R>,
    others: Vec<ExpectedKey<R>>,
}

#[derive(Debug)]
struct ExpectedKey<R> {
    /// First 16 bytes of the key, quote and colon, and their mask.
    start: u128,
    mask: u128,
    /// Bytes including the colon.
    length: usize,
    key: Box<[u8]>,
    role: R,
}

/// Objects with more keys are not predicted.
const MOST: usize = 64;
/// Alternatives kept per position.
const OTHERS: usize = 4;

impl<R: Clone> KeyReader<R> {
    /// Unknown keys get the role `other`.
    pub(super) fn new(known: impl IntoIterator<Item = (String, R)>, other: R) -> Self {
        let known = known.into_iter().map(|(key, role)| (key.into_bytes().into_boxed_slice(), role)).collect();
        Self { known, expected: Vec::new(), other, unknown: |_| None }
    }

    /// Asks a function for the role of every key that is not known.
    pub(super) fn with_unknown(self, unknown: fn(&[u8]) -> Option<R>) -> Self {
        Self { unknown, ..self }
    }

    pub(super) fn role_of(&self, key: &str) -> &R {
        self.known.get(key.as_bytes()).unwrap_or(&self.other)
    }

    /// `each` gets role and offset and returns the end. `None` for malformed objects, escapes in keys, or if it says so.
    #[inline]
    pub(super) fn read_object(
        &mut self,
        cursor: ScanCursor<'_>,
        start: usize,
        mut each: impl FnMut(&R, usize) -> Option<usize>,
    ) -> Option<usize> {
        if cursor.byte_at(start) != b'{' {
            return None;
        }
        let mut at = cursor.skip_blank(start.wrapping_add(1));
        if cursor.byte_at(at) == b'}' {
            return Some(at.wrapping_add(1));
        }
        let mut place = 0_usize;
        loop {
            if cursor.byte_at(at) != b'"' {
                return None;
            }
            at = at.wrapping_add(1);
            let value = match self.expected.get(place) {
                Some(expected) if expected.last.fits_at(cursor, at) => at.wrapping_add(expected.last.length),
                _ => self.turn_key(cursor, at, place)?,
            };
            let value = cursor.skip_blank(value);
            let role = self.expected.get(place).map_or(&self.other, |expected| &expected.last.role);
            at = cursor.skip_blank(each(role, value)?);
            place = place.wrapping_add(1);
            match cursor.byte_at(at) {
                b',' => at = cursor.skip_blank(at.wrapping_add(1)),
                b'}' => return Some(at.wrapping_add(1)),
                _ => return None,
            }
        }
    }

    /// Tries other keys seen at this position. Returns the offset behind the colon.
    #[inline]
    fn turn_key(&mut self, cursor: ScanCursor<'_>, at: usize, place: usize) -> Option<usize> {
        if let Some(KeyPosition { last, others }) = self.expected.get_mut(place)
            && let Some(other) = others.iter_mut().find(|other| other.fits_at(cursor, at))
        {
            std::mem::swap(last, other);
            return Some(at.wrapping_add(last.length));
        }
        self.expect_key(cursor, at, place)
    }

    /// Reads a new key and expects it from now on. Returns the offset behind the colon.
    #[inline(never)]
    fn expect_key(&mut self, cursor: ScanCursor<'_>, at: usize, place: usize) -> Option<usize> {
        let end = cursor.next_quote(at)?;
        if cursor.has_escape(at, end) {
            return None;
        }
        let key = cursor.slice(at, end);
        let colon = cursor.skip_blank(end.wrapping_add(1));
        if cursor.byte_at(colon) != b':' || place >= MOST {
            return None;
        }
        let role = self.known.get(key).cloned().or_else(|| (self.unknown)(key));
        let role = role.unwrap_or_else(|| self.other.clone());
        let expected = ExpectedKey::new(key, role);
        match self.expected.get_mut(place) {
            Some(known) => known.put_key(expected),
            None => self.expected.push(KeyPosition { last: expected, others: Vec::new() }),
        }
        Some(colon.wrapping_add(1))
    }
}

impl<R> KeyPosition<R> {
    fn put_key(&mut self, expected: ExpectedKey<R>) {
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
    fn fits_at(&self, cursor: ScanCursor<'_>, at: usize) -> bool {
        let Some(bytes) = cursor.sixteen_at(at) else { return false };
        u128::from_le_bytes(*bytes) & self.mask == self.start && (self.length <= 16 || self.fits_slowly(cursor, at))
    }

    #[inline(never)]
    fn fits_slowly(&self, cursor: ScanCursor<'_>, at: usize) -> bool {
        let end = at.wrapping_add(self.key.len());
        cursor.slice(at, end) == &*self.key && cursor.slice(end, end.wrapping_add(2)) == b"\":"
    }
}

/// `each` gets every element's offset and returns its end.
#[inline]
pub(super) fn read_list(
    cursor: ScanCursor<'_>,
    start: usize,
    mut each: impl FnMut(usize) -> Option<usize>,
) -> Option<usize> {
    if cursor.byte_at(start) != b'[' {
        return None;
    }
    let mut at = cursor.skip_blank(start.wrapping_add(1));
    if cursor.byte_at(at) == b']' {
        return Some(at.wrapping_add(1));
    }
    loop {
        at = cursor.skip_blank(each(at)?);
        match cursor.byte_at(at) {
            b',' => at = cursor.skip_blank(at.wrapping_add(1)),
            b']' => return Some(at.wrapping_add(1)),
            _ => return None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum TableKey<F> {
    /// A field of the table.
    Field(F),
    /// Objects with this key go to the full reader.
    Refused,
    /// Nothing under this key says what was done.
    Harmless,
    /// What may be a call under this key is for the full reader.
    Other,
}

/// The keys of a table, each with its row.
pub(super) fn keys_of<F: TableRow>() -> impl Iterator<Item = (String, F)> {
    F::ALL.iter().flat_map(|row| row.keys().iter().map(|key| ((*key).to_owned(), *row)))
}

impl<F: TableRow> KeyReader<TableKey<F>> {
    /// The keys of a table.
    pub(super) fn of_table() -> Self {
        Self::with_others([])
    }

    /// The keys of a table, and what others are.
    pub(super) fn with_others(others: impl IntoIterator<Item = (&'static str, TableKey<F>)>) -> Self {
        Self::new(
            keys_of::<F>()
                .map(|(key, field)| (key, TableKey::Field(field)))
                .chain(others.into_iter().map(|(key, role)| (key.to_owned(), role))),
            TableKey::Other,
        )
    }

    /// Fills `spans` and returns the end. `None` for the full reader, also on duplicate fields.
    #[inline]
    pub(super) fn read_spans(
        &mut self,
        cursor: ScanCursor<'_>,
        start: usize,
        spans: &mut FieldSpans<F>,
    ) -> Option<usize> {
        self.read_object(cursor, start, |row, at| {
            let end = cursor.value_end(at)?;
            match row {
                TableKey::Field(field) => {
                    spans.set_span(*field, (at, end), matches!(cursor.byte_at(at), b'{' | b'['))?;
                }
                TableKey::Refused => return None,
                TableKey::Other if may_hold_call(cursor.slice(at, end)) => return None,
                TableKey::Other | TableKey::Harmless => {}
            }
            Some(end)
        })
    }
}
