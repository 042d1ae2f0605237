//! `E of A`, `count A`: what is taken of the steps that match a pattern.
//!
//! The steps of a pattern are looked for once in a run, what is taken of them once for all values of bindings that are asked for; `so far` is the
//! beginning of such a list.

mod candidates;
mod windows;

use super::context::ExpressionScope;
use super::element_places::ValueMap;
use super::fault::{Fault, broken_program};
use super::folds::FoldStates;
use super::machine::Machine;
use super::temporal::call_knowledge::unknown_cause;
use crate::bytecode::ops::{Amount, Op, SelectionRef};
use crate::bytecode::program::CompiledSelection;
use averment_base::truth::Truth;
use averment_base::value::compare::ValueKey;
use averment_base::value::{Node, Number, Value};
use averment_checker::ir::SelectionReach;
use averment_runs::run::{Step, StepKind};
use candidates::PatternCandidates;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;

/// `None` for an open binding.
type GivenValues<'run> = SmallVec<[Option<Node<'run>>; 2]>;

type SelectionKey<'run> = (u32, SmallVec<[Option<ValueKey<'run>>; 2]>);

#[derive(Debug, Default)]
pub(super) struct SelectionCache<'run> {
    steps: FxHashMap<u32, Rc<PatternCandidates<'run>>>,
    taken: ValueMap<SelectionKey<'run>, Rc<SelectedSteps<'run>>>,
    /// Whether values that are nearly equal are one value, and what is taken then: for a second look at a statement.
    joins_near: bool,
    near_taken: ValueMap<SelectionKey<'run>, Rc<SelectedSteps<'run>>>,
}

#[derive(Debug, Default)]
pub(super) struct SelectedSteps<'run> {
    steps: Vec<(u32, bool)>,
    unsure: Vec<u32>,
    /// One value per step; empty if steps are only counted.
    pub(super) values: &'run [Node<'run>],
    pub(super) folds: RefCell<FoldStates<'run>>,
    fault: Option<(usize, Fault)>,
    /// True if something missing decided of every step whether it matches.
    pub(super) by_missing: bool,
    /// Steps without the value.
    lacking: Vec<u32>,
    absent: bool,
    ends: Vec<f64>,
    turns: FxHashMap<u32, Vec<u32>>,
    kinds: Vec<StepKind>,
    /// True if the measure of a bound never decreases from step to step.
    in_order: bool,
    rows: Vec<u32>,
    row_of: Vec<(u32, u32)>,
}

/// A range of positions minus those unknown to a step.
#[derive(Debug)]
pub(super) struct SelectionPart {
    pub(super) from: usize,
    pub(super) before: usize,
    pub(super) unknown: Vec<u32>,
}

impl SelectionPart {
    pub(super) fn holds(&self, place: usize) -> bool {
        let is_known = || {
            self.unknown.is_empty()
                || u32::try_from(place).is_ok_and(|place| self.unknown.binary_search(&place).is_err())
        };
        (self.from..self.before).contains(&place) && is_known()
    }

    pub(super) fn step_count(&self) -> usize {
        self.before.saturating_sub(self.from).saturating_sub(self.unknown.len())
    }
}

