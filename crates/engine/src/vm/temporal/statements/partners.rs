//! `if A then B`, `A iff B`, `not both A, B`: whether what occurs has a partner, earlier or later.

use super::{ExerciseRule, Polarity, StatementDefinition, StatementSemantics, hurting_operand, mixed_operand};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed_form::{ClosedVerdict, ConditionOracle, FailingPlace, OccurrenceLookup, Occurrences};
use crate::vm::temporal::explain::{for_which, reason_with};
use crate::vm::temporal::failures::FailureList;
use crate::vm::temporal::keys::GroupKeys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Monitor, PossibleOutcomes, VerdictReason, event_hit};
use crate::vm::temporal::view::{Hit, MonitorView, PairFit};
use smallvec::SmallVec;
use std::ops::ControlFlow;

pub(super) fn if_then(condition: PatternId, consequence: PatternId) -> StatementDefinition {
    let operands = vec![mixed_operand(condition), mixed_operand(consequence)];
    StatementDefinition::new(operands, ExerciseRule::AnyOf(0..1), ImpliedSemantics { both: false })
}

pub(super) fn iff_statement(left: PatternId, right: PatternId) -> StatementDefinition {
    StatementDefinition::new(
        vec![mixed_operand(left), mixed_operand(right)],
        ExerciseRule::AnyOf(0..2),
        ImpliedSemantics { both: true },
    )
}

pub(super) fn not_both(left: PatternId, right: PatternId) -> StatementDefinition {
    StatementDefinition::new(
        vec![hurting_operand(left), hurting_operand(right)],
        ExerciseRule::AnyOf(0..2),
        NotBothSemantics,
    )
}

/// Every match of the first operand, or of both, needs a partner.
#[derive(Debug)]
struct ImpliedSemantics {
    both: bool,
}

impl StatementSemantics for ImpliedSemantics {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

    fn closed_form(
        &self,
        search: &OccurrenceLookup<'_, '_>,
        _: &mut dyn ConditionOracle,
    ) -> Result<Option<ClosedVerdict>, Fault> {
        let (Some(left), Some(right)) = (search.operand_occurrences(0), search.operand_occurrences(1)) else {
            return Ok(None);
        };
        let of_right = unpartnered_places(search, 1, right, left).take(if self.both { usize::MAX } else { 0 });
        let places = search.list_places(unpartnered_places(search, 0, left, right).chain(of_right));
        Ok(Some(search.fails_at(places, |view, place| {
            let hit = event_hit(place.operand, place.event, view)?;
            Some(no_partner(view, &hit, 1 - place.operand.min(1)))
        })))
    }

    fn build_monitor<'run>(&self, view: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(ImpliedMonitor::new(view, self.both)))
    }
}

/// Matches without a partner; only the first per value unless more are listed.
fn unpartnered_places<'s>(
    search: &'s OccurrenceLookup<'_, '_>,
    operand: usize,
    own: Occurrences<'s>,
    others: Occurrences<'s>,
) -> impl Iterator<Item = FailingPlace> + 's {
    // Without values the first stands for all.
    let first = !search.lists_failures() && search.is_unbound();
    let events = own.event_numbers().take(if first { 1 } else { usize::MAX });
    let alone = events.filter(move |event| others.first_of(own.event_key(*event)).is_none());
    let alone = alone.take(if search.lists_failures() { usize::MAX } else { 1 });
    alone.map(move |event| FailingPlace::new(operand, own, event))
}

#[derive(Debug)]
struct NotBothSemantics;

impl StatementSemantics for NotBothSemantics {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

    fn closed_form(
        &self,
        search: &OccurrenceLookup<'_, '_>,
        _: &mut dyn ConditionOracle,
    ) -> Result<Option<ClosedVerdict>, Fault> {
        let (Some(left), Some(right)) = (search.operand_occurrences(0), search.operand_occurrences(1)) else {
            return Ok(None);
        };
        if search.lists_failures() {
            let places = later_of_both(0, left, right).chain(later_of_both(1, right, left));
            return Ok(Some(search.fails_at(search.list_steps(places), both_at)));
        }
        let pair = |event: u32| {
            let other = right.first_of(left.event_key(event))?;
            let (own, others) = (left.event_step(event), right.event_step(other));
            let place =
                |step, operand, event, other| FailingPlace { step, operand, event, others: (Some(other), None) };
            if own >= others {
                return Some(place(own, 0, event, others));
            }
            // Of two pairs complete at one step the one whose A comes last is seen first.
            let at_once = left
                .last_before(left.event_key(event), others.saturating_add(1))
                .filter(|at| left.event_step(*at) == others);
            Some(at_once.map_or(place(others, 1, other, own), |at_once| place(others, 0, at_once, others)))
        };
        let places = search.list_steps(search.by_values(left).filter_map(pair));
        Ok(Some(search.fails_at(places, both_at)))
    }

