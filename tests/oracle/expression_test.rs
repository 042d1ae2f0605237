//! The tests of values (section 4).

use crate::condition::{compare, search};
use crate::expression::{Share, TestKind, Worth, found};
use crate::model::Comparison;
use crate::run::Found;
use crate::truth::{Truth, UNDECIDED, by_missing, sure};
use crate::value;
use serde_json::{Number, Value};
use std::cmp::Ordering;

/// `exists`, `is missing` and `is empty` look at something missing directly.
pub fn looks_at_missing(left: &Worth, test: &TestKind) -> Option<Truth> {
    let (missing_is, negated) = match test {
        TestKind::Exists { negated } => (false, *negated),
        TestKind::IsMissing { negated } | TestKind::IsEmpty { negated } => (true, *negated),
        _ => return None,
    };
    match left {
        Worth::Missing => Some(sure(missing_is != negated)),
        Worth::Absent => Some(UNDECIDED),
        _ if matches!(test, TestKind::IsEmpty { .. }) => None,
        _ => Some(sure(missing_is == negated)),
    }
}

pub fn negated(test: &TestKind) -> bool {
    match test {
        TestKind::Compare(comparison, _) => *comparison == Comparison::Ne,
        TestKind::ContainsShare(share, _) => *share == Share::None,
        TestKind::Identical { negated, .. } | TestKind::In { negated, .. } | TestKind::Contains { negated, .. } => {
            *negated
        }
        TestKind::StartsWith { negated, .. } | TestKind::EndsWith { negated, .. } => *negated,
        TestKind::Matches { negated, .. } | TestKind::IsType { negated, .. } | TestKind::IsJson { negated } => *negated,
        TestKind::IsEmpty { negated } | TestKind::IsMissing { negated } | TestKind::Exists { negated } => *negated,
        TestKind::IContains(_) => false,
    }
}

/// Tests of two values that are no equality, whatever their values are.
pub fn is_of_values(test: &TestKind) -> bool {
    match test {
        TestKind::Compare(comparison, _) => !matches!(comparison, Comparison::Eq | Comparison::Ne),
        TestKind::StartsWith { .. } | TestKind::EndsWith { .. } => true,
        _ => false,
    }
}

/// Null counts as missing where no equality is asked for and no presence.
pub fn null_is_missing(test: &TestKind, left: &Value, right: &Worth) -> bool {
    let right_is = |wanted: fn(&Value) -> bool| value_of(right).is_some_and(|right| wanted(&right));
    let nulls = left.is_null() || right_is(Value::is_null);
    match test {
        TestKind::Compare(Comparison::Eq | Comparison::Ne, _) | TestKind::Identical { .. } => false,
        TestKind::IsType { .. } | TestKind::IsJson { .. } | TestKind::IsEmpty { .. } => false,
        TestKind::Matches { .. } => left.is_null(),
        TestKind::In { .. } => nulls && !right_is(Value::is_array) && !matches!(right, Worth::Absent),
        TestKind::Contains { .. } | TestKind::IContains(_) | TestKind::ContainsShare(..) => nulls && !left.is_array(),
        _ => nulls,
    }
}

/// The test without its negation, on two values that are there.
pub fn plain_test(test: &TestKind, left: &Value, right: &Worth) -> Option<Truth> {
    let texts = |test: fn(&str, &str) -> bool| match (left, value_of(right)) {
        (Value::String(_), Some(Value::String(right))) if right.is_empty() => by_missing(true),
        (Value::String(left), Some(Value::String(right))) => sure(test(left, &right)),
        _ => by_missing(false),
    };
    Some(match test {
        TestKind::Compare(comparison, _) => compare(*comparison, left, &value_of(right)?),
        TestKind::Identical { .. } => value::equality(left, &value_of(right)?, value::identical),
        TestKind::In { .. } => match right {
            Worth::Range(from, to) => in_range(left, from.as_ref(), to.as_ref()),
            other => value::is_in(left, &value_of(other)?),
        },
        TestKind::Contains { .. } => value::holds(left, &value_of(right)?),
        TestKind::ContainsShare(share, _) => contains_share(*share, left, &value_of(right)?),
        TestKind::IContains(_) => icontains(left, &value_of(right)?),
        TestKind::StartsWith { .. } => texts(|left, right| left.starts_with(right)),
        TestKind::EndsWith { .. } => texts(|left, right| left.ends_with(right)),
        TestKind::Matches { regex, .. } => left.as_str().map_or(by_missing(false), |left| sure(search(regex, left))),
        TestKind::IsType { name, .. } => sure(is_type(name, left)),
        // A value that is no text is JSON already.
        TestKind::IsJson { .. } => sure(left.as_str().is_none_or(|left| serde_json::from_str::<Value>(left).is_ok())),
        TestKind::IsEmpty { .. } => sure(is_empty(left)),
        TestKind::IsMissing { .. } | TestKind::Exists { .. } => unreachable!("answered before"),
    })
}

/// `contains` in lower case; of a list only whole elements count, and only texts have a letter case.
fn icontains(left: &Value, right: &Value) -> Truth {
    match (left, right) {
        (Value::Array(items), Value::String(wanted)) => {
            let same = |item: &Value| item.as_str().is_some_and(|item| item.to_lowercase() == wanted.to_lowercase());
            if items.iter().any(same) { sure(true) } else { value::holds(&lower(left), &lower(right)) }
        }
        (Value::Array(_), _) => by_missing(false),
        _ => value::holds(&lower(left), &lower(right)),
    }
}

/// The same with all text in lower case.
fn lower(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.to_lowercase()),
        Value::Array(items) => items.iter().map(lower).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.to_lowercase(), lower(value))).collect(),
        other => other.clone(),
    }
}

fn value_of(worth: &Worth) -> Option<Value> {
    match found(worth.clone()) {
        Found::Value(value) => Some(value),
        _ => None,
    }
}

fn in_range(left: &Value, from: Option<&Number>, to: Option<&Number>) -> Truth {
    let Value::Number(left) = left else { return by_missing(false) };
    let order = |end: &Number| value::compare_numbers(left, end);
    let above = from.is_none_or(|from| matches!(order(from), Some(Ordering::Greater | Ordering::Equal)));
    let below = to.is_none_or(|to| matches!(order(to), Some(Ordering::Less | Ordering::Equal)));
    sure(above && below)
}

fn contains_share(share: Share, left: &Value, list: &Value) -> Truth {
    let one = vec![list.clone()];
    let lists_several = list.as_str().is_some_and(|text| text.contains([',', ';', '\n']));
    let list = list.as_array().unwrap_or(&one);
    // Of nothing all are contained, and none, only because there is nothing.
    if list.is_empty() {
        return by_missing(share == Share::All);
    }
    if !matches!(left, Value::String(_) | Value::Array(_) | Value::Object(_)) {
        return by_missing(false);
    }
    let found = list.iter().map(|needle| value::holds(left, needle));
    let truth = match share {
        Share::All => found.fold(sure(true), Truth::and),
        // `none` is the opposite of `any`, turned round by the caller.
        Share::Any | Share::None => found.fold(sure(false), Truth::or),
    };
    if truth == sure(false) && lists_several { by_missing(false) } else { truth }
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "list" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => unreachable!("a type of the language"),
    }
}

/// `null`, and text, list or object without anything in it.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
