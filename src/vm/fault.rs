//! What ends an evaluation without an answer. Each becomes the verdict `error` with its sentence as the reason.

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
    /// Anything else, in words.
    Other(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fuel => f.write_str("the evaluation takes more steps than the limit allows"),
            Self::Depth => f.write_str("definitions call each other deeper than the limit allows"),
            Self::Memory => f.write_str("computed values take more memory than the limit allows"),
            Self::Permission(flag) => write!(f, "this check needs a permission: add `{flag}`"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Fault {}
