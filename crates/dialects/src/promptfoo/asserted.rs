//! An assertion that was read: its kind, its value with templates filled, and what it looks at.

use super::modes::LoweringMode;
use super::values::{number_of, script_text};
use crate::Lowering;
use crate::writer::RuleWriter;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;
use std::collections::BTreeMap;

/// What an assertion looks at, as expressions.
#[derive(Debug, Clone)]
pub(super) struct AssertionSubject {
    /// The answer as text.
    pub(super) text: String,
    /// What has to hold for there to be an answer; the assertion fails otherwise, negated or not.
    pub(super) guard: Option<String>,
}

/// One assertion.
pub(super) struct PromptfooAssertion<'a> {
    /// All of it.
    pub(super) node: &'a YamlNode,
    /// Its type without `not-`.
    pub(super) kind: &'a str,
    pub(super) negated: bool,
    /// Its `value`, with templates filled; `None` where it has none.
    pub(super) value: Option<YamlNode>,
    pub(super) subject: AssertionSubject,
}

impl PromptfooAssertion<'_> {
    /// The place of a key, or of the whole assertion.
    pub(super) fn key_span(&self, key: &str) -> Span {
        self.node.get(key).map_or(self.node.span, |value| value.span)
    }

    /// The threshold, or the usual one; `None` where it is no number.
    pub(super) fn threshold(&self, usual: Option<f64>) -> Option<f64> {
        match self.node.get("threshold") {
            Some(node) if !node.is_null() => number_of(node),
            _ => usual,
        }
    }

    /// The value as text where it is one or a number, and not empty.
    pub(super) fn text_or_number(&self) -> Option<String> {
        let value = self.value.as_ref()?;
        let fits = matches!(value.value, YamlValue::Text(_) | YamlValue::Number(_));
        Some(script_text(value)).filter(|text| fits && !text.is_empty())
    }

    /// An expression, or its opposite.
    pub(super) fn signed(&self, expression: String) -> String {
        if self.negated { format!("not ({expression})") } else { expression }
    }
}

/// What lowering an assertion needs beside it.
pub(super) struct KindContext<'c, 'l> {
    pub(super) lowering: &'c mut Lowering<'l>,
    pub(super) mode: LoweringMode,
    pub(super) declared: &'c mut Declarations,
    /// The score of the assertion, where its kind gives another one than 1 or 0.
    pub(super) score: Option<String>,
}

/// What is declared for all cases.
#[derive(Default)]
pub(super) struct Declarations {
    /// The names of schemas, by their JSON.
    schemas: BTreeMap<String, String>,
    /// The lines of schemas.
    pub(super) out: RuleWriter,
    /// True if spans that failed are asked for.
    pub(super) asks_error_spans: bool,
    /// True if the words of texts are asked for as ROUGE has them.
    pub(super) asks_rouge: bool,
    /// True if the names of tools are asked for.
    pub(super) asks_tools: bool,
}

impl KindContext<'_, '_> {
    /// The name of a schema, which is declared once.
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

    /// Says that an assertion cannot be used.
    pub(super) fn unusable(
        &mut self,
        place: Span,
        slug: Slug,
        message: impl Into<String>,
        help: &str,
    ) -> Option<String> {
        self.mode.report_unusable(place, slug, message.into(), help, self.lowering)
    }

    /// Says that a value has another shape than its type wants.
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
