//! `count A <= 5 within 10s`, `sum(E of A) <= 5 in a row`: a condition around every step that matches.

use super::Checker;
use super::expr::CheckedExpr;
use super::scope::NameScope;
use super::selections::collect_selections;
use super::temporal::CheckedStatement;
use super::walk;
use crate::ir::{AssertionCheck, SelectionReach, Temporal};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_runs::run::StepKind;
use averment_syntax::ast::{self, Quantifier, SlidingExtent};

impl<'a> Checker<'a> {
    /// The condition applies to every step that its only list is built from.
    pub(super) fn check_sliding(
        &mut self,
        scope: &NameScope<'a>,
        condition: &'a ast::Expr,
        over: &'a SlidingExtent,
        span: Span,
    ) -> CheckedStatement {
        let (reach, word, place) = match over {
            SlidingExtent::Within(within) => {
                (self.check_within(within).map(SelectionReach::Within), "within", within.span)
            }
            SlidingExtent::Row(place) => (Some(SelectionReach::Row), "in a row", *place),
        };
        let inner = NameScope { binds: true, reach: Some(reach.unwrap_or(SelectionReach::Run)), ..scope.clone() };
        let mut condition = self.condition_expr(&inner, condition);
        let mut found = Vec::new();
        collect_selections(&condition, &mut found);
        found.retain(|one| !matches!(one.reach, SelectionReach::SoFar | SelectionReach::StartedSoFar));
        let [selection] = found.as_slice() else {
            self.report_no_list(word, place, found.len());
            return AssertionCheck::Expression(CheckedExpr::broken_at(span).expr);
        };
        let step = selection.pattern.clone();
        let other = step.alternatives.iter().find(|alternative| alternative.kind != StepKind::Call);
        if let (SelectionReach::Row, Some(other)) = (selection.reach, other) {
            let message = format!("`in a row` works only on calls, and this is a {}", other.kind.as_str());
            self.report_diagnostic(
                Diagnostic::new(Slug::CallsOnly, step.span, message).with_help("name tools, or leave `in a row` out"),
            );
        }
        if let [alternative] = step.alternatives.as_slice() {
            walk::substitute_bindings(&mut condition, &alternative.binds);
        }
        AssertionCheck::Temporal(Temporal::Each { quantifier: Quantifier::Each, step, condition })
    }

    fn report_no_list(&mut self, word: &str, place: Span, found: usize) {
        let (message, help) = match found {
            0 => (
                format!("`{word}` has no steps to look at"),
                format!("write it after a count or a list of steps: `count refund <= 5 {}`", sliding_example(word)),
            ),
            _ => (
                format!("`{word}` goes around one list of steps, and this has {found}"),
                "compare one count or list with a value".to_owned(),
            ),
        };
        self.report_diagnostic(Diagnostic::new(Slug::Misplaced, place, message).with_help(help));
    }
}

fn sliding_example(word: &str) -> &str {
    if word == "within" { "within 10s" } else { word }
}
