//! What a condition asks of one value: which value it is, and what decides the answer.
//!
//! Nothing is evaluated here. A predicate says which values have the same answer, so that a verdict which the evaluator gave for one of
//! them is known for the others.

use averment_traces::projection::CallField;

/// What a value is taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValueBase {
    /// An entry of the run, by the number of its name in the program.
    Root(u32),
    /// A field of the call in scope.
    Field(CallField),
    /// The tool of the call in scope.
    Tool,
    /// Every call.
    Calls,
    /// The value that the code is given.
    Given,
}

/// A value: what it is taken from, and the keys that lead to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValuePath {
    pub(super) base: ValueBase,
    pub(super) keys: Vec<String>,
}

/// What decides the answer of a predicate, its value aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PredicateOperand {
    /// Nothing: it asks whether there is a value.
    Presence,
    /// Whether this is found in a text; nothing else holds it.
    Found(SearchLiteral),
    /// How a number compares with this whole number.
    Number(i64),
    /// Anything else.
    Other,
}

/// What a text is searched for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum SearchLiteral {
    Text(String),
    /// A regular expression of the program.
    Regex(u32),
}

/// A test of one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValuePredicate {
    pub(super) path: ValuePath,
    pub(super) operand: PredicateOperand,
    /// Whether it asks if there is such a key: a key of nearly the same name beside it counts, too.
    pub(super) asks_for_key: bool,
}

impl ValuePredicate {
    /// The keys of what is read for it.
    pub(super) fn read_keys(&self) -> &[String] {
        match self.path.keys.split_last() {
            Some((_, around)) if self.asks_for_key => around,
            _ => &self.path.keys,
        }
    }
}

/// A whole number of few digits: such numbers are compared by their value alone.
pub(super) fn small_integer(text: &str) -> Option<i64> {
    if text.len() > 15 { None } else { text.parse().ok() }
}
