//! `require A n..m times` and `count A TEST`: how often A occurs, for every value of its bindings.
//!
//! What is unknown makes the number of A an interval for each value; the test is looked at for every number in it.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::explain;
use super::growth::Growth;
use super::monitor::{Judged, Monitor, Why, own_key};
use super::numbers::Numbers;
use super::timeline::{Env, Part, index};
use super::view::{Fit, Hit, View, same_values};
use crate::bytecode::program::CodeId;
use crate::ir::TimesRange;
use crate::vm::context::Scope;
use crate::vm::fault::Fault;
use averment_base::truth::Truth;
use averment_base::value::{Node, Number, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What a number has to meet.
#[derive(Debug, Clone, Copy)]
pub(super) enum Test {
    /// It is in a range.
    Times(TimesRange),
    /// An expression over [`crate::ir::Local::COUNT`].
    Code(CodeId),
}

/// Numbers of an interval that are tested one by one; wider intervals are unknown.
const WIDEST: u64 = 4096;

/// The monitor.
pub(super) struct Count {
    test: Test,
    /// By the values of A's bindings, in the order in which they come.
    counts: Vec<Counted>,
    numbers: Numbers,
    /// Unknown matches without a value: each may have any.
    wild: u64,
    /// Answers of the test by number.
    answers: FxHashMap<u64, Truth>,
    /// Why it fails: the number found, and for which values.
    failure: Option<(u64, Env)>,
}

/// How often A has come with some values.
#[derive(Debug, Clone)]
struct Counted {
    env: Env,
    sure: u64,
    unknown: u64,
    /// The step counted last: a step with several readings counts once.
    last: Option<u32>,
    hits: SmallVec<[u32; 4]>,
}

impl Counted {
    /// How many are sure and how many unknown, together with others.
    fn on_top_of(&self, (sure, unknown): (u64, u64)) -> (u64, u64) {
        (sure.saturating_add(self.sure), unknown.saturating_add(self.unknown))
    }
}

impl Count {
    /// A monitor that has seen nothing.
    pub(super) fn new(test: Test) -> Self {
        Self {
            test,
            counts: Vec::new(),
            numbers: Numbers::default(),
            wild: 0,
            answers: FxHashMap::default(),
            failure: None,
        }
    }

    fn answer(&mut self, number: u64, view: &mut View<'_, '_>) -> Result<Truth, Fault> {
        if let Some(truth) = self.answers.get(&number) {
            return Ok(*truth);
        }
        let truth = match self.test {
            Test::Times(range) => {
                Truth::from_bool(number >= range.least && range.most.is_none_or(|most| number <= most))
            }
            Test::Code(code) => test(code, number, view)?,
        };
        self.answers.insert(number, truth);
        Ok(truth)
    }

    /// What the test says of the numbers `least..=most`: whether one may fail it, whether one may meet it.
    fn answers(&mut self, least: u64, most: u64, view: &mut View<'_, '_>) -> Result<Answers, Fault> {
        if most.saturating_sub(least) > WIDEST {
            return Ok(Answers { may_fail: Some(least), may_hold: true, by_missing: false });
        }
        let mut answers = Answers { may_fail: None, may_hold: false, by_missing: false };
        for number in least..=most {
            view.spend(1)?;
            let truth = self.answer(number, view)?;
            if truth.plain() != Some(true) && answers.may_fail.is_none() {
                answers.may_fail = Some(number);
            }
            answers.may_hold |= truth.plain() != Some(false);
            answers.by_missing |= truth == Truth::TrueByMissing;
        }
        Ok(answers)
    }

    /// The intervals of all values, those that occur nowhere else included.
    fn all_intervals(&self) -> Vec<(Env, u64, u64)> {
        let mut intervals = self.intervals();
        if self.wild > 0 {
            intervals.push((Env::new(), 0, self.wild));
        }
        intervals
    }

    fn growth(&self, view: &View<'_, '_>) -> Growth {
        match self.test {
            Test::Times(TimesRange { most: None, .. }) => Growth::TrueStays,
            Test::Times(_) => Growth::Interval,
            Test::Code(code) => Growth::of(view.machine.program, code),
        }
    }

    /// Whether a test that is false of a number is false of every larger one.
    fn stays_false(&mut self, growth: Growth, number: u64, view: &mut View<'_, '_>) -> Result<bool, Fault> {
        match growth {
            Growth::FalseStays => Ok(true),
            Growth::TrueStays | Growth::Unknown => Ok(false),
            #[expect(clippy::cast_precision_loss, reason = "no run has so many steps")]
            Growth::FalseAbove(most) => Ok(number as f64 > most),
            Growth::Interval => {
                for smaller in (number.saturating_sub(WIDEST)..number).rev() {
                    view.spend(1)?;
                    if self.answer(smaller, view)?.plain() == Some(true) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// The most that there may be.
    fn most(&self, sure: u64, unknown: u64) -> u64 {
        sure.saturating_add(unknown).saturating_add(self.wild)
    }

    /// The values with their intervals; those with a part that any value fits count for every other one, too.
    fn intervals(&self) -> Vec<(Env, u64, u64)> {
        let open = |counted: &Counted| counted.env.contains(&Part::OPEN);
        let (general, exact): (Vec<&Counted>, Vec<&Counted>) = self.counts.iter().partition(|counted| open(counted));
        if exact.is_empty() {
            let (sure, unknown) = general.iter().fold((0, 0), |sum, one| one.on_top_of(sum));
            return general
                .first()
                .map(|first| (first.env.clone(), sure, self.most(sure, unknown)))
                .into_iter()
                .collect();
        }
        let total = |counted: &&Counted| {
            let fitting = general.iter().filter(|other| same_values(&other.env, &counted.env) == Fit::Yes);
            let (sure, unknown) = fitting.fold((counted.sure, counted.unknown), |sum, one| one.on_top_of(sum));
            (counted.env.clone(), sure, self.most(sure, unknown))
        };
        exact.iter().map(total).collect()
    }
}

/// What all values together say.
#[derive(Default)]
struct Overall {
    /// A number that fails the test (or may), and its values.
    may_fail: Option<(u64, Env)>,
    /// Some value surely comes in a number that surely fails.
    must_fail: bool,
    /// Some value may come in a number that meets the test.
    may_come_well: bool,
    /// No value surely comes.
    none_for_sure: bool,
    /// None coming at all may meet the test.
    none_may_hold: bool,
    by_missing: bool,
    lost: bool,
}

impl Overall {
    fn add(&mut self, env: &Env, least: u64, answers: Answers) {
        let fails = answers.may_fail.map(|number| (number, env.clone()));
        let must_fail = least > 0 && !answers.may_hold;
        if self.may_fail.is_none() || (must_fail && !self.must_fail) {
            self.may_fail = fails.or(self.may_fail.take());
        }
        self.must_fail |= must_fail;
        self.none_for_sure &= least == 0;
        self.may_come_well |= answers.may_hold;
        self.by_missing |= answers.by_missing;
    }

    fn add_none(&mut self, none: Answers) {
        self.none_may_hold = none.may_hold;
        self.by_missing |= none.by_missing;
        if self.may_fail.is_none() {
            self.may_fail = none.may_fail.map(|number| (number, Env::new()));
        }
    }

    fn may_hold(&self) -> bool {
        !self.must_fail && (!self.none_for_sure || self.none_may_hold || self.may_come_well)
    }
}

/// What a test says of an interval.
struct Answers {
    /// A number that fails it (or may).
    may_fail: Option<u64>,
    /// Some number meets it (or may).
    may_hold: bool,
    /// Some number meets it because something is missing.
    by_missing: bool,
}

/// The test of a number.
fn test(code: CodeId, number: u64, view: &mut View<'_, '_>) -> Result<Truth, Fault> {
    let number = Number::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let bindings = view.bindings(&view.header.clone());
    let locals = [Node::computed(Value::Number(number))];
    let scope = Scope { step: view.context.step, response: view.context.response, ..Scope::default() };
    view.machine.truth(code, &scope.with_bindings(&bindings).with_locals(&locals))
}

impl<'run> Monitor<'run> for Count {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for hit in hits {
            let env = own_key(hit, view);
            if env.contains(&Part::ABSENT) {
                self.wild = self.wild.saturating_add(1);
                continue;
            }
            let next = self.counts.len();
            let at = self.numbers.number(&env, index(next)) as usize;
            if at == next {
                self.counts.push(Counted { env, sure: 0, unknown: 0, last: None, hits: SmallVec::new() });
            }
            let Some(counted) = self.counts.get_mut(at).filter(|counted| counted.last != Some(hit.step)) else {
                continue;
            };
            counted.last = Some(hit.step);
            let count = if hit.sure { &mut counted.sure } else { &mut counted.unknown };
            *count = count.saturating_add(1);
            counted.hits.push(hit.step);
        }
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let growth = self.growth(view);
        let open = !view.context.window.closed;
        let mut all = Overall { none_for_sure: true, ..Overall::default() };
        for (env, least, most) in self.all_intervals() {
            let answers = self.answers(least.max(1), most, view)?;
            all.lost |= open && least > 0 && !answers.may_hold && self.stays_false(growth, least, view)?;
            all.add(&env, least, answers);
        }
        if all.none_for_sure {
            let none = self.answers(0, 0, view)?;
            all.lost |= open && !none.may_hold && self.stays_false(growth, 0, view)?;
            all.add_none(none);
        }
        let may_hold = all.may_hold();
        self.failure = all.may_fail;
        let fails = self.failure.is_some();
        // Where none has come yet, the first that comes may lack what the pattern asks for, and nothing was exercised then.
        let stays = growth == Growth::TrueStays && view.names(0).is_empty() && !all.none_for_sure;
        Ok(Judged {
            may_fail: fails,
            may_hold,
            failed_for_good: all.lost,
            passed_for_good: !fails && stays,
            exercised: all.by_missing.then_some((true, false)),
            ..Judged::default()
        })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let Some((number, env)) = &self.failure else { return Why::default() };
        let hits = self.counts.iter().find(|counted| counted.env == *env).map_or(&[][..], |counted| &counted.hits);
        explain::counted(view, *number, env, hits)
    }

    fn prove(&self, view: &mut View<'_, 'run>) -> Why {
        match self.counts.as_slice() {
            [] => explain::holds(view),
            [one] => explain::number(view, u64::try_from(one.hits.len()).unwrap_or(u64::MAX), &one.env, &one.hits),
            _ => explain::holds(view),
        }
    }

    fn state(&self, view: &mut View<'_, 'run>) -> String {
        let words = self.counts.iter().map(|counted| {
            let unknown = if counted.unknown > 0 {
                format!(" to {}", counted.sure.saturating_add(counted.unknown))
            } else {
                String::new()
            };
            format!("{}{unknown}{}", counted.sure, view.key_values(0, &counted.env))
        });
        match self.counts.is_empty() {
            true => "none counted".to_owned(),
            false => format!("counted {}", explain::listed(words.collect())),
        }
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}