    fn build_monitor<'run>(&self, view: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(NotBothMonitor::new(view)))
    }
}

fn later_of_both<'s>(
    operand: usize,
    own: Occurrences<'s>,
    others: Occurrences<'s>,
) -> impl Iterator<Item = FailingPlace> + 's {
    own.event_numbers().filter_map(move |event| {
        let other = others.event_step(others.first_of(own.event_key(event))?);
        let place = FailingPlace { others: (Some(other), None), ..FailingPlace::new(operand, own, event) };
        (other <= place.step).then_some(place)
    })
}

fn both_at(view: &mut MonitorView<'_, '_>, place: &FailingPlace) -> Option<VerdictReason> {
    let hit = event_hit(place.operand, place.event, view)?;
    Some(both_occur(view, &hit, place.others.0?))
}

struct NotBothMonitor {
    sides: [MatchIndex<Option<u32>>; 2],
    caught: FailureList<(Hit, u32)>,
}

impl NotBothMonitor {
    fn new(view: &MonitorView<'_, '_>) -> Self {
        Self {
            sides: [
                MatchIndex::new(GroupKeys::between_operands(view, 0, 1)),
                MatchIndex::new(GroupKeys::between_operands(view, 1, 0)),
            ],
            caught: FailureList::for_view(view),
        }
    }
}

