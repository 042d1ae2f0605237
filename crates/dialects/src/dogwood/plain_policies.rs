//! Policies whose decision is known without a run. They are mistakes, or have a condition without effect.

use super::tree::{CedarExpr, EntityTest, PastCondition, PolicyRule, ScopeRoot};
use crate::shape::DiagnosticSink;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// Reports policies that always or never apply, and files in which no policy permits anything.
pub(super) fn note_plain(policies: &[PolicyRule], whole: Span, said: &mut DiagnosticSink) {
    for policy in policies {
        let verb = if policy.permits { "permits" } else { "forbids" };
        let (message, help) = match applies(policy) {
            Some(false) => (format!("this {verb} no call: its condition is never met"), "mend the condition"),
            Some(true) if policy.scope.is_empty() => (format!("this {verb} every call"), "name an action, or say when"),
            Some(true) if !policy.conditions.is_empty() => {
                ("the condition of this policy is always met".to_owned(), "mend the condition, or take it away")
            }
            _ => continue,
        };
        said.warning(Slug::AlwaysTrue, policy.span, message, help);
    }
    if !policies.iter().any(|policy| policy.permits && applies(policy) != Some(false)) {
        let place = policies.first().map_or(whole, |policy| policy.span);
        said.warning(Slug::AlwaysTrue, place, "no policy permits anything: every call is denied", "write a `permit`");
    }
}

/// Returns whether all conditions are met, if the text alone decides that.
fn applies(policy: &PolicyRule) -> Option<bool> {
    let own = policy.scope.iter().find_map(|scope| match (&scope.test, scope.root) {
        (EntityTest::Equals(entity), ScopeRoot::Action) => Some(entity.id.as_str()),
        _ => None,
    });
    let met = policy.conditions.iter().map(|one| constant(&one.body, own).map(|truth| truth != one.negated));
    met.fold(Some(true), both)
}

fn both(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn constant(expr: &CedarExpr, own: Option<&str>) -> Option<bool> {
    match expr {
        CedarExpr::Literal(text) => text.parse().ok(),
        CedarExpr::Not(inner) => constant(inner, own).map(|truth| !truth),
        CedarExpr::Binary("and", left, right) => both(constant(left, own), constant(right, own)),
        CedarExpr::Binary("or", left, right) => {
            let opposite = |side: &CedarExpr| constant(side, own).map(|truth| !truth);
            both(opposite(left), opposite(right)).map(|truth| !truth)
        }
        CedarExpr::Temporal(past) => past_constant(past, own),
        _ => None,
    }
}

/// Evaluates a condition on the past if the text alone decides it. A request is part of its own past, so a search for an equal request always
/// succeeds.
fn past_constant(past: &PastCondition, own: Option<&str>) -> Option<bool> {
    match past {
        PastCondition::Not(inner) => past_constant(inner, own).map(|truth| !truth),
        PastCondition::And(all) => all.iter().map(|one| past_constant(one, own)).fold(Some(true), both),
        PastCondition::Formerly { body, .. } => match &**body {
            PastCondition::Event(event) => {
                let is_own = own == Some(&event.action.id) && event.kind == "request" && event.fields.is_empty();
                is_own.then_some(true)
            }
            _ => None,
        },
        _ => None,
    }
}
