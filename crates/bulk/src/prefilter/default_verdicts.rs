//! What is known of the assertions before a run is looked at, so that a run costs no more than what is in it.
//!
//! Most assertions of a large set speak of nothing that a run has: their answers are copied. The others are found by what they speak of:
//! the unique patterns of the run's calls, the texts that were found, the values at some places.

use super::judging::Judging;
use super::temporal::Statement;
use super::values::{Remembered, Values};
use super::{Answer, Form, Item, Prefilter};
use averment_engine::bytecode::program::Program;
use averment_engine::vm::temporal::plan::Plan;

/// The answers for a run in which nothing concerns an assertion, and which assertions a run may concern. Assertions are numbered by their
/// places in the list of the prefilter.
#[derive(Debug, Default)]
pub(super) struct DefaultVerdicts {
    /// The answers where no call matches any pattern and no text is found, for a run without calls and for one with some.
    answers: [Vec<Answer>; 2],
    /// Assertions that are evaluated in every run.
    always: Vec<u32>,
    /// Assertions that are a condition of one value.
    values: Values,
    /// Assertions with each unique pattern.
    of_unique: Vec<OfUnique>,
    /// Assertions that look for something in the texts of each field.
    of_field: [Vec<u32>; 2],
    /// Assertions that look for each literal of a field's search.
    of_target: [Vec<Vec<u32>>; 2],
}

/// The assertions with a unique pattern.
#[derive(Debug, Default, Clone)]
struct OfUnique {
    any: Vec<u32>,
    /// Tests of the number of its calls, with the answers for small numbers.
    counts: Vec<(u32, Box<[Answer]>)>,
}

impl DefaultVerdicts {
    /// What is known of the assertions of a prefilter.
    pub(super) fn new(program: &Program, plan: &Plan, prefilter: &Prefilter) -> Self {
        let mut default_verdicts = Self {
            of_unique: vec![OfUnique::default(); plan.count()],
            of_target: prefilter.searched.each_ref().map(|searched| vec![Vec::new(); searched.len()]),
            ..Self::default()
        };
        for (number, item) in (0_u32..).zip(&prefilter.items) {
            let [without, with] = default_verdicts.item(program, plan, prefilter, number, item);
            let [all_without, all_with] = &mut default_verdicts.answers;
            all_without.push(without);
            all_with.push(with);
        }
        default_verdicts.values.finish(program);
        default_verdicts
    }

    /// The answers of an assertion for runs without anything that concerns it, without calls and with some.
    fn item(&mut self, program: &Program, plan: &Plan, prefilter: &Prefilter, number: u32, item: &Item) -> [Answer; 2] {
        let defaults = match &item.check {
            Form::Open => Some([Answer::Open; 2]),
            Form::Selected { .. } => None,
            _ if !item.when.is_empty() => None,
            Form::Expression(condition) => {
                let known = prefilter.conditions.get(*condition as usize);
                let classed = known.is_some_and(|known| self.values.add(program, number, *condition, known));
                classed.then_some([Answer::Open; 2])
            }
            Form::NoneIn { field, literals: targets, default } => {
                if let (Some(all), Some(of)) =
                    (self.of_field.get_mut(*field as usize), self.of_target.get_mut(*field as usize))
                {
                    all.push(number);
                    for target in targets {
                        of.get_mut(*target as usize).into_iter().for_each(|of| of.push(number));
                    }
                }
                Some([*default; 2])
            }
            Form::Temporal(statement) => self.temporal(plan, number, statement),
        };
        defaults.unwrap_or_else(|| {
            self.always.push(number);
            [Answer::Open; 2]
        })
    }

    /// `None` where more than the calls that match its patterns decides.
    fn temporal(&mut self, plan: &Plan, number: u32, statement: &Statement) -> Option<[Answer; 2]> {
        let defaults = [statement.default_verdict(plan, false)?, statement.default_verdict(plan, true)?];
        if let Some((unique, known)) = statement.counts(plan) {
            let of = self.of_unique.get_mut(unique as usize);
            of.into_iter().for_each(|of| of.counts.push((number, Box::clone(&known))));
            return Some(defaults);
        }
        for operand in &statement.operands {
            let of = self.of_unique.get_mut(operand.pattern as usize).map(|of| &mut of.any);
            of.into_iter().filter(|of| of.last() != Some(&number)).for_each(|of| of.push(number));
        }
        Some(defaults)
    }

    /// The answers for a run that records its calls, none of which is unusual; `touched` are the unique patterns that its calls have the names of, `done`
    /// and `remembered` are memory.
    pub(super) fn judge(
        &self,
        judging: &mut Judging<'_, '_>,
        touched: &[u32],
        done: &mut Vec<u64>,
        remembered: &mut Remembered,
        into: &mut Vec<Answer>,
    ) {
        let from = into.len();
        let [without, with] = &self.answers;
        into.extend_from_slice(if judging.projection.calls.is_empty() { without } else { with });
        let Some(answers) = into.get_mut(from..) else { return };
        self.values.judge(judging, remembered, answers);
        self.always.iter().for_each(|number| ask(judging, *number, answers));
        for (field, (all, targets)) in self.of_field.iter().zip(&self.of_target).enumerate() {
            if judging.projection.texts.get(field).is_none_or(|texts| !texts.any) {
                all.iter().for_each(|number| ask(judging, *number, answers));
            } else if let Some(hits) = judging.hits.get(field) {
                let met = hits.iter().filter_map(|target| targets.get(*target as usize));
                met.flatten().for_each(|number| ask(judging, *number, answers));
            }
        }
        done.clear();
        done.resize(with.len().div_ceil(64), 0);
        for unique in touched {
            let Some(of) = self.of_unique.get(*unique as usize) else { continue };
            for number in of.any.iter().filter(|number| is_first(done, **number)) {
                ask(judging, *number, answers);
            }
            let count = judging.calls.count(*unique) as usize;
            for (number, known) in &of.counts {
                if let Some(answer) = answers.get_mut(*number as usize) {
                    // More calls than the table has answers for.
                    *answer = known.get(count).copied().unwrap_or_else(|| judging.numbered(*number));
                }
            }
        }
    }
}

/// Answers an assertion anew.
fn ask(judging: &mut Judging<'_, '_>, number: u32, answers: &mut [Answer]) {
    if let Some(answer) = answers.get_mut(number as usize) {
        *answer = judging.numbered(number);
    }
}

/// Whether an assertion was not looked at yet; it is then.
fn is_first(done: &mut [u64], number: u32) -> bool {
    let Some(word) = done.get_mut(number as usize / 64) else { return false };
    let bit = 1 << (number % 64);
    let first = *word & bit == 0;
    *word |= bit;
    first
}
