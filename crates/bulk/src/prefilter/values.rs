//! Conditions that look at one value of the run alone, and what is remembered of them.
//!
//! The evaluator gives every verdict. Values fall into classes all of whose members have the same verdict: those without content (missing,
//! `null`, …), the numbers between two literals that a condition compares with, the texts in which none of its literals is found. The
//! verdict for the first value of a class is remembered for the others. What falls into no class is evaluated each time.

use super::condition_reads::ConditionReads;
use super::judging::PrefilterRun;
use super::literals::{Haystack, LiteralSearch};
use super::predicate::{PredicateOperand, SearchLiteral, ValuePath, small_integer};
use super::{PrefilterAnswer, UniqueCondition};
use averment_base::value::{Number, Value};
use averment_engine::bytecode::ops::{self, Op};
use averment_engine::bytecode::program::{CodeId, Program};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What is remembered of the values of other runs.
#[derive(Debug, Default)]
pub(super) struct ClassAnswers {
    /// By slot: the answer for a class of values.
    slots: Vec<Option<PrefilterAnswer>>,
    /// By path: the answers of all its conditions for values that are alike for each of them.
    rows: Vec<FxHashMap<usize, Box<[PrefilterAnswer]>>>,
}

/// Rows that are remembered for a path.
const MOST_ROWS: usize = 256;

/// Conditions that read only the value at one path.
#[derive(Debug)]
pub(super) struct PathConditions {
    path: ValuePath,
    conditions: Vec<ClassedCondition>,
    /// A combined search for their literals, if there are several.
    search: Option<LiteralSearch>,
    literals: Vec<SearchLiteral>,
    looking: Vec<Vec<u32>>,
    /// The sorted numbers that its conditions compare with, if numbers alone decide all of them.
    numbers: Option<Vec<i64>>,
}

/// A condition with its classes of equivalent values.
#[derive(Debug)]
struct ClassedCondition {
    item: u32,
    condition: u32,
    from: usize,
    /// The sorted numbers it compares with, if they alone decide for a number.
    numbers: Option<SmallVec<[i64; 1]>>,
    /// Slot for a text without any literal, if literals alone decide for a text.
    without: Option<usize>,
    /// True if all its literals are regular expressions: letters that look like others are nothing to these.
    of_regexes: bool,
}

/// Classes of values without content.
const UNITS: usize = 5;
/// Literals searched together.
const TOGETHER: usize = 4;

enum ValueClass<'a> {
    Unit(usize),
    Number(i64),
    Text(&'a str),
    Other,
}

