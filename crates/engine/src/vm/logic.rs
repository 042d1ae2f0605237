//! Instructions of logic: conditions, `not`, `and`, `or`, `if`, quantifiers. The tables are those of [`averment_base::truth`].

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::fault::{Fault, broken_program, condition_truth, truth_of};
use super::frame::{QuantifierLoop, StackFrame};
use super::machine::{ControlTransfer, Machine};
use super::why::evidence::SeenTestKind;
use crate::bytecode::ops::{Slot, Target};
use averment_base::truth::Truth;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Value};
use averment_syntax::ast::ExprQuantifier;

impl<'run> Machine<'run> {
    fn pop_truth(&mut self, at: usize) -> Result<Truth, Fault> {
        let node = self.pop()?;
        condition_truth(&node, self.op_span(at))
    }

    pub(super) fn make_truth(&mut self, at: usize) -> Result<(), Fault> {
        let node = self.pop()?;
        let truth = condition_truth(&node, self.op_span(at))?;
        match node.value {
            Value::Truth(_) => self.observer.note_branch(at, truth),
            _ => self.observer.note_test(at, SeenTestKind::Condition, node, None, truth),
        }
        self.push(Node::new(Value::Truth(truth), node.origin));
        Ok(())
    }

    pub(super) fn eval_not(&mut self, at: usize) -> Result<(), Fault> {
        let grade = self.top_grade(0);
        let truth = self.pop_truth(at)?;
        self.push_value(Value::Truth(!truth));
        self.set_grade(grade.map(|grade| 1.0 - grade));
        Ok(())
    }

    /// A premise that does not hold exercises nothing.
    pub(super) fn eval_premise(&mut self, at: usize) -> Result<(), Fault> {
        let grade = self.top_grade(0);
        let premise = self.pop_truth(at)?;
        let truth = premise.as_premise();
        if truth == Truth::TrueByMissing {
            self.observer.note_premise(at);
        }
        self.push_value(Value::Truth(truth));
        self.set_grade(grade.map(|grade| 1.0 - grade));
        Ok(())
    }

    /// Jumps on an unmet premise even when grading: there is nothing to score.
    pub(super) fn skip_unmet(&mut self, target: Target) -> Result<ControlTransfer, Fault> {
        let unmet = matches!(self.peek(0)?.value, Value::Truth(Truth::TrueByMissing));
        Ok(if unmet { ControlTransfer::Jump(target.0) } else { ControlTransfer::Next })
    }

    pub(super) fn join_truths(
        &mut self,
        at: usize,
        join: fn(Truth, Truth) -> Truth,
        join_grades: fn(f64, f64) -> f64,
    ) -> Result<(), Fault> {
        let grade = self.top_grade(1).zip(self.top_grade(0)).map(|(left, right)| join_grades(left, right));
        let right = self.pop_truth(at)?;
        let left = self.pop_truth(at)?;
        self.push_value(Value::Truth(join(left, right)));
        self.set_grade(grade);
        Ok(())
    }

    /// Jumps if the top truth decides alone, except when grading, where both sides have scores.
    pub(super) fn skip_if(&mut self, deciding: Truth, target: Target) -> Result<ControlTransfer, Fault> {
        let decides = matches!(self.peek(0)?.value, Value::Truth(truth) if truth == deciding);
        Ok(if decides && self.observer.look.grades.is_none() {
            ControlTransfer::Jump(target.0)
        } else {
            ControlTransfer::Next
        })
    }

    /// Skips the branch that is surely not taken and pushes a placeholder.
    pub(super) fn skip_branch(
        &mut self,
        below: usize,
        deciding: Truth,
        target: Target,
    ) -> Result<ControlTransfer, Fault> {
        let skips = matches!(self.peek(below)?.value, Value::Truth(truth) if truth == deciding);
        if skips {
            self.push_value(Value::Missing);
            return Ok(ControlTransfer::Jump(target.0));
        }
        Ok(ControlTransfer::Next)
    }

