//! Instructions of logic: conditions, `not`, `and`, `or`, `if`, quantifiers. The tables are those of [`averment_base::truth`].

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::fault::{Fault, Unfit};
use super::frame::{Frame, Loop};
use super::machine::{Machine, Transfer, broken};
use crate::bytecode::ops::{Slot, Target};
use averment_base::source::Span;
use averment_base::truth::Truth;
use averment_base::value::compare::equal;
use averment_base::value::{Node, Value};
use averment_syntax::ast::ExprQuantifier;

/// A value as a truth. What is missing is false because it is missing; a value that is no boolean is no truth at all.
pub(super) fn condition(node: &Node<'_>, span: Span) -> Result<Truth, Fault> {
    truth_of(node).ok_or_else(|| Fault::NotBoolean(Box::new(Unfit::new(node, span))))
}

fn truth_of(node: &Node<'_>) -> Option<Truth> {
    match node.value {
        Value::Truth(truth) => Some(truth),
        Value::Boolean(value) => Some(Truth::from_bool(value)),
        Value::Missing | Value::Null => Some(Truth::missing(false)),
        Value::Absent => Some(Truth::Undecided),
        _ => None,
    }
}

impl<'run> Machine<'run> {
    fn pop_truth(&mut self, at: usize) -> Result<Truth, Fault> {
        let node = self.pop()?;
        condition(&node, self.span(at))
    }

    /// The value on top as a truth; one that was none is what a report has to show.
    pub(super) fn make_truth(&mut self, at: usize) -> Result<(), Fault> {
        let node = self.pop()?;
        let truth = condition(&node, self.span(at))?;
        match node.value {
            Value::Truth(_) => self.see(at, truth),
            _ => self.note_condition(at, node, truth),
        }
        self.push(Node::new(Value::Truth(truth), node.origin));
        Ok(())
    }

    pub(super) fn not(&mut self, at: usize) -> Result<(), Fault> {
        let grade = self.top_grade(0);
        let truth = self.pop_truth(at)?;
        self.push_value(Value::Truth(!truth));
        self.set_grade(grade.map(|grade| 1.0 - grade));
        Ok(())
    }

    /// The premise of an implication that is asserted: what does not hold exercises nothing.
    pub(super) fn premise(&mut self, at: usize) -> Result<(), Fault> {
        let grade = self.top_grade(0);
        let premise = self.pop_truth(at)?;
        let truth = premise.premise();
        if truth == Truth::TrueByMissing {
            self.note_premise(at);
        }
        self.push_value(Value::Truth(truth));
        self.set_grade(grade.map(|grade| 1.0 - grade));
        Ok(())
    }

    /// Jumps when a premise does not hold, also where scores count: there is nothing to score.
    pub(super) fn skip_unmet(&mut self, target: Target) -> Result<Transfer, Fault> {
        let unmet = matches!(self.peek(0)?.value, Value::Truth(Truth::TrueByMissing));
        Ok(if unmet { Transfer::Jump(target.0) } else { Transfer::Next })
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

    /// Jumps when the truth on top decides alone. A graded assertion looks at both sides: their scores count.
    pub(super) fn skip_if(&mut self, deciding: Truth, target: Target) -> Result<Transfer, Fault> {
        let decides = matches!(self.peek(0)?.value, Value::Truth(truth) if truth == deciding);
        Ok(if decides && self.grades.is_none() { Transfer::Jump(target.0) } else { Transfer::Next })
    }

    /// Skips the branch that is plainly not taken, with a placeholder for its value.
    pub(super) fn skip_branch(&mut self, below: usize, deciding: Truth, target: Target) -> Result<Transfer, Fault> {
        let skips = matches!(self.peek(below)?.value, Value::Truth(truth) if truth == deciding);
        if skips {
            self.push_value(Value::Missing);
            return Ok(Transfer::Jump(target.0));
        }
        Ok(Transfer::Next)
    }

    pub(super) fn choose(&mut self, at: usize) -> Result<(), Fault> {
        let grades = (self.top_grade(1), self.top_grade(0));
        let otherwise = self.pop()?;
        let then = self.pop()?;
        let condition = self.pop_truth(at)?;
        let grade = if condition.plain() == Some(true) { grades.0 } else { grades.1 };
        let node = chosen(condition, then, otherwise);
        self.push(node);
        self.set_grade(grade);
        Ok(())
    }

    pub(super) fn begin(&mut self, quantifier: ExprQuantifier, at: usize) -> Result<(), Fault> {
        let source = self.pop()?;
        let source = self.opened(source)?;
        let span = self.span(at);
        self.note_source(at, source);
        let listing = self.recorder.as_ref().and_then(|recorder| recorder.listing.as_ref());
        let lists = listing.is_some_and(|listing| listing.begins_at(at));
        let mut begun = Loop::new(quantifier, &source, span)?;
        begun.lists = lists;
        self.loops.push(begun);
        Ok(())
    }

    pub(super) fn next(&mut self, slot: Slot, exit: Target, frame: Frame) -> Result<Transfer, Fault> {
        let graded = self.grades.is_some();
        if self.loops.len() <= frame.loops {
            return Err(broken());
        }
        let is_outermost = self.loops.len() == 1;
        let current = self.loops.last_mut().ok_or_else(broken)?;
        let (goes_on, lists) = (graded || current.lists, current.lists);
        let item = if current.is_settled() && !goes_on { None } else { current.next() };
        let Some(item) = item else { return Ok(Transfer::Jump(exit.0)) };
        if let Some(recorder) = self.recorder.as_mut() {
            recorder.enter_element(item, lists, is_outermost);
        }
        *self.locals.get_mut(frame.locals.saturating_add(slot.0 as usize)).ok_or_else(broken)? = item;
        Ok(Transfer::Next)
    }

    pub(super) fn repeat(&mut self, next: Target, at: usize) -> Result<Transfer, Fault> {
        let grade = self.top_grade(0);
        let said = self.pop_truth(at)?;
        let is_outermost = self.loops.len() == 1;
        let truth = if is_outermost { self.doubts.of_body(said) } else { said };
        let current = self.loops.last_mut().ok_or_else(broken)?;
        current.count(truth);
        if let Some(recorder) = self.recorder.as_mut() {
            let fails = current.lists.then(|| current.fails_by(truth));
            recorder.leave_element(fails, is_outermost.then_some(said));
        }
        if let Some(grade) = grade {
            current.count_grade(grade);
        }
        Ok(Transfer::Jump(next.0))
    }

    pub(super) fn end(&mut self) -> Result<(), Fault> {
        let done = self.loops.pop().ok_or_else(broken)?;
        let value = done.value();
        self.push(if done.counts_nowhere() { Node::nowhere(value) } else { Node::computed(value) });
        self.set_grade(done.final_grade());
        Ok(())
    }
}

/// The branch that a condition takes. Where something missing decided the condition, or the run does not say, both branches count as
/// long as they are truths; other values are the branch taken, or not recorded where nobody knows which and they differ.
fn chosen<'run>(condition: Truth, then: Node<'run>, otherwise: Node<'run>) -> Node<'run> {
    match condition {
        Truth::True => then,
        Truth::False => otherwise,
        _ => match (truth_of(&then), truth_of(&otherwise)) {
            (Some(a), Some(b)) => Node::computed(Value::Truth(condition.choose(a, b))),
            _ => match condition.plain() {
                Some(true) => then,
                Some(false) => otherwise,
                None if equal(&then.value, &otherwise.value) => then,
                None => Node::computed(Value::Absent),
            },
        },
    }
}
