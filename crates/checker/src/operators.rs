//! Arithmetic.

use super::Checker;
use super::expr::CheckedExpr;
use super::scope::NameScope;
use super::ty::{ComparisonClass, NumberMeasure, Ty};
use crate::ir::ExprKind;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, BinaryOperator};

impl<'a> Checker<'a> {
    pub(super) fn check_negate(&mut self, scope: &NameScope<'a>, inner: &'a ast::Expr, span: Span) -> CheckedExpr {
        let value = self.check_expr(scope, inner);
        if !self.check_number(&value, "-") {
            return CheckedExpr::broken_at(span);
        }
        if let Some(constant) =
            self.constant_value(&CheckedExpr::new(ExprKind::Negate(Box::new(value.expr.clone())), span, Ty::Any).expr)
            && value.number_text().is_some()
        {
            return CheckedExpr::new(ExprKind::Constant(constant), span, value.ty);
        }
        let ty = value.ty.clone();
        CheckedExpr::new(ExprKind::Negate(Box::new(value.expr)), span, ty)
    }

    pub(super) fn check_arithmetic(
        &mut self,
        scope: &NameScope<'a>,
        operator: BinaryOperator,
        operator_span: Span,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> CheckedExpr {
        let left = self.check_expr(scope, left);
        let right = self.check_expr(scope, right);
        let sign = self.source_line(operator_span);
        if !(self.check_number(&left, &sign) && self.check_number(&right, &sign)) {
            return CheckedExpr::broken_at(span);
        }
        let Some(ty) = self.result_measure(operator, &left, &right) else { return CheckedExpr::broken_at(span) };
        let whole = keeps_integers(operator, &left, &right);
        let ty = match ty {
            Ty::Number if counts_items(operator, &left, &right) => {
                if whole {
                    Ty::Count
                } else {
                    Ty::Share
                }
            }
            Ty::Number if whole => Ty::Integer,
            ty => ty,
        };
        CheckedExpr::new(ExprKind::Binary(operator, Box::new(left.expr), Box::new(right.expr)), span, ty)
    }

    fn check_number(&mut self, value: &CheckedExpr, sign: &str) -> bool {
        let Some(class) = value.ty.comparison_class() else { return true };
        if class == ComparisonClass::Number {
            return true;
        }
        let text = self.source_line(value.expr.span);
        let help = match class {
            ComparisonClass::Text if sign == "+" => {
                "texts are joined inside quotes: `\"${first}${second}\"`".to_owned()
            }
            ComparisonClass::Text => format!("a number in text is read with `number({text})`"),
            ComparisonClass::List => format!("write `length({text})` or `sum({text})`"),
            _ => "both sides are numbers".to_owned(),
        };
        let message = format!("`{sign}` works on numbers, not on {}", class.noun());
        self.report_diagnostic(Diagnostic::new(Slug::TypeMismatch, value.expr.span, message).with_help(help));
        false
    }

    /// The result type by the units of both sides; `None` if they do not fit.
    fn result_measure(&mut self, operator: BinaryOperator, left: &CheckedExpr, right: &CheckedExpr) -> Option<Ty> {
        let (Some(a), Some(b)) = (left.ty.number_measure(), right.ty.number_measure()) else {
            // Of one side nothing is known: a sum counts what the other does, of anything else it stays open.
            let known = left.ty.number_measure().or_else(|| right.ty.number_measure()).unwrap_or(NumberMeasure::Plain);
            let sum = matches!(operator, BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Remainder);
            return Some(if sum && known != NumberMeasure::Instant { Ty::with_measure(known) } else { Ty::Number });
        };
        Some(match operator {
            BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Remainder => {
                return self.sum_measure(operator, a, b, left, right);
            }
            BinaryOperator::Multiply => match (a, b) {
                (NumberMeasure::Plain, other) | (other, NumberMeasure::Plain) => Ty::with_measure(other),
                _ => Ty::Number,
            },
            _ if a == b => Ty::Number,
            _ if b == NumberMeasure::Plain => Ty::with_measure(a),
            _ => Ty::Number,
        })
    }

    fn sum_measure(
        &mut self,
        operator: BinaryOperator,
        a: NumberMeasure,
        b: NumberMeasure,
        left: &CheckedExpr,
        right: &CheckedExpr,
    ) -> Option<Ty> {
        Some(match (a, b) {
            (NumberMeasure::Instant, NumberMeasure::Instant) if operator == BinaryOperator::Subtract => Ty::Duration,
            (NumberMeasure::Instant, NumberMeasure::Duration | NumberMeasure::Plain)
            | (NumberMeasure::Duration | NumberMeasure::Plain, NumberMeasure::Instant) => Ty::Instant,
            _ if a == b => Ty::with_measure(a),
            _ => {
                let verb = if operator == BinaryOperator::Subtract { "taken from" } else { "added to" };
                if !self.check_sum(a, b, left, right, verb) {
                    return None;
                }
                Ty::with_measure(if a == NumberMeasure::Plain { b } else { a })
            }
        })
    }
}

/// Whole numbers stay whole under every operator except division.
fn keeps_integers(operator: BinaryOperator, left: &CheckedExpr, right: &CheckedExpr) -> bool {
    operator != BinaryOperator::Divide && left.ty.is_whole() && right.ty.is_whole()
}

/// True if a unitless result is still a count: for sums and parts of counts. A product may be a price.
fn counts_items(operator: BinaryOperator, left: &CheckedExpr, right: &CheckedExpr) -> bool {
    match operator {
        BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Remainder => {
            left.is_count() || right.is_count()
        }
        BinaryOperator::Divide => left.is_count() && !right.is_count() && right.ty.number_measure().is_some(),
        _ => false,
    }
}
