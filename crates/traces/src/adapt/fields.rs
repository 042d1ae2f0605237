//! Tables of fields. A format says once, in a table, which keys its objects have and what each becomes in the normal form. Whoever reads
//! the format asks by the rows of the table: the full reader in a parsed object, a projection in what it recognised in the bytes.
//!
//! What follows from the fields is written once for both, over a [`FieldRecord`] (an object of a table, wherever its values are) and
//! [`ShapeReader`] (what kind a value is, told without reading it).

use crate::scan::ScanCursor;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{EntryType, entry_type, of_run};
use averment_runs::run::StepKind;

/// The target of a field. Projections read what may hold data or decides about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldTarget {
    /// Tells the kind of an object, or holds other objects.
    Shape,
    Call(&'static str),
    /// This entry of the run, as it stands.
    Run(&'static str),
    /// One part of a composed entry, which only the full reader builds.
    PartOf(&'static str),
    /// Part of a step of this kind, which no projection holds.
    Step(StepKind),
    /// Like `Step`, but a wrong type is an error, so projections must check it.
    Checked(StepKind),
    /// Tells the format of a file or list; a single line is known without it.
    Format,
}

impl FieldTarget {
    pub(crate) fn is_projected(self) -> bool {
        match self {
            Self::Shape | Self::Call(_) | Self::Checked(_) => true,
            Self::Run(entry) => !is_composed(entry) || entry_type(entry) != EntryType::Any,
            Self::PartOf(_) | Self::Step(_) | Self::Format => false,
        }
    }
}

/// Entries composed of several parts, which only the full reader builds.
#[must_use]
pub(crate) fn is_composed(entry: &str) -> bool {
    matches!(entry, of_run::TURNS | of_run::USAGE | of_run::COST | of_run::STEPS | of_run::PROMPT | of_run::COMPLETE)
        || StepKind::ALL.iter().any(|kind| kind.list_key() == entry)
}

/// A row of a table: a field that a format's objects may have.
pub(crate) trait FieldRow: Copy + std::fmt::Debug + 'static {
    const ALL: &'static [Self];
    type FieldPlaces: Copy + std::fmt::Debug + AsRef<[OptionalSpan]> + AsMut<[OptionalSpan]>;
    const NOWHERE: Self::FieldPlaces;
    fn key(self) -> &'static str;
    fn field_target(self) -> FieldTarget;
    fn row_number(self) -> usize;
}

/// Makes a table of fields: variant, key, target.
macro_rules! fields {
    ($(#[$about:meta])* $table:ident { $($(#[$note:meta])* $field:ident = $key:literal => $becomes:expr,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $table {
            $($(#[$note])* #[doc = concat!("`", $key, "`")] $field,)+
        }

        impl $table {
            pub(crate) const fn key(self) -> &'static str {
                match self {
                    $(Self::$field => $key,)+
                }
            }
        }

        impl $crate::adapt::fields::FieldRow for $table {
            const ALL: &'static [Self] = &[$(Self::$field,)+];
            type FieldPlaces = [$crate::adapt::fields::OptionalSpan; [$($key),+].len()];
            const NOWHERE: Self::FieldPlaces = [$crate::adapt::fields::OptionalSpan::NOWHERE; [$($key),+].len()];

            fn key(self) -> &'static str {
                Self::key(self)
            }

            fn field_target(self) -> $crate::adapt::fields::FieldTarget {
                #[allow(unused_imports, reason = "not every table needs all of them")]
                use $crate::adapt::fields::FieldTarget::{Call, Checked, Format, PartOf, Run, Shape, Step};
                match self {
                    $(Self::$field => $becomes,)+
                }
            }

            fn row_number(self) -> usize {
                self as usize
            }
        }
    };
}
pub(crate) use fields;

/// Makes a table of the words of a format.
macro_rules! words {
    ($(#[$about:meta])* $table:ident { $($(#[$note:meta])* $word:ident = $($text:literal)|+,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $table {
            $($(#[$note])* #[doc = concat!($("`", $text, "` "),+)] $word,)+
        }

        impl $table {
            pub(crate) fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($($text)|+ => Some(Self::$word),)+
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use words;

pub(crate) trait FieldRecord<F: FieldRow> {
    /// A value, as far as it is read.
    type FieldValue: Copy;

    fn field(&self, field: F) -> Option<Self::FieldValue>;
}

impl<'run, F: FieldRow> FieldRecord<F> for Object<'run> {
    type FieldValue = Node<'run>;

    fn field(&self, field: F) -> Option<Node<'run>> {
        self.get(field.key())
    }
}

/// Byte range of a value in a chunk.
pub(crate) type ByteSpan = (usize, usize);

/// An optional [`Span`]; no value ends at offset 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OptionalSpan {
    start: usize,
    end: usize,
}

impl OptionalSpan {
    pub(crate) const NOWHERE: Self = Self { start: 0, end: 0 };
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldSpans<F: FieldRow> {
    places: F::FieldPlaces,
}

impl<F: FieldRow> Default for FieldSpans<F> {
    #[inline]
    fn default() -> Self {
        Self { places: F::NOWHERE }
    }
}

impl<F: FieldRow> FieldSpans<F> {
    #[inline]
    pub(crate) fn set_span(&mut self, field: F, (start, end): ByteSpan) {
        if let Some(place) = self.places.as_mut().get_mut(field.row_number()) {
            *place = OptionalSpan { start, end };
        }
    }
}

impl<F: FieldRow> FieldRecord<F> for FieldSpans<F> {
    type FieldValue = ByteSpan;

    #[inline]
    fn field(&self, field: F) -> Option<ByteSpan> {
        self.places
            .as_ref()
            .get(field.row_number())
            .filter(|place| place.end != 0)
            .map(|place| (place.start, place.end))
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
pub(crate) fn first_field<F: FieldRow, R: FieldRecord<F>>(
    record: &R,
    shapes: &impl ShapeReader<R::FieldValue>,
    fields: &[F],
) -> Option<R::FieldValue> {
    fields.iter().find_map(|field| record.field(*field).filter(|value| !shapes.has_shape(*value, ValueShape::Null)))
}

#[inline]
pub(crate) fn is_true<F: FieldRow, R: FieldRecord<F>>(
    record: &R,
    shapes: &impl ShapeReader<R::FieldValue>,
    field: F,
) -> bool {
    record.field(field).is_some_and(|value| shapes.has_shape(value, ValueShape::True))
}
