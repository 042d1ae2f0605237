//! Values: what a run is made of and what expressions compute.
//!
//! A value borrows from the bytes of the run (`'run`) or from the arena of its evaluation; every type here is `Copy`. Text is
//! unescaped only when somebody looks, numbers keep their text until they are compared. A [`Node`] is a value with the place in the
//! trace it came from: that place is the evidence of every report.

pub mod compare;
pub mod glob;
pub mod json;
pub mod likeness;
pub mod notation;
pub mod number;
pub mod text;
pub mod weight;

use crate::truth::Truth;
pub use number::Number;
pub use text::ValueText;

/// Where a value stands in the text of its run: a byte range, or nothing for a computed value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextOrigin {
    start: u32,
    end: u32,
}

impl TextOrigin {
    /// The origin of everything that was computed.
    pub const COMPUTED: Self = Self { start: u32::MAX, end: u32::MAX };

    /// A byte range of the run's text. Offsets beyond 4 GiB cannot occur: a run is limited in size.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        match (u32::try_from(start), u32::try_from(end)) {
            (Ok(start), Ok(end)) => Self { start, end },
            _ => Self::COMPUTED,
        }
    }

    /// The byte range, or `None` for a computed value.
    #[must_use]
    pub fn byte_range(self) -> Option<std::ops::Range<usize>> {
        let (start, end) = (self.start.min(self.end), self.start.max(self.end));
        (end != u32::MAX).then_some(start as usize..end as usize)
    }

    const MADE_OF_NOTHING: Self = Self { start: u32::MAX, end: 0 };

    /// The same place, marked as the end of a path that leads nowhere; tests of it count as decided by something missing.
    #[must_use]
    pub fn as_nowhere(self) -> Self {
        // The remark is that start and end have changed places; no value has an empty range.
        match self.leads_nowhere() {
            true => self,
            false if self == Self::COMPUTED => Self { start: u32::MAX, end: 1 },
            false => Self { start: self.end, end: self.start },
        }
    }

    /// True if a path from this place leads nowhere.
    #[must_use]
    pub fn leads_nowhere(self) -> bool {
        self.start > self.end
    }
}

/// A value with its place.
#[derive(Debug, Clone, Copy)]
pub struct Node<'run> {
    /// The value.
    pub value: Value<'run>,
    /// Where it stands in the run's text.
    pub origin: TextOrigin,
}

impl<'run> Node<'run> {
    /// A value from the run's text.
    #[must_use]
    pub fn new(value: Value<'run>, origin: TextOrigin) -> Self {
        Self { value, origin }
    }

    /// A value that was computed.
    #[must_use]
    pub fn computed(value: Value<'run>) -> Self {
        Self { value, origin: TextOrigin::COMPUTED }
    }

    /// A value computed from a path that leads nowhere.
    #[must_use]
    pub fn from_nowhere(value: Value<'run>) -> Self {
        Self { value, origin: TextOrigin::MADE_OF_NOTHING }
    }

    /// True if it was computed from a path that leads nowhere, but is not the end of that path itself.
    #[must_use]
    pub fn made_of_nothing(&self) -> bool {
        self.origin == TextOrigin::MADE_OF_NOTHING
    }

    /// Whether it comes from a path that leads nowhere.
    #[must_use]
    pub fn leads_nowhere(&self) -> bool {
        self.origin.leads_nowhere()
    }

    /// The value of a key. Only an object has keys; what is not recorded has none that is recorded.
    #[must_use]
    pub fn field(&self, key: &str) -> Self {
        match self.value {
            Value::Object(object) => object.get(key).unwrap_or(Self::computed(Value::Missing)),
            Value::Absent => *self,
            _ => Self::computed(Value::Missing),
        }
    }
}

