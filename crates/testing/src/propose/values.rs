//! What the values of one argument or field have in common.

use averment_base::value::Value;
use std::collections::BTreeSet;

/// More distinct texts than this are not an enumeration.
const FEW: usize = 6;
/// A text seen less often may be chance.
const OFTEN: u64 = 6;
/// Longer texts are not enumeration values.
const LONGEST: usize = 32;

#[derive(Debug, Clone, Default)]
pub(super) struct KeyValues {
    /// How often it was there.
    pub count: u64,
    types: BTreeSet<&'static str>,
    /// Distinct texts, until there are too many.
    texts: BTreeSet<String>,
    many_texts: bool,
    fractions: bool,
    /// The largest number.
    pub most: f64,
    /// The smallest number.
    pub least: f64,
}

impl KeyValues {
    /// Remembers one value.
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

    /// The type of the language that all of them have.
    pub fn value_type(&self) -> Option<&'static str> {
        let mut types = self.types.iter();
        match (types.next(), types.next()) {
            (Some(&"number"), None) if !self.fractions => Some("integer"),
            (Some(&ty @ ("string" | "number" | "boolean" | "list" | "object")), None) => Some(ty),
            _ => None,
        }
    }

    /// The texts, when there are so few of them that they look like a choice, and each is there often enough.
    pub fn text_choice(&self) -> Option<&BTreeSet<String>> {
        let distinct = u64::try_from(self.texts.len()).unwrap_or(u64::MAX);
        let is_choice = self.value_type() == Some("string") && !self.many_texts && distinct > 0;
        (is_choice && self.count >= distinct.saturating_mul(3).max(OFTEN)).then_some(&self.texts)
    }
}
