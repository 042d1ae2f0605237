//! `never B after A [until C]`: no B in a window that an A opens and a C closes.

use super::windows::{All, Caught, ForbiddenWindow, Openings, WindowRoles, behind, in_window};
use super::{Exercise, Meaning, Statement, helps, hurts};
use crate::bytecode::program::PatternId;
use crate::ir::Within;
use crate::vm::fault::Fault;
use crate::vm::temporal::closed::{Asks, Decided, FailingPlace, Occurrences, Search, is_by_place};
use crate::vm::temporal::failures::Failures;
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
        let close = until.map(|_| steps + 1);
        let places = search.places(search.operands(0).take(steps).flat_map(|(step, operand)| {
            let caught = self.caught(search, operand, open, until);
            caught.map(move |(event, edge)| FailingPlace {
                others: (Some(edge), None),
                ..FailingPlace::new(step, operand, event)
            })
        }));
        Ok(Some(search.fails_at(places, move |view, place| {
            let roles = WindowRoles { step: place.operand, edge: steps, close };
            let hit = hit(place.operand, place.event, view)?;
            Some(in_window(view, &hit, roles, ForbiddenWindow::After(place.others.0?)))
        })))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(All::new(view, self.steps, |roles| NeverAfterMonitor::new(view, roles, self.within))))
    }
}

impl NeverAfter {
    /// The B's that no C shields from the last A before them, with the step of that A; the first alone where no others are listed.
    fn caught<'s>(
        &'s self,
        search: &'s Search<'_, '_>,
        operand: Occurrences<'s>,
        open: Occurrences<'s>,
        until: Option<Occurrences<'s>>,
    ) -> impl Iterator<Item = (u32, u32)> + 's {
        let caught = move |event: u32| {
            let (key, step) = (operand.key(event), operand.step(event));
            let edge = open.step(open.before(key, step)?);
            let shield = until.and_then(|until| Some(until.step(until.before(key, step.saturating_add(1))?)));
            let shielded = shield.is_some_and(|shield| shield > edge);
            (!shielded && search.near(self.within, edge, step)).then_some((event, edge))
        };
        let lists = search.lists();
        // Every B behind the first A is caught.
        let alone = !lists && until.is_none() && self.within.is_none() && search.is_unbound();
        let first = alone.then(|| caught(operand.after(&[], open.step(open.first()?))?));
        let most = if alone {
            0
        } else if lists {
            usize::MAX
        } else {
            1
        };
        first.flatten().into_iter().chain(operand.events().filter_map(caught).take(most))
    }
}

/// The monitor.
struct NeverAfterMonitor {
    openings: Openings,
    caught: Failures<Caught>,
}

impl NeverAfterMonitor {
    /// A monitor that has seen nothing.
    fn new(view: &View<'_, '_>, roles: WindowRoles, within: Option<Within>) -> Self {
        Self { openings: Openings::new(view, roles, within), caught: Failures::of(view) }
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
            if (self.caught.is_empty() || view.listed > 0) && view.counts(hit) {
                let caught = self.openings.catch(hit, false, view)?;
                self.caught.extend(caught.first().map(|(edge, _)| Caught { hit: hit.clone(), edge: *edge }));
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
        Ok(Judged::fails_for_good(!self.caught.is_empty()))
    }

    fn is_settled(&self) -> bool {
        !self.caught.is_empty()
    }

    fn only_adds_failures(&self) -> bool {
        true
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let roles = self.openings.roles;
        let window = |caught: &Caught| ForbiddenWindow::After(caught.edge);
        self.caught.explain(view, |view, caught| Some(in_window(view, &caught.hit, roles, window(caught))))
    }
}
