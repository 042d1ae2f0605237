//! `never B after A [until C]` and `never B between A and C`: no B in a window.

use super::explain::{self, Window};
use super::keys::Keys;
use super::monitor::{Judged, Monitor, Why, of};
use super::pool::Pool;
use super::statement::Polarity;
use super::timeline::Env;
use super::trail::{Mark, Trail, measure};
use super::view::{Hit, Mode, Side, View, key, merge};
use crate::ir::Within;
use crate::vm::fault::Fault;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// The slots of a window: what must not occur, what opens it (or, for `before`, closes it), what closes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots {
    pub(super) step: usize,
    pub(super) edge: usize,
    pub(super) close: Option<usize>,
}

/// `never B, C after A`: it holds when it holds for B and for C.
pub(super) struct All<M> {
    parts: Vec<M>,
}

impl<M> All<M> {
    /// A monitor for each of the `steps` first slots; the window's slots stand behind them.
    pub(super) fn new(view: &View<'_, '_>, steps: usize, make: impl Fn(Slots) -> M) -> Self {
        let close = Some(steps + 1).filter(|close| *close < view.slots.len());
        // What matches no step of the run cannot be in a window; one of them is kept to say whether a window opens.
        let occurs = |slot: &usize| {
            let matches = view.slots.get(*slot).and_then(|slot| view.timeline.of(slot.shape));
            matches.is_some_and(|matches| !matches.events.is_empty())
        };
        let mut wanted: Vec<usize> = (0..steps).filter(occurs).collect();
        if wanted.is_empty() {
            wanted.push(0);
        }
        Self { parts: wanted.into_iter().map(|step| make(Slots { step, edge: steps, close })).collect() }
    }
}

impl<'run, M: Monitor<'run>> Monitor<'run> for All<M> {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        self.parts.iter_mut().try_for_each(|part| part.step(hits, view))
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let mut all = Judged { may_hold: true, ..Judged::default() };
        for part in &mut self.parts {
            let judged = part.judge(view)?;
            all.may_fail |= judged.may_fail;
            all.may_hang |= judged.may_hang;
            all.failed_for_good |= judged.failed_for_good;
            all.exercised = judged.exercised;
        }
        all.may_hang &= !all.may_fail;
        all.may_hold = !all.may_fail && !all.may_hang;
        Ok(all)
    }

    fn is_settled(&self) -> bool {
        // Which of several speaks is only known when all have seen the window.
        matches!(self.parts.as_slice(), [part] if part.is_settled())
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let reasons = self.parts.iter().map(|part| part.explain(view));
        reasons.into_iter().find(|why| !why.reason.is_empty()).unwrap_or_default()
    }
}

/// A B in a window.
#[derive(Clone)]
struct Caught {
    hit: Hit,
    /// The step at the window's edge.
    edge: u32,
}

/// The A's that B's look for, and the C's that shield B's from them.
struct Openings {
    slots: Slots,
    within: Option<Within>,
    opens: Pool<Trail>,
    /// The latest C by its values; none when the statement has no C.
    shields: Option<Pool<Option<u32>>>,
    /// A's that are open, by the values of C's names, where a C closes those of its own values for every B.
    closable: Option<FxHashMap<Env, Vec<u32>>>,
}

impl Openings {
    fn new(view: &View<'_, '_>, slots: Slots, within: Option<Within>) -> Self {
        let Slots { step, edge, close } = slots;
        // What a C's values and tests can tell apart among the A's.
        let detail =
            close.map_or(Vec::new(), |close| view.names(close).iter().copied().chain(view.asks(close)).collect());
        let known = [view.names(step), view.names(edge)].concat();
        let alone = |close| view.names(close).iter().all(|name| view.names(edge).contains(name));
        let plain = |close| !view.joined(close) && !view.joined(edge) && alone(close);
        let closable = close.filter(|close| plain(*close)).map(|_| FxHashMap::default());
        let shields = close.map(|close| Pool::new(Keys::for_pairs(view, close, &known)));
        Self { slots, within, opens: Pool::new(Keys::new(view, edge, step, &detail)), shields, closable }
    }