impl<'run> Machine<'run> {
    /// `E of A` and `count A`; the binding values are on the stack.
    pub(super) fn eval_select(
        &mut self,
        number: SelectionRef,
        count: Amount,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<(), Fault> {
        let (selection, taken) = self.selected_steps(number, count)?;
        let node = match self.selected_part(&taken, selection, scope)? {
            None => Node::computed(Value::Absent),
            Some(part) => self.list_of(&taken, &part, selection)?,
        };
        self.push(node);
        Ok(())
    }

    /// Expressions that merely locate steps are not evidence.
    pub(super) fn selected_steps(
        &mut self,
        number: SelectionRef,
        count: Amount,
    ) -> Result<(&'run CompiledSelection, Rc<SelectedSteps<'run>>), Fault> {
        let program = self.program;
        let selection = program.selections.get(number.0 as usize).ok_or_else(broken_program)?;
        let given: GivenValues<'run> = self
            .take_nodes(count.0 as usize)?
            .into_iter()
            .map(|node| (!matches!(node.value, Value::Missing | Value::Null)).then_some(node))
            .collect();
        let taken = self.without_observers(|machine| machine.take_steps(number.0, selection, &given))?;
        self.note_lacking_steps(&taken, selection);
        Ok((selection, taken))
    }

    fn note_lacking_steps(&mut self, taken: &SelectedSteps<'run>, selection: &CompiledSelection) {
        if taken.lacking.is_empty() || taken.steps.is_empty() || selection.reach != SelectionReach::Run {
            return;
        }
        self.observer.look.doubts.leaves_out = true;
        let Some(code) = selection.value.filter(|_| self.fills_places()) else { return };
        let key = self.program.code_ops(code).and_then(|ops| match ops.last() {
            Some(Op::Field(name, _)) => self.name_text(*name).ok(),
            _ => None,
        });
        let steps = taken.steps.iter().map(|(step, _)| *step);
        self.note_selected(&taken.lacking, steps, (key, self.code_span(code)));
    }

    /// True while the places that lack a value are filled, and this list has such places.
    pub(super) fn fills_list(&self, taken: &SelectedSteps<'run>, selection: &CompiledSelection) -> bool {
        self.fills_places() && !taken.lacking.is_empty() && selection.reach == SelectionReach::Run
    }

    /// The relevant part: everything, or what was known when the step was requested; `None` if undecided.
    pub(super) fn selected_part(
        &mut self,
        taken: &SelectedSteps<'run>,
        selection: &CompiledSelection,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<Option<SelectionPart>, Fault> {
        if taken.absent {
            return Ok(None);
        }
        let part = match (selection.reach, scope.step) {
            (SelectionReach::Run, _) | (_, None) => {
                SelectionPart { from: 0, before: taken.steps.len(), unknown: Vec::new() }
            }
            (SelectionReach::SoFar | SelectionReach::StartedSoFar, Some(step)) => {
                if taken.kinds.iter().any(|kind| !self.run.is_ordered(*kind, step.kind)) {
                    return Ok(None);
                }
                let at = self.step_position(step)?;
                let before = taken.steps.partition_point(|(one, _)| *one < at);
                let unknown = match selection.reach {
                    SelectionReach::SoFar => self.unknown_places(taken, before, step)?,
                    _ => Vec::new(),
                };
                SelectionPart { from: 0, before, unknown }
            }
            (SelectionReach::Within(within), Some(step)) => match self.window_part(taken, within, step)? {
                Some(part) => part,
                None => return Ok(None),
            },
            (SelectionReach::Row, Some(step)) => match self.row_part(taken, step)? {
                Some(part) => part,
                None => return Ok(None),
            },
        };
        let mut unsure = taken.unsure.iter().map(|place| *place as usize);
        if unsure.any(|place| part.holds(place)) {
            return Ok(None);
        }
        match &taken.fault {
            Some((place, fault)) if part.holds(*place) => Err(fault.clone()),
            _ => Ok(Some(part)),
        }
    }

    pub(super) fn list_of(
        &mut self,
        taken: &SelectedSteps<'run>,
        part: &SelectionPart,
        selection: &CompiledSelection,
    ) -> Result<Node<'run>, Fault> {
        if selection.value.is_none() {
            let value = Value::Number(Number::from_count(part.step_count()));
            return Ok(if taken.by_missing { Node::from_nowhere(value) } else { Node::computed(value) });
        }
        // Of what is not known mostly all stands at the end: then the rest is a beginning of the list.
        let (mut before, mut unknown) = (part.before, part.unknown.as_slice());
        while let [rest @ .., last] = unknown
            && before.checked_sub(1) == Some(*last as usize)
        {
            (before, unknown) = (*last as usize, rest);
        }
        let mut values = taken.values.get(part.from..before).unwrap_or_default();
        if !unknown.is_empty() {
            self.meter.charge_fuel(values.len() as u64)?;
            let placed = (part.from..).zip(values);
            let kept = placed.filter(|(place, _)| part.holds(*place)).map(|(_, node)| *node);
            let kept: Vec<Node<'run>> = kept.collect();
            values = self.in_arena(&kept)?;
        }
        if self.fills_list(taken, selection) {
            let mut filled = values.to_vec();
            filled.push(Node::computed(Value::Absent));
            values = self.in_arena(&filled)?;
        }
        let value = Value::List(values);
        let nowhere = taken.by_missing || values.is_empty() && !taken.comes_later(selection);
        Ok(if nowhere { Node::from_nowhere(value) } else { Node::computed(value) })
    }

    /// Positions of earlier steps that had not ended before a call, or were requested in its turn, in order.
    fn unknown_places(
        &mut self,
        taken: &SelectedSteps<'run>,
        before: usize,
        step: &'run Step<'run>,
    ) -> Result<Vec<u32>, Fault> {
        let mut found: Vec<u32> = Vec::new();
        if step.kind != StepKind::Call {
            return Ok(found);
        }
        if let Some(start) = step.start {
            // Ends grow mostly: behind the last one that had come everything is known.
            for place in (0..before).rev() {
                if taken.ends.get(place).is_none_or(|end| *end <= start) {
                    break;
                }
                self.meter.charge_fuel(1)?;
                found.push(u32::try_from(place).unwrap_or(u32::MAX));
            }
        }
        let of_turn = step.turn.and_then(|turn| taken.turns.get(&turn));
        found.extend(of_turn.into_iter().flatten().filter(|place| (**place as usize) < before));
        self.meter.charge_fuel(found.len() as u64)?;
        let steps = self.run.steps;
        let is_unknown = |place: &u32| {
            let earlier = taken.steps.get(*place as usize).and_then(|(one, _)| steps.get(*one as usize));
            earlier.is_some_and(|earlier| unknown_cause(earlier, step).is_some())
        };
        found.retain(is_unknown);
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn step_position(&self, step: &'run Step<'run>) -> Result<u32, Fault> {
        let first = self.run.steps.as_ptr() as usize;
        let offset = (std::ptr::from_ref(step) as usize).checked_sub(first).ok_or_else(broken_program)?;
        u32::try_from(offset.checked_div(size_of::<Step<'run>>()).ok_or_else(broken_program)?)
            .map_err(|_| broken_program())
    }

    pub(super) fn in_arena(&mut self, values: &[Node<'run>]) -> Result<&'run [Node<'run>], Fault> {
        self.meter.charge_memory(std::mem::size_of_val(values))?;
        Ok(self.arena.alloc_slice_copy(values))
    }

    fn take_steps(
        &mut self,
        number: u32,
        selection: &'run CompiledSelection,
        given: &GivenValues<'run>,
    ) -> Result<Rc<SelectedSteps<'run>>, Fault> {
        let key = (number, given.iter().map(|node| node.map(|node| ValueKey(node.value))).collect());
        let known = if self.selections.joins_near { &self.selections.near_taken } else { &self.selections.taken };
        if let Some(known) = known.get(&key) {
            return Ok(Rc::clone(known));
        }
        let candidates = self.pattern_candidates(number, selection)?;
        let taken = Rc::new(self.take_candidates(&candidates, selection, given)?);
        let known =
            if self.selections.joins_near { &mut self.selections.near_taken } else { &mut self.selections.taken };
        known.insert(key, Rc::clone(&taken));
        Ok(taken)
    }

    /// Sets whether values that are nearly equal are one value for lists of steps; gives what was set before.
    pub(super) fn joins_near_values(&mut self, joins: bool) -> bool {
        std::mem::replace(&mut self.selections.joins_near, joins)
    }
}

impl SelectedSteps<'_> {
    /// True if an empty `so far` list is filled by later steps: no mistake in the rule.
    pub(super) fn comes_later(&self, selection: &CompiledSelection) -> bool {
        let brings = |node: &Node<'_>| !matches!(node.value, Value::Missing);
        matches!(selection.reach, SelectionReach::SoFar | SelectionReach::StartedSoFar)
            && self.values.iter().any(brings)
    }

    fn add_step(&mut self, step: Option<(u32, Truth)>) {
        if let Some((step, truth)) = step
            && truth.plain_answer() != Some(false)
        {
            self.steps.push((step, truth.plain_answer() == Some(true)));
        }
    }

    fn note_kinds(&mut self, steps: &[Step<'_>]) {
        for step in self.steps.iter().filter_map(|(number, _)| steps.get(*number as usize)) {
            if !self.kinds.contains(&step.kind) {
                self.kinds.push(step.kind);
            }
        }
    }

    fn index_steps(&mut self, steps: &[Step<'_>]) {
        let mut greatest = f64::NEG_INFINITY;
        for (place, (number, sure)) in (0_u32..).zip(&self.steps) {
            self.unsure.extend((!sure).then_some(place));
            let Some(step) = steps.get(*number as usize) else { continue };
            if step.kind == StepKind::Call {
                greatest = step.end.map_or(greatest, |end| greatest.max(end));
                if let Some(turn) = step.turn {
                    self.turns.entry(turn).or_default().push(place);
                }
            }
            self.ends.push(greatest);
        }
    }
}
