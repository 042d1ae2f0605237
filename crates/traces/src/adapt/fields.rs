//! Tables of keys. A format says once, in a table, which keys its objects have. Whoever reads the format asks by the rows of the table: the
//! full reader in a parsed object, a projection in what it recognised in the bytes.
//!
//! What follows from the fields is written once for both, over a [`FieldRecord`] (an object of a table, wherever its values are) and
//! [`ShapeReader`] (what kind a value is, told without reading it).

use crate::scan::{BitPositions, ScanCursor};
use averment_base::value::{Node, Object, Value};

/// A row of a table of keys.
pub(crate) trait TableRow: Copy + std::fmt::Debug + 'static {
    const ALL: &'static [Self];
    type Places: Copy + std::fmt::Debug + AsRef<[OptionalSpan]> + AsMut<[OptionalSpan]>;
    const NOWHERE: Self::Places;
    /// The keys under which it is written. Of several, the first that is there counts.
    fn keys(self) -> &'static [&'static str];
    fn number(self) -> usize;

    /// Its rank among the keys of the row: the smaller one counts.
    fn rank(self, key: &str) -> u8 {
        self.keys().iter().zip(0_u8..).find(|(known, _)| **known == key).map_or(u8::MAX, |(_, rank)| rank)
    }
}

/// Makes a table of keys: for each row its name here, and the keys under which the format writes it. The words by which a format tells
/// kinds of things apart are such a table, too.
macro_rules! key_table {
    ($(#[$about:meta])* $table:ident { $($(#[$note:meta])* $row:ident = $($key:literal)|+,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum $table {
            $($(#[$note])* $(#[doc = concat!("`", $key, "` ")])+ $row,)+
        }

        #[allow(dead_code, reason = "not every table needs all of them")]
        impl $table {
            /// The keys under which it is written.
            pub(crate) const fn keys(self) -> &'static [&'static str] {
                match self {
                    $(Self::$row => &[$($key),+],)+
                }
            }

            /// The first of its keys.
            pub(crate) const fn key(self) -> &'static str {
                match self.keys() {
                    [first, ..] => first,
                    [] => "",
                }
            }

            /// The last of its keys, such as that of older versions.
            pub(crate) const fn last_key(self) -> &'static str {
                match self.keys() {
                    [.., last] => last,
                    [] => "",
                }
            }

            /// The row of a key.
            pub(crate) fn from_key(key: &str) -> Option<Self> {
                match key {
                    $($($key)|+ => Some(Self::$row),)+
                    _ => None,
                }
            }
        }

        impl $crate::adapt::fields::TableRow for $table {
            const ALL: &'static [Self] = &[$(Self::$row),+];
            type Places = [$crate::adapt::fields::OptionalSpan; [$(stringify!($row)),+].len()];
            const NOWHERE: Self::Places = [$crate::adapt::fields::OptionalSpan::NOWHERE; [$(stringify!($row)),+].len()];

            fn keys(self) -> &'static [&'static str] {
                Self::keys(self)
            }

            fn number(self) -> usize {
                self as usize
            }
        }
    };
}
pub(crate) use key_table;

pub(crate) trait FieldRecord<F: TableRow> {
    /// A value, as far as it is read.
    type FieldValue: Copy;

    fn field(&self, field: F) -> Option<Self::FieldValue>;
}

impl<'run, F: TableRow> FieldRecord<F> for Object<'run> {
    type FieldValue = Node<'run>;

    fn field(&self, field: F) -> Option<Node<'run>> {
        value_of(*self, field).or_else(|| field.keys().iter().find_map(|key| self.get(key)))
    }
}

/// The value of an object under the first key of a row that is there and not `null`.
pub(crate) fn value_of<'run>(object: Object<'run>, row: impl TableRow) -> Option<Node<'run>> {
    row.keys().iter().find_map(|key| object.get(key).filter(|node| !matches!(node.value, Value::Null)))
}

/// Byte range of a value in a chunk.
pub(crate) type ByteSpan = (usize, usize);

/// An optional [`ByteSpan`]; no value ends at offset 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OptionalSpan {
    start: u32,
    end: u32,
}

impl OptionalSpan {
    pub(crate) const NOWHERE: Self = Self { start: 0, end: 0 };
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldSpans<F: TableRow> {
    places: F::Places,
    /// A bit for each field that holds an object or a list, by its number.
    containers: u64,
    /// A bit for each field that is set.
    present: u64,
}

impl<F: TableRow> Default for FieldSpans<F> {
    #[inline]
    fn default() -> Self {
        Self { places: F::NOWHERE, containers: 0, present: 0 }
    }
}

impl<F: TableRow> FieldSpans<F> {
    const FITS: () = assert!(F::ALL.len() <= 64, "each field has a bit of a mask");

