//! `after A -> B, C` and `after each A -> B`: every A has a later B.

use super::explain;
use super::keys::Keys;
use super::monitor::{Judged, Monitor, Why, of, own_key};
use super::pool::Pool;
use super::statement::Polarity;
use super::timeline::{Env, index};
use super::trail::{bound, limit, measure};
use super::view::{Hit, View, same_values};
use crate::ir::Within;
use crate::vm::fault::Fault;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// The slot of A; its targets stand behind it.
const SOURCE: usize = 0;

/// The monitor: it holds when it holds for every target.
pub(super) struct Response {
    targets: Vec<Target>,
}

/// What is kept for one B.
struct Target {
    slot: usize,
    within: Option<Within>,
    each: bool,
    /// Every A that has come.
    obligations: Vec<Obligation>,
    /// The A's that wait, by group; sorted by measure, those without one in front.
    waiting: Pool<SmallVec<[u32; 2]>>,
    /// With `each`: the A's that wait, by their values.
    alike: FxHashMap<Env, Vec<u32>>,
    /// Whether some of those have a value that is open or not recorded.
    loose: bool,
    /// How many wait.
    open: usize,
    /// The first A whose B can come no more.
    lost: Option<u32>,
}

/// An A.
struct Obligation {
    hit: Hit,
    measure: Option<f64>,
    waits: bool,
}

impl Response {
    /// A monitor for a statement with these targets.
    pub(super) fn new(view: &View<'_, '_>, each: bool, within: Option<Within>) -> Self {
        let target = |slot| Target {
            slot,
            within,
            each,
            obligations: Vec::new(),
            waiting: Pool::new(Keys::between(view, SOURCE, slot)),
            alike: FxHashMap::default(),
            loose: false,
            open: 0,
            lost: None,
        };
        Self { targets: (1..view.slots.len()).map(target).collect() }
    }
}

impl Target {
    /// With `each`: an A with the same values ends the wait of those before it.
    fn cut(&mut self, hit: &Hit, view: &mut View<'_, '_>) {
        let own = own_key(hit, view);
        let mut cut = Vec::new();
        if own.iter().all(|part| part.is_value()) {
            cut.extend(self.alike.remove(&own).unwrap_or_default());
        }
        // Values that are open or not recorded may be the same as any.
        if self.loose || own.iter().any(|part| !part.is_value()) {
            for (known, waiting) in &mut self.alike {
                if view.accepts(same_values(known, &own), Polarity::Hurts) {
                    cut.append(waiting);
                }
            }
        }
        cut.sort_unstable();
        for number in cut {
            if self.settle(number) {
                self.lose(number);
            }
        }
    }

    /// A B has come: the A's of its values that are near enough wait no more.
    fn meet(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let now = view.step(hit.step).and_then(|step| measure(self.within, step));
        let (within, obligations) = (self.within, &self.obligations);
        let mut met: Vec<u32> = Vec::new();
        self.waiting.visit(view, hit.side(), |group, fit, view| {
            if !view.accepts(fit, Polarity::Helps) {
                return Ok(ControlFlow::Continue(()));
            }
            while let Some(&number) = group.data.last() {
                let from = obligations.get(number as usize).and_then(|obligation| obligation.measure);
                let near = bound(within, from, now);
                if !near.unwrap_or_else(|| view.assume(Polarity::Helps)) {
                    break;
                }
                view.spend(1)?;
                met.push(number);
                group.data.pop();
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for number in met {
            self.settle(number);
        }
        Ok(())
    }

    /// A new A waits.
    fn add(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let number = index(self.obligations.len());
        let measure = view.step(hit.step).and_then(|step| measure(self.within, step));
        let env = hit.fresh();
        let obligations = &self.obligations;
        let before = |other: &u32| {
            let known = obligations.get(*other as usize).and_then(|obligation| obligation.measure);
            known.unwrap_or(f64::NEG_INFINITY) <= measure.unwrap_or(f64::NEG_INFINITY)
        };
        self.waiting.add(view, hit, &env, |waiting| waiting.insert(waiting.partition_point(before), number))?;
        if self.each {
            let own = own_key(hit, view);
            self.loose |= own.iter().any(|part| !part.is_value());
            self.alike.entry(own).or_default().push(number);
        }
        self.obligations.push(Obligation { hit: hit.clone(), measure, waits: true });
        self.open += 1;
        Ok(())
    }

    /// Ends the wait of an A; false when it had ended before.
    fn settle(&mut self, number: u32) -> bool {
        let Some(obligation) = self.obligations.get_mut(number as usize).filter(|obligation| obligation.waits) else {
            return false;
        };
        obligation.waits = false;
        self.open -= 1;
        true
    }

    fn lose(&mut self, number: u32) {
        self.lost = Some(self.lost.map_or(number, |lost| lost.min(number)));
    }

    /// Whether some A's bound has passed, so that no later step can be its B.
    fn is_late(&self, view: &View<'_, '_>) -> bool {
        let Some(horizon) = horizon(self.within, view) else { return false };
        let waiting = self.obligations.iter().filter(|obligation| obligation.waits);
        waiting.filter_map(|obligation| obligation.measure).any(|from| horizon - from > limit(self.within))
    }
}

/// The least measure that a further step can have.
fn horizon(within: Option<Within>, view: &View<'_, '_>) -> Option<f64> {
    let steps = view.machine.run.steps.get(..view.context.window.end)?;
    match within? {
        Within::Calls(_) => {
            let executed = view.timeline.executed.partition_point(|step| (*step as usize) < view.context.window.end);
            Some(f64::from(index(executed)))
        }
        Within::Turns(_) => steps.iter().filter_map(|step| step.turn).max().map(f64::from),
        Within::Time(_) => steps.iter().filter_map(|step| step.start).max_by(f64::total_cmp),
    }
}

impl<'run> Monitor<'run> for Response {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let sources: SmallVec<[&Hit; 2]> = of(hits, SOURCE).filter(|hit| view.counts(hit)).collect();
        for target in &mut self.targets {
            if target.each {
                sources.iter().for_each(|hit| target.cut(hit, view));
            }
            for hit in of(hits, target.slot) {
                if view.counts(hit) {
                    target.meet(hit, view)?;
                }
            }
            sources.iter().try_for_each(|hit| target.add(hit, view))?;
        }
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let fails = self.targets.iter().any(|target| target.open > 0 || target.lost.is_some());
        let lost = |target: &Target| target.lost.is_some() || (!view.context.window.closed && target.is_late(view));
        Ok(Judged { failed_for_good: self.targets.iter().any(lost), ..Judged::fails(fails) })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let first = |target: &Target| {
            let open = target.obligations.iter().position(|obligation| obligation.waits).map(index);
            let number = open.into_iter().chain(target.lost).min()?;
            Some((target.slot, target.obligations.get(number as usize)?.hit.clone()))
        };
        let failures = self.targets.iter().filter_map(first);
        let Some((slot, hit)) = failures.min_by_key(|(_, hit)| hit.step) else { return Why::default() };
        let each = self.targets.iter().any(|target| target.each);
        explain::no_later(view, &hit, slot, each, self.targets.first().and_then(|target| target.within))
    }
}
