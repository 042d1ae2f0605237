//! Values as JSON text: the one form for reports, functions and messages.

use crate::value::compare::with_deep_stack;
use crate::value::{Number, Value};
use std::fmt::Write as _;

/// Appends a value as compact JSON: keys in their order, numbers as they were written. What is missing, not recorded or undecided is
/// `null`; a range is `"1..3"`, its text.
pub fn write_json(value: &Value<'_>, out: &mut String) {
    write_json_within(value, out, usize::MAX);
}

/// Writes at most about `most` bytes; returns false if the rest was left out.
pub fn write_json_within(value: &Value<'_>, out: &mut String, most: usize) -> bool {
    match value {
        Value::Missing | Value::Absent | Value::Null | Value::Regex(_) => out.push_str("null"),
        Value::Boolean(value) => out.push_str(boolean_word(*value)),
        Value::Truth(truth) => out.push_str(truth.plain_answer().map_or("null", boolean_word)),
        Value::Number(Number::Written(text)) => out.push_str(text_start(text, most)),
        Value::Number(number) => push_number(out, *number),
        Value::Text(text) => write_text(text_start(text.as_str(), most), out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                if out.len() > most || !with_deep_stack(|| write_json_within(&item.value, out, most)) {
                    return false;
                }
            }
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            for (index, entry) in object.entries().iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                if out.len() > most {
                    return false;
                }
                write_text(text_start(entry.key, most), out);
                out.push(':');
                if !with_deep_stack(|| write_json_within(&entry.node.value, out, most)) {
                    return false;
                }
            }
            out.push('}');
        }
        Value::Range(range) => {
            out.push('"');
            range.start.into_iter().for_each(|number| push_number(out, number));
            out.push_str("..");
            range.end.into_iter().for_each(|number| push_number(out, number));
            out.push('"');
        }
    }
    out.len() <= most
}

/// A value as compact JSON; `None` where that is more than `most` bytes.
#[must_use]
pub fn to_json_within(value: &Value<'_>, most: usize) -> Option<String> {
    let mut out = String::new();
    write_json_within(value, &mut out, most).then_some(out)
}

/// A value as compact JSON.
#[must_use]
pub fn to_json(value: &Value<'_>) -> String {
    let mut out = String::new();
    write_json(value, &mut out);
    out
}

/// The beginning of a value as compact JSON, to be shortened much further: some kilobytes of it.
#[must_use]
pub fn json_start(value: &Value<'_>) -> String {
    const ENOUGH: usize = 32 << 10;
    let mut out = String::new();
    write_json_within(value, &mut out, ENOUGH);
    out
}

/// The shortest prefix with more than `most` bytes.
fn text_start(text: &str, most: usize) -> &str {
    if text.len() <= most { text } else { text.get(..text.ceil_char_boundary(most.saturating_add(1))).unwrap_or(text) }
}

fn boolean_word(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

fn push_number(out: &mut String, number: Number<'_>) {
    // Writing into a string cannot fail.
    let _ = write!(out, "{number}");
}

/// Appends text in quotes with the escapes that JSON demands.
/// Appends a text as JSON, in quotes.
pub fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F)) {
        let (plain, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(plain);
        let mut characters = behind.chars();
        match characters.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(control) => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}
