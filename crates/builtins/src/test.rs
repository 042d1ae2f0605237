//! What stands behind the tests of values: `contains`, `icontains`, `starts with`, `is json`, ….
//!
//! Both sides are present values here; missing and absent ones are decided before. `None` says that the test has no meaning for these
//! types: it is false then, and its reason names the types.

// What rules and runs make of numbers may not overflow.
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

/// The answer of a test; `None` for types that it has no meaning for.
pub type TestAnswer = Result<Option<bool>, LimitError>;

/// `subject contains wanted`: a part of a text, an element of a list, a key of an object.
///
/// # Errors
/// Only when a limit is reached.
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

/// Whether a text or a number mentions a text or a number: as a whole token.
///
/// # Errors
/// Only when a limit is reached.
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

/// `subject icontains wanted`: the same in lower case on both sides (Unicode's full mapping, no folding: `ß` is not `ss`).
///
/// # Errors
/// Only when a limit is reached.
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
/// Only when a limit is reached.
pub fn is_json(subject: &Value<'_>, meter: &mut FuelMeter) -> TestAnswer {
    let Value::Text(text) = subject else { return Ok(None) };
    meter.charge_scan(text.as_str().len().saturating_mul(4))?;
    Ok(Some(super::json_search::is_json(text.as_str())))
}

/// `subject is json Schema`: whether the text is JSON, and where it is, what in it does not fit. `None` for what is no text,
/// `Some(None)` for text that is not JSON.
///
/// # Errors
/// Only when a limit is reached.
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

/// `subject contains json`, `subject contains json Schema`: where an object (else a list) stands in the text that fits. `None` for
/// what is no text.
///
/// # Errors
/// Only when a limit is reached.
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

/// Whether only what stands inside of other JSON in a text fits.
///
/// # Errors
/// Only when a limit is reached.
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

/// Whether a value is of a type, as `is TYPE` asks. A whole number is an integer whatever its form is; units are numbers.
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
