//! Common properties of the values of one argument or field.

use averment_base::value::Value;
use std::collections::BTreeSet;

/// Maximum number of distinct texts in an enumeration.
const FEW: usize = 6;
/// Minimum number of observations for an enumeration; fewer may be chance.
const OFTEN: u64 = 6;
/// Maximum length of an enumeration value.
const LONGEST: usize = 32;

#[derive(Debug, Clone, Default)]
pub(super) struct KeyValues {
    /// Number of observed values.
    pub count: u64,
    types: BTreeSet<&'static str>,
    /// Distinct texts; no more are added once there are too many.
    texts: BTreeSet<String>,
    many_texts: bool,
    fractions: bool,
    /// The largest number.
    pub most: f64,
    /// The smallest number.
    pub least: f64,
}

impl KeyValues {
    /// Adds one value.
    pub fn add_value(&mut self, value: &Value<'_>) {
        self.count += 1;
        self.types.insert(value.type_name());
        match value {
            Value::Number(number) => self.add_number(number.to_f64(), number.is_integer()),
            Value::Text(text) if !self.many_texts => {
                let text = text.as_str();
                if text.len() > LONGEST {
                    self.many_texts = true;
                } else {
                    self.texts.insert(text.to_owned());
                    self.many_texts = self.texts.len() > FEW;
                }
            }
            _ => {}
        }
    }

    fn add_number(&mut self, value: f64, is_integer: bool) {
        self.fractions |= !is_integer;
        let first = self.count == 1;
        self.most = if first { value } else { self.most.max(value) };
        self.least = if first { value } else { self.least.min(value) };
    }

    /// Returns the type of the rule language that all values have.
    pub fn value_type(&self) -> Option<&'static str> {
        let mut types = self.types.iter();
        match (types.next(), types.next()) {
            (Some(&"number"), None) if !self.fractions => Some("integer"),
            (Some(&ty @ ("string" | "number" | "boolean" | "list" | "object")), None) => Some(ty),
            _ => None,
        }
    }

    /// Returns the texts if there are so few that they look like an enumeration, and there are enough observations.
    pub fn text_choice(&self) -> Option<&BTreeSet<String>> {
        let distinct = u64::try_from(self.texts.len()).unwrap_or(u64::MAX);
        let is_choice = self.value_type() == Some("string") && !self.many_texts && distinct > 0;
        (is_choice && self.count >= distinct.saturating_mul(3).max(OFTEN)).then_some(&self.texts)
    }
}
