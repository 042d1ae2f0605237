//! `require A n..m times` and `count A TEST`: how often A occurs, for every value of its bindings.
//!
//! What is unknown makes the number of A an interval for each value; the test is looked at for every number in it.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::{Exercise, Exercised, Meaning, Statement, mixed};
use crate::bytecode::program::{CodeId, PatternId};
use crate::ir::TimesRange;
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed::{Asks, Decided, Search};
use crate::vm::temporal::explain::{amount, end, holds, listed, why};
use crate::vm::temporal::failures::Failures;
use crate::vm::temporal::growth::Growth;
use crate::vm::temporal::monitor::{Judged, Monitor, Why, own_key};
use crate::vm::temporal::numbers::Numbers;
use crate::vm::temporal::timeline::{Env, ValueId, index};
use crate::vm::temporal::view::{Fit, Hit, View, same_values};
use averment_base::truth::Truth;
use averment_base::value::{Node, Number, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// `require A n..m times`.
pub(super) fn times(step: PatternId, times: TimesRange) -> Statement {
    Statement::new(vec![mixed(step)], Exercise::Always, Count { test: NumberTest::Times(times) })
}

/// `count A TEST`.
pub(super) fn tested(step: PatternId, test: CodeId) -> Statement {
    Statement::new(vec![mixed(step)], Exercise::Always, Count { test: NumberTest::Code(test) })
}

#[derive(Debug)]
struct Count {
    test: NumberTest,
}

/// What a number has to meet.
#[derive(Debug, Clone, Copy)]
enum NumberTest {
    /// It is in a range.
    Times(TimesRange),
    /// An expression over [`crate::ir::Local::COUNT`].
    Code(CodeId),
}

/// A number that meets its test only because something is missing.
const BY_MISSING: Exercised = Exercised { may_be_vacuous: true, may_pass: false };

impl NumberTest {
    /// The truth of the test of a number.
    fn truth(self, number: u64, asks: &mut dyn Asks) -> Result<Option<Truth>, Fault> {
        match self {
            Self::Times(range) => {
                let most = range.most.is_none_or(|most| number <= most);
                Ok(Some(Truth::from_bool(number >= range.least && most)))
            }
            Self::Code(code) => asks.number(code, number),
        }
    }
}

impl Meaning for Count {
    fn is_closed(&self, unbound: bool) -> bool {
        unbound
    }

    fn closed(&self, search: &Search<'_, '_>, asks: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let Some(operand) = search.operand(0) else { return Ok(None) };
        asks.spend(1)?;
        let (test, number) = (self.test, operand.len() as u64);
        let Some(truth) = test.truth(number, asks)? else { return Ok(None) };
        let judged = Judged {
            may_fail: truth.plain() != Some(true),
            may_hold: truth.plain() != Some(false),
            exercised: truth.by_missing().then_some(BY_MISSING),
            ..Judged::default()
        };
        Ok(Some(search.decided(
            judged,
            judged.may_fail.then_some(move |view: &mut View<'_, '_>| {
                let steps: Vec<u32> = view.hits_of(0).map(|hit| hit.step).collect();
                Some(counted(view, test, number, &Env::new(), &steps))
            }),
        )))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(CountMonitor::new(self.test, view.listed)))
    }

    fn number_test(&self) -> Option<CodeId> {
        match self.test {
            NumberTest::Times(_) => None,
            NumberTest::Code(code) => Some(code),
        }
    }
}

/// Steps that are listed as evidence of a count.
const LISTED: usize = 20;

/// Numbers of an interval that are tested one by one; wider intervals are unknown.
const WIDEST: u64 = 4096;

/// The monitor.
struct CountMonitor {
    test: NumberTest,
    /// By the values of A's bindings, in the order in which they come.
    counts: Vec<Counted>,
    numbers: Numbers,
    /// Unknown matches without a value: each may have any.
    wild: u64,
    /// Answers of the test by number.
    answers: FxHashMap<u64, Truth>,
    /// Why it fails: the number found, and for which values.
    failure: Option<(u64, Env)>,
    /// The values that come in a number that surely fails, of a window that goes on in one that fails for good.
    failing: Failures<(u64, Env)>,
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
    fn on_top_of(&self, sure: u64, unknown: u64) -> (u64, u64) {
        (sure.saturating_add(self.sure), unknown.saturating_add(self.unknown))
    }
}

impl CountMonitor {
    /// A monitor that has seen nothing.
    fn new(test: NumberTest, listed: usize) -> Self {
        Self {
            test,
            counts: Vec::new(),
            numbers: Numbers::default(),
            wild: 0,
            answers: FxHashMap::default(),
            failure: None,
            failing: Failures::new(listed),
        }
    }

    fn answer(&mut self, number: u64, view: &mut View<'_, '_>) -> Result<Truth, Fault> {
        if let Some(truth) = self.answers.get(&number) {
            return Ok(*truth);
        }
        let truth = self.test.truth(number, view)?.unwrap_or(Truth::Undecided);
        self.answers.insert(number, truth);
        Ok(truth)
    }