    pub(super) fn eval_choose(&mut self, at: usize) -> Result<(), Fault> {
        let grades = (self.top_grade(1), self.top_grade(0));
        let otherwise = self.pop()?;
        let then = self.pop()?;
        let condition = self.pop_truth(at)?;
        let grade = if condition.plain_answer() == Some(true) { grades.0 } else { grades.1 };
        let node = chosen_branch(condition, then, otherwise);
        self.push(node);
        self.set_grade(grade);
        Ok(())
    }

    pub(super) fn begin_loop(&mut self, quantifier: ExprQuantifier, at: usize) -> Result<(), Fault> {
        let source = self.pop()?;
        let source = self.open_json(source)?;
        let span = self.op_span(at);
        self.observer.note_source(at, source);
        let mut begun = QuantifierLoop::new(quantifier, &source, span)?;
        begun.lists = self.observer.lists_elements(at);
        self.loops.push(begun);
        Ok(())
    }

    pub(super) fn next(&mut self, slot: Slot, exit: Target, frame: StackFrame) -> Result<ControlTransfer, Fault> {
        let graded = self.observer.look.grades.is_some();
        if self.loops.len() <= frame.loops {
            return Err(broken_program());
        }
        let is_outermost = self.loops.len() == 1;
        let current = self.loops.last_mut().ok_or_else(broken_program)?;
        let (goes_on, lists) = (graded || current.lists, current.lists);
        let item = if current.is_settled() && !goes_on { None } else { current.next() };
        let Some(item) = item else { return Ok(ControlTransfer::Jump(exit.0)) };
        self.observer.enter_element(item, lists, is_outermost);
        *self.locals.get_mut(frame.locals.saturating_add(slot.0 as usize)).ok_or_else(broken_program)? = item;
        Ok(ControlTransfer::Next)
    }

    pub(super) fn repeat_loop(&mut self, next: Target, at: usize) -> Result<ControlTransfer, Fault> {
        let grade = self.top_grade(0);
        let said = self.pop_truth(at)?;
        let is_outermost = self.loops.len() == 1;
        let truth = if is_outermost { self.observer.look.doubts.of_body(said) } else { said };
        let current = self.loops.last_mut().ok_or_else(broken_program)?;
        current.count_body(truth);
        let fails = current.lists.then(|| current.is_failed_by(truth));
        self.observer.leave_element(fails, is_outermost.then_some(said));
        if let Some(grade) = grade {
            current.count_grade(grade);
        }
        Ok(ControlTransfer::Jump(next.0))
    }

    pub(super) fn end_loop(&mut self) -> Result<(), Fault> {
        let done = self.loops.pop().ok_or_else(broken_program)?;
        let value = done.loop_value();
        self.push(if done.counts_nowhere() { Node::from_nowhere(value) } else { Node::computed(value) });
        self.set_grade(done.final_grade());
        Ok(())
    }
}

/// If the condition is uncertain, both boolean branches count; other values are not recorded if they differ.
fn chosen_branch<'run>(condition: Truth, then: Node<'run>, otherwise: Node<'run>) -> Node<'run> {
    // Two branches that lead nowhere are no truths: what is computed of them is missing.
    let is_truth = [&then, &otherwise].iter().any(|node| matches!(node.value, Value::Boolean(_) | Value::Truth(_)));
    match condition {
        Truth::True => then,
        Truth::False => otherwise,
        _ => match (truth_of(&then), truth_of(&otherwise)) {
            (Some(a), Some(b)) if is_truth => Node::computed(Value::Truth(condition.choose_branch(a, b))),
            _ => match condition.plain_answer() {
                Some(true) => then,
                Some(false) => otherwise,
                None if values_equal(&then.value, &otherwise.value) => then,
                None => Node::computed(Value::Absent),
            },
        },
    }
}
