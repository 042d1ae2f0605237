//! Expressions over lists of steps of which each step is asked by itself.

use super::{PLACED_FIELDS, ReachReader, is_list};
use crate::bytecode::ops::Op;
use crate::bytecode::program::{CodeId, PatternId, Program};
use crate::vm::prepare::PreparedProgram;
use averment_runs::run::StepKind;
use averment_syntax::ast::ExprQuantifier;

/// Whether a pattern and a value of its steps ask for nothing but these steps.
pub(in crate::vm::temporal) fn is_of_steps_alone(
    program: &Program,
    prepared: &PreparedProgram,
    pattern: PatternId,
    value: CodeId,
) -> bool {
    let mut reader = ReachReader::new(program, prepared);
    reader.add_pattern(pattern);
    reader.add_code(value, 0);
    reader.is_steady && reader.is_local
}

impl ReachReader<'_> {
    /// `calls[*].args`: a value of each step, whatever the others are.
    pub(super) fn is_of_each_step(&self, code: CodeId) -> bool {
        let Some([Op::Root(list), rest @ ..]) = self.program.code_ops(code) else { return false };
        let is_path = |op: &Op| match op {
            Op::Field(name, _) => !PLACED_FIELDS.contains(&self.name_text(name.0)),
            Op::Every(_) => true,
            _ => false,
        };
        StepKind::ALL.iter().any(|kind| kind.list_key() == self.name_text(list.0)) && rest.iter().all(is_path)
    }

    /// `no c in calls: …`, of which each element is asked by itself.
    pub(super) fn is_of_each_element(&self, code: CodeId) -> bool {
        let Some([Op::Root(list), Op::Begin(quantifier), Op::Next(element, _), body @ .., Op::Repeat(_), Op::End()]) =
            self.program.code_ops(code)
        else {
            return false;
        };
        let is_own = |(at, op): (usize, &Op)| {
            let (before, next) = (at.checked_sub(1).and_then(|before| body.get(before)), body.get(at + 1));
            match op {
                // What an element is among the others stands in it, too: one of its other fields is asked.
                Op::Local(slot) if slot == element => matches!(next, Some(Op::Field(..))),
                Op::Let(_) | Op::CallDef(..) | Op::Select(..) | Op::Fold(..) | Op::Collect(..) | Op::Binding(_) => {
                    false
                }
                _ => self.is_steady_op(*op, before, next),
            }
        };
        matches!(quantifier, ExprQuantifier::All | ExprQuantifier::No)
            && is_list(self.name_text(list.0))
            && !self.prepared.is_graded(code)
            && body.iter().enumerate().all(is_own)
    }
}
