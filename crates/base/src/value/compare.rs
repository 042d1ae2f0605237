//! Comparing values: equality by value, order, and values as keys of maps.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::{Node, Object, Value};
use rustc_hash::FxHasher;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// Equality of the test `==`: numbers by value, text by its characters, lists by element, objects by key in any order. Values of
/// different types differ; a truth is a boolean. `missing` and what is not recorded equal only themselves here: tests that mean
/// more by them look before they compare.
#[must_use]
pub fn values_equal(a: &Value<'_>, b: &Value<'_>) -> bool {
    same_values(a, b, NumberForm::Value)
}

/// Equality of the test `===`: as `==`, and numbers also have the same JSON form, at any depth.
#[must_use]
pub fn values_identical(a: &Value<'_>, b: &Value<'_>) -> bool {
    same_values(a, b, NumberForm::Written)
}

/// Order of the tests `<` and its like: numbers by value, text by code points. `None` for anything else.
#[must_use]
pub fn compare_values(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Some(a.compare(*b)),
        (Value::Text(a), Value::Text(b)) => Some(a.as_str().cmp(b.as_str())),
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum NumberForm {
    Value,
    Written,
}

fn same_values(a: &Value<'_>, b: &Value<'_>, form: NumberForm) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match form {
            NumberForm::Value => a == b,
            NumberForm::Written => a.is_identical(*b),
        },
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::List(a), Value::List(b)) => a.len() == b.len() && with_deep_stack(|| same_lists(a, b, form)),
        (Value::Object(a), Value::Object(b)) => {
            a.entries().len() == b.entries().len() && with_deep_stack(|| same_objects(*a, *b, form))
        }
        (Value::Range(a), Value::Range(b)) => a.start == b.start && a.end == b.end,
        (Value::Regex(a), Value::Regex(b)) => a == b,
        _ => match (simple_rank(a), simple_rank(b)) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        },
    }
}

fn same_lists(a: &[Node<'_>], b: &[Node<'_>], form: NumberForm) -> bool {
    a.iter().zip(b).all(|(a, b)| same_values(&a.value, &b.value, form))
}

/// Keys are distinct in both, and there are equally many.
fn same_objects(a: Object<'_>, b: Object<'_>, form: NumberForm) -> bool {
    a.entries()
        .iter()
        .all(|entry| b.get(entry.key).is_some_and(|other| same_values(&entry.node.value, &other.value, form)))
}

/// A number for each scalar; an undecided truth counts as not recorded.
fn simple_rank(value: &Value<'_>) -> Option<u8> {
    Some(match value {
        Value::Missing => 0,
        Value::Absent => 1,
        Value::Null => 2,
        Value::Boolean(value) => 3_u8.saturating_add(u8::from(*value)),
        Value::Truth(truth) => truth.plain_answer().map_or(1, |value| 3_u8.saturating_add(u8::from(value))),
        _ => return None,
    })
}

/// Values of a trace are limited in depth, computed ones are not: the stack grows where it has to.
pub fn with_deep_stack<R>(then: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, then)
}

/// A value as the key of a map: two keys are one when their values are equal by [`values_equal`].
#[derive(Debug, Clone, Copy)]
pub struct ValueKey<'run>(pub Value<'run>);

impl PartialEq for ValueKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        values_equal(&self.0, &other.0)
    }
}

impl Eq for ValueKey<'_> {}

impl Hash for ValueKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash(&self.0, state);
    }
}

fn hash<H: Hasher>(value: &Value<'_>, state: &mut H) {
    match value {
        Value::Number(number) => {
            state.write_u8(6);
            number.hash(state);
        }
        Value::Text(text) => {
            state.write_u8(7);
            text.as_str().hash(state);
        }
        Value::List(items) => {
            state.write_u8(8);
            state.write_usize(items.len());
            with_deep_stack(|| items.iter().for_each(|item| hash(&item.value, state)));
        }
        Value::Object(object) => {
            state.write_u8(9);
            state.write_u64(with_deep_stack(|| hash_object(*object)));
        }
        Value::Range(range) => {
            state.write_u8(10);
            range.start.hash(state);
            range.end.hash(state);
        }
        Value::Regex(regex) => {
            state.write_u8(11);
            state.write_u32(*regex);
        }
        _ => state.write_u8(simple_rank(value).unwrap_or(0)),
    }
}

/// Independent of the order of entries.
fn hash_object(object: Object<'_>) -> u64 {
    object.entries().iter().fold(0_u64, |sum, entry| {
        let mut hasher = FxHasher::default();
        entry.key.hash(&mut hasher);
        hash(&entry.node.value, &mut hasher);
        sum.wrapping_add(hasher.finish())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::truth::Truth;
    use crate::value::json;
    use std::hash::BuildHasher;

    fn check(a: &str, b: &str) -> (bool, bool, bool) {
        let arena = bumpalo::Bump::new();
        let read = |text| json::parse(text, 0, &arena, &Limits::default()).unwrap().node.value;
        let (a, b) = (read(a), read(b));
        let hasher = rustc_hash::FxBuildHasher;
        (values_equal(&a, &b), values_identical(&a, &b), hasher.hash_one(ValueKey(a)) == hasher.hash_one(ValueKey(b)))
    }

    #[test]
    fn values_are_equal_by_value_and_hash_alike() {
        for (a, b) in [
            ("1", "1.0"),
            (r#"{"a":1,"b":[2,"x"]}"#, r#"{"b":[2.0,"\u0078"],"a":1e0}"#),
            ("[]", "[]"),
            ("18446744073709551616", "18446744073709551616.0"),
        ] {
            assert_eq!((check(a, b).0, check(a, b).2), (true, true), "{a} {b}");
        }
        for (a, b) in [
            ("1", "\"1\""),
            ("0", "false"),
            ("null", "false"),
            ("[1,2]", "[2,1]"),
            ("[1]", "[1,1]"),
            (r#"{"a":1}"#, r#"{"b":1}"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":2}"#),
            ("[]", "{}"),
        ] {
            assert_eq!(check(a, b), (false, false, false), "{a} {b}");
        }
        assert_eq!(check("[1]", "[1.0]"), (true, false, true));
        assert_eq!(check("[1.50]", "[1.5]"), (true, true, true));
    }

    #[test]
    fn only_numbers_and_texts_have_an_order() {
        let text = |text| Value::Text(crate::value::ValueText::Plain(text));
        assert_eq!(compare_values(&text("Z"), &text("a")), Some(Ordering::Less));
        assert_eq!(compare_values(&text("é"), &text("😀")), Some(Ordering::Less));
        assert_eq!(compare_values(&text("5"), &Value::Number(crate::value::Number::Integer(3))), None);
        assert_eq!(compare_values(&Value::Null, &Value::Null), None);
    }

    #[test]
    fn an_undecided_truth_is_not_recorded() {
        assert!(values_equal(&Value::Truth(Truth::Undecided), &Value::Absent));
        assert!(values_equal(&Value::Truth(Truth::TrueByMissing), &Value::Boolean(true)));
        assert!(!values_equal(&Value::Missing, &Value::Absent));
    }

    #[test]
    fn computed_values_of_any_depth_compare() {
        let arena = bumpalo::Bump::new();
        let build = || {
            (0..200_000).fold(Node::computed(Value::Null), |inner, _| Node::computed(Value::List(arena.alloc([inner]))))
        };
        let (a, b) = (build(), build());
        assert!(values_equal(&a.value, &b.value));
    }
}
