//! Upper bounds of numbers of steps: a check that sets one cannot fail for good as long as no more steps are there.

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
