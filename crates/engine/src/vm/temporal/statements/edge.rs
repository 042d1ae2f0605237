//! `first A` and `last A`: which call stands at the edge of the call list.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operand};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed_form::{ClosedVerdict, ConditionOracle, OccurrenceLookup};
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::monitor::{Monitor, PossibleOutcomes, VerdictReason};
use crate::vm::temporal::timeline::to_index;
use crate::vm::temporal::view::{Hit, MonitorView};

pub(super) fn first_statement(step: PatternId) -> StatementDefinition {
    StatementDefinition::new(vec![helping_operand(step)], ExerciseRule::Always, EdgeSemantics { last: false })
        .of_calls()
}

pub(super) fn last_statement(step: PatternId) -> StatementDefinition {
    StatementDefinition::new(vec![helping_operand(step)], ExerciseRule::Always, EdgeSemantics { last: true }).of_calls()
}

#[derive(Debug)]
struct EdgeSemantics {
    last: bool,
}

impl StatementSemantics for EdgeSemantics {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

    fn closed_form(
        &self,
        search: &OccurrenceLookup<'_, '_>,
        _: &mut dyn ConditionOracle,
    ) -> Result<Option<ClosedVerdict>, Fault> {
        let Some(operand) = search.operand_occurrences(0) else { return Ok(None) };
        let place = if self.last { search.call_count().checked_sub(1) } else { Some(0) };
        // A match beyond the edge is no call of the list: one that was proposed, where others were executed.
        let holds = place.and_then(|place| search.call_step(place)).is_some_and(|call| operand.is_at(call));
        let last = self.last;
        Ok(Some(
            search.fails_with((!holds).then_some(move |view: &mut MonitorView<'_, '_>| Some(other_call(view, last)))),
        ))
    }

    fn build_monitor<'run>(&self, _: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(EdgeMonitor::new(self.last)))
    }
}

struct EdgeMonitor {
    last: bool,
    /// The last position of an A; for `first`, only the first call.
    place: Option<u32>,
}

impl EdgeMonitor {
    fn new(last: bool) -> Self {
        Self { last, place: None }
    }
}

impl<'run> Monitor<'run> for EdgeMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        for hit in hits {
            let wanted = self.last || hit.call == Some(0);
            if wanted && hit.call.is_some() && view.counts_match(hit) {
                self.place = hit.call;
            }
        }
        Ok(())
    }

    fn possible_outcomes(&mut self, view: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        let count = to_index(view.calls.len());
        let wanted = if self.last { count.checked_sub(1) } else { Some(0) };
        let holds = count > 0 && self.place == wanted;
        let settled = !self.last && count > 0;
        Ok(PossibleOutcomes {
            failed_for_good: !holds && settled,
            passed_for_good: holds && settled,
            ..PossibleOutcomes::from_failure(!holds)
        })
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        other_call(view, self.last)
    }

    fn explain_pass(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        at_edge(view, self.last)
    }
}

fn other_call(view: &mut MonitorView<'_, '_>, last: bool) -> VerdictReason {
    let place = if last { "last" } else { "first" };
    let wanted = view.pattern_words(0);
    let call = if last { view.calls.last() } else { view.calls.first() };
    match call.copied() {
        None => reason_with(format!("there are no calls, so the {place} one is not {wanted}"), Vec::new()),
        Some(call) => {
            let reason = format!("the {place} call is {}, not {wanted}", view.describe_step(call));
            reason_with(reason, vec![view.step_proof(call, 0, Role::Decisive, view.similar_name(call, 0..1))])
        }
    }
}

fn at_edge(view: &mut MonitorView<'_, '_>, last: bool) -> VerdictReason {
    let place = if last { "last" } else { "first" };
    let call = if last { view.calls.last() } else { view.calls.first() };
    call.copied().map_or_else(VerdictReason::default, |call| {
        let proof = view.step_proof(call, 0, Role::Decisive, String::new());
        reason_with(format!("the {place} call is {}", view.describe_step(call)), vec![proof])
    })
}
