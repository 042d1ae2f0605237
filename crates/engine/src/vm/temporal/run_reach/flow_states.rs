//! Where a `flow` stands after a call, so that a guard can leave calls out that lead back to where it stood before: what comes then is judged
//! by the flow itself, behind fewer calls.

use super::{ReachReader, RunReach};
use crate::bytecode::program::{CompiledAssertion, CompiledCheck, Program};
use crate::vm::prepare::PreparedProgram;
use crate::vm::temporal::automaton::{FlowAutomaton, StateSet, flow_patterns};
use crate::vm::temporal::step_marks::MarkedPattern;
use averment_checker::ir::Temporal;
use averment_runs::run::StepKind;

/// The states of a flow over calls of which each is seen to match by itself.
#[derive(Debug)]
pub struct FlowStates {
    automaton: FlowAutomaton,
    /// Its patterns, in the order in which they are written.
    pub patterns: Vec<MarkedPattern>,
}

/// Where a flow stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowState(StateSet);

impl FlowStates {
    /// Of an assertion that is a flow without bindings; `reach` is how far it looks.
    #[must_use]
    pub fn of_assertion(
        program: &Program,
        prepared: &PreparedProgram,
        assertion: &CompiledAssertion,
        reach: &RunReach,
    ) -> Option<Self> {
        let CompiledCheck::Temporal(number) = assertion.check else { return None };
        let Temporal::Flow { flow } = &program.temporals.get(number.0 as usize)?.temporal else { return None };
        let settings = &assertion.settings;
        if reach.patterns.is_empty() || !settings.when.is_empty() || settings.expect_fail.is_some() {
            return None;
        }
        let mut reader = ReachReader::new(program, prepared);
        let patterns = flow_patterns(flow);
        patterns.iter().for_each(|pattern| reader.add_pattern(*pattern));
        let is_plain = |pattern| {
            let alternatives = reader.plan.evaluated_alternatives(pattern);
            alternatives
                .iter()
                .all(|one| one.kind == StepKind::Call && !one.proposed && one.binds.is_empty() && one.joins.is_empty())
        };
        if !reader.is_steady || !reader.is_local || !patterns.iter().all(|pattern| is_plain(*pattern)) {
            return None;
        }
        let marked = |pattern| Some(MarkedPattern { pattern: reader.plan.number_of(pattern)?, binding: None });
        let patterns = patterns.into_iter().map(marked).collect::<Option<_>>()?;
        Some(Self { automaton: FlowAutomaton::new(flow)?, patterns })
    }

    /// Where it stands before the first call.
    #[must_use]
    pub fn start(&self) -> FlowState {
        FlowState(self.automaton.start_states())
    }

    /// Where it stands behind a call that matches these of its patterns, by their places.
    #[must_use]
    pub fn behind(&self, state: &FlowState, matched: impl IntoIterator<Item = usize>) -> FlowState {
        let next = self.automaton.next(&state.0);
        let mut reached = StateSet::default();
        matched.into_iter().for_each(|operand| reached.add_all(&self.automaton.of_operand(&next, operand)));
        FlowState(reached)
    }
}
