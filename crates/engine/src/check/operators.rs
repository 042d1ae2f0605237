//! Arithmetic.

use super::Checker;
use super::expr::Typed;
use super::scope::Scope;
use super::ty::{Class, Measure, Ty};
use crate::ir::ExprKind;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, BinaryOperator};

impl<'a> Checker<'a> {
    /// `-a`.
    pub(super) fn negate(&mut self, scope: &Scope<'a>, inner: &'a ast::Expr, span: Span) -> Typed {
        let value = self.expr(scope, inner);
        if !self.check_number(&value, "-") {
            return Typed::broken(span);
        }
        if let Some(constant) =
            self.constant(&Typed::new(ExprKind::Negate(Box::new(value.expr.clone())), span, Ty::Any).expr)
            && value.number().is_some()
        {
            return Typed::new(ExprKind::Constant(constant), span, value.ty);
        }
        let ty = value.ty.clone();
        Typed::new(ExprKind::Negate(Box::new(value.expr)), span, ty)
    }

    /// `a + b` and the others.
    pub(super) fn arithmetic(
        &mut self,
        scope: &Scope<'a>,
        operator: BinaryOperator,
        operator_span: Span,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> Typed {
        let left = self.expr(scope, left);
        let right = self.expr(scope, right);
        let sign = self.written(operator_span);
        if !(self.check_number(&left, &sign) && self.check_number(&right, &sign)) {
            return Typed::broken(span);
        }
        let Some(ty) = self.measured(operator, &left, &right) else { return Typed::broken(span) };
        let whole = keeps_integers(operator, &left, &right);
        let ty = match ty {
            Ty::Number if counts(operator, &left, &right) => {
                if whole {
                    Ty::Count
                } else {
                    Ty::Share
                }
            }
            Ty::Number if whole => Ty::Integer,
            ty => ty,
        };
        Typed::new(ExprKind::Binary(operator, Box::new(left.expr), Box::new(right.expr)), span, ty)
    }

    /// Reports an operand that cannot be a number.
    fn check_number(&mut self, value: &Typed, sign: &str) -> bool {
        let Some(class) = value.ty.class() else { return true };
        if class == Class::Number {
            return true;
        }
        let text = self.written(value.expr.span);
        let help = match class {
            Class::Text if sign == "+" => "texts are joined inside quotes: `\"${first}${second}\"`".to_owned(),
            Class::Text => format!("a number in text is read with `number({text})`"),
            Class::List => format!("write `length({text})` or `sum({text})`"),
            _ => "both sides are numbers".to_owned(),
        };
        let message = format!("`{sign}` works on numbers, not on {}", class.noun());
        self.report(Diagnostic::new(Slug::TypeMismatch, value.expr.span, message).help(help));
        false
    }

    /// The type of the result by what both sides count; `None` where that does not fit.
    fn measured(&mut self, operator: BinaryOperator, left: &Typed, right: &Typed) -> Option<Ty> {
        let (Some(a), Some(b)) = (left.ty.measure(), right.ty.measure()) else {
            // Of one side nothing is known: a sum counts what the other does, of anything else it stays open.
            let known = left.ty.measure().or_else(|| right.ty.measure()).unwrap_or(Measure::Plain);
            let sum = matches!(operator, BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Remainder);
            return Some(if sum && known != Measure::Instant { Ty::measuring(known) } else { Ty::Number });
        };
        Some(match operator {
            BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Remainder => {
                return self.sum_measure(operator, a, b, left, right);
            }
            BinaryOperator::Multiply => match (a, b) {
                (Measure::Plain, other) | (other, Measure::Plain) => Ty::measuring(other),
                _ => Ty::Number,
            },
            _ if a == b => Ty::Number,
            _ if b == Measure::Plain => Ty::measuring(a),
            _ => Ty::Number,
        })
    }

    fn sum_measure(
        &mut self,
        operator: BinaryOperator,
        a: Measure,
        b: Measure,
        left: &Typed,
        right: &Typed,
    ) -> Option<Ty> {
        Some(match (a, b) {
            (Measure::Instant, Measure::Instant) if operator == BinaryOperator::Subtract => Ty::Duration,
            (Measure::Instant, Measure::Duration | Measure::Plain)
            | (Measure::Duration | Measure::Plain, Measure::Instant) => Ty::Instant,
            _ if a == b => Ty::measuring(a),
            _ => {
                let verb = if operator == BinaryOperator::Subtract { "taken from" } else { "added to" };
                if !self.check_sum(a, b, left, right, verb) {
                    return None;
                }
                Ty::measuring(if a == Measure::Plain { b } else { a })
            }
        })
    }
}

/// Whole numbers stay whole under every operator but division.
fn keeps_integers(operator: BinaryOperator, left: &Typed, right: &Typed) -> bool {
    operator != BinaryOperator::Divide && left.ty.is_whole() && right.ty.is_whole()
}

/// Whether a number without a unit still counts something: a sum of counts and bare numbers does, and a part of a count. A count that is
/// multiplied may well become a price.
fn counts(operator: BinaryOperator, left: &Typed, right: &Typed) -> bool {
    match operator {
        BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Remainder => {
            left.is_count() || right.is_count()
        }
        BinaryOperator::Divide => left.is_count() && !right.is_count() && right.ty.measure().is_some(),
        _ => false,
    }
}
