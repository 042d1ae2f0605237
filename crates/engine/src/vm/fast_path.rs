//! Code that needs no stack: a path, and a test of a path against a literal. Nearly all conditions and bindings are one of these.

use super::comparison::{has_type, negate_if};
use super::context::ExpressionScope;
use super::fault::{Fault, broken_program};
use super::machine::Machine;
use crate::bytecode::ops::Op;
use crate::bytecode::program::CodeId;
use averment_base::truth::Truth;
use averment_base::value::{Node, Value};
use averment_checker::ir::Constant;
use averment_syntax::ast::TestKind;

impl<'run> Machine<'run> {
    /// Fast path for `args.id`, nearly all that patterns bind; `None` for other code or when observed.
    pub(super) fn plain_path(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<Option<Node<'run>>, Fault> {
        if self.observer.is_watching() || self.depth >= self.limits.call_depth {
            return Ok(None);
        }
        let ops = self.code_ops(code)?;
        let found = self.eval_path(ops, scope)?;
        if found.is_some() {
            self.meter.charge_fuel(ops.len() as u64)?;
        }
        Ok(found)
    }

    /// Fast path for `amount > 10` and the like, nearly all conditions; `None` for other code or when observed.
    pub(super) fn plain_test(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<Option<Truth>, Fault> {
        let ops = self.code_ops(code)?;
        let (path, operand) = match ops {
            [.., Op::Test(TestKind::ContainsNone, _)] => return Ok(None),
            [path @ .., operand @ (Op::Constant(_) | Op::Regex(_)), Op::Test(..)] => (path, Some(operand)),
            [path @ .., Op::Inspect(..) | Op::IsType(..)] => (path, None),
            _ => return Ok(None),
        };
        if self.observer.is_watching() || self.observer.is_covering() || self.depth >= self.limits.call_depth {
            return Ok(None);
        }
        let operand = match operand {
            Some(Op::Regex(number)) => Some(Node::computed(Value::Regex(number.0))),
            Some(Op::Constant(literal)) => {
                let literal = self.program.constants.get(literal.0 as usize).ok_or_else(broken_program)?;
                if matches!(literal, Constant::List(_) | Constant::Object(_)) {
                    return Ok(None);
                }
                Some(self.constant_node(literal)?)
            }
            _ => None,
        };
        let Some(subject) = self.eval_path(path, scope)? else { return Ok(None) };
        // What is asked of a key that is missing depends on the keys beside it.
        if matches!((subject.value, ops), (Value::Missing, [.., Op::Field(..), Op::Inspect(..)])) {
            return Ok(None);
        }
        self.meter.charge_fuel(ops.iter().map(|op| u64::from(op.cost())).sum())?;
        let (truth, negated) = match (ops.last(), operand) {
            (Some(Op::Test(kind, negated)), Some(operand)) => (self.positive_test(*kind, &subject, &operand)?, negated),
            (Some(Op::Inspect(kind, negated)), _) => (self.inspect_value(*kind, &subject)?, negated),
            (Some(Op::IsType(ty, negated)), _) => (has_type(&subject, *ty), negated),
            _ => return Ok(None),
        };
        Ok(Some(negate_if(truth, *negated)))
    }

    fn eval_path(&mut self, ops: &[Op], scope: &ExpressionScope<'_, 'run>) -> Result<Option<Node<'run>>, Fault> {
        let Some((first, keys)) = ops.split_first() else { return Ok(None) };
        if !keys.iter().all(|op| matches!(op, Op::Field(_, false))) {
            return Ok(None);
        }
        let mut node = match *first {
            Op::Root(name) => self.run.root_value(self.name_text(name)?),
            Op::StepField(name) => {
                let name = self.name_text(name)?;
                scope.step.and_then(|step| step.object.get(name)).unwrap_or(Node::computed(Value::Missing))
            }
            Op::StepOrRoot(name) => {
                let name = self.name_text(name)?;
                scope.step.and_then(|step| step.object.get(name)).unwrap_or_else(|| self.run.root_value(name))
            }
            _ => return Ok(None),
        };
        for op in keys {
            if let Op::Field(name, _) = *op {
                node = self.open_json(node)?.field(self.name_text(name)?);
            }
        }
        Ok(Some(node))
    }
}
