//! `require A n..m times` and `count A TEST`: how often A occurs, for every value of its bindings.
//!
//! What is unknown makes the number of A an interval for each value; the test is looked at for every number in it.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::{ExerciseRule, StatementDefinition, StatementSemantics, mixed_operands};
use crate::bytecode::program::{CodeId, PatternId};
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::count_tests::TestGrowth;
use crate::vm::temporal::decision::{Decision, FailureList};
use crate::vm::temporal::explain::{list_words, pass_reason, reason_with};
use crate::vm::temporal::search::Search;
use crate::vm::temporal::timeline::{Env, ValueId, to_index};
use crate::vm::temporal::view::{PairFit, WindowView, same_values};
use crate::vm::temporal::window_events::{KnownPresence, PossibleOutcomes, VerdictReason, WindowHits, own_key};
use averment_base::truth::Truth;
use averment_base::value::{Node, Number, Value};
use averment_base::words::count_noun;
use averment_checker::ir::TimesRange;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

pub(super) fn number_statement(step: PatternId, test: NumberTest) -> StatementDefinition {
    let statement = StatementDefinition::new(mixed_operands(&[step]), ExerciseRule::Always, CountSemantics { test });
    let number_test = match test {
        NumberTest::Times(_) => None,
        NumberTest::Code(code) => Some(code),
    };
    StatementDefinition { number_test, ..statement.closed_if_unbound() }
}

#[derive(Debug)]
struct CountSemantics {
    test: NumberTest,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum NumberTest {
    /// `require A n..m times`.
    Times(TimesRange),
    /// `count A TEST`, an expression over [`averment_checker::ir::Local::COUNT`].
    Code(CodeId),
}

impl NumberTest {
    /// `asks` answers a test that is an expression.
    fn number_truth(
        self,
        number: u64,
        asks: impl FnOnce(CodeId, u64) -> Result<Option<Truth>, Fault>,
    ) -> Result<Option<Truth>, Fault> {
        match self {
            Self::Times(range) => {
                let most = range.most.is_none_or(|most| number <= most);
                Ok(Some(Truth::from_bool(number >= range.least && most)))
            }
            Self::Code(code) => asks(code, number),
        }
    }
}

impl StatementSemantics for CountSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        if let Some(number) = search.sure_count(0) {
            return self.decide_number(search, number);
        }
        let Some((view, hits)) = search.window() else { return Ok(None) };
        let mut counts = MatchCounts::new(self.test, view.listed);
        counts.count_hits(&hits, view);
        let stands = counts.judge_counts(view)?;
        let counts = Rc::new(counts);
        let (passing, state) = (Rc::clone(&counts), Rc::clone(&counts));
        let decision = Decision::new(stands).failing(move |view| counts.explain_failure(view));
        let decision = decision.passing(move |view| passing.explain_pass(view));
        Ok(Some(decision.with_state(move |view| state.describe_counts(view))))
    }
}

impl CountSemantics {
    fn decide_number(&self, search: &mut Search<'_, '_, '_>, number: u64) -> Result<Option<Decision>, Fault> {
        let test = self.test;
        search.spend_fuel(1)?;
        let truth = test.number_truth(number, |code, number| search.number_truth(code, number))?;
        let Some(truth) = truth else { return Ok(None) };
        let (is_met, may_be_met) = (truth.plain_answer() == Some(true), truth.plain_answer() != Some(false));
        let exercised = truth.by_missing().then_some(KnownPresence::of(false));
        let stands = PossibleOutcomes { exercised, ..PossibleOutcomes::wanted(is_met, may_be_met) };
        Ok(Some(Decision::new(stands).failing(move |view| {
            let steps: Vec<u32> = view.hits_of(0).map(|hit| hit.step).collect();
            count_reason(view, test, number, &Env::new(), &steps)
        })))
    }
}

/// Steps listed as evidence of a count.
const LISTED: usize = 20;

/// Numbers of an interval tested individually; wider intervals are unknown.
const WIDEST: u64 = 4096;

struct MatchCounts {
    test: NumberTest,
    counts: Vec<ValueCount>,
    numbers: FxHashMap<Env, u32>,
    /// Unknown matches without a value, which may have any.
    wild: u64,
    answers: FxHashMap<u64, Truth>,
    failure: Option<(u64, Env)>,
    /// Values whose count surely fails; in an unfinished window, fails for good.
    failing: FailureList<(u64, Env)>,
}

#[derive(Debug, Clone)]
struct ValueCount {
    env: Env,
    sure: u64,
    unknown: u64,
    /// The last step counted: a step with several readings counts once.
    last: Option<u32>,
    hits: SmallVec<[u32; 4]>,
}

impl ValueCount {
    fn add_counts(&self, sure: u64, unknown: u64) -> (u64, u64) {
        (sure.saturating_add(self.sure), unknown.saturating_add(self.unknown))
    }
}

