//! Literals: numbers with their units, texts with interpolations, lists and objects; and what is constant of an expression.

use super::Checker;
use super::expr::CheckedExpr;
use super::scope::NameScope;
use super::ty::Ty;
use crate::ir::{self, Constant};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, NumberUnit, TextPart};

/// Bytes that `let`s may add to a constant; a literal written in place is bounded by its file.
const CONSTANT_SIZE: usize = 1 << 20;

impl<'a> Checker<'a> {
    pub(super) fn number_literal(&mut self, number: &ast::NumberLiteral) -> CheckedExpr {
        let ty = match number.unit {
            NumberUnit::Duration => Ty::Duration,
            NumberUnit::Money => Ty::Money,
            NumberUnit::Size => Ty::Size,
            NumberUnit::None if number.value.contains(['.', 'e', 'E']) => Ty::Number,
            NumberUnit::None => Ty::Integer,
        };
        CheckedExpr::new(ir::ExprKind::Constant(Constant::Number(number.value.clone())), number.span, ty)
    }

    pub(super) fn text_literal(&mut self, scope: &NameScope<'a>, text: &'a ast::TextLiteral) -> CheckedExpr {
        self.literals.push(text.span);
        if let Some(literal) = text.literal_text() {
            let constant = Constant::Text(literal.to_owned());
            return CheckedExpr::new(ir::ExprKind::Constant(constant), text.span, Ty::String);
        }
        let parts: Vec<ir::TypedExpr> = text.parts.iter().map(|part| self.text_part(scope, part, text.span)).collect();
        CheckedExpr::new(ir::ExprKind::Join(parts), text.span, Ty::String)
    }

    fn text_part(&mut self, scope: &NameScope<'a>, part: &'a TextPart, span: Span) -> ir::TypedExpr {
        match part {
            TextPart::Literal(text) => {
                CheckedExpr::new(ir::ExprKind::Constant(Constant::Text(text.clone())), span, Ty::String).expr
            }
            TextPart::Interpolation(expr) => self.check_expr(scope, expr).expr,
        }
    }

    pub(super) fn list_literal(&mut self, scope: &NameScope<'a>, elements: &'a [ast::Expr], span: Span) -> CheckedExpr {
        let values: Vec<CheckedExpr> = elements.iter().map(|element| self.check_expr(scope, element)).collect();
        let ty = values.iter().map(|value| value.ty.clone()).reduce(Ty::join_types).unwrap_or(Ty::Any);
        let constants: Option<Vec<Constant>> = values.iter().map(plain_constant).collect();
        let kind = match constants {
            Some(all) => ir::ExprKind::Constant(Constant::List(all)),
            None => ir::ExprKind::List(values.into_iter().map(|value| value.expr).collect()),
        };
        CheckedExpr::new(kind, span, Ty::list_of(ty))
    }

    pub(super) fn object_literal(
        &mut self,
        scope: &NameScope<'a>,
        entries: &'a [(ast::Name, ast::Expr)],
        span: Span,
    ) -> CheckedExpr {
        let mut values: Vec<(String, CheckedExpr)> = Vec::new();
        for (name, value) in entries {
            let value = self.check_expr(scope, value);
            if values.iter().any(|(known, _)| *known == name.text) {
                self.report_key_twice(name);
            } else {
                values.push((name.text.clone(), value));
            }
        }
        let constants: Option<Vec<(String, Constant)>> =
            values.iter().map(|(name, value)| Some((name.clone(), plain_constant(value)?))).collect();
        let kind = match constants {
            Some(all) => ir::ExprKind::Constant(Constant::Object(all)),
            None => ir::ExprKind::Object(values.into_iter().map(|(name, value)| (name, value.expr)).collect()),
        };
        CheckedExpr::new(kind, span, Ty::Object)
    }

    pub(super) fn report_key_twice(&mut self, name: &ast::Name) {
        let message = format!("the key `{}` occurs twice in this object", name.text);
        self.report_diagnostic(Diagnostic::new(Slug::Duplicate, name.span, message).with_help("keep one of them"));
    }

    /// The value of an expression that does not depend on a run; `None` for others and for values that grow too large.
    pub(super) fn constant_value(&self, expr: &ir::TypedExpr) -> Option<Constant> {
        self.constant_within(expr, &mut { usize::MAX })
    }

    fn constant_within(&self, expr: &ir::TypedExpr, left: &mut usize) -> Option<Constant> {
        match &expr.kind {
            ir::ExprKind::Constant(constant) => {
                *left = left.checked_sub(size_of(constant))?;
                Some(constant.clone())
            }
            ir::ExprKind::Negate(inner) => match self.constant_within(inner, left)? {
                Constant::Number(text) => Some(Constant::Number(negate_text(&text))),
                _ => None,
            },
            ir::ExprKind::List(elements) => elements
                .iter()
                .map(|element| self.constant_within(element, left))
                .collect::<Option<_>>()
                .map(Constant::List),
            ir::ExprKind::Object(entries) => entries
                .iter()
                .map(|(name, value)| Some((name.clone(), self.constant_within(value, left)?)))
                .collect::<Option<_>>()
                .map(Constant::Object),
            ir::ExprKind::Join(parts) => parts
                .iter()
                .map(|part| self.constant_within(part, left).map(|value| super::fold::text_of(&value)))
                .collect::<Option<_>>()
                .map(Constant::Text),
            ir::ExprKind::Let(number) => {
                *left = (*left).min(CONSTANT_SIZE).checked_sub(1)?;
                self.constant_within(self.let_value(*number)?, left)
            }
            _ => None,
        }
    }
}

fn size_of(constant: &Constant) -> usize {
    match constant {
        Constant::Null | Constant::Boolean(_) => 1,
        Constant::Number(text) | Constant::Text(text) => text.len().saturating_add(1),
        Constant::List(all) => all.iter().map(size_of).fold(1, usize::saturating_add),
        Constant::Object(all) => {
            all.iter().map(|(name, value)| size_of(value).saturating_add(name.len())).fold(1, usize::saturating_add)
        }
    }
}

/// A literal without a unit; lists of literals count. Units keep their place so that they can be compared.
fn plain_constant(value: &CheckedExpr) -> Option<Constant> {
    let has_unit = value.ty.has_unit();
    match &value.expr.kind {
        _ if value.is_broken() || has_unit => None,
        ir::ExprKind::Constant(constant) => Some(constant.clone()),
        _ => None,
    }
}

/// The text of a number with its sign turned.
pub fn negate_text(text: &str) -> String {
    text.strip_prefix('-').map_or_else(|| format!("-{text}"), str::to_owned)
}
