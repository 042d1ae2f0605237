//! Going through checked expressions.

use crate::ir::{Expr, ExprKind};

/// Where a path of plain keys starts, and its keys from there on.
#[must_use]
pub fn path(expr: &Expr) -> (&ExprKind, Vec<String>) {
    let (mut at, mut keys) = (expr, Vec::new());
    while let ExprKind::Field(base, name) = &at.kind {
        keys.push(name.clone());
        at = base;
    }
    keys.reverse();
    (&at.kind, keys)
}

/// Calls `visit` with every expression directly inside this one.
pub fn children(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    match &expr.kind {
        ExprKind::Constant(_)
        | ExprKind::Regex(_)
        | ExprKind::Root(_)
        | ExprKind::Run
        | ExprKind::Step
        | ExprKind::StepField(_)
        | ExprKind::StepOrRoot(_)
        | ExprKind::Response
        | ExprKind::Param(_)
        | ExprKind::Let(_)
        | ExprKind::Local(_)
        | ExprKind::Binding(_) => {}
        ExprKind::Field(inner, _)
        | ExprKind::Every(inner)
        | ExprKind::Deep(inner)
        | ExprKind::Negate(inner)
        | ExprKind::Not(inner) => visit(inner),
        ExprKind::Index(left, right)
        | ExprKind::Binary(_, left, right)
        | ExprKind::Exercised(left, right)
        | ExprKind::Quantifier(_, _, left, right) => {
            visit(left);
            visit(right);
        }
        ExprKind::Range(start, end) => start.iter().chain(end).for_each(|side| visit(side)),
        ExprKind::Test(tested) => {
            visit(&tested.subject);
            tested.operand.iter().for_each(|operand| visit(operand));
        }
        ExprKind::If(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().for_each(|part| visit(part))
        }
        ExprKind::Builtin(_, all) | ExprKind::Def(_, all) | ExprKind::List(all) | ExprKind::Join(all) => {
            all.iter().for_each(visit);
        }
        ExprKind::Object(entries) => entries.iter().for_each(|(_, value)| visit(value)),
    }
}

/// Calls `visit` with every expression directly inside this one, to be changed.
pub fn children_mut(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    match &mut expr.kind {
        ExprKind::Constant(_)
        | ExprKind::Regex(_)
        | ExprKind::Root(_)
        | ExprKind::Run
        | ExprKind::Step
        | ExprKind::StepField(_)
        | ExprKind::StepOrRoot(_)
        | ExprKind::Response
        | ExprKind::Param(_)
        | ExprKind::Let(_)
        | ExprKind::Local(_)
        | ExprKind::Binding(_) => {}
        ExprKind::Field(inner, _)
        | ExprKind::Every(inner)
        | ExprKind::Deep(inner)
        | ExprKind::Negate(inner)
        | ExprKind::Not(inner) => visit(inner),
        ExprKind::Index(left, right)
        | ExprKind::Binary(_, left, right)
        | ExprKind::Exercised(left, right)
        | ExprKind::Quantifier(_, _, left, right) => {
            visit(left);
            visit(right);
        }
        ExprKind::Range(start, end) => start.iter_mut().chain(end).for_each(|side| visit(side)),
        ExprKind::Test(tested) => {
            visit(&mut tested.subject);
            tested.operand.iter_mut().for_each(|operand| visit(operand));
        }
        ExprKind::If(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().for_each(|part| visit(part))
        }
        ExprKind::Builtin(_, all) | ExprKind::Def(_, all) | ExprKind::List(all) | ExprKind::Join(all) => {
            all.iter_mut().for_each(visit);
        }
        ExprKind::Object(entries) => entries.iter_mut().for_each(|(_, value)| visit(value)),
    }
}

/// True when the expression or something in it is as asked.
pub fn any(expr: &Expr, asked: &dyn Fn(&ExprKind) -> bool) -> bool {
    let mut found = asked(&expr.kind);
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        children(expr, &mut |child| found = found || any(child, asked));
    });
    found
}

/// Puts the path that binds it in place of every binding that is bound here.
pub fn substitute(expr: &mut Expr, binds: &[(u32, Expr)]) {
    if let ExprKind::Binding(binding) = &expr.kind
        && let Some((_, path)) = binds.iter().find(|(number, _)| *number == binding.0)
    {
        expr.kind = path.kind.clone();
        return;
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || children_mut(expr, &mut |child| substitute(child, binds)));
}

/// True when the expression looks at the step in scope or at a binding.
pub fn looks_at_step(expr: &Expr) -> bool {
    any(expr, &|kind| {
        matches!(
            kind,
            ExprKind::Step
                | ExprKind::StepField(_)
                | ExprKind::StepOrRoot(_)
                | ExprKind::Binding(_)
                | ExprKind::Response
        )
    })
}

/// True when the expression uses a binding.
pub fn uses_binding(expr: &Expr) -> bool {
    any(expr, &|kind| matches!(kind, ExprKind::Binding(_)))
}

/// Both, joined by `and`; one alone stays as it is.
pub fn and(left: Option<Expr>, right: Expr) -> Expr {
    match left {
        None => right,
        Some(left) => Expr {
            span: left.span.to(right.span),
            ty: crate::ir::Type::Boolean,
            kind: ExprKind::Binary(averment_syntax::ast::BinaryOperator::And, Box::new(left), Box::new(right)),
        },
    }
}
