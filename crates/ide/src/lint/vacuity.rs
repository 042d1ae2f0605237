//! What holds because nothing exercised it.

use super::context::Context;
use super::logic::patterns::within;
use super::logic::witness::at_path;
use super::meaning::meaning;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_engine::check::walk;
use averment_engine::ir::{Assertion, Check, Expr, ExprKind, Pattern, ValueTest};
use averment_syntax::ast::{ExprQuantifier, TestKind};
use serde_json::json;

/// Assertions of the file.
fn own<'a>(context: &Context<'a>) -> Vec<&'a Assertion> {
    let root = context.root;
    context.checked.module.assertions.iter().filter(|one| one.span.file == root).collect()
}

/// Statements about the order of steps, where nothing asks for those that they speak of.
pub fn existence(context: &mut Context<'_>) {
    let assertions = own(context);
    let asked: Vec<&Pattern> = assertions.iter().flat_map(|one| demanded(&one.check)).collect();
    for assertion in assertions {
        let Check::Temporal(temporal) = &assertion.check else { continue };
        let triggers = meaning(temporal).triggers;
        if triggers.iter().any(|trigger| asked.iter().any(|asked| within(asked, &without_conditions(trigger)))) {
            continue;
        }
        let Some(first) = triggers.first() else { continue };
        let name = first.text.split(['(', ' ']).next().unwrap_or(&first.text);
        let message = format!("a run without `{name}` makes this vacuous, and nothing here asks for one");
        context.report(
            Diagnostic::new(Slug::OrderWithoutExistence, assertion.span, message)
                .help(format!("add `require {name}`, or check with `--deny vacuous`"))
                .witness(Some(&json!({"calls": []})), "is vacuous"),
        );
    }
}

/// The pattern with any arguments: who asks for a refund asks for what a statement about large refunds speaks of.
fn without_conditions(pattern: &Pattern) -> Pattern {
    let mut wide = pattern.clone();
    for one in &mut wide.alternatives {
        one.condition = None;
        one.binds.clear();
        one.joins.clear();
        one.succeeded = None;
    }
    wide
}

/// The patterns that an assertion asks for.
fn demanded(check: &Check<Pattern, Expr>) -> Vec<&Pattern> {
    match check {
        Check::Temporal(temporal) => meaning(temporal).asks,
        Check::Group { members, .. } => members.iter().flat_map(|member| demanded(&member.check)).collect(),
        Check::Expression(_) | Check::Not(_) | Check::Scoped { .. } | Check::World(_) | Check::OverRuns(_) => {
            Vec::new()
        }
    }
}

/// `all x in xs: c` of a list that may be empty.
pub fn quantifiers(context: &mut Context<'_>) {
    for assertion in own(context) {
        let Check::Expression(expr) = &assertion.check else { continue };
        let ExprKind::Quantifier(ExprQuantifier::All | ExprQuantifier::No, _, source, _) = &expr.kind else { continue };
        let text = context.text(source.span).to_owned();
        let shown = path_of(source).and_then(|path| at_path(&path, json!([])));
        context.report(
            Diagnostic::new(Slug::VacuousQuantifier, expr.span, format!("this holds where `{text}` is empty"))
                .help(format!("write `{text} is not empty and …` where there has to be one"))
                .witness(shown.as_ref(), "is vacuous"),
        );
    }
}

/// `output.status != "failed"`: also true where there is no status at all.
pub fn missing(context: &mut Context<'_>) {
    for assertion in own(context) {
        let Check::Expression(Expr { kind: ExprKind::Test(tested), .. }) = &assertion.check else { continue };
        let looks = matches!(tested.kind, ValueTest::Plain(TestKind::Exists | TestKind::IsMissing | TestKind::IsEmpty));
        let Some(path) = path_of(&tested.subject).filter(|path| path.len() > 1 && tested.negated && !looks) else {
            continue;
        };
        let text = context.text(tested.subject.span).to_owned();
        let shown = path.split_last().and_then(|(_, folder)| at_path(folder, json!({})));
        context.report(
            Diagnostic::new(Slug::MissingOnly, assertion.span, format!("this also holds where `{text}` is missing"))
                .help(format!("write `{text} exists and …` where it has to be there"))
                .witness(shown.as_ref(), "is vacuous"),
        );
    }
}

/// The keys of a plain path from a root of the run.
fn path_of(expr: &Expr) -> Option<Vec<String>> {
    match walk::path(expr) {
        (ExprKind::Root(name), keys) => Some(std::iter::once((*name).to_owned()).chain(keys).collect()),
        _ => None,
    }
}
