//! Parses YAML into a tree in which every value has its location.
//!
//! `saphyr-parser` reads the text as events. The type of a plain scalar (number, boolean, text) is decided here, by the YAML version that the other
//! system reads. Aliases are resolved up to a limit. Duplicate keys and unknown tags are errors.

mod read;
mod scalar;

pub use read::parse_document;

use averment_base::source::Span;

/// Decides which unquoted words are not texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YamlSchema {
    /// YAML 1.2: `true`, `false`, `null`, `~`, decimal, `0o` and `0x` numbers.
    Core,
    /// YAML 1.1 as PyYAML reads it: also `yes`, `no`, `on`, `off`, `1_000`, `0b1`, `017`, `1:30`; `1e3` is text.
    Yaml11,
}

/// A value with its location.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlNode {
    /// The value.
    pub value: YamlValue,
    /// The location. For a value from an alias, the location of its anchor.
    pub span: Span,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum YamlValue {
    /// `null`, `~`, or an empty value.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number in JSON notation.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<YamlNode>),
    /// A mapping, in the order of the file.
    Map(Vec<(YamlNode, YamlNode)>),
}

impl YamlNode {
    /// Returns the entry of a key; `None` if there is no such key or this is not a mapping.
    #[must_use]
    pub fn find_entry(&self, key: &str) -> Option<&(YamlNode, YamlNode)> {
        self.entries().iter().find(|(known, _)| known.as_text() == Some(key))
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        self.find_entry(key).map(|(_, value)| value)
    }

    /// Returns the entries of a mapping; empty for any other value.
    #[must_use]
    pub fn entries(&self) -> &[(YamlNode, YamlNode)] {
        match &self.value {
            YamlValue::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the elements of a list; empty for any other value.
    #[must_use]
    pub fn items(&self) -> &[YamlNode] {
        match &self.value {
            YamlValue::List(items) => items,
            _ => &[],
        }
    }

    /// Returns the text if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            YamlValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number in JSON notation if it is one.
    #[must_use]
    pub fn as_number(&self) -> Option<&str> {
        match &self.value {
            YamlValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the boolean if it is one.
    #[must_use]
    pub fn as_boolean(&self) -> Option<bool> {
        match self.value {
            YamlValue::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns true if it is `null` or empty.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.value == YamlValue::Null
    }

    /// Returns true if it is a mapping.
    #[must_use]
    pub fn is_map(&self) -> bool {
        matches!(self.value, YamlValue::Map(_))
    }

    /// Returns true if it is a list.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.value, YamlValue::List(_))
    }

    /// Returns a description of its type: `a text`, `a list`.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self.value {
            YamlValue::Null => "nothing",
            YamlValue::Bool(_) => "a boolean",
            YamlValue::Number(_) => "a number",
            YamlValue::Text(_) => "a text",
            YamlValue::List(_) => "a list",
            YamlValue::Map(_) => "a mapping",
        }
    }

    /// Returns the value as JSON. Keys that are not texts become texts; numbers keep their notation.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    fn write_json(&self, out: &mut String) {
        match &self.value {
            YamlValue::Null => out.push_str("null"),
            YamlValue::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            YamlValue::Number(number) => out.push_str(number),
            YamlValue::Text(text) => out.push_str(&json_text(text)),
            YamlValue::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    item.write_json(out);
                }
                out.push(']');
            }
            YamlValue::Map(entries) => {
                out.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    out.push_str(&json_text(&key.key_text()));
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }

    /// Returns the text of a key: a text unchanged, any other value as JSON.
    #[must_use]
    pub fn key_text(&self) -> String {
        self.as_text().map_or_else(|| self.to_json(), ToOwned::to_owned)
    }
}

/// Returns the value of an unquoted scalar; a text if it has no other type.
#[must_use]
pub fn plain_value(text: &str, schema: YamlSchema) -> YamlValue {
    scalar::plain_scalar(text, schema).unwrap_or_else(|_| YamlValue::Text(text.to_owned()))
}

/// Returns a text as a JSON string.
#[must_use]
pub fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
