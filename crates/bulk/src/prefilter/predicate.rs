//! What a condition asks of one value: which value it is, and what decides the answer.
//!
//! Nothing is evaluated here. A predicate says which values have the same answer, so that a verdict which the evaluator gave for one of
//! them is known for the others.

use averment_traces::projection::CallField;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValueBase {
    Root(u32),
    Field(CallField),
    Tool,
    Calls,
    Given,
}

impl ValueBase {
    /// The entry of the run that it is, by the number of its name.
    pub(super) fn entry_name(&self) -> Option<u32> {
        match self {
            Self::Root(name) => Some(*name),
            Self::Field(_) | Self::Tool | Self::Calls | Self::Given => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValuePath {
    pub(super) base: ValueBase,
    pub(super) keys: Vec<String>,
}

/// What decides a predicate, apart from its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PredicateOperand {
    Presence,
    /// Whether one of these occurs in a text: without, the answer is plainly no. Other values never satisfy it.
    Found(Vec<SearchLiteral>),
    Number(i64),
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum SearchLiteral {
    Text(String),
    Regex(u32),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValuePredicate {
    pub(super) path: ValuePath,
    pub(super) operand: PredicateOperand,
    /// True for an existence test, where a near miss of the key matters, too.
    pub(super) asks_for_key: bool,
}

impl ValuePredicate {
    pub(super) fn read_keys(&self) -> &[String] {
        match self.path.keys.split_last() {
            Some((_, around)) if self.asks_for_key => around,
            _ => &self.path.keys,
        }
    }
}

/// Whole numbers of few digits, which can be compared by value.
pub(super) fn small_integer(text: &str) -> Option<i64> {
    if text.len() > 15 { None } else { text.parse().ok() }
}
