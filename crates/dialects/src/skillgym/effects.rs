//! Lowers expression statements and loops to the assertions that they make.

use super::body::{BodyContext, BranchBodies};
use super::flow::{BodyLine, StatementFlow, push_when};
use super::groups::open_reason;
use super::program::SuiteProgram;
use super::value::{JsValue, LocatedValue, RunExpr, RunExprKind, ScopeId, element_of, open_value};
use crate::typescript::on_its_stack;
use crate::typescript::tree::{
    NEXT_TURN, TsElement, TsExpr, TsExprKind, TsFunction, TsPattern, TsStatement, TsStatementKind,
};
use crate::writer::BindingStrength;
use averment_base::source::Span;

/// Methods that call a function for each element.
const EACH: [&str; 3] = ["forEach", "map", "flatMap"];

impl SuiteProgram<'_, '_> {
    pub(super) fn lower_expression(
        &mut self,
        expr: &TsExpr,
        scope: ScopeId,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) {
        match &expr.kind {
            TsExprKind::Call { callee, arguments } => {
                self.lower_call((&**callee, arguments.as_slice()), expr.span, scope, around, lines);
            }
            TsExprKind::If { condition, then, other } => {
                self.lower_choice(condition, (Some(&**then), Some(&**other)), expr.span, scope, around, lines);
            }
            TsExprKind::Binary { operator: "&&", left, right } => {
                self.lower_choice(left, (Some(&**right), None), expr.span, scope, around, lines);
            }
            TsExprKind::Binary { operator: ",", left, right } => {
                self.lower_expression(left, scope, around, lines);
                self.lower_expression(right, scope, around, lines);
            }
            TsExprKind::Binary { operator: "||", left, right } => {
                self.lower_choice(left, (None, Some(&**right)), expr.span, scope, around, lines);
            }
            TsExprKind::Unary { operator: "void" | "await", of } => self.lower_expression(of, scope, around, lines),
            TsExprKind::Text(_) | TsExprKind::Name(_) | TsExprKind::Null | TsExprKind::Number(_) => {}
            _ => self.record_unread(expr.span, "an expression that asserts nothing"),
        }
    }

    /// Lowers `c ? a() : b()`, `c && a()` and `c || b()`.
    fn lower_choice(
        &mut self,
        condition: &TsExpr,
        branches: (Option<&TsExpr>, Option<&TsExpr>),
        span: Span,
        scope: ScopeId,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) {
        let as_statements = |expr: Option<&TsExpr>| -> Vec<TsStatement> {
            expr.map(|expr| TsStatement { kind: TsStatementKind::Expr(expr.clone()), span: expr.span })
                .into_iter()
                .collect()
        };
        let condition = self.eval_expr(condition, scope);
        let (then, other) = (as_statements(branches.0), as_statements(branches.1));
        let bodies = BranchBodies { then: &then, other: &other };
        if self.lower_branch(&condition, bodies, scope, around, lines).is_none() {
            self.record_unread(span, &format!("a condition on {}", open_reason(&condition.value)));
        }
    }

    fn lower_call(
        &mut self,
        call: (&TsExpr, &[TsElement]),
        span: Span,
        scope: ScopeId,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) {
        let (callee, arguments) = call;
        let (callee, is_optional) = match &callee.kind {
            TsExprKind::Optional(inner) => (&**inner, true),
            _ => (callee, false),
        };
        let called = match &callee.kind {
            TsExprKind::Member { of, name } => {
                let Some(of) = self.eval_target(of, scope) else { return };
                if EACH.contains(&name.as_str())
                    && let [TsElement { spread: false, value: function }] = arguments
                {
                    let function = self.eval_expr(function, scope);
                    if let JsValue::Function(function, own) = &function.value
                        && self.lower_each(&of, function, *own, span, around, lines)
                    {
                        return;
                    }
                }
                LocatedValue::new(self.member_value(&of, name), callee.span)
            }
            _ => match self.eval_target(callee, scope) {
                Some(called) => called,
                None => return,
            },
        };
        match &called.value {
            JsValue::Undefined | JsValue::Null if is_optional => {}
            // An argument may itself be a call that asserts something.
            JsValue::Api(name) if name.starts_with("console.") => {
                for argument in arguments {
                    self.lower_argument(&argument.value, scope, around, lines);
                }
            }
            JsValue::Api(name) if name == "Promise.all" => {
                for argument in arguments {
                    self.lower_awaited(&argument.value, scope, around, lines);
                }
            }
            JsValue::Api(name) if name == "assert" || name.starts_with("assert.") => {
                let name = name.clone();
                self.lower_assert(&name, arguments, span, scope, around, lines);
            }
            JsValue::Function(function, own) => match self.eval_elements(arguments, scope) {
                Ok(arguments) => {
                    for argument in &arguments {
                        self.lower_needs(argument, argument.span, around, lines);
                    }
                    let inner = self.lower_body(&function.clone(), &arguments, *own, around);
                    lines.extend(inner);
                }
                Err(why) => self.record_unread(span, &why),
            },
            value => {
                let why = open_reason(value);
                self.record_unread(span, &why);
                // An unsupported call may change its object and its arguments.
                let own = if let TsExprKind::Member { of, .. } = &callee.kind { Some(&**of) } else { None };
                for part in own.into_iter().chain(arguments.iter().map(|argument| &argument.value)) {
                    self.mark_changed(part, span, scope);
                }
            }
        }
    }