impl MatchCounts {
    fn new(test: NumberTest, listed: usize) -> Self {
        Self {
            test,
            counts: Vec::new(),
            numbers: FxHashMap::default(),
            wild: 0,
            answers: FxHashMap::default(),
            failure: None,
            failing: FailureList::new(listed),
        }
    }

    fn test_number(&mut self, number: u64, view: &mut WindowView<'_, '_>) -> Result<Truth, Fault> {
        if let Some(truth) = self.answers.get(&number) {
            return Ok(*truth);
        }
        let truth = self.test.number_truth(number, |code, number| view.truth_of_number(code, number).map(Some))?;
        let truth = truth.unwrap_or(Truth::Undecided);
        self.answers.insert(number, truth);
        Ok(truth)
    }

    /// Whether some number of `least..=most` may fail the test, and whether one may meet it.
    fn test_range(&mut self, least: u64, most: u64, view: &mut WindowView<'_, '_>) -> Result<NumberAnswers, Fault> {
        if most.saturating_sub(least) > WIDEST {
            return Ok(NumberAnswers { may_fail: Some(least), may_hold: true, by_missing: false });
        }
        let mut answers = NumberAnswers { may_fail: None, may_hold: false, by_missing: false };
        for number in least..=most {
            view.spend_fuel(1)?;
            let truth = self.test_number(number, view)?;
            if truth.plain_answer() != Some(true) && answers.may_fail.is_none() {
                answers.may_fail = Some(number);
            }
            answers.may_hold |= truth.plain_answer() != Some(false);
            answers.by_missing |= truth.by_missing();
        }
        Ok(answers)
    }

    fn test_growth(&self, view: &WindowView<'_, '_>) -> TestGrowth {
        match self.test {
            NumberTest::Times(TimesRange { most: None, .. }) => TestGrowth::TrueStays,
            NumberTest::Times(_) => TestGrowth::Interval,
            NumberTest::Code(code) => TestGrowth::of_test(view.machine.program, code),
        }
    }

