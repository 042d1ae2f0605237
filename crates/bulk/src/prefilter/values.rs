//! Conditions that look at one value of the run alone, and what is remembered of them.
//!
//! The evaluator gives every verdict. Values fall into classes all of whose members have the same verdict: those without content (missing,
//! `null`, …), the numbers between two literals that a condition compares with, the texts in which none of its literals is found. The
//! verdict for the first value of a class is remembered for the others. What falls into no class is evaluated each time.

use super::condition_reads::ConditionReads;
use super::judging::Judging;
use super::literals::{Haystack, Search};
use super::predicate::{Literal, Operand, Path, small};
use super::{Answer, Condition};
use averment_base::value::{Number, Value};
use averment_engine::bytecode::ops::{self, Op};
use averment_engine::bytecode::program::{CodeId, Program};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Verdicts by class, as far as they are known.
pub(super) type Remembered = Vec<Option<Answer>>;

/// The conditions that look at the value at one path, and at nothing else.
#[derive(Debug)]
pub(super) struct OfValue {
    path: Path,
    conditions: Vec<Classed>,
    /// The literals that they look for, all at once, where they are several.
    search: Option<Search>,
    literals: Vec<Literal>,
    /// The conditions that look for each literal, by place in `conditions`.
    looking: Vec<Vec<u32>>,
}

/// A condition with the classes of its values.
#[derive(Debug)]
struct Classed {
    /// Its assertion, by place in the list of the prefilter.
    item: u32,
    /// Its number among the conditions of the prefilter.
    condition: u32,
    /// Where the verdicts of its own classes start among those that are remembered.
    from: usize,
    /// The numbers that it compares with, sorted, where nothing else decides for a number.
    numbers: Option<SmallVec<[i64; 1]>>,
    /// Where the verdict for a text stands in which nothing is found, where nothing else decides for a text.
    without: Option<usize>,
}

/// Values without content.
const UNITS: usize = 5;
/// So many literals are looked for together.
const TOGETHER: usize = 4;

enum Class<'a> {
    Unit(usize),
    Number(i64),
    Text(&'a str),
    Other,
}

impl<'a> Class<'a> {
    fn of(value: &Value<'a>) -> Self {
        match value {
            Value::Missing => Self::Unit(0),
            Value::Absent => Self::Unit(1),
            Value::Null => Self::Unit(2),
            Value::Boolean(value) => Self::Unit(3 + usize::from(*value)),
            Value::Number(Number::Written(text)) => small(text).map_or(Self::Other, Self::Number),
            Value::Text(text) => Self::Text(text.as_str()),
            _ => Self::Other,
        }
    }
}

/// All conditions that look at one value, by that value.
#[derive(Debug, Default)]
pub(super) struct Values {
    of_path: Vec<OfValue>,
    /// Where the verdict for a text in which nothing is found stands, by path and by the form of the condition: its literals aside.
    forms: FxHashMap<(usize, Vec<Op>), usize>,
    /// How many verdicts can be remembered.
    slots: usize,
}

impl Values {
    /// Adds the condition of an assertion; false where it looks at more than one value.
    pub(super) fn add(&mut self, program: &Program, item: u32, number: u32, condition: &Condition) -> bool {
        let Some(path) = condition.reads.only_path() else { return false };
        let known = self.of_path.iter().position(|of| of.path == *path);
        let at = known.unwrap_or_else(|| {
            self.of_path.push(OfValue::new(path.clone()));
            self.of_path.len() - 1
        });
        let numbers = compared_numbers(&condition.reads);
        let literals = only_literals(&condition.reads);
        let own = UNITS + numbers.as_ref().map_or(0, |numbers| 2 * numbers.len() + 1);
        let from = self.slots;
        self.slots += own;
        let without = literals.as_ref().and_then(|_| {
            let next = self.slots;
            let slot = *self.forms.entry((at, form(program, condition.code)?)).or_insert(next);
            self.slots += usize::from(slot == next);
            Some(slot)
        });
        if let Some(of) = self.of_path.get_mut(at) {
            let place = u32::try_from(of.conditions.len()).unwrap_or(u32::MAX);
            literals.into_iter().flatten().for_each(|literal| of.look_for(literal, place));
            of.conditions.push(Classed { item, condition: number, from, numbers, without });
        }
        true
    }

    /// Makes the searches, when all conditions are known.
    pub(super) fn finish(&mut self, program: &Program) {
        self.forms = FxHashMap::default();
        for of in &mut self.of_path {
            if of.literals.len() >= TOGETHER {
                of.search = Some(Search::new(program, of.literals.iter()));
                continue;
            }
            for place in of.looking.iter().flatten() {
                if let Some(condition) = of.conditions.get_mut(*place as usize) {
                    condition.without = None;
                }
            }
        }
    }

    /// The verdicts of all conditions for the values of a run.
    pub(super) fn judge(&self, judging: &mut Judging<'_, '_>, remembered: &mut Remembered, answers: &mut [Answer]) {
        remembered.resize(self.slots, None);
        self.of_path.iter().for_each(|of| of.judge(judging, remembered, answers));
    }
}

