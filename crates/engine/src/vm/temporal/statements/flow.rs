//! `flow F`: the call list is a word of a regular expression under one environment.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::automaton::{FlowAutomaton, StateSet, flow_patterns};
use crate::vm::temporal::decision::Decision;
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::search::Search;
use crate::vm::temporal::states::{KEPT, PartialMatch};
use crate::vm::temporal::step_lists::{Certainty, bound_holds, measure_of};
use crate::vm::temporal::timeline::{Env, to_index};
use crate::vm::temporal::view::{Hit, WindowView};
use crate::vm::temporal::window_events::{PossibleOutcomes, VerdictReason, WindowHits, call_position, event_hit};
use averment_checker::ir::{CallFlow, StepDistance};
use rustc_hash::FxHashMap;
use std::sync::Arc;

pub(super) fn flow_statement(flow: &CallFlow<PatternId>) -> StatementDefinition {
    let automaton = FlowAutomaton::new(flow).map(Arc::new);
    let operands = helping_operands(&flow_patterns(flow));
    StatementDefinition::new(operands, ExerciseRule::Always, FlowSemantics { automaton }).of_calls()
}

#[derive(Debug)]
struct FlowSemantics {
    /// `None` if it is too large.
    automaton: Option<Arc<FlowAutomaton>>,
}

impl StatementSemantics for FlowSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let Some(automaton) = &self.automaton else {
            return Err(Fault::Other("this flow is too large: its repetitions need too many states".to_owned()));
        };
        let Some((view, hits)) = search.window() else { return Ok(None) };
        let (sure, possible) = view.ask_both(&hits, |view, certainty| {
            let start = PartialMatch::start_of_some(view);
            FlowReach::new(Arc::clone(automaton), start, None, certainty).follow_hits(&hits, view)
        })?;
        let stands = PossibleOutcomes::wanted(sure.holds, possible.holds);
        let stands = PossibleOutcomes { failed_for_good: possible.taken < to_index(view.calls.len()), ..stands };
        let failing = if possible.holds { sure } else { possible };
        Ok(Some(Decision::new(stands).failing(move |view| left_flow_reason(view, failing.taken, &failing.expected))))
    }
}

/// How many calls a flow takes, and what it goes on with.
#[derive(Clone)]
pub(super) struct TakenCalls {
    pub(super) holds: bool,
    pub(super) taken: u32,
    expected: ExpectedSteps,
}

/// The states in which the calls so far may leave a flow.
pub(super) struct FlowReach {
    automaton: Arc<FlowAutomaton>,
    within: Option<StepDistance>,
    certainty: Certainty,
    states: FxHashMap<PartialMatch, StateSet>,
    taken: u32,
}

#[derive(Debug, Clone, Default)]
struct ExpectedSteps {
    operands: Vec<usize>,
    end: bool,
    /// Bound values for every reading of the calls, and the events whose tests wait for a value.
    bound: Vec<(Env, Vec<(usize, u32)>)>,
}

impl FlowReach {
    /// `within` is the bound between neighboring calls.
    pub(super) fn new(
        automaton: Arc<FlowAutomaton>,
        start: PartialMatch,
        within: Option<StepDistance>,
        certainty: Certainty,
    ) -> Self {
        let states = FxHashMap::from_iter([(start, automaton.start_states())]);
        Self { automaton, within, certainty, states, taken: 0 }
    }

    pub(super) fn follow_hits(mut self, hits: &WindowHits, view: &mut WindowView<'_, '_>) -> Result<TakenCalls, Fault> {
        for step in hits.steps() {
            let Some(step_number) = step.first().map(|first| first.step) else { continue };
            let Some(place) = call_position(step_number, view) else { continue };
            let is_next = place == self.taken && self.is_near(step_number, view);
            let advanced = if is_next { self.advance_states(step, view)? } else { FxHashMap::default() };
            if advanced.is_empty() {
                break;
            }
            (self.states, self.taken) = (advanced, self.taken + 1);
        }
        let mut holds = false;
        if self.taken >= to_index(view.calls.len()) {
            for (partial, states) in &self.states {
                holds = holds || (self.automaton.may_end(states) && partial.can_end(self.certainty, view)?);
            }
        }
        Ok(TakenCalls { holds, taken: self.taken, expected: self.expected_steps() })
    }

