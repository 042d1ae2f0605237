//! Lints for assertions that hold because nothing exercises them.

use super::context::LintContext;
use super::lint_semantics::statement_semantics;
use super::logic::patterns::is_subset;
use super::logic::witness::value_at_path;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_checker::ir::{AssertionCheck, CheckedPattern, ExprKind, TypedExpr, ValueTest};
use averment_checker::walk;
use averment_syntax::ast::{ExprQuantifier, TestKind};
use serde_json::json;

/// Reports statements about the order of steps if no other statement requires these steps.
pub fn missing_existence(context: &mut LintContext<'_>) {
    let assertions = context.own_assertions();
    let asked: Vec<&CheckedPattern> = assertions.iter().flat_map(|one| demanded_patterns(&one.check)).collect();
    for assertion in assertions {
        let AssertionCheck::Temporal(temporal) = &assertion.check else { continue };
        let triggers = statement_semantics(temporal).triggers;
        if triggers.iter().any(|trigger| asked.iter().any(|asked| is_subset(asked, &without_conditions(trigger)))) {
            continue;
        }
        let Some(first) = triggers.first() else { continue };
        let name = first.text.split(['(', ' ']).next().unwrap_or(&first.text);
        let message = format!("a run without `{name}` makes this vacuous, and nothing here asks for one");
        context.report(
            Diagnostic::new(Slug::OrderWithoutExistence, assertion.span, message)
                .with_help(format!("add `require {name}`, or check with `--deny vacuous`"))
                .with_witness(Some(&json!({"calls": []})), "is vacuous"),
        );
    }
}

/// Returns the pattern with any arguments, because requiring a refund covers a statement about large refunds.
fn without_conditions(pattern: &CheckedPattern) -> CheckedPattern {
    let mut wide = pattern.clone();
    for one in &mut wide.alternatives {
        one.condition = None;
        one.binds.clear();
        one.joins.clear();
        one.succeeded = None;
    }
    wide
}

fn demanded_patterns(check: &AssertionCheck<CheckedPattern, TypedExpr>) -> Vec<&CheckedPattern> {
    match check {
        AssertionCheck::Temporal(temporal) => statement_semantics(temporal).demands,
        AssertionCheck::Group { members, .. } => {
            members.iter().flat_map(|member| demanded_patterns(&member.check)).collect()
        }
        AssertionCheck::Expression(_)
        | AssertionCheck::Not(_)
        | AssertionCheck::Scoped { .. }
        | AssertionCheck::World(_)
        | AssertionCheck::OverRuns(_) => Vec::new(),
    }
}

/// Reports `all x in xs: c` over a list that may be empty.
pub fn vacuous_quantifiers(context: &mut LintContext<'_>) {
    for assertion in context.own_assertions() {
        let AssertionCheck::Expression(expr) = &assertion.check else { continue };
        let ExprKind::Quantifier(ExprQuantifier::All | ExprQuantifier::No, _, source, _) = &expr.kind else { continue };
        let text = context.span_text(source.span).to_owned();
        let shown = expr_path(source).and_then(|path| value_at_path(&path, json!([])));
        context.report(
            Diagnostic::new(Slug::VacuousQuantifier, expr.span, format!("this holds where `{text}` is empty"))
                .with_help(format!("write `{text} is not empty and …` where there has to be one"))
                .with_witness(shown.as_ref(), "is vacuous"),
        );
    }
}

/// Reports `output.status != "failed"`, which also holds if there is no status.
pub fn missing_values(context: &mut LintContext<'_>) {
    for assertion in context.own_assertions() {
        let AssertionCheck::Expression(TypedExpr { kind: ExprKind::Test(tested), .. }) = &assertion.check else {
            continue;
        };
        let looks = matches!(tested.kind, ValueTest::Plain(TestKind::Exists | TestKind::IsMissing | TestKind::IsEmpty));
        let Some(path) = expr_path(&tested.subject).filter(|path| path.len() > 1 && tested.negated && !looks) else {
            continue;
        };
        let text = context.span_text(tested.subject.span).to_owned();
        let shown = path.split_last().and_then(|(_, folder)| value_at_path(folder, json!({})));
        context.report(
            Diagnostic::new(Slug::MissingOnly, assertion.span, format!("this also holds where `{text}` is missing"))
                .with_help(format!("write `{text} exists and …` where it has to be there"))
                .with_witness(shown.as_ref(), "is vacuous"),
        );
    }
}

/// Returns the keys of a plain path from a root of the run.
fn expr_path(expr: &TypedExpr) -> Option<Vec<String>> {
    match walk::key_path(expr) {
        (ExprKind::Root(name), keys) => Some(std::iter::once((*name).to_owned()).chain(keys).collect()),
        _ => None,
    }
}