    /// What the test says of the numbers `least..=most`: whether one may fail it, whether one may meet it.
    fn answers(&mut self, least: u64, most: u64, view: &mut View<'_, '_>) -> Result<NumberAnswers, Fault> {
        if most.saturating_sub(least) > WIDEST {
            return Ok(NumberAnswers { may_fail: Some(least), may_hold: true, by_missing: false });
        }
        let mut answers = NumberAnswers { may_fail: None, may_hold: false, by_missing: false };
        for number in least..=most {
            view.spend(1)?;
            let truth = self.answer(number, view)?;
            if truth.plain() != Some(true) && answers.may_fail.is_none() {
                answers.may_fail = Some(number);
            }
            answers.may_hold |= truth.plain() != Some(false);
            answers.by_missing |= truth.by_missing();
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
            NumberTest::Times(TimesRange { most: None, .. }) => Growth::TrueStays,
            NumberTest::Times(_) => Growth::Interval,
            NumberTest::Code(code) => Growth::of(view.machine.program, code),
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
        let open = |counted: &Counted| counted.env.contains(&ValueId::OPEN);
        let (general, exact) = self.counts.iter().partition::<Vec<_>, _>(|counted| open(counted));
        if exact.is_empty() {
            let (sure, unknown) = general.iter().fold((0, 0), |(sure, unknown), one| one.on_top_of(sure, unknown));
            return general
                .first()
                .map(|first| (first.env.clone(), sure, self.most(sure, unknown)))
                .into_iter()
                .collect();
        }
        let total = |counted: &&Counted| {
            let fitting = general.iter().filter(|other| same_values(&other.env, &counted.env) == Fit::Yes);
            let own = (counted.sure, counted.unknown);
            let (sure, unknown) = fitting.fold(own, |(sure, unknown), one| one.on_top_of(sure, unknown));
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
    fn add(&mut self, env: &Env, least: u64, answers: NumberAnswers) {
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

    fn add_none(&mut self, none: NumberAnswers) {
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
struct NumberAnswers {
    /// A number that fails it (or may).
    may_fail: Option<u64>,
    /// Some number meets it (or may).
    may_hold: bool,
    /// Some number meets it because something is missing.
    by_missing: bool,
}

impl View<'_, '_> {
    /// The truth of the test of a number.
    pub(in crate::vm::temporal) fn truth_of_number(&mut self, code: CodeId, number: u64) -> Result<Truth, Fault> {
        let number = Number::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let bindings = self.bindings(&self.header.clone());
        let locals = [Node::computed(Value::Number(number))];
        let scope =
            ExpressionScope { step: self.context.step, response: self.context.response, ..ExpressionScope::default() };
        self.machine.truth(code, &scope.with_bindings(&bindings).with_locals(&locals))
    }
}

impl<'run> Monitor<'run> for CountMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for hit in hits {
            let env = own_key(hit, view);
            if env.contains(&ValueId::ABSENT) {
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
        self.failing = Failures::of(view);
        for (env, least, most) in self.all_intervals() {
            let answers = self.answers(least.max(1), most, view)?;
            let fails = least > 0 && !answers.may_hold;
            let lost = open && fails && self.stays_false(growth, least, view)?;
            all.lost |= lost;
            if let Some(number) = answers.may_fail.filter(|_| fails && (lost || !open)) {
                self.failing.add(|| (number, env.clone()));
            }
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
            exercised: all.by_missing.then_some(BY_MISSING),
            ..Judged::default()
        })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let words = |view: &mut View<'_, '_>, (number, env): &(u64, Env)| {
            let hits = self.counts.iter().find(|counted| counted.env == *env).map_or(&[][..], |counted| &counted.hits);
            Some(counted(view, self.test, *number, env, hits))
        };
        match &self.failure {
            None => Why::default(),
            Some(failure) if self.failing.is_empty() => words(view, failure).unwrap_or_default(),
            Some(_) => self.failing.explain(view, words),
        }
    }

    fn prove(&self, view: &mut View<'_, 'run>) -> Why {
        match self.counts.as_slice() {
            [] => holds(view),
            [one] => number(view, u64::try_from(one.hits.len()).unwrap_or(u64::MAX), &one.env, &one.hits),
            _ => holds(view),
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
            false => format!("counted {}", listed(words.collect())),
        }
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}

/// A number that does not meet its test.
fn counted(view: &mut View<'_, '_>, test: NumberTest, count: u64, env: &Env, steps: &[u32]) -> Why {
    let wanted = match test {
        NumberTest::Times(times) => format!(", wanted {}", times_words(times.least, times.most)),
        NumberTest::Code(code) => format!(", wanted `count {}`", view.machine.code_text(code)),
    };
    let mut counted = number(view, count, env, steps);
    if count == 0 {
        let near = view.near_miss(0, &view.header.clone(), end(view), true);
        counted.evidence.extend(near.or_else(|| view.misspelt(0)));
    }
    Why { reason: format!("{}{wanted}", counted.reason), ..counted }
}

/// How often something occurs; `env` are the values of the pattern's names.
fn number(view: &mut View<'_, '_>, count: u64, env: &Env, steps: &[u32]) -> Why {
    let mut named: Env = view.header.iter().copied().collect();
    for (name, id) in view.names(0).iter().zip(env) {
        if let Some(cell) = named.get_mut(*name as usize) {
            *cell = *id;
        }
    }
    let thing = view.thing(0, &named);
    let reason = match count {
        0 => format!("there is no {thing}"),
        count => format!("{thing} occurs {}", amount(count, "time")),
    };
    let shown = steps.iter().take(LISTED);
    why(reason, shown.map(|step| view.step_proof(*step, 0, Role::Decisive, String::new())).collect())
}

fn times_words(least: u64, most: Option<u64>) -> String {
    match most {
        Some(most) if most == least => amount(least, "time"),
        Some(most) => format!("{least} to {most} times"),
        None => format!("at least {}", amount(least, "time")),
    }
}
