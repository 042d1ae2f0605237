//! One run while it is judged.

use super::evaluator::ConditionEvaluator;
use super::predicate::{ValueBase, ValuePath};
use super::{EvaluationRules, ItemCheck, Prefilter, PrefilterAnswer, PrefilterItem, ProjectionSource};
use averment_base::near;
use averment_base::truth::{Truth, Verdict};
use averment_base::value::{Value, json};
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::temporal::by_name::NamedCalls;
use averment_engine::vm::when_gate;
use averment_traces::projection::{CallField, RawValue, RunProjection};
use std::collections::BTreeSet;

pub(super) struct PrefilterRun<'j, 'a> {
    pub(super) prefilter: &'j Prefilter,
    pub(super) rules: EvaluationRules<'a>,
    pub(super) projection: &'j RunProjection<'a>,
    pub(super) source: ProjectionSource<'a>,
    pub(super) calls: NamedCalls<'j>,
    pub(super) evaluator: ConditionEvaluator<'j, 'a>,
    /// Cached truth of each condition; the inner `None` means undecidable here.
    pub(super) truths: &'j mut [Option<Option<Truth>>],
    /// What statements say of the orders in which their operands first occur; open where that is not known yet.
    pub(super) orders: &'j mut [PrefilterAnswer],
    pub(super) found: &'j [Vec<bool>; 2],
    pub(super) hits: &'j [Vec<u32>; 2],
    pub(super) skipped: &'j mut BTreeSet<u32>,
}