    /// Whether a call is near enough to the one before it.
    fn is_near(&self, step: u32, view: &WindowView<'_, '_>) -> bool {
        let before = self.taken.checked_sub(1).and_then(|before| view.calls.get(before as usize));
        let measure = |step: u32| measure_of(view, self.within, step);
        before.is_none_or(|before| self.certainty.counts(bound_holds(self.within, measure(*before), measure(step))))
    }

    fn expected_steps(&self) -> ExpectedSteps {
        let mut all = StateSet::default();
        let mut next = StateSet::default();
        for states in self.states.values() {
            all.add_all(states);
            next.add_all(&self.automaton.next(states));
        }
        let bound = self.states.keys().map(|partial| (partial.env.clone(), partial.later.clone()));
        let mut bound: Vec<_> = bound.collect();
        bound.sort_unstable();
        ExpectedSteps { operands: self.automaton.state_operands(&next), end: self.automaton.may_end(&all), bound }
    }

    fn advance_states(
        &self,
        hits: &[Hit],
        view: &mut WindowView<'_, '_>,
    ) -> Result<FxHashMap<PartialMatch, StateSet>, Fault> {
        let mut advanced: FxHashMap<PartialMatch, StateSet> = FxHashMap::default();
        for (partial, states) in &self.states {
            let next = self.automaton.next(states);
            for hit in hits {
                let reached = self.automaton.of_operand(&next, hit.operand);
                view.spend_fuel(1)?;
                if reached.is_empty() || !self.certainty.counts_hit(hit) {
                    continue;
                }
                if let Some(grown) = partial.extended_with(hit, self.certainty, view)? {
                    if !advanced.is_empty() && !advanced.contains_key(&grown) {
                        view.spend_fuel(KEPT + 8 * grown.later.len())?;
                    }
                    advanced.entry(grown).or_default().add_all(&reached);
                }
            }
        }
        Ok(advanced)
    }
}

fn left_flow_reason(view: &mut WindowView<'_, '_>, taken: u32, expected: &ExpectedSteps) -> VerdictReason {
    // Where the calls can be read in several ways, no value is the one that is wanted.
    let env = match expected.bound.as_slice() {
        [(env, _)] => env.clone(),
        _ => view.header.clone(),
    };
    let mut could: Vec<String> =
        expected.operands.iter().map(|operand| view.describe_operand(*operand, &env)).collect();
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
            let because =
                unexpected_call_words(view, call, expected).map_or_else(String::new, |words| [": ", &words].concat());
            let reason = format!("{} leaves the flow, which {goes_on}{or_ends}{because}", view.describe_step(call));
            let like = view.similar_name(call, expected.operands.iter().copied());
            let mut evidence = vec![view.step_proof(call, usize::MAX, Role::Decisive, like)];
            let before = taken.checked_sub(1).and_then(|before| view.calls.get(before as usize)).copied();
            let label = "up to here the calls fit";
            evidence.extend(before.map(|step| view.step_proof(step, usize::MAX, Role::Value, label.to_owned())));
            reason_with(reason, evidence)
        }
        None => {
            let last = view.calls.last().copied();
            let behind =
                last.map_or_else(|| "without calls".to_owned(), |last| format!("behind {}", view.describe_step(last)));
            let evidence = last.map(|last| view.step_proof(last, usize::MAX, Role::Decisive, String::new()));
            let reason = format!("the run ends {behind} inside the flow, which {goes_on}");
            reason_with(reason, evidence.into_iter().collect())
        }
    }
}

fn unexpected_call_words(view: &mut WindowView<'_, '_>, call: u32, expected: &ExpectedSteps) -> Option<String> {
    for operand in &expected.operands {
        let Some(near) = view.hits_of(*operand).find(|near| near.step == call) else { continue };
        for (env, waiting) in &expected.bound {
            let waiting: Vec<Hit> =
                waiting.iter().filter_map(|(operand, event)| event_hit(*operand, *event, view)).collect();
            if let Some(join_mismatch) = view.join_mismatch(&near, env, &waiting) {
                return Some(join_mismatch.words);
            }
        }
    }
    None
}
