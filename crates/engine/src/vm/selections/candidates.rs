//! The steps that a pattern of a selection may match, and those that match for the values of bindings.

use super::windows::{CallRank, call_ranks};
use super::{GivenValues, SelectedSteps};
use crate::bytecode::program::{CodeId, CompiledSelection};
use crate::vm::context::ExpressionScope;
use crate::vm::element_places::ValueMap;
use crate::vm::fault::{Fault, broken_program};
use crate::vm::machine::Machine;
use crate::vm::temporal::classify::status_truth;
use crate::vm::temporal::names::NameMatcher;
use crate::vm::temporal::near_values::are_near;
use crate::vm::temporal::unrecorded_roles::unrecorded_role;
use averment_base::truth::Truth;
use averment_base::value::compare::{ValueKey, values_equal};
use averment_base::value::{Node, Value};
use averment_checker::ir::{NameTest, PatternAlternative, SelectionReach};
use averment_runs::run::{Step, StepKind};
use smallvec::SmallVec;
use std::rc::Rc;

#[derive(Debug, Default)]
pub(super) struct PatternCandidates<'run> {
    found: Vec<SelectionCandidate<'run>>,
    by_value: ValueMap<ValueKey<'run>, Vec<u32>>,
    others: Vec<u32>,
    /// True if steps of its kind and name exist and all were decided by something missing.
    by_missing: bool,
    absent: bool,
    ranks: Vec<CallRank>,
}

type AlternativeMatch<'run> = (Truth, SmallVec<[Node<'run>; 1]>);

#[derive(Debug)]
pub(super) struct SelectionCandidate<'run> {
    step: u32,
    alternative: u16,
    truth: Truth,
    values: Box<[Node<'run>]>,
}

impl<'run> Machine<'run> {
    pub(super) fn pattern_candidates(
        &mut self,
        number: u32,
        selection: &'run CompiledSelection,
    ) -> Result<Rc<PatternCandidates<'run>>, Fault> {
        if let Some(known) = self.selections.steps.get(&number) {
            return Ok(Rc::clone(known));
        }
        let program = self.program;
        let pattern = program.patterns.get(selection.pattern.0 as usize).ok_or_else(broken_program)?;
        let matchers: Vec<NameMatcher> = pattern
            .alternatives
            .iter()
            .map(|alternative| NameMatcher::from_test(alternative.kind, &alternative.name))
            .collect();
        let is_absent = |alternative: &PatternAlternative<CodeId>| {
            !self.run.records_kind(alternative.kind)
                || alternative.name != NameTest::Any && unrecorded_role(self, alternative).is_some()
        };
        let absent = pattern.alternatives.iter().any(is_absent);
        let mut candidates = PatternCandidates { absent, ..PatternCandidates::default() };
        let (mut any, mut on_evidence) = (false, false);
        for (step_number, step) in (0_u32..).zip(self.run.steps) {
            self.meter.charge_fuel(1)?;
            let executed = step.kind != StepKind::Call || step.status.is_executed();
            let mut overall: Option<Truth> = None;
            for (place, (alternative, matcher)) in pattern.alternatives.iter().zip(&matchers).enumerate() {
                let fits = alternative.kind == step.kind
                    && alternative.proposed != executed
                    && matcher.matches_name(step.name, self.prepared);
                if !fits {
                    continue;
                }
                let Some((truth, values)) = self.match_alternative(alternative, step)? else { continue };
                overall = Some(overall.map_or(truth, |overall| overall.or(truth)));
                if truth.plain_answer() != Some(false) {
                    let (alternative, values) = (u16::try_from(place).unwrap_or(u16::MAX), values.into_vec().into());
                    candidates.found.push(SelectionCandidate { step: step_number, alternative, truth, values });
                }
            }
            any |= overall.is_some();
            on_evidence |= overall.is_some_and(|truth| !truth.by_missing());
        }
        if selection.reach == SelectionReach::Row {
            self.meter.charge_fuel(self.run.steps.len() as u64)?;
            candidates.ranks = call_ranks(self.run.steps);
        }
        candidates.by_missing = any && !on_evidence;
        candidates.index_values();
        self.meter.charge_memory(candidates.found.len().saturating_mul(size_of::<SelectionCandidate<'_>>()))?;
        let candidates = Rc::new(candidates);
        self.selections.steps.insert(number, Rc::clone(&candidates));
        Ok(candidates)
    }

    /// Status, condition and bindings of an alternative without tests of given values; `None` if the text differs.
    fn match_alternative(
        &mut self,
        alternative: &PatternAlternative<CodeId>,
        step: &'run Step<'run>,
    ) -> Result<Option<AlternativeMatch<'run>>, Fault> {
        let scope = ExpressionScope::of_step(step);
        if let Some(text) = alternative.text.filter(|text| !alternative.joins.contains(text))
            && self.evaluate_truth(text, &scope)? == Truth::False
        {
            return Ok(None);
        }
        let mut truth = status_truth(alternative.succeeded, step.status);
        let mut values = SmallVec::new();
        if let Some(condition) = alternative.condition.filter(|_| truth != Truth::False) {
            truth = truth.and(self.evaluate_truth(condition, &scope)?);
        }
        for (_, path) in &alternative.binds {
            if truth == Truth::False {
                break;
            }
            let node = self.evaluate_code(*path, &scope)?;
            truth = truth.and(match node.value {
                Value::Missing | Value::Null => Truth::FalseByMissing,
                Value::Absent | Value::Truth(Truth::Undecided) => Truth::Undecided,
                _ => Truth::True,
            });
            values.push(node);
        }
        Ok(Some((truth, values)))
    }

