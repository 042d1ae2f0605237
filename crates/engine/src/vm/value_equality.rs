//! Values that a test has no meaning for: they are evidence of nothing, so that a test which they decide counts as decided by something
//! missing (`docs/reference/expressions.md`, "Unfit values").

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::machine::Machine;
use super::membership::looks_for_nothing;
use super::value_likeness::{holds_value, is_alike, is_framed, is_written_like};
use averment_base::truth::Truth;
use averment_base::value::compare::with_deep_stack;
use averment_base::value::{Node, Value};
use averment_syntax::ast::TestKind;

pub(super) type EqualityTest = fn(&Value<'_>, &Value<'_>) -> bool;

/// Compares lists and objects part by part; values that are alike, or of which one holds the other, are no evidence of a difference.
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
    let truth = match (left, right) {
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
        _ => return whole_equality(left, right, same),
    };
    let holds = || holds_value(left, right, same) || holds_value(right, left, same);
    if truth == Truth::False && holds() { Truth::FalseByMissing } else { truth }
}

/// True if a list of words, such as command arguments, spells a multi-word text.
pub(super) fn spells_words(items: &[Node<'_>], wanted: &Value<'_>) -> bool {
    let Value::Text(wanted) = wanted else { return false };
    let wanted = wanted.as_str();
    if !wanted.contains(' ') {
        return false;
    }
    let mut whole = String::from(" ");
    for item in items {
        let Value::Text(word) = item.value else { return false };
        whole.push_str(word.as_str());
        whole.push(' ');
    }
    whole.contains(&format!(" {wanted} "))
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
                (Value::Object(_), Value::Object(_)) => return None,
                (Value::Text(text), Value::List(_) | Value::Object(_) | Value::Number(_) | Value::Boolean(_))
                | (Value::List(_) | Value::Object(_) | Value::Number(_) | Value::Boolean(_), Value::Text(text))
                    if is_framed(text.as_str()) =>
                {
                    "one is a text in JSON that is or holds the other, or nearly".to_owned()
                }
                (Value::List(_), _) | (_, Value::List(_)) => "a list that holds it is not the value itself".to_owned(),
                (Value::Object(_), _) | (_, Value::Object(_)) => {
                    "an object that holds it is not the value itself".to_owned()
                }
                (Value::Text(a), Value::Text(b)) if is_written_like(a.as_str(), b.as_str()) => {
                    written_like(a.as_str(), b.as_str()).to_owned()
                }
                (Value::Text(a), Value::Text(b)) if is_framed(a.as_str()) || is_framed(b.as_str()) => {
                    "one is a text in JSON that is or holds the other, or nearly".to_owned()
                }
                (Value::Text(_), Value::Text(_)) => "they look alike, and are written with other characters".to_owned(),
                _ => return None,
            },
            TestKind::Less | TestKind::LessOrEqual | TestKind::Greater | TestKind::GreaterOrEqual => match types {
                ("a string", "a string") => "a number, date, time or version has no order with another text".to_owned(),
                (left, right) if left == right => format!("{left} has no order"),
                (left, right) => format!("{left} and {right} have no order"),
            },
            TestKind::In if matches!(right, Value::List(_)) => {
                holds_written_like(right, left).unwrap_or_else(|| "an element is nearly it, or holds it".to_owned())
            }
            TestKind::In if looks_for_nothing(right, left) => NOTHING.to_owned(),
            TestKind::In => format!("{} is nothing that could be in {}", types.0, types.1),
            TestKind::Contains | TestKind::ContainsIgnoringCase | TestKind::ContainsAll | TestKind::ContainsAny => {
                match (left, right) {
                    (_, Value::List([])) => NOTHING.to_owned(),
                    (left, right) if looks_for_nothing(left, right) => NOTHING.to_owned(),
                    (_, Value::Text(_)) if matches!(kind, TestKind::ContainsAll | TestKind::ContainsAny) => {
                        "a text that lists several is no list".to_owned()
                    }
                    (Value::Object(_), _) => "an object has keys, and no text to look in".to_owned(),
                    (Value::List(_), Value::Regex(_)) => "a list is no text".to_owned(),
                    (Value::List(items), wanted) if spells_words(items, wanted) => {
                        "no element is it, though the list spells it".to_owned()
                    }
                    (Value::List(_), _) => holds_written_like(left, right)
                        .unwrap_or_else(|| "no element is it, though one is nearly it or holds it".to_owned()),
                    (Value::Text(_), Value::Text(_)) => LOOKS_ALIKE.to_owned(),
                    _ => format!("{} is nothing that could contain {}", types.0, types.1),
                }
            }
            TestKind::Mentions => match right {
                Value::Text(text) if text.is_empty() => NOTHING.to_owned(),
                Value::Text(_) if !matches!(left, Value::Boolean(_) | Value::Truth(_)) => {
                    "it mentions what looks alike, and is written with other characters".to_owned()
                }
                Value::Text(_) | Value::Number(_) => format!("{} mentions nothing", types.0),
                _ => format!("{} is nothing that could be mentioned", types.1),
            },
            _ if looks_for_nothing(left, right) => NOTHING.to_owned(),
            _ if matches!((left, right), (Value::Text(_), Value::Text(_))) => LOOKS_ALIKE.to_owned(),
            _ => format!("{} is no text", types.0),
        })
    }
}

impl Machine<'_> {
    /// What asks each element of a list for a part: `any x in to: x contains "evil"`.
    pub(super) fn part_help(
        &self,
        kind: TestKind,
        at: usize,
        subject: &Value<'_>,
        operand: &Value<'_>,
    ) -> Option<String> {
        let word = match kind {
            TestKind::Contains => "contains",
            TestKind::ContainsIgnoringCase => "icontains",
            TestKind::StartsWith => "starts with",
            TestKind::EndsWith => "ends with",
            TestKind::Matches => "matches",
            _ => return None,
        };
        let Value::List(items) = subject else { return None };
        if spells_words(items, operand) || holds_written_like(subject, operand).is_some() {
            return None;
        }
        let text = self.rule_text(self.op_span(at));
        let (front, rest) = match text.split_once(&format!(" {word} ")) {
            Some(parts) => parts,
            None if kind == TestKind::Matches => text.split_once(": ")?,
            None => return None,
        };
        let (path, quantifier) = match front.strip_suffix(" not").map(str::trim_end) {
            Some(path) => (path, "no"),
            None => (front, "any"),
        };
        let is_path = |letter: char| letter.is_alphanumeric() || "_.[]*-".contains(letter);
        let whole = path.chars().all(is_path) && !path.is_empty() && !rest.ends_with('…');
        whole.then(|| format!("{quantifier} x in {path}: x {word} {rest}"))
    }
}

const NOTHING: &str = "nothing is looked for";
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
