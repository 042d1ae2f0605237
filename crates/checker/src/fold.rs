//! Constants as JSON and JSON as constants.

use crate::ir::Constant;
use serde_json::Value;

/// A constant as JSON; a number keeps its text where JSON can hold its value.
#[must_use]
pub fn json_of(constant: &Constant) -> Value {
    match constant {
        Constant::Null => Value::Null,
        Constant::Boolean(value) => Value::Bool(*value),
        Constant::Number(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        Constant::Text(text) => Value::String(text.clone()),
        Constant::List(values) => Value::Array(values.iter().map(json_of).collect()),
        Constant::Object(entries) => {
            Value::Object(entries.iter().map(|(name, value)| (name.clone(), json_of(value))).collect())
        }
    }
}

/// JSON as a constant.
#[must_use]
pub fn constant_of(value: &Value) -> Constant {
    match value {
        Value::Null => Constant::Null,
        Value::Bool(value) => Constant::Boolean(*value),
        Value::Number(number) => Constant::Number(number.to_string()),
        Value::String(text) => Constant::Text(text.clone()),
        Value::Array(values) => Constant::List(values.iter().map(constant_of).collect()),
        Value::Object(entries) => {
            Constant::Object(entries.iter().map(|(name, value)| (name.clone(), constant_of(value))).collect())
        }
    }
}

/// A constant as JSON text, keys in their order and numbers as written.
#[must_use]
pub fn json_text(constant: &Constant) -> String {
    let mut out = String::new();
    write_json(constant, &mut out);
    out
}

fn write_json(constant: &Constant, out: &mut String) {
    match constant {
        Constant::Null => out.push_str("null"),
        Constant::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Constant::Number(text) => out.push_str(text),
        Constant::Text(text) => out.push_str(&json_quoted(text)),
        Constant::List(values) => {
            out.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(value, out);
            }
            out.push(']');
        }
        Constant::Object(entries) => {
            out.push('{');
            for (index, (name, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&json_quoted(name));
                out.push(':');
                write_json(value, out);
            }
            out.push('}');
        }
    }
}

fn json_quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// A constant as it stands inside a text: text as it is, everything else as JSON.
#[must_use]
pub fn text_of(constant: &Constant) -> String {
    match constant {
        Constant::Text(text) => text.clone(),
        other => json_text(other),
    }
}

/// The entry of a name in an object.
#[must_use]
pub fn object_entry<'c>(constant: &'c Constant, name: &str) -> Option<&'c Constant> {
    match constant {
        Constant::Object(entries) => entries.iter().find(|(known, _)| known == name).map(|(_, value)| value),
        _ => None,
    }
}
