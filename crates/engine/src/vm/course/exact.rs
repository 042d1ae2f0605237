//! `sequence only A -> B -> C` and `sequence exactly A -> B -> C`: nothing else among the steps that match, or among the calls.

use super::explain;
use super::monitor::{Judged, Monitor, Why, of};
use super::statement::Polarity;
use super::states::{Partial, under_any};
use super::timeline::index;
use super::trail::{Mark, Trail, measure};
use super::view::{Fit, Hit, Mode, View};
use crate::ir::Within;
use crate::vm::fault::Fault;
use rustc_hash::FxHashMap;

/// The monitor.
pub(super) struct Exact {
    /// True for `exactly`.
    calls: bool,
    within: Option<Within>,
    /// By how many steps have been taken: what they bound and where they ended.
    levels: Vec<FxHashMap<Partial, Trail>>,
    /// For `exactly`: how many calls have come with hits, one behind the other.
    taken: usize,
    /// The step with which the word could not go on, and how many had been taken.
    stopped: Option<(u32, usize)>,
}

impl Exact {
    /// A monitor that has seen nothing.
    pub(super) fn new(view: &View<'_, '_>, calls: bool, within: Option<Within>) -> Self {
        let mut levels = vec![FxHashMap::default(); view.slots.len() + 1];
        if let Some(start) = levels.first_mut() {
            start.insert(Partial::start(view), Trail::default());
        }
        Self { calls, within, levels, taken: 0, stopped: None }
    }

    /// The words that end with one of these hits as their step number `length`.
    fn take(&self, length: usize, hits: &[Hit], view: &mut View<'_, '_>) -> Result<FxHashMap<Partial, Trail>, Fault> {
        let mut grown: FxHashMap<Partial, Trail> = FxHashMap::default();
        let Some(before) = length.checked_sub(1).and_then(|before| self.levels.get(before)) else { return Ok(grown) };
        for hit in of(hits, length - 1) {
            if !view.counts(hit) {
                continue;
            }
            let now = view.step(hit.step).and_then(|step| measure(self.within, step));
            for (partial, trail) in before {
                let found = trail.find(None, self.within, now);
                let near =
                    length == 1 || found.sure.is_some() || (found.unknown.is_some() && view.assume(Polarity::Helps));
                if let (true, Some(next)) = (near, partial.with(hit, view)?) {
                    grown.entry(next).or_default().add(Mark { step: hit.step, measure: now });
                }
            }
        }
        Ok(grown)
    }

    fn is_dead(&self) -> bool {
        self.levels.iter().all(FxHashMap::is_empty)
    }

    fn stop(&mut self, step: u32, taken: usize) {
        self.levels.iter_mut().for_each(FxHashMap::clear);
        if self.stopped.is_none() {
            self.stopped = Some((step, taken));
        }
    }

    /// A step that matches some pattern: it has to be taken, unless it may not match at all.
    fn among_matching(&mut self, step: u32, hits: &[Hit], view: &mut View<'_, '_>) -> Result<(), Fault> {
        let hits = matching(hits, view)?;
        if hits.is_empty() {
            return Ok(());
        }
        let sure = hits.iter().any(|hit| hit.sure);
        let taken = self.levels.iter().rposition(|level| !level.is_empty()).unwrap_or(0);
        view.unknown |= !sure;
        if !sure && view.mode == Mode::Adverse {
            // Taken or not, one of both gives the wrong number of steps.
            self.stop(step, taken);
            return Ok(());
        }
        for length in (1..self.levels.len()).rev() {
            let grown = self.take(length, &hits, view)?;
            let Some(level) = self.levels.get_mut(length) else { continue };
            if sure {
                *level = grown;
            } else {
                for (partial, trail) in grown {
                    level.entry(partial).or_default().extend(&trail);
                }
            }
        }
        if let (true, Some(start)) = (sure, self.levels.first_mut()) {
            start.clear();
        }
        if self.is_dead() {
            self.stop(step, taken);
        }
        Ok(())
    }

    /// A call of the list: it is the next step of the sequence, or the sequence is over.
    fn among_calls(&mut self, step: u32, hits: &[Hit], view: &mut View<'_, '_>) -> Result<(), Fault> {
        let place = hits.first().and_then(|hit| hit.call);
        let Some(place) = place else { return Ok(()) };
        let grown =
            if index(self.taken) == place { self.take(self.taken + 1, hits, view)? } else { FxHashMap::default() };
        let taken = self.taken;
        if let Some(level) = self.levels.get_mut(taken) {
            level.clear();
        }
        match self.levels.get_mut(taken + 1) {
            Some(level) => *level = grown,
            None => self.stop(step, taken),
        }
        if self.is_dead() {
            self.stop(step, taken);
        } else {
            self.taken += 1;
        }
        Ok(())
    }
}

/// The hits that match under some environment.
fn matching(hits: &[Hit], view: &mut View<'_, '_>) -> Result<Vec<Hit>, Fault> {
    let mut matching = Vec::new();
    for hit in hits {
        match if view.joined(hit.slot) { under_any(hit, view)? } else { Fit::Yes } {
            Fit::Yes => matching.push(hit.clone()),
            Fit::Unknown => matching.push(Hit { sure: false, ..hit.clone() }),
            Fit::No => {}
        }
    }
    Ok(matching)
}

impl<'run> Monitor<'run> for Exact {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let Some(step) = hits.first().map(|hit| hit.step).filter(|_| self.stopped.is_none()) else { return Ok(()) };
        if self.calls { self.among_calls(step, hits, view) } else { self.among_matching(step, hits, view) }
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let (count, wanted) = (view.calls.len(), view.slots.len());
        let ended: Vec<Partial> = self.levels.last().into_iter().flat_map(|level| level.keys().cloned()).collect();
        let mut holds = false;
        for partial in &ended {
            holds = holds || partial.ends(view)?;
        }
        let stray = self.calls && count > self.taken;
        let lost = self.stopped.is_some() || stray;
        holds &= !self.calls || count == wanted;
        Ok(Judged { failed_for_good: lost, ..Judged::fails(!holds) })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let taken = self.levels.iter().rposition(|level| !level.is_empty()).unwrap_or(0);
        // Among all calls the step that is wrong is the first that was not taken: calls without a hit are not shown to a monitor.
        let missed = view.calls.get(self.taken).copied().filter(|_| self.calls);
        match (missed, self.stopped) {
            (Some(step), _) => explain::wrong_step(view, step, self.taken),
            (None, Some((step, taken))) => explain::wrong_step(view, step, taken),
            (None, None) => explain::too_short(view, taken),
        }
    }
}
