//! Statements about places in the call list: `first`, `last`, `only`, `immediately before`, `immediately after`.

use super::explain::{self, Beside};
use super::monitor::{Judged, Monitor, Why, of};
use super::statement::Polarity;
use super::timeline::index;
use super::trail::{bound, measure};
use super::view::{Hit, View};
use crate::ir::Within;
use crate::vm::fault::Fault;

/// `first A` and `last A`.
pub(super) struct Edge {
    last: bool,
    /// The last place of an A, for `first` only the first call.
    place: Option<u32>,
}

impl Edge {
    /// A monitor of the first or last call.
    pub(super) fn new(last: bool) -> Self {
        Self { last, place: None }
    }
}

impl<'run> Monitor<'run> for Edge {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for hit in hits {
            let wanted = self.last || hit.call == Some(0);
            if wanted && hit.call.is_some() && view.counts(hit) {
                self.place = hit.call;
            }
        }
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let count = index(view.calls.len());
        let wanted = if self.last { count.checked_sub(1) } else { Some(0) };
        let holds = count > 0 && self.place == wanted;
        let settled = !self.last && count > 0;
        Ok(Judged { failed_for_good: !holds && settled, passed_for_good: holds && settled, ..Judged::fails(!holds) })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        explain::edge(view, self.last)
    }

    fn prove(&self, view: &mut View<'_, 'run>) -> Why {
        explain::at_edge(view, self.last)
    }
}

/// `only A, B`: every call of the list is one of them.
pub(super) struct Only {
    /// How many calls from the start match.
    matched: u32,
}

impl Only {
    /// A monitor that has seen nothing.
    pub(super) fn new() -> Self {
        Self { matched: 0 }
    }
}

impl<'run> Monitor<'run> for Only {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        if hits.iter().any(|hit| hit.call == Some(self.matched) && view.counts(hit)) {
            self.matched += 1;
        }
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        Ok(Judged::fails_for_good((self.matched as usize) < view.calls.len()))
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        explain::stray(view, self.matched)
    }
}

/// `immediately before A -> B` and `immediately after A -> B`: what stands beside a step in the call list.
pub(super) struct Immediate {
    after: bool,
    within: Option<Within>,
    /// The last call with hits: with its place. For `before` they are the A's, for `after` the A's that wait for their B.
    latest: Vec<Hit>,
    /// For `after`: which of the latest wait for which target.
    failure: Option<Failure>,
}

/// A step whose neighbour is wrong.
#[derive(Clone)]
struct Failure {
    hit: Hit,
    /// The slot that was looked for.
    wanted: usize,
}

/// The slot of A; its targets stand behind it.
const SOURCE: usize = 0;

impl Immediate {
    /// A monitor that has seen nothing.
    pub(super) fn new(after: bool, within: Option<Within>) -> Self {
        Self { after, within, latest: Vec::new(), failure: None }
    }

    /// Whether two neighbours match under one environment, within the bound.
    fn fits(&self, earlier: &Hit, later: &Hit, view: &mut View<'_, '_>) -> Result<bool, Fault> {
        let of_step = |hit: &Hit, view: &View<'_, '_>| view.step(hit.step).and_then(|step| measure(self.within, step));
        let near = bound(self.within, of_step(earlier, view), of_step(later, view));
        if !near.unwrap_or_else(|| view.assume(Polarity::Helps)) {
            return Ok(false);
        }
        let (quantified, other) = if self.after { (earlier, later) } else { (later, earlier) };
        let fresh = Hit { env: quantified.fresh(), ..quantified.clone() };
        let fit = view.fit(fresh.side(), other.side())?;
        Ok(view.accepts(fit, Polarity::Helps))
    }

    fn fail(&mut self, hit: &Hit, wanted: usize) {
        if self.failure.is_none() {
            self.failure = Some(Failure { hit: hit.clone(), wanted });
        }
    }

    /// Every B of this step has an A just before it.
    fn look_back(&mut self, hits: &[Hit], view: &mut View<'_, '_>) -> Result<(), Fault> {
        for hit in hits.iter().filter(|hit| hit.slot != SOURCE) {
            if !view.counts(hit) {
                continue;
            }
            let before = hit.call.and_then(|call| call.checked_sub(1));
            let neighbours: Vec<Hit> =
                self.latest.iter().filter(|a| before.is_some() && a.call == before).cloned().collect();
            let mut met = false;
            for neighbour in &neighbours {
                met = met || self.fits(neighbour, hit, view)?;
            }
            if !met {
                self.fail(hit, SOURCE);
            }
        }
        self.remember(hits, view);
        Ok(())
    }

    /// Every A that waits has each B among the hits of the call behind it.
    fn look_ahead(&mut self, hits: &[Hit], view: &mut View<'_, '_>) -> Result<(), Fault> {
        if hits.iter().all(|hit| hit.call.is_none()) {
            let outside: Vec<&Hit> = of(hits, SOURCE).filter(|hit| view.counts(hit)).collect();
            outside.first().into_iter().for_each(|hit| self.fail(hit, 1));
            return Ok(());
        }
        for waiting in std::mem::take(&mut self.latest) {
            for wanted in 1..view.slots.len() {
                let next = waiting.call.map(|call| call + 1);
                let mut met = false;
                for hit in of(hits, wanted) {
                    met = met || (hit.call == next && view.counts(hit) && self.fits(&waiting, hit, view)?);
                }
                if !met {
                    self.fail(&waiting, wanted);
                }
            }
        }
        self.remember(hits, view);
        Ok(())
    }

    fn remember(&mut self, hits: &[Hit], view: &mut View<'_, '_>) {
        let sources: Vec<Hit> =
            of(hits, SOURCE).filter(|hit| hit.call.is_some() && view.counts(hit)).cloned().collect();
        if hits.iter().any(|hit| hit.call.is_some()) {
            self.latest = sources;
        }
    }
}

impl<'run> Monitor<'run> for Immediate {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        if self.after { self.look_ahead(hits, view) } else { self.look_back(hits, view) }
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let count = index(view.calls.len());
        let waiting = self.after.then(|| self.latest.first()).flatten();
        // The next call has come, and it matches nothing.
        let missed = waiting.is_some_and(|hit| hit.call.is_some_and(|call| call + 1 < count));
        let lost = self.failure.is_some() || missed;
        Ok(Judged { failed_for_good: lost, ..Judged::fails(lost || waiting.is_some()) })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let waiting = self.latest.first().filter(|_| self.after);
        let failure = match (&self.failure, waiting) {
            (Some(failure), _) => failure.clone(),
            (None, Some(hit)) => Failure { hit: hit.clone(), wanted: 1 },
            (None, None) => return Why::default(),
        };
        let beside = if self.after { Beside::After } else { Beside::Before };
        explain::neighbour(view, &failure.hit, failure.wanted, beside)
    }
}
