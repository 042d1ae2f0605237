//! `never B after A [until C]`: no B in a window that an A opens and a C closes.

use super::windows::{ForbiddenWindow, WindowOpenings, WindowRoles, in_window};
use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operands, hurting_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::temporal::decision::{Decision, FailingPlace, PlaceTally};
use crate::vm::temporal::search::{FoundMatch, Search, is_by_place};
use crate::vm::temporal::step_lists::{Certainty, StepSpan};
use crate::vm::temporal::view::WindowView;
use crate::vm::temporal::window_events::{WindowHits, event_hit};
use averment_checker::ir::StepDistance;

pub(super) fn never_after_statement(
    steps: &[PatternId],
    open: PatternId,
    until: Option<PatternId>,
    within: Option<StepDistance>,
) -> StatementDefinition {
    let operands = [hurting_operands(steps), hurting_operands(&[open]), helping_operands(until.as_slice())].concat();
    let exercise = ExerciseRule::AnyOf(steps.len()..steps.len() + 1);
    StatementDefinition::new(operands, exercise, NeverAfterSemantics { steps: steps.len(), within })
        .in_order(within)
        .closed_if(is_by_place(within))
}

#[derive(Debug)]
struct NeverAfterSemantics {
    steps: usize,
    within: Option<StepDistance>,
}

impl StatementSemantics for NeverAfterSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let (mut tally, edge) = (PlaceTally::new(search), self.steps);
        let close = (search.operand_count() > edge + 1).then_some(edge + 1);
        // Every B behind the first A is caught.
        let decisive = (close.is_none() && self.within.is_none()).then_some(true);
        for step in 0..self.steps {
            let roles = WindowRoles { step, edge, close };
            match search.window().filter(|_| close.is_some()) {
                Some((view, hits)) => self.judge_windows(&mut tally, roles, &hits, view)?,
                None => search.judge_matches(&mut tally, step, decisive, |search, own, certainty| {
                    self.caught_match(search, own, roles, certainty)
                })?,
            }
        }
        Ok(Some(tally.decide(move |view, place| {
            let roles = WindowRoles { step: place.operand, edge, close };
            let hit = event_hit(place.operand, place.event, view)?;
            Some(in_window(view, &hit, roles, ForbiddenWindow::After(place.others.0?)))
        })))
    }
}

impl NeverAfterSemantics {
    /// A B behind an A, with that A, unless a C came since.
    fn caught_match(
        &self,
        search: &mut Search<'_, '_, '_>,
        own: FoundMatch,
        roles: WindowRoles,
        certainty: Certainty,
    ) -> Result<Option<FailingPlace>, Fault> {
        let span = StepSpan::before(own.step).within(self.within);
        let Some(edge) = search.find(own, roles.edge, &span, certainty)? else { return Ok(None) };
        let since = StepSpan::before(own.step.saturating_add(1)).since(Some(edge.saturating_add(1))).any();
        let shield = match roles.close {
            Some(close) => search.find(own, close, &since, certainty.opposite())?,
            None => None,
        };
        let place = FailingPlace { others: (Some(edge), None), ..own.place() };
        Ok(if shield.is_some() { None } else { Some(place) })
    }

    /// Which C closes depends on the values of A and of B.
    fn judge_windows(
        &self,
        tally: &mut PlaceTally,
        roles: WindowRoles,
        hits: &WindowHits,
        view: &mut WindowView<'_, '_>,
    ) -> Result<(), Fault> {
        let possible = self.caught_matches(roles, hits, Certainty::Possible, view)?;
        let Some(first) = possible.first() else { return Ok(()) };
        tally.add_possible(*first);
        let sure = self.caught_matches(roles, hits, Certainty::Sure, view)?;
        sure.into_iter().for_each(|place| tally.add_sure(place));
        Ok(())
    }

    fn caught_matches(
        &self,
        roles: WindowRoles,
        hits: &WindowHits,
        certainty: Certainty,
        view: &mut WindowView<'_, '_>,
    ) -> Result<Vec<FailingPlace>, Fault> {
        let mut openings = WindowOpenings::new(view, roles, self.within, certainty);
        let mut caught = Vec::new();
        for step in hits.steps() {
            for hit in step {
                if openings.is_closing(hit) {
                    openings.add_shield(hit, view)?;
                }
            }
            for hit in openings.hits_of(step, roles.step) {
                for spread in &view.spread_open(hit)? {
                    if caught.is_empty() || view.listed > 0 {
                        let opened = openings.opening_steps(spread, false, view)?;
                        let edge = opened.first().map(|(edge, _)| *edge);
                        caught.extend(edge.map(|edge| FailingPlace::of_hit(hit, (Some(edge), None))));
                        if edge.is_some() {
                            break;
                        }
                    }
                }
            }
            for hit in openings.hits_of(step, roles.edge) {
                // One that leaves a name open opens a window for each value, and each closes by itself.
                for hit in &view.spread_open(hit)? {
                    openings.add_opening(hit, view)?;
                }
            }
        }
        Ok(caught)
    }
}
