//! What is known of the assertions before a run is looked at, so that a run costs no more than what is in it.
//!
//! Most assertions of a large set speak of nothing that a run has: their answers are copied. The others are found by what they speak of:
//! the distinct patterns of the run's calls, the texts that were found, the values at some places.

use super::atom::Comparison;
use super::course::Statement;
use super::formula::Formula;
use super::judging::Judging;
use super::{Answer, Form, Item, Screen};
use averment_base::truth::Truth;
use averment_base::value::{Number, Value};

/// Answers beforehand, and which assertions to look at. Numbers of assertions are places in the list of the screen.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// The answers where no call matches any pattern and no text is found, for a run without calls and for one with some.
    answers: [Vec<Answer>; 2],
    /// Those that a run decides by more.
    always: Vec<u32>,
    /// Those that are a single test of the value at a place.
    tested: Vec<Tested>,
    /// Those with each distinct pattern.
    of_shape: Vec<OfShape>,
    /// Those that look for something in the texts of each field.
    of_field: [Vec<u32>; 2],
    /// Those that look for each test of a field's search.
    of_target: [Vec<Vec<u32>>; 2],
}

/// The assertions with a distinct pattern.
#[derive(Debug, Default, Clone)]
struct OfShape {
    any: Vec<u32>,
    /// Tests of the number of its calls, with the answers for small numbers.
    counts: Vec<(u32, Box<[Answer]>)>,
}

/// Single tests of the value at a place.
#[derive(Debug)]
struct Tested {
    place: u32,
    /// With the numbers of the tests.
    all: Vec<(u32, u32)>,
    /// Those that compare it with a whole number.
    numbers: Vec<(u32, Comparison)>,
    /// The others.
    others: Vec<(u32, u32)>,
}

impl Standing {
    /// What is known of the assertions of a screen over so many distinct patterns.
    pub(super) fn new(screen: &Screen, shapes: usize) -> Self {
        let mut standing = Self {
            of_shape: vec![OfShape::default(); shapes],
            of_target: screen.searched.each_ref().map(|searched| vec![Vec::new(); searched.len()]),
            ..Self::default()
        };
        for (number, item) in (0_u32..).zip(&screen.items) {
            let [without, with] = standing.item(screen, number, item);
            let [all_without, all_with] = &mut standing.answers;
            all_without.push(without);
            all_with.push(with);
        }
        standing
    }

    /// The answers of an assertion for runs without anything that concerns it, without calls and with some.
    fn item(&mut self, screen: &Screen, number: u32, item: &Item) -> [Answer; 2] {
        let standing = match &item.check {
            Form::Open => Some([Answer::Open; 2]),
            _ if !item.when.is_empty() => None,
            Form::Expression(formula) => self.expression(screen, number, formula),
            Form::NoneIn(field, targets) => {
                if let (Some(all), Some(of)) =
                    (self.of_field.get_mut(*field as usize), self.of_target.get_mut(*field as usize))
                {
                    all.push(number);
                    for target in targets {
                        of.get_mut(*target as usize).into_iter().for_each(|of| of.push(number));
                    }
                }
                Some([Answer::Pass; 2])
            }
            Form::Course(statement) => self.course(number, statement),
        };
        standing.unwrap_or_else(|| {
            self.always.push(number);
            [Answer::Open; 2]
        })
    }

    /// `None` for what is more than a single test of a value of the run.
    fn expression(&mut self, screen: &Screen, number: u32, formula: &Formula) -> Option<[Answer; 2]> {
        let Formula::Atom(test) = formula else { return None };
        let place = screen.place_of.get(*test as usize).copied().flatten()?;
        let known = self.tested.iter().position(|tested| tested.place == place);
        let at = known.unwrap_or_else(|| {
            self.tested.push(Tested { place, all: Vec::new(), numbers: Vec::new(), others: Vec::new() });
            self.tested.len() - 1
        });
        let tested = self.tested.get_mut(at)?;
        tested.all.push((number, *test));
        match screen.atoms.get(*test as usize)?.comparison() {
            Some(comparison) => tested.numbers.push((number, comparison)),
            None => tested.others.push((number, *test)),
        }
        Some([Answer::Open; 2])
    }

    /// `None` where more than the calls that match its patterns decides.
    fn course(&mut self, number: u32, statement: &Statement) -> Option<[Answer; 2]> {
        let standing = [statement.standing(false)?, statement.standing(true)?];
        if let Statement::Count(step, count) = statement
            && step.is_by_name()
        {
            let known = count.all_known().into();
            let of = self.of_shape.get_mut(step.shape() as usize);
            of.into_iter().for_each(|of| of.counts.push((number, Box::clone(&known))));
            return Some(standing);
        }
        for step in statement.steps() {
            let of = self.of_shape.get_mut(step.shape() as usize).map(|of| &mut of.any);
            of.into_iter().filter(|of| of.last() != Some(&number)).for_each(|of| of.push(number));
        }
        Some(standing)
    }

    /// The answers for a run whose calls are what they seem; `touched` are the distinct patterns that its calls have the names of, `done`
    /// is memory.
    pub(super) fn judge(
        &self,
        judging: &mut Judging<'_, '_>,
        touched: &[u32],
        done: &mut Vec<u64>,
        into: &mut Vec<Answer>,
    ) {
        let from = into.len();
        let [without, with] = &self.answers;
        into.extend_from_slice(if judging.facts.calls.is_empty() { without } else { with });
        let Some(answers) = into.get_mut(from..) else { return };
        self.tested.iter().for_each(|tested| tested.judge(judging, answers));
        self.always.iter().for_each(|number| ask(judging, *number, answers));
        for (field, (all, targets)) in self.of_field.iter().zip(&self.of_target).enumerate() {
            if judging.facts.texts.get(field).is_none_or(|texts| !texts.any) {
                all.iter().for_each(|number| ask(judging, *number, answers));
            } else if let Some(hits) = judging.hits.get(field) {
                let met = hits.iter().filter_map(|target| targets.get(*target as usize));
                met.flatten().for_each(|number| ask(judging, *number, answers));
            }
        }
        done.clear();
        done.resize(with.len().div_ceil(64), 0);
        for shape in touched {
            let Some(of) = self.of_shape.get(*shape as usize) else { continue };
            for number in of.any.iter().filter(|number| is_first(done, **number)) {
                ask(judging, *number, answers);
            }
            let count = judging.calls.count(*shape) as usize;
            for (number, known) in &of.counts {
                if let Some(answer) = answers.get_mut(*number as usize) {
                    // More calls than are thought of beforehand.
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

impl Tested {
    fn judge(&self, judging: &mut Judging<'_, '_>, answers: &mut [Answer]) {
        let value = judging.at_place(self.place);
        let mut rest = self.all.as_slice();
        if let Some(Value::Number(Number::Written(text))) = value
            && let Some(number) = super::atom::small(text)
        {
            for (at, comparison) in &self.numbers {
                if let Some(answer) = answers.get_mut(*at as usize) {
                    *answer = Answer::of_truth(Truth::from_bool(comparison.holds(number)));
                }
            }
            rest = &self.others;
        }
        for (at, test) in rest {
            if let Some(answer) = answers.get_mut(*at as usize) {
                *answer = judging.of_run(*test).map_or(Answer::Open, Answer::of_truth);
            }
        }
    }
}
