//! Members, indexes and calls, also behind `?.`.

use super::program::SuiteProgram;
use super::value::{JsValue, Lack, LocatedValue, ScopeId};
use crate::typescript::on_its_stack;
use crate::typescript::tree::{TsElement, TsExpr, TsExprKind};
use averment_base::source::Span;

impl SuiteProgram<'_, '_> {
    /// `None` where `?.` ends the chain.
    pub(super) fn eval_link(&mut self, expr: &TsExpr, scope: ScopeId) -> Option<LocatedValue> {
        if !self.enter_level() {
            return Some(LocatedValue::new(JsValue::RuntimeOnly("too much to follow".to_owned()), expr.span));
        }
        let value = on_its_stack(|| match &expr.kind {
            TsExprKind::Member { of, name } => {
                let of = self.eval_target(of, scope)?;
                Some(self.member_value(&of, name))
            }
            TsExprKind::Index { of, index } => {
                let of = self.eval_target(of, scope)?;
                let index = self.eval_expr(index, scope);
                Some(self.eval_index(&of, &index))
            }
            TsExprKind::Call { callee, arguments } => self.eval_call(callee, arguments, expr.span, scope),
            _ => Some(self.eval_expr(expr, scope).value),
        });
        self.leave_level();
        value.map(|value| LocatedValue::new(value, expr.span))
    }

    /// What a link of a chain is read from.
    pub(super) fn eval_target(&mut self, of: &TsExpr, scope: ScopeId) -> Option<LocatedValue> {
        match &of.kind {
            TsExprKind::Optional(inner) => {
                let mut item = self.eval_target(inner, scope)?;
                if let JsValue::RunExpr(told) = &mut item.value {
                    told.lack = Lack::Never;
                }
                (!item.is_nullish()).then_some(item)
            }
            TsExprKind::Member { .. } | TsExprKind::Index { .. } | TsExprKind::Call { .. } => self.eval_link(of, scope),
            _ => Some(self.eval_expr(of, scope)),
        }
    }

    fn eval_call(&mut self, callee: &TsExpr, arguments: &[TsElement], span: Span, scope: ScopeId) -> Option<JsValue> {
        let (callee, is_optional) = match &callee.kind {
            TsExprKind::Optional(inner) => (&**inner, true),
            _ => (callee, false),
        };
        let called = match &callee.kind {
            TsExprKind::Member { of, name } => {
                let of = self.eval_target(of, scope)?;
                match &of.value {
                    JsValue::Api(_) | JsValue::Object(_) => self.member_value(&of, name),
                    _ => {
                        return Some(match self.eval_elements(arguments, scope) {
                            Ok(arguments) => self.call_method(&of, name, &arguments),
                            Err(why) => JsValue::RuntimeOnly(why),
                        });
                    }
                }
            }
            _ => self.eval_target(callee, scope)?.value,
        };
        let called = LocatedValue::new(called, callee.span);
        if is_optional && called.is_nullish() {
            return None;
        }
        Some(self.call_function(&called, arguments, span, scope))
    }
}