    fn stays_false(&mut self, growth: TestGrowth, number: u64, view: &mut WindowView<'_, '_>) -> Result<bool, Fault> {
        match growth {
            TestGrowth::FalseStays => Ok(true),
            TestGrowth::TrueStays | TestGrowth::Unknown => Ok(false),
            #[expect(clippy::cast_precision_loss, reason = "no run has so many steps")]
            TestGrowth::FalseAbove(most) => Ok(number as f64 > most),
            TestGrowth::Interval => {
                for smaller in (number.saturating_sub(WIDEST)..number).rev() {
                    view.spend_fuel(1)?;
                    if self.test_number(smaller, view)?.plain_answer() == Some(true) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Values that leave a part open also count for every value that fits; where none has all parts, those with the most stand for values.
    fn value_intervals(&self) -> Vec<(Env, u64, u64)> {
        let open = |counted: &ValueCount| counted.env.iter().filter(|id| **id == ValueId::OPEN).count();
        let least = self.counts.iter().map(open).min().unwrap_or_default();
        let (exact, general) = self.counts.iter().partition::<Vec<_>, _>(|counted| open(counted) == least);
        let total = |counted: &&ValueCount| {
            let fitting = general.iter().filter(|other| same_values(&other.env, &counted.env) == PairFit::Yes);
            let own = (counted.sure, counted.unknown);
            let (sure, unknown) = fitting.fold(own, |(sure, unknown), one| one.add_counts(sure, unknown));
            (counted.env.clone(), sure, sure.saturating_add(unknown).saturating_add(self.wild))
        };
        let wild = (self.wild > 0).then(|| (Env::new(), 0, self.wild));
        exact.iter().map(total).chain(wild).collect()
    }
}

#[derive(Default)]
struct CountSummary {
    /// A number that (possibly) fails the test, and its values.
    may_fail: Option<(u64, Env)>,
    must_fail: bool,
    may_come_well: bool,
    none_for_sure: bool,
    /// Zero occurrences may meet the test.
    none_may_hold: bool,
    by_missing: bool,
    lost: bool,
}

impl CountSummary {
    fn add_values(&mut self, env: &Env, least: u64, answers: NumberAnswers) {
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

struct NumberAnswers {
    may_fail: Option<u64>,
    may_hold: bool,
    by_missing: bool,
}

impl WindowView<'_, '_> {
    pub(in crate::vm::temporal) fn truth_of_number(&mut self, code: CodeId, number: u64) -> Result<Truth, Fault> {
        let number = Number::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let bindings = self.binding_values(&self.header.clone());
        let locals = [Node::computed(Value::Number(number))];
        let scope =
            ExpressionScope { step: self.context.step, response: self.context.response, ..ExpressionScope::default() };
        self.machine.evaluate_truth(code, &scope.with_bindings(&bindings).with_locals(&locals))
    }
}

impl MatchCounts {
    fn count_hits(&mut self, hits: &WindowHits, view: &WindowView<'_, '_>) {
        for hit in hits.all() {
            let env = own_key(hit, view);
            if env.contains(&ValueId::ABSENT) {
                self.wild = self.wild.saturating_add(1);
                continue;
            }
            let next = self.counts.len();
            let at = *self.numbers.entry(env.clone()).or_insert(to_index(next)) as usize;
            if at == next {
                self.counts.push(ValueCount { env, sure: 0, unknown: 0, last: None, hits: SmallVec::new() });
            }
            let Some(counted) = self.counts.get_mut(at).filter(|counted| counted.last != Some(hit.step)) else {
                continue;
            };
            counted.last = Some(hit.step);
            let count = if hit.sure { &mut counted.sure } else { &mut counted.unknown };
            *count = count.saturating_add(1);
            counted.hits.push(hit.step);
        }
    }

    fn judge_counts(&mut self, view: &mut WindowView<'_, '_>) -> Result<PossibleOutcomes, Fault> {
        let growth = self.test_growth(view);
        let open = !view.context.window.closed;
        let mut all = CountSummary { none_for_sure: true, ..CountSummary::default() };
        for (env, least, most) in self.value_intervals() {
            let answers = self.test_range(least.max(1), most, view)?;
            let fails = least > 0 && !answers.may_hold;
            let lost = open && fails && self.stays_false(growth, least, view)?;
            all.lost |= lost;
            if let Some(number) = answers.may_fail.filter(|_| fails && (lost || !open)) {
                self.failing.push_with(|| (number, env.clone()));
            }
            all.add_values(&env, least, answers);
        }
        if all.none_for_sure {
            let none = self.test_range(0, 0, view)?;
            all.lost |= open && !none.may_hold && self.stays_false(growth, 0, view)?;
            all.add_none(none);
        }
        let may_hold = all.may_hold();
        self.failure = all.may_fail;
        let fails = self.failure.is_some();
        // Where none has come yet, the first that comes may lack what the pattern asks for, and nothing was exercised then.
        let stays = growth == TestGrowth::TrueStays && view.operand_names(0).is_empty() && !all.none_for_sure;
        Ok(PossibleOutcomes {
            may_fail: fails,
            may_hold,
            failed_for_good: all.lost,
            passed_for_good: !fails && stays,
            exercised: all.by_missing.then_some(KnownPresence::of(false)),
            ..PossibleOutcomes::default()
        })
    }

    fn explain_failure(&self, view: &mut WindowView<'_, '_>) -> VerdictReason {
        let words = |view: &mut WindowView<'_, '_>, (number, env): &(u64, Env)| {
            let hits = self.counts.iter().find(|counted| counted.env == *env).map_or(&[][..], |counted| &counted.hits);
            Some(count_reason(view, self.test, *number, env, hits))
        };
        match &self.failure {
            None => VerdictReason::default(),
            Some(failure) if self.failing.is_empty() => words(view, failure).unwrap_or_default(),
            Some(_) => self.failing.explain_places(view, words),
        }
    }

    fn explain_pass(&self, view: &mut WindowView<'_, '_>) -> VerdictReason {
        match self.counts.as_slice() {
            [] => pass_reason(view),
            [one] => number_reason(view, u64::try_from(one.hits.len()).unwrap_or(u64::MAX), &one.env, &one.hits),
            _ => pass_reason(view),
        }
    }

    fn describe_counts(&self, view: &WindowView<'_, '_>) -> String {
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
            false => format!("counted {}", list_words(words.collect())),
        }
    }
}

fn count_reason(
    view: &mut WindowView<'_, '_>,
    test: NumberTest,
    count: u64,
    env: &Env,
    steps: &[u32],
) -> VerdictReason {
    let wanted = match test {
        NumberTest::Times(times) => format!(", wanted {}", times_words(times.least, times.most)),
        NumberTest::Code(code) => format!(", wanted `count {}`", view.machine.code_text(code)),
    };
    let mut counted = number_reason(view, count, env, steps);
    if count == 0 {
        counted.evidence.extend(view.absent_evidence(0));
    }
    VerdictReason { reason: format!("{}{wanted}", counted.reason), ..counted }
}

fn number_reason(view: &mut WindowView<'_, '_>, count: u64, env: &Env, steps: &[u32]) -> VerdictReason {
    let thing = view.pattern_words(0) + &view.key_values(0, env);
    let reason = match count {
        0 => format!("there is no {thing}"),
        count => format!("{thing} occurs {}", count_noun(count, "time")),
    };
    let shown = steps.iter().take(LISTED);
    reason_with(reason, shown.map(|step| view.step_proof(*step, 0, Role::Decisive, String::new())).collect())
}

fn times_words(least: u64, most: Option<u64>) -> String {
    match most {
        Some(most) if most == least => count_noun(least, "time"),
        Some(most) => format!("{least} to {most} times"),
        None => format!("at least {}", count_noun(least, "time")),
    }
}
