//! What ends an evaluation without an answer. Each becomes the verdict `error` with its sentence as the reason.

use crate::bytecode::program::Program;
use averment_base::diagnostic::render::one_line;
use averment_base::limits::LimitError;
use averment_base::source::Span;
use averment_base::truth::Truth;
use averment_base::value::json::json_start;
use averment_base::value::{Node, TextOrigin, Value};
use averment_builtins::detect::redacted_start;

/// Why an evaluation gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Too many instructions or matches.
    Fuel,
    /// Definitions nest too deeply.
    Depth,
    /// Computed text or lists exceed the limit.
    Memory,
    /// The evaluation was canceled.
    Cancelled,
    /// A regular expression backtracks too much; as the author wrote it.
    Backtracking(String),
    /// A check of the world lacks a permission; the flag that grants it.
    Permission(String),
    /// A non-boolean value where a condition is required: the assertion fails, whatever `not` or group encloses it.
    NotBoolean(Box<UnfitValue>),
    /// A quantifier over a value that is neither list nor object: the assertion fails.
    NotAList(Box<UnfitValue>),
    /// Anything else, in words.
    Other(String),
}

/// A value that cannot be used where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfitValue {
    /// The expression.
    pub span: Span,
    /// The type of its value in the language.
    pub type_name: &'static str,
    /// The value as JSON text, shortened.
    pub value: String,
    /// Where it stands in the run's text.
    pub origin: TextOrigin,
}

impl UnfitValue {
    /// A fault about a value.
    #[must_use]
    pub fn new(node: &Node<'_>, span: Span) -> Self {
        const SHOWN: usize = 80;
        let whole = json_start(&node.value);
        let start = redacted_start(&whole, SHOWN);
        let value = if *start == whole { whole.clone() } else { format!("{start}…") };
        Self { span, type_name: node.value.type_name(), value, origin: node.origin }
    }
}

impl Fault {
    /// The value that caused it, where the assertion fails because of the run and not because of a limit.
    #[must_use]
    pub fn unfit_value(&self) -> Option<&UnfitValue> {
        match self {
            Self::NotBoolean(unfit) | Self::NotAList(unfit) => Some(unfit),
            _ => None,
        }
    }
}

/// Unreachable for a verified program.
pub(super) fn broken_program() -> Fault {
    Fault::Other("the compiled program is not valid".to_owned())
}

/// The truth of a condition. Missing values are false because something is missing; a non-boolean is a fault.
pub(super) fn condition_truth(node: &Node<'_>, span: Span) -> Result<Truth, Fault> {
    truth_of(node).ok_or_else(|| Fault::NotBoolean(Box::new(UnfitValue::new(node, span))))
}

/// `None` for a value that is neither true nor false.
pub(super) fn truth_of(node: &Node<'_>) -> Option<Truth> {
    match node.value {
        Value::Truth(truth) => Some(truth),
        Value::Boolean(value) => Some(Truth::from_bool(value)),
        Value::Missing | Value::Null => Some(Truth::from_missing(false)),
        Value::Absent => Some(Truth::Undecided),
        _ => None,
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fuel => f.write_str("the evaluation takes more steps than the limit allows"),
            Self::Depth => f.write_str("definitions call each other deeper than the limit allows"),
            Self::Memory => f.write_str("computed values take more memory than the limit allows"),
            Self::Cancelled => f.write_str("the evaluation was ended"),
            Self::Backtracking(regex) => {
                write!(
                    f,
                    "the regular expression {regex} backtracks too long on this text: it was given up after some millions of steps"
                )
            }
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

impl Fault {
    /// The fault for an exceeded limit.
    #[must_use]
    pub fn of_limit(exhausted: LimitError, program: &Program) -> Self {
        match exhausted {
            LimitError::Backtracking(number) => {
                let regex = program.regexes.get(number as usize);
                Self::Backtracking(regex.map_or_else(String::new, |regex| one_line(&regex.text).into_owned()))
            }
            other => other.into(),
        }
    }
}

impl From<LimitError> for Fault {
    fn from(exhausted: LimitError) -> Self {
        match exhausted {
            LimitError::Fuel => Self::Fuel,
            LimitError::Memory => Self::Memory,
            LimitError::Cancelled => Self::Cancelled,
            LimitError::Backtracking(number) => Self::Backtracking(format!("{}", number.saturating_add(1))),
        }
    }
}
