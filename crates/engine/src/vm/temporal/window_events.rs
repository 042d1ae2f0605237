//! What is said of a window: where a statement may stand, what was seen of its patterns, which events are matches in it.

use super::plan::{StepKindSet, UniquePatternId};
use super::timeline::{Env, MatchEvent, Timeline, ValueId, to_index};
use super::view::{Hit, PairFit, WindowView, env_key};
use crate::vm::fault::Fault;
use crate::vm::outcome::{VerdictEvidence, ViolationList};
use averment_runs::run::{Step, StepKind};
use smallvec::SmallVec;
use std::ops::Range;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PossibleOutcomes {
    /// It fails for some answer to what is unknown.
    pub(super) may_fail: bool,
    pub(super) may_hold: bool,
    /// For some answer it is undecided by itself (`never … between` with a window that never closes).
    pub(super) may_hang: bool,
    /// It failed, and no longer run can change that.
    pub(super) failed_for_good: bool,
    /// It passed, and no longer run can change that.
    pub(super) passed_for_good: bool,
    pub(super) by_missing: bool,
    /// It fails by values that are no evidence, so that the fail proves nothing.
    pub(super) fails_unproved: bool,
    /// For statements with their own notion of exercise: whether they are exercised if they hold.
    pub(super) exercised: Option<KnownPresence>,
}

impl PossibleOutcomes {
    /// Of a statement that holds if something is there.
    pub(super) fn wanted(is_sure: bool, is_possible: bool) -> Self {
        Self { may_fail: !is_sure, may_hold: is_possible, ..Self::default() }
    }

    /// Of a statement that fails, and for good, if something is there.
    pub(super) fn unwanted(is_sure: bool, is_possible: bool) -> Self {
        Self { may_fail: is_possible, may_hold: !is_sure, failed_for_good: is_sure, ..Self::default() }
    }

    pub(super) fn merge_with(self, other: Self) -> Self {
        Self {
            may_fail: self.may_fail || other.may_fail,
            may_hold: self.may_hold || other.may_hold,
            may_hang: self.may_hang || other.may_hang,
            by_missing: self.by_missing || other.by_missing,
            ..self
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct VerdictReason {
    pub(super) reason: String,
    /// A minimal set of steps and values that proves it.
    pub(super) evidence: Vec<VerdictEvidence>,
    pub(super) violations: ViolationList,
}

#[derive(Debug, Clone, Default)]
pub(super) struct SeenPatterns {
    pub(super) operands: SmallVec<[KnownPresence; 4]>,
    pub(super) unknown: Option<Hit>,
}

/// Whether something is there for sure, and whether it may be: a match of a pattern, or what exercises a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct KnownPresence {
    pub(super) sure: bool,
    pub(super) possible: bool,
}

impl KnownPresence {
    /// Of something of which the run tells.
    pub(super) fn of(is_there: bool) -> Self {
        Self { sure: is_there, possible: is_there }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self { sure: self.sure || other.sure, possible: self.possible || other.possible }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { sure: self.sure && other.sure, possible: self.possible && other.possible }
    }
}

impl SeenPatterns {
    pub(super) fn note_hit(&mut self, hit: &Hit) {
        if let Some(operand) = self.operands.get_mut(hit.operand) {
            operand.possible = true;
            operand.sure |= hit.sure;
        }
        if !hit.sure && self.unknown.is_none() {
            self.unknown = Some(hit.clone());
        }
    }
}

pub(super) fn call_position(step: u32, view: &WindowView<'_, '_>) -> Option<u32> {
    let info = view.step(step)?;
    if info.kind != StepKind::Call {
        return None;
    }
    if info.status.is_executed()
        && let Some(first) = view.calls.first().and_then(|first| view.step(*first))
        && first.status.is_executed()
    {
        return info.call_position.checked_sub(first.call_position);
    }
    view.calls.binary_search(&step).ok().map(to_index)
}

#[derive(Debug, Clone)]
pub(super) struct EventSelection {
    pub(super) unique: UniquePatternId,
    pub(super) range: Range<u32>,
    /// Those in the range that have the value of a header, if it gives one.
    pub(super) list: Option<Vec<u32>>,
}

impl EventSelection {
    pub(super) fn len(&self) -> usize {
        self.list.as_ref().map_or(self.range.len(), Vec::len)
    }

    pub(super) fn step_kinds(&self, timeline: &Timeline<'_>, steps: &[Step<'_>]) -> StepKindSet {
        let all = timeline.matches_of(self.unique).map_or(StepKindSet::default(), |matches| matches.kinds);
        let mut events = self.numbered_events(timeline).filter_map(|(_, event)| steps.get(event.step as usize));
        if all.iter().nth(1).is_none() {
            // Nearly every pattern is of one kind.
            return events.next().map_or(StepKindSet::default(), |_| all);
        }
        let mut kinds = StepKindSet::default();
        events.for_each(|step| kinds.add_kind(step.kind));
        kinds
    }

    pub(super) fn numbered_events<'t>(
        &'t self,
        timeline: &'t Timeline<'_>,
    ) -> impl Iterator<Item = (u32, MatchEvent)> + 't {
        let events = timeline.matches_of(self.unique).map_or(&[][..], |matches| matches.events.as_slice());
        let (range, list) = match &self.list {
            None => (self.range.clone(), &[][..]),
            Some(list) => (0..0, list.as_slice()),
        };
        range.chain(list.iter().copied()).filter_map(|number| Some((number, *events.get(number as usize)?)))
    }
}

