//! `never B between A and C`: no B in a window that an A opens and that a C closes.

use super::windows::{All, Caught, ForbiddenWindow, Openings, WindowRoles, behind, in_window};
use super::{Exercise, Exercised, Meaning, Polarity, Statement, hurts, mixed};
use crate::bytecode::program::PatternId;
use crate::ir::Within;
use crate::vm::fault::Fault;
use crate::vm::temporal::closed::{Asks, Decided, FailingPlace, Occurrences, Search};
use crate::vm::temporal::failures::Failures;
use crate::vm::temporal::keys::Keys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Judged, Monitor, Why, hit, of};
use crate::vm::temporal::view::{Hit, Mode, View};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// The definition.
pub(super) fn statement(steps: &[PatternId], open: PatternId, close: PatternId, within: Option<Within>) -> Statement {
    let operands = behind(steps, [hurts(open), mixed(close)]);
    let meaning = NeverBetween { steps: steps.len(), within };
    Statement::new(operands, Exercise::Own, meaning).in_order().within(within)
}

#[derive(Debug)]
struct NeverBetween {
    /// How many patterns must not occur.
    steps: usize,
    within: Option<Within>,
}

impl Meaning for NeverBetween {
    fn is_closed(&self, _: bool) -> bool {
        self.within.is_none()
    }

    /// Of the windows with a B the one that closes first, else the first that never closes.
    fn closed(&self, search: &Search<'_, '_>, _: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let steps = self.steps;
        let (Some(open), Some(close)) = (search.operand(steps), search.operand(steps + 1)) else { return Ok(None) };
        let inside = |closed: bool| {
            let of = move |(step, operand)| places(step, operand, open, close);
            let places =
                search.operands(0).take(steps).flat_map(of).filter(move |place| place.others.1.is_some() == closed);
            search.places(places)
        };
        let mut found = inside(true);
        let hangs = found.is_empty();
        if hangs {
            found = inside(false);
        }
        let fails = !found.is_empty();
        let closes = |edge: u32| close.is_after(open.key(edge), open.step(edge));
        let exercised = fails || open.events().any(closes);
        let judged = Judged {
            may_fail: fails && !hangs,
            may_hold: !fails,
            may_hang: fails && hangs,
            exercised: Some(Exercised { may_be_vacuous: !exercised, may_pass: exercised }),
            ..Judged::default()
        };
        let words = move |view: &mut View<'_, '_>| {
            Some(found.explain(view, |view, place| {
                let roles = WindowRoles { step: place.operand, edge: steps, close: Some(steps + 1) };
                let window = match place.others {
                    (Some(edge), Some(end)) => ForbiddenWindow::Between(edge, end),
                    (edge, _) => ForbiddenWindow::Unclosed(edge?),
                };
                Some(in_window(view, &hit(place.operand, place.event, view)?, roles, window))
            }))
        };
        Ok(Some(search.decided(judged, fails.then_some(words))))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(All::new(view, self.steps, |roles| NeverBetweenMonitor::new(view, roles, self.within))))
    }

    fn vacuous(&self, view: &mut View<'_, '_>) -> String {
        format!("no {} is followed by {}", view.pattern(self.steps), view.pattern(self.steps + 1))
    }
}

/// The B's in windows, with the step that opens the window and the one that closes it, if one does.
fn places<'s>(
    step: usize,
    operand: Occurrences<'s>,
    open: Occurrences<'s>,
    close: Occurrences<'s>,
) -> impl Iterator<Item = FailingPlace> + 's {
    operand.events().filter_map(move |event| {
        let (key, at) = (operand.key(event), operand.step(event));
        let edge = open.step(open.before(key, at)?);
        let end = close.after(key, edge).map(|close_event| close.step(close_event));
        let place = FailingPlace { others: (Some(edge), end), ..FailingPlace::new(step, operand, event) };
        end.is_none_or(|end| end > at).then_some(place)
    })
}

/// B's in windows that are open: all where each is listed, else the first.
type Inside = Vec<Caught>;

