//! `require A n..m times` and `count A TEST`: how often A occurs, for every value of its bindings.
//!
//! What is unknown makes the number of A an interval for each value; the test is looked at for every number in it.

use super::explain;
use super::monitor::{Judged, Monitor, Why, own_key};
use super::timeline::{Env, Part};
use super::view::{Fit, Hit, View, same_values};
use crate::bytecode::program::CodeId;
use crate::ir::TimesRange;
use crate::truth::Truth;
use crate::value::{Node, Number, Value};
use crate::vm::context::Scope;
use crate::vm::fault::Fault;
use rustc_hash::FxHashMap;

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
    numbers: FxHashMap<Env, usize>,
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
    hits: Vec<u32>,
}

impl Count {
    /// A monitor that has seen nothing.
    pub(super) fn new(test: Test) -> Self {
        Self {
            test,
            counts: Vec::new(),
            numbers: FxHashMap::default(),
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

    /// The values with their intervals; those with a part that any value fits count for every other one, too.
    fn intervals(&self) -> Vec<(Env, u64, u64)> {
        let open = |counted: &Counted| counted.env.contains(&Part::OPEN);
        let (general, exact): (Vec<&Counted>, Vec<&Counted>) = self.counts.iter().partition(|counted| open(counted));
        if exact.is_empty() {
            let (sure, unknown) = general.iter().fold((0, 0), |sum, c| (sum.0 + c.sure, sum.1 + c.unknown));
            return general
                .first()
                .map(|first| (first.env.clone(), sure, sure + unknown + self.wild))
                .into_iter()
                .collect();
        }
        let total = |counted: &&Counted| {
            let fitting = general.iter().filter(|other| same_values(&other.env, &counted.env) == Fit::Yes);
            let (sure, unknown) =
                fitting.fold((counted.sure, counted.unknown), |sum, c| (sum.0 + c.sure, sum.1 + c.unknown));
            (counted.env.clone(), sure, sure + unknown + self.wild)
        };
        exact.iter().map(total).collect()
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
                self.wild += 1;
                continue;
            }
            let next = self.counts.len();
            let at = *self.numbers.entry(env.clone()).or_insert(next);
            if at == next {
                self.counts.push(Counted { env, sure: 0, unknown: 0, last: None, hits: Vec::new() });
            }
            let Some(counted) = self.counts.get_mut(at).filter(|counted| counted.last != Some(hit.step)) else {
                continue;
            };
            counted.last = Some(hit.step);
            *(if hit.sure { &mut counted.sure } else { &mut counted.unknown }) += 1;
            counted.hits.push(hit.step);
        }
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let (mut may_fail, mut may_hold) = (None, true);
        let (mut came, mut may_come_well, mut by_missing) = (false, false, false);
        let mut exceeded = false;
        let mut intervals = self.intervals();
        if self.wild > 0 {
            // Values that occur nowhere else.
            intervals.push((Env::new(), 0, self.wild));
        }
        for (env, least, most) in intervals {
            let answers = self.answers(least.max(1), most, view)?;
            if let (Some(number), None) = (answers.may_fail, &may_fail) {
                may_fail = Some((number, env.clone()));
            }
            came |= least > 0;
            may_come_well |= answers.may_hold;
            by_missing |= answers.by_missing;
            if least > 0 && !answers.may_hold {
                may_hold = false;
                may_fail = answers.may_fail.map(|number| (number, env));
            }
            exceeded |= matches!(self.test, Test::Times(TimesRange { most: Some(most), .. }) if least > most);
        }
        if !came {
            let none = self.answers(0, 0, view)?;
            if let (Some(number), None) = (none.may_fail, &may_fail) {
                may_fail = Some((number, Env::new()));
            }
            may_hold = none.may_hold || may_come_well;
            by_missing |= none.by_missing;
        }
        self.failure = may_fail;
        let fails = self.failure.is_some();
        let bound = !view.names(0).is_empty();
        let only_least = matches!(self.test, Test::Times(TimesRange { most: None, .. }));
        Ok(Judged {
            may_fail: fails,
            may_hold,
            failed_for_good: exceeded,
            passed_for_good: !fails && !bound && only_least && came,
            exercised: by_missing.then_some((true, false)),
            ..Judged::default()
        })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let Some((number, env)) = &self.failure else { return Why::default() };
        let hits = self.counts.iter().find(|counted| counted.env == *env).map_or(&[][..], |counted| &counted.hits);
        explain::counted(view, *number, env, hits)
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}
