//! `flow F`: the call list is a word of a regular expression under one environment.

use super::{Exercise, Meaning, Statement, all, helps};
use crate::bytecode::program::PatternId;
use crate::ir::Flow;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::automaton::{Automaton, States, leaves};
use crate::vm::temporal::explain::why;
use crate::vm::temporal::monitor::{Judged, Monitor, Why, hit};
use crate::vm::temporal::states::{KEPT, Partial};
use crate::vm::temporal::timeline::{Env, index};
use crate::vm::temporal::view::{Hit, View};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The definition.
pub(super) fn statement(flow: &Flow<PatternId>) -> Statement {
    let automaton = Automaton::new(flow).map(Arc::new);
    Statement::new(all(&leaves(flow), helps), Exercise::Always, InFlow { automaton }).of_calls()
}

#[derive(Debug)]
struct InFlow {
    /// `None` for one that is too large.
    automaton: Option<Arc<Automaton>>,
}

impl Meaning for InFlow {
    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        match &self.automaton {
            Some(automaton) => Ok(Box::new(FlowMonitor::new(view, Arc::clone(automaton)))),
            None => Err(Fault::Other("this flow is too large: its repetitions need too many states".to_owned())),
        }
    }
}

/// The monitor. A further match can only help: what is possible is simulated in one replica, what is sure in the other.
struct FlowMonitor {
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
struct Expected {
    /// Patterns, by operand.
    operands: Vec<usize>,
    /// Whether the expression could end.
    end: bool,
    /// What has been bound, in every way that the calls can be read; and operand and event of the steps whose tests wait for a value.
    bound: Vec<(Env, Vec<(usize, u32)>)>,
}

impl FlowMonitor {
    /// A monitor at the start.
    fn new(view: &View<'_, '_>, automaton: Arc<Automaton>) -> Self {
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
        Expected { operands: self.automaton.operands(&next), end: self.automaton.may_end(&all), bound }
    }

    /// The states behind one call.
    fn advance(&self, hits: &[Hit], view: &mut View<'_, '_>) -> Result<FxHashMap<Partial, States>, Fault> {
        let mut advanced: FxHashMap<Partial, States> = FxHashMap::default();
        for (partial, states) in &self.states {
            let next = self.automaton.next(states);
            for hit in hits {
                let reached = self.automaton.of_operand(&next, hit.operand);
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
        left_flow(view, self.taken, &expected)
    }
}

/// Where a run left a flow, and what could have come.
fn left_flow(view: &mut View<'_, '_>, taken: u32, expected: &Expected) -> Why {
    // Where the calls can be read in several ways, no value is the one that is wanted.
    let env = match expected.bound.as_slice() {
        [(env, _)] => env.clone(),
        _ => view.header.clone(),
    };
    let mut could: Vec<String> = expected.operands.iter().map(|operand| view.thing(*operand, &env)).collect();
    could.dedup();
    let goes_on = match could.split_last() {
        None if expected.end && taken == 0 => "has no calls".to_owned(),
        None => "is at its end here".to_owned(),
        Some((last, [])) => format!("goes on here with {last}"),
        Some((last, others)) => format!("goes on here with {} or {last}", others.join(", ")),
    };
    let or_ends = if expected.end && !could.is_empty() { " or ends" } else { "" };
    match view.calls.get(taken as usize).copied() {
        Some(call) => {
            let because = not_next(view, call, expected).map_or_else(String::new, |words| [": ", &words].concat());
            let reason = format!("{} leaves the flow, which {goes_on}{or_ends}{because}", view.say(call));
            let like = view.similar_name(call, expected.operands.iter().copied());
            let mut evidence = vec![view.step_proof(call, usize::MAX, Role::Decisive, like)];
            let before = taken.checked_sub(1).and_then(|before| view.calls.get(before as usize)).copied();
            let label = "up to here the calls fit";
            evidence.extend(before.map(|step| view.step_proof(step, usize::MAX, Role::Value, label.to_owned())));
            why(reason, evidence)
        }
        None => {
            let last = view.calls.last().copied();
            let behind = last.map_or_else(|| "without calls".to_owned(), |last| format!("behind {}", view.say(last)));
            let evidence = last.map(|last| view.step_proof(last, usize::MAX, Role::Decisive, String::new()));
            let reason = format!("the run ends {behind} inside the flow, which {goes_on}");
            why(reason, evidence.into_iter().collect())
        }
    }
}

/// Why a call does not go on with a flow though a pattern that could come matches it.
fn not_next(view: &mut View<'_, '_>, call: u32, expected: &Expected) -> Option<String> {
    for operand in &expected.operands {
        let Some(near) = view.hits_of(*operand).find(|near| near.step == call) else { continue };
        for (env, waiting) in &expected.bound {
            let waiting: Vec<Hit> = waiting.iter().filter_map(|(operand, event)| hit(*operand, *event, view)).collect();
            if let Some(join_mismatch) = view.join_mismatch(&near, env, &waiting) {
                return Some(join_mismatch.words);
            }
        }
    }
    None
}
