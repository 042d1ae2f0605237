//! Evaluates members, indexes and calls, including optional chains (`?.`).

use super::program::SuiteProgram;
use super::value::{JsValue, Lack, LocatedValue, RunExpr, RunExprKind, ScopeId, open_value};
use crate::typescript::on_its_stack;
use crate::typescript::tree::{TsElement, TsExpr, TsExprKind};
use averment_base::source::Span;

/// Methods that change the list they are called on.
const IN_PLACE: [&str; 2] = ["reverse", "sort"];

/// True if nothing else refers to the list of the expression.
fn is_own_list(expr: &TsExpr, kind: RunExprKind) -> bool {
    match &expr.kind {
        TsExprKind::List(_) => true,
        TsExprKind::Call { .. } => matches!(kind, RunExprKind::Commands | RunExprKind::Texts),
        _ => false,
    }
}

fn follow_chain(of: &mut LocatedValue) -> Option<String> {
    match &mut of.value {
        JsValue::RunExpr(told) => told.follow_chain(),
        _ => None,
    }
}

/// A value derived from an optional chain is `undefined` if the chain has ended.
fn keep_chain(value: JsValue, end: Option<String>) -> JsValue {
    match (value, end) {
        (JsValue::RunExpr(told), Some(end)) => {
            let lack = if told.lack == Lack::Never { Lack::Chain } else { told.lack };
            JsValue::RunExpr(RunExpr { lack, chain_end: Some(end), ..told })
        }
        (value, _) => value,
    }
}

impl SuiteProgram<'_, '_> {
    /// Evaluates one link; returns `None` where `?.` ends the chain.
    pub(super) fn eval_link(&mut self, expr: &TsExpr, scope: ScopeId) -> Option<LocatedValue> {
        if !self.enter_level() {
            return Some(LocatedValue::new(JsValue::RuntimeOnly("too much to follow".to_owned()), expr.span));
        }
        let value = on_its_stack(|| match &expr.kind {
            TsExprKind::Member { of, name } => {
                let mut of = self.eval_target(of, scope)?;
                let end = follow_chain(&mut of);
                Some(keep_chain(self.member_value(&of, name), end))
            }
            TsExprKind::Index { of, index } => {
                let mut of = self.eval_target(of, scope)?;
                let end = follow_chain(&mut of);
                let index = self.eval_expr(index, scope);
                Some(keep_chain(self.eval_index(&of, &index), end))
            }
            TsExprKind::Call { callee, arguments } => self.eval_call(callee, arguments, expr.span, scope),
            _ => Some(self.eval_expr(expr, scope).value),
        });
        self.leave_level();
        value.map(|value| LocatedValue::new(value, expr.span))
    }

    /// Evaluates the object of a link.
    pub(super) fn eval_target(&mut self, of: &TsExpr, scope: ScopeId) -> Option<LocatedValue> {
        match &of.kind {
            TsExprKind::Optional(inner) => {
                let mut item = self.eval_target(inner, scope)?;
                if let JsValue::RunExpr(told) = &mut item.value {
                    told.begin_chain();
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
            TsExprKind::Member { of: target, name } => {
                let mut of = self.eval_target(target, scope)?;
                let end = follow_chain(&mut of);
                match &of.value {
                    JsValue::Api(_) | JsValue::Object(_) => self.member_value(&of, name),
                    JsValue::RunExpr(told) if IN_PLACE.contains(&name.as_str()) && !is_own_list(target, told.kind) => {
                        return Some(open_value("a list that changes in its place"));
                    }
                    _ => {
                        let value = match self.eval_elements(arguments, scope) {
                            Ok(arguments) => self.call_method(&of, name, &arguments),
                            Err(why) => JsValue::RuntimeOnly(why),
                        };
                        return Some(keep_chain(value, end));
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
