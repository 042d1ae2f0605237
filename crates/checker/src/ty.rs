//! What the checker knows of a value before any run: the types of section 3 of the reference, and beside them lists of something, steps, points
//! in time and values that a JSON Schema describes. Types are gradual: of [`Ty::Any`] nothing is known and nothing is said.

use super::described_values::DescribedValue;
use super::word_set::WordSet;
use crate::ir::Type;
use averment_runs::run::StepKind;

/// A type as the checker sees it. [`Ty::to_ir_type`] gives what is kept of it.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "most are the word itself")]
pub enum Ty {
    Any,
    Null,
    Boolean,
    String,
    /// A text of a closed set.
    Word(WordSet),
    /// A text of a closed set, or something that is no text.
    WordOrOther(WordSet),
    Number,
    Integer,
    /// A count of steps, elements, words or turns; unitless.
    Count,
    /// Derived from counts and possibly fractional, or a number of tokens; unitless.
    Share,
    /// A point in time: milliseconds, or RFC 3339 text.
    Instant,
    Duration,
    Money,
    Size,
    Regex,
    Range,
    Object,
    /// An object by its place, such as the arguments of a call. A run may still hold something else there, so no instruction relies on it.
    KeyedPlace,
    List(Box<Ty>),
    Step(StepShape),
    /// `usage`: numbers under these names.
    Usage,
    Described(DescribedValue),
}

/// The known shape of a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepShape {
    /// The kinds it may have; at least one.
    pub kinds: Vec<StepKind>,
    /// The arguments, where all tools it may be are declared.
    pub arguments: Option<DescribedValue>,
    /// The kind word that it was written with, for messages.
    pub word: Option<&'static str>,
}

impl StepShape {
    /// A step of one kind of which nothing else is known.
    pub fn of_kind(kind: StepKind) -> Self {
        Self { kinds: vec![kind], ..Self::default() }
    }

    /// Any step.
    pub fn any_step() -> Self {
        Self { kinds: StepKind::ALL.to_vec(), ..Self::default() }
    }

    /// True when some kind of it has this field.
    pub fn has_field(&self, field: &str) -> bool {
        self.kinds.iter().any(|kind| kind.field_names().contains(&field))
    }

    /// All fields of its kinds, each once.
    pub fn all_fields(&self) -> Vec<&'static str> {
        let mut fields = Vec::new();
        for &field in self.kinds.iter().flat_map(|kind| kind.field_names()) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// The type of a field; [`Ty::Any`] for one that is not listed.
    pub fn field_type(&self, name: &str) -> Ty {
        match name {
            "args" if self.kinds == [StepKind::Call] => self.arguments.clone().map_or(Ty::KeyedPlace, Ty::Described),
            "args" | "flags" if self.kinds == [StepKind::Command] => Ty::List(Box::new(Ty::String)),
            "status" if self.kinds == [StepKind::Http] => Ty::Integer,
            // The status of a request is a number, that of a span may be an object.
            "status" if self.kinds.iter().any(|kind| matches!(kind, StepKind::Http | StepKind::Span)) => {
                Ty::WordOrOther(WordSet::Status)
            }
            "path" if self.kinds.iter().all(|kind| matches!(kind, StepKind::Read | StepKind::Write)) => {
                Ty::Word(WordSet::Path)
            }
            "tool" | "text" | "command" | "program" | "path" | "name" | "method" | "url" | "to" => Ty::String,
            "status" => Ty::Word(WordSet::Status),
            "kind" => Ty::Word(WordSet::Kind),
            "role" => Ty::Word(WordSet::Role),
            "start" | "end" => Ty::Instant,
            "duration" => Ty::Duration,
            "turn" | "index" | "depth" | "exit_code" => Ty::Count,
            "ok" => Ty::Boolean,
            _ => Ty::Any,
        }
    }
}

/// The names of `usage`.
pub const USAGE: [&str; 5] = ["input_tokens", "output_tokens", "reasoning_tokens", "cache_read_tokens", "total_tokens"];

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberMeasure {
    Plain,
    Instant,
    /// Milliseconds.
    Duration,
    /// USD.
    Money,
    Size,
}

impl NumberMeasure {
    /// For messages: `a duration`.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Plain => "a number",
            Self::Instant => "a point in time",
            Self::Duration => "a duration",
            Self::Money => "money",
            Self::Size => "a size",
        }
    }

    /// An example of how to write one.
    pub fn example_literal(self) -> &'static str {
        match self {
            Self::Plain => "5",
            Self::Instant => "run.start",
            Self::Duration => "5s",
            Self::Money => "$0.05",
            Self::Size => "10KB",
        }
    }
}

/// Types that can be equal or compared belong to one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum ComparisonClass {
    Null,
    Boolean,
    Text,
    Number,
    List,
    Object,
    Range,
    Regex,
}

impl ComparisonClass {
    /// For messages: `text`, `a number`.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Text => "text",
            Self::Number => "a number",
            Self::List => "a list",
            Self::Object => "an object",
            Self::Range => "a range",
            Self::Regex => "a regular expression",
        }
    }
}

impl Ty {
    /// Whether its numbers have a unit.
    pub fn has_unit(&self) -> bool {
        matches!(self, Self::Duration | Self::Money | Self::Size)
    }

