//! The implementation of value tests: `contains`, `icontains`, `starts with`, `is json`, ….
//!
//! Both sides are present values here; missing and absent ones are handled before. `None` means that the test does not support these types. It is
//! then false, with the types in its reason.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::json_search::{find_json, holds_inner_json};
use super::schema::{CompiledSchema, SchemaViolation};
use super::token;
pub use super::token::{mentions_grouped, mentions_text};
use averment_base::limits::{FuelMeter, LimitError, Limits};
use averment_base::types::Type;
use averment_base::value::Value;
use averment_base::value::compare::values_equal;
use averment_base::value::json::parse;
use bumpalo::Bump;
use std::ops::Range;

/// The answer of a test; `None` for types that it does not support.
pub type TestAnswer = Result<Option<bool>, LimitError>;

/// `subject contains wanted`: a part of a text, an element of a list, or a key of an object.
///
/// # Errors
/// Returns an error only if a limit is reached.
pub fn contains(subject: &Value<'_>, wanted: &Value<'_>, meter: &mut FuelMeter) -> TestAnswer {
    match (subject, wanted) {
        (Value::Text(text), Value::Text(part)) => {
            let (text, part) = (text.as_str(), part.as_str());
            meter.charge_scan(text.len())?;
            Ok(Some(memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some()))
        }
        (Value::List(items), wanted) => {
            meter.charge_fuel(items.len() as u64)?;
            Ok(Some(items.iter().any(|item| values_equal(&item.value, wanted))))
        }
        (Value::Object(object), Value::Text(key)) => Ok(Some(object.get(key.as_str()).is_some())),
        _ => Ok(None),
    }
}

/// True if a text or a number mentions another one as a whole token.
///
/// # Errors
/// Returns an error only if a limit is reached.
pub fn mentions(subject: &Value<'_>, wanted: &Value<'_>, meter: &mut FuelMeter) -> Result<bool, LimitError> {
    Ok(match (subject, wanted) {
        (Value::Text(text), Value::Text(part)) => {
            meter.charge_scan(text.as_str().len())?;
            token::mentions_text(text.as_str(), part.as_str())
        }
        (Value::Text(text), Value::Number(number)) => {
            meter.charge_scan(text.as_str().len())?;
            token::mentions_number(text.as_str(), *number)
        }
        (Value::Number(number), Value::Text(text)) => number.is_spelled(text.as_str()),
        (Value::Number(_), Value::Number(_)) => values_equal(subject, wanted),
        _ => false,
    })
}

/// `subject icontains wanted`: like [`contains`] on lower-case values (with Unicode's full mapping, but no folding: `ß` is not `ss`).
///
/// # Errors
/// Returns an error only if a limit is reached.
pub fn contains_ignoring_case(subject: &Value<'_>, wanted: &Value<'_>, meter: &mut FuelMeter) -> TestAnswer {
    let Value::Text(wanted) = wanted else { return contains(subject, wanted, meter) };
    let wanted = wanted.as_str().to_lowercase();
    match subject {
        Value::Text(text) => {
            let text = text.as_str();
            meter.charge_scan(text.len().saturating_mul(4))?;
            meter.check_memory(text.len())?;
            let lower = if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase() };
            Ok(Some(memchr::memmem::find(lower.as_bytes(), wanted.as_bytes()).is_some()))
        }
        Value::List(items) => {
            for item in *items {
                let Value::Text(text) = item.value else { continue };
                meter.charge_scan(text.as_str().len().saturating_mul(4))?;
                if text.as_str().to_lowercase() == wanted {
                    return Ok(Some(true));
                }
            }
            Ok(Some(false))
        }
        Value::Object(object) => {
            meter.charge_fuel(object.entries().len() as u64)?;
            Ok(Some(object.entries().iter().any(|entry| entry.key.to_lowercase() == wanted)))
        }
        _ => Ok(None),
    }
}

