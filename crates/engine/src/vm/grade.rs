//! The score of an expression with a score function in it (language reference, section 7): a compared score function gives its
//! value, `and` and `all` take the least, `or` and `any` the greatest, `not` gives one minus it.
//!
//! Only assertions whose code can call such a function are graded; for all others the verdict is the score. Grading runs the same code:
//! a second stack holds the scores of the values on the first.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::context::ExpressionScope;
use super::fault::Fault;
use super::frame::ScoreStack;
use super::machine::Machine;
use crate::bytecode::program::CodeId;
use averment_base::value::{Node, Value};
use averment_syntax::ast::TestKind;

impl<'run> Machine<'run> {
    /// Evaluates an assertion with its score; `None` without a score function, where the verdict is the score.
    pub(super) fn eval_graded(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<(Node<'run>, Option<f64>), Fault> {
        if !self.prepared.is_graded(code) {
            return Ok((self.evaluate_code(code, scope)?, None));
        }
        self.observer.look.grades = Some(ScoreStack::default());
        let outcome = self.evaluate_code(code, scope);
        let grades = self.observer.look.grades.take();
        let score = grades.and_then(|grades| grades.pending);
        Ok((outcome?, score.map(|score| score.clamp(0.0, 1.0))))
    }

    /// A `let` with a score function is recomputed while grading, because its score is not cached.
    pub(super) fn must_grade(&self, code: CodeId) -> bool {
        self.observer.look.grades.is_some() && self.prepared.is_graded(code)
    }

    pub(super) fn keep_grade(&mut self) {
        let grade = self.observer.look.grades.as_ref().and_then(|grades| self.own_grade(grades, 0));
        if let Some(grades) = &mut self.observer.look.grades {
            grades.pending = grade;
        }
    }

    pub(super) fn grade_score(&mut self, result: &Node<'run>) {
        if let (Some(grades), Value::Number(number)) = (&mut self.observer.look.grades, &result.value) {
            grades.pending = Some(number.to_f64());
        }
    }

    /// The score of the value `below` under the top: its own, or 1 for true and 0 for anything else.
    pub(super) fn top_grade(&self, below: usize) -> Option<f64> {
        let grades = self.observer.look.grades.as_ref()?;
        let own = self.own_grade(grades, below);
        own.or_else(|| {
            let holds = match self.peek(below).ok()?.value {
                Value::Truth(truth) => truth.plain_answer() == Some(true),
                Value::Boolean(value) => value,
                _ => false,
            };
            Some(if holds { 1.0 } else { 0.0 })
        })
    }

    fn own_grade(&self, grades: &ScoreStack, below: usize) -> Option<f64> {
        let at = self.stack.len().checked_sub(below)?.checked_sub(1)?;
        grades.scores.get(at).copied().flatten()
    }

    pub(super) fn set_grade(&mut self, grade: Option<f64>) {
        let length = self.stack.len();
        if let Some(grades) = &mut self.observer.look.grades {
            grades.scores.resize(length, None);
            if let Some(top) = grades.scores.last_mut() {
                *top = grade;
            }
        }
    }

    pub(super) fn comparison_grade(&self, kind: TestKind, negated: bool) -> Option<f64> {
        let grades = self.observer.look.grades.as_ref()?;
        let (score, rising) = match (self.own_grade(grades, 1), self.own_grade(grades, 0)) {
            (Some(score), _) => (score, true),
            (None, Some(score)) => (score, false),
            (None, None) => return None,
        };
        let higher_is_better = match kind {
            TestKind::Greater | TestKind::GreaterOrEqual => rising,
            TestKind::Less | TestKind::LessOrEqual => !rising,
            _ => return None,
        };
        Some(if higher_is_better == negated { 1.0 - score } else { score })
    }
}