impl<'a> ValueClass<'a> {
    fn of_value(value: &Value<'a>) -> Self {
        match value {
            Value::Missing => Self::Unit(0),
            Value::Absent => Self::Unit(1),
            Value::Null => Self::Unit(2),
            Value::Boolean(value) => Self::Unit(3 + usize::from(*value)),
            Value::Number(Number::Written(text)) => small_integer(text).map_or(Self::Other, Self::Number),
            Value::Text(text) => Self::Text(text.as_str()),
            _ => Self::Other,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct ValueConditions {
    of_path: Vec<PathConditions>,
    /// Slot for a text without any literal, by path and condition code without literals.
    forms: FxHashMap<(usize, Vec<Op>), usize>,
    slots: usize,
}

impl ValueConditions {
    /// Returns false if it reads more than one value.
    pub(super) fn add_condition(
        &mut self,
        program: &Program,
        item: u32,
        number: u32,
        condition: &UniqueCondition,
    ) -> bool {
        let Some(path) = condition.reads.only_path() else { return false };
        let known = self.of_path.iter().position(|of| of.path == *path);
        let at = known.unwrap_or_else(|| {
            self.of_path.push(PathConditions::new(path.clone()));
            self.of_path.len() - 1
        });
        let numbers = compared_numbers(&condition.reads);
        let literals = only_literals(&condition.reads);
        let is_regex = |literal: &&SearchLiteral| matches!(literal, SearchLiteral::Regex(_));
        let of_regexes = literals.iter().flatten().all(is_regex);
        let own = UNITS + numbers.as_ref().map_or(0, |numbers| 2 * numbers.len() + 1);
        let from = self.slots;
        self.slots += own;
        let without = literals.as_ref().and_then(|_| {
            let next = self.slots;
            let slot = *self.forms.entry((at, code_form(program, condition.code)?)).or_insert(next);
            self.slots += usize::from(slot == next);
            Some(slot)
        });
        if let Some(of) = self.of_path.get_mut(at) {
            let place = u32::try_from(of.conditions.len()).unwrap_or(u32::MAX);
            literals.into_iter().flatten().for_each(|literal| of.look_for(literal, place));
            match (&mut of.numbers, &numbers) {
                (Some(all), Some(own)) => all.extend(own),
                (all, _) => *all = None,
            }
            of.conditions.push(ClassedCondition { item, condition: number, from, numbers, without, of_regexes });
        }
        true
    }

    pub(super) fn build_searches(&mut self, program: &Program) {
        self.forms = FxHashMap::default();
        for of in &mut self.of_path {
            if let Some(numbers) = &mut of.numbers {
                numbers.sort_unstable();
                numbers.dedup();
            }
            if of.literals.len() >= TOGETHER {
                of.search = Some(LiteralSearch::new(program, of.literals.iter()));
                continue;
            }
            for place in of.looking.iter().flatten() {
                if let Some(condition) = of.conditions.get_mut(*place as usize) {
                    condition.without = None;
                }
            }
        }
    }

    pub(super) fn answer_all(
        &self,
        judging: &mut PrefilterRun<'_, '_>,
        remembered: &mut ClassAnswers,
        answers: &mut [PrefilterAnswer],
    ) {
        remembered.slots.resize(self.slots, None);
        remembered.rows.resize_with(self.of_path.len(), FxHashMap::default);
        self.of_path.iter().enumerate().for_each(|(path, of)| of.answer_path(path, judging, remembered, answers));
    }
}

impl PathConditions {
    fn new(path: ValuePath) -> Self {
        let numbers = Some(Vec::new());
        Self { path, conditions: Vec::new(), search: None, literals: Vec::new(), looking: Vec::new(), numbers }
    }

    fn look_for(&mut self, literal: &SearchLiteral, condition: u32) {
        match self.literals.iter().position(|known| known == literal).and_then(|at| self.looking.get_mut(at)) {
            Some(looking) => looking.push(condition),
            None => {
                self.literals.push(literal.clone());
                self.looking.push(vec![condition]);
            }
        }
    }

    fn answer_path(
        &self,
        path: usize,
        judging: &mut PrefilterRun<'_, '_>,
        remembered: &mut ClassAnswers,
        answers: &mut [PrefilterAnswer],
    ) {
        let Some(value) = judging.value_at(&self.path) else { return };
        let class = match value {
            // What is missing beside nearly its name, or behind what has no keys, is not like what is missing elsewhere.
            Some(Value::Missing) if judging.has_slip(&self.path) || judging.enters_no_keys(&self.path) => {
                ValueClass::Other
            }
            Some(value) => ValueClass::of_value(&value),
            None => ValueClass::Other,
        };
        match class {
            ValueClass::Unit(unit) => {
                for one in &self.conditions {
                    set_answer(answers, one.item, one.class_answer(one.from + unit, judging, remembered));
                }
            }
            ValueClass::Number(number) => self.answer_number(path, number, judging, remembered, answers),
            ValueClass::Text(text) => self.answer_text(text, judging, remembered, answers),
            ValueClass::Other => {
                for one in &self.conditions {
                    set_answer(answers, one.item, judging.answer_expression(one.item, one.condition));
                }
            }
        }
    }

    /// Numbers between the same two of those that the conditions compare with are alike for all of them.
    fn answer_number(
        &self,
        path: usize,
        number: i64,
        judging: &mut PrefilterRun<'_, '_>,
        remembered: &mut ClassAnswers,
        answers: &mut [PrefilterAnswer],
    ) {
        let row = self.numbers.as_ref().map(|numbers| place_among(numbers, number));
        if let Some(known) = row.and_then(|row| remembered.rows.get(path)?.get(&row)) {
            self.conditions.iter().zip(known).for_each(|(one, answer)| set_answer(answers, one.item, *answer));
            return;
        }
        let answer = |one: &ClassedCondition| match &one.numbers {
            Some(numbers) => {
                let slot = one.from + UNITS + place_among(numbers, number);
                one.class_answer(slot, judging, remembered)
            }
            None => judging.answer_expression(one.item, one.condition),
        };
        let own: Box<[PrefilterAnswer]> = self.conditions.iter().map(answer).collect();
        self.conditions.iter().zip(&own).for_each(|(one, answer)| set_answer(answers, one.item, *answer));
        if let (Some(row), Some(rows)) = (row, remembered.rows.get_mut(path))
            && rows.len() < MOST_ROWS
            && !own.contains(&PrefilterAnswer::Open)
        {
            rows.insert(row, own);
        }
    }

    /// Only conditions whose literal occurs in the text are evaluated.
    fn answer_text(
        &self,
        text: &str,
        judging: &mut PrefilterRun<'_, '_>,
        remembered: &mut ClassAnswers,
        answers: &mut [PrefilterAnswer],
    ) {
        let mut finding: SmallVec<[u32; 8]> = SmallVec::new();
        if let Some(search) = &self.search {
            search.find_targets(
                Haystack::from_text(text),
                &|literal| self.literals.get(literal as usize),
                judging.prepared_program(),
                &mut |literal| finding.extend_from_slice(self.looking.get(literal as usize).map_or(&[], Vec::as_slice)),
            );
        }
        // A text with other letters may look as if it held a text.
        let is_plain = text.is_ascii();
        for (place, one) in (0_u32..).zip(&self.conditions) {
            let answer = match one.without {
                Some(slot) if (is_plain || one.of_regexes) && !finding.contains(&place) => {
                    one.class_answer(slot, judging, remembered)
                }
                _ => judging.answer_expression(one.item, one.condition),
            };
            set_answer(answers, one.item, answer);
        }
    }
}

impl ClassedCondition {
    fn class_answer(
        &self,
        slot: usize,
        judging: &mut PrefilterRun<'_, '_>,
        remembered: &mut ClassAnswers,
    ) -> PrefilterAnswer {
        if let Some(Some(known)) = remembered.slots.get(slot) {
            return *known;
        }
        let answer = judging.answer_expression(self.item, self.condition);
        // What cannot be told of one value may be told of another.
        if let Some(place) = remembered.slots.get_mut(slot).filter(|_| answer != PrefilterAnswer::Open) {
            *place = Some(answer);
        }
        answer
    }
}

fn set_answer(answers: &mut [PrefilterAnswer], item: u32, answer: PrefilterAnswer) {
    if let Some(place) = answers.get_mut(item as usize) {
        *place = answer;
    }
}

/// Classes: below the first number, equal to it, between it and the second, …
fn place_among(numbers: &[i64], number: i64) -> usize {
    let below = numbers.partition_point(|one| *one < number);
    2 * below + usize::from(numbers.get(below) == Some(&number))
}

/// `None` if more than numbers decides.
fn compared_numbers(reads: &ConditionReads) -> Option<SmallVec<[i64; 1]>> {
    let mut numbers = SmallVec::new();
    for predicate in &reads.predicates {
        match predicate.operand {
            PredicateOperand::Number(number) => numbers.push(number),
            PredicateOperand::Presence | PredicateOperand::Found(_) => {}
            PredicateOperand::Other => return None,
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

/// `None` if more than literals decides.
fn only_literals(reads: &ConditionReads) -> Option<Vec<&SearchLiteral>> {
    let mut literals = Vec::new();
    for predicate in &reads.predicates {
        match &predicate.operand {
            PredicateOperand::Found(found) if found.iter().all(is_ascii) => literals.extend(found),
            PredicateOperand::Found(_) => return None,
            PredicateOperand::Presence => {}
            PredicateOperand::Number(_) | PredicateOperand::Other => return None,
        }
    }
    Some(literals)
}

fn is_ascii(literal: &SearchLiteral) -> bool {
    match literal {
        SearchLiteral::Text(text) => text.is_ascii(),
        SearchLiteral::Regex(_) => true,
    }
}

fn code_form(program: &Program, code: CodeId) -> Option<Vec<Op>> {
    let ops = program.code_ops(code)?;
    let blank = |op: &Op| match op {
        Op::Constant(_) => Op::Constant(ops::Literal(0)),
        Op::Regex(_) => Op::Regex(ops::Pattern(0)),
        op => *op,
    };
    Some(ops.iter().map(blank).collect())
}
