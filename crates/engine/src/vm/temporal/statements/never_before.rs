//! `never B before A`: no B before the first A with its values.
//!
//! An A may help by being the first instead of a later one, so that for unknown A's every choice is looked at: the statement fails for
//! sure only when a sure A comes and no choice of a first A up to it has no B before it.

use super::windows::{AllMonitors, WindowRoles, window_operands};
use super::{ExerciseRule, Polarity, StatementDefinition, StatementSemantics, mixed_operand};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed_form::{
    ClosedVerdict, ConditionOracle, FailingPlace, OccurrenceLookup, Occurrences, is_by_place,
};
use crate::vm::temporal::explain::{reason_with, within_words};
use crate::vm::temporal::failures::FailureList;
use crate::vm::temporal::keys::GroupKeys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Monitor, PossibleOutcomes, VerdictReason, event_hit, operand_hits};
use crate::vm::temporal::recent_occurrences::{Occurrence, RecentOccurrences, bound_holds, step_measure};
use crate::vm::temporal::timeline::{Env, ValueId};
use crate::vm::temporal::view::{Hit, MonitorView, PairFit, PairSide, ReplicaMode, same_values};
use averment_checker::ir::StepDistance;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;

pub(super) fn never_before_statement(
    steps: &[PatternId],
    close: PatternId,
    within: Option<StepDistance>,
) -> StatementDefinition {
    let exercise = ExerciseRule::AnyOf(steps.len()..steps.len() + 1);
    let meaning = NeverBeforeSemantics { steps: steps.len(), within };
    StatementDefinition::new(window_operands(steps, [mixed_operand(close)]), exercise, meaning)
        .in_order()
        .with_bound(within)
}

#[derive(Debug)]
struct NeverBeforeSemantics {
    steps: usize,
    within: Option<StepDistance>,
}

impl StatementSemantics for NeverBeforeSemantics {
    fn is_closed(&self, _: bool) -> bool {
        is_by_place(self.within)
    }

    fn closed_form(
        &self,
        search: &OccurrenceLookup<'_, '_>,
        _: &mut dyn ConditionOracle,
    ) -> Result<Option<ClosedVerdict>, Fault> {
        let edge = self.steps;
        let Some(close) = search.operand_occurrences(edge) else { return Ok(None) };
        let places = search.list_places(search.occurrences_from(0).take(edge).flat_map(|(operand, occurrences)| {
            let caught = self.caught_events(search, occurrences, close);
            caught.map(move |(event, first)| FailingPlace {
                others: (Some(first), None),
                ..FailingPlace::new(operand, occurrences, event)
            })
        }));
        Ok(Some(search.fails_at(places, move |view, place| {
            Some(before_first(view, &event_hit(edge, place.others.0?, view)?, place.operand, place.step))
        })))
    }

    fn build_monitor<'run>(&self, view: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(AllMonitors::new(view, self.steps, |roles| NeverBeforeMonitor::new(view, roles, self.within))))
    }
}

impl NeverBeforeSemantics {
    /// B's before the first A of their values, with that A; only one unless more are listed.
    fn caught_events<'s>(
        &'s self,
        search: &'s OccurrenceLookup<'_, '_>,
        operand: Occurrences<'s>,
        close: Occurrences<'s>,
    ) -> impl Iterator<Item = (u32, u32)> + 's {
        let lists = search.lists_failures();
        let nearest = move |first: u32| {
            let (key, step) = (close.event_key(first), close.event_step(first));
            let event = operand.last_before(key, step)?;
            let is_first = !close.is_before(key, step);
            (is_first && search.is_within(self.within, operand.event_step(event), step)).then_some((event, first))
        };
        let one = (!lists).then(|| search.by_values(close).find_map(nearest));
        let caught = move |event: u32| {
            let first = close
                .first_of(operand.event_key(event))
                .filter(|first| close.event_step(*first) > operand.event_step(event))?;
            search.is_within(self.within, operand.event_step(event), close.event_step(first)).then_some((event, first))
        };
        let all = operand.event_numbers().take(if lists { usize::MAX } else { 0 }).filter_map(caught);
        one.flatten().into_iter().chain(all)
    }
}

