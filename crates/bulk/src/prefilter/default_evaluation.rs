//! Default verdicts: what the evaluator says of runs that stand for all in which nothing concerns an assertion, asked beforehand.

use super::projected_run::{self, ProjectedRun};
use super::temporal::{Number, number_of};
use super::{Answer, Compiled, Condition, Form, Item, Prefilter};
use averment_base::value::{Node, Origin, Value};
use averment_engine::vm::context::ExpressionScope;
use averment_engine::vm::evaluate::verdicts_of_checks;
use averment_engine::vm::machine::Machine;
use averment_runs::run::RunSource;
use averment_traces::projection::Field;
use bumpalo::Bump;

/// Asks for the default verdicts of all assertions of a prefilter.
pub(super) fn learn(rules: Compiled<'_>, prefilter: &mut Prefilter) {
    learn_counts(rules, prefilter);
    learn_searches(rules, prefilter);
}

/// The tests of small numbers of calls, where they look at nothing but the number: on a run without anything.
fn learn_counts(rules: Compiled<'_>, prefilter: &mut Prefilter) {
    let Compiled { program, prepared, options, .. } = rules;
    let arena = Bump::new();
    let run = ProjectedRun::new(&arena, 0).run("", RunSource::default());
    let mut machine = Machine::new(program, prepared, &run, &arena, options.limits);
    let conditions = &prefilter.conditions;
    for (number, condition) in counts(&mut prefilter.items, conditions).filter(|(_, of)| of.reads.is_of_given()) {
        number.learn(|count| {
            machine.refuel();
            let locals = [Node::computed(number_of(u64::from(count)))];
            machine.truth(condition.code, &ExpressionScope::default().with_locals(&locals)).ok()
        });
    }
}

fn counts<'s>(
    items: &'s mut [Item],
    conditions: &'s [Condition],
) -> impl Iterator<Item = (&'s mut Number, &'s Condition)> {
    items.iter_mut().filter_map(|item| match &mut item.check {
        Form::Temporal(statement) => {
            let number = statement.number.as_mut()?;
            let condition = conditions.get(number.condition as usize)?;
            Some((number, condition))
        }
        _ => None,
    })
}

/// What looks for literals in the texts of all calls: on a run with a call whose fields hold `true`, in which no text stands.
fn learn_searches(rules: Compiled<'_>, prefilter: &mut Prefilter) {
    let Compiled { program, prepared, options, .. } = rules;
    let arena = Bump::new();
    let fields = Field::ALL.map(|field| (field.as_str(), Node::computed(Value::Boolean(true))));
    let step = projected_run::step(&arena, 0, "", fields.into_iter(), Origin::COMPUTED);
    let mut made = ProjectedRun::new(&arena, 1);
    made.calls(std::slice::from_ref(&step));
    let run = made.run("", RunSource::default());
    let searching = prefilter.items.iter_mut().filter_map(|item| match &mut item.check {
        Form::NoneIn { default, .. } => Some((item.assertion, default)),
        _ => None,
    });
    let (wanted, defaults) = searching.unzip::<_, _, Vec<u32>, Vec<&mut Answer>>();
    let verdicts = verdicts_of_checks(program, prepared, &run, &arena, options, &wanted);
    for (default, verdict) in defaults.into_iter().zip(verdicts) {
        *default = verdict.map_or(Answer::Open, Answer::of_verdict);
    }
}
