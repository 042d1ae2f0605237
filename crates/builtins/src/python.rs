//! Python's `str` and `repr` of values, which some programs leave in texts instead of JSON.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult};
use averment_base::value::compare::with_deep_stack;
use averment_base::value::json::to_json;
use averment_base::value::{Node, Value};
use std::fmt::Write as _;

pub(super) fn python_text<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let node = call.argument_node(0);
    if let Value::Text(_) = node.value {
        return Ok(node);
    }
    // An escape is at most five times as long as in JSON, and everything else is not longer.
    call.check_written(&node, 0)?;
    let text = text_of(&node.value);
    call.meter.charge_scan(text.len())?;
    call.give_text(&text)
}

/// Formats a value like `str`: texts unchanged, other values like `repr`.
#[must_use]
pub fn text_of(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => text.as_str().to_owned(),
        other => {
            let mut out = String::new();
            write_value(other, &mut out);
            out
        }
    }
}

fn write_value(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Boolean(true) => out.push_str("True"),
        Value::Boolean(false) => out.push_str("False"),
        Value::Text(text) => write_text(text.as_str(), out),
        Value::Number(_) => write_number(&to_json(value), out),
        Value::List(items) => {
            with_deep_stack(|| write_parts(out, '[', ']', items, |item: &Node<'_>, out| write_value(&item.value, out)))
        }
        Value::Object(object) => with_deep_stack(|| {
            write_parts(out, '{', '}', object.entries(), |entry, out| {
                write_text(entry.key, out);
                out.push_str(": ");
                write_value(&entry.node.value, out);
            });
        }),
        _ => out.push_str("None"),
    }
}

fn write_parts<T>(out: &mut String, open: char, close: char, parts: &[T], one: impl Fn(&T, &mut String)) {
    out.push(open);
    for (at, part) in parts.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        one(part, out);
    }
    out.push(close);
}

/// Writes a string in single quotes, unless it has single and no double quotes.
fn write_text(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 || (0x7f..=0xa0).contains(&u32::from(c)) || c == '\u{ad}' => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c @ ('\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}') => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            other => out.push(other),
        }
    }
    out.push(quote);
}

/// Writes integers unchanged, and floats with the fewest digits, with exponents below 1e-4 and from 1e16.
fn write_number(json: &str, out: &mut String) {
    let real = json.parse::<f64>().ok().filter(|_| json.contains(['.', 'e', 'E']));
    match real {
        None => out.push_str(json),
        Some(value) if value == 0.0 || (1e-4..1e16).contains(&value.abs()) => {
            let _ = write!(out, "{value:?}");
        }
        Some(value) => {
            let text = format!("{value:e}");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
            let _ = write!(out, "{mantissa}e{sign}{digits:0>2}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_base::limits::Limits;
    use averment_base::value::json::parse;
    use bumpalo::Bump;

    #[test]
    fn values_are_written_as_python_does() {
        let rows = [
            ("null", "None"),
            ("[true, false, null]", "[True, False, None]"),
            (r#"{"a": 'x'}"#, ""),
            (r#"{"a": "it's", "b": "\"", "c": "'\""}"#, r#"{'a': "it's", 'b': '"', 'c': '\'"'}"#),
            ("1.0", "1.0"),
            ("-0.0", "-0.0"),
            ("1e22", "1e+22"),
            ("1e-7", "1e-07"),
            ("0.0001", "0.0001"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            (r#""a\nb""#, "a\nb"),
            (r#"["a\nb\u0001\u00a0"]"#, r"['a\nb\x01\xa0']"),
        ];
        for (json, expected) in rows {
            let arena = Bump::new();
            let Ok(parsed) = parse(json, 0, &arena, &Limits::default()) else {
                assert!(expected.is_empty(), "{json}");
                continue;
            };
            assert_eq!(text_of(&parsed.node.value), expected, "{json}");
        }
    }
}
