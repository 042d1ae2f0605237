//! What ends an evaluation without an answer. Each becomes the verdict `error` with its sentence as the reason.

use crate::source::Span;

/// Why an evaluation gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Too many instructions or matches.
    Fuel,
    /// Definitions called each other too deep.
    Depth,
    /// Computed text or lists grew beyond the limit.
    Memory,
    /// A check of the world needs a permission: the flag that gives it.
    Permission(String),
    /// A value that is no boolean stands where a condition is needed: the assertion fails and says so, whatever `not` or group is
    /// around it.
    NotBoolean(NotBoolean),
    /// Anything else, in words.
    Other(String),
}

/// A value that is neither true nor false where it has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotBoolean {
    /// The expression.
    pub span: Span,
    /// The type of its value in the language.
    pub type_name: &'static str,
    /// The value as JSON text, shortened.
    pub value: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fuel => f.write_str("the evaluation takes more steps than the limit allows"),
            Self::Depth => f.write_str("definitions call each other deeper than the limit allows"),
            Self::Memory => f.write_str("computed values take more memory than the limit allows"),
            Self::Permission(flag) => write!(f, "this check needs a permission: add `{flag}`"),
            Self::NotBoolean(found) => {
                write!(f, "the value is neither true nor false but {} {}", found.type_name, found.value)
            }
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Fault {}

impl From<crate::limits::Exhausted> for Fault {
    fn from(exhausted: crate::limits::Exhausted) -> Self {
        match exhausted {
            crate::limits::Exhausted::Fuel => Self::Fuel,
            crate::limits::Exhausted::Memory => Self::Memory,
        }
    }
}
