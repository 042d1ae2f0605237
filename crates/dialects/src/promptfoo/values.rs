//! Values in JavaScript's notation, and JSON with the locations of its values.

use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, Span};
use averment_base::value::{Node, Value, json};
use bumpalo::Bump;

/// Returns `String(value)` as in JavaScript.
pub(super) fn script_text(node: &YamlNode) -> String {
    match &node.value {
        YamlValue::Null => "null".to_owned(),
        YamlValue::Bool(value) => value.to_string(),
        YamlValue::Number(number) => script_number(number),
        YamlValue::Text(text) => text.clone(),
        YamlValue::List(items) => {
            let item = |item: &YamlNode| if item.is_null() { String::new() } else { script_text(item) };
            items.iter().map(item).collect::<Vec<_>>().join(",")
        }
        YamlValue::Map(_) => "[object Object]".to_owned(),
    }
}

/// Returns a number as JavaScript prints it: `1.0` becomes `1`.
pub(super) fn script_number(number: &str) -> String {
    match number.parse::<f64>() {
        Ok(value) if number.contains(['.', 'e', 'E']) || number.len() > 15 => format!("{value}"),
        _ => number.to_owned(),
    }
}

/// Returns the number of a node as a float.
pub(super) fn number_of(node: &YamlNode) -> Option<f64> {
    node.as_number()?.parse().ok()
}

/// Returns a number without an exponent, for weights and thresholds.
pub(super) fn plain_number(value: f64) -> String {
    format!("{value}")
}

/// Creates a text with the location of another value.
pub(super) fn text_node(text: impl Into<String>, span: Span) -> YamlNode {
    YamlNode { value: YamlValue::Text(text.into()), span }
}

/// Reads a JSON value that starts at byte `base` of a file.
pub(super) fn parse_json(text: &str, base: usize, file: FileId) -> Result<YamlNode, Box<Diagnostic>> {
    let arena = Bump::new();
    let limits = Limits::default();
    match json::parse_recorded(text, base, &arena, &limits) {
        Ok(document) => Ok(from_node(&document.node, file, Span::new(file, base, base.saturating_add(text.len())))),
        Err(error) => {
            let at = base.saturating_add(error.offset);
            let span = Span::new(file, at, at.saturating_add(1));
            Err(Box::new(
                Diagnostic::new(Slug::Syntax, span, format!("this is not JSON: {}", error.message))
                    .with_help(error.help),
            ))
        }
    }
}

/// Converts a JSON value. The JSON reader bounds the nesting.
fn from_node(node: &Node<'_>, file: FileId, around: Span) -> YamlNode {
    let span = node.origin.byte_range().map_or(around, |range| Span::new(file, range.start, range.end));
    let value = match &node.value {
        Value::Boolean(value) => YamlValue::Bool(*value),
        Value::Number(number) => YamlValue::Number(number.to_string()),
        Value::Text(text) => YamlValue::Text(text.as_str().to_owned()),
        Value::List(items) => YamlValue::List(items.iter().map(|item| from_node(item, file, span)).collect()),
        Value::Object(object) => YamlValue::Map(
            object
                .entries()
                .iter()
                .map(|entry| (text_node(entry.key, span), from_node(&entry.node, file, span)))
                .collect(),
        ),
        _ => YamlValue::Null,
    };
    YamlNode { value, span }
}

/// Splits comma-separated texts such as `a, "b c",d`; returns `None` if a quote is not closed.
pub(super) fn split_values(text: &str) -> Option<Vec<String>> {
    let mut values = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let Some(first) = rest.chars().next() else { return Some(values) };
        if first != '"' {
            let (value, after) = rest.split_at_checked(rest.find(',').unwrap_or(rest.len()))?;
            values.push(value.trim().to_owned());
            rest = after;
            continue;
        }
        let (value, after) = quoted_value(rest)?;
        values.push(value);
        rest = after.trim_start();
        if !rest.is_empty() && !rest.starts_with(',') {
            return None;
        }
    }
}

fn quoted_value(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        match (letter, next) {
            ('\\', Some(escaped @ ('"' | '\\'))) => {
                value.push(escaped);
                letters.next();
            }
            ('"', Some('"')) => {
                value.push('"');
                letters.next();
            }
            ('"', _) => return Some((value, text.get(at.saturating_add(1)..)?)),
            (letter, _) => value.push(letter),
        }
    }
    None
}
