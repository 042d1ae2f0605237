//! What a list of assertions is about, and an assertion that was read.

use super::path;
use crate::writer::member_path;
use crate::yaml::YamlNode;
use averment_base::source::Span;

/// What a list of assertions is about, as expressions.
#[derive(Debug, Clone)]
pub(super) struct AssertionSubject {
    /// The text of the block.
    pub(super) output: String,
    /// What it cost.
    pub(super) cost: String,
    /// How long it took.
    pub(super) duration: String,
    /// What the name of the text stands for, where it is one.
    pub(super) named: Option<String>,
}

impl AssertionSubject {
    /// The run itself.
    pub(super) fn of_run() -> Self {
        Self { output: "output".to_owned(), cost: "cost".to_owned(), duration: "duration".to_owned(), named: None }
    }

    /// A block of a case whose outputs are recorded; it cost nothing and took no time.
    pub(super) fn of_case(case: &str, block: &str) -> Self {
        Self { output: format!("meta.cases{}{}", member_path(case), member_path(block)), ..Self::of_run() }
    }

    /// A block of a run; where only one is asserted, a plain run is that block's.
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

/// One assertion that was read.
pub(super) struct RunsightAssertion<'a> {
    /// All of it.
    pub(super) node: &'a YamlNode,
    /// The expression of the text that it looks at.
    pub(super) text: String,
    /// What the list is about.
    pub(super) subject: &'a AssertionSubject,
    /// Whether it begins with `not-`.
    pub(super) negated: bool,
    /// Its `value`; `None` where it has none.
    pub(super) value: Option<&'a YamlNode>,
}

impl RunsightAssertion<'_> {
    /// The value as text, and where it stands.
    pub(super) fn value_text(&self) -> String {
        self.value.map_or_else(String::new, path::python_text)
    }

    /// The place of a key, or of the whole assertion.
    pub(super) fn key_span(&self, key: &str) -> Span {
        self.node.get(key).map_or(self.node.span, |value| value.span)
    }
}

/// A number without an exponent where it has one: weights are written so.
pub(super) fn plain_number(number: &str) -> String {
    match number.contains(['e', 'E']) {
        true => number.parse::<f64>().map_or_else(|_| number.to_owned(), |value| format!("{value}")),
        false => number.to_owned(),
    }
}
