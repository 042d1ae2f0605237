//! YAML as a tree in which every value knows its place.
//!
//! The text is read by `saphyr-parser`, which gives events. What a plain scalar is (a number, a boolean, a text) is decided here, by the version of
//! YAML that the other system reads. Aliases are resolved with a limit, keys that stand twice and tags that nobody reads are errors.

mod read;
mod scalar;

pub use read::parse_document;

use averment_base::source::Span;

/// Which words are no text, where they stand without quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YamlSchema {
    /// YAML 1.2: `true`, `false`, `null`, `~`, decimal, `0o` and `0x` numbers.
    Core,
    /// YAML 1.1 as PyYAML reads it: also `yes`, `no`, `on`, `off`, `1_000`, `0b1`, `017`, `1:30`; `1e3` is text.
    Yaml11,
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlNode {
    /// What it is.
    pub value: YamlValue,
    /// Where it stands; of what an alias stands for, where the anchor is.
    pub span: Span,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum YamlValue {
    /// `null`, `~`, or nothing at all.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number, as JSON writes it.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<YamlNode>),
    /// A mapping, in the order of the file.
    Map(Vec<(YamlNode, YamlNode)>),
}

impl YamlNode {
    /// The entry of a key, with the key; `None` where it is no mapping or has none.
    #[must_use]
    pub fn find_entry(&self, key: &str) -> Option<&(YamlNode, YamlNode)> {
        self.entries().iter().find(|(known, _)| known.as_text() == Some(key))
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        self.find_entry(key).map(|(_, value)| value)
    }

    /// The entries of a mapping; none of anything else.
    #[must_use]
    pub fn entries(&self) -> &[(YamlNode, YamlNode)] {
        match &self.value {
            YamlValue::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The elements of a list; none of anything else.
    #[must_use]
    pub fn items(&self) -> &[YamlNode] {
        match &self.value {
            YamlValue::List(items) => items,
            _ => &[],
        }
    }

    /// The text, where it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            YamlValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number as JSON writes it, where it is one.
    #[must_use]
    pub fn as_number(&self) -> Option<&str> {
        match &self.value {
            YamlValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The boolean, where it is one.
    #[must_use]
    pub fn as_boolean(&self) -> Option<bool> {
        match self.value {
            YamlValue::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Whether it is `null`, or nothing.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.value == YamlValue::Null
    }

    /// Whether it is a mapping.
    #[must_use]
    pub fn is_map(&self) -> bool {
        matches!(self.value, YamlValue::Map(_))
    }

    /// Whether it is a list.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.value, YamlValue::List(_))
    }

    /// What it is, in words: `a text`, `a list`.
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

    /// As JSON. Keys that are no text become text; numbers keep their spelling.
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

    /// The text of a key: a text as it is, anything else as JSON.
    #[must_use]
    pub fn key_text(&self) -> String {
        self.as_text().map_or_else(|| self.to_json(), ToOwned::to_owned)
    }
}

/// The value of an unquoted text; a text if it is no JSON value.
#[must_use]
pub fn plain_value(text: &str, schema: YamlSchema) -> YamlValue {
    scalar::plain_scalar(text, schema).unwrap_or_else(|_| YamlValue::Text(text.to_owned()))
}

/// A text as JSON writes it.
#[must_use]
pub fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
