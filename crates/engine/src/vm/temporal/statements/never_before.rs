//! `never B before A`: no B before the first A with its values.
//!
//! An A may help by being the first instead of a later one, so that for unknown A's every choice is looked at: the statement fails for
//! sure only when a sure A comes and no choice of a first A up to it has no B before it.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, hurting_operands, mixed_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::{Decision, FailingPlace, PlaceTally};
use crate::vm::temporal::explain::{reason_with, within_words};
use crate::vm::temporal::keys::GroupKeys;
use crate::vm::temporal::match_index::{MatchGroup, MatchIndex};
use crate::vm::temporal::search::{Search, is_by_place};
use crate::vm::temporal::step_lists::{Certainty, StepLists, StepSpan, bound_holds, measure_of};
use crate::vm::temporal::timeline::{Env, ValueId};
use crate::vm::temporal::view::{Hit, PairFit, PairSide, WindowView, env_key};
use crate::vm::temporal::window_events::{VerdictReason, WindowHits, event_hit};
use averment_checker::ir::StepDistance;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;

pub(super) fn never_before_statement(
    steps: &[PatternId],
    close: PatternId,
    within: Option<StepDistance>,
) -> StatementDefinition {
    let exercise = ExerciseRule::AnyOf(steps.len()..steps.len() + 1);
    let meaning = NeverBeforeSemantics { steps: steps.len(), within };
    StatementDefinition::new([hurting_operands(steps), mixed_operands(&[close])].concat(), exercise, meaning)
        .in_order(within)
        .closed_if(is_by_place(within))
}

#[derive(Debug)]
struct NeverBeforeSemantics {
    steps: usize,
    within: Option<StepDistance>,
}

impl StatementSemantics for NeverBeforeSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let (mut tally, edge) = (PlaceTally::new(search), self.steps);
        for step in 0..edge {
            match search.window() {
                Some((view, hits)) => self.judge_groups(&mut tally, step, &hits, view)?,
                None => self.judge_sorted(&mut tally, step, search)?,
            }
        }
        Ok(Some(tally.decide(move |view, place| {
            Some(before_first(view, &event_hit(edge, place.event, view)?, place.operand, place.step))
        })))
    }
}

impl NeverBeforeSemantics {
    /// B's before the first A of their values.
    fn judge_sorted(&self, tally: &mut PlaceTally, step: usize, search: &mut Search<'_, '_, '_>) -> Result<(), Fault> {
        let edge = self.steps;
        let is_alone = search.outermost(edge, false).is_some();
        for number in search.numbers(edge) {
            let Some(first) = search.match_at(edge, number) else { continue };
            let earlier = StepSpan::before(first.step);
            if search.find(first, edge, &earlier.clone().any(), Certainty::Sure)?.is_some() {
                continue;
            }
            let mut span = earlier.within(self.within);
            while let Some(found) = search.find(first, step, &span, Certainty::Sure)? {
                tally.add_sure(FailingPlace { step: found, operand: step, ..first.place() });
                if search.listed == 0 {
                    return Ok(());
                }
                span = span.until(Some(found));
            }
            if is_alone {
                break;
            }
        }
        Ok(())
    }