/// `None` if the header's values exclude it.
pub(super) fn event_hit(operand: usize, event: u32, view: &WindowView<'_, '_>) -> Option<Hit> {
    hit_under(operand, event, view, &view.header)
}

pub(super) fn any_hit(operand: usize, event: u32, view: &WindowView<'_, '_>) -> Option<Hit> {
    hit_under(operand, event, view, &view.header.iter().map(|_| ValueId::OPEN).collect())
}

fn hit_under(operand: usize, event: u32, view: &WindowView<'_, '_>, header: &Env) -> Option<Hit> {
    let matches = view.matches_of(operand)?;
    let known = matches.events.get(event as usize)?;
    let names = &view.unique_pattern(operand)?.names;
    let (env, certain) = bind_values(names, matches.value_ids(event, names.len()), header)?;
    Some(Hit { operand, step: known.step, event, sure: known.sure && certain, env })
}

pub(super) fn admit_event(operand: usize, event: u32, view: &mut WindowView<'_, '_>) -> Result<Option<Hit>, Fault> {
    let Some(hit) = event_hit(operand, event, view) else { return Ok(None) };
    if !view.has_joins(operand) {
        return Ok(Some(hit));
    }
    Ok(match view.joins_of(hit.operand, hit.event, &hit.env)? {
        PairFit::Yes => Some(hit),
        PairFit::Unknown => Some(Hit { sure: false, ..hit }),
        PairFit::No => None,
    })
}

/// Values not given by the header, and whether the header's surely agree; `None` if they differ.
pub(super) fn bind_values(names: &[u32], value_ids: &[ValueId], header: &Env) -> Option<(Env, bool)> {
    let mut env: Env = smallvec::smallvec![ValueId::OPEN; header.len()];
    let mut certain = true;
    for (name, id) in names.iter().zip(value_ids) {
        let given = header.get(*name as usize).copied().unwrap_or(ValueId::OPEN);
        if given == ValueId::OPEN {
            if let Some(cell) = env.get_mut(*name as usize) {
                *cell = *id;
            }
        } else if *id == ValueId::ABSENT || (given == ValueId::ABSENT && *id != ValueId::OPEN) {
            certain = false;
        } else if *id != ValueId::OPEN && *id != given {
            return None;
        }
    }
    Some((env, certain))
}

pub(super) fn operand_hits(hits: &[Hit], operand: usize) -> impl Iterator<Item = &Hit> {
    hits.iter().filter(move |hit| hit.operand == operand)
}

pub(super) fn own_key(hit: &Hit, view: &WindowView<'_, '_>) -> Env {
    env_key(&hit.env, view.operand_names(hit.operand))
}

/// All matches in the order of steps; those of one step by operand.
#[derive(Debug, Default)]
pub(super) struct WindowHits {
    hits: Vec<Hit>,
    of_operand: SmallVec<[Vec<u32>; 3]>,
}

impl WindowHits {
    pub(super) fn gather(view: &mut WindowView<'_, '_>) -> Result<(Self, SeenPatterns), Fault> {
        let (timeline, selected, end) = (view.timeline, view.selected, view.context.window.end);
        let mut hits: Vec<Hit> = Vec::new();
        for (operand, selection) in selected.iter().enumerate() {
            for (event, _) in selection.numbered_events(timeline).take_while(|(_, event)| (event.step as usize) < end) {
                view.spend_fuel(1)?;
                hits.extend(admit_event(operand, event, view)?);
            }
        }
        if selected.len() > 1 {
            hits.sort_by_key(|hit| hit.step);
        }
        let mut found = Self { of_operand: selected.iter().map(|_| Vec::new()).collect(), hits };
        let mut seen = SeenPatterns { operands: selected.iter().map(|_| Default::default()).collect(), unknown: None };
        for (number, hit) in (0..).zip(&found.hits) {
            seen.note_hit(hit);
            found.of_operand.get_mut(hit.operand).into_iter().for_each(|of_operand| of_operand.push(number));
        }
        Ok((found, seen))
    }

    /// The matches of each step.
    pub(super) fn steps(&self) -> impl Iterator<Item = &[Hit]> {
        self.hits.chunk_by(|one, other| one.step == other.step)
    }

    pub(super) fn all(&self) -> &[Hit] {
        &self.hits
    }

    pub(super) fn operand_count(&self) -> usize {
        self.of_operand.len()
    }

    pub(super) fn count(&self, operand: usize) -> u32 {
        self.of_operand.get(operand).map_or(0, |of_operand| to_index(of_operand.len()))
    }

    pub(super) fn get(&self, operand: usize, number: u32) -> Option<&Hit> {
        self.hits.get(*self.of_operand.get(operand)?.get(number as usize)? as usize)
    }

    pub(super) fn of_operand(&self, operand: usize) -> impl Iterator<Item = &Hit> {
        (0..self.count(operand)).filter_map(move |number| self.get(operand, number))
    }

    /// The matches of an operand at a step.
    pub(super) fn at(&self, operand: usize, step: u32) -> impl Iterator<Item = &Hit> {
        let from = self.hits.partition_point(|hit| hit.step < step);
        let of_step = self.hits.get(from..).unwrap_or(&[]).iter().take_while(move |hit| hit.step == step);
        of_step.filter(move |hit| hit.operand == operand)
    }
}