struct NeverBeforeMonitor {
    roles: WindowRoles,
    within: Option<StepDistance>,
    steps: MatchIndex<BeforeFirstGroup>,
    /// A's, for B's that come later with new values: they may be the first A for these, too.
    closes: MatchIndex<Vec<Hit>>,
    caught: FailureList<(Hit, u32)>,
    counted: FxHashSet<u32>,
}

#[derive(Default)]
struct BeforeFirstGroup {
    /// False until earlier A's have been considered.
    known: bool,
    recent: RecentOccurrences,
    all: Vec<Occurrence>,
    firsts: FxHashMap<Env, FirstClosing>,
    /// An A with an unrecorded value has no B before it, and may be the first for any values.
    wild_safe: bool,
}

#[derive(Default)]
struct FirstClosing {
    came: bool,
    safe: bool,
}

struct ClosingHit<'h> {
    hit: &'h Hit,
    env: &'h Env,
    sure: bool,
    step_is_sure: bool,
}

impl<'h> ClosingHit<'h> {
    /// Uncertainty of the fit may come from the A or from the B's.
    fn from_fit(hit: &'h Hit, step: PairSide<'h>, fit: PairFit, view: &mut MonitorView<'_, '_>) -> Result<Self, Fault> {
        let (own, others) = match fit {
            PairFit::Unknown => {
                let values = same_values(&hit.env, step.env);
                (values.and(view.test_fit(hit.as_side(), step)?), view.test_fit(step, hit.as_side())?)
            }
            fit => (fit, fit),
        };
        let (sure, step_is_sure) = (hit.sure && own == PairFit::Yes, others == PairFit::Yes);
        Ok(Self { hit, env: step.env, sure, step_is_sure })
    }
}

impl NeverBeforeMonitor {
    fn new(view: &MonitorView<'_, '_>, roles: WindowRoles, within: Option<StepDistance>) -> Self {
        Self {
            roles,
            within,
            steps: MatchIndex::new(GroupKeys::between_operands(view, roles.step, roles.edge)),
            closes: MatchIndex::new(GroupKeys::between_operands(view, roles.edge, roles.step)),
            caught: FailureList::for_view(view),
            counted: FxHashSet::default(),
        }
    }

    fn add_closing(&mut self, hit: &Hit, view: &mut MonitorView<'_, '_>) -> Result<(), Fault> {
        view.unknown |= !hit.sure;
        self.closes.add_match(view, hit, &hit.env, |closes| closes.push(hit.clone()))?;
        let (within, edge, caught, counted) = (self.within, self.roles.edge, &mut self.caught, &mut self.counted);
        let now = view.step(hit.step).and_then(|step| step_measure(within, step));
        self.steps.visit_groups(view, hit.as_side(), |group, fit, view| {
            let step = PairSide { event: Some(group.event), env: &group.env };
            let closing = ClosingHit::from_fit(hit, step, fit, view)?;
            let earlier = group.data.check_closing(&closing, edge, within, view);
            let Some(nearest) = earlier else { return Ok(ControlFlow::Continue(())) };
            if view.listed == 0 {
                caught.push((hit.clone(), nearest));
                return Ok(ControlFlow::Break(()));
            }
            let near = |one: &&Occurrence| bound_holds(within, one.measure, now) == Some(true) || one.step == nearest;
            let steps = group.data.all.iter().filter(near).map(|one| one.step).filter(|step| counted.insert(*step));
            caught.extend(steps.map(|step| (hit.clone(), step)));
            Ok(ControlFlow::Continue(()))
        })
    }