    /// The steps of the A's whose windows this B is in, with the values of both; `all` of them or the first.
    fn catch(&mut self, hit: &Hit, all: bool, view: &mut View<'_, '_>) -> Result<Vec<(u32, Env)>, Fault> {
        let now = view.step(hit.step).and_then(|step| measure(self.within, step));
        let (within, shields) = (self.within, &mut self.shields);
        let mut caught = Vec::new();
        self.opens.visit(view, hit.side(), |group, fit, view| {
            if !view.accepts(fit, Polarity::Hurts) {
                return Ok(ControlFlow::Continue(()));
            }
            let env = merge(&group.env, &hit.env);
            let since = match shields {
                Some(shields) => latest(shields, &env, view)?,
                None => None,
            };
            // An A at the very step of the shield opens a window of its own.
            let found = group.data.find(since.and_then(|since| since.checked_sub(1)), within, now);
            let mark = found.sure.or_else(|| found.unknown.filter(|_| view.assume(Polarity::Hurts)));
            caught.extend(mark.map(|mark| (mark.step, env)));
            Ok(if all || caught.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(caught)
    }

    fn open(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let measure = view.step(hit.step).and_then(|step| measure(self.within, step));
        let group = self.opens.add(view, hit, &hit.env, |trail| trail.add(Mark { step: hit.step, measure }))?;
        if let (Some(closable), Some(close)) = (&mut self.closable, self.slots.close) {
            let values = key(&hit.env, view.names(close));
            if values.iter().all(|part| part.is_value()) {
                closable.entry(values).or_default().push(group);
            }
        }
        Ok(())
    }

    fn shield(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let closed = self.closable.as_mut().and_then(|closable| closable.remove(&key(&hit.env, view.names(hit.slot))));
        closed.into_iter().flatten().for_each(|group| self.opens.put_to_sleep(group));
        if let Some(shields) = &mut self.shields {
            shields.add(view, hit, &hit.env, |latest| *latest = Some(hit.step))?;
        }
        Ok(())
    }
}

/// The latest C under an environment.
fn latest(shields: &mut Pool<Option<u32>>, env: &Env, view: &mut View<'_, '_>) -> Result<Option<u32>, Fault> {
    let mut latest = None;
    shields.visit(view, Side { event: None, env }, |group, fit, view| {
        if view.accepts(fit, Polarity::Helps) {
            latest = latest.max(group.data);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(latest)
}

/// `never B after A [until C]`.
pub(super) struct NeverAfter {
    openings: Openings,
    caught: Option<Caught>,
}

impl NeverAfter {
    /// A monitor that has seen nothing.
    pub(super) fn new(view: &View<'_, '_>, slots: Slots, within: Option<Within>) -> Self {
        Self { openings: Openings::new(view, slots, within), caught: None }
    }
}

impl<'run> Monitor<'run> for NeverAfter {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let Slots { step, edge, close } = self.openings.slots;
        for hit in hits.iter().filter(|hit| Some(hit.slot) == close) {
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
        explain::in_window(view, &caught.hit, self.openings.slots, Window::After(caught.edge))
    }
}

/// `never B between A and C`. A C shields later B's from earlier A's, and it confirms that a B was inside: unknown C's shield in the
/// favourable replica and confirm in the adverse one.
pub(super) struct NeverBetween {
    openings: Openings,
    /// A's, to see whether a C closes one.
    opened: Pool<Option<u32>>,
    /// B's in windows that are still open, by the values that C can tell apart.
    inside: Pool<Vec<Caught>>,
    caught: Option<(Caught, u32)>,
    closed: bool,
}

impl NeverBetween {
    /// A monitor that has seen nothing.
    pub(super) fn new(view: &View<'_, '_>, slots: Slots, within: Option<Within>) -> Self {
        let close = slots.close.unwrap_or(slots.edge);
        Self {
            openings: Openings::new(view, slots, within),
            opened: Pool::new(Keys::between(view, slots.edge, close)),
            inside: Pool::new(Keys::of_pairs(view, close)),
            caught: None,
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
        let caught = &mut self.caught;
        self.inside.visit(view, hit.side(), |group, fit, view| {
            if !group.data.is_empty() && view.accepts(fit, Polarity::Hurts) {
                let first = group.data.drain(..).next();
                if caught.is_none() {
                    *caught = first.map(|first| (first, hit.step));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// A B inside windows that may close.
    fn enter(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        for (edge, env) in self.openings.catch(hit, true, view)? {
            let caught = Caught { hit: hit.clone(), edge };
            self.inside.add(view, hit, &env, |inside| {
                if inside.is_empty() {
                    inside.push(caught);
                }
            })?;
        }
        Ok(())
    }
}

impl<'run> Monitor<'run> for NeverBetween {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let Slots { step, edge, close } = self.openings.slots;
        for hit in hits.iter().filter(|hit| Some(hit.slot) == close) {
            let (shields, confirms) = match (hit.sure, view.mode) {
                (true, _) => (true, true),
                (false, Mode::Favourable) => (true, false),
                (false, Mode::Adverse) => (false, true),
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
            if self.caught.is_none() && view.counts(hit) {
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
        let fails = self.caught.is_some();
        let hangs = !fails && self.inside.groups().iter().any(|group| !group.data.is_empty());
        Ok(Judged {
            may_fail: fails,
            may_hold: !fails && !hangs,
            may_hang: hangs,
            failed_for_good: fails,
            exercised: Some((!self.closed, self.closed)),
            ..Judged::default()
        })
    }

    fn is_settled(&self) -> bool {
        self.caught.is_some()
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        if let Some((caught, close)) = &self.caught {
            let window = Window::Between(caught.edge, *close);
            return explain::in_window(view, &caught.hit, self.openings.slots, window);
        }
        let inside = self.inside.groups().iter().filter_map(|group| group.data.first());
        match inside.min_by_key(|caught| caught.hit.step) {
            Some(caught) => explain::in_window(view, &caught.hit, self.openings.slots, Window::Unclosed(caught.edge)),
            None => Why::default(),
        }
    }
}
