//! `never B after A [until C]`: no B in a window that an A opens and a C closes.

use super::windows::{All, Caught, ForbiddenWindow, Openings, WindowRoles, behind, in_window};
use super::{Exercise, Meaning, Statement, helps, hurts};
use crate::bytecode::program::PatternId;
use crate::ir::Within;
use crate::vm::fault::Fault;
use crate::vm::temporal::closed::{Asks, Decided, Occurrences, Search, is_by_place};
use crate::vm::temporal::monitor::{Judged, Monitor, Why, hit, of};
use crate::vm::temporal::view::{Hit, View};

/// The definition.
pub(super) fn statement(
    steps: &[PatternId],
    open: PatternId,
    until: Option<PatternId>,
    within: Option<Within>,
) -> Statement {
    let operands = behind(steps, std::iter::once(hurts(open)).chain(until.map(helps)));
    let exercise = Exercise::AnyOf(steps.len()..steps.len() + 1);
    Statement::new(operands, exercise, NeverAfter { steps: steps.len(), within }).in_order().within(within)
}

#[derive(Debug)]
struct NeverAfter {
    /// How many patterns must not occur.
    steps: usize,
    within: Option<Within>,
}

impl Meaning for NeverAfter {
    fn is_closed(&self, _: bool) -> bool {
        is_by_place(self.within)
    }

    fn closed(&self, search: &Search<'_, '_>, _: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let steps = self.steps;
        let (Some(open), until) = (search.operand(steps), search.operand(steps + 1)) else { return Ok(None) };
        let mut caught = search.operands(0).take(steps).filter_map(|(step, operand)| {
            let roles = WindowRoles { step, edge: steps, close: until.map(|_| steps + 1) };
            let (event, edge) = self.first_caught(search, operand, open, until)?;
            Some((roles, event, edge))
        });
        Ok(Some(search.fails(caught.next().map(|(roles, event, edge)| {
            move |view: &mut View<'_, '_>| {
                let hit = hit(roles.step, event, view)?;
                Some(in_window(view, &hit, roles, ForbiddenWindow::After(edge)))
            }
        }))))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(All::new(view, self.steps, |roles| NeverAfterMonitor::new(view, roles, self.within))))
    }
}

impl NeverAfter {
    /// The first B that no C shields from the last A before it, and the step of that A.
    fn first_caught(
        &self,
        search: &Search<'_, '_>,
        operand: Occurrences<'_>,
        open: Occurrences<'_>,
        until: Option<Occurrences<'_>>,
    ) -> Option<(u32, u32)> {
        let caught = |event: u32| {
            let (key, step) = (operand.key(event), operand.step(event));
            let edge = open.step(open.before(key, step)?);
            let shield = until.and_then(|until| Some(until.step(until.before(key, step.saturating_add(1))?)));
            let shielded = shield.is_some_and(|shield| shield > edge);
            (!shielded && search.near(self.within, edge, step)).then_some((event, edge))
        };
        if until.is_none() && self.within.is_none() && search.is_unbound() {
            // Every B behind the first A is caught.
            return caught(operand.after(&[], open.step(open.first()?))?);
        }
        operand.events().find_map(caught)
    }
}

/// The monitor.
struct NeverAfterMonitor {
    openings: Openings,
    caught: Option<Caught>,
}

impl NeverAfterMonitor {
    /// A monitor that has seen nothing.
    fn new(view: &View<'_, '_>, roles: WindowRoles, within: Option<Within>) -> Self {
        Self { openings: Openings::new(view, roles, within), caught: None }
    }
}

impl<'run> Monitor<'run> for NeverAfterMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let WindowRoles { step, edge, close } = self.openings.roles;
        for hit in hits.iter().filter(|hit| Some(hit.operand) == close) {
            if view.counts(hit) {
                self.openings.shield(hit, view)?;
            }
        }
        for hit in of(hits, step) {
            if self.caught.is_none() && view.counts(hit) {
                let caught = self.openings.catch(hit, false, view)?;
                self.caught = caught.first().map(|(edge, _)| Caught { hit: hit.clone(), edge: *edge });
            }
        }
        for hit in of(hits, edge) {
            if view.counts(hit) {
                self.openings.open(hit, view)?;
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        Ok(Judged::fails_for_good(self.caught.is_some()))
    }

    fn is_settled(&self) -> bool {
        self.caught.is_some()
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let Some(caught) = &self.caught else { return Why::default() };
        in_window(view, &caught.hit, self.openings.roles, ForbiddenWindow::After(caught.edge))
    }
}
