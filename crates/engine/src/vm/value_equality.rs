//! Values that a test has no meaning for: they are evidence of nothing, so that a test which they decide counts as decided by something
//! missing (`docs/reference/expressions.md`, "Unfit values").

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::truth::Truth;
use averment_base::value::compare::with_deep_stack;
use averment_base::value::likeness::{EqualityTest, holds_value, whole_equality};
use averment_base::value::{Node, Value};
use averment_builtins::other_spelling::TextTest;

/// Compares lists and objects part by part; values that are alike, or of which one holds the other, are no evidence of a difference.
pub(super) fn equality_truth<'v>(left: &Value<'v>, right: &Value<'v>, same: EqualityTest) -> Truth {
    match (left, right) {
        (Value::List(_), Value::List(_)) | (Value::Object(_), Value::Object(_)) => parts_equality(left, right, same),
        _ => spelled_equality(left, right, same),
    }
}

/// Texts that name one command, path or URL in two spellings are no evidence of a difference either.
fn spelled_equality<'v>(left: &Value<'v>, right: &Value<'v>, same: EqualityTest) -> Truth {
    match (whole_equality(left, right, same), left, right) {
        (Truth::False, Value::Text(text), Value::Text(wanted)) => {
            // In a list of the run, what is looked for stands on the left.
            let is_other = |text: &str, wanted: &str| {
                let test = TextTest { text, wanted, answer: false, is_whole: true };
                test.other_spelling(|text, wanted| text == wanted).is_some()
            };
            let (left, right) = (text.as_str(), wanted.as_str());
            let respelled = is_other(left, right) || is_other(right, left);
            if respelled { Truth::FalseByMissing } else { Truth::False }
        }
        (truth, ..) => truth,
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
        _ => return spelled_equality(left, right, same),
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

/// Every text holds an empty one.
pub(super) fn looks_for_nothing(whole: &Value<'_>, part: &Value<'_>) -> bool {
    matches!((whole, part), (Value::Text(_), Value::Text(part)) if part.is_empty())
}
