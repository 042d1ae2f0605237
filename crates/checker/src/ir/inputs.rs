//! Inputs that are made for calls of invariants: `call TOOL generate …`. A recorded run is judged without them.

use super::{Constant, DeclaredParam};
use averment_base::source::Span;

/// A call of an invariant with the inputs that are made for it.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedCall {
    /// The invariant, by number.
    pub rule: u32,
    /// The tool; `None` for each tool of `for each tool`.
    pub tool: Option<Vec<ToolNamePart>>,
    /// The name of the tool in the rules. The place of the pattern of the call begins there.
    pub span: Span,
    /// The generator of the inputs.
    pub inputs: InputsSpec,
    /// Number of inputs; at least one.
    pub cases: u32,
    /// The seed of all of them.
    pub seed: u64,
    /// The name that the seed goes with, in parts.
    pub seed_name: Vec<SeedNamePart>,
}

/// A part of the name of a called tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolNamePart {
    /// Text.
    Text(String),
    /// The value of a parameter, by number.
    Param(u32),
}

impl GeneratedCall {
    /// The name of the tool under the values of these parameters; `None` for each tool, and without a value.
    #[must_use]
    pub fn tool_name(&self, params: &[DeclaredParam]) -> Option<String> {
        let parts = self.tool.as_ref()?.iter().map(|part| match part {
            ToolNamePart::Text(text) => Some(text.clone()),
            ToolNamePart::Param(number) => match params.get(*number as usize)?.default.as_ref()? {
                Constant::Text(text) => Some(text.clone()),
                _ => None,
            },
        });
        parts.collect()
    }
}

/// The generator of a call's inputs.
#[derive(Debug, Clone, PartialEq)]
pub enum InputsSpec {
    /// The arguments, by name, each once.
    Arguments(Vec<(String, ValueSpec)>),
    /// The schema declared by the tool, requested at this place.
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

/// The generator of a value.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueSpec {
    /// Its kind and bounds; `None` for an absent bound.
    pub kind: ValueKind,
    /// Where the rules say so.
    pub span: Span,
}

/// The kind of a generated value.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "each bound is the least or the largest value or length")]
pub enum ValueKind {
    Text {
        least: Option<u64>,
        most: Option<u64>,
    },
    Integer {
        least: Option<i64>,
        most: Option<i64>,
    },
    /// A number, possibly fractional; both bounds are finite.
    Number {
        least: Option<f64>,
        most: Option<f64>,
    },
    Boolean,
    /// A list, bounded by its length; elements are `null` unless specified.
    List {
        least: Option<u64>,
        most: Option<u64>,
        elements: Option<Box<ValueSpec>>,
    },
}
