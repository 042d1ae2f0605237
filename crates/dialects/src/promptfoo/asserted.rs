//! An assertion after reading: its type, its value with templates filled in, and the text that it tests.

use super::modes::LoweringMode;
use super::values::{number_of, script_text};
use crate::Lowering;
use crate::writer::RuleWriter;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;
use std::collections::BTreeMap;

/// The text that an assertion tests, as expressions.
#[derive(Debug, Clone)]
pub(super) struct AssertionSubject {
    /// Expression of the answer as text.
    pub(super) text: String,
    /// Condition under which there is an answer. Otherwise the assertion fails, even if it is negated.
    pub(super) guard: Option<String>,
}

/// An assertion after reading.
pub(super) struct PromptfooAssertion<'a> {
    /// The whole assertion.
    pub(super) node: &'a YamlNode,
    /// Its type without `not-`.
    pub(super) kind: &'a str,
    pub(super) negated: bool,
    /// Its `value`, with templates filled in; `None` if it has none.
    pub(super) value: Option<YamlNode>,
    pub(super) subject: AssertionSubject,
}

impl PromptfooAssertion<'_> {
    /// Returns the location of a key, or of the whole assertion if the key is missing.
    pub(super) fn key_span(&self, key: &str) -> Span {
        self.node.get(key).map_or(self.node.span, |value| value.span)
    }

    /// Returns the threshold, or the default one; `None` if it is not a number.
    pub(super) fn threshold(&self, usual: Option<f64>) -> Option<f64> {
        match self.node.get("threshold") {
            Some(node) if !node.is_null() => number_of(node),
            _ => usual,
        }
    }

    /// Returns the value as text if it is a number or a text that is not empty.
    pub(super) fn text_or_number(&self) -> Option<String> {
        let value = self.value.as_ref()?;
        let fits = matches!(value.value, YamlValue::Text(_) | YamlValue::Number(_));
        Some(script_text(value)).filter(|text| fits && !text.is_empty())
    }

    /// Negates an expression if the assertion is negated.
    pub(super) fn signed(&self, expression: String) -> String {
        if self.negated { format!("not ({expression})") } else { expression }
    }
}

/// State for lowering an assertion.
pub(super) struct KindContext<'c, 'l> {
    pub(super) lowering: &'c mut Lowering<'l>,
    pub(super) mode: LoweringMode,
    pub(super) declared: &'c mut Declarations,
    /// Expression of the score, if it can differ from 1 and 0.
    pub(super) score: Option<String>,
}

/// Declarations that all cases share.
#[derive(Default)]
pub(super) struct Declarations {
    /// Names of schemas by their JSON text.
    schemas: BTreeMap<String, String>,
    /// Declarations of schemas.
    pub(super) out: RuleWriter,
    /// True if an assertion tests for failed spans.
    pub(super) asks_error_spans: bool,
    /// True if an assertion splits texts into words like ROUGE.
    pub(super) asks_rouge: bool,
    /// True if an assertion uses the names of tools.
    pub(super) asks_tools: bool,
}

impl KindContext<'_, '_> {
    /// Returns the name of a schema; declares the schema at its first use.
    pub(super) fn schema_name(&mut self, schema: &YamlNode) -> String {
        let next = format!("Schema{}", self.declared.schemas.len().saturating_add(1));
        let json = schema.to_json();
        if let Some(known) = self.declared.schemas.get(&json) {
            return known.clone();
        }
        self.declared.out.write_schema(&next, schema);
        self.declared.schemas.insert(json, next.clone());
        next
    }

    /// Reports that an assertion is unusable.
    pub(super) fn unusable(
        &mut self,
        place: Span,
        slug: Slug,
        message: impl Into<String>,
        help: &str,
    ) -> Option<String> {
        self.mode.report_unusable(place, slug, message.into(), help, self.lowering)
    }

    /// Reports that the value does not fit the type of the assertion.
    pub(super) fn wrong_value(&mut self, one: &PromptfooAssertion<'_>, wanted: &str) -> Option<String> {
        let is_empty = |value: &&YamlNode| value.as_text() == Some("");
        let what = match one.value.as_ref() {
            None => "no value",
            Some(value) if is_empty(&value) => "an empty text",
            Some(value) => value.kind_name(),
        };
        let message = format!("`{}` has {what}", one.kind);
        self.unusable(one.key_span("value"), Slug::TypeMismatch, message, &format!("write {wanted} behind `value`"))
    }
}