    /// `None` where the field is set already, and behind 4 GiB.
    #[inline]
    pub(crate) fn set_span(&mut self, field: F, (start, end): ByteSpan, is_container: bool) -> Option<()> {
        let (start, end) = (u32::try_from(start).ok()?, u32::try_from(end).ok()?);
        let place = self.places.as_mut().get_mut(field.number()).filter(|place| place.end == 0)?;
        *place = OptionalSpan { start, end };
        let bit = Self::bit_of(field);
        self.present |= bit;
        self.containers |= if is_container { bit } else { 0 };
        Some(())
    }

    /// Whether one of these fields is set.
    #[inline]
    pub(crate) fn has_any(&self, fields: &[F]) -> bool {
        self.present & fields.iter().fold(0, |bits, field| bits | Self::bit_of(*field)) != 0
    }

    /// The objects and lists in all fields but these.
    #[inline]
    pub(crate) fn containers_beside(&self, read: &[F]) -> impl Iterator<Item = ByteSpan> {
        let left = read.iter().fold(self.containers, |left, field| left & !Self::bit_of(*field));
        BitPositions(left).filter_map(|number| self.span_at(number))
    }

    #[inline]
    fn bit_of(field: F) -> u64 {
        let () = Self::FITS;
        1 << field.number()
    }

    #[inline]
    fn span_at(&self, number: usize) -> Option<ByteSpan> {
        let place = self.places.as_ref().get(number).filter(|place| place.end != 0)?;
        Some((place.start as usize, place.end as usize))
    }
}

impl<F: TableRow> FieldRecord<F> for FieldSpans<F> {
    type FieldValue = ByteSpan;

    #[inline]
    fn field(&self, field: F) -> Option<ByteSpan> {
        self.span_at(field.number())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueShape {
    Null,
    True,
    False,
    Number,
    Empty,
    Text,
    List,
    Object,
}

pub(crate) trait ShapeReader<V: Copy> {
    fn value_shape(&self, value: V) -> Option<ValueShape>;

    #[inline]
    fn has_shape(&self, value: V, shape: ValueShape) -> bool {
        self.value_shape(value) == Some(shape)
    }

    #[inline]
    fn is_text(&self, value: V) -> bool {
        matches!(self.value_shape(value), Some(ValueShape::Text | ValueShape::Empty))
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeShapes;

impl ShapeReader<Node<'_>> for NodeShapes {
    fn value_shape(&self, value: Node<'_>) -> Option<ValueShape> {
        match value.value {
            Value::Null => Some(ValueShape::Null),
            Value::Boolean(true) => Some(ValueShape::True),
            Value::Boolean(false) => Some(ValueShape::False),
            Value::Number(_) => Some(ValueShape::Number),
            Value::Text(text) if text.is_empty() => Some(ValueShape::Empty),
            Value::Text(_) => Some(ValueShape::Text),
            Value::List(_) => Some(ValueShape::List),
            Value::Object(_) => Some(ValueShape::Object),
            _ => None,
        }
    }
}

impl ShapeReader<ByteSpan> for ScanCursor<'_> {
    #[inline]
    fn value_shape(&self, (start, end): ByteSpan) -> Option<ValueShape> {
        match self.byte_at(start) {
            b'"' if end.wrapping_sub(start) == 2 => Some(ValueShape::Empty),
            b'"' => Some(ValueShape::Text),
            b'{' => Some(ValueShape::Object),
            b'[' => Some(ValueShape::List),
            b'-' | b'0'..=b'9' => Some(ValueShape::Number),
            b'n' if self.slice(start, end) == b"null" => Some(ValueShape::Null),
            b't' if self.slice(start, end) == b"true" => Some(ValueShape::True),
            b'f' if self.slice(start, end) == b"false" => Some(ValueShape::False),
            _ => None,
        }
    }
}

/// The first that is present and not `null`.
#[inline]
pub(crate) fn first_field<F: TableRow, R: FieldRecord<F>>(
    record: &R,
    shapes: &impl ShapeReader<R::FieldValue>,
    fields: &[F],
) -> Option<R::FieldValue> {
    fields.iter().find_map(|field| record.field(*field).filter(|value| !shapes.has_shape(*value, ValueShape::Null)))
}

#[inline]
pub(crate) fn is_true<F: TableRow, R: FieldRecord<F>>(
    record: &R,
    shapes: &impl ShapeReader<R::FieldValue>,
    field: F,
) -> bool {
    record.field(field).is_some_and(|value| shapes.has_shape(value, ValueShape::True))
}
