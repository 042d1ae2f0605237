//! What a test of a count says of larger counts: a run that goes on can only add to it.

use crate::bytecode::ops::{Literal, Op, Slot};
use crate::bytecode::program::{CodeId, Program};
use averment_checker::ir::{Constant, LocalId};
use averment_syntax::ast::TestKind;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::vm) enum TestGrowth {
    FalseStays,
    TrueStays,
    /// True on an interval, then false forever: `== 3`, `in 1..3`.
    Interval,
    /// False for every number above this one: `in [1, 5]`.
    FalseAbove(f64),
    Unknown,
}

impl TestGrowth {
    /// Analyzes tests with the count on one side and a constant on the other.
    pub(in crate::vm) fn of_test(program: &Program, code: CodeId) -> Self {
        let Some([Op::Local(Slot(first)), operand @ .., Op::Test(kind, negated)]) = program.code_ops(code) else {
            return Self::Unknown;
        };
        let depends = operand.iter().any(|op| matches!(op, Op::Local(_) | Op::CallDef(..) | Op::Next(..)));
        if *first != LocalId::COUNT.0 || depends {
            return Self::Unknown;
        }
        match (kind, negated) {
            (TestKind::Less | TestKind::LessOrEqual, false) | (TestKind::Greater | TestKind::GreaterOrEqual, true) => {
                Self::FalseStays
            }
            (TestKind::Greater | TestKind::GreaterOrEqual, false) | (TestKind::Less | TestKind::LessOrEqual, true) => {
                Self::TrueStays
            }
            (TestKind::Equal | TestKind::Identical, false) => Self::Interval,
            (TestKind::In, false) => Self::of_members(program, operand),
            _ => Self::Unknown,
        }
    }

    fn of_members(program: &Program, operand: &[Op]) -> Self {
        match operand.last() {
            Some(Op::Range(true, false)) => Self::TrueStays,
            Some(Op::Range(false, true)) => Self::FalseStays,
            Some(Op::Range(true, true)) => Self::Interval,
            Some(Op::Constant(Literal(number))) => match program.constants.get(*number as usize) {
                Some(Constant::List(members)) => {
                    Self::FalseAbove(members.iter().filter_map(number_of).fold(-1.0, f64::max))
                }
                _ => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }
}

fn number_of(constant: &Constant) -> Option<f64> {
    match constant {
        Constant::Number(text) => text.parse().ok(),
        _ => None,
    }
}
