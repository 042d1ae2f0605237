//! `only A, B`, `first A` and `last A`: every call of the list is one of them, or the one at its edge is.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::{Decision, FailingPlace, PlaceTally};
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::search::Search;
use crate::vm::temporal::step_lists::Certainty;
use crate::vm::temporal::view::WindowView;
use crate::vm::temporal::window_events::{PossibleOutcomes, VerdictReason};

pub(super) fn only_statement(steps: &[PatternId]) -> StatementDefinition {
    StatementDefinition::new(helping_operands(steps), ExerciseRule::Calls, OnlySemantics).of_calls().closed_if(true)
}

#[derive(Debug)]
struct OnlySemantics;

impl StatementSemantics for OnlySemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let mut tally = PlaceTally::new(search);
        for place in 0..search.call_count() {
            let Some(call) = search.call_step(place) else { break };
            let is_one = |certainty| (0..search.operand_count()).any(|operand| search.is_at(operand, call, certainty));
            let stray = FailingPlace::at_step(call);
            if !is_one(Certainty::Possible) {
                tally.add_sure(stray);
            } else if !is_one(Certainty::Sure) {
                tally.add_possible(stray);
            }
            if tally.is_enough {
                break;
            }
        }
        Ok(Some(tally.decide(|view, place| Some(stray_call(view, place.step)))))
    }
}

fn stray_call(view: &mut WindowView<'_, '_>, call: u32) -> VerdictReason {
    let allowed: Vec<String> = (0..view.operands.len()).map(|operand| view.pattern_words(operand)).collect();
    let allowed = match allowed.as_slice() {
        [one] => format!("not {one}"),
        many => format!("none of {}", many.join(", ")),
    };
    let reason = format!("{} is {allowed}", view.describe_step(call));
    reason_with(reason, vec![view.step_proof(call, 0, Role::Decisive, view.similar_name(call, 0..view.operands.len()))])
}

/// `first A`, or `last A`.
pub(super) fn edge_statement(step: PatternId, last: bool) -> StatementDefinition {
    let operands = helping_operands(&[step]);
    StatementDefinition::new(operands, ExerciseRule::Always, EdgeSemantics { last }).of_calls().closed_if(true)
}

#[derive(Debug)]
struct EdgeSemantics {
    last: bool,
}

impl StatementSemantics for EdgeSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let (last, count) = (self.last, search.call_count());
        let call = search.call_step(if last { count.saturating_sub(1) } else { 0 });
        // A match beyond the edge is no call of the list: one that was proposed, where others were executed.
        let holds = |certainty| call.is_some_and(|call| search.is_at(0, call, certainty));
        let (sure, possible) = (holds(Certainty::Sure), holds(Certainty::Possible));
        let is_settled = !last && count > 0;
        let stands = PossibleOutcomes {
            failed_for_good: !possible && is_settled,
            passed_for_good: sure && is_settled,
            ..PossibleOutcomes::wanted(sure, possible)
        };
        let decision = Decision::new(stands).failing(move |view| other_call(view, last));
        Ok(Some(decision.passing(move |view| at_edge(view, last))))
    }
}

fn other_call(view: &mut WindowView<'_, '_>, last: bool) -> VerdictReason {
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

fn at_edge(view: &mut WindowView<'_, '_>, last: bool) -> VerdictReason {
    let place = if last { "last" } else { "first" };
    let call = if last { view.calls.last() } else { view.calls.first() };
    call.copied().map_or_else(VerdictReason::default, |call| {
        view.step_reason(format!("the {place} call is {}", view.describe_step(call)), call, 0)
    })
}
