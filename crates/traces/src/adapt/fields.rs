//! Tables of keys. A format says once, in a table, which keys its objects have. Whoever reads the format asks by the rows of the table: the
//! full reader in a parsed object, a projection in what it recognised in the bytes.
//!
//! What follows from the fields is written once for both, over a [`Record`] (an object of a table, wherever its values are) and
//! [`Shapes`] (what kind a value is, told without reading it).

use crate::scan::Cursor;
use averment_base::value::{Node, Object, Value};

/// A row of a table of keys.
pub(crate) trait TableRow: Copy + std::fmt::Debug + 'static {
    /// All rows.
    const ALL: &'static [Self];
    /// A place for each row.
    type Places: Copy + std::fmt::Debug + AsRef<[OptionalSpan]> + AsMut<[OptionalSpan]>;
    /// The places of an object in which nothing was found.
    const NOWHERE: Self::Places;
    /// The keys under which it is written. Of several, the first that is there counts.
    fn keys(self) -> &'static [&'static str];
    /// Its number among the rows.
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

/// An object with the fields of a table.
pub(crate) trait Record<F: TableRow> {
    /// A value of it, as far as it is read.
    type Value: Copy;

    /// The value of a field.
    fn field(&self, field: F) -> Option<Self::Value>;
}

impl<'run, F: TableRow> Record<F> for Object<'run> {
    type Value = Node<'run>;

    fn field(&self, field: F) -> Option<Node<'run>> {
        value_of(*self, field).or_else(|| field.keys().iter().find_map(|key| self.get(key)))
    }
}

/// The value of an object under the first key of a row that is there and not `null`.
pub(crate) fn value_of<'run>(object: Object<'run>, row: impl TableRow) -> Option<Node<'run>> {
    row.keys().iter().find_map(|key| object.get(key).filter(|node| !matches!(node.value, Value::Null)))
}

/// Where a value stands in the bytes of a chunk.
pub(crate) type Span = (usize, usize);

/// Room for a [`Span`]. No value ends at offset 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OptionalSpan {
    start: usize,
    end: usize,
}

impl OptionalSpan {
    /// Room that is empty.
    pub(crate) const NOWHERE: Self = Self { start: 0, end: 0 };
}

/// The places of the fields of an object in the bytes of a chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spans<F: TableRow> {
    places: F::Places,
}

impl<F: TableRow> Default for Spans<F> {
    #[inline]
    fn default() -> Self {
        Self { places: F::NOWHERE }
    }
}

impl<F: TableRow> Spans<F> {
    /// Notes where the value of a field stands.
    #[inline]
    pub(crate) fn set(&mut self, field: F, (start, end): Span) {
        if let Some(place) = self.places.as_mut().get_mut(field.number()) {
            *place = OptionalSpan { start, end };
        }
    }
}

impl<F: TableRow> Record<F> for Spans<F> {
    type Value = Span;

    #[inline]
    fn field(&self, field: F) -> Option<Span> {
        self.places.as_ref().get(field.number()).filter(|place| place.end != 0).map(|place| (place.start, place.end))
    }
}

/// What kind a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Null,
    True,
    False,
    Number,
    /// Text without a character.
    Empty,
    /// Text with at least one.
    Text,
    List,
    Object,
}

/// Tells what kind values are.
pub(crate) trait Shapes<V: Copy> {
    /// What kind a value is; `None` where it is none of these.
    fn shape(&self, value: V) -> Option<Shape>;

    #[inline]
    fn is(&self, value: V, shape: Shape) -> bool {
        self.shape(value) == Some(shape)
    }

    #[inline]
    fn is_text(&self, value: V) -> bool {
        matches!(self.shape(value), Some(Shape::Text | Shape::Empty))
    }
}

/// Values of a parsed document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parsed;

impl Shapes<Node<'_>> for Parsed {
    fn shape(&self, value: Node<'_>) -> Option<Shape> {
        match value.value {
            Value::Null => Some(Shape::Null),
            Value::Boolean(true) => Some(Shape::True),
            Value::Boolean(false) => Some(Shape::False),
            Value::Number(_) => Some(Shape::Number),
            Value::Text(text) if text.is_empty() => Some(Shape::Empty),
            Value::Text(_) => Some(Shape::Text),
            Value::List(_) => Some(Shape::List),
            Value::Object(_) => Some(Shape::Object),
            _ => None,
        }
    }
}

impl Shapes<Span> for Cursor<'_> {
    #[inline]
    fn shape(&self, (start, end): Span) -> Option<Shape> {
        match self.byte(start) {
            b'"' if end.wrapping_sub(start) == 2 => Some(Shape::Empty),
            b'"' => Some(Shape::Text),
            b'{' => Some(Shape::Object),
            b'[' => Some(Shape::List),
            b'-' | b'0'..=b'9' => Some(Shape::Number),
            b'n' if self.slice(start, end) == b"null" => Some(Shape::Null),
            b't' if self.slice(start, end) == b"true" => Some(Shape::True),
            b'f' if self.slice(start, end) == b"false" => Some(Shape::False),
            _ => None,
        }
    }
}

/// The first of several fields that is there and not `null`.
#[inline]
pub(crate) fn first<F: TableRow, R: Record<F>>(
    record: &R,
    shapes: &impl Shapes<R::Value>,
    fields: &[F],
) -> Option<R::Value> {
    fields.iter().find_map(|field| record.field(*field).filter(|value| !shapes.is(*value, Shape::Null)))
}

/// Whether a field is `true`.
#[inline]
pub(crate) fn is_true<F: TableRow, R: Record<F>>(record: &R, shapes: &impl Shapes<R::Value>, field: F) -> bool {
    record.field(field).is_some_and(|value| shapes.is(value, Shape::True))
}
