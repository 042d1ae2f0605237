//! What can be said more simply.

use super::context::Context;
use super::walk::{self, Visit};
use crate::diagnostic::{Diagnostic, Slug};
use crate::syntax::ast::{Expr, ExprKind, TestKind, ValueTest};

/// Shapes of single expressions.
pub fn expressions(context: &mut Context<'_>) {
    walk::file(context.ast(), &mut Shapes(context));
}

struct Shapes<'c, 'a>(&'c mut Context<'a>);

impl<'a> Visit<'a> for Shapes<'_, 'a> {
    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Not(inner) => self.double_negation(expr, inner),
            ExprKind::Test { subject, test } => {
                self.yoda(expr, subject, test);
                self.boolean(expr, subject, test);
            }
            _ => {}
        }
    }
}

/// The expression without parentheses around it.
fn bare(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let ExprKind::Group(inner) = &expr.kind {
        expr = inner;
    }
    expr
}

/// A value that is written out.
fn is_literal(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Null | ExprKind::Boolean(_) | ExprKind::Number(_) | ExprKind::Text(_))
}

impl<'a> Shapes<'_, 'a> {
    /// `not (a != b)`, `not not a`.
    fn double_negation(&mut self, expr: &'a Expr, inner: &'a Expr) {
        let inner = bare(inner);
        let text = |context: &Context<'a>, one: &Expr| context.text(one.span).to_owned();
        match &inner.kind {
            ExprKind::Not(twice) => {
                let plain = text(self.0, twice);
                self.0.report(
                    Diagnostic::new(Slug::DoubleNegation, expr.span, "`not not` says nothing")
                        .help(format!("write `{plain}`"))
                        .fix("remove both `not`", expr.span, plain),
                );
            }
            ExprKind::Test { subject, test } if test.negated => {
                let Some(positive) = positive(self.0, subject, test) else { return };
                self.0.report(
                    Diagnostic::new(
                        Slug::DoubleNegation,
                        expr.span,
                        "`not` before a negated test: two negations are one too many",
                    )
                    .help(format!("write `{positive}`"))
                    .fix("say it without negation", expr.span, positive),
                );
            }
            _ => {}
        }
    }

    /// `3 < x`.
    fn yoda(&mut self, expr: &'a Expr, subject: &'a Expr, test: &'a ValueTest) {
        let Some(operand) = test.operand.as_deref() else { return };
        let sign = match (test.kind, test.negated) {
            (TestKind::Equal, false) => "==",
            (TestKind::Equal, true) => "!=",
            (TestKind::Less, false) => ">",
            (TestKind::LessOrEqual, false) => ">=",
            (TestKind::Greater, false) => "<",
            (TestKind::GreaterOrEqual, false) => "<=",
            _ => return,
        };
        if !is_literal(subject) || is_literal(bare(operand)) {
            return;
        }
        let turned = format!("{} {sign} {}", self.0.text(operand.span), self.0.text(subject.span));
        self.0.report(
            Diagnostic::new(Slug::YodaCondition, expr.span, "the constant stands before what is tested")
                .help(format!("write `{turned}`"))
                .fix("turn the comparison around", expr.span, turned),
        );
    }

    /// `ok == true`.
    fn boolean(&mut self, expr: &'a Expr, subject: &'a Expr, test: &'a ValueTest) {
        let (TestKind::Equal, Some(operand)) = (test.kind, test.operand.as_deref()) else { return };
        let ExprKind::Boolean(value) = operand.kind else { return };
        // Only of what is surely true or false: of anything else the comparison is a test of its own.
        if !matches!(bare(subject).kind, ExprKind::Test { .. } | ExprKind::Not(_)) {
            return;
        }
        let text = self.0.text(subject.span);
        let plain = if value != test.negated { format!("({text})") } else { format!("not ({text})") };
        self.0.report(
            Diagnostic::new(Slug::BooleanComparison, expr.span, "a test is true or false by itself")
                .help(format!("write `{plain}`"))
                .fix("leave the comparison out", expr.span, plain),
        );
    }
}

/// A negated test in its positive form, as text.
fn positive(context: &Context<'_>, subject: &Expr, test: &ValueTest) -> Option<String> {
    let subject = context.text(subject.span);
    let operator = context.text(test.operator);
    let rest = context.sources.text(crate::source::Span { start: test.operator.end, ..test.span }).trim();
    let plain = match operator {
        "!=" => "==".to_owned(),
        "!==" => "===".to_owned(),
        other => match other.strip_prefix("not ").or_else(|| other.strip_prefix("is not").map(|_| "is")) {
            Some(plain) => plain.trim().to_owned(),
            None => return None,
        },
    };
    Some(format!("{subject} {plain} {rest}").trim_end().to_owned())
}
