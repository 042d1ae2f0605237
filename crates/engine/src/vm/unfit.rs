//! Values that a test has no meaning for: they are evidence of nothing, so that a test which they decide counts as decided by something
//! missing (`docs/reference/expressions.md`, "Unfit values").

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::machine::Machine;
use averment_base::near::{appearance, seen};
use averment_base::truth::Truth;
use averment_base::value::compare::{compare, deeper};
use averment_base::value::{Node, Number, Text, Value};
use averment_syntax::ast::TestKind;
use std::cmp::Ordering;

/// Whether two values are the same, by one of the tests of equality.
pub(super) type Same = fn(&Value<'_>, &Value<'_>) -> bool;

/// The order of two numbers, or of two texts neither of which spells a number; `None` for what has no order.
pub(super) fn order(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Text(a), Value::Text(b)) if spells_number(*a) || spells_number(*b) => None,
        _ => compare(left, right),
    }
}

/// Whether two present values are equal. Values of other types differ, except that a text which spells the other one, and a list
/// which holds it, are no evidence for that.
pub(super) fn equality<'v>(left: &Value<'v>, right: &Value<'v>, same: Same) -> Truth {
    if has_gap(left) || has_gap(right) {
        return by_parts(left, right, same);
    }
    let unfit = match (left, right) {
        _ if same(left, right) => return Truth::True,
        (Value::List(_), Value::List(_)) => false,
        (Value::List(items), one) | (one, Value::List(items)) => items.iter().any(|item| same(&item.value, one)),
        (Value::Text(a), Value::Text(b)) => looks_like(a.as_str(), b.as_str()),
        (Value::Text(text), other) | (other, Value::Text(text)) => spells(*text, other),
        _ => false,
    };
    if unfit { Truth::FalseByMissing } else { Truth::False }
}

/// Lists and objects of which a part is missing or not recorded are equal as far as their parts are.
fn by_parts(left: &Value<'_>, right: &Value<'_>, same: Same) -> Truth {
    match (left, right) {
        (Value::Missing, _) | (_, Value::Missing) => Truth::FalseByMissing,
        (left, right) if left.is_absent() || right.is_absent() => Truth::Undecided,
        (Value::List(a), Value::List(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(*b);
            pairs.fold(Truth::True, |truth, (a, b)| truth.and(deeper(|| by_parts(&a.value, &b.value, same))))
        }
        (Value::Object(a), Value::Object(b)) if a.entries().len() == b.entries().len() => {
            let pairs = a.entries().iter().map(|entry| (entry.node.value, b.get(entry.key).map(|node| node.value)));
            pairs.fold(Truth::True, |truth, (a, b)| {
                truth.and(b.map_or(Truth::False, |b| deeper(|| by_parts(&a, &b, same))))
            })
        }
        _ => Truth::from_bool(same(left, right)),
    }
}

/// Whether a part of a list or an object is missing or not recorded.
fn has_gap(value: &Value<'_>) -> bool {
    let is_gap = |node: &Node<'_>| {
        matches!(node.value, Value::Missing) || node.value.is_absent() || deeper(|| has_gap(&node.value))
    };
    match value {
        Value::List(items) => items.iter().any(is_gap),
        Value::Object(object) => object.entries().iter().any(|entry| is_gap(&entry.node)),
        _ => false,
    }
}

/// Whether a text spells a number as JSON does.
fn spells_number(text: Text<'_>) -> bool {
    Number::spelled(text.as_str()).is_some()
}

/// Whether a text spells a number or a boolean that is the other value.
fn spells(text: Text<'_>, other: &Value<'_>) -> bool {
    match other {
        Value::Number(number) => number.is_spelled(text.as_str()),
        Value::Boolean(value) => spells_boolean(text, *value),
        Value::Truth(truth) => truth.plain().is_some_and(|value| spells_boolean(text, value)),
        _ => false,
    }
}

fn spells_boolean(text: Text<'_>, value: bool) -> bool {
    text.as_str().eq_ignore_ascii_case(if value { "true" } else { "false" })
}

/// Whether a text that does not hold, or is not, another one looks as if it did: letters composed otherwise, of another script, or with
/// some between them that nobody sees.
pub(super) fn look_alike(text: &str, other: &str, test: impl Fn(&str, &str) -> bool) -> bool {
    may_look_alike(text, other) && !other.is_empty() && test(&appearance(text), &appearance(other))
}

