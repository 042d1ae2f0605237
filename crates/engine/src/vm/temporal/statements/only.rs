//! `only A, B`: every call of the list is one of them.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operand, to_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed_form::{ClosedVerdict, ConditionOracle, OccurrenceLookup};
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::failures::FailureList;
use crate::vm::temporal::monitor::{Monitor, PossibleOutcomes, VerdictReason};
use crate::vm::temporal::timeline::to_index;
use crate::vm::temporal::view::{Hit, MonitorView};

pub(super) fn only_statement(steps: &[PatternId]) -> StatementDefinition {
    StatementDefinition::new(to_operands(steps, helping_operand), ExerciseRule::Calls, OnlySemantics).of_calls()
}

#[derive(Debug)]
struct OnlySemantics;

impl StatementSemantics for OnlySemantics {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

    fn closed_form(
        &self,
        search: &OccurrenceLookup<'_, '_>,
        _: &mut dyn ConditionOracle,
    ) -> Result<Option<ClosedVerdict>, Fault> {
        let is_allowed = |call: u32| search.occurrences_from(0).any(|(_, operand)| operand.is_at(call));
        let is_stray = |place: &usize| search.call_step(*place).is_some_and(|call| !is_allowed(call));
        let strays = (0..search.call_count()).filter(is_stray).map(to_index);
        let mut failures = FailureList::new(search.listed);
        failures.extend(strays.take(if search.lists_failures() { usize::MAX } else { 1 }));
        let fails = !failures.is_empty();
        let words = move |view: &mut MonitorView<'_, '_>| {
            Some(failures.explain_places(view, |view, place| Some(stray_call(view, *place))))
        };
        Ok(Some(search.fails_with(fails.then_some(words))))
    }

    fn build_monitor<'run>(&self, view: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(OnlyMonitor::new(view)))
    }
}

struct OnlyMonitor {
    looked: u32,
    strays: FailureList<u32>,
}

impl OnlyMonitor {
    fn new(view: &MonitorView<'_, '_>) -> Self {
        Self { looked: 0, strays: FailureList::for_view(view) }
    }
}

impl<'run> Monitor<'run> for OnlyMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        let Some(place) = hits.iter().find_map(|hit| hit.call.filter(|_| view.counts_match(hit))) else {
            return Ok(());
        };
        // Calls without a hit are not shown to a monitor.
        self.strays.extend(self.looked..place);
        self.looked = self.looked.max(place.saturating_add(1));
        Ok(())
    }

    fn possible_outcomes(&mut self, view: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        Ok(PossibleOutcomes::fails_for_good(!self.strays.is_empty() || (self.looked as usize) < view.calls.len()))
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        let mut strays = self.strays.clone();
        strays.extend(self.looked..to_index(view.calls.len()));
        strays.explain_places(view, |view, place| Some(stray_call(view, *place)))
    }
}

fn stray_call(view: &mut MonitorView<'_, '_>, place: u32) -> VerdictReason {
    let Some(&call) = view.calls.get(place as usize) else { return VerdictReason::default() };
    let allowed: Vec<String> = (0..view.operands.len()).map(|operand| view.pattern_words(operand)).collect();
    let allowed = match allowed.as_slice() {
        [one] => format!("not {one}"),
        many => format!("none of {}", many.join(", ")),
    };
    let reason = format!("{} is {allowed}", view.describe_step(call));
    reason_with(reason, vec![view.step_proof(call, 0, Role::Decisive, view.similar_name(call, 0..view.operands.len()))])
}
