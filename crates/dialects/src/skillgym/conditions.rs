//! Conditions: negating and joining them when a program may throw or a value may be `undefined`.

use super::value::{RunExpr, RunExprKind, join_needs, negate_condition};
use crate::writer::BindingStrength;

/// The strictness of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EqualityKind {
    Strict,
    /// `==`, which converts values.
    Loose,
}

/// Compares two values that may be `undefined`. They are equal if both are `undefined`.
pub(super) fn equal_or_missing(one: &RunExpr, other: &RunExpr) -> RunExpr {
    let [a, b] = [one, other].map(|side| side.nested_text(BindingStrength::Sum));
    let holds = format!("({a} == {b} or {a} is missing and {b} is missing)");
    let differ = format!("{a} exists and {b} exists and {a} != {b}");
    let fails = format!("({a} exists and {b} is missing or {a} is missing and {b} exists or {differ})");
    let needs = join_needs(one.needs.as_deref(), other.needs.as_deref());
    let needed = |text: String| match &needs {
        Some(needs) => format!("({needs} and {text})"),
        None => text,
    };
    let (holds, opposite) = (needed(holds), Some(needed(fails)));
    RunExpr { opposite, needs, ..RunExpr::new(holds, RunExprKind::Truth) }
}

/// Returns the needs of `a || b`, where `b` is evaluated only if `a` (`passed_over`) does not hold. For `a && b`, pass the negation of `a`.
fn needs_of_both(one: &RunExpr, passed_over: &RunExpr, other: &RunExpr) -> Option<String> {
    let second = other
        .needs
        .as_ref()
        .map(|needs| format!("({} or {needs})", passed_over.as_total().nested_text(BindingStrength::Or)));
    join_needs(one.needs.as_deref(), second.as_deref())
}

fn any_text(one: &RunExpr, other: &RunExpr) -> RunExpr {
    let binds = BindingStrength::Or;
    let text = format!("{} or {}", one.nested_text(binds), other.nested_text(binds));
    match &one.needs {
        // If the first condition throws, the second is not reached.
        Some(needs) => RunExpr::new(format!("({needs} and ({text}))"), RunExprKind::Truth),
        None => RunExpr::with_binding(text, binds, RunExprKind::Truth),
    }
}

fn all_text(one: &RunExpr, other: &RunExpr) -> RunExpr {
    let binds = BindingStrength::And;
    let text = format!("{} and {}", one.nested_text(binds), other.nested_text(binds));
    RunExpr::with_binding(text, binds, RunExprKind::Truth)
}

pub(super) fn join_any(one: &RunExpr, other: &RunExpr) -> RunExpr {
    let needs = needs_of_both(one, one, other);
    let opposite = needs
        .as_ref()
        .map(|_| all_text(&negate_condition(one), &negate_condition(other)).nested_text(BindingStrength::Closely));
    let total = join_totals(one, other, |[a, x], [b, y]| {
        let needed = one.needs.as_ref().map(|needs| format!("{needs} and ")).unwrap_or_default();
        [format!("({needed}({a} or {b}))"), format!("({x} and {y})")]
    });
    RunExpr { needs, opposite, total, ..any_text(one, other) }
}

fn join_totals(
    one: &RunExpr,
    other: &RunExpr,
    join: impl Fn([String; 2], [String; 2]) -> [String; 2],
) -> Option<Box<[String; 2]>> {
    let is_partial = one.total.is_some() || other.total.is_some();
    is_partial.then(|| Box::new(join(one.total_texts(), other.total_texts())))
}

pub(super) fn join_all(one: &RunExpr, other: &RunExpr) -> RunExpr {
    let negated = negate_condition(one);
    let needs = needs_of_both(one, &negated, other);
    let opposite =
        needs.as_ref().map(|_| any_text(&negated, &negate_condition(other)).nested_text(BindingStrength::Closely));
    let total = join_totals(one, other, |[a, x], [b, y]| {
        let needed = one.needs.as_ref().map(|needs| format!("{needs} and ")).unwrap_or_default();
        [format!("({a} and {b})"), format!("({needed}({x} or {y}))")]
    });
    RunExpr { needs, opposite, total, ..all_text(one, other) }
}

/// The total number of tokens. Here it includes cached tokens; in SkillGym it does not.
const ALL_TOKENS: &str = "usage.total_tokens";

fn within_tokens(test: RunExpr) -> RunExpr {
    // If the total already excludes cached tokens, the run was read with SkillGym's semantics.
    let is_without = "usage.total_tokens + usage.cache_read_tokens == usage.input_tokens + usage.output_tokens";
    let guard = format!("usage.cache_read_tokens is missing or usage.cache_read_tokens == 0 or {is_without}");
    test.decided_where(&guard, "SkillGym does not count what a cache saved: --compat skillgym")
}

/// Makes a test of the total token count undecided if tokens were cached, because SkillGym counts differently.
pub(super) fn sure_of_tokens(told: &RunExpr, test: RunExpr) -> RunExpr {
    if told.text == ALL_TOKENS { within_tokens(test) } else { test }
}

/// Tests a bound on the total token count. The count here includes cached tokens, so a lower bound is certain only without them.
pub(super) fn bound_of_tokens(operator: &str, left: &RunExpr, right: &RunExpr, test: &RunExpr) -> Option<RunExpr> {
    let is_first = left.text == ALL_TOKENS;
    if !is_first && right.text != ALL_TOKENS {
        return None;
    }
    let opposite = negate_condition(test).text;
    let within = within_tokens(test.clone());
    let is_lower = operator.starts_with('>') == is_first;
    Some(match is_lower {
        true => RunExpr { opposite: Some(opposite), ..within },
        false => RunExpr { opposite: within.opposite, ..test.clone() },
    })
}
