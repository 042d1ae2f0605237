//! `after A -> B, C` and `after each A -> B`: every A has a later B.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operand, hurting_operand, in_front};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::{Decision, FailingPlace, PlaceTally};
use crate::vm::temporal::explain::{reason_with, within_words};
use crate::vm::temporal::recent_occurrences::bound_limit;
use crate::vm::temporal::search::{FoundMatch, OwnValues, Search, is_by_place};
use crate::vm::temporal::step_lists::{Certainty, StepSpan, measure_of};
use crate::vm::temporal::timeline::to_index;
use crate::vm::temporal::view::{Hit, WindowView};
use crate::vm::temporal::window_events::{VerdictReason, event_hit};
use averment_checker::ir::StepDistance;

pub(super) fn after_statement(
    step: PatternId,
    targets: &[PatternId],
    each: bool,
    within: Option<StepDistance>,
) -> StatementDefinition {
    let operands = in_front(hurting_operand(step), targets, helping_operand);
    StatementDefinition::new(operands, ExerciseRule::AnyOf(0..1), AfterSemantics { each, within })
        .in_order()
        .with_bound(within)
}

#[derive(Debug, Clone, Copy)]
struct AfterSemantics {
    each: bool,
    within: Option<StepDistance>,
}

impl StatementSemantics for AfterSemantics {
    fn is_closed(&self, _: bool) -> bool {
        is_by_place(self.within)
    }

    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let (mut tally, sense) = (PlaceTally::new(search), *self);
        // Without values every A before the last B has one.
        let decisive = (!self.each && self.within.is_none()).then_some(true);
        for target in SOURCE + 1..search.operand_count() {
            search.judge_matches(&mut tally, SOURCE, decisive, |search, own, certainty| {
                sense.unmet_source(search, own, target, certainty)
            })?;
        }
        let late = search.view().filter(|view| !view.context.window.closed).map(|view| sense.late_places(view, &tally));
        let failed_for_good = late.as_ref().is_some_and(|late| !late.is_empty());
        if let Some(late) = late.filter(|late| !late.is_empty()) {
            tally.sure = late;
        }
        let decision = tally.decide(move |view, place| {
            let hit = event_hit(SOURCE, place.event, view)?;
            Some(no_later_reason(view, &hit, place.operand, sense.each, sense.within))
        });
        Ok(Some(decision.fails_for_good(failed_for_good)))
    }
}

impl AfterSemantics {
    /// An A without a later B within the bound and, if each needs its own, before the next A.
    fn unmet_source(
        &self,
        search: &mut Search<'_, '_, '_>,
        own: FoundMatch,
        target: usize,
        certainty: Certainty,
    ) -> Result<Option<FailingPlace>, Fault> {
        let later = StepSpan::after(own.step);
        let next = if self.each { search.find(own, SOURCE, &later, OwnValues::Recorded, certainty)? } else { None };
        let span = later.until(next).within(self.within).any();
        let met = search.find(own, target, &span, OwnValues::Fresh, certainty.opposite())?;
        Ok(if met.is_some() {
            None
        } else {
            Some(FailingPlace { operand: target, others: (next, None), ..own.place() })
        })
    }

    /// The places for which no later step can be the B: the next A came, or the bound has passed.
    fn late_places(&self, view: &WindowView<'_, '_>, tally: &PlaceTally) -> Vec<FailingPlace> {
        let now = latest_measure(self.within, view);
        let is_late = |place: &&FailingPlace| {
            let from = measure_of(view, self.within, place.step);
            let passed = now.zip(from).is_some_and(|(now, from)| now - from > bound_limit(self.within));
            place.others.0.is_some() || passed
        };
        tally.sure.iter().filter(is_late).copied().collect()
    }
}

const SOURCE: usize = 0;

fn latest_measure(within: Option<StepDistance>, view: &WindowView<'_, '_>) -> Option<f64> {
    let steps = view.machine.run.steps.get(..view.context.window.end)?;
    match within? {
        StepDistance::Calls(_) => {
            let executed = view.timeline.executed.partition_point(|step| (*step as usize) < view.context.window.end);
            Some(f64::from(to_index(executed)))
        }
        StepDistance::Turns(_) => steps.iter().filter_map(|step| step.turn).max().map(f64::from),
        StepDistance::Time(_) => steps.iter().filter_map(|step| step.start).max_by(f64::total_cmp),
    }
}

fn no_later_reason(
    view: &mut WindowView<'_, '_>,
    hit: &Hit,
    wanted: usize,
    each: bool,
    within: Option<StepDistance>,
) -> VerdictReason {
    let thing = view.describe_wanted(wanted, hit, &hit.env, false);
    let next = if each { view.hits_near(hit.operand, hit.step, false).find(|next| next.env == hit.env) } else { None };
    let before = next.as_ref().map(|next| format!(" before {}", view.describe_step(next.step))).unwrap_or_default();
    let reason = [&view.describe_step(hit.step), " has no later ", &thing, &within_words(within), &before].concat();
    let mut evidence = view.decisive_evidence(hit, ["this has no later ", &thing].concat());
    let first =
        |next: Hit| view.step_proof(next.step, hit.operand, Role::Closing, format!("this comes before any {thing}"));
    evidence.extend(next.map(first));
    match if each { None } else { view.too_late(hit, wanted, within) } {
        Some(late) => evidence.push(late),
        None => evidence.extend(view.nearest_evidence(wanted, hit, &hit.env, false)),
    }
    reason_with(reason, evidence)
}
