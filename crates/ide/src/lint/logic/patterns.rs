//! Subset and overlap tests between patterns.

use super::key;
use averment_base::value::glob::matches_wildcard;
use averment_checker::ir::{CheckedPattern, ExprKind, NameTest, PatternAlternative, TypedExpr};
use averment_syntax::ast::BinaryOperator;

/// True if every step that matches `small` certainly matches `large`.
#[must_use]
pub fn is_subset(small: &CheckedPattern, large: &CheckedPattern) -> bool {
    small.alternatives.iter().all(|one| large.alternatives.iter().any(|other| alternative_within(one, other)))
}

/// True if every step that matches the first alternative certainly matches the second.
#[must_use]
pub fn alternative_within(small: &PatternAlternative<TypedExpr>, large: &PatternAlternative<TypedExpr>) -> bool {
    let status = large.succeeded.is_none() || large.succeeded == small.succeeded;
    let known: Vec<String> = small.condition.iter().flat_map(split_conjuncts).map(key::expr_key).collect();
    let conditions = large.condition.iter().flat_map(split_conjuncts).all(|part| known.contains(&key::expr_key(part)));
    let free = large.binds.is_empty() && large.joins.is_empty();
    small.kind == large.kind
        && small.proposed == large.proposed
        && status
        && conditions
        && free
        && name_within(&small.name, &large.name)
}

fn name_within(small: &NameTest, large: &NameTest) -> bool {
    match (small, large) {
        (_, NameTest::Any) => true,
        (NameTest::Exactly(name), NameTest::Glob(glob)) => matches_wildcard(glob, name),
        (NameTest::Glob(small), NameTest::Glob(large)) => {
            // A glob that ends with a star covers every glob that starts with its literal part.
            small == large
                || large.strip_suffix('*').is_some_and(|start| !start.contains(['*', '?']) && small.starts_with(start))
        }
        (small, large) => small == large,
    }
}

/// Returns true if certainly no step matches both.
#[must_use]
pub fn is_disjoint(one: &CheckedPattern, other: &CheckedPattern) -> bool {
    one.alternatives.iter().all(|a| other.alternatives.iter().all(|b| alternatives_apart(a, b)))
}

fn alternatives_apart(a: &PatternAlternative<TypedExpr>, b: &PatternAlternative<TypedExpr>) -> bool {
    let status = matches!((a.succeeded, b.succeeded), (Some(a), Some(b)) if a != b);
    let names = match (&a.name, &b.name) {
        (NameTest::Exactly(a), NameTest::Exactly(b)) => a != b,
        (NameTest::Exactly(name), NameTest::Glob(glob)) | (NameTest::Glob(glob), NameTest::Exactly(name)) => {
            !matches_wildcard(glob, name)
        }
        _ => false,
    };
    a.kind != b.kind || a.proposed != b.proposed || status || names
}

/// Returns true if a pattern has no bindings and no joins, so that its steps have a single count.
#[must_use]
pub fn is_free(pattern: &CheckedPattern) -> bool {
    pattern.alternatives.iter().all(|one| one.binds.is_empty() && one.joins.is_empty())
}

/// Returns the parts of a condition that are joined by `and`.
#[must_use]
pub fn split_conjuncts(condition: &TypedExpr) -> Vec<&TypedExpr> {
    let (mut found, mut open) = (Vec::new(), vec![condition]);
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Binary(BinaryOperator::And, left, right) => open.extend([&**right, &**left]),
            _ => found.push(expr),
        }
    }
    found
}
