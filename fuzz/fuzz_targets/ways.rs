//! Generated rules and runs, each in every way of evaluation: the generators are those of `tests/every_way`, and what they choose is drawn
//! from the bytes.

#![no_main]
#![allow(dead_code, unused_imports, reason = "what the tests alone use")]

// The generators of the reference evaluator, and what they are written with.
#[path = "../../tests/oracle/calls_match.rs"]
mod calls_match;
#[path = "../../tests/oracle/condition.rs"]
mod condition;
#[path = "../../tests/oracle/expression.rs"]
mod expression;
#[path = "../../tests/oracle/expression_test.rs"]
mod expression_test;
#[path = "../../tests/oracle/generate_expression.rs"]
mod generate_expression;
#[path = "../../tests/oracle/generate_rule.rs"]
mod generate_rule;
#[path = "../../tests/oracle/generate_run.rs"]
mod generate_run;
#[path = "../../tests/oracle/generate_step.rs"]
mod generate_step;
#[path = "../../tests/oracle/model.rs"]
mod model;
#[path = "../../tests/oracle/print.rs"]
mod print;
#[path = "../../tests/oracle/print_expression.rs"]
mod print_expression;
#[path = "../../tests/oracle/run.rs"]
mod run;
#[path = "../../tests/oracle/source.rs"]
mod source;
#[path = "../../tests/oracle/truth.rs"]
mod truth;
#[path = "../../tests/oracle/value.rs"]
mod value;

/// Nobody asks here what lists over steps are worth.
mod selection {
    use crate::condition::{Scope, Variables};
    use crate::model::Selected;
    use crate::truth::{Truth, UNDECIDED};

    pub fn truth(_: &Selected, _: Scope, _: Variables) -> Truth {
        UNDECIDED
    }
}

#[path = "../../tests/every_way/by_names.rs"]
mod by_names;
#[path = "../../tests/every_way/case.rs"]
mod case;
#[path = "../../tests/every_way/cells.rs"]
mod cells;
#[path = "../../tests/every_way/check.rs"]
mod check;
#[path = "../../tests/every_way/compare.rs"]
mod compare;
#[path = "../../tests/every_way/conversation.rs"]
mod conversation;
#[path = "../../tests/every_way/coverage.rs"]
mod coverage;
#[path = "../../tests/every_way/engine.rs"]
mod engine;
#[path = "../../tests/every_way/forms.rs"]
mod forms;
#[path = "../../tests/every_way/full.rs"]
mod full;
#[path = "../../tests/every_way/layout.rs"]
mod layout;
#[path = "../../tests/every_way/minimize.rs"]
mod minimize;
#[path = "../../tests/every_way/recorded.rs"]
mod recorded;
#[path = "../../tests/every_way/rules.rs"]
mod rules;
#[path = "../../tests/every_way/searches.rs"]
mod searches;
#[path = "../../tests/every_way/spans.rs"]
mod spans;
#[path = "../../tests/every_way/ways.rs"]
mod ways;
#[path = "../../tests/every_way/write.rs"]
mod write;

use arbitrary::{Arbitrary, Unstructured};
use case::Case;
use compare::Checker;

/// A case of which every choice is a byte.
#[derive(Debug)]
struct Chosen(Case);

impl<'a> Arbitrary<'a> for Chosen {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let number = u64::from(bytes.arbitrary::<u8>()?);
        let settings = choices(bytes)?;
        let rules = (0..bytes.int_in_range(1..=3)?).map(|_| choices(bytes)).collect::<Result<_, _>>()?;
        let runs = (0..bytes.int_in_range(1..=4)?).map(|_| choices(bytes)).collect::<Result<_, _>>()?;
        Ok(Self(Case { number, rules, runs, settings }))
    }
}

/// The choices of one part. Where they end, the simplest ones follow.
fn choices(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Vec<u32>> {
    let length = usize::from(bytes.arbitrary::<u8>()?);
    let taken = bytes.bytes(length.min(bytes.len()))?;
    Ok(taken.iter().map(|byte| u32::from(*byte)).collect())
}

libfuzzer_sys::fuzz_target!(|chosen: Chosen| {
    thread_local! {
        static CHECKER: std::cell::RefCell<Checker> = std::cell::RefCell::new(Checker::new());
    }
    let found = CHECKER.with_borrow_mut(|checker| checker.difference(&chosen.0, None));
    if let Ok(Some(difference)) = found {
        panic!("{difference}");
    }
});
