//! `immediately before A -> B` and `immediately after A -> B`: what stands beside a step in the call list.

use super::before::unknown_cause_words;
use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operand, hurting_operand, in_front};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::{Decision, FailingPlace, PlaceTally};
use crate::vm::temporal::explain::{for_which, reason_with};
use crate::vm::temporal::recent_occurrences::bound_holds;
use crate::vm::temporal::search::{FoundMatch, Search};
use crate::vm::temporal::step_lists::{Certainty, measure_of};
use crate::vm::temporal::view::{Hit, PairFit, WindowView, same_values};
use crate::vm::temporal::window_events::{VerdictReason, call_position, event_hit};
use averment_checker::ir::StepDistance;

pub(super) fn immediately_before(
    step: PatternId,
    targets: &[PatternId],
    within: Option<StepDistance>,
) -> StatementDefinition {
    let operands = in_front(helping_operand(step), targets, hurting_operand);
    let exercise = ExerciseRule::AnyOf(1..operands.len());
    StatementDefinition::new(operands, exercise, ImmediateSemantics { after: false, within })
        .in_order()
        .of_calls()
        .with_bound(within)
}

pub(super) fn immediately_after(
    step: PatternId,
    targets: &[PatternId],
    within: Option<StepDistance>,
) -> StatementDefinition {
    let operands = in_front(hurting_operand(step), targets, helping_operand);
    let meaning = ImmediateSemantics { after: true, within };
    StatementDefinition::new(operands, ExerciseRule::AnyOf(0..1), meaning).in_order().of_calls().with_bound(within)
}

#[derive(Debug)]
struct ImmediateSemantics {
    after: bool,
    within: Option<StepDistance>,
}

impl StatementSemantics for ImmediateSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let (mut tally, after) = (PlaceTally::new(search), self.after);
        let mut for_good = Vec::new();
        for operand in 1..search.operand_count() {
            let (own, wanted) = if after { (SOURCE, operand) } else { (operand, SOURCE) };
            search.judge_matches(&mut tally, own, None, |search, own, certainty| {
                self.lacks_neighbor(search, own, wanted, certainty)
            })?;
        }
        if let Some(view) = search.view() {
            let may_come = |place: &&FailingPlace| !after || !is_last_call(view, place.step);
            for_good.extend(tally.sure.iter().filter(may_come).copied());
        }
        let (is_lost, failed_for_good) = (!for_good.is_empty(), !for_good.is_empty());
        if is_lost && search.view().is_some_and(|view| !view.context.window.closed) {
            tally.sure = for_good;
        }
        let side = if after { NeighborSide::After } else { NeighborSide::Before };
        let decision = tally.decide(move |view, place| {
            let (own, wanted) = if after { (SOURCE, place.operand) } else { (place.operand, SOURCE) };
            let hit = Hit { call: call_position(place.step, view), ..event_hit(own, place.event, view)? };
            Some(neighbor_reason(view, &hit, wanted, side))
        });
        Ok(Some(decision.fails_for_good(failed_for_good)))
    }
}

/// True if the next call may still come.
fn is_last_call(view: &WindowView<'_, '_>, step: u32) -> bool {
    view.calls.last() == Some(&step)
}

impl ImmediateSemantics {
    /// A match that has no match of `wanted` just beside it in the call list.
    fn lacks_neighbor(
        &self,
        search: &mut Search<'_, '_, '_>,
        own: FoundMatch,
        wanted: usize,
        certainty: Certainty,
    ) -> Result<Option<FailingPlace>, Fault> {
        let place = if self.after { FailingPlace { operand: wanted, ..own.place() } } else { own.place() };
        let Some((view, hits)) = search.window() else { return Ok(None) };
        let Some(hit) = hits.get(own.operand, own.number) else { return Ok(None) };
        let beside = hit.call.and_then(|call| if self.after { call.checked_add(1) } else { call.checked_sub(1) });
        let Some(&beside) = beside.and_then(|beside| view.calls.get(beside as usize)) else { return Ok(Some(place)) };
        for other in hits.at(wanted, beside) {
            if self.are_neighbors(hit, other, certainty.opposite(), view)? {
                return Ok(None);
            }
        }
        Ok(Some(place))
    }

    fn are_neighbors(
        &self,
        hit: &Hit,
        other: &Hit,
        certainty: Certainty,
        view: &mut WindowView<'_, '_>,
    ) -> Result<bool, Fault> {
        let (earlier, later) = if self.after { (hit, other) } else { (other, hit) };
        let measure = |hit: &Hit| measure_of(view, self.within, hit.step);
        let is_near = certainty.counts(bound_holds(self.within, measure(earlier), measure(later)));
        let is_known = self.after || view.unknown_cause(earlier.step, later.step).is_none();
        if !certainty.counts_hit(other) || !is_near || !is_known {
            return Ok(false);
        }
        let fresh = Hit { env: hit.fresh_env(), ..hit.clone() };
        Ok(certainty.counts_fit(view.pair_fit(fresh.as_side(), other.as_side())?))
    }
}

const SOURCE: usize = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NeighborSide {
    Before,
    After,
}

fn neighbor_reason(view: &mut WindowView<'_, '_>, hit: &Hit, wanted: usize, beside: NeighborSide) -> VerdictReason {
    let side = if beside == NeighborSide::Before { "before" } else { "after" };
    let thing = view.describe_operand(wanted, &hit.env);
    let step = view.describe_step(hit.step);
    let place = match beside {
        NeighborSide::Before => hit.call.and_then(|call| call.checked_sub(1)),
        NeighborSide::After => hit.call.map(|call| call + 1),
    };
    let other = place.and_then(|place| view.calls.get(place as usize)).copied();
    let near = other.and_then(|other| view.hits_of(wanted).find(|near| near.step == other));
    let fits = near
        .as_ref()
        .is_some_and(|near| same_values(&near.env, &hit.env) == PairFit::Yes && view.is_pair(near, hit, &hit.env));
    let join_mismatch = near.and_then(|near| view.join_mismatch(&near, &hit.env, std::slice::from_ref(hit)));
    let test = join_mismatch
        .as_ref()
        .and_then(|join_mismatch| join_mismatch.test.as_deref())
        .map(for_which)
        .unwrap_or_default();
    let because = join_mismatch.map_or_else(String::new, |join_mismatch| [": ", &join_mismatch.words].concat());
    let unknown = other
        .filter(|_| beside == NeighborSide::Before)
        .and_then(|other| Some((other, view.unknown_cause(other, hit.step)?)));
    if let (Some((other, said)), true) = (unknown, fits) {
        let words = unknown_cause_words(view, other, said);
        let mut evidence = view.decisive_evidence(hit, String::new());
        evidence.push(view.step_proof(other, wanted, Role::NearMiss, String::new()));
        return reason_with([&step, " has no ", &thing, " just before it: ", &words].concat(), evidence);
    }
    let reason = match other {
        Some(other) => {
            format!("the call just {side} {step} is {}, not {thing}{test}{because}", view.describe_step(other))
        }
        None => format!("there is no call just {side} {step}, where {thing} should be"),
    };
    let mut evidence = view.decisive_evidence(hit, String::new());
    let like = |other: u32| view.similar_name(other, std::iter::once(wanted));
    evidence.extend(other.map(|other| view.step_proof(other, wanted, Role::NearMiss, like(other))));
    reason_with(reason, evidence)
}
