//! Default verdicts: what the evaluator says of runs that stand for all in which nothing concerns an assertion, asked beforehand.

use super::projected_run::{self, ProjectedRun};
use super::temporal::{CallCountTest, count_value};
use super::{EvaluationRules, ItemCheck, Prefilter, PrefilterAnswer, PrefilterItem, UniqueCondition};
use averment_base::value::{Node, TextOrigin, Value};
use averment_engine::vm::context::ExpressionScope;
use averment_engine::vm::evaluate::verdicts_of_checks;
use averment_engine::vm::machine::Machine;
use averment_runs::run::RunSource;
use averment_traces::projection::CallField;
use bumpalo::Bump;

pub(super) fn learn_defaults(rules: EvaluationRules<'_>, prefilter: &mut Prefilter) {
    learn_counts(rules, prefilter);
    learn_searches(rules, prefilter);
}

/// Tests small counts on an empty run, if the test reads only the count.
fn learn_counts(rules: EvaluationRules<'_>, prefilter: &mut Prefilter) {
    let EvaluationRules { program, prepared, options, .. } = rules;
    let arena = Bump::new();
    let run = ProjectedRun::new(&arena, 0).into_run("", RunSource::default());
    let mut machine = Machine::new(program, prepared, &run, &arena, options.limits);
    let conditions = &prefilter.conditions;
    for (number, condition) in count_tests(&mut prefilter.items, conditions).filter(|(_, of)| of.reads.is_of_given()) {
        number.learn_truths(|count| {
            machine.refuel();
            let locals = [Node::computed(count_value(u64::from(count)))];
            machine.evaluate_truth(condition.code, &ExpressionScope::default().with_locals(&locals)).ok()
        });
    }
}

fn count_tests<'s>(
    items: &'s mut [PrefilterItem],
    conditions: &'s [UniqueCondition],
) -> impl Iterator<Item = (&'s mut CallCountTest, &'s UniqueCondition)> {
    items.iter_mut().filter_map(|item| match &mut item.check {
        ItemCheck::Temporal(statement) => {
            let number = statement.number.as_mut()?;
            let condition = conditions.get(number.condition as usize)?;
            Some((number, condition))
        }
        _ => None,
    })
}

/// Tests literal searches on a run whose call fields are `true`, so that no text occurs.
fn learn_searches(rules: EvaluationRules<'_>, prefilter: &mut Prefilter) {
    let EvaluationRules { program, prepared, options, .. } = rules;
    let arena = Bump::new();
    let fields = CallField::ALL.map(|field| (field.as_str(), Node::computed(Value::Boolean(true))));
    let step = projected_run::new_step(&arena, 0, "", fields.into_iter(), TextOrigin::COMPUTED);
    let mut made = ProjectedRun::new(&arena, 1);
    made.set_calls(std::slice::from_ref(&step));
    let run = made.into_run("", RunSource::default());
    let searching = prefilter.items.iter_mut().filter_map(|item| match &mut item.check {
        ItemCheck::NoneIn { default, .. } => Some((item.assertion, default)),
        _ => None,
    });
    let (wanted, defaults) = searching.unzip::<_, _, Vec<u32>, Vec<&mut PrefilterAnswer>>();
    let verdicts = verdicts_of_checks(program, prepared, &run, &arena, options, &wanted);
    for (default, verdict) in defaults.into_iter().zip(verdicts) {
        *default = verdict.map_or(PrefilterAnswer::Open, PrefilterAnswer::of_verdict);
    }
}
