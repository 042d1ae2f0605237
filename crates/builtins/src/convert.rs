//! Conversion to `serde_json` values, only for libraries that need them.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::value::compare::with_deep_stack;
use averment_base::value::{Number, Value};

/// Converts a value. Missing and unrecorded values become `null`, so that list positions stay.
pub(super) fn to_library(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Missing | Value::Absent | Value::Null | Value::Regex(_) => serde_json::Value::Null,
        Value::Boolean(value) => serde_json::Value::Bool(*value),
        Value::Truth(truth) => truth.plain_answer().map_or(serde_json::Value::Null, serde_json::Value::Bool),
        Value::Number(number) => serde_json::Value::Number(to_library_number(*number)),
        Value::Text(text) => serde_json::Value::String(text.as_str().to_owned()),
        Value::List(items) => {
            with_deep_stack(|| serde_json::Value::Array(items.iter().map(|item| to_library(&item.value)).collect()))
        }
        Value::Object(object) => with_deep_stack(|| {
            let entries = object.entries().iter();
            serde_json::Value::Object(
                entries.map(|entry| (entry.key.to_owned(), to_library(&entry.node.value))).collect(),
            )
        }),
        Value::Range(_) => serde_json::Value::String(averment_base::value::json::to_json(value)),
    }
}

/// Converts a number: exactly within 64 bits, otherwise to the nearest finite double.
pub(super) fn to_library_number(number: Number<'_>) -> serde_json::Number {
    let spelled = match number {
        Number::Written(text) => text.parse().ok(),
        Number::Integer(value) => Some(serde_json::Number::from(value)),
        Number::Wide(..) => None,
        Number::Real(value) => serde_json::Number::from_f64(value),
    };
    let nearest = || serde_json::Number::from_f64(number.to_f64().clamp(f64::MIN, f64::MAX));
    spelled.or_else(nearest).unwrap_or_else(|| serde_json::Number::from(0))
}