impl<'run> Monitor<'run> for NotBothMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        let counted: SmallVec<[&Hit; 2]> = hits.iter().filter(|hit| view.counts_match(hit)).collect();
        for hit in &counted {
            if let Some(side) = self.sides.get_mut(hit.operand) {
                side.add_match(view, hit, &hit.env, |first| *first = first.or(Some(hit.step)))?;
            }
        }
        if !self.caught.is_empty() && view.listed == 0 {
            return Ok(());
        }
        for hit in counted {
            let Some(others) = self.sides.get_mut(1 - hit.operand.min(1)) else { break };
            let mut caught = None;
            others.visit_groups(view, hit.as_side(), |group, fit, view| {
                if view.accepts_fit(fit, Polarity::Hurts) {
                    caught = group.data;
                }
                Ok(if caught.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            if let Some(other) = caught {
                // A step fails it once, whatever it matches.
                self.caught.push_with(|| (hit.clone(), other));
                break;
            }
        }
        Ok(())
    }

    fn possible_outcomes(&mut self, _: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        Ok(PossibleOutcomes::fails_for_good(!self.caught.is_empty()))
    }

    fn is_settled(&self) -> bool {
        !self.caught.is_empty()
    }

    fn only_adds_failures(&self) -> bool {
        true
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        self.caught.explain_places(view, |view, (hit, other)| Some(both_occur(view, hit, *other)))
    }
}

/// A match without a possible partner fails it; unknown matches may be answered no to avoid that.
struct ImpliedMonitor {
    /// True for `iff`: B's need A's, too.
    both: bool,
    sides: [MatchIndex<PartnerSide>; 2],
}

#[derive(Default)]
struct PartnerSide {
    sure: Option<Hit>,
    first: Option<Hit>,
    all: Vec<Hit>,
    met_for_sure: bool,
    may_be_met: bool,
}

impl ImpliedMonitor {
    fn new(view: &MonitorView<'_, '_>, both: bool) -> Self {
        Self {
            both,
            sides: [
                MatchIndex::new(GroupKeys::between_operands(view, 0, 1)),
                MatchIndex::new(GroupKeys::between_operands(view, 1, 0)),
            ],
        }
    }

    fn match_up(&mut self, side: usize, view: &mut MonitorView<'_, '_>) -> Result<(), Fault> {
        let [left, right] = &mut self.sides;
        let (own, others) = if side == 0 { (left, right) } else { (right, left) };
        for group in own.groups_mut() {
            let Some(hit) = group.data.sure.as_ref().or(group.data.first.as_ref()) else { continue };
            if group.data.met_for_sure {
                continue;
            }
            let (mut sure, mut possible) = (false, false);
            others.visit_groups(view, hit.as_side(), |other, fit, _| {
                possible = true;
                sure |= fit == PairFit::Yes && other.data.sure.is_some();
                Ok(if sure { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            (group.data.met_for_sure, group.data.may_be_met) = (sure, possible);
        }
        Ok(())
    }

    /// `surely`: no partner at all; otherwise no sure one.
    fn first_unmatched(&self, surely: bool) -> Option<&Hit> {
        let sides = if self.both { &self.sides[..] } else { &self.sides[..1] };
        let groups = sides.iter().flat_map(|side| side.groups());
        let alone = groups.filter_map(|group| match surely {
            true if !group.data.may_be_met => group.data.sure.as_ref(),
            false if !group.data.met_for_sure => group.data.first.as_ref(),
            _ => None,
        });
        alone.min_by_key(|hit| hit.step)
    }
}

impl ImpliedMonitor {
    fn all_unmatched(&self, view: &MonitorView<'_, '_>) -> FailureList<Hit> {
        let sides = if self.both { &self.sides[..] } else { &self.sides[..1] };
        let groups = sides.iter().flat_map(|side| side.groups()).filter(|group| !group.data.may_be_met);
        let mut hits: Vec<&Hit> = groups.flat_map(|group| &group.data.all).collect();
        hits.sort_by_key(|hit| (hit.step, hit.operand));
        hits.dedup_by_key(|hit| (hit.step, hit.operand));
        let mut alone = FailureList::for_view(view);
        hits.into_iter().for_each(|hit| alone.push_with(|| hit.clone()));
        alone
    }
}

impl<'run> Monitor<'run> for ImpliedMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        let lists = view.listed > 0;
        for hit in hits {
            let Some(side) = self.sides.get_mut(hit.operand) else { continue };
            side.add_match(view, hit, &hit.env, |side| {
                if side.first.is_none() {
                    side.first = Some(hit.clone());
                }
                if hit.sure && side.sure.is_none() {
                    side.sure = Some(hit.clone());
                }
                if hit.sure && lists {
                    side.all.push(hit.clone());
                }
            })?;
        }
        Ok(())
    }

    fn possible_outcomes(&mut self, view: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        self.match_up(0, view)?;
        if self.both {
            self.match_up(1, view)?;
        }
        let (may_fail, must_fail) = (self.first_unmatched(false).is_some(), self.first_unmatched(true).is_some());
        Ok(PossibleOutcomes { may_fail, may_hold: !must_fail, ..PossibleOutcomes::default() })
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        let words = |view: &mut MonitorView<'_, '_>, hit: &Hit| Some(no_partner(view, hit, 1 - hit.operand.min(1)));
        let alone = self.all_unmatched(view);
        if !alone.is_empty() {
            return alone.explain_places(view, words);
        }
        let alone = self.first_unmatched(true).or_else(|| self.first_unmatched(false));
        alone.and_then(|hit| words(view, hit)).unwrap_or_default()
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}

fn both_occur(view: &mut MonitorView<'_, '_>, hit: &Hit, other: u32) -> VerdictReason {
    let reason = format!("both {} and {} occur", view.describe_step(other), view.describe_step(hit.step));
    let mut evidence = view.decisive_evidence(hit, String::new());
    evidence.push(view.step_proof(other, 1 - hit.operand.min(1), Role::Decisive, String::new()));
    reason_with(reason, evidence)
}

fn no_partner(view: &mut MonitorView<'_, '_>, hit: &Hit, wanted: usize) -> VerdictReason {
    let thing = view.describe_operand(wanted, &hit.env);
    let refusing = view.refusing_match(wanted, hit, &hit.env, true);
    let refusing = refusing.or_else(|| view.refusing_match(wanted, hit, &hit.env, false));
    let test = refusing.as_ref().map_or_else(String::new, |(test, _)| for_which(test));
    let reason = [&view.describe_step(hit.step), " occurs, but no ", &thing, &test].concat();
    let mut evidence = view.decisive_evidence(hit, String::new());
    let near = refusing.map(|(_, near)| near);
    let near = near.or_else(|| view.near_miss(wanted, &hit.env, hit.step, true));
    let near = near.or_else(|| view.near_miss(wanted, &hit.env, hit.step, false));
    evidence.extend(near.or_else(|| view.misspelled_name(wanted)));
    reason_with(reason, evidence)
}
