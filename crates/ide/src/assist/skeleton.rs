//! The shape of recorded values: their keys, their types, and a few examples.

use averment_base::value::{Value, ValueText};
use std::collections::BTreeMap;

/// Maximum depth.
const DEPTH: usize = 10;
/// Maximum keys of one object.
const KEYS: usize = 200;
/// Maximum elements of one list.
const ELEMENTS: usize = 200;
/// Maximum examples of one location.
const EXAMPLES: usize = 6;
/// Maximum characters of one example.
const LETTERS: usize = 48;

/// The shape of one or several values at one location.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ValueSkeleton {
    /// The types of the values, each once.
    pub types: Vec<&'static str>,
    /// The values under their keys.
    pub fields: BTreeMap<String, ValueSkeleton>,
    /// Their elements.
    pub element: Option<Box<ValueSkeleton>>,
    /// Some of the texts, numbers and booleans in the notation of the rule language, in the order of occurrence.
    pub examples: Vec<String>,
}

impl ValueSkeleton {
    /// Adds a value.
    pub fn add_value(&mut self, value: &Value<'_>) {
        self.add_at(value, 0);
    }

    fn add_at(&mut self, value: &Value<'_>, depth: usize) {
        if matches!(value, Value::Absent | Value::Missing) || depth > DEPTH {
            return;
        }
        let name = value.type_name();
        if !self.types.contains(&name) {
            self.types.push(name);
        }
        match value {
            Value::List(elements) => {
                let inside = self.element.get_or_insert_default();
                elements.iter().take(ELEMENTS).for_each(|one| inside.add_at(&one.value, depth + 1));
            }
            Value::Object(object) => {
                for entry in object.entries().iter().take(KEYS) {
                    if self.fields.contains_key(entry.key) || self.fields.len() < KEYS {
                        self.fields.entry(entry.key.to_owned()).or_default().add_at(&entry.node.value, depth + 1);
                    }
                }
            }
            Value::Text(text) => self.add_example(|| quote_short(text)),
            Value::Number(number) => self.add_example(|| Some(number.to_string())),
            Value::Boolean(is) => self.add_example(|| Some(is.to_string())),
            _ => {}
        }
    }

    fn add_example(&mut self, written: impl FnOnce() -> Option<String>) {
        if self.examples.len() >= EXAMPLES {
            return;
        }
        if let Some(example) = written()
            && !self.examples.contains(&example)
        {
            self.examples.push(example);
        }
    }

    /// Returns the types in words: `string or null`.
    #[must_use]
    pub fn type_words(&self) -> String {
        self.types.join(" or ")
    }
}

/// Returns a short single-line text in quotes; longer ones are not used as examples.
fn quote_short(text: &ValueText<'_>) -> Option<String> {
    let text = text.to_string();
    let plain = text.chars().count() <= LETTERS && !text.chars().any(char::is_control);
    plain.then(|| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace("${", "\\${")))
}
