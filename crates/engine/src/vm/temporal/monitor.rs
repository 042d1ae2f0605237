//! What a monitor is, and how the recorded matches of a window are played to it.
//!
//! A monitor keeps a small state, takes the hits of one step at a time, and can say after every step where its statement stands.

use super::plan::StepKindSet;
use super::statements::ExerciseState;
use super::timeline::{Env, MatchEvent, Timeline, ValueId, to_index};
use super::view::{Hit, MonitorView, PairFit, env_key};
use crate::vm::fault::Fault;
use crate::vm::outcome::{VerdictEvidence, ViolationList};
use averment_runs::run::{Step, StepKind};
use smallvec::SmallVec;

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
    /// For statements with their own notion of exercise: whether they are exercised if they hold.
    pub(super) exercised: Option<ExerciseState>,
}

impl PossibleOutcomes {
    pub(super) fn from_failure(fails: bool) -> Self {
        Self { may_fail: fails, may_hold: !fails, ..Self::default() }
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

    pub(super) fn fails_for_good(fails: bool) -> Self {
        Self { failed_for_good: fails, ..Self::from_failure(fails) }
    }

    pub(super) fn holds_for_good(holds: bool) -> Self {
        Self { passed_for_good: holds, ..Self::from_failure(!holds) }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct VerdictReason {
    pub(super) reason: String,
    /// A minimal set of steps and values that proves it.
    pub(super) evidence: Vec<VerdictEvidence>,
    pub(super) violations: ViolationList,
}

pub(super) trait Monitor<'run> {
    /// Takes the hits of one step, by operand. Steps come in order; steps without hits are skipped.
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault>;

    fn possible_outcomes(&mut self, view: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault>;

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason;

    fn describe_state(&self, _: &mut MonitorView<'_, 'run>) -> String {
        String::new()
    }

    fn explain_pass(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        super::explain::pass_reason(view)
    }

    /// True if no further hit can change this replica's result.
    fn is_settled(&self) -> bool {
        false
    }

    fn only_adds_failures(&self) -> bool {
        false
    }

    /// True if it considers all answers to unknowns itself, so that one replica is enough.
    fn sees_all_answers(&self) -> bool {
        false
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct PlayedMatches {
    pub(super) operands: SmallVec<[PatternPresence; 4]>,
    pub(super) unknown: Option<Hit>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PatternPresence {
    pub(super) sure: bool,
    pub(super) possible: bool,
}

/// Plays a window's matches until the monitor is settled; `selected` are the events that the header's values allow.
pub(super) fn play_matches<'run>(
    monitor: &mut dyn Monitor<'run>,
    view: &mut MonitorView<'_, 'run>,
    selected: &[EventSelection],
) -> Result<PlayedMatches, Fault> {
    // Whatever tests on other steps come to has to be looked at: one of them may be an error.
    let may_stop = !view.operands.iter().any(|operand| operand.joined);
    let mut player = EventPlayer::new(view, selected);
    while let Some(step) = player.next(view)? {
        player.play_hits(monitor, view, step)?;
        if may_stop && monitor.is_settled() {
            if view.listed > 0 && monitor.only_adds_failures() {
                return Ok(player.list_failures(monitor, view));
            }
            break;
        }
    }
    Ok(player.seen)
}

/// Called before each step with that step, and once at the end without one.
pub(super) type MonitorObserver<'w, 'run> = dyn FnMut(&mut dyn Monitor<'run>, &mut MonitorView<'_, 'run>, &PlayedMatches, Option<u32>) -> Result<(), Fault>
    + 'w;

pub(super) fn play_watched<'run>(
    monitor: &mut dyn Monitor<'run>,
    view: &mut MonitorView<'_, 'run>,
    selected: &[EventSelection],
    watch: &mut MonitorObserver<'_, 'run>,
) -> Result<PlayedMatches, Fault> {
    let mut player = EventPlayer::new(view, selected);
    while let Some(step) = player.next(view)? {
        watch(monitor, view, &player.seen, Some(step))?;
        player.play_hits(monitor, view, step)?;
    }
    watch(monitor, view, &player.seen, None)?;
    Ok(player.seen)
}

struct EventPlayer<'s> {
    cursors: SmallVec<[EventCursor<'s>; 4]>,
    hits: SmallVec<[Hit; 2]>,
    seen: PlayedMatches,
}

impl<'s> EventPlayer<'s> {
    fn new<'run>(view: &MonitorView<'s, 'run>, selected: &'s [EventSelection]) -> Self {
        let timeline = view.timeline;
        let operands = selected.iter().map(|_| PatternPresence::default()).collect();
        let cursors = selected.iter().map(|selection| EventCursor::new(selection, timeline)).collect();
        Self { cursors, hits: SmallVec::new(), seen: PlayedMatches { operands, unknown: None } }
    }

    fn next(&mut self, view: &mut MonitorView<'_, '_>) -> Result<Option<u32>, Fault> {
        loop {
            let step = self.cursors.iter().map(|cursor| cursor.step).min().unwrap_or(BEHIND);
            if step == BEHIND {
                return Ok(None);
            }
            self.hits.clear();
            for (operand, cursor) in self.cursors.iter_mut().enumerate() {
                while cursor.step == step {
                    view.spend_fuel(1)?;
                    self.hits.extend(cursor.current_hit(operand, view)?);
                    cursor.advance();
                }
            }
            if !self.hits.is_empty() {
                return Ok(Some(step));
            }
        }
    }

    /// Plays the rest to a monitor that failed for good, only to list further failures.
    fn list_failures<'run>(
        mut self,
        monitor: &mut dyn Monitor<'run>,
        view: &mut MonitorView<'_, 'run>,
    ) -> PlayedMatches {
        let (seen, unknown) = (self.seen.clone(), view.unknown);
        while let Ok(Some(step)) = self.next(view) {
            if self.play_hits(monitor, view, step).is_err() {
                break;
            }
        }
        view.unknown = unknown;
        seen
    }

    fn play_hits<'run>(
        &mut self,
        monitor: &mut dyn Monitor<'run>,
        view: &mut MonitorView<'_, 'run>,
        step: u32,
    ) -> Result<(), Fault> {
        let call = if view.places { call_position(step, view) } else { None };
        for hit in &mut self.hits {
            hit.call = call;
            self.seen.note_hit(hit);
        }
        monitor.observe_hits(&self.hits, view)
    }
}

impl PlayedMatches {
    fn note_hit(&mut self, hit: &Hit) {
        if let Some(operand) = self.operands.get_mut(hit.operand) {
            operand.possible = true;
            operand.sure |= hit.sure;
        }
        if !hit.sure && self.unknown.is_none() {
            self.unknown = Some(hit.clone());
        }
    }
}

fn call_position(step: u32, view: &MonitorView<'_, '_>) -> Option<u32> {
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
pub(super) enum EventSelection {
    Range(super::plan::UniquePatternId, std::ops::Range<u32>),
    List(super::plan::UniquePatternId, Vec<u32>),
}

impl EventSelection {
    fn unique_pattern(&self) -> super::plan::UniquePatternId {
        match self {
            Self::Range(unique, _) | Self::List(unique, _) => *unique,
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Range(_, range) => range.len(),
            Self::List(_, list) => list.len(),
        }
    }

    pub(super) fn step_kinds(&self, timeline: &Timeline<'_>, steps: &[Step<'_>]) -> StepKindSet {
        let all = timeline.matches_of(self.unique_pattern()).map_or(StepKindSet::default(), |matches| matches.kinds);
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
        let events = timeline.matches_of(self.unique_pattern()).map_or(&[][..], |matches| matches.events.as_slice());
        let (range, list) = match self {
            Self::Range(_, range) => (range.clone(), &[][..]),
            Self::List(_, list) => (0..0, list.as_slice()),
        };
        range.chain(list.iter().copied()).filter_map(|number| Some((number, *events.get(number as usize)?)))
    }
}

/// A step number after all steps.
const BEHIND: u32 = u32::MAX;

struct EventCursor<'s> {
    events: &'s [MatchEvent],
    selection: &'s EventSelection,
    at: u32,
    /// The step of the current event; [`BEHIND`] at the end.
    step: u32,
}

impl<'s> EventCursor<'s> {
    fn new(selection: &'s EventSelection, timeline: &'s Timeline<'_>) -> Self {
        let events =
            timeline.matches_of(selection.unique_pattern()).map_or(&[][..], |matches| matches.events.as_slice());
        let mut cursor = Self { events, selection, at: 0, step: BEHIND };
        cursor.update_step();
        cursor
    }