/// A value.
#[derive(Debug, Clone, Copy)]
pub enum Value<'run> {
    /// A path that leads nowhere inside present evidence.
    Missing,
    /// The run does not record it.
    Absent,
    /// `null`.
    Null,
    /// A boolean of the run or of a literal.
    Boolean(bool),
    /// The outcome of a test; as a value it is a boolean, [`Value::Absent`] where undecided.
    Truth(Truth),
    /// A number.
    Number(Number<'run>),
    /// Text.
    Text(ValueText<'run>),
    /// A list.
    List(&'run [Node<'run>]),
    /// An object.
    Object(Object<'run>),
    /// `1..3`: either end may be open; both ends belong to it.
    Range(&'run ValueRange<'run>),
    /// A regular expression of the program, by number.
    Regex(u32),
}

/// The two ends of a range.
#[derive(Debug, Clone, Copy)]
pub struct ValueRange<'run> {
    /// The lower end, included.
    pub start: Option<Number<'run>>,
    /// The upper end, included.
    pub end: Option<Number<'run>>,
}

/// One entry of an object.
#[derive(Debug, Clone, Copy)]
pub struct ObjectEntry<'run> {
    /// The key, unescaped.
    pub key: &'run str,
    /// The value.
    pub node: Node<'run>,
}

impl<'run> ObjectEntry<'run> {
    /// An entry with a computed value.
    #[must_use]
    pub fn computed(key: &'run str, value: Value<'run>) -> Self {
        Self { key, node: Node::computed(value) }
    }
}

/// An object: entries in the order of the text, each key once (of duplicates the last counts).
#[derive(Debug, Clone, Copy)]
pub struct Object<'run> {
    entries: &'run [ObjectEntry<'run>],
    /// Positions sorted by key, for large objects; doubly indirect because few objects need them.
    sorted: Option<&'run &'run [u32]>,
}

impl<'run> Object<'run> {
    /// Objects with more entries than this get an index.
    pub const INDEXED_ABOVE: usize = 24;

    /// An object from entries whose keys are distinct.
    #[must_use]
    pub fn new(arena: &'run bumpalo::Bump, entries: &'run [ObjectEntry<'run>]) -> Self {
        let sorted = (entries.len() > Self::INDEXED_ABOVE).then(|| {
            let order =
                arena.alloc_slice_fill_iter((0..entries.len()).map(|index| u32::try_from(index).unwrap_or(u32::MAX)));
            order.sort_unstable_by_key(|&index| entries.get(index as usize).map_or("", |entry| entry.key));
            &*arena.alloc(&*order)
        });
        Self { entries, sorted }
    }

    /// An object without entries.
    pub const EMPTY: Self = Self { entries: &[], sorted: None };

    /// The entries, in order.
    #[must_use]
    pub fn entries(&self) -> &'run [ObjectEntry<'run>] {
        self.entries
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Node<'run>> {
        self.entry(key).map(|entry| entry.node)
    }

    /// The entry of a key.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&'run ObjectEntry<'run>> {
        match self.sorted {
            None => self.entries.iter().find(|entry| entry.key == key),
            Some(order) => {
                let key_of = |index: u32| self.entries.get(index as usize).map_or("", |entry| entry.key);
                let at = order.binary_search_by(|&index| key_of(index).cmp(key)).ok()?;
                self.entries.get(*order.get(at)? as usize)
            }
        }
    }
}

impl<'run> Value<'run> {
    /// Whether the run does not record the value.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        match self {
            Self::Absent => true,
            Self::Truth(truth) => truth.plain_answer().is_none(),
            _ => false,
        }
    }

    /// A text that stands as it is, without escapes.
    #[must_use]
    pub fn plain_text(text: &'run str) -> Self {
        Self::Text(ValueText::Plain(text))
    }

    /// The name of its type in the language: `string`, `number`, `boolean`, `list`, `object`, `null`, ….
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Absent => "not recorded",
            Self::Null => "null",
            Self::Boolean(_) | Self::Truth(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::List(_) => "list",
            Self::Object(_) => "object",
            Self::Range(_) => "range",
            Self::Regex(_) => "regular expression",
        }
    }
}
