//! Going through checked expressions.

use crate::ir::{ExprKind, SelectionReach, TypedExpr};
use averment_base::source::Span;

/// Where a path of plain keys starts, and its keys from there on.
#[must_use]
pub fn key_path(expr: &TypedExpr) -> (&ExprKind, Vec<String>) {
    let (mut at, mut keys) = (expr, Vec::new());
    while let ExprKind::Field(base, name) = &at.kind {
        keys.push(name.clone());
        at = base;
    }
    keys.reverse();
    (&at.kind, keys)
}

/// Calls `visit` with every expression directly inside this one.
pub fn visit_children(expr: &TypedExpr, visit: &mut dyn FnMut(&TypedExpr)) {
    children_of(expr).into_iter().for_each(visit);
}

/// Calls `visit` with every expression directly inside this one, to be changed.
pub fn children_mut(expr: &mut TypedExpr, visit: &mut dyn FnMut(&mut TypedExpr)) {
    match &mut expr.kind {
        ExprKind::Constant(_)
        | ExprKind::Regex(_)
        | ExprKind::Root(_)
        | ExprKind::Run
        | ExprKind::Step
        | ExprKind::StepField(_)
        | ExprKind::StepOrRoot(_)
        | ExprKind::StepOwn(_)
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
        | ExprKind::Collect(_, _, left, right)
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
        ExprKind::Select(selection) => selection.given.iter_mut().for_each(|(_, value)| visit(value)),
    }
}

/// Where an expression looks at something of a run, the first such place; what a name stands for that is declared is not looked into.
#[must_use]
pub fn looks_at_run(expr: &TypedExpr) -> Option<Span> {
    if matches!(
        expr.kind,
        ExprKind::Root(_) | ExprKind::Run | ExprKind::StepOrRoot(_) | ExprKind::Select(_) | ExprKind::Response
    ) {
        return Some(expr.span);
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || children_of(expr).into_iter().find_map(looks_at_run))
}

/// True when the expression or something in it is as asked.
pub fn any_kind(expr: &TypedExpr, asked: &dyn Fn(&ExprKind) -> bool) -> bool {
    let mut found = asked(&expr.kind);
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        visit_children(expr, &mut |child| found = found || any_kind(child, asked));
    });
    found
}

/// The expressions directly inside this one.
pub fn children_of(expr: &TypedExpr) -> Vec<&TypedExpr> {
    match &expr.kind {
        ExprKind::Field(inner, _)
        | ExprKind::Every(inner)
        | ExprKind::Deep(inner)
        | ExprKind::Negate(inner)
        | ExprKind::Not(inner) => vec![inner],
        ExprKind::Index(left, right)
        | ExprKind::Binary(_, left, right)
        | ExprKind::Exercised(left, right)
        | ExprKind::Collect(_, _, left, right)
        | ExprKind::Quantifier(_, _, left, right) => vec![left, right],
        ExprKind::Range(start, end) => start.iter().chain(end).map(|side| &**side).collect(),
        ExprKind::Test(tested) => std::iter::once(&*tested.subject).chain(tested.operand.as_deref()).collect(),
        ExprKind::If(condition, then, otherwise) => vec![condition, then, otherwise],
        ExprKind::Builtin(_, all) | ExprKind::Def(_, all) | ExprKind::List(all) | ExprKind::Join(all) => {
            all.iter().collect()
        }
        ExprKind::Object(entries) => entries.iter().map(|(_, value)| value).collect(),
        // What stands inside of it sees another step.
        ExprKind::Select(selection) => selection.given.iter().map(|(_, value)| value).collect(),
        ExprKind::Constant(_)
        | ExprKind::Regex(_)
        | ExprKind::Root(_)
        | ExprKind::Run
        | ExprKind::Step
        | ExprKind::StepField(_)
        | ExprKind::StepOrRoot(_)
        | ExprKind::StepOwn(_)
        | ExprKind::Response
        | ExprKind::Param(_)
        | ExprKind::Let(_)
        | ExprKind::Local(_)
        | ExprKind::Binding(_) => Vec::new(),
    }
}

/// Adds the numbers of all bindings that an expression uses.
pub fn collect_bindings(expr: &TypedExpr, into: &mut Vec<u32>) {
    if let ExprKind::Binding(binding) = &expr.kind {
        into.push(binding.0);
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || visit_children(expr, &mut |child| collect_bindings(child, into)));
}

/// Puts the path that binds it in place of every binding that is bound here.
pub fn substitute_bindings(expr: &mut TypedExpr, binds: &[(u32, TypedExpr)]) {
    if let ExprKind::Binding(binding) = &expr.kind
        && let Some((_, path)) = binds.iter().find(|(number, _)| *number == binding.0)
    {
        expr.kind = path.kind.clone();
        return;
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || children_mut(expr, &mut |child| substitute_bindings(child, binds)));
}

/// True when the expression looks at the step in scope or at a binding.
pub fn looks_at_step(expr: &TypedExpr) -> bool {
    any_kind(expr, &|kind| {
        matches!(kind, ExprKind::Select(selection) if selection.reach != SelectionReach::Run)
            || matches!(
                kind,
                ExprKind::Step
                    | ExprKind::StepField(_)
                    | ExprKind::StepOrRoot(_)
                    | ExprKind::StepOwn(_)
                    | ExprKind::Binding(_)
                    | ExprKind::Response
            )
    })
}

/// True when the expression uses a binding.
pub fn uses_binding(expr: &TypedExpr) -> bool {
    any_kind(expr, &|kind| matches!(kind, ExprKind::Binding(_)))
}

/// Both, joined by `and`; one alone stays as it is.
pub fn join_and(left: Option<TypedExpr>, right: TypedExpr) -> TypedExpr {
    match left {
        None => right,
        Some(left) => TypedExpr {
            span: left.span.cover_with(right.span),
            ty: crate::ir::Type::Boolean,
            kind: ExprKind::Binary(averment_syntax::ast::BinaryOperator::And, Box::new(left), Box::new(right)),
        },
    }
}