    /// The type in the intermediate form.
    pub fn to_ir_type(&self) -> Type {
        match self {
            Self::Any | Self::Instant | Self::WordOrOther(_) | Self::KeyedPlace => Type::Any,
            Self::Null => Type::Null,
            Self::Boolean => Type::Boolean,
            Self::String | Self::Word(_) => Type::String,
            Self::Number | Self::Share => Type::Number,
            Self::Integer | Self::Count => Type::Integer,
            Self::Duration => Type::Duration,
            Self::Money => Type::Money,
            Self::Size => Type::Size,
            Self::Regex => Type::Regex,
            Self::Range => Type::Range,
            Self::Object | Self::Step(_) | Self::Usage => Type::Object,
            Self::List(_) => Type::List,
            // A schema speaks of what should come, not of what a trace holds.
            Self::Described(_) => Type::Any,
        }
    }

    /// The type of a declared or tabled type; lists hold anything.
    pub fn from_ir(ty: Type) -> Self {
        match ty {
            Type::Any => Self::Any,
            Type::String => Self::String,
            Type::Number => Self::Number,
            Type::Integer => Self::Integer,
            Type::Boolean => Self::Boolean,
            Type::Duration => Self::Duration,
            Type::Money => Self::Money,
            Type::Size => Self::Size,
            Type::List => Self::list_of(Self::Any),
            Type::Object => Self::Object,
            Type::Null => Self::Null,
            Type::Range => Self::Range,
            Type::Regex => Self::Regex,
        }
    }

    /// A list of something.
    pub fn list_of(element: Ty) -> Self {
        Self::List(Box::new(element))
    }

    /// A list of steps of one kind.
    pub fn steps_of(shape: StepShape) -> Self {
        Self::list_of(Self::Step(shape))
    }

    /// Replaces a schema by the type that it names.
    pub fn without_schema(&self) -> Self {
        match self {
            Self::Described(described) => described.schema_type(),
            other => other.clone(),
        }
    }

    /// The closed set that its texts are of.
    pub fn word_set(&self) -> Option<WordSet> {
        match self {
            Self::Word(set) | Self::WordOrOther(set) => Some(*set),
            _ => None,
        }
    }

    /// The class for comparisons; `None` when it may be several.
    pub fn comparison_class(&self) -> Option<ComparisonClass> {
        Some(match self.without_schema() {
            Self::Any | Self::Instant | Self::WordOrOther(_) | Self::Described(_) => return None,
            Self::Null => ComparisonClass::Null,
            Self::Boolean => ComparisonClass::Boolean,
            Self::String | Self::Word(_) => ComparisonClass::Text,
            Self::Number | Self::Integer | Self::Count | Self::Share | Self::Duration | Self::Money | Self::Size => {
                ComparisonClass::Number
            }
            Self::Regex => ComparisonClass::Regex,
            Self::Range => ComparisonClass::Range,
            Self::Object | Self::KeyedPlace | Self::Step(_) | Self::Usage => ComparisonClass::Object,
            Self::List(_) => ComparisonClass::List,
        })
    }

    /// The unit of the number; `None` if it may not be a number.
    pub fn number_measure(&self) -> Option<NumberMeasure> {
        Some(match self.without_schema() {
            Self::Number | Self::Integer | Self::Count | Self::Share => NumberMeasure::Plain,
            Self::Instant => NumberMeasure::Instant,
            Self::Duration => NumberMeasure::Duration,
            Self::Money => NumberMeasure::Money,
            Self::Size => NumberMeasure::Size,
            _ => return None,
        })
    }

    /// Whether it counts something: steps, elements, words, tokens, turns.
    pub fn is_count(&self) -> bool {
        matches!(self, Self::Count | Self::Share)
    }

    /// Whether it is a whole number without a unit.
    pub fn is_whole(&self) -> bool {
        matches!(self.without_schema(), Self::Integer | Self::Count)
    }

    /// The type of a number that counts this.
    pub fn with_measure(measure: NumberMeasure) -> Self {
        match measure {
            NumberMeasure::Plain => Self::Number,
            NumberMeasure::Instant => Self::Instant,
            NumberMeasure::Duration => Self::Duration,
            NumberMeasure::Money => Self::Money,
            NumberMeasure::Size => Self::Size,
        }
    }

    /// The type of an element, of a list's or of an object's.
    pub fn element_type(&self) -> Self {
        match self {
            Self::List(element) => (**element).clone(),
            Self::Usage => Self::Share,
            Self::Described(described) => described.list_element().map_or(Self::Any, Self::Described),
            _ => Self::Any,
        }
    }

    /// The common type; [`Ty::Any`] if they differ.
    pub fn join_types(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Integer, Self::Number) | (Self::Number, Self::Integer) => Self::Number,
            // One that counts has no unit, and so the other cannot be meant to have one.
            (Self::Count | Self::Share, Self::Count | Self::Share | Self::Integer | Self::Number)
            | (Self::Integer | Self::Number, Self::Count | Self::Share) => Self::Share,
            (Self::Word(_), Self::Word(_) | Self::String) | (Self::String, Self::Word(_)) => Self::String,
            (Self::List(a), Self::List(b)) => Self::list_of(a.join_types(*b)),
            _ => Self::Any,
        }
    }

    /// True when it can be neither true nor false.
    pub fn is_no_condition(&self) -> bool {
        !matches!(self.comparison_class(), None | Some(ComparisonClass::Boolean))
    }
}
