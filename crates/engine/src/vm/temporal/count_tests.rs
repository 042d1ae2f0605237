//! Tests of numbers of steps: the most that they allow, which no check fails before more are there, and what they say of larger numbers.

use crate::bytecode::ops::{Literal, Op, Slot};
use crate::bytecode::program::{CodeId, CompiledCheck, PatternId, Program};
use averment_checker::ir::{Constant, LocalId, Temporal};
use averment_runs::run::StepKind;
use averment_syntax::ast::TestKind;

/// The steps that a check counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedSteps {
    /// Those that match a pattern.
    Matches(PatternId),
    /// All calls.
    Calls,
}

/// How many steps may be there: `count A <= 3`, `require A 1..3 times`, `length(calls) <= 9`.
pub(super) fn find_count_limit(program: &Program, check: &CompiledCheck) -> Option<(CountedSteps, u64)> {
    match check {
        CompiledCheck::Expression(code) => {
            let [Op::Root(list), Op::Call(function, _), test @ ..] = program.code_ops(*code)? else { return None };
            let name = |number: u32| program.names.get(number as usize).map(String::as_str);
            let counts_calls = name(function.0) == Some("length") && name(list.0) == Some(StepKind::Call.list_key());
            Some((CountedSteps::Calls, upper_bound(program, test)?)).filter(|_| counts_calls)
        }
        CompiledCheck::Temporal(number) => match &program.temporals.get(number.0 as usize)?.temporal {
            Temporal::Count { step, test } => Some((CountedSteps::Matches(*step), bound_of_count(program, *test)?)),
            Temporal::Require { step, times: Some(times), .. } => Some((CountedSteps::Matches(*step), times.most?)),
            _ => None,
        },
        _ => None,
    }
}

fn bound_of_count(program: &Program, test: CodeId) -> Option<u64> {
    let [Op::Local(Slot(first)), test @ ..] = program.code_ops(test)? else { return None };
    if *first == LocalId::COUNT.0 { upper_bound(program, test) } else { None }
}

/// The largest number with which a test against a constant may hold.
pub(super) fn upper_bound(program: &Program, test: &[Op]) -> Option<u64> {
    let whole = |literal: &Literal| match program.constants.get(literal.0 as usize) {
        Some(Constant::Number(text)) => text.parse::<u64>().ok(),
        _ => None,
    };
    match test {
        [Op::Constant(most), Op::Test(TestKind::LessOrEqual | TestKind::Equal, false)] => whole(most),
        [Op::Constant(above), Op::Test(TestKind::Less, false)] => whole(above)?.checked_sub(1),
        [Op::Constant(_), Op::Constant(most), Op::Range(true, true), Op::Test(TestKind::In, false)]
        | [Op::Constant(most), Op::Range(false, true), Op::Test(TestKind::In, false)] => whole(most),
        _ => None,
    }
}

/// What a test of a count says of larger counts: a run that goes on can only add to it.
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
