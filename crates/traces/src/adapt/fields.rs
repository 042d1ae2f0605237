//! Tables of fields. A format says once, in a table, which keys its objects have and what each becomes in the normal form. Whoever reads
//! the format asks by the rows of the table: the full reader in a parsed object, a projection in what it recognised in the bytes.
//!
//! What follows from the fields is written once for both, over a [`Record`] (an object of a table, wherever its values are) and
//! [`Shapes`] (what kind a value is, told without reading it).

use crate::scan::Cursor;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{Expected, expected, of_run};
use averment_runs::run::Kind;

/// What the value of a field becomes. A projection looks at what it may hold, and at what decides about that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Becomes {
    /// It tells what an object is, or holds other objects.
    Shape,
    /// This field of a call.
    Call(&'static str),
    /// This entry of the run, as it stands.
    Run(&'static str),
    /// A part of this entry of the run, which is put together from several values: only the full reader does that.
    PartOf(&'static str),
    /// Something in a step of this kind, which no projection holds.
    Step(Kind),
    /// The same, but of another type it is an error, so that projections have to look.
    Checked(Kind),
    /// It tells what the lines of a file or the elements of a list are; of a line alone that is known without it.
    Format,
}

impl Becomes {
    /// Whether a projection looks at it.
    pub(crate) fn is_projected(self) -> bool {
        match self {
            Self::Shape | Self::Call(_) | Self::Checked(_) => true,
            Self::Run(entry) => !is_composed(entry) || expected(entry) != Expected::Any,
            Self::PartOf(_) | Self::Step(_) | Self::Format => false,
        }
    }
}

/// The entries of a run that only the full reader can give: they are put together from several parts.
#[must_use]
pub(crate) fn is_composed(entry: &str) -> bool {
    matches!(entry, of_run::TURNS | of_run::USAGE | of_run::COST | of_run::STEPS | of_run::PROMPT | of_run::COMPLETE)
        || Kind::ALL.iter().any(|kind| kind.list_key() == entry)
}

/// A row of a table: one field that the objects of a format may have.
pub(crate) trait Row: Copy + std::fmt::Debug + 'static {
    /// All rows.
    const ALL: &'static [Self];
    /// A place for each row.
    type Places: Copy + std::fmt::Debug + AsRef<[OptionalSpan]> + AsMut<[OptionalSpan]>;
    /// The places of an object in which nothing was found.
    const NOWHERE: Self::Places;
    /// The key that it stands under.
    fn key(self) -> &'static str;
    /// What it becomes.
    fn becomes(self) -> Becomes;
    /// Its number among the rows.
    fn number(self) -> usize;
}

/// Makes a table of fields: for each its name here, its key, and what it becomes.
macro_rules! fields {
    ($(#[$about:meta])* $table:ident { $($(#[$note:meta])* $field:ident = $key:literal => $becomes:expr,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $table {
            $($(#[$note])* #[doc = concat!("`", $key, "`")] $field,)+
        }

        impl $table {
            /// The key that it stands under.
            pub(crate) const fn key(self) -> &'static str {
                match self {
                    $(Self::$field => $key,)+
                }
            }
        }

        impl $crate::adapt::fields::Row for $table {
            const ALL: &'static [Self] = &[$(Self::$field,)+];
            type Places = [$crate::adapt::fields::OptionalSpan; [$($key),+].len()];
            const NOWHERE: Self::Places = [$crate::adapt::fields::OptionalSpan::NOWHERE; [$($key),+].len()];

            fn key(self) -> &'static str {
                Self::key(self)
            }

            fn becomes(self) -> $crate::adapt::fields::Becomes {
                #[allow(unused_imports, reason = "not every table needs all of them")]
                use $crate::adapt::fields::Becomes::{Call, Checked, Format, PartOf, Run, Shape, Step};
                match self {
                    $(Self::$field => $becomes,)+
                }
            }

            fn number(self) -> usize {
                self as usize
            }
        }
    };
}
pub(crate) use fields;

/// Makes a table of the words by which a format tells kinds of things apart.
macro_rules! words {
    ($(#[$about:meta])* $table:ident { $($(#[$note:meta])* $word:ident = $($text:literal)|+,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $table {
            $($(#[$note])* #[doc = concat!($("`", $text, "` "),+)] $word,)+
        }

        impl $table {
            /// What a word stands for; `None` for one that is not in the table.
            pub(crate) fn of(word: &str) -> Option<Self> {
                match word {
                    $($($text)|+ => Some(Self::$word),)+
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use words;

/// An object with the fields of a table.
pub(crate) trait Record<F: Row> {
    /// A value of it, as far as it is read.
    type Value: Copy;

    /// The value of a field.
    fn field(&self, field: F) -> Option<Self::Value>;
}

impl<'run, F: Row> Record<F> for Object<'run> {
    type Value = Node<'run>;

    fn field(&self, field: F) -> Option<Node<'run>> {
        self.get(field.key())
    }
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
pub(crate) struct Spans<F: Row> {
    places: F::Places,
}

impl<F: Row> Default for Spans<F> {
    #[inline]
    fn default() -> Self {
        Self { places: F::NOWHERE }
    }
}

impl<F: Row> Spans<F> {
    /// Notes where the value of a field stands.
    #[inline]
    pub(crate) fn set(&mut self, field: F, (start, end): Span) {
        if let Some(place) = self.places.as_mut().get_mut(field.number()) {
            *place = OptionalSpan { start, end };
        }
    }
}

impl<F: Row> Record<F> for Spans<F> {
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
pub(crate) fn first<F: Row, R: Record<F>>(
    record: &R,
    shapes: &impl Shapes<R::Value>,
    fields: &[F],
) -> Option<R::Value> {
    fields.iter().find_map(|field| record.field(*field).filter(|value| !shapes.is(*value, Shape::Null)))
}

/// Whether a field is `true`.
#[inline]
pub(crate) fn is_true<F: Row, R: Record<F>>(record: &R, shapes: &impl Shapes<R::Value>, field: F) -> bool {
    record.field(field).is_some_and(|value| shapes.is(value, Shape::True))
}
