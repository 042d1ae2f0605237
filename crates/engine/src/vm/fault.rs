//! What ends an evaluation without an answer. Each becomes the verdict `error` with its sentence as the reason.

use averment_base::source::Span;
use averment_base::value::json::json_start;
use averment_base::value::{Node, Origin};
use averment_builtins::detect::beginning;

/// Why an evaluation gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Too many instructions or matches.
    Fuel,
    /// Definitions called each other too deep.
    Depth,
    /// Computed text or lists grew beyond the limit.
    Memory,
    /// Somebody ended the evaluation.
    Cancelled,
    /// A check of the world needs a permission: the flag that gives it.
    Permission(String),
    /// A value that is no boolean stands where a condition is needed: the assertion fails and says so, whatever `not` or group is
    /// around it.
    NotBoolean(Box<Unfit>),
    /// A quantifier runs over a value that is no list and no object: the assertion fails and says so.
    NotAList(Box<Unfit>),
    /// Anything else, in words.
    Other(String),
}

/// A value that cannot be used where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// The expression.
    pub span: Span,
    /// The type of its value in the language.
    pub type_name: &'static str,
    /// The value as JSON text, shortened.
    pub value: String,
    /// Where it stands in the run's text.
    pub origin: Origin,
}

impl Unfit {
    /// What a fault says of a value.
    #[must_use]
    pub fn new(node: &Node<'_>, span: Span) -> Self {
        const SHOWN: usize = 80;
        let whole = json_start(&node.value);
        let start = beginning(&whole, SHOWN);
        let value = if *start == whole { whole.clone() } else { format!("{start}…") };
        Self { span, type_name: node.value.type_name(), value, origin: node.origin }
    }
}

impl Fault {
    /// The value that caused it, where the assertion fails because of the run and not because of a limit.
    #[must_use]
    pub fn unfit(&self) -> Option<&Unfit> {
        match self {
            Self::NotBoolean(unfit) | Self::NotAList(unfit) => Some(unfit),
            _ => None,
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fuel => f.write_str("the evaluation takes more steps than the limit allows"),
            Self::Depth => f.write_str("definitions call each other deeper than the limit allows"),
            Self::Memory => f.write_str("computed values take more memory than the limit allows"),
            Self::Cancelled => f.write_str("the evaluation was ended"),
            Self::Permission(flag) => write!(f, "this check needs a permission: add `{flag}`"),
            Self::NotBoolean(unfit) => {
                write!(f, "the value is neither true nor false but the {} {}", unfit.type_name, unfit.value)
            }
            Self::NotAList(unfit) => write!(f, "the value is no list but the {} {}", unfit.type_name, unfit.value),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Fault {}

impl From<averment_base::limits::Exhausted> for Fault {
    fn from(exhausted: averment_base::limits::Exhausted) -> Self {
        match exhausted {
            averment_base::limits::Exhausted::Fuel => Self::Fuel,
            averment_base::limits::Exhausted::Memory => Self::Memory,
            averment_base::limits::Exhausted::Cancelled => Self::Cancelled,
        }
    }
}