    /// Lowers the argument of `Promise.all`: a list of calls, or a call that returns one.
    fn lower_awaited(&mut self, value: &TsExpr, scope: ScopeId, around: &BodyContext, lines: &mut Vec<BodyLine>) {
        match &value.kind {
            TsExprKind::List(elements) => {
                for element in elements {
                    self.lower_expression(&element.value, scope, around, lines);
                }
            }
            _ => self.lower_expression(value, scope, around, lines),
        }
    }

    /// Lowers an argument of a call that itself asserts nothing.
    fn lower_argument(&mut self, value: &TsExpr, scope: ScopeId, around: &BodyContext, lines: &mut Vec<BodyLine>) {
        if let TsExprKind::Unary { operator: "await", of } = &value.kind {
            return self.lower_argument(of, scope, around, lines);
        }
        let TsExprKind::Call { callee, .. } = &value.kind else { return };
        let asserts = match &callee.kind {
            TsExprKind::Member { name, .. } if EACH.contains(&name.as_str()) => true,
            _ => match self.eval_expr(callee, scope).value {
                JsValue::Api(name) => name == "assert" || name.starts_with("assert."),
                value => matches!(value, JsValue::Function(..)),
            },
        };
        if !asserts {
            return;
        }
        let before = self.unread.len();
        let mut found = Vec::new();
        self.lower_expression(value, scope, around, &mut found);
        if !found.iter().any(|line| matches!(line, BodyLine::Assertion { .. } | BodyLine::When(..))) {
            self.drop_harmless(before);
        }
        lines.extend(found);
    }

    /// Forgets unread parts of an expression that only computes a value, unless they mention `assert`.
    fn drop_harmless(&mut self, before: usize) {
        let mut recorded = self.unread.split_off(before.min(self.unread.len()));
        let sources = &self.lowering.sources;
        recorded.retain(|part| {
            let text = sources.get(part.place.file).and_then(|file| file.text.get(part.place.as_range()));
            text.is_none_or(|text| text.contains("assert"))
        });
        self.unread.extend(recorded);
    }