    fn event_number(&self) -> Option<u32> {
        match self.selection {
            EventSelection::Range(_, range) => range.start.checked_add(self.at).filter(|number| *number < range.end),
            EventSelection::List(_, list) => list.get(self.at as usize).copied(),
        }
    }

    fn update_step(&mut self) {
        let event = self.event_number().and_then(|number| self.events.get(number as usize));
        self.step = event.map_or(BEHIND, |event| event.step);
    }

    fn advance(&mut self) {
        self.at += 1;
        self.update_step();
    }

    fn current_hit(&self, operand: usize, view: &mut MonitorView<'_, '_>) -> Result<Option<Hit>, Fault> {
        self.event_number().map_or(Ok(None), |event| admit_event(operand, event, view))
    }
}

/// `None` if the header's values exclude it.
pub(super) fn event_hit(operand: usize, event: u32, view: &MonitorView<'_, '_>) -> Option<Hit> {
    hit_under(operand, event, view, &view.header)
}

pub(super) fn any_hit(operand: usize, event: u32, view: &MonitorView<'_, '_>) -> Option<Hit> {
    hit_under(operand, event, view, &view.header.iter().map(|_| ValueId::OPEN).collect())
}

fn hit_under(operand: usize, event: u32, view: &MonitorView<'_, '_>, header: &Env) -> Option<Hit> {
    let unique = view.operands.get(operand)?.unique;
    let matches = view.timeline.matches_of(unique)?;
    let known = matches.events.get(event as usize)?;
    let names = &view.plan.unique_pattern(unique)?.names;
    let (env, certain) = bind_values(names, matches.value_ids(event, names.len()), header)?;
    Some(Hit { operand, step: known.step, event, sure: known.sure && certain, call: None, env })
}

pub(super) fn admit_event(operand: usize, event: u32, view: &mut MonitorView<'_, '_>) -> Result<Option<Hit>, Fault> {
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

pub(super) fn own_key(hit: &Hit, view: &MonitorView<'_, '_>) -> Env {
    env_key(&hit.env, view.operand_names(hit.operand))
}
