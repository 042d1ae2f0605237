//! `first A` and `last A`: which call stands at the edge of the call list.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operand};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::Decision;
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::search::Search;
use crate::vm::temporal::step_lists::Certainty;
use crate::vm::temporal::view::WindowView;
use crate::vm::temporal::window_events::{PossibleOutcomes, VerdictReason};

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