/// The monitor. A C shields later B's from earlier A's, and it confirms that a B was inside: unknown C's shield in the
/// optimistic replica and confirm in the pessimistic one.
struct NeverBetweenMonitor {
    openings: Openings,
    /// A's, to see whether a C closes one.
    opened: MatchIndex<Option<u32>>,
    /// B's in windows that are still open, by the values that C can tell apart.
    inside: MatchIndex<Inside>,
    /// B's in windows that closed, with the step that closed them.
    caught: Failures<(Caught, u32)>,
    /// The steps of those.
    counted: FxHashSet<u32>,
    closed: bool,
}

impl NeverBetweenMonitor {
    /// A monitor that has seen nothing.
    fn new(view: &View<'_, '_>, roles: WindowRoles, within: Option<Within>) -> Self {
        let close = roles.close.unwrap_or(roles.edge);
        Self {
            openings: Openings::new(view, roles, within),
            opened: MatchIndex::new(Keys::between(view, roles.edge, close)),
            inside: MatchIndex::new(Keys::of_pairs(view, close)),
            caught: Failures::of(view),
            counted: FxHashSet::default(),
            closed: false,
        }
    }

    /// A C: B's in the windows that it closes are caught.
    fn confirm(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let mut closed = false;
        self.opened.visit(view, hit.side(), |_, fit, view| {
            closed |= view.accepts(fit, Polarity::Hurts);
            Ok(if closed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        self.closed |= closed;
        let (caught, counted) = (&mut self.caught, &mut self.counted);
        self.inside.visit(view, hit.side(), |group, fit, view| {
            if !group.data.is_empty() && view.accepts(fit, Polarity::Hurts) {
                // One that stands in several windows fails it once.
                let inside = group.data.drain(..).filter(|inside| counted.insert(inside.hit.step));
                caught.extend(inside.map(|inside| (inside, hit.step)));
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// A B inside windows that may close.
    fn enter(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        for (edge, env) in self.openings.catch(hit, true, view)? {
            let caught = Caught { hit: hit.clone(), edge };
            let lists = view.listed > 0;
            self.inside.add(view, hit, &env, |inside| {
                if inside.is_empty() || lists {
                    inside.push(caught);
                }
            })?;
        }
        Ok(())
    }
}

impl<'run> Monitor<'run> for NeverBetweenMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let WindowRoles { step, edge, close } = self.openings.roles;
        for hit in hits.iter().filter(|hit| Some(hit.operand) == close) {
            let (shields, confirms) = match (hit.sure, view.mode) {
                (true, _) => (true, true),
                (false, Mode::Optimistic) => (true, false),
                (false, Mode::Pessimistic) => (false, true),
            };
            view.unknown |= !hit.sure;
            if confirms {
                self.confirm(hit, view)?;
            }
            if shields {
                self.openings.shield(hit, view)?;
            }
        }
        for hit in of(hits, step) {
            if (self.caught.is_empty() || view.listed > 0) && view.counts(hit) {
                self.enter(hit, view)?;
            }
        }
        for hit in of(hits, edge) {
            if view.counts(hit) {
                self.openings.open(hit, view)?;
                self.opened.add(view, hit, &hit.env, |first| *first = first.or(Some(hit.step)))?;
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let fails = !self.caught.is_empty();
        let hangs = !fails && self.inside.groups().iter().any(|group| !group.data.is_empty());
        Ok(Judged {
            may_fail: fails,
            may_hold: !fails && !hangs,
            may_hang: hangs,
            failed_for_good: fails,
            exercised: Some(Exercised { may_be_vacuous: !self.closed, may_pass: self.closed }),
            ..Judged::default()
        })
    }

    fn is_settled(&self) -> bool {
        !self.caught.is_empty()
    }

    fn only_adds_failures(&self) -> bool {
        true
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        if !self.caught.is_empty() {
            let roles = self.openings.roles;
            let caught = Failures::joined(view, std::iter::once(self.caught.clone()), |(caught, _)| caught.hit.step);
            return caught.explain(view, |view, (caught, close)| {
                Some(in_window(view, &caught.hit, roles, ForbiddenWindow::Between(caught.edge, *close)))
            });
        }
        let inside = self.inside.groups().iter().filter_map(|group| group.data.first());
        match inside.min_by_key(|caught| caught.hit.step) {
            Some(caught) => in_window(view, &caught.hit, self.openings.roles, ForbiddenWindow::Unclosed(caught.edge)),
            None => Why::default(),
        }
    }
}
