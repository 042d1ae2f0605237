//! Statements about calls: the engine says what the names of the calls decide. What it asks beside the names, the condition of a call or
//! the test of a number, the evaluator answers.

use super::judging::PrefilterRun;
use super::{PrefilterAnswer, UniqueCondition};
use averment_base::truth::Truth;
use averment_base::value::{Number as Value, Value as Any};
use averment_engine::bytecode::program::{CodeId, TemporalId};
use averment_engine::vm::fault::Fault;
use averment_engine::vm::temporal::by_name::{
    FIRST_ORDERS, NameMatches, NamedCalls, NamedOperand, NamedStatement, NamesVerdict,
};
use averment_engine::vm::temporal::plan::TemporalPlan;
use averment_engine::vm::temporal::search::ConditionOracle;
use std::ops::Range;

#[derive(Debug)]
pub(super) struct CallStatement {
    temporal: TemporalId,
    pub(super) operands: Vec<NamedOperand>,
    /// Of these one has to match: without that it says what it says where nothing matches.
    exercised_by: Range<usize>,
    /// True if names decide it when they decide all matches.
    pub(super) is_closed: bool,
    /// True if it depends on which calls were known to others, by time or turn.
    pub(super) is_timed: bool,
    pub(super) condition: Option<MatchCondition>,
    pub(super) number: Option<CallCountTest>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum MatchCondition {
    Known(u32),
    /// It can only be evaluated on the full run.
    Unknown,
}

#[derive(Debug)]
pub(super) struct CallCountTest {
    pub(super) condition: u32,
    /// Its truth for small numbers, if nothing else decides.
    known: Vec<Option<Truth>>,
}

/// Truths are cached for smaller numbers: few runs call a tool more often.
const SMALL: u32 = 16;

/// A call whose name fits nothing.
const NO_NAMED_CALL: NamedCalls<'static> =
    NamedCalls { found: &[], classes: &[u32::MAX], patterns: &[], times: &[], is_sequential: false };

impl CallCountTest {
    pub(super) fn new(condition: u32) -> Self {
        Self { condition, known: Vec::new() }
    }

    pub(super) fn learn_truths(&mut self, mut truth: impl FnMut(u32) -> Option<Truth>) {
        self.known = (0..SMALL).map(&mut truth).collect();
    }

    /// The inner `None` means that the evaluation has a fault.
    fn known_truth(&self, number: u64) -> Option<Option<Truth>> {
        self.known.get(usize::try_from(number).ok()?).copied()
    }
}

pub(super) fn count_value<'a>(count: u64) -> Any<'a> {
    Any::Number(Value::Integer(i64::try_from(count).unwrap_or(i64::MAX)))
}

impl CallStatement {
    pub(super) fn new(
        temporal: TemporalId,
        named: &NamedStatement,
        condition: Option<MatchCondition>,
        number: Option<CallCountTest>,
    ) -> Self {
        Self {
            temporal,
            operands: named.operands.clone(),
            exercised_by: named.exercised_by.clone(),
            is_closed: named.is_closed,
            is_timed: named.is_timed,
            condition,
            number,
        }
    }

    /// The patterns whose calls it has to be asked about.
    pub(super) fn concerned_patterns(&self) -> impl Iterator<Item = u32> {
        let operands = self.operands.get(self.exercised_by.clone()).unwrap_or_default();
        operands.iter().map(|operand| operand.pattern)
    }

    pub(super) fn temporal_id(&self) -> TemporalId {
        self.temporal
    }

    /// The answer if no call matches; `None` if something else decides.
    pub(super) fn default_verdict(&self, plan: &TemporalPlan, with_calls: bool) -> Option<PrefilterAnswer> {
        let classes = if with_calls { NO_NAMED_CALL.classes } else { &[] };
        self.answer_without_run(plan, &NamedCalls { classes, ..NO_NAMED_CALL })
    }

    /// For a count test that reads nothing else: its pattern and answers for small numbers.
    pub(super) fn count_answers(&self, plan: &TemporalPlan) -> Option<(u32, Box<[PrefilterAnswer]>)> {
        let [operand] = self.operands.as_slice() else { return None };
        self.number.as_ref().filter(|number| operand.is_sure && !number.known.is_empty())?;
        let mut found = vec![NameMatches::default(); operand.pattern as usize + 1];
        let mut answer = |count: u32| {
            *found.last_mut()? = NameMatches { count, last: count.saturating_sub(1), ..NameMatches::default() };
            let calls = NamedCalls { found: &found, ..NO_NAMED_CALL };
            self.answer_without_run(plan, &calls)
        };
        let answers: Option<Box<[PrefilterAnswer]>> = (0..SMALL).map(&mut answer).collect();
        Some((operand.pattern, answers?))
    }

    /// `None` if the run decides beside the names.
    fn answer_without_run(&self, plan: &TemporalPlan, calls: &NamedCalls<'_>) -> Option<PrefilterAnswer> {
        let mut known = RunlessOracle { number: self.number.as_ref(), missed: false };
        let answer = answer_from_names(plan.by_names(self.temporal, calls, &mut known));
        (!known.missed).then_some(answer)
    }

    pub(super) fn answer_run(&self, judging: &mut PrefilterRun<'_, '_>) -> PrefilterAnswer {
        let plan = judging.prepared_program().temporal_plan(judging.rules.program);
        let calls = judging.calls;
        let order = plan.named_statement(self.temporal).and_then(|named| named.first_order(&calls));
        let place = order.map(|order| self.temporal.0 as usize * FIRST_ORDERS + order);
        let known = place.and_then(|place| judging.orders.get(place).copied());
        if let Some(known) = known.filter(|known| *known != PrefilterAnswer::Open) {
            return known;
        }
        judging.evaluator.refill_fuel();
        let answer =
            answer_from_names(plan.by_names(self.temporal, &calls, &mut RunOracle { judging, statement: self }));
        if let Some(known) = place.and_then(|place| judging.orders.get_mut(place)) {
            *known = answer;
        }
        answer
    }
}

fn answer_from_names(said: NamesVerdict) -> PrefilterAnswer {
    match said {
        NamesVerdict::Open => PrefilterAnswer::Open,
        NamesVerdict::Idle => PrefilterAnswer::Idle,
        NamesVerdict::Verdict(verdict) => PrefilterAnswer::of_verdict(verdict),
    }
}

struct RunlessOracle<'s> {
    number: Option<&'s CallCountTest>,
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
