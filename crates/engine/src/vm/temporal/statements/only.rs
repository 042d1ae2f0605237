//! `only A, B`: every call of the list is one of them.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operand, to_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::{Decision, FailingPlace, PlaceTally};
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::search::Search;
use crate::vm::temporal::step_lists::Certainty;
use crate::vm::temporal::view::WindowView;
use crate::vm::temporal::window_events::VerdictReason;

pub(super) fn only_statement(steps: &[PatternId]) -> StatementDefinition {
    StatementDefinition::new(to_operands(steps, helping_operand), ExerciseRule::Calls, OnlySemantics).of_calls()
}

#[derive(Debug)]
struct OnlySemantics;

impl StatementSemantics for OnlySemantics {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

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
