//! Values that a test has no meaning for: they are evidence of nothing, so that a test which they decide counts as decided by something
//! missing (`docs/reference/expressions.md`, "Unfit values").

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::machine::Machine;
use averment_base::near::{appearance_chars, text_appearance};
use averment_base::truth::Truth;
use averment_base::value::compare::{compare_values, with_deep_stack};
use averment_base::value::{Node, Number, Value, ValueText};
use averment_syntax::ast::TestKind;
use std::cmp::Ordering;

pub(super) type EqualityTest = fn(&Value<'_>, &Value<'_>) -> bool;

/// Orders two numbers, or two texts that do not spell numbers; `None` if there is no order.
pub(super) fn value_order(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Text(a), Value::Text(b)) if spells_number(*a) || spells_number(*b) => None,
        _ => compare_values(left, right),
    }
}

/// Compares lists and objects part by part; values that are alike are no evidence of a difference.
pub(super) fn equality_truth<'v>(left: &Value<'v>, right: &Value<'v>, same: EqualityTest) -> Truth {
    match (left, right) {
        (Value::List(_), Value::List(_)) | (Value::Object(_), Value::Object(_)) => parts_equality(left, right, same),
        _ => whole_equality(left, right, same),
    }
}

fn whole_equality<'v>(left: &Value<'v>, right: &Value<'v>, same: EqualityTest) -> Truth {
    match (left, right) {
        _ if same(left, right) => Truth::True,
        _ if is_alike(left, right, same) => Truth::FalseByMissing,
        _ => Truth::False,
    }
}

/// Lists of equal length and objects with equal keys are as equal as their parts.
fn parts_equality<'v>(left: &Value<'v>, right: &Value<'v>, same: EqualityTest) -> Truth {
    let joined = |pairs: &mut dyn Iterator<Item = Truth>| {
        let mut truth = Truth::True;
        for part in pairs {
            truth = truth.and(part);
            if truth == Truth::False {
                break;
            }
        }
        truth
    };
    match (left, right) {
        (Value::Missing, _) | (_, Value::Missing) => Truth::FalseByMissing,
        (left, right) if left.is_absent() || right.is_absent() => Truth::Undecided,
        (Value::List(a), Value::List(b)) if a.len() == b.len() => {
            joined(&mut a.iter().zip(*b).map(|(a, b)| with_deep_stack(|| parts_equality(&a.value, &b.value, same))))
        }
        (Value::Object(a), Value::Object(b)) if a.entries().len() == b.entries().len() => {
            let pairs = a.entries().iter().map(|entry| (entry.node.value, b.get(entry.key).map(|node| node.value)));
            joined(
                &mut pairs.map(|(a, b)| b.map_or(Truth::False, |b| with_deep_stack(|| parts_equality(&a, &b, same)))),
            )
        }
        (Value::List(_), Value::List(_)) | (Value::Object(_), Value::Object(_)) => Truth::False,
        _ => whole_equality(left, right, same),
    }
}

/// Whether values that differ do so by their type or their writing alone: a text that spells the other one or differs by letter case, by
/// white space around it or by characters that look alike; a number that stands for the boolean; a list or an object that holds the value.
fn is_alike<'v>(left: &Value<'v>, right: &Value<'v>, same: EqualityTest) -> bool {
    match (left, right) {
        (Value::List(items), one) | (one, Value::List(items)) => items.iter().any(|item| same(&item.value, one)),
        (Value::Object(object), one) | (one, Value::Object(object)) => {
            object.entries().iter().any(|entry| same(&entry.node.value, one))
        }
        (Value::Text(a), Value::Text(b)) => {
            is_written_like(a.as_str(), b.as_str()) || looks_like(a.as_str(), b.as_str())
        }
        (Value::Text(text), other) | (other, Value::Text(text)) => spells_scalar(*text, other),
        (Value::Number(number), other) | (other, Value::Number(number)) => {
            boolean_answer(other).is_some_and(|answer| number.compare(Number::from_count(usize::from(answer))).is_eq())
        }
        _ => false,
    }
}

/// True if texts differ only in letter case or surrounding whitespace.
fn is_written_like(text: &str, other: &str) -> bool {
    let (text, other) = (text.trim(), other.trim());
    let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    text.eq_ignore_ascii_case(other) || may_look_alike(text, other) && lower(text) == lower(other)
}

fn spells_number(text: ValueText<'_>) -> bool {
    Number::from_spelling(text.as_str()).is_some()
}

