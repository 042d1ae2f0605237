//! Implications that are asserted: they have to be exercised, also where a `let` or `def` holds them.

use super::Checker;
use crate::ir::{self, ExprKind, TypedExpr};
use averment_base::value::compare::with_deep_stack;
use averment_syntax::ast::BinaryOperator;

/// The definitions that are nothing but an implication, as an assertion means them, by the number of the definition that was written.
#[derive(Debug, Default)]
pub struct AssertedDefinitions {
    lets: Vec<(u32, TypedExpr)>,
    defs: Vec<(u32, TypedExpr)>,
}

/// How many nested definitions are followed.
const MOST: usize = 64;

impl Checker<'_> {
    /// In a condition that is asserted as a whole, an implication has to be exercised.
    pub(super) fn as_exercised(&mut self, condition: TypedExpr) -> TypedExpr {
        let TypedExpr { kind, span, ty } = condition;
        let kind = match kind {
            ExprKind::Binary(BinaryOperator::Implies, left, right) => ExprKind::Exercised(left, right),
            ExprKind::Let(number) => ExprKind::Let(self.asserted_let(number)),
            ExprKind::Def(number, arguments) => ExprKind::Def(self.asserted_def(number), arguments),
            kind => kind,
        };
        TypedExpr { kind, span, ty }
    }

    /// True for an implication or a definition of one; false if definitions refer to each other in a cycle.
    fn is_implication(&self, kind: &ExprKind, depth: usize) -> bool {
        let named = match kind {
            _ if depth > MOST => None,
            ExprKind::Binary(operator, ..) => return *operator == BinaryOperator::Implies,
            ExprKind::Let(number) => self.let_value(*number),
            ExprKind::Def(number, _) => self.def_body(*number),
            _ => None,
        };
        named.is_some_and(|named| self.is_implication(&named.kind, depth.saturating_add(1)))
    }

    fn asserted_let(&mut self, number: u32) -> u32 {
        let Some(value) = self.let_value(number).filter(|value| self.is_implication(&value.kind, 0)).cloned() else {
            return number;
        };
        let known = |all: &AssertedDefinitions| all.lets.iter().position(|(of, _)| *of == number);
        let at = match known(&self.definitions.asserted) {
            Some(at) => at,
            None => {
                let value = with_deep_stack(|| self.as_exercised(value));
                let all = &mut self.definitions.asserted.lets;
                all.push((number, value));
                all.len().saturating_sub(1)
            }
        };
        super::to_number(self.definitions.let_count().saturating_add(at))
    }

    fn asserted_def(&mut self, number: u32) -> u32 {
        let Some(body) = self.def_body(number).filter(|body| self.is_implication(&body.kind, 0)).cloned() else {
            return number;
        };
        let known = |all: &AssertedDefinitions| all.defs.iter().position(|(of, _)| *of == number);
        let at = match known(&self.definitions.asserted) {
            Some(at) => at,
            None => {
                let body = with_deep_stack(|| self.as_exercised(body));
                let all = &mut self.definitions.asserted.defs;
                all.push((number, body));
                all.len().saturating_sub(1)
            }
        };
        super::to_number(self.definitions.def_count().saturating_add(at))
    }

    pub(super) fn add_asserted(&mut self) {
        let AssertedDefinitions { lets, defs } = std::mem::take(&mut self.definitions.asserted);
        for (number, value) in lets {
            let Some(written) = self.module.lets.get(number as usize) else { continue };
            let name = written.name.clone();
            self.module.lets.push(ir::LetDef { name, value, is_written: false });
        }
        for (number, body) in defs {
            let Some(written) = self.module.defs.get(number as usize) else { continue };
            let (name, parameters) = (written.name.clone(), written.parameters);
            self.module.defs.push(ir::FunctionDef { name, parameters, body, is_written: false });
        }
    }
}