    pub(super) fn take_candidates(
        &mut self,
        candidates: &PatternCandidates<'run>,
        selection: &'run CompiledSelection,
        given: &GivenValues<'run>,
    ) -> Result<SelectedSteps<'run>, Fault> {
        let program = self.program;
        let pattern = program.patterns.get(selection.pattern.0 as usize).ok_or_else(broken_program)?;
        let bindings = selection_bindings(selection, given);
        let mut taken =
            SelectedSteps { by_missing: candidates.by_missing, absent: candidates.absent, ..SelectedSteps::default() };
        let mut last: Option<(u32, Truth)> = None;
        let joins_near = self.selections.joins_near;
        let places = if joins_near {
            candidates.all_places()
        } else {
            candidates.fitting_places(pattern.alternatives.as_slice(), &bindings)
        };
        for place in places {
            self.meter.charge_fuel(1)?;
            let Some(candidate) = candidates.found.get(place as usize) else { continue };
            let Some(alternative) = pattern.alternatives.get(usize::from(candidate.alternative)) else { continue };
            let mut truth = candidate.truth.and(same_values(alternative, candidate, &bindings, joins_near));
            if let (false, Some(step)) = (alternative.joins.is_empty(), self.run.steps.get(candidate.step as usize)) {
                let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
                for join in &alternative.joins {
                    truth = truth.and(self.evaluate_truth(*join, &scope)?);
                }
            }
            last = match last {
                Some((step, before)) if step == candidate.step => Some((step, before.or(truth))),
                other => {
                    taken.add_step(other);
                    Some((candidate.step, truth))
                }
            };
        }
        taken.add_step(last);
        taken.note_kinds(self.run.steps);
        match selection.reach {
            SelectionReach::Row => taken.note_rows(&candidates.ranks),
            SelectionReach::Run | SelectionReach::SoFar | SelectionReach::StartedSoFar | SelectionReach::Within(_) => {}
        }
        self.values_of(&mut taken, selection, &bindings)?;
        taken.index_steps(self.run.steps);
        if let SelectionReach::Within(within) = selection.reach {
            taken.note_order(within, self.run.steps);
        }
        Ok(taken)
    }

    fn values_of(
        &mut self,
        taken: &mut SelectedSteps<'run>,
        selection: &'run CompiledSelection,
        bindings: &[Option<Node<'run>>],
    ) -> Result<(), Fault> {
        let Some(code) = selection.value else { return Ok(()) };
        let mut values = Vec::with_capacity(taken.steps.len());
        let mut steps = Vec::with_capacity(taken.steps.len());
        let mut rows = Vec::new();
        for (place, &(number, sure)) in taken.steps.iter().enumerate() {
            let step = self.run.steps.get(number as usize).ok_or_else(broken_program)?;
            match self.evaluate_code(code, &ExpressionScope::of_step(step).with_bindings(bindings)) {
                // As behind `[*]` a step that has no such value is left out.
                Ok(node) if sure && matches!(node.value, Value::Missing) => taken.lacking.push(number),
                Ok(node) => {
                    rows.extend(taken.rows.get(place).copied());
                    steps.push((number, sure));
                    values.push(node);
                }
                // A value of another kind than is wanted matters where the step is looked at.
                Err(fault) if fault.unfit_value().is_some() => {
                    rows.extend(taken.rows.get(place).copied());
                    taken.fault = Some((steps.len(), fault));
                    steps.push((number, sure));
                    break;
                }
                Err(fault) => return Err(fault),
            }
        }
        (taken.steps, taken.rows) = (steps, rows);
        taken.values = self.in_arena(&values)?;
        Ok(())
    }
}