fn spells_scalar(text: ValueText<'_>, other: &Value<'_>) -> bool {
    match other {
        Value::Number(number) => number.is_spelled(text.as_str()),
        other => boolean_answer(other).is_some_and(|answer| spells_boolean(text, answer)),
    }
}

fn boolean_answer(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::Boolean(value) => Some(*value),
        Value::Truth(truth) => truth.plain_answer(),
        _ => None,
    }
}

fn spells_boolean(text: ValueText<'_>, value: bool) -> bool {
    let words = if value { ["true", "yes", "on", "1"] } else { ["false", "no", "off", "0"] };
    words.iter().any(|word| text.as_str().eq_ignore_ascii_case(word))
}

/// True if a failed text test would hold for the appearance: composition, other scripts, invisible characters.
pub(super) fn look_alike(text: &str, other: &str, test: impl Fn(&str, &str) -> bool) -> bool {
    may_look_alike(text, other) && !other.is_empty() && test(&text_appearance(text), &text_appearance(other))
}

fn looks_like(text: &str, other: &str) -> bool {
    may_look_alike(text, other) && appearance_chars(text).eq(appearance_chars(other))
}

/// Bytes of a text that is examined again.
const LARGEST: usize = 1 << 20;

fn may_look_alike(text: &str, other: &str) -> bool {
    !(text.is_ascii() && other.is_ascii()) && text.len().max(other.len()) <= LARGEST
}

/// True if a list of words, such as command arguments, spells a multi-word text.
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
    /// Why a test of two present values counts as decided by something missing, as words to append.
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
                (Value::List(_), Value::List(_)) => return None,
                (Value::List(_), _) | (_, Value::List(_)) => "a list that holds it is not the value itself".to_owned(),
                (Value::Object(_), Value::Object(_)) => return None,
                (Value::Object(_), _) | (_, Value::Object(_)) => {
                    "an object that holds it is not the value itself".to_owned()
                }
                (Value::Text(a), Value::Text(b)) if is_written_like(a.as_str(), b.as_str()) => {
                    written_like(a.as_str(), b.as_str()).to_owned()
                }
                (Value::Text(_), Value::Text(_)) => "they look alike, and are written with other characters".to_owned(),
                _ => return None,
            },
            TestKind::Less | TestKind::LessOrEqual | TestKind::Greater | TestKind::GreaterOrEqual => match types {
                ("a string", "a string") => "texts that spell numbers have no order".to_owned(),
                (left, right) if left == right => format!("{left} has no order"),
                (left, right) => format!("{left} and {right} have no order"),
            },
            TestKind::In if matches!(right, Value::List(_)) => {
                holds_written_like(right, left).unwrap_or_else(|| "an element is the same but for its type".to_owned())
            }
            TestKind::In => format!("{} is nothing that could be in {}", types.0, types.1),
            TestKind::Contains | TestKind::ContainsIgnoringCase | TestKind::ContainsAll | TestKind::ContainsAny => {
                match (left, right) {
                    (_, Value::List([])) => "nothing is looked for".to_owned(),
                    (_, Value::Text(_)) if matches!(kind, TestKind::ContainsAll | TestKind::ContainsAny) => {
                        "a text that lists several is no list".to_owned()
                    }
                    (Value::Object(_), _) => "an object has keys, and no text to look in".to_owned(),
                    (Value::List(_), _) => holds_written_like(left, right)
                        .unwrap_or_else(|| "no element is it, though the list spells it".to_owned()),
                    (Value::Text(_), Value::Text(_)) => LOOKS_ALIKE.to_owned(),
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
            _ if matches!((left, right), (Value::Text(_), Value::Text(_))) => LOOKS_ALIKE.to_owned(),
            _ => format!("{} is no text", types.0),
        })
    }
}

const LOOKS_ALIKE: &str = "it holds what looks alike, and is written with other characters";

fn written_like(text: &str, other: &str) -> &'static str {
    match () {
        () if text.trim() == other.trim() => "only white space around it differs",
        () if text.to_lowercase() == other.to_lowercase() => "only the letter case differs",
        () => "only the letter case and white space around it differ",
    }
}

fn holds_written_like(list: &Value<'_>, wanted: &Value<'_>) -> Option<String> {
    let (Value::List(items), Value::Text(wanted)) = (list, wanted) else { return None };
    let texts = items.iter().filter_map(|item| if let Value::Text(text) = item.value { Some(text) } else { None });
    let mut like = texts.filter(|text| is_written_like(text.as_str(), wanted.as_str()));
    like.next().map(|text| format!("for one element {}", written_like(text.as_str(), wanted.as_str())))
}

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
