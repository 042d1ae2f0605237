//! Flow statements, for which a guard needs only the calls that lead to the current state.

use super::{AssertionSet, EarlierSteps, GrowthIndex, GrowthNeed, LineTouch, TakenMarks};
use averment_engine::vm::temporal::run_reach::flow_states::{FlowState, FlowStates};
use std::collections::BTreeSet;

/// A flow statement with the slots of its patterns.
#[derive(Debug)]
pub struct IndexedFlow {
    place: usize,
    states: FlowStates,
    slots: Vec<u32>,
}

impl IndexedFlow {
    /// Returns the state before the first call.
    #[must_use]
    pub fn start(&self) -> FlowState {
        self.states.start()
    }

    /// Returns the state after a call; `None` if the line does not tell which of its patterns the call matches.
    #[must_use]
    pub fn behind(&self, state: &FlowState, call: &LineTouch) -> Option<FlowState> {
        let mut matched = Vec::new();
        for (operand, slot) in self.slots.iter().enumerate() {
            let mut marks = call.marks.iter().filter(|one| one.mark.slot == *slot).peekable();
            if marks.peek().is_some() {
                matched.push(operand);
            }
            if marks.any(|one| !one.sure) {
                return None;
            }
        }
        Some(self.states.behind(state, matched))
    }
}

impl GrowthIndex {
    pub(super) fn add_flow(&mut self, place: usize, program: usize, states: FlowStates) {
        let slots = states.patterns.clone().into_iter().map(|pattern| self.slot_of(program, Some(pattern))).collect();
        self.flows.push(IndexedFlow { place, states, slots });
    }

    /// Returns the flows that need only some of the calls.
    #[must_use]
    pub fn flows(&self) -> &[IndexedFlow] {
        &self.flows
    }

    /// Adds a separate need for each flow, because no other calls may be present.
    pub(super) fn add_flow_needs(&self, touch: &LineTouch, settled: &AssertionSet, needs: &mut Vec<GrowthNeed>) {
        for (number, flow) in (0..).zip(&self.flows) {
            let is_faulty = touch.marks.iter().any(|one| one.steps == u64::MAX && flow.slots.contains(&one.mark.slot));
            if settled.contains(flow.place) || is_faulty {
                continue;
            }
            let mut wanted = AssertionSet::default();
            wanted.insert(flow.place);
            needs.push(GrowthNeed { wanted, earlier: EarlierSteps::Taken(BTreeSet::from([TakenMarks::Flow(number)])) });
        }
    }
}