    /// Every A that may be the first is looked at: it fails for sure only when a sure A comes and each of those up to it has a B before it.
    fn judge_groups(
        &self,
        tally: &mut PlaceTally,
        step: usize,
        hits: &WindowHits,
        view: &mut WindowView<'_, '_>,
    ) -> Result<(), Fault> {
        if hits.count(step) == 0 {
            return Ok(());
        }
        let (edge, within) = (self.steps, self.within);
        let mut steps: MatchIndex<BeforeFirstGroup> = MatchIndex::new(GroupKeys::between_operands(view, step, edge));
        for hit in hits.of_operand(step) {
            let measure = measure_of(view, within, hit.step);
            steps.add_match(view, hit, &hit.env, |group| group.steps.add_hit(hit, measure))?;
        }
        steps.groups_mut().iter_mut().for_each(|group| group.data.steps.finish());
        let mut closings = FirstClosings { edge, step, within, counted: FxHashSet::default(), tally };
        for first in hits.of_operand(edge) {
            // One that leaves a name open is the first for each value that has none before it; one of an unrecorded value may be.
            for hit in &view.spread_all(first)? {
                steps.visit_groups(view, hit.as_side(), |group, fit, view| {
                    closings.look_at_group(group, hit, fit, view)
                })?;
                if closings.tally.is_enough {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// B's with the same values.
#[derive(Default)]
struct BeforeFirstGroup {
    steps: StepLists,
    /// By the values of A.
    firsts: FxHashMap<Env, FirstClosing>,
}

#[derive(Default)]
struct FirstClosing {
    came: bool,
    safe: bool,
}

struct FirstClosings<'t> {
    edge: usize,
    step: usize,
    within: Option<StepDistance>,
    counted: FxHashSet<u32>,
    tally: &'t mut PlaceTally,
}

impl FirstClosings<'_> {
    /// The B's of a group before an A that may be the first of its values.
    fn look_at_group(
        &mut self,
        group: &mut MatchGroup<BeforeFirstGroup>,
        hit: &Hit,
        fit: PairFit,
        view: &mut WindowView<'_, '_>,
    ) -> Result<ControlFlow<()>, Fault> {
        let BeforeFirstGroup { steps, firsts } = &mut group.data;
        let first = firsts.entry(env_key(&hit.env, view.operand_names(self.edge))).or_default();
        if first.came {
            return Ok(ControlFlow::Continue(()));
        }
        let own = PairSide { event: Some(group.event), env: &group.env };
        let (is_sure, are_sure) = certain_sides(hit, own, fit, view)?;
        let (span, now) = (StepSpan::before(hit.step).within(self.within), measure_of(view, self.within, hit.step));
        let surely = steps.find_step(&span, now, Certainty::Sure, view)?.filter(|_| are_sure);
        let possible = steps.find_step(&span, now, Certainty::Possible, view)?;
        first.came = is_sure;
        first.safe |= surely.is_none();
        let surely = surely.filter(|_| is_sure && !first.safe);
        for (certainty, found) in [(Certainty::Possible, possible), (Certainty::Sure, surely)] {
            let mut earlier = found;
            while let Some(near) = earlier.filter(|_| !self.tally.is_enough) {
                view.spend_fuel(1)?;
                let place = FailingPlace { step: near, operand: self.step, ..FailingPlace::of_hit(hit, (None, None)) };
                match certainty {
                    Certainty::Possible => self.tally.add_possible(place),
                    Certainty::Sure if self.counted.insert(near) => self.tally.add_sure(place),
                    Certainty::Sure => {}
                }
                let next = steps.find_step(&span.clone().until(Some(near)), now, certainty, view)?;
                // Of those at an unknown distance the nearest speaks.
                let is_near = |step| bound_holds(self.within, measure_of(view, self.within, step), now) == Some(true);
                earlier = next.filter(|step| view.listed > 0 && is_near(*step));
            }
        }
        Ok(if self.tally.is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

/// Whether an A is one for sure, and whether B's are: what is unknown of how they fit may come from either.
fn certain_sides(
    hit: &Hit,
    step: PairSide<'_>,
    fit: PairFit,
    view: &mut WindowView<'_, '_>,
) -> Result<(bool, bool), Fault> {
    if fit != PairFit::Unknown {
        return Ok((hit.sure && fit == PairFit::Yes, fit == PairFit::Yes));
    }
    let of_hit = known_values(&hit.env, step.env).min(view.test_fit(hit.as_side(), step)?);
    let of_step = known_values(step.env, &hit.env).min(view.test_fit(step, hit.as_side())?);
    Ok((hit.sure && of_hit == PairFit::Yes, of_step == PairFit::Yes))
}

/// `Unknown` where this side's value of a name that both bind is not recorded.
fn known_values(own: &Env, other: &Env) -> PairFit {
    let is_unknown = |(own, other): (&ValueId, &ValueId)| *own == ValueId::ABSENT && *other != ValueId::OPEN;
    if own.iter().zip(other).any(is_unknown) { PairFit::Unknown } else { PairFit::Yes }
}

fn before_first(view: &mut WindowView<'_, '_>, hit: &Hit, operand: usize, earlier: u32) -> VerdictReason {
    let within = within_words(view.statement_bound());
    let reason = format!("{} comes{within} before {}", view.describe_step(earlier), view.describe_step(hit.step));
    let mut evidence = vec![view.step_proof(earlier, operand, Role::Decisive, String::new())];
    evidence.push(view.step_proof(hit.step, hit.operand, Role::Closing, String::new()));
    view.bound_values(hit, Role::Value, &mut evidence);
    reason_with(reason, evidence)
}
