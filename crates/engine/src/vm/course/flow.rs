//! `flow F`: the call list is a word of a regular expression under one environment.

use super::automaton::{Automaton, States};
use super::explain;
use super::monitor::{Judged, Monitor, Why};
use super::states::{KEPT, Partial};
use super::timeline::{Env, index};
use super::view::{Hit, View};
use crate::vm::fault::Fault;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The monitor. A further match can only help: what is possible is simulated in one replica, what is sure in the other.
pub(super) struct FlowMonitor {
    automaton: Arc<Automaton>,
    /// States by what has been bound.
    states: FxHashMap<Partial, States>,
    /// How many calls the expression has taken.
    taken: u32,
    /// What could have come where the run left the expression.
    left: Option<Expected>,
}

/// What could come next.
#[derive(Debug, Clone, Default)]
pub(super) struct Expected {
    /// Patterns, by slot.
    pub(super) slots: Vec<usize>,
    /// Whether the expression could end.
    pub(super) end: bool,
    /// What has been bound, in every way that the calls can be read; and slot and event of the steps whose tests wait for a value.
    pub(super) bound: Vec<(Env, Vec<(usize, u32)>)>,
}

impl FlowMonitor {
    /// A monitor at the start.
    pub(super) fn new(view: &View<'_, '_>, automaton: Arc<Automaton>) -> Self {
        let states = FxHashMap::from_iter([(Partial::start_of_some(view), automaton.start())]);
        Self { automaton, states, taken: 0, left: None }
    }

    fn expected(&self) -> Expected {
        let mut all = States::default();
        let mut next = States::default();
        for states in self.states.values() {
            all.join(states);
            next.join(&self.automaton.next(states));
        }
        let bound = self.states.keys().map(|partial| (partial.env.clone(), partial.later.clone()));
        let mut bound: Vec<_> = bound.collect();
        bound.sort_unstable();
        Expected { slots: self.automaton.slots(&next), end: self.automaton.may_end(&all), bound }
    }

    /// The states behind one call.
    fn advance(&self, hits: &[Hit], view: &mut View<'_, '_>) -> Result<FxHashMap<Partial, States>, Fault> {
        let mut advanced: FxHashMap<Partial, States> = FxHashMap::default();
        for (partial, states) in &self.states {
            let next = self.automaton.next(states);
            for hit in hits {
                let reached = self.automaton.of_slot(&next, hit.slot);
                view.spend(1)?;
                if reached.is_empty() || !view.counts(hit) {
                    continue;
                }
                if let Some(grown) = partial.with(hit, view)? {
                    if !advanced.is_empty() && !advanced.contains_key(&grown) {
                        view.spend(KEPT + 8 * grown.later.len())?;
                    }
                    advanced.entry(grown).or_default().join(&reached);
                }
            }
        }
        Ok(advanced)
    }
}

impl<'run> Monitor<'run> for FlowMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let Some(place) = hits.first().and_then(|hit| hit.call) else { return Ok(()) };
        if self.left.is_some() {
            return Ok(());
        }
        let advanced = if place == self.taken { self.advance(hits, view)? } else { FxHashMap::default() };
        if advanced.is_empty() {
            self.left = Some(self.expected());
        } else {
            (self.states, self.taken) = (advanced, self.taken + 1);
        }
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let lost = self.taken < index(view.calls.len());
        let mut holds = false;
        if !lost {
            for (partial, states) in &self.states {
                holds = holds || (self.automaton.may_end(states) && partial.ends(view)?);
            }
        }
        Ok(Judged { failed_for_good: lost, ..Judged::fails(!holds) })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let expected = self.left.clone().unwrap_or_else(|| self.expected());
        explain::left_flow(view, self.taken, &expected)
    }
}
