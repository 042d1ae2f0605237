//! Statements about calls: the engine says what the names of the calls decide. What it asks beside the names, the condition of a call or
//! the test of a number, the evaluator answers.

use super::judging::PrefilterRun;
use super::{PrefilterAnswer, UniqueCondition};
use averment_base::truth::Truth;
use averment_base::value::{Number as Value, Value as Any};
use averment_engine::bytecode::program::{CodeId, TemporalId};
use averment_engine::vm::fault::Fault;
use averment_engine::vm::temporal::by_name::{NamesVerdict, NameMatches, NamedStatement, NamedCalls, NamedOperand};
use averment_engine::vm::temporal::closed_form::ConditionOracle;
use averment_engine::vm::temporal::plan::TemporalPlan;

/// A statement about calls. Conditions are given by their numbers.
#[derive(Debug)]
pub(super) struct CallStatement {
    temporal: TemporalId,
    pub(super) operands: Vec<NamedOperand>,
    /// Whether names decide it where nothing but names decides which calls match.
    pub(super) is_closed: bool,
    /// Whether it asks which calls were known to others, by their times and turns.
    pub(super) is_timed: bool,
    /// The condition that it asks of each match.
    pub(super) condition: Option<MatchCondition>,
    /// The test of the number of matches.
    pub(super) number: Option<CallCountTest>,
}

/// A condition that a statement asks of each match.
#[derive(Debug, Clone, Copy)]
pub(super) enum MatchCondition {
    /// What it reads is known.
    Known(u32),
    /// It can only be evaluated on the run itself.
    Unknown,
}

/// The test of a number of calls.
#[derive(Debug)]
pub(super) struct CallCountTest {
    pub(super) condition: u32,
    /// Its truth for small numbers, where nothing else of the run decides.
    known: Vec<Option<Truth>>,
}

/// Truths are kept for numbers below this one.
const SMALL: u32 = 64;

impl CallCountTest {
    /// A test by the number of its condition.
    pub(super) fn new(condition: u32) -> Self {
        Self { condition, known: Vec::new() }
    }

    /// Keeps the truths for small numbers; `truth` evaluates the test of one.
    pub(super) fn learn_truths(&mut self, mut truth: impl FnMut(u32) -> Option<Truth>) {
        self.known = (0..SMALL).map(&mut truth).collect();
    }

    /// The truth for a small number; the inner `None` where its evaluation ends with a fault.
    fn known_truth(&self, number: u64) -> Option<Option<Truth>> {
        self.known.get(usize::try_from(number).ok()?).copied()
    }
}

/// A number of calls as a value.
pub(super) fn count_value<'a>(count: u64) -> Any<'a> {
    Any::Number(Value::Integer(i64::try_from(count).unwrap_or(i64::MAX)))
}

