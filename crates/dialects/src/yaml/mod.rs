//! YAML as a tree in which every value knows its place.
//!
//! The text is read by `saphyr-parser`, which gives events. What a plain scalar is (a number, a boolean, a text) is decided here, by the version of
//! YAML that the other system reads. Aliases are resolved with a limit, keys that stand twice and tags that nobody reads are errors.

mod read;
mod scalar;

pub use read::parse;

use averment_base::source::Span;

/// Which words are no text, where they stand without quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schema {
    /// YAML 1.2: `true`, `false`, `null`, `~`, decimal, `0o` and `0x` numbers.
    Core,
    /// YAML 1.1 as PyYAML reads it: also `yes`, `no`, `on`, `off`, `1_000`, `0b1`, `017`, `1:30`; `1e3` is text.
    Yaml11,
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub value: Value,
    /// Where it stands; of what an alias stands for, where the anchor is.
    pub span: Span,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, `~`, or nothing at all.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number, as JSON writes it.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// The entry of a key, with the key; `None` where it is no mapping or has none.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&(Node, Node)> {
        self.entries().iter().find(|(known, _)| known.text() == Some(key))
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|(_, value)| value)
    }

    /// The entries of a mapping; none of anything else.
    #[must_use]
    pub fn entries(&self) -> &[(Node, Node)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The elements of a list; none of anything else.
    #[must_use]
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The text, where it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number as JSON writes it, where it is one.
    #[must_use]
    pub fn number(&self) -> Option<&str> {
        match &self.value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The boolean, where it is one.
    #[must_use]
    pub fn boolean(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Whether it is `null`, or nothing.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// Whether it is a mapping.
    #[must_use]
    pub fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    /// Whether it is a list.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.value, Value::List(_))
    }

    /// What it is, in words: `a text`, `a list`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// The same value as JSON. Keys that are no text are written as text; numbers keep what was written.
    #[must_use]
    pub fn json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    fn write_json(&self, out: &mut String) {
        match &self.value {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Number(number) => out.push_str(number),
            Value::Text(text) => out.push_str(&json_text(text)),
            Value::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    item.write_json(out);
                }
                out.push(']');
            }
            Value::Map(entries) => {
                out.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    out.push_str(&json_text(&key.key()));
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }

    /// The text of a key: a text as it is, anything else as JSON.
    #[must_use]
    pub fn key(&self) -> String {
        self.text().map_or_else(|| self.json(), ToOwned::to_owned)
    }
}

/// What a text is that stands without quotes; itself where it is no value of JSON.
#[must_use]
pub fn plain(text: &str, schema: Schema) -> Value {
    scalar::plain(text, schema).unwrap_or_else(|_| Value::Text(text.to_owned()))
}

/// A text as JSON writes it.
#[must_use]
pub fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