fn selection_bindings<'run>(
    selection: &CompiledSelection,
    given: &GivenValues<'run>,
) -> SmallVec<[Option<Node<'run>>; 4]> {
    let width = selection.given.iter().max().map_or(0, |most| (*most as usize).saturating_add(1));
    let mut bindings = smallvec::smallvec![None; width];
    for (number, node) in selection.given.iter().zip(given) {
        if let Some(cell) = bindings.get_mut(*number as usize) {
            *cell = *node;
        }
    }
    bindings
}

fn same_values<'run>(
    alternative: &PatternAlternative<CodeId>,
    candidate: &SelectionCandidate<'run>,
    bindings: &[Option<Node<'run>>],
    joins_near: bool,
) -> Truth {
    let mut truth = Truth::True;
    let mut own: SmallVec<[(u32, Node<'run>); 2]> = SmallVec::new();
    for ((number, _), node) in alternative.binds.iter().zip(&candidate.values) {
        let given = bindings.get(*number as usize).copied().flatten();
        // One name twice in a pattern is one value.
        let before = own.iter().find(|(other, _)| other == number).map(|(_, node)| *node);
        for other in [given, before].into_iter().flatten() {
            let is_near = joins_near && are_near(&other.value, &node.value);
            truth = truth.and(if is_near { Truth::True } else { same_value(&other, node) });
        }
        own.push((*number, *node));
    }
    truth
}

fn same_value(a: &Node<'_>, b: &Node<'_>) -> Truth {
    let absent = |node: &Node<'_>| {
        node.value.is_absent() || matches!(node.value, Value::Truth(truth) if truth.plain_answer().is_none())
    };
    if absent(a) || absent(b) { Truth::Undecided } else { Truth::from_bool(values_equal(&a.value, &b.value)) }
}

impl<'run> PatternCandidates<'run> {
    fn index_values(&mut self) {
        for (place, candidate) in (0_u32..).zip(&self.found) {
            match candidate.values.first().filter(|node| !node.value.is_absent()) {
                Some(node) => self.by_value.entry(ValueKey(node.value)).or_default().push(place),
                None => self.others.push(place),
            }
        }
    }

    fn fitting_places(&self, alternatives: &[PatternAlternative<CodeId>], bindings: &[Option<Node<'run>>]) -> Vec<u32> {
        let first = alternatives.first().and_then(|alternative| alternative.binds.first()).map(|(number, _)| *number);
        let same_first =
            alternatives.iter().all(|one| one.binds.first().map(|(number, _)| *number) == first && first.is_some());
        let given = first.and_then(|number| bindings.get(number as usize).copied().flatten());
        match given.filter(|node| same_first && !node.value.is_absent()) {
            Some(node) => {
                let with_value = self.by_value.get(&ValueKey(node.value)).into_iter().flatten();
                let mut places: Vec<u32> = with_value.chain(&self.others).copied().collect();
                places.sort_unstable();
                places
            }
            None => self.all_places(),
        }
    }

    fn all_places(&self) -> Vec<u32> {
        (0..u32::try_from(self.found.len()).unwrap_or(u32::MAX)).collect()
    }
}