    fn add_hit(&mut self, hit: &Hit, view: &mut MonitorView<'_, '_>) -> Result<(), Fault> {
        let mut known = false;
        self.steps.add_match(view, hit, &hit.env, |before| known = std::mem::replace(&mut before.known, true))?;
        let mut earlier: Vec<(Hit, PairFit)> = Vec::new();
        if !known {
            self.closes.visit_groups(view, hit.as_side(), |group, fit, _| {
                earlier.extend(group.data.iter().map(|close| (close.clone(), fit)));
                Ok(ControlFlow::Continue(()))
            })?;
            earlier.sort_by_key(|(close, _)| close.step);
        }
        let measure = view.step(hit.step).and_then(|step| step_measure(self.within, step));
        let (within, edge) = (self.within, self.roles.edge);
        view.spend_fuel(1 + earlier.len())?;
        let closings = earlier.iter().map(|(close, fit)| ClosingHit::from_fit(close, hit.as_side(), *fit, view));
        let closings = closings.collect::<Result<Vec<_>, Fault>>()?;
        if let Some(before) = self.steps.latest_data(hit) {
            for closing in &closings {
                before.check_closing(closing, edge, within, view);
            }
            before.recent.push_occurrence(Occurrence { step: hit.step, measure });
            if view.listed > 0 {
                before.all.push(Occurrence { step: hit.step, measure });
            }
        }
        Ok(())
    }
}

impl BeforeFirstGroup {
    fn check_closing(
        &mut self,
        closing: &ClosingHit<'_>,
        edge: usize,
        within: Option<StepDistance>,
        view: &mut MonitorView<'_, '_>,
    ) -> Option<u32> {
        let ClosingHit { hit, env, sure, step_is_sure } = *closing;
        view.unknown |= !sure;
        let own = closing_values(view.operand_names(edge), hit, env);
        let wild = own.contains(&ValueId::ABSENT);
        let first = self.firsts.entry(own).or_default();
        if first.came {
            return None;
        }
        let now = view.step(hit.step).and_then(|step| step_measure(within, step));
        let found = self.recent.find_occurrence(None, within, now);
        let sure_before = found.sure.filter(|_| step_is_sure);
        let may_be_before = found.sure.or(found.unknown);
        let earlier = sure_before.or_else(|| may_be_before.filter(|_| view.assume_answer(Polarity::Hurts)));
        first.came = sure && !wild;
        first.safe |= earlier.is_none();
        self.wild_safe |= wild && earlier.is_none();
        let fails = match view.mode {
            ReplicaMode::Pessimistic => true,
            ReplicaMode::Optimistic => sure && !first.safe && !self.wild_safe,
        };
        earlier.filter(|_| fails).map(|occurrence| occurrence.step)
    }
}

fn closing_values(names: &[u32], hit: &Hit, env: &Env) -> Env {
    let of = |env: &Env, name: u32| env.get(name as usize).copied().unwrap_or(ValueId::OPEN);
    let value = |name: &u32| match (of(&hit.env, *name), of(env, *name)) {
        (own, other) if !own.is_value() && other.is_value() => other,
        (own, _) => own,
    };
    names.iter().map(value).collect()
}

impl<'run> Monitor<'run> for NeverBeforeMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        if !self.caught.is_empty() && view.listed == 0 {
            return Ok(());
        }
        for hit in operand_hits(hits, self.roles.edge) {
            // One that leaves a name open is the first for each value that has none before it.
            for hit in &view.spread_open(hit)? {
                self.add_closing(hit, view)?;
            }
        }
        for hit in operand_hits(hits, self.roles.step) {
            if view.counts_match(hit) {
                self.add_hit(hit, view)?;
            }
        }
        Ok(())
    }

    fn possible_outcomes(&mut self, _: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        Ok(PossibleOutcomes::fails_for_good(!self.caught.is_empty()))
    }

    fn is_settled(&self) -> bool {
        !self.caught.is_empty()
    }

    fn only_adds_failures(&self) -> bool {
        true
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        let operand = self.roles.step;
        let caught = FailureList::join_parts(view, std::iter::once(self.caught.clone()), |(_, earlier)| *earlier);
        caught.explain_places(view, |view, (hit, earlier)| Some(before_first(view, hit, operand, *earlier)))
    }
}

fn before_first(view: &mut MonitorView<'_, '_>, hit: &Hit, operand: usize, earlier: u32) -> VerdictReason {
    let within = within_words(view.statement_bound());
    let reason = format!("{} comes{within} before {}", view.describe_step(earlier), view.describe_step(hit.step));
    let mut evidence = vec![view.step_proof(earlier, operand, Role::Decisive, String::new())];
    evidence.push(view.step_proof(hit.step, hit.operand, Role::Closing, String::new()));
    view.bound_values(hit, Role::Value, &mut evidence);
    reason_with(reason, evidence)
}
