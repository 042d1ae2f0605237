//! An assertion after reading, and the subject of a list of assertions.

use super::path;
use crate::writer::member_path;
use crate::yaml::YamlNode;
use averment_base::source::Span;

/// The subject of a list of assertions, as expressions.
#[derive(Debug, Clone)]
pub(super) struct AssertionSubject {
    /// The output text of the block.
    pub(super) output: String,
    /// The cost of the block.
    pub(super) cost: String,
    /// The duration of the block.
    pub(super) duration: String,
    /// The expression that `output` stands for, if `output` is a name.
    pub(super) named: Option<String>,
}

impl AssertionSubject {
    /// Returns the run itself as the subject.
    pub(super) fn of_run() -> Self {
        Self { output: "output".to_owned(), cost: "cost".to_owned(), duration: "duration".to_owned(), named: None }
    }

    /// Returns a block of a case with recorded outputs, which has no cost and no duration.
    pub(super) fn of_case(case: &str, block: &str) -> Self {
        Self { output: format!("meta.cases{}{}", member_path(case), member_path(block)), ..Self::of_run() }
    }

    /// Returns a block of a run. If only one block has assertions, a run without recorded blocks is that block.
    pub(super) fn of_block(name: &str, alone: bool) -> Self {
        let of = |field: &str, plain: &str| {
            let path = format!("meta.blocks{}.{field}", member_path(name));
            if alone { format!("coalesce({path}, {plain})") } else { path }
        };
        let (cost, duration) = (of("cost_usd", "cost"), of("latency_ms", "duration"));
        let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
        let called = format!("output_of_{}", letters.collect::<String>());
        match alone {
            true => Self { output: called, cost, duration, named: Some(of("output", "output")) },
            false => Self { output: of("output", "output"), cost, duration, named: None },
        }
    }
}

/// An assertion after reading.
pub(super) struct RunsightAssertion<'a> {
    /// The whole assertion.
    pub(super) node: &'a YamlNode,
    /// Expression of the text that it tests.
    pub(super) text: String,
    /// The subject of its list.
    pub(super) subject: &'a AssertionSubject,
    /// True if its type begins with `not-`.
    pub(super) negated: bool,
    /// Its `value`; `None` if it has none.
    pub(super) value: Option<&'a YamlNode>,
}

impl RunsightAssertion<'_> {
    /// Returns the value as text; empty if there is none.
    pub(super) fn value_text(&self) -> String {
        self.value.map_or_else(String::new, path::python_text)
    }

    /// Returns the location of a key, or of the whole assertion if the key is missing.
    pub(super) fn key_span(&self, key: &str) -> Span {
        self.node.get(key).map_or(self.node.span, |value| value.span)
    }
}

/// Returns a number without an exponent, the notation of weights.
pub(super) fn plain_number(number: &str) -> String {
    match number.contains(['e', 'E']) {
        true => number.parse::<f64>().map_or_else(|_| number.to_owned(), |value| format!("{value}")),
        false => number.to_owned(),
    }
}
