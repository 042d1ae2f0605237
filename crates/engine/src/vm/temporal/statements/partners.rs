//! `if A then B`, `A iff B`, `not both A, B`: whether what occurs has a partner, earlier or later.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, hurting_operands, mixed_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::temporal::decision::{Decision, FailingPlace, PlaceTally};
use crate::vm::temporal::explain::{for_which, reason_with};
use crate::vm::temporal::search::Search;
use crate::vm::temporal::step_lists::StepSpan;
use crate::vm::temporal::view::{Hit, WindowView};
use crate::vm::temporal::window_events::{VerdictReason, event_hit};

/// `if A then B`, or `A iff B` where both need a partner.
pub(super) fn implied_statement(left: PatternId, right: PatternId, both: bool) -> StatementDefinition {
    let exercise = ExerciseRule::AnyOf(0..if both { 2 } else { 1 });
    StatementDefinition::new(mixed_operands(&[left, right]), exercise, ImpliedSemantics { both }).closed_if(true)
}

pub(super) fn not_both(left: PatternId, right: PatternId) -> StatementDefinition {
    let operands = hurting_operands(&[left, right]);
    StatementDefinition::new(operands, ExerciseRule::AnyOf(0..2), NotBothSemantics).closed_if(true)
}

/// Every match of the first operand, or of both, needs a partner.
#[derive(Debug)]
struct ImpliedSemantics {
    both: bool,
}

impl StatementSemantics for ImpliedSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let mut tally = PlaceTally::new(search);
        for operand in 0..if self.both { 2 } else { 1 } {
            // Without values the first stands for all.
            search.judge_matches(&mut tally, operand, Some(false), |search, own, certainty| {
                let span = StepSpan::anywhere().any();
                let partner = search.find(own, 1 - operand, &span, certainty.opposite())?;
                Ok(if partner.is_some() { None } else { Some(own.place()) })
            })?;
        }
        let decision = tally.decide(|view, place| {
            let hit = event_hit(place.operand, place.event, view)?;
            Some(no_partner(view, &hit, 1 - place.operand.min(1)))
        });
        // Whatever comes may be a partner.
        Ok(Some(decision.fails_for_good(false)))
    }
}

#[derive(Debug)]
struct NotBothSemantics;

impl StatementSemantics for NotBothSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let mut tally = PlaceTally::new(search);
        for operand in 0..2 {
            search.judge_matches(&mut tally, operand, Some(true), |search, own, certainty| {
                let span = StepSpan::up_to(own.step);
                let other = search.find(own, 1 - operand, &span, certainty)?;
                Ok(other.map(|other| FailingPlace { others: (Some(other), None), ..own.place() }))
            })?;
        }
        // A step fails it once, whatever it matches.
        tally.unite_steps();
        Ok(Some(tally.decide(|view, place| {
            let hit = event_hit(place.operand, place.event, view)?;
            Some(both_occur(view, &hit, place.others.0?))
        })))
    }
}

fn both_occur(view: &mut WindowView<'_, '_>, hit: &Hit, other: u32) -> VerdictReason {
    let reason = format!("both {} and {} occur", view.describe_step(other), view.describe_step(hit.step));
    view.pair_reason(reason, hit, other)
}

fn no_partner(view: &mut WindowView<'_, '_>, hit: &Hit, wanted: usize) -> VerdictReason {
    let thing = view.describe_operand(wanted, &hit.env);
    let refusing = view.refusing_match(wanted, hit, true);
    let refusing = refusing.or_else(|| view.refusing_match(wanted, hit, false));
    let test = refusing.as_ref().map_or_else(String::new, |(test, _)| for_which(test));
    let reason = [&view.describe_step(hit.step), " occurs, but no ", &thing, &test].concat();
    let mut evidence = view.decisive_evidence(hit, String::new());
    let near = refusing.map(|(_, near)| near);
    let near = near.or_else(|| view.near_miss(wanted, &hit.env, hit.step, true));
    let near = near.or_else(|| view.near_miss(wanted, &hit.env, hit.step, false));
    evidence.extend(near.or_else(|| view.misspelled_name(wanted)));
    reason_with(reason, evidence)
}
