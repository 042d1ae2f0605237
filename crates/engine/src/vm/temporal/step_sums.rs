//! Upper bounds of sums over steps: a check that sets one cannot fail as long as the sum stays surely below it.
//!
//! A guard adds up what each new step brings, in doubles with a bound of their error. Where the sum comes near to its limit, or something else
//! than a number is added, the check is judged.

use super::count_tests::upper_bound;
use super::run_reach::is_of_steps_alone;
use super::step_marks::unknown_steps;
use super::timeline::PatternMatches;
use crate::bytecode::ops::Op;
use crate::bytecode::program::{CodeId, CompiledAssertion, CompiledCheck, PatternId, Program};
use crate::vm::context::ExpressionScope;
use crate::vm::machine::Machine;
use crate::vm::prepare::PreparedProgram;
use averment_base::value::Value;
use averment_checker::ir::SelectionReach;

/// More than what a sum of doubles of a session can be off by, as a part of what was added.
const ERROR: f64 = 1e-9;

/// `sum(args.amount of pay) <= 1000`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SumLimit {
    pub(super) pattern: PatternId,
    value: CodeId,
    most: f64,
}

/// What steps add up to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepSum {
    sum: f64,
    size: f64,
}

impl Default for StepSum {
    fn default() -> Self {
        Self { sum: 0.0, size: 0.0 }
    }
}

impl StepSum {
    /// Nobody knows how much.
    const UNKNOWN: Self = Self { sum: f64::NAN, size: f64::NAN };

    /// The sum of two.
    #[must_use]
    pub fn joined_with(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, size: self.size + other.size }
    }
}

impl SumLimit {
    /// Of an assertion that compares a sum over all steps with a whole number.
    #[must_use]
    pub fn of_assertion(program: &Program, prepared: &PreparedProgram, assertion: &CompiledAssertion) -> Option<Self> {
        let CompiledCheck::Expression(code) = assertion.check else { return None };
        let [Op::Fold(function, selection, _), test @ ..] = program.code_ops(code)? else { return None };
        let settings = &assertion.settings;
        let is_plain = settings.when.is_empty() && settings.threshold.is_none() && settings.expect_fail.is_none();
        let name = program.names.get(function.0 as usize)?;
        let selection = program.selections.get(selection.0 as usize)?;
        let value = selection.value?;
        let is_sum = name == "sum" && selection.reach == SelectionReach::Run && selection.given.is_empty();
        if !is_plain || !is_sum || !is_of_steps_alone(program, prepared, selection.pattern, value) {
            return None;
        }
        // Whole numbers below 2^53 are doubles.
        let most = u32::try_from(upper_bound(program, test)?).ok()?;
        Some(Self { pattern: selection.pattern, value, most: f64::from(most) })
    }

    /// What the matches of its pattern in a run add.
    pub(super) fn sum_matches(&self, machine: &mut Machine<'_>, matches: Option<&PatternMatches>) -> StepSum {
        let Some(matches) = matches.filter(|matches| unknown_steps(matches) == 0) else { return StepSum::UNKNOWN };
        let mut total = StepSum::default();
        for event in &matches.events {
            let Some(step) = machine.run.steps.get(event.step as usize).filter(|_| event.sure) else {
                return StepSum::UNKNOWN;
            };
            let added = machine.evaluate_code(self.value, &ExpressionScope::of_step(step)).map(|node| node.value);
            let Ok(Value::Number(added)) = added else { return StepSum::UNKNOWN };
            let added = added.to_f64();
            total = total.joined_with(StepSum { sum: added, size: added.abs() });
        }
        total
    }

    /// Whether a sum is surely within the limit.
    #[must_use]
    pub fn is_kept(&self, sum: StepSum) -> bool {
        sum.sum + sum.size * ERROR < self.most
    }
}