    /// Lowers `list.forEach(function)`; returns false if `list` is not a list.
    fn lower_each(
        &mut self,
        list: &LocatedValue,
        function: &TsFunction,
        own: ScopeId,
        span: Span,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) -> bool {
        match &list.value {
            JsValue::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    let place = LocatedValue::new(JsValue::Number(at as f64), item.span);
                    let inner = self.lower_body(function, &[item.clone(), place, list.clone()], own, around);
                    lines.extend(inner);
                }
                true
            }
            JsValue::RunExpr(told) if element_of(told.kind).is_some() => {
                let name = self.fresh_name();
                let Some(element) = self.named_element(told, &name) else { return false };
                self.push_needs(told.needed_parts().as_deref(), list.span, around, lines);
                let open = LocatedValue::new(open_value("the place of an element"), span);
                let inner = self.lower_body(function, &[element, open.clone(), open], own, around);
                self.extend_quantified(inner, (told, &name), span, lines);
                true
            }
            _ => false,
        }
    }

    /// Lowers `for (const pattern of list) body`.
    pub(super) fn lower_for_of(
        &mut self,
        repeated: (&TsPattern, &[TsStatement]),
        list: &TsExpr,
        span: Span,
        scope: ScopeId,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) -> StatementFlow {
        let (pattern, body) = repeated;
        let list = self.eval_expr(list, scope);
        match &list.value {
            JsValue::List(items) => self.lower_turns(repeated, items, span, scope, around, lines),
            JsValue::RunExpr(told) if element_of(told.kind).is_some() => {
                let name = self.fresh_name();
                self.push_needs(told.needed_parts().as_deref(), list.span, around, lines);
                let inner = self.scopes.open_scope(scope);
                if let Some(element) = self.named_element(told, &name) {
                    self.bind_pattern(pattern, element, inner);
                }
                let mut found = Vec::new();
                match self.lower_statements(body, inner, around, &mut found) {
                    StatementFlow::Unknown => return StatementFlow::Unknown,
                    StatementFlow::Ends | StatementFlow::GoesOnWhen(_) if may_return(body) => {
                        return self.skip_unread(span, "a loop that ends early");
                    }
                    _ => self.extend_quantified(found, (told, &name), span, lines),
                }
                StatementFlow::GoesOn
            }
            _ => self.skip_unread(span, "a loop over what only a run shows"),
        }
    }

    /// Unrolls a loop over values that are known without a run.
    fn lower_turns(
        &mut self,
        repeated: (&TsPattern, &[TsStatement]),
        items: &[LocatedValue],
        span: Span,
        scope: ScopeId,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) -> StatementFlow {
        let (pattern, body) = repeated;
        for (at, item) in items.iter().enumerate() {
            let inner = self.scopes.open_scope(scope);
            self.bind_pattern(pattern, item.clone(), inner);
            let flow = on_its_stack(|| self.lower_statements(body, inner, around, lines));
            match flow {
                StatementFlow::Unknown => return StatementFlow::Unknown,
                StatementFlow::GoesOn => {}
                // Only the current turn of the loop ends.
                _ if !may_return(body) => {}
                _ if may_continue(body) => return self.skip_unread(span, "a loop that ends early"),
                StatementFlow::Ends => return StatementFlow::Ends,
                StatementFlow::GoesOnWhen(condition) => {
                    let rest = items.get(at.saturating_add(1)..).unwrap_or_default();
                    let mut found = Vec::new();
                    let flow = on_its_stack(|| self.lower_turns(repeated, rest, span, scope, around, &mut found));
                    push_when(&condition, span, found, lines);
                    return flow.behind_condition(&condition);
                }
            }
        }
        StatementFlow::GoesOn
    }

    /// Quantifies lines over a list of the run: `all x in list: …`.
    fn extend_quantified(
        &mut self,
        inner: Vec<BodyLine>,
        element: (&RunExpr, &str),
        span: Span,
        lines: &mut Vec<BodyLine>,
    ) {
        let (list, name) = element;
        let start = format!("all {name} in {}: ", list.nested_text(BindingStrength::Closely));
        let mut found = Vec::new();
        if inner.into_iter().all(|line| quantify_line(line, &start, None, &mut found)) {
            lines.extend(found);
        } else {
            self.record_unread(span, "a loop over what only a run shows");
        }
    }
}

/// Quantifies a line; returns false if the line is not a condition.
fn quantify_line(line: BodyLine, start: &str, guard: Option<&RunExpr>, found: &mut Vec<BodyLine>) -> bool {
    match line {
        BodyLine::Remark(_) => found.push(line),
        BodyLine::When(condition, _, inner) => {
            let guard = match guard {
                Some(guard) => {
                    let both = [guard, &condition].map(|one| one.nested_text(BindingStrength::And)).join(" and ");
                    RunExpr::with_binding(both, BindingStrength::And, RunExprKind::Truth)
                }
                None => condition,
            };
            return inner.into_iter().all(|line| quantify_line(line, start, Some(&guard), found));
        }
        BodyLine::Assertion { condition: Some(told), place, message, class, backtracks, .. } => {
            let text = match guard {
                Some(guard) => format!(
                    "{start}{} implies {}",
                    guard.nested_text(BindingStrength::Test),
                    told.nested_text(BindingStrength::Test)
                ),
                None => format!("{start}{}", told.text),
            };
            let condition = RunExpr::with_binding(text.as_str(), BindingStrength::Reaches, RunExprKind::Truth);
            found.push(BodyLine::Assertion { text, place, message, class, backtracks, condition: Some(condition) });
        }
        BodyLine::Assertion { condition: None, .. } => return false,
    }
    true
}

/// True if a body may continue with the next turn of its own loop.
fn may_continue(statements: &[TsStatement]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        TsStatementKind::Other(NEXT_TURN) => true,
        TsStatementKind::If { then, other, .. } => may_continue(then) || may_continue(other),
        TsStatementKind::Block(inner) => may_continue(inner),
        _ => false,
    })
}

/// True if a body may return from its function, beyond just ending a turn of its loop.
fn may_return(statements: &[TsStatement]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        TsStatementKind::Return(_) => true,
        TsStatementKind::If { then, other, .. } => may_return(then) || may_return(other),
        TsStatementKind::Block(inner) | TsStatementKind::ForOf { body: inner, .. } => may_return(inner),
        _ => false,
    })
}
