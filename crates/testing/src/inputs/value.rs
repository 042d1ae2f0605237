//! Generates values from the specifications in rules.

use super::random::CaseRandom;
use averment_checker::ir::{ValueKind, ValueSpec};
use serde_json::{Map, Value};

/// Default maximum length of a text, in characters.
pub(super) const TEXT: u64 = 1024;
/// Default maximum length of a list.
pub(super) const LIST: u64 = 64;

pub(super) fn border_value(spec: &ValueSpec) -> Value {
    match &spec.kind {
        ValueKind::Text { least, most } => {
            repeat_letter("x", most.or(*least).unwrap_or(8).min(length_limit(*least, TEXT)))
        }
        ValueKind::Integer { least, most } => Value::from(most.or(*least).unwrap_or(1)),
        ValueKind::Number { least, most } => Value::from(most.or(*least).unwrap_or(1.0)),
        ValueKind::Boolean => Value::Bool(true),
        ValueKind::List { least, most, elements } => {
            let length = most.or(*least).unwrap_or(1).min(length_limit(*least, LIST));
            // If the list is empty, no element is generated, because it may be large.
            let element = elements.as_ref().filter(|_| length > 0).map_or(Value::Null, |element| border_value(element));
            Value::Array((0..length).map(|_| element.clone()).collect())
        }
    }
}

pub(super) fn random_value(spec: &ValueSpec, random: &mut CaseRandom) -> Value {
    match &spec.kind {
        ValueKind::Text { least, most } => {
            let (least, most) = length_bounds(*least, *most, 32, TEXT);
            repeat_letter("a", random.number_between(least, most))
        }
        ValueKind::Integer { least, most } => {
            let least = least.unwrap_or(-100);
            Value::from(random.between_signed(least, most.unwrap_or(100).max(least)))
        }
        ValueKind::Number { least, most } => {
            let least = least.unwrap_or(-100.0);
            let most = most.unwrap_or(100.0).max(least);
            // The sum may be rounded beyond the bound.
            Value::from((least + (most - least) * random.unit_share()).clamp(least, most))
        }
        ValueKind::Boolean => Value::Bool(random.flip_coin()),
        ValueKind::List { least, most, elements } => {
            let (least, most) = length_bounds(*least, *most, 8, LIST);
            let length = random.number_between(least, most);
            let element = |random: &mut CaseRandom| {
                elements.as_ref().map_or(Value::Null, |element| self::random_value(element, random))
            };
            Value::Array((0..length).map(|_| element(random)).collect())
        }
    }
}

/// Returns the bounds of a length. Without an explicit maximum, it is `usual`; neither exceeds the limit.
pub(super) fn length_bounds(least: Option<u64>, most: Option<u64>, usual: u64, usual_limit: u64) -> (u64, u64) {
    let limit = length_limit(least, usual_limit);
    let least = least.unwrap_or(0);
    (least, most.unwrap_or(usual).max(least).min(limit))
}

/// Returns the limit of a length; an explicit minimum above the default limit removes it.
pub(super) fn length_limit(least: Option<u64>, usual: u64) -> u64 {
    if least.is_some_and(|least| least > usual) { u64::MAX } else { usual }
}

fn repeat_letter(letter: &str, length: u64) -> Value {
    // The size of inputs was checked before.
    Value::String(letter.repeat(usize::try_from(length).unwrap_or(0)))
}

/// Returns a number from a schema keyword, capped at the maximum text length.
pub(super) fn keyword_count(keywords: &Map<String, Value>, name: &str) -> Option<u64> {
    let value = keywords.get(name)?;
    value
        .as_u64()
        .or_else(|| whole_number(value).and_then(|value| u64::try_from(value).ok()))
        .map(|value| value.min(TEXT))
}

/// Returns a number truncated toward zero.
#[allow(clippy::cast_possible_truncation, reason = "what is beyond the ends is an end")]
pub(super) fn whole_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().map(|value| value.trunc() as i64))
}
