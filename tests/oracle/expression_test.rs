//! The tests of values (section 4).

use crate::condition::{contains, search};
use crate::expression::{Share, TestKind, Worth, found};
use crate::model::Comparison;
use crate::run::Found;
use crate::truth::{Truth, UNDECIDED, sure};
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

/// The test without its negation, on two values that are there.
pub fn plain_test(test: &TestKind, left: &Value, right: &Worth) -> Option<bool> {
    let texts = |test: fn(&str, &str) -> bool| match (left, value_of(right)) {
        (Value::String(left), Some(Value::String(right))) => test(left, &right),
        _ => false,
    };
    Some(match test {
        TestKind::Compare(comparison, _) => compare(*comparison, left, &value_of(right)?),
        TestKind::Identical { .. } => value::identical(left, &value_of(right)?),
        TestKind::In { .. } => match right {
            Worth::Range(from, to) => in_range(left, from.as_ref(), to.as_ref()),
            other => contains(&value_of(other)?, left),
        },
        TestKind::Contains { .. } => contains(left, &value_of(right)?),
        TestKind::ContainsShare(share, _) => contains_share(*share, left, &value_of(right)?),
        TestKind::IContains(_) => contains(&lower(left), &lower(&value_of(right)?)),
        TestKind::StartsWith { .. } => texts(|left, right| left.starts_with(right)),
        TestKind::EndsWith { .. } => texts(|left, right| left.ends_with(right)),
        TestKind::Matches { regex, .. } => left.as_str().is_some_and(|left| search(regex, left)),
        TestKind::IsType { name, .. } => is_type(name, left),
        // A value that is no text is JSON already.
        TestKind::IsJson { .. } => left.as_str().is_none_or(|left| serde_json::from_str::<Value>(left).is_ok()),
        TestKind::IsEmpty { .. } => is_empty(left),
        TestKind::IsMissing { .. } | TestKind::Exists { .. } => unreachable!("answered before"),
    })
}

/// The same with all text in lower case.
fn lower(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.to_lowercase()),
        Value::Array(items) => items.iter().map(lower).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.to_lowercase(), value.clone())).collect(),
        other => other.clone(),
    }
}

fn value_of(worth: &Worth) -> Option<Value> {
    match found(worth.clone()) {
        Found::Value(value) => Some(value),
        _ => None,
    }
}

fn compare(comparison: Comparison, left: &Value, right: &Value) -> bool {
    let order = value::order(left, right);
    match comparison {
        // `!=` is `==` with its answer turned round.
        Comparison::Eq | Comparison::Ne => value::equal(left, right),
        Comparison::Lt => order == Some(Ordering::Less),
        Comparison::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Gt => order == Some(Ordering::Greater),
        Comparison::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

fn in_range(left: &Value, from: Option<&Number>, to: Option<&Number>) -> bool {
    let Value::Number(left) = left else { return false };
    let order = |end: &Number| value::compare_numbers(left, end);
    from.is_none_or(|from| matches!(order(from), Some(Ordering::Greater | Ordering::Equal)))
        && to.is_none_or(|to| matches!(order(to), Some(Ordering::Less | Ordering::Equal)))
}

fn contains_share(share: Share, left: &Value, list: &Value) -> bool {
    if !matches!(left, Value::String(_) | Value::Array(_) | Value::Object(_)) {
        return false;
    }
    let one = vec![list.clone()];
    let list = list.as_array().unwrap_or(&one);
    let holds = |needle: &Value| contains(left, needle);
    match share {
        Share::All => list.iter().all(holds),
        // `none` is the opposite of `any`, turned round by the caller.
        Share::Any | Share::None => list.iter().any(holds),
    }
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
