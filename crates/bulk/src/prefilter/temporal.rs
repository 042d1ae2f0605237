//! Statements about calls: the engine says what the names of the calls decide. What it asks beside the names, the condition of a call or
//! the test of a number, the evaluator answers.

use super::judging::Judging;
use super::{Answer, Condition};
use averment_base::truth::Truth;
use averment_base::value::{Number as Value, Value as Any};
use averment_engine::bytecode::program::{CodeId, TemporalId};
use averment_engine::vm::fault::Fault;
use averment_engine::vm::temporal::by_name::{ByNames, NameMatches, Named, NamedCalls, NamedOperand};
use averment_engine::vm::temporal::closed::Asks;
use averment_engine::vm::temporal::plan::Plan;

/// A statement about calls. Conditions are given by their numbers.
#[derive(Debug)]
pub(super) struct Statement {
    temporal: TemporalId,
    pub(super) operands: Vec<NamedOperand>,
    /// Whether names decide it where nothing but names decides which calls match.
    pub(super) is_closed: bool,
    /// Whether it asks which calls were known to others, by their times and turns.
    pub(super) is_timed: bool,
    /// The condition that it asks of each match.
    pub(super) condition: Option<Asked>,
    /// The test of the number of matches.
    pub(super) number: Option<Number>,
}

/// A condition that a statement asks of each match.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asked {
    /// What it reads is known.
    Known(u32),
    /// It can only be evaluated on the run itself.
    Unknown,
}

/// The test of a number of calls.
#[derive(Debug)]
pub(super) struct Number {
    pub(super) condition: u32,
    /// Its truth for small numbers, where nothing else of the run decides.
    known: Vec<Option<Truth>>,
}

/// Truths are kept for numbers below this one.
const SMALL: u32 = 64;

impl Number {
    /// A test by the number of its condition.
    pub(super) fn new(condition: u32) -> Self {
        Self { condition, known: Vec::new() }
    }

    /// Keeps the truths for small numbers; `truth` evaluates the test of one.
    pub(super) fn learn(&mut self, mut truth: impl FnMut(u32) -> Option<Truth>) {
        self.known = (0..SMALL).map(&mut truth).collect();
    }

    /// The truth for a small number; the inner `None` where its evaluation ends with a fault.
    fn known(&self, number: u64) -> Option<Option<Truth>> {
        self.known.get(usize::try_from(number).ok()?).copied()
    }
}

/// A number of calls as a value.
pub(super) fn number_of<'a>(count: u64) -> Any<'a> {
    Any::Number(Value::Integer(i64::try_from(count).unwrap_or(i64::MAX)))
}

impl Statement {
    /// A statement in this form.
    pub(super) fn new(temporal: TemporalId, named: &Named, condition: Option<Asked>, number: Option<Number>) -> Self {
        Self {
            temporal,
            operands: named.operands.clone(),
            is_closed: named.is_closed,
            is_timed: named.is_timed,
            condition,
            number,
        }
    }

    /// Its number.
    pub(super) fn temporal(&self) -> TemporalId {
        self.temporal
    }

    /// The answer for a run in which no call fits any of its patterns; `None` where something else of the run decides.
    pub(super) fn default_verdict(&self, plan: &Plan, with_calls: bool) -> Option<Answer> {
        // The name of a call that fits nothing.
        let classes = if with_calls { &[u32::MAX][..] } else { &[] };
        self.known(plan, &NamedCalls { found: &[], classes, patterns: &[], times: &[] })
    }

    /// For the test of the number of calls of a name that looks at nothing else: its pattern, and the answers for small numbers.
    pub(super) fn counts(&self, plan: &Plan) -> Option<(u32, Box<[Answer]>)> {
        let [operand] = self.operands.as_slice() else { return None };
        self.number.as_ref().filter(|number| operand.is_sure && !number.known.is_empty())?;
        let mut found = vec![NameMatches::default(); operand.pattern as usize + 1];
        let mut answer = |count: u32| {
            *found.last_mut()? = NameMatches { count, first: 0, last: count.saturating_sub(1) };
            self.known(plan, &NamedCalls { found: &found, classes: &[u32::MAX], patterns: &[], times: &[] })
        };
        let answers: Option<Box<[Answer]>> = (0..SMALL).map(&mut answer).collect();
        Some((operand.pattern, answers?))
    }

    /// The answer where the run decides nothing beside the names.
    fn known(&self, plan: &Plan, calls: &NamedCalls<'_>) -> Option<Answer> {
        let mut known = Known { number: self.number.as_ref(), missed: false };
        let answer = of_names(plan.by_names(self.temporal, calls, &mut known));
        (!known.missed).then_some(answer)
    }

    /// The answer for the run in work.
    pub(super) fn judge(&self, judging: &mut Judging<'_, '_>) -> Answer {
        let plan = judging.prepared().plan(judging.rules.program);
        let calls = judging.calls;
        judging.evaluator.refuel();
        of_names(plan.by_names(self.temporal, &calls, &mut OfRun { judging, statement: self }))
    }
}

fn of_names(said: ByNames) -> Answer {
    match said {
        ByNames::Open => Answer::Open,
        ByNames::Idle => Answer::Idle,
        ByNames::Verdict(verdict) => Answer::of_verdict(verdict),
    }
}

/// What is known of the tests of numbers without a run.
struct Known<'s> {
    number: Option<&'s Number>,
    /// Whether something was asked that only a run tells.
    missed: bool,
}

impl Asks for Known<'_> {
    fn condition(&mut self, _: CodeId, _: usize, _: u32) -> Result<Option<Truth>, Fault> {
        self.missed = true;
        Ok(None)
    }

    fn number(&mut self, _: CodeId, number: u64) -> Result<Option<Truth>, Fault> {
        let known = self.number.and_then(|test| test.known(number));
        self.missed |= known.is_none();
        Ok(known.flatten())
    }
}

/// The conditions and tests of a statement, evaluated on the run in work.
struct OfRun<'q, 'j, 'a> {
    judging: &'q mut Judging<'j, 'a>,
    statement: &'q Statement,
}

impl OfRun<'_, '_, '_> {
    fn code(&self, condition: u32) -> Option<CodeId> {
        let known: Option<&Condition> = self.judging.prefilter.conditions.get(condition as usize);
        known.map(|condition| condition.code)
    }
}

impl Asks for OfRun<'_, '_, '_> {
    fn condition(&mut self, _: CodeId, operand: usize, call: u32) -> Result<Option<Truth>, Fault> {
        let (Some(Asked::Known(condition)), Some(operand)) =
            (self.statement.condition, self.statement.operands.get(operand))
        else {
            return Ok(None);
        };
        let code = self.code(condition);
        Ok(code.and_then(|code| self.judging.evaluator.truth_of_call(code, call as usize, operand.pattern)))
    }

    fn number(&mut self, _: CodeId, count: u64) -> Result<Option<Truth>, Fault> {
        let Some(number) = &self.statement.number else { return Ok(None) };
        if let Some(known) = number.known(count) {
            return Ok(known);
        }
        let code = self.code(number.condition);
        Ok(code.and_then(|code| self.judging.evaluator.truth_of(code, number_of(count))))
    }
}
