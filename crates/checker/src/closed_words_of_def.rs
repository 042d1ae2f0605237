//! Closed sets of words in the body of a `def`: what a parameter holds is known where the `def` is used.

use super::Checker;
use super::closed_words::WordPlace;
use super::expr::CheckedExpr;
use super::ty::Ty;
use super::walk::visit_children;
use crate::ir::{self, ExprKind, LocalId, TypedExpr};
use averment_syntax::ast::TestKind;

/// What the parameters of a `def`, and the variables in its body, hold at one place of use.
type LocalTypes = Vec<(LocalId, Ty)>;

/// A value of the body that is tested with something.
struct TestedValue {
    ty: Ty,
    value: TypedExpr,
    kind: TestKind,
    other: TypedExpr,
    is_subject: bool,
}

impl Checker<'_> {
    /// Reports the words that the body of a `def` compares a parameter with, or a field of it, where that is a value of a closed set.
    pub(super) fn check_words_of_def(&mut self, number: u32, values: &[CheckedExpr]) {
        let known = |ty: &Ty| !matches!(ty.without_schema(), Ty::Any);
        let local = |index: usize| LocalId(super::to_number(index));
        let mut types: LocalTypes =
            values.iter().enumerate().map(|(index, value)| (local(index), value.ty.clone())).collect();
        types.retain(|(_, ty)| known(ty));
        let Some(body) = self.def_body(number).filter(|_| !types.is_empty()).cloned() else { return };
        let mut tests = Vec::new();
        collect_tests(&body, &mut types, &mut tests);
        for test in tests {
            let Some(set) = test.ty.word_set().or_else(|| test.ty.element_type().word_set()) else { continue };
            let given = match test.value.kind {
                ExprKind::Local(LocalId(index)) => values.get(index as usize).map(|value| value.expr.span),
                _ => None,
            };
            let shown = self.source_line(given.unwrap_or(test.value.span));
            let literals = self.literals_within(&test.other);
            self.check_word_regex(set, &shown, &test.other);
            let has_elements = test.is_subject && matches!(test.ty, Ty::List(_));
            self.report_words(
                test.kind,
                set,
                &shown,
                &literals,
                WordPlace { is_subject: test.is_subject, has_elements },
            );
        }
    }
}

fn collect_tests(expr: &TypedExpr, types: &mut LocalTypes, into: &mut Vec<TestedValue>) {
    if let ExprKind::Test(test) = &expr.kind
        && let (ir::ValueTest::Plain(kind), Some(operand)) = (test.kind, &test.operand)
    {
        for (value, other, is_subject) in [(&test.subject, operand, true), (operand, &test.subject, false)] {
            let ty = type_within(value, types);
            if !matches!(ty, Ty::Any) {
                let (value, other) = ((**value).clone(), (**other).clone());
                into.push(TestedValue { ty, value, kind, other, is_subject });
            }
        }
    }
    match &expr.kind {
        ExprKind::Quantifier(_, variable, list, body) | ExprKind::Collect(_, variable, list, body) => {
            collect_tests(list, types, into);
            let outside = types.len();
            types.push((*variable, type_within(list, types).element_type()));
            collect_tests(body, types, into);
            types.truncate(outside);
        }
        _ => visit_children(expr, &mut |child| collect_tests(child, types, into)),
    }
}

/// The type of what a path leads to from a parameter or a variable.
fn type_within(expr: &TypedExpr, types: &[(LocalId, Ty)]) -> Ty {
    match &expr.kind {
        ExprKind::Local(local) => {
            types.iter().rev().find(|(known, _)| known == local).map_or(Ty::Any, |(_, ty)| ty.clone())
        }
        ExprKind::Field(inner, name) => match (type_within(inner, types), &inner.kind) {
            (Ty::Step(shape), _) => shape.field_type(name),
            (Ty::List(element), ExprKind::Every(_)) => match *element {
                Ty::Step(shape) => Ty::list_of(shape.field_type(name)),
                _ => Ty::Any,
            },
            _ => Ty::Any,
        },
        ExprKind::Every(inner) => match type_within(inner, types) {
            list @ Ty::List(_) => list,
            _ => Ty::Any,
        },
        ExprKind::Index(inner, _) => type_within(inner, types).element_type(),
        ExprKind::List(items) => {
            let elements = items.iter().map(|item| type_within(item, types));
            elements.reduce(Ty::join_types).map_or(Ty::Any, Ty::list_of)
        }
        _ => Ty::Any,
    }
}
