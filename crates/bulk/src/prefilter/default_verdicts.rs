//! What is known of the assertions before a run is looked at, so that a run costs no more than what is in it.
//!
//! Most assertions of a large set speak of nothing that a run has: their answers are copied. The others are found by what they speak of:
//! the unique patterns of the run's calls, the texts that were found, the values at some places.

use super::judging::PrefilterRun;
use super::temporal::CallStatement;
use super::values::{ClassAnswers, ValueConditions};
use super::{ItemCheck, Prefilter, PrefilterAnswer, PrefilterItem};
use averment_engine::bytecode::program::Program;
use averment_engine::vm::temporal::plan::TemporalPlan;

/// Default answers and the assertions that a run may concern; assertions are prefilter indices.
#[derive(Debug, Default)]
pub(super) struct DefaultVerdicts {
    /// Answers if nothing matches, for a run without calls and one with some.
    answers: [Vec<PrefilterAnswer>; 2],
    always: Vec<u32>,
    values: ValueConditions,
    of_unique: Vec<PatternAssertions>,
    of_field: [Vec<u32>; 2],
    of_target: [Vec<Vec<u32>>; 2],
    duplicates: Vec<Duplicate>,
}

/// An assertion that says the same as another one, word for word: it is not asked.
#[derive(Debug, Clone, Copy)]
struct Duplicate {
    number: u32,
    first: u32,
}

#[derive(Debug, Default, Clone)]
struct PatternAssertions {
    any: Vec<u32>,
    counts: Vec<(u32, Box<[PrefilterAnswer]>)>,
}

impl DefaultVerdicts {
    pub(super) fn new(program: &Program, plan: &TemporalPlan, prefilter: &Prefilter) -> Self {
        let mut default_verdicts = Self {
            of_unique: vec![PatternAssertions::default(); plan.pattern_count()],
            of_target: prefilter.searched.each_ref().map(|searched| vec![Vec::new(); searched.len()]),
            ..Self::default()
        };
        for (number, item) in (0_u32..).zip(&prefilter.items) {
            let [without, with] = default_verdicts.default_answers(program, plan, prefilter, number, item);
            let [all_without, all_with] = &mut default_verdicts.answers;
            all_without.push(without);
            all_with.push(with);
        }
        default_verdicts.values.build_searches(program);
        default_verdicts
    }

