//! `before A -> B, C` and `before each A -> B`: every B has an earlier A.

use super::explain;
use super::keys::Keys;
use super::monitor::{Judged, Monitor, Why, of};
use super::pool::Pool;
use super::statement::Polarity;
use super::trail::{Mark, Trail, measure};
use super::view::{Hit, View};
use crate::ir::Within;
use crate::vm::fault::Fault;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// The slot of A; its targets stand behind it.
const SOURCE: usize = 0;

/// The monitor.
pub(super) struct Precedence {
    within: Option<Within>,
    each: bool,
    targets: Vec<Target>,
    failure: Option<Failure>,
}

/// What is kept for one B.
struct Target {
    slot: usize,
    /// The A's.
    sources: Pool<Trail>,
    /// With `each`: the latest B by its values; an A before it does not count any more.
    latest: Pool<Option<u32>>,
}

/// A B without an A.
struct Failure {
    hit: Hit,
    /// The B since which an A would have been needed.
    since: Option<u32>,
}

impl Precedence {
    /// A monitor for a statement with this many targets.
    pub(super) fn new(view: &View<'_, '_>, each: bool, within: Option<Within>) -> Self {
        let target = |slot| Target {
            slot,
            sources: Pool::new(Keys::between(view, SOURCE, slot)),
            latest: Pool::new(Keys::alike(view, slot)),
        };
        Self { within, each, targets: (1..view.slots.len()).map(target).collect(), failure: None }
    }
}

impl Target {
    /// The latest B with the values of this one.
    fn previous(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<Option<u32>, Fault> {
        let mut latest = None;
        self.latest.visit(view, hit.side(), |group, fit, view| {
            if view.accepts(fit, Polarity::Hurts) {
                latest = latest.max(group.data);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(latest)
    }

    /// Whether an A stands behind step `since` and before this B.
    fn is_met(
        &mut self,
        hit: &Hit,
        since: Option<u32>,
        within: Option<Within>,
        view: &mut View<'_, '_>,
    ) -> Result<bool, Fault> {
        let now = view.step(hit.step).and_then(|step| measure(within, step));
        let fresh = Hit { env: hit.fresh(), ..hit.clone() };
        let mut met = false;
        self.sources.visit(view, fresh.side(), |group, fit, view| {
            if view.accepts(fit, Polarity::Helps) {
                let found = group.data.find(since, within, now);
                met = found.sure.is_some() || (found.unknown.is_some() && view.assume(Polarity::Helps));
            }
            Ok(if met { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(met)
    }
}

impl<'run> Monitor<'run> for Precedence {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for target in &mut self.targets {
            let now: SmallVec<[&Hit; 2]> = of(hits, target.slot).filter(|hit| view.counts(hit)).collect();
            for hit in &now {
                let since = if self.each { target.previous(hit, view)? } else { None };
                if self.failure.is_none() && !target.is_met(hit, since, self.within, view)? {
                    self.failure = Some(Failure { hit: (*hit).clone(), since });
                }
            }
            if self.each {
                for hit in &now {
                    target.latest.add(view, hit, &hit.env, |latest| *latest = Some(hit.step))?;
                }
            }
        }
        for hit in of(hits, SOURCE) {
            if !view.counts(hit) {
                continue;
            }
            let measure = view.step(hit.step).and_then(|step| measure(self.within, step));
            for target in &mut self.targets {
                target.sources.add(view, hit, &hit.env, |trail| trail.add(Mark { step: hit.step, measure }))?;
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        Ok(Judged::fails_for_good(self.failure.is_some()))
    }

    fn is_settled(&self) -> bool {
        self.failure.is_some()
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let Some(failure) = &self.failure else { return Why::default() };
        explain::no_earlier(view, &failure.hit, SOURCE, failure.since, self.within)
    }

    fn state(&self, view: &mut View<'_, 'run>) -> String {
        let Some(target) = self.targets.first() else { return String::new() };
        let came = target.sources.groups().iter().map(|group| view.thing(SOURCE, &group.env)).collect::<Vec<_>>();
        if came.is_empty() { String::new() } else { format!("{} came", explain::listed(came)) }
    }
}
