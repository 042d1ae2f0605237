//! `never B after A [until C]`, `never B before A`, `never B between A and C`: no B in a window.

use super::explain::{self, Window};
use super::monitor::{Judged, Monitor, Why, of, own_key};
use super::pool::{Keys, Pool};
use super::statement::Polarity;
use super::timeline::Env;
use super::trail::{Mark, Trail, measure};
use super::view::{Fit, Hit, Mode, Side, View, merge};
use crate::ir::Within;
use crate::vm::fault::Fault;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// The slot of B.
const STEP: usize = 0;
/// The slot of A, which opens (or, for `before`, closes) the window.
const EDGE: usize = 1;
/// The slot of C, which closes it.
const CLOSE: usize = 2;

/// A B in a window.
#[derive(Clone)]
struct Caught {
    hit: Hit,
    /// The step at the window's edge.
    edge: u32,
}

/// The A's that B's look for, and the C's that shield B's from them.
struct Openings {
    within: Option<Within>,
    opens: Pool<Trail>,
    /// The latest C by its values; none when the statement has no C.
    shields: Option<Pool<Option<u32>>>,
}

impl Openings {
    fn new(view: &View<'_, '_>, within: Option<Within>) -> Self {
        let closes = view.slots.len() > CLOSE;
        // What a C's values and tests can tell apart among the A's.
        let mut detail = if closes { view.names(CLOSE).to_vec() } else { Vec::new() };
        detail.extend(if closes { view.asks(CLOSE) } else { Vec::new() });
        let known = [view.names(STEP), view.names(EDGE)].concat();
        let shields = closes.then(|| Pool::new(Keys::for_pairs(view, CLOSE, &known)));
        Self { within, opens: Pool::new(Keys::new(view, EDGE, STEP, &detail)), shields }
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

    fn open(&mut self, hit: &Hit, view: &View<'_, '_>) {
        let measure = view.step(hit.step).and_then(|step| measure(self.within, step));
        self.opens.add(hit, &hit.env, |trail| trail.add(Mark { step: hit.step, measure }));
    }

    fn shield(&mut self, hit: &Hit) {
        if let Some(shields) = &mut self.shields {
            shields.add(hit, &hit.env, |latest| *latest = Some(hit.step));
        }
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
    pub(super) fn new(view: &View<'_, '_>, within: Option<Within>) -> Self {
        Self { openings: Openings::new(view, within), caught: None }
    }
}

impl<'run> Monitor<'run> for NeverAfter {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for hit in of(hits, CLOSE) {
            if view.counts(hit) {
                self.openings.shield(hit);
            }
        }
        for hit in of(hits, STEP) {
            if self.caught.is_none() && view.counts(hit) {
                let caught = self.openings.catch(hit, false, view)?;
                self.caught = caught.first().map(|(edge, _)| Caught { hit: hit.clone(), edge: *edge });
            }
        }
        for hit in of(hits, EDGE) {
            if view.counts(hit) {
                self.openings.open(hit, view);
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        Ok(Judged::fails_for_good(self.caught.is_some()))
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let Some(caught) = &self.caught else { return Why::default() };
        explain::in_window(view, &caught.hit, Window::After(caught.edge))
    }
}

/// `never B before A`. An A may help by being the first instead of a later one, so that for unknown A's every choice is looked at:
/// the statement fails for sure only when a sure A comes and no choice of a first A up to it has no B before it.
pub(super) struct NeverBefore {
    within: Option<Within>,
    steps: Pool<Trail>,
    /// By the values of A.
    firsts: FxHashMap<Env, First>,
    /// Unknown A's with a value that is not recorded: they may be the first under any values. With their measures.
    wild: Vec<(Hit, Option<f64>)>,
    /// The B's, kept once there are such A's.
    all_steps: Vec<Hit>,
    caught: Option<Caught>,
}

/// What is known of the first A with some values.
#[derive(Default)]
struct First {
    /// It has surely come.
    came: bool,
    /// Some A that may be the first has no B before it.
    safe: bool,
}

impl NeverBefore {
    /// A monitor that has seen nothing.
    pub(super) fn new(view: &View<'_, '_>, within: Option<Within>) -> Self {
        Self {
            within,
            steps: Pool::new(Keys::between(view, STEP, EDGE)),
            firsts: FxHashMap::default(),
            wild: Vec::new(),
            all_steps: Vec::new(),
            caught: None,
        }
    }

    /// A B before this A.
    fn earlier(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<Option<(u32, (usize, u32))>, Fault> {
        let now = view.step(hit.step).and_then(|step| measure(self.within, step));
        let within = self.within;
        let mut earlier = None;
        self.steps.visit(view, hit.side(), |group, fit, view| {
            if view.accepts(fit, Polarity::Hurts) {
                let found = group.data.find(None, within, now);
                let mark = found.sure.or_else(|| found.unknown.filter(|_| view.assume(Polarity::Hurts)));
                earlier = mark.map(|mark| (mark.step, group.event));
            }
            Ok(if earlier.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(earlier)
    }

    /// Whether an unknown A with a value that is not recorded may be the first under the values of `hit`, and safe there.
    fn has_safe_wild(&self, hit: &Hit, view: &mut View<'_, '_>) -> Result<bool, Fault> {
        for (wild, now) in &self.wild {
            if view.fit(Side { event: None, env: &wild.env }, Side { event: None, env: &hit.env })? == Fit::No {
                continue;
            }
            let mut safe = true;
            for step in self.all_steps.iter().filter(|step| step.step < wild.step) {
                let from = view.step(step.step).and_then(|step| measure(self.within, step));
                let near = super::trail::bound(self.within, from, *now) == Some(true);
                if step.sure && near && view.fit(step.side(), hit.side())? == Fit::Yes {
                    safe = false;
                }
            }
            if safe {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn close(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let own = own_key(hit, view);
        if !hit.sure {
            view.unknown = true;
        }
        if self.caught.is_some() || self.firsts.get(&own).is_some_and(|first| first.came) {
            return Ok(());
        }
        let earlier = self.earlier(hit, view)?;
        let all_values = own.iter().all(|part| part.is_value());
        let first = self.firsts.entry(own).or_default();
        first.came = hit.sure && all_values;
        first.safe |= earlier.is_none();
        let fails = match view.mode {
            Mode::Adverse => earlier.is_some(),
            Mode::Favourable => hit.sure && !first.safe && !self.has_safe_wild(hit, view)?,
        };
        if let (true, Some((edge, _))) = (fails, earlier) {
            self.caught = Some(Caught { hit: hit.clone(), edge });
        }
        if !hit.sure && !all_values {
            let now = view.step(hit.step).and_then(|step| measure(self.within, step));
            self.wild.push((hit.clone(), now));
        }
        Ok(())
    }
}

impl<'run> Monitor<'run> for NeverBefore {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for hit in of(hits, EDGE) {
            self.close(hit, view)?;
        }
        for hit in of(hits, STEP) {
            if view.counts(hit) {
                let measure = view.step(hit.step).and_then(|step| measure(self.within, step));
                self.steps.add(hit, &hit.env, |trail| trail.add(Mark { step: hit.step, measure }));
                self.all_steps.push(hit.clone());
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        Ok(Judged::fails_for_good(self.caught.is_some()))
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let Some(caught) = &self.caught else { return Why::default() };
        explain::before_first(view, &caught.hit, caught.edge)
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
    pub(super) fn new(view: &View<'_, '_>, within: Option<Within>) -> Self {
        Self {
            openings: Openings::new(view, within),
            opened: Pool::new(Keys::between(view, EDGE, CLOSE)),
            inside: Pool::new(Keys::of_pairs(view, CLOSE)),
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
            self.inside.add(hit, &env, |inside| {
                if inside.is_empty() {
                    inside.push(caught);
                }
            });
        }
        Ok(())
    }
}

impl<'run> Monitor<'run> for NeverBetween {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for hit in of(hits, CLOSE) {
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
                self.openings.shield(hit);
            }
        }
        for hit in of(hits, STEP) {
            if self.caught.is_none() && view.counts(hit) {
                self.enter(hit, view)?;
            }
        }
        for hit in of(hits, EDGE) {
            if view.counts(hit) {
                self.openings.open(hit, view);
                self.opened.add(hit, &hit.env, |first| *first = first.or(Some(hit.step)));
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

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        if let Some((caught, close)) = &self.caught {
            return explain::in_window(view, &caught.hit, Window::Between(caught.edge, *close));
        }
        let inside = self.inside.groups().iter().filter_map(|group| group.data.first());
        match inside.min_by_key(|caught| caught.hit.step) {
            Some(caught) => explain::in_window(view, &caught.hit, Window::Unclosed(caught.edge)),
            None => Why::default(),
        }
    }
}