    /// Answers for runs that do not concern the assertion, without and with calls.
    fn default_answers(
        &mut self,
        program: &Program,
        plan: &TemporalPlan,
        prefilter: &Prefilter,
        number: u32,
        item: &PrefilterItem,
    ) -> [PrefilterAnswer; 2] {
        let defaults = match &item.check {
            ItemCheck::Open => Some([PrefilterAnswer::Open; 2]),
            _ if self.add_duplicate(plan, prefilter, number, item) => Some([PrefilterAnswer::Open; 2]),
            ItemCheck::Selected { .. } => None,
            _ if !item.when.is_empty() => None,
            ItemCheck::Expression(condition) => {
                let known = prefilter.conditions.get(*condition as usize);
                let classed = known.is_some_and(|known| self.values.add_condition(program, number, *condition, known));
                classed.then_some([PrefilterAnswer::Open; 2])
            }
            ItemCheck::NoneIn { field, literals: targets, default } => {
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
            ItemCheck::Temporal(statement) => self.statement_answers(plan, number, statement),
        };
        defaults.unwrap_or_else(|| {
            self.always.push(number);
            [PrefilterAnswer::Open; 2]
        })
    }

    /// False where it has to be asked itself.
    fn add_duplicate(&mut self, plan: &TemporalPlan, prefilter: &Prefilter, number: u32, item: &PrefilterItem) -> bool {
        let is_asked = |item: &PrefilterItem| item.when.is_empty() && !matches!(item.check, ItemCheck::Open);
        let first = plan.first_duplicate(item.assertion).filter(|first| *first < item.assertion && is_asked(item));
        let place = first.and_then(|first| prefilter.items.binary_search_by_key(&first, |item| item.assertion).ok());
        let place = place.filter(|place| prefilter.items.get(*place).is_some_and(is_asked));
        let first = place.and_then(|place| u32::try_from(place).ok());
        self.duplicates.extend(first.map(|first| Duplicate { number, first }));
        first.is_some()
    }

    /// `None` if more than the matching calls decides.
    fn statement_answers(
        &mut self,
        plan: &TemporalPlan,
        number: u32,
        statement: &CallStatement,
    ) -> Option<[PrefilterAnswer; 2]> {
        let defaults = [statement.default_verdict(plan, false)?, statement.default_verdict(plan, true)?];
        if let Some((unique, known)) = statement.count_answers(plan) {
            let of = self.of_unique.get_mut(unique as usize);
            of.into_iter().for_each(|of| of.counts.push((number, Box::clone(&known))));
            return Some(defaults);
        }
        for pattern in statement.concerned_patterns() {
            let of = self.of_unique.get_mut(pattern as usize).map(|of| &mut of.any);
            of.into_iter().filter(|of| of.last() != Some(&number)).for_each(|of| of.push(number));
        }
        Some(defaults)
    }

    /// Needs usual calls only; `touched` are the patterns whose names occur; `done` and `remembered` are scratch.
    pub(super) fn answer_run(
        &self,
        judging: &mut PrefilterRun<'_, '_>,
        touched: &[u32],
        done: &mut Vec<u64>,
        remembered: &mut ClassAnswers,
        into: &mut Vec<PrefilterAnswer>,
    ) {
        let from = into.len();
        let [without, with] = &self.answers;
        into.extend_from_slice(if judging.projection.calls.is_empty() { without } else { with });
        let Some(answers) = into.get_mut(from..) else { return };
        self.values.answer_all(judging, remembered, answers);
        self.always.iter().for_each(|number| ask_assertion(judging, *number, answers));
        for (field, (all, targets)) in self.of_field.iter().zip(&self.of_target).enumerate() {
            let has_texts = judging.projection.texts.get(field).is_some_and(|texts| texts.any);
            if !has_texts || !all.is_empty() && judging.projection.lacks_field(field) {
                all.iter().for_each(|number| ask_assertion(judging, *number, answers));
            } else if let Some(hits) = judging.hits.get(field) {
                let met = hits.iter().filter_map(|target| targets.get(*target as usize));
                met.flatten().for_each(|number| ask_assertion(judging, *number, answers));
            }
        }
        done.clear();
        done.resize(with.len().div_ceil(64), 0);
        for unique in touched {
            let Some(of) = self.of_unique.get(*unique as usize) else { continue };
            for number in of.any.iter().filter(|number| is_first(done, **number)) {
                ask_assertion(judging, *number, answers);
            }
            let count = judging.calls.call_count(*unique) as usize;
            for (number, known) in &of.counts {
                if let Some(answer) = answers.get_mut(*number as usize) {
                    // More calls than the table has answers for.
                    *answer = known.get(count).copied().unwrap_or_else(|| judging.answer_numbered(*number));
                }
            }
        }
        for Duplicate { number, first } in &self.duplicates {
            let answer = answers.get(*first as usize).copied();
            if let (Some(slot), Some(answer)) = (answers.get_mut(*number as usize), answer) {
                *slot = answer;
            }
        }
    }
}

fn ask_assertion(judging: &mut PrefilterRun<'_, '_>, number: u32, answers: &mut [PrefilterAnswer]) {
    if let Some(answer) = answers.get_mut(number as usize) {
        *answer = judging.answer_numbered(number);
    }
}

fn is_first(done: &mut [u64], number: u32) -> bool {
    let Some(word) = done.get_mut(number as usize / 64) else { return false };
    let bit = 1 << (number % 64);
    let first = *word & bit == 0;
    *word |= bit;
    first
}