/// The same of two texts as a whole: they are looked through as far as they look alike.
fn looks_like(text: &str, other: &str) -> bool {
    may_look_alike(text, other) && seen(text).eq(seen(other))
}

/// Texts longer than this are not looked through a second time, in bytes.
const LARGEST: usize = 1 << 20;

fn may_look_alike(text: &str, other: &str) -> bool {
    !(text.is_ascii() && other.is_ascii()) && text.len().max(other.len()) <= LARGEST
}

/// Whether a list of words, such as the arguments of a command, spells a text of several words.
pub(super) fn spells_words(items: &[Node<'_>], wanted: &Value<'_>) -> bool {
    let Value::Text(wanted) = wanted else { return false };
    let wanted = wanted.as_str();
    if !wanted.contains(' ') {
        return false;
    }
    let mut whole = String::new();
    for item in items {
        let Value::Text(word) = item.value else { return false };
        whole.push_str(word.as_str());
        whole.push(' ');
    }
    whole.contains(wanted)
}

impl<'run> Machine<'run> {
    /// Why a test of two present values counts as decided by something missing: words behind the values.
    pub(super) fn unfit_words(&self, kind: TestKind, subject: &Node<'run>, operand: &Node<'run>) -> Option<String> {
        if subject.leads_nowhere() || operand.leads_nowhere() {
            return Some("its path leads nowhere".to_owned());
        }
        let (left, right) = (&subject.value, &operand.value);
        let present = |value: &Value<'_>| !matches!(value, Value::Missing | Value::Null) && !value.is_absent();
        if !present(left) || !present(right) {
            return None;
        }
        let types = (with_article(left), with_article(right));
        Some(match kind {
            TestKind::Equal | TestKind::Identical => match (left, right) {
                (Value::List(_), _) | (_, Value::List(_)) => "a list that holds it is not the value itself".to_owned(),
                (Value::Text(_), Value::Text(_)) => "they look alike, and are written with other characters".to_owned(),
                _ => return None,
            },
            TestKind::Less | TestKind::LessOrEqual | TestKind::Greater | TestKind::GreaterOrEqual => match types {
                ("a string", "a string") => "texts that spell numbers have no order".to_owned(),
                (left, right) if left == right => format!("{left} has no order"),
                (left, right) => format!("{left} and {right} have no order"),
            },
            TestKind::In if matches!(right, Value::List(_)) => "an element is the same but for its type".to_owned(),
            TestKind::In => format!("{} is nothing that could be in {}", types.0, types.1),
            TestKind::Contains | TestKind::ContainsIgnoringCase | TestKind::ContainsAll | TestKind::ContainsAny => {
                match (left, right) {
                    (_, Value::List([])) => "nothing is looked for".to_owned(),
                    (_, Value::Text(_)) if matches!(kind, TestKind::ContainsAll | TestKind::ContainsAny) => {
                        "a text that lists several is no list".to_owned()
                    }
                    (Value::Object(_), _) => "an object has keys, and no text to look in".to_owned(),
                    (Value::List(_), _) => "no element is it, though the list spells it".to_owned(),
                    (Value::Text(_), Value::Text(_)) => {
                        "it holds what looks alike, and is written with other characters".to_owned()
                    }
                    _ => format!("{} is nothing that could contain {}", types.0, types.1),
                }
            }
            TestKind::Mentions => match right {
                Value::Text(text) if text.is_empty() => "nothing is looked for".to_owned(),
                Value::Text(_) if !matches!(left, Value::Boolean(_) | Value::Truth(_)) => {
                    "it mentions what looks alike, and is written with other characters".to_owned()
                }
                Value::Text(_) | Value::Number(_) => format!("{} mentions nothing", types.0),
                _ => format!("{} is nothing that could be mentioned", types.1),
            },
            _ => format!("{} is no text", types.0),
        })
    }
}

/// The type of a value with its article.
fn with_article(value: &Value<'_>) -> &'static str {
    match value {
        Value::Missing | Value::Absent | Value::Null => "nothing",
        Value::Boolean(_) | Value::Truth(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::Text(_) => "a string",
        Value::List(_) => "a list",
        Value::Object(_) => "an object",
        Value::Range(_) => "a range",
        Value::Regex(_) => "a regular expression",
    }
}