/// `subject starts with start`.
#[must_use]
pub fn starts_with(subject: &Value<'_>, start: &Value<'_>) -> Option<bool> {
    match (subject, start) {
        (Value::Text(text), Value::Text(start)) => Some(text.as_str().starts_with(start.as_str())),
        _ => None,
    }
}

/// `subject ends with end`.
#[must_use]
pub fn ends_with(subject: &Value<'_>, end: &Value<'_>) -> Option<bool> {
    match (subject, end) {
        (Value::Text(text), Value::Text(end)) => Some(text.as_str().ends_with(end.as_str())),
        _ => None,
    }
}

/// `subject is json`.
///
/// # Errors
/// Returns an error only if a limit is reached.
pub fn is_json(subject: &Value<'_>, meter: &mut FuelMeter) -> TestAnswer {
    let Value::Text(text) = subject else { return Ok(None) };
    meter.charge_scan(text.as_str().len().saturating_mul(4))?;
    Ok(Some(super::json_search::is_json(text.as_str())))
}

/// `subject is json Schema`: `Some(None)` if the text is not JSON, otherwise the result of the schema check. `None` if the subject is no text.
///
/// # Errors
/// Returns an error only if a limit is reached.
pub fn is_json_schema(
    subject: &Value<'_>,
    schema: &CompiledSchema,
    limits: &Limits,
    meter: &mut FuelMeter,
) -> Result<Option<Option<Result<(), SchemaViolation>>>, LimitError> {
    let Value::Text(text) = subject else { return Ok(None) };
    meter.charge_scan(text.as_str().len().saturating_mul(8))?;
    let arena = Bump::new();
    let Ok(document) = parse(text.as_str(), 0, &arena, limits) else { return Ok(Some(None)) };
    schema.charge_check(&document.node.value, meter)?;
    Ok(Some(Some(schema.check_value(&document.node.value))))
}

/// `subject contains json`, `subject contains json Schema`: returns the range of the first object (otherwise list) in the text that fits. `None` if
/// the subject is no text.
///
/// # Errors
/// Returns an error only if a limit is reached.
pub fn contains_json(
    subject: &Value<'_>,
    schema: Option<&CompiledSchema>,
    limits: &Limits,
    meter: &mut FuelMeter,
) -> Result<Option<Option<Range<usize>>>, LimitError> {
    let Value::Text(text) = subject else { return Ok(None) };
    let fits = |value: &Value<'_>, meter: &mut FuelMeter| match schema {
        None => Ok(true),
        Some(schema) => schema.charge_check(value, meter).map(|()| schema.accepts(value)),
    };
    find_json(text.as_str(), limits, meter, fits).map(Some)
}

/// True if JSON that fits is nested inside of other JSON in a text.
///
/// # Errors
/// Returns an error only if a limit is reached.
pub fn contains_inner_json(
    subject: &Value<'_>,
    schema: &CompiledSchema,
    limits: &Limits,
    meter: &mut FuelMeter,
) -> Result<bool, LimitError> {
    let Value::Text(text) = subject else { return Ok(false) };
    holds_inner_json(text.as_str(), limits, meter, |value, meter| {
        schema.charge_check(value, meter).map(|()| schema.accepts(value))
    })
}

/// The test `is TYPE`. A whole number is an integer in any notation, and values with units are numbers.
#[must_use]
pub fn has_type(value: &Value<'_>, ty: Type) -> bool {
    match ty {
        Type::Any => true,
        Type::String => matches!(value, Value::Text(_)),
        Type::Number | Type::Duration | Type::Money | Type::Size => matches!(value, Value::Number(_)),
        Type::Integer => matches!(value, Value::Number(number) if number.is_integer()),
        Type::Boolean => matches!(value, Value::Boolean(_) | Value::Truth(_)),
        Type::List => matches!(value, Value::List(_)),
        Type::Object => matches!(value, Value::Object(_)),
        Type::Null => matches!(value, Value::Null),
        Type::Range => matches!(value, Value::Range(_)),
        Type::Regex => matches!(value, Value::Regex(_)),
    }
}