impl<'a> PrefilterRun<'_, 'a> {
    pub(super) fn prepared_program(&self) -> &'a PreparedProgram {
        self.rules.prepared
    }

    pub(super) fn answer_numbered(&mut self, number: u32) -> PrefilterAnswer {
        let prefilter = self.prefilter;
        prefilter.items.get(number as usize).map_or(PrefilterAnswer::Open, |item| self.answer_item(item))
    }

    pub(super) fn answer_item(&mut self, item: &PrefilterItem) -> PrefilterAnswer {
        self.rules.begin_cost(item.assertion);
        let answer = self.answer(item);
        self.rules.end_cost();
        answer
    }

    fn answer(&mut self, item: &PrefilterItem) -> PrefilterAnswer {
        let mut by_missing = false;
        let gate = when_gate(&item.when, |condition| {
            let truth = self.condition_truth(*condition).ok_or(())?;
            by_missing = truth.by_missing();
            Ok(truth)
        });
        match gate {
            Err(()) => return PrefilterAnswer::Open,
            Ok(Some((verdict, _))) => {
                if by_missing && verdict == Verdict::Skipped {
                    self.skipped.insert(item.assertion);
                }
                return PrefilterAnswer::of_verdict(verdict);
            }
            Ok(None) => {}
        }
        match &item.check {
            ItemCheck::Open => PrefilterAnswer::Open,
            _ if self.projection.unusual => PrefilterAnswer::Open,
            ItemCheck::Expression(condition) => {
                self.condition_truth(*condition).map_or(PrefilterAnswer::Open, PrefilterAnswer::of_truth)
            }
            _ if !self.projection.records_calls => PrefilterAnswer::Open,
            ItemCheck::Selected { of_calls } => match self.by_parts(item) {
                PrefilterAnswer::Vacuous if *of_calls && !self.has_named_call(item) => PrefilterAnswer::Idle,
                answer => answer,
            },
            ItemCheck::Temporal(statement) => match statement.answer_run(self) {
                PrefilterAnswer::Open => self.by_parts(item),
                answer => answer,
            },
            ItemCheck::NoneIn { field, literals, default } => self.none_in(item.assertion, *field, literals, *default),
        }
    }

    fn by_parts(&mut self, item: &PrefilterItem) -> PrefilterAnswer {
        let parts = item.parts.as_ref();
        let verdict = parts.and_then(|parts| self.evaluator.verdict_of_parts(item.assertion, parts, &self.calls));
        verdict.map_or(PrefilterAnswer::Open, PrefilterAnswer::of_verdict)
    }

    fn has_named_call(&self, item: &PrefilterItem) -> bool {
        let patterns = item.parts.iter().flat_map(|parts| &parts.patterns);
        patterns.into_iter().any(|unique| self.calls.call_count(*unique) > 0)
    }

    fn none_in(
        &mut self,
        assertion: u32,
        field: CallField,
        literals: &[u32],
        default: PrefilterAnswer,
    ) -> PrefilterAnswer {
        if self.projection.lacks_field(field as usize) {
            return PrefilterAnswer::Open;
        }
        let found = self.found.get(field as usize).map_or(&[][..], Vec::as_slice);
        if literals.iter().all(|literal| found.get(*literal as usize) == Some(&false)) {
            return if self.has_values(field) { default } else { PrefilterAnswer::Open };
        }
        self.evaluator.refill_fuel();
        self.evaluator.verdict_of_all(assertion, field).map_or(PrefilterAnswer::Open, PrefilterAnswer::of_verdict)
    }

    /// True if some call surely has the field; otherwise the machine has to explain why it is missing.
    fn has_values(&self, field: CallField) -> bool {
        let texts = self.projection.texts.get(field as usize);
        texts.is_some_and(|texts| texts.any || (texts.perhaps && self.has_leaf(field)))
    }

    /// True if the field of some call surely contains a text, number or boolean.
    fn has_leaf(&self, field: CallField) -> bool {
        let held = self.projection.calls.iter().filter_map(|call| call.fields.get(field as usize));
        let mut values = held.map_while(|held| self.read_value(*held));
        values.any(|value| {
            let mut open = vec![value];
            while let Some(value) = open.pop() {
                match value {
                    Value::Text(_) | Value::Number(_) | Value::Boolean(_) => return true,
                    Value::List(items) => open.extend(items.iter().map(|item| item.value)),
                    Value::Object(object) => open.extend(object.entries().iter().map(|entry| entry.node.value)),
                    _ => {}
                }
            }
            false
        })
    }

    fn read_value(&self, held: RawValue<'a>) -> Option<Value<'a>> {
        match (self.source, held) {
            (ProjectionSource::Line(chunk), held) => chunk.read_value(held),
            (ProjectionSource::Run(..), RawValue::Value(value)) => Some(value),
            (ProjectionSource::Run(..), RawValue::Bytes(..) | RawValue::Written(..)) => None,
        }
    }

    /// The answer of an assertion that is a condition of the run, by its place in the list and the condition's number.
    pub(super) fn answer_expression(&mut self, item: u32, condition: u32) -> PrefilterAnswer {
        let assertion = self.prefilter.items.get(item as usize).map_or(u32::MAX, |item| item.assertion);
        self.rules.begin_cost(assertion);
        let truth = self.condition_truth(condition);
        self.rules.end_cost();
        truth.map_or(PrefilterAnswer::Open, PrefilterAnswer::of_truth)
    }

    /// Evaluated once; `None` if undecidable here.
    fn condition_truth(&mut self, number: u32) -> Option<Truth> {
        if let Some(Some(known)) = self.truths.get(number as usize) {
            return *known;
        }
        let condition = self.prefilter.conditions.get(number as usize)?;
        self.evaluator.refill_fuel();
        let truth = self.evaluator.condition_truth(condition.code);
        if let Some(place) = self.truths.get_mut(number as usize) {
            *place = Some(truth);
        }
        truth
    }

    /// The inner `None` means that the path continues in a text, which only the evaluator follows.
    pub(super) fn value_at(&mut self, path: &ValuePath) -> Option<Option<Value<'a>>> {
        self.value_under(&path.base, &path.keys)
    }

    fn value_under(&mut self, base: &ValueBase, keys: &[String]) -> Option<Option<Value<'a>>> {
        let ValueBase::Root(name) = *base else { return None };
        let name = self.rules.program.names.get(name as usize)?;
        let mut node = self.evaluator.projected_run()?.root_value(name);
        for key in keys {
            if matches!(node.value, Value::Text(text) if json::may_hold(text.raw_text().as_bytes())) {
                return Some(None);
            }
            node = node.field(key);
        }
        Some(Some(node.value))
    }

    /// True if a path goes on behind a value that has no keys.
    pub(super) fn enters_no_keys(&mut self, path: &ValuePath) -> bool {
        let has_keys = |value| matches!(value, Some(Value::Object(_) | Value::Missing | Value::Absent | Value::Null));
        let ends = 0..path.keys.len();
        ends.into_iter().any(|end| {
            let value = path.keys.get(..end).and_then(|keys| self.value_under(&path.base, keys));
            !value.is_some_and(has_keys)
        })
    }

    /// True if the last object of a path has a near miss of its last key.
    pub(super) fn has_slip(&mut self, path: &ValuePath) -> bool {
        let Some((last, keys)) = path.keys.split_last() else { return false };
        let Some(Some(Value::Object(object))) = self.value_under(&path.base, keys) else { return false };
        near::nearest_name(last, object.entries().iter().map(|entry| entry.key)).is_some()
    }
}
