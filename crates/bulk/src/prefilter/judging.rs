//! One run while it is judged.

use super::evaluator::Evaluator;
use super::predicate::{Base, Path};
use super::{Answer, Compiled, Form, Item, Prefilter, Source};
use averment_base::near;
use averment_base::truth::{Truth, Verdict};
use averment_base::value::{Value, json};
use averment_engine::vm::gate;
use averment_engine::vm::prepare::Prepared;
use averment_engine::vm::temporal::by_name::NamedCalls;
use averment_traces::projection::{Field, Held, Projection};
use std::collections::BTreeSet;

/// One run while it is judged.
pub(super) struct Judging<'j, 'a> {
    pub(super) prefilter: &'j Prefilter,
    pub(super) rules: Compiled<'a>,
    pub(super) projection: &'j Projection<'a>,
    pub(super) source: Source<'a>,
    pub(super) calls: NamedCalls<'j>,
    pub(super) evaluator: Evaluator<'j, 'a>,
    /// The truth of each condition of the run, as far as somebody has asked; the inner `None` where it cannot be told here.
    pub(super) truths: &'j mut [Option<Option<Truth>>],
    /// Which literals of each field's search stand in some text.
    pub(super) found: &'j [Vec<bool>; 2],
    /// The same as a list.
    pub(super) hits: &'j [Vec<u32>; 2],
    /// Assertions whose `when` was false because something is missing.
    pub(super) skipped: &'j mut BTreeSet<u32>,
}

impl<'a> Judging<'_, 'a> {
    /// What was prepared of the program.
    pub(super) fn prepared(&self) -> &'a Prepared {
        self.rules.prepared
    }

    /// The answer of an assertion by its place in the list.
    pub(super) fn numbered(&mut self, number: u32) -> Answer {
        let prefilter = self.prefilter;
        prefilter.items.get(number as usize).map_or(Answer::Open, |item| self.item(item))
    }

    pub(super) fn item(&mut self, item: &Item) -> Answer {
        self.rules.begin_cost(item.assertion);
        let answer = self.answer(item);
        self.rules.end_cost();
        answer
    }

    fn answer(&mut self, item: &Item) -> Answer {
        let mut by_missing = false;
        let gate = gate(&item.when, |condition| {
            let truth = self.condition(*condition).ok_or(())?;
            by_missing = truth.by_missing();
            Ok(truth)
        });
        match gate {
            Err(()) => return Answer::Open,
            Ok(Some((verdict, _))) => {
                if by_missing && verdict == Verdict::Skipped {
                    self.skipped.insert(item.assertion);
                }
                return Answer::of_verdict(verdict);
            }
            Ok(None) => {}
        }
        match &item.check {
            Form::Open => Answer::Open,
            Form::Expression(condition) => self.condition(*condition).map_or(Answer::Open, Answer::of_truth),
            _ if self.projection.unusual || !self.projection.records_calls => Answer::Open,
            Form::Selected { of_calls } => match self.by_parts(item) {
                Answer::Vacuous if *of_calls && !self.occurs(item) => Answer::Idle,
                answer => answer,
            },
            Form::Temporal(statement) => match statement.judge(self) {
                Answer::Open => self.by_parts(item),
                answer => answer,
            },
            Form::NoneIn { field, literals, default } => self.none_in(item.assertion, *field, literals, *default),
        }
    }

    /// The answer of an assertion that parts of the calls decide.
    fn by_parts(&mut self, item: &Item) -> Answer {
        let verdict = item.parts.as_ref().and_then(|_| self.evaluator.verdict_of_parts(item.assertion, &self.calls));
        verdict.map_or(Answer::Open, Answer::of_verdict)
    }

    /// Whether a call has a name of its patterns.
    fn occurs(&self, item: &Item) -> bool {
        item.parts.iter().flatten().any(|unique| self.calls.count(*unique) > 0)
    }

    fn none_in(&mut self, assertion: u32, field: Field, literals: &[u32], default: Answer) -> Answer {
        let found = self.found.get(field as usize).map_or(&[][..], Vec::as_slice);
        if literals.iter().all(|literal| found.get(*literal as usize) == Some(&false)) {
            return if self.has_values(field) { default } else { Answer::Open };
        }
        self.evaluator.refuel();
        self.evaluator.verdict_of_all(assertion, field).map_or(Answer::Open, Answer::of_verdict)
    }

    /// Whether there surely is a value to look at in a field of some call: where there is none the monitor says of what.
    fn has_values(&self, field: Field) -> bool {
        let texts = self.projection.texts.get(field as usize);
        texts.is_some_and(|texts| texts.any || (texts.perhaps && self.has_leaf(field)))
    }

    /// Whether a field of some call surely holds a text, a number or a boolean.
    fn has_leaf(&self, field: Field) -> bool {
        let held = self.projection.calls.iter().filter_map(|call| call.fields.get(field as usize));
        let mut values = held.map_while(|held| self.read(*held));
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

    fn read(&self, held: Held<'a>) -> Option<Value<'a>> {
        match (self.source, held) {
            (Source::Line(chunk), held) => chunk.read(held),
            (Source::Run(..), Held::Value(value)) => Some(value),
            (Source::Run(..), Held::Bytes(..) | Held::Written(..)) => None,
        }
    }

    /// The answer of an assertion that is a condition of the run, by its place in the list and the condition's number.
    pub(super) fn expression(&mut self, item: u32, condition: u32) -> Answer {
        let assertion = self.prefilter.items.get(item as usize).map_or(u32::MAX, |item| item.assertion);
        self.rules.begin_cost(assertion);
        let truth = self.condition(condition);
        self.rules.end_cost();
        truth.map_or(Answer::Open, Answer::of_truth)
    }

    /// The truth of a condition of the run, evaluated once; `None` where it cannot be told here.
    fn condition(&mut self, number: u32) -> Option<Truth> {
        if let Some(Some(known)) = self.truths.get(number as usize) {
            return *known;
        }
        let condition = self.prefilter.conditions.get(number as usize)?;
        self.evaluator.refuel();
        let truth = self.evaluator.truth(condition.code);
        if let Some(place) = self.truths.get_mut(number as usize) {
            *place = Some(truth);
        }
        truth
    }

    /// The value that a path leads to in the run; the inner `None` where it goes on in a text, which only the evaluator follows.
    pub(super) fn value_at(&mut self, path: &Path) -> Option<Option<Value<'a>>> {
        self.value_under(&path.base, &path.keys)
    }

    fn value_under(&mut self, base: &Base, keys: &[String]) -> Option<Option<Value<'a>>> {
        let Base::Root(name) = *base else { return None };
        let name = self.rules.program.names.get(name as usize)?;
        let mut node = self.evaluator.run()?.root(name);
        for key in keys {
            if matches!(node.value, Value::Text(text) if json::may_hold(text.raw().as_bytes())) {
                return Some(None);
            }
            node = node.field(key);
        }
        Some(Some(node.value))
    }

    /// Whether the object in which a path ends has nearly its last key.
    pub(super) fn has_slip(&mut self, path: &Path) -> bool {
        let Some((last, keys)) = path.keys.split_last() else { return false };
        let Some(Some(Value::Object(object))) = self.value_under(&path.base, keys) else { return false };
        near::nearest(last, object.entries().iter().map(|entry| entry.key)).is_some()
    }
}
