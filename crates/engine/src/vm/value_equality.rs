//! Values that a test has no meaning for: they are evidence of nothing, so that a test which they decide counts as decided by something
//! missing (`docs/reference/expressions.md`, "Unfit values").

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::limits::{FuelMeter, LimitError};
use averment_base::truth::Truth;
use averment_base::value::compare::with_deep_stack;
use averment_base::value::likeness::{EqualityTest, holds_value, whole_equality};
use averment_base::value::{Node, Value};
use averment_builtins::other_spelling::{equality_cost, equality_spelling};
use std::cell::Cell;

/// Compares lists and objects part by part; values that are alike, or of which one holds the other, are no evidence of a difference.
pub(super) fn equality_truth<'v>(left: &Value<'v>, right: &Value<'v>, same: EqualityTest) -> Truth {
    EqualityPass::new(same).whole_truth(left, right)
}

/// The same, with the fuel of texts that may be spelled otherwise; all else the caller has charged.
pub(super) fn charged_equality<'v>(
    left: &Value<'v>,
    right: &Value<'v>,
    same: EqualityTest,
    meter: &mut FuelMeter,
) -> Result<Truth, LimitError> {
    let pass = EqualityPass::new(same);
    let truth = pass.whole_truth(left, right);
    match pass.spelled.get() {
        0 => {}
        bytes => meter.charge_scan(bytes)?,
    }
    Ok(truth)
}

/// One comparison of two values.
struct EqualityPass {
    same: EqualityTest,
    /// Bytes that were gone over for other spellings.
    spelled: Cell<usize>,
}

impl EqualityPass {
    fn new(same: EqualityTest) -> Self {
        Self { same, spelled: Cell::new(0) }
    }

    fn whole_truth<'v>(&self, left: &Value<'v>, right: &Value<'v>) -> Truth {
        match (left, right) {
            (Value::List(_), Value::List(_)) | (Value::Object(_), Value::Object(_)) => self.parts_truth(left, right),
            _ => self.spelled_truth(left, right),
        }
    }

    /// Texts that name one command, path or URL in two spellings are no evidence of a difference either.
    fn spelled_truth<'v>(&self, left: &Value<'v>, right: &Value<'v>) -> Truth {
        let truth = whole_equality(left, right, self.same);
        let (Truth::False, Value::Text(left), Value::Text(right)) = (truth, left, right) else { return truth };
        let (left, right) = (left.as_str(), right.as_str());
        let cost = equality_cost(left, right);
        self.spelled.set(self.spelled.get().saturating_add(cost));
        if cost > 0 && equality_spelling(left, right).is_some() { Truth::FalseByMissing } else { truth }
    }

    /// Lists of equal length and objects with equal keys are as equal as their parts.
    fn parts_truth<'v>(&self, left: &Value<'v>, right: &Value<'v>) -> Truth {
        let part = |a: &Value<'v>, b: &Value<'v>| with_deep_stack(|| self.parts_truth(a, b));
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
                joined(&mut a.iter().zip(*b).map(|(a, b)| part(&a.value, &b.value)))
            }
            (Value::Object(a), Value::Object(b)) if a.entries().len() == b.entries().len() => {
                let pairs = a.entries().iter().map(|entry| (entry.node.value, b.get(entry.key).map(|node| node.value)));
                joined(&mut pairs.map(|(a, b)| b.map_or(Truth::False, |b| part(&a, &b))))
            }
            (Value::List(_), Value::List(_)) | (Value::Object(_), Value::Object(_)) => Truth::False,
            _ => return self.spelled_truth(left, right),
        };
        let holds = || holds_value(left, right, self.same) || holds_value(right, left, self.same);
        if truth == Truth::False && holds() { Truth::FalseByMissing } else { truth }
    }
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
