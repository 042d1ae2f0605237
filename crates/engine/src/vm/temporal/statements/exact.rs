//! `sequence only A -> B -> C` and `sequence exactly A -> B -> C`: nothing else among the steps that match, or among the calls.

use super::flow::FlowReach;
use super::sequence::SequenceReach;
use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::automaton::FlowAutomaton;
use crate::vm::temporal::decision::Decision;
use crate::vm::temporal::explain::{JoinMismatch, reason_with};
use crate::vm::temporal::search::Search;
use crate::vm::temporal::states::PartialMatch;
use crate::vm::temporal::step_lists::Certainty;
use crate::vm::temporal::timeline::{Env, ValueId};
use crate::vm::temporal::view::{Hit, PairFit, WindowView, merge_envs, same_values};
use crate::vm::temporal::window_events::{PossibleOutcomes, VerdictReason, WindowHits};
use averment_base::words::count_noun;
use averment_checker::ir::StepDistance;
use averment_syntax::ast::SequenceMode;
use std::sync::Arc;

pub(super) fn exact_statement(
    mode: SequenceMode,
    steps: &[PatternId],
    within: Option<StepDistance>,
) -> StatementDefinition {
    let calls = mode == SequenceMode::Exactly;
    let meaning = ExactSemantics { calls, within };
    let statement = StatementDefinition::new(helping_operands(steps), ExerciseRule::Always, meaning);
    StatementDefinition { calls, ..statement }.in_order(within)
}

#[derive(Debug)]
struct ExactSemantics {
    /// True for `exactly`.
    calls: bool,
    within: Option<StepDistance>,
}

impl StatementSemantics for ExactSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let Some((view, hits)) = search.window() else { return Ok(None) };
        let (sure, possible) = view.ask_both(&hits, |view, certainty| match self.calls {
            true => self.follow_calls(&hits, certainty, view),
            false => self.follow_matches(&hits, certainty, view),
        })?;
        let stands = PossibleOutcomes::wanted(sure.holds, possible.holds);
        let stands = PossibleOutcomes { failed_for_good: possible.wrong.is_some(), ..stands };
        let failing = if possible.holds { sure } else { possible };
        Ok(Some(Decision::new(stands).failing(move |view| match failing.wrong {
            Some((step, taken)) => wrong_step(view, step, taken),
            None => too_short(view, failing.taken),
        })))
    }
}

/// How the steps of a run fit a sequence.
#[derive(Clone)]
struct FittingSteps {
    holds: bool,
    taken: usize,
    /// The step that stands wrong, and how many are before it: no further step can make it hold.
    wrong: Option<(u32, usize)>,
}

impl ExactSemantics {
    /// A call is the next step of the sequence or ends it.
    fn follow_calls(
        &self,
        hits: &WindowHits,
        certainty: Certainty,
        view: &mut WindowView<'_, '_>,
    ) -> Result<FittingSteps, Fault> {
        let automaton = Arc::new(FlowAutomaton::of_sequence(view.operands.len()));
        let start = PartialMatch::empty_match(view);
        let calls = FlowReach::new(automaton, start, self.within, certainty).follow_hits(hits, view)?;
        let taken = calls.taken as usize;
        // The step that is wrong is the first that was not taken, whether it matches something or nothing.
        Ok(FittingSteps { holds: calls.holds, taken, wrong: view.calls.get(taken).map(|step| (*step, taken)) })
    }

    fn follow_matches(
        &self,
        hits: &WindowHits,
        certainty: Certainty,
        view: &mut WindowView<'_, '_>,
    ) -> Result<FittingSteps, Fault> {
        let reach = SequenceReach::new(view, self.within, true, certainty).follow_hits(hits, view)?;
        Ok(FittingSteps { holds: reach.may_end(view)?, taken: reach.taken(), wrong: reach.stopped })
    }
}

fn wrong_step(view: &mut WindowView<'_, '_>, step: u32, taken: usize) -> VerdictReason {
    let found = view.describe_step(step);
    let (before, env) = first_steps(view, taken);
    let reason = if taken < view.operands.len() {
        let near = view.hits_of(taken).find(|near| near.step == step);
        let mismatch = near.and_then(|near| view.join_mismatch(&near, &env, &before));
        let (test, because) = JoinMismatch::to_words(mismatch);
        format!("{found} stands where {}{test} should be{because}", view.describe_operand(taken, &env))
    } else {
        format!("{found} comes behind the end of the sequence")
    };
    let like = view.similar_name(step, std::iter::once(taken));
    reason_with(
        reason,
        vec![view.step_proof(step, taken.min(view.operands.len().saturating_sub(1)), Role::Decisive, like)],
    )
}

fn first_steps(view: &WindowView<'_, '_>, count: usize) -> (Vec<Hit>, Env) {
    let mut env: Env = view.header.iter().map(|_| ValueId::OPEN).collect();
    let mut hits: Vec<Hit> = Vec::new();
    for operand in 0..count.min(view.operands.len()) {
        let behind = hits.last().map(|last| last.step);
        let fits =
            |hit: &Hit| behind.is_none_or(|behind| hit.step > behind) && same_values(&hit.env, &env) == PairFit::Yes;
        let Some(hit) = view.hits_of(operand).find(fits) else { break };
        env = merge_envs(&env, &hit.env);
        hits.push(hit);
    }
    (hits, env)
}

fn too_short(view: &mut WindowView<'_, '_>, taken: usize) -> VerdictReason {
    let wanted = view.pattern_words(taken.min(view.operands.len().saturating_sub(1)));
    if taken == 0 {
        let near = view.misspelled_name(0).into_iter().collect();
        return reason_with(format!("there is no {wanted}"), near);
    }
    reason_with(
        format!("the run ends behind {} of the sequence, before {wanted}", count_noun(taken as u64, "step")),
        Vec::new(),
    )
}