impl OfValue {
    fn new(path: Path) -> Self {
        Self { path, conditions: Vec::new(), search: None, literals: Vec::new(), looking: Vec::new() }
    }

    fn look_for(&mut self, literal: &Literal, condition: u32) {
        match self.literals.iter().position(|known| known == literal).and_then(|at| self.looking.get_mut(at)) {
            Some(looking) => looking.push(condition),
            None => {
                self.literals.push(literal.clone());
                self.looking.push(vec![condition]);
            }
        }
    }

    fn judge(&self, judging: &mut Judging<'_, '_>, remembered: &mut Remembered, answers: &mut [Answer]) {
        let Some(value) = judging.value_at(&self.path) else { return };
        let class = match value {
            // What is missing beside nearly its name is not like what is missing elsewhere.
            Some(Value::Missing) if judging.has_slip(&self.path) => Class::Other,
            Some(value) => Class::of(&value),
            None => Class::Other,
        };
        match class {
            Class::Unit(unit) => {
                for one in &self.conditions {
                    set(answers, one.item, one.known(one.from + unit, judging, remembered));
                }
            }
            Class::Number(number) => {
                for one in &self.conditions {
                    let answer = match &one.numbers {
                        Some(numbers) => {
                            let slot = one.from + UNITS + place_among(numbers, number);
                            one.known(slot, judging, remembered)
                        }
                        None => judging.expression(one.item, one.condition),
                    };
                    set(answers, one.item, answer);
                }
            }
            Class::Text(text) => self.text(text, judging, remembered, answers),
            Class::Other => {
                for one in &self.conditions {
                    set(answers, one.item, judging.expression(one.item, one.condition));
                }
            }
        }
    }

    /// A text: those that find something in it are evaluated.
    fn text(&self, text: &str, judging: &mut Judging<'_, '_>, remembered: &mut Remembered, answers: &mut [Answer]) {
        let mut finding: SmallVec<[u32; 8]> = SmallVec::new();
        if let Some(search) = &self.search {
            search.run(
                Haystack::one(text),
                &|literal| self.literals.get(literal as usize),
                judging.prepared(),
                &mut |literal| finding.extend_from_slice(self.looking.get(literal as usize).map_or(&[], Vec::as_slice)),
            );
        }
        for (place, one) in (0_u32..).zip(&self.conditions) {
            let answer = match one.without {
                // A text with other letters may look as if it held a literal.
                Some(slot) if text.is_ascii() && !finding.contains(&place) => one.known(slot, judging, remembered),
                _ => judging.expression(one.item, one.condition),
            };
            set(answers, one.item, answer);
        }
    }
}

impl Classed {
    /// The verdict of a class; evaluated for its first value.
    fn known(&self, slot: usize, judging: &mut Judging<'_, '_>, remembered: &mut Remembered) -> Answer {
        if let Some(Some(known)) = remembered.get(slot) {
            return *known;
        }
        let answer = judging.expression(self.item, self.condition);
        // What cannot be told of one value may be told of another.
        if let Some(place) = remembered.get_mut(slot).filter(|_| answer != Answer::Open) {
            *place = Some(answer);
        }
        answer
    }
}

fn set(answers: &mut [Answer], item: u32, answer: Answer) {
    if let Some(place) = answers.get_mut(item as usize) {
        *place = answer;
    }
}

/// The class of a number among sorted numbers: below the first, the first itself, between it and the second, …
fn place_among(numbers: &[i64], number: i64) -> usize {
    let below = numbers.partition_point(|one| *one < number);
    2 * below + usize::from(numbers.get(below) == Some(&number))
}

/// The numbers that decide a condition for a number, sorted; `None` where more does.
fn compared_numbers(reads: &ConditionReads) -> Option<SmallVec<[i64; 1]>> {
    let mut numbers = SmallVec::new();
    for predicate in &reads.predicates {
        match predicate.operand {
            Operand::Number(number) => numbers.push(number),
            Operand::Presence | Operand::Found(_) => {}
            Operand::Other => return None,
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

/// The literals that decide a condition for a text; `None` where more does.
fn only_literals(reads: &ConditionReads) -> Option<Vec<&Literal>> {
    let mut literals = Vec::new();
    for predicate in &reads.predicates {
        match &predicate.operand {
            Operand::Found(Literal::Text(text)) if !text.is_ascii() => return None,
            Operand::Found(literal) => literals.push(literal),
            Operand::Presence => {}
            Operand::Number(_) | Operand::Other => return None,
        }
    }
    Some(literals)
}

/// The code of a condition without the literals in it.
fn form(program: &Program, code: CodeId) -> Option<Vec<Op>> {
    let chunk = program.chunks.get(code.0 as usize)?;
    let ops = program.code.get(chunk.start as usize..chunk.end as usize)?;
    let blank = |op: &Op| match op {
        Op::Constant(_) => Op::Constant(ops::Literal(0)),
        Op::Regex(_) => Op::Regex(ops::Pattern(0)),
        op => *op,
    };
    Some(ops.iter().map(blank).collect())
}
