//! Inputs that are made for calls of invariants: `call TOOL generate …`. A recorded run is judged without them.

use averment_base::source::Span;

/// A call of an invariant with the inputs that are made for it.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedCall {
    /// The invariant, by number.
    pub rule: u32,
    /// The tool; `None` for each tool of `for each tool`.
    pub tool: Option<String>,
    /// The name of the tool in the rules. The place of the pattern of the call begins there.
    pub span: Span,
    /// What they are made by.
    pub inputs: InputsSpec,
    /// How many; at least one.
    pub cases: u32,
    /// The seed of all of them.
    pub seed: u64,
    /// The name that the seed goes with, in parts.
    pub seed_name: Vec<SeedNamePart>,
}

/// What inputs are made by.
#[derive(Debug, Clone, PartialEq)]
pub enum InputsSpec {
    /// The arguments, by name, each once.
    Arguments(Vec<(String, ValueSpec)>),
    /// The schema that the tool declares. Where the rules say so.
    Schema(Span),
}

/// A part of the name that a seed goes with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeedNamePart {
    /// Text.
    Text(String),
    /// The name of the tool.
    Tool,
}

/// How a value is made.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueSpec {
    /// What it is, and between which bounds; `None` for a bound that is not written.
    pub kind: ValueKind,
    /// Where the rules say so.
    pub span: Span,
}

/// What a made value is.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "each bound is the least or the largest value or length")]
pub enum ValueKind {
    /// A text, by its length in characters.
    Text { least: Option<u64>, most: Option<u64> },
    /// A whole number.
    Integer { least: Option<i64>, most: Option<i64> },
    /// A number, which may have a fraction. Both bounds are finite.
    Number { least: Option<f64>, most: Option<f64> },
    /// `true` or `false`.
    Boolean,
    /// A list, by its length; its elements are `null` where the rules do not say what they are.
    List { least: Option<u64>, most: Option<u64>, elements: Option<Box<ValueSpec>> },
}
