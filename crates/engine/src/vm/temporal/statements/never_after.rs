//! `never B after A [until C]`: no B in a window that an A opens and a C closes.

use super::windows::{
    AllMonitors, ForbiddenWindow, WindowHit, WindowOpenings, WindowRoles, in_window, window_operands,
};
use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operand, hurting_operand};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::temporal::closed_form::{
    ClosedVerdict, ConditionOracle, FailingPlace, OccurrenceLookup, Occurrences, is_by_place,
};
use crate::vm::temporal::failures::FailureList;
use crate::vm::temporal::monitor::{Monitor, PossibleOutcomes, VerdictReason, event_hit, operand_hits};
use crate::vm::temporal::view::{Hit, MonitorView};
use averment_checker::ir::StepDistance;

pub(super) fn never_after_statement(
    steps: &[PatternId],
    open: PatternId,
    until: Option<PatternId>,
    within: Option<StepDistance>,
) -> StatementDefinition {
    let operands = window_operands(steps, std::iter::once(hurting_operand(open)).chain(until.map(helping_operand)));
    let exercise = ExerciseRule::AnyOf(steps.len()..steps.len() + 1);
    StatementDefinition::new(operands, exercise, NeverAfterSemantics { steps: steps.len(), within })
        .in_order()
        .with_bound(within)
}

#[derive(Debug)]
struct NeverAfterSemantics {
    steps: usize,
    within: Option<StepDistance>,
}

impl StatementSemantics for NeverAfterSemantics {
    fn is_closed(&self, _: bool) -> bool {
        is_by_place(self.within)
    }

    fn closed_form(
        &self,
        search: &OccurrenceLookup<'_, '_>,
        _: &mut dyn ConditionOracle,
    ) -> Result<Option<ClosedVerdict>, Fault> {
        let steps = self.steps;
        let (Some(open), until) = (search.operand_occurrences(steps), search.operand_occurrences(steps + 1)) else {
            return Ok(None);
        };
        let close = until.map(|_| steps + 1);
        let places = search.list_places(search.occurrences_from(0).take(steps).flat_map(|(step, operand)| {
            let caught = self.caught_events(search, operand, open, until);
            caught.map(move |(event, edge)| FailingPlace {
                others: (Some(edge), None),
                ..FailingPlace::new(step, operand, event)
            })
        }));
        Ok(Some(search.fails_at(places, move |view, place| {
            let roles = WindowRoles { step: place.operand, edge: steps, close };
            let hit = event_hit(place.operand, place.event, view)?;
            Some(in_window(view, &hit, roles, ForbiddenWindow::After(place.others.0?)))
        })))
    }

    fn build_monitor<'run>(&self, view: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(AllMonitors::new(view, self.steps, |roles| NeverAfterMonitor::new(view, roles, self.within))))
    }
}

impl NeverAfterSemantics {
    /// B's not shielded by a C from the last A before them, with that A; only the first unless more are listed.
    fn caught_events<'s>(
        &'s self,
        search: &'s OccurrenceLookup<'_, '_>,
        operand: Occurrences<'s>,
        open: Occurrences<'s>,
        until: Option<Occurrences<'s>>,
    ) -> impl Iterator<Item = (u32, u32)> + 's {
        let caught = move |event: u32| {
            let (key, step) = (operand.event_key(event), operand.event_step(event));
            let edge = open.event_step(open.last_before(key, step)?);
            let shield =
                until.and_then(|until| Some(until.event_step(until.last_before(key, step.saturating_add(1))?)));
            let shielded = shield.is_some_and(|shield| shield > edge);
            (!shielded && search.is_within(self.within, edge, step)).then_some((event, edge))
        };
        let lists = search.lists_failures();
        // Every B behind the first A is caught.
        let alone = !lists && until.is_none() && self.within.is_none() && search.is_unbound();
        let first = alone.then(|| caught(operand.first_after(&[], open.event_step(open.first_event()?))?));
        let most = if alone {
            0
        } else if lists {
            usize::MAX
        } else {
            1
        };
        first.flatten().into_iter().chain(operand.event_numbers().filter_map(caught).take(most))
    }
}

struct NeverAfterMonitor {
    openings: WindowOpenings,
    caught: FailureList<WindowHit>,
}

impl NeverAfterMonitor {
    fn new(view: &MonitorView<'_, '_>, roles: WindowRoles, within: Option<StepDistance>) -> Self {
        Self { openings: WindowOpenings::new(view, roles, within), caught: FailureList::for_view(view) }
    }
}

impl<'run> Monitor<'run> for NeverAfterMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        let WindowRoles { step, edge, close } = self.openings.roles;
        for hit in hits.iter().filter(|hit| Some(hit.operand) == close) {
            if view.counts_match(hit) {
                self.openings.add_shield(hit, view)?;
            }
        }
        for hit in operand_hits(hits, step) {
            if (self.caught.is_empty() || view.listed > 0) && view.counts_match(hit) {
                let caught = self.openings.opening_steps(hit, false, view)?;
                self.caught.extend(caught.first().map(|(edge, _)| WindowHit { hit: hit.clone(), edge: *edge }));
            }
        }
        for hit in operand_hits(hits, edge) {
            if view.counts_match(hit) {
                self.openings.add_opening(hit, view)?;
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
        let roles = self.openings.roles;
        let window = |caught: &WindowHit| ForbiddenWindow::After(caught.edge);
        self.caught.explain_places(view, |view, caught| Some(in_window(view, &caught.hit, roles, window(caught))))
    }
}