impl CallStatement {
    /// A statement in this form.
    pub(super) fn new(temporal: TemporalId, named: &NamedStatement, condition: Option<MatchCondition>, number: Option<CallCountTest>) -> Self {
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
    pub(super) fn temporal_id(&self) -> TemporalId {
        self.temporal
    }

    /// The answer for a run in which no call fits any of its patterns; `None` where something else of the run decides.
    pub(super) fn default_verdict(&self, plan: &TemporalPlan, with_calls: bool) -> Option<PrefilterAnswer> {
        // The name of a call that fits nothing.
        let classes = if with_calls { &[u32::MAX][..] } else { &[] };
        self.answer_without_run(plan, &NamedCalls { found: &[], classes, patterns: &[], times: &[] })
    }

    /// For the test of the number of calls of a name that looks at nothing else: its pattern, and the answers for small numbers.
    pub(super) fn count_answers(&self, plan: &TemporalPlan) -> Option<(u32, Box<[PrefilterAnswer]>)> {
        let [operand] = self.operands.as_slice() else { return None };
        self.number.as_ref().filter(|number| operand.is_sure && !number.known.is_empty())?;
        let mut found = vec![NameMatches::default(); operand.pattern as usize + 1];
        let mut answer = |count: u32| {
            *found.last_mut()? = NameMatches { count, first: 0, last: count.saturating_sub(1) };
            self.answer_without_run(plan, &NamedCalls { found: &found, classes: &[u32::MAX], patterns: &[], times: &[] })
        };
        let answers: Option<Box<[PrefilterAnswer]>> = (0..SMALL).map(&mut answer).collect();
        Some((operand.pattern, answers?))
    }

    /// The answer where the run decides nothing beside the names.
    fn answer_without_run(&self, plan: &TemporalPlan, calls: &NamedCalls<'_>) -> Option<PrefilterAnswer> {
        let mut known = RunlessOracle { number: self.number.as_ref(), missed: false };
        let answer = answer_from_names(plan.by_names(self.temporal, calls, &mut known));
        (!known.missed).then_some(answer)
    }

    /// The answer for the run in work.
    pub(super) fn answer_run(&self, judging: &mut PrefilterRun<'_, '_>) -> PrefilterAnswer {
        let plan = judging.prepared_program().temporal_plan(judging.rules.program);
        let calls = judging.calls;
        judging.evaluator.refill_fuel();
        answer_from_names(plan.by_names(self.temporal, &calls, &mut RunOracle { judging, statement: self }))
    }
}

fn answer_from_names(said: NamesVerdict) -> PrefilterAnswer {
    match said {
        NamesVerdict::Open => PrefilterAnswer::Open,
        NamesVerdict::Idle => PrefilterAnswer::Idle,
        NamesVerdict::Verdict(verdict) => PrefilterAnswer::of_verdict(verdict),
    }
}

/// What is known of the tests of numbers without a run.
struct RunlessOracle<'s> {
    number: Option<&'s CallCountTest>,
    /// Whether something was asked that only a run tells.
    missed: bool,
}

impl ConditionOracle for RunlessOracle<'_> {
    fn condition_truth(&mut self, _: CodeId, _: usize, _: u32) -> Result<Option<Truth>, Fault> {
        self.missed = true;
        Ok(None)
    }

    fn number_truth(&mut self, _: CodeId, number: u64) -> Result<Option<Truth>, Fault> {
        let known = self.number.and_then(|test| test.known_truth(number));
        self.missed |= known.is_none();
        Ok(known.flatten())
    }
}

/// The conditions and tests of a statement, evaluated on the run in work.
struct RunOracle<'q, 'j, 'a> {
    judging: &'q mut PrefilterRun<'j, 'a>,
    statement: &'q CallStatement,
}

impl RunOracle<'_, '_, '_> {
    fn condition_code(&self, condition: u32) -> Option<CodeId> {
        let known: Option<&UniqueCondition> = self.judging.prefilter.conditions.get(condition as usize);
        known.map(|condition| condition.code)
    }
}

impl ConditionOracle for RunOracle<'_, '_, '_> {
    fn condition_truth(&mut self, _: CodeId, operand: usize, call: u32) -> Result<Option<Truth>, Fault> {
        let (Some(MatchCondition::Known(condition)), Some(operand)) =
            (self.statement.condition, self.statement.operands.get(operand))
        else {
            return Ok(None);
        };
        let code = self.condition_code(condition);
        Ok(code.and_then(|code| self.judging.evaluator.truth_of_call(code, call as usize, operand.pattern)))
    }

    fn number_truth(&mut self, _: CodeId, count: u64) -> Result<Option<Truth>, Fault> {
        let Some(number) = &self.statement.number else { return Ok(None) };
        if let Some(known) = number.known_truth(count) {
            return Ok(known);
        }
        let code = self.condition_code(number.condition);
        Ok(code.and_then(|code| self.judging.evaluator.truth_of(code, count_value(count))))
    }
}
