//! Conditions: their opposites, and how they are joined where a program may throw or meet `undefined`.

use super::value::{RunExpr, RunExprKind, join_needs, negate_condition};
use crate::writer::BindingStrength;

/// How strictly the program compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EqualityKind {
    Strict,
    /// `==`, which converts values.
    Loose,
}

/// Of two values that may be `undefined`, which are equal where both of them are.
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

/// What `a || b` needs, of which `b` is looked at where `a` does not hold; `a && b` with the opposite of `a`.
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
        // Where the first of them throws the other one is not reached.
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
