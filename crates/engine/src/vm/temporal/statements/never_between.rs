//! `never B between A and C`: no B in a window that an A opens and that a C closes.

use super::windows::{
    AllMonitors, ForbiddenWindow, WindowHit, WindowOpenings, WindowRoles, in_window, window_operands,
};
use super::{
    ExerciseRule, ExerciseState, Polarity, StatementDefinition, StatementSemantics, hurting_operand, mixed_operand,
};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::temporal::closed_form::{ClosedVerdict, ConditionOracle, FailingPlace, OccurrenceLookup, Occurrences};
use crate::vm::temporal::failures::FailureList;
use crate::vm::temporal::keys::GroupKeys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Monitor, PossibleOutcomes, VerdictReason, event_hit, operand_hits};
use crate::vm::temporal::view::{Hit, MonitorView, ReplicaMode};
use averment_checker::ir::StepDistance;
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

pub(super) fn never_between_statement(
    steps: &[PatternId],
    open: PatternId,
    close: PatternId,
    within: Option<StepDistance>,
) -> StatementDefinition {
    let operands = window_operands(steps, [hurting_operand(open), mixed_operand(close)]);
    let meaning = NeverBetweenSemantics { steps: steps.len(), within };
    StatementDefinition::new(operands, ExerciseRule::Own, meaning).in_order().with_bound(within)
}

#[derive(Debug)]
struct NeverBetweenSemantics {
    steps: usize,
    within: Option<StepDistance>,
}

impl StatementSemantics for NeverBetweenSemantics {
    fn is_closed(&self, _: bool) -> bool {
        self.within.is_none()
    }

    /// Of the windows with a B: the first to close, otherwise the first that never closes.
    fn closed_form(
        &self,
        search: &OccurrenceLookup<'_, '_>,
        _: &mut dyn ConditionOracle,
    ) -> Result<Option<ClosedVerdict>, Fault> {
        let steps = self.steps;
        let (Some(open), Some(close)) = (search.operand_occurrences(steps), search.operand_occurrences(steps + 1))
        else {
            return Ok(None);
        };
        let inside = |closed: bool| {
            let of = move |(step, operand)| failing_places(step, operand, open, close);
            let places = search
                .occurrences_from(0)
                .take(steps)
                .flat_map(of)
                .filter(move |place| place.others.1.is_some() == closed);
            search.list_places(places)
        };
        let mut found = inside(true);
        let hangs = found.is_empty();
        if hangs {
            found = inside(false);
        }
        let fails = !found.is_empty();
        let closes = |edge: u32| close.is_after(open.event_key(edge), open.event_step(edge));
        let exercised = fails || open.event_numbers().any(closes);
        let judged = PossibleOutcomes {
            may_fail: fails && !hangs,
            may_hold: !fails,
            may_hang: fails && hangs,
            exercised: Some(ExerciseState { may_be_vacuous: !exercised, may_pass: exercised }),
            ..PossibleOutcomes::default()
        };
        let words = move |view: &mut MonitorView<'_, '_>| {
            Some(found.explain_places(view, |view, place| {
                let roles = WindowRoles { step: place.operand, edge: steps, close: Some(steps + 1) };
                let window = match place.others {
                    (Some(edge), Some(end)) => ForbiddenWindow::Between(edge, end),
                    (edge, _) => ForbiddenWindow::Unclosed(edge?),
                };
                Some(in_window(view, &event_hit(place.operand, place.event, view)?, roles, window))
            }))
        };
        Ok(Some(search.closed_verdict(judged, fails.then_some(words))))
    }

    fn build_monitor<'run>(&self, view: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(AllMonitors::new(view, self.steps, |roles| NeverBetweenMonitor::new(view, roles, self.within))))
    }

    fn vacuous_reason(&self, view: &mut MonitorView<'_, '_>) -> String {
        format!("no {} is followed by {}", view.pattern_words(self.steps), view.pattern_words(self.steps + 1))
    }
}

/// B's in windows, with the opening step and the closing one, if any.
fn failing_places<'s>(
    step: usize,
    operand: Occurrences<'s>,
    open: Occurrences<'s>,
    close: Occurrences<'s>,
) -> impl Iterator<Item = FailingPlace> + 's {
    operand.event_numbers().filter_map(move |event| {
        let (key, at) = (operand.event_key(event), operand.event_step(event));
        let edge = open.event_step(open.last_before(key, at)?);
        let end = close.first_after(key, edge).map(|close_event| close.event_step(close_event));
        let place = FailingPlace { others: (Some(edge), end), ..FailingPlace::new(step, operand, event) };
        end.is_none_or(|end| end > at).then_some(place)
    })
}

/// B's in open windows: all if each is listed, otherwise the first.
type OpenWindowHits = Vec<WindowHit>;

/// A C shields and confirms: unknown C's shield in the optimistic replica and confirm in the pessimistic one.
struct NeverBetweenMonitor {
    openings: WindowOpenings,
    opened: MatchIndex<Option<u32>>,
    inside: MatchIndex<OpenWindowHits>,
    caught: FailureList<(WindowHit, u32)>,
    counted: FxHashSet<u32>,
    closed: bool,
}

impl NeverBetweenMonitor {
    fn new(view: &MonitorView<'_, '_>, roles: WindowRoles, within: Option<StepDistance>) -> Self {
        let close = roles.close.unwrap_or(roles.edge);
        Self {
            openings: WindowOpenings::new(view, roles, within),
            opened: MatchIndex::new(GroupKeys::between_operands(view, roles.edge, close)),
            inside: MatchIndex::new(GroupKeys::of_pairs(view, close)),
            caught: FailureList::for_view(view),
            counted: FxHashSet::default(),
            closed: false,
        }
    }

    fn close_windows(&mut self, hit: &Hit, view: &mut MonitorView<'_, '_>) -> Result<(), Fault> {
        let mut closed = false;
        self.opened.visit_groups(view, hit.as_side(), |_, fit, view| {
            closed |= view.accepts_fit(fit, Polarity::Hurts);
            Ok(if closed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        self.closed |= closed;
        let (caught, counted) = (&mut self.caught, &mut self.counted);
        self.inside.visit_groups(view, hit.as_side(), |group, fit, view| {
            if !group.data.is_empty() && view.accepts_fit(fit, Polarity::Hurts) {
                // One that stands in several windows fails it once.
                let inside = group.data.drain(..).filter(|inside| counted.insert(inside.hit.step));
                caught.extend(inside.map(|inside| (inside, hit.step)));
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    fn enter_windows(&mut self, hit: &Hit, view: &mut MonitorView<'_, '_>) -> Result<(), Fault> {
        for (edge, env) in self.openings.opening_steps(hit, true, view)? {
            let caught = WindowHit { hit: hit.clone(), edge };
            let lists = view.listed > 0;
            self.inside.add_match(view, hit, &env, |inside| {
                if inside.is_empty() || lists {
                    inside.push(caught);
                }
            })?;
        }
        Ok(())
    }
}

impl<'run> Monitor<'run> for NeverBetweenMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        let WindowRoles { step, edge, close } = self.openings.roles;
        for hit in hits.iter().filter(|hit| Some(hit.operand) == close) {
            let (shields, confirms) = match (hit.sure, view.mode) {
                (true, _) => (true, true),
                (false, ReplicaMode::Optimistic) => (true, false),
                (false, ReplicaMode::Pessimistic) => (false, true),
            };
            view.unknown |= !hit.sure;
            if confirms {
                self.close_windows(hit, view)?;
            }
            if shields {
                self.openings.add_shield(hit, view)?;
            }
        }
        for hit in operand_hits(hits, step) {
            if (self.caught.is_empty() || view.listed > 0) && view.counts_match(hit) {
                self.enter_windows(hit, view)?;
            }
        }
        for hit in operand_hits(hits, edge) {
            if view.counts_match(hit) {
                // One that leaves a name open opens a window for each value, and each closes by itself.
                for hit in &view.spread_open(hit)? {
                    self.openings.add_opening(hit, view)?;
                    self.opened.add_match(view, hit, &hit.env, |first| *first = first.or(Some(hit.step)))?;
                }
            }
        }
        Ok(())
    }

    fn possible_outcomes(&mut self, _: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        let fails = !self.caught.is_empty();
        let hangs = !fails && self.inside.groups().iter().any(|group| !group.data.is_empty());
        Ok(PossibleOutcomes {
            may_fail: fails,
            may_hold: !fails && !hangs,
            may_hang: hangs,
            failed_for_good: fails,
            exercised: Some(ExerciseState { may_be_vacuous: !self.closed, may_pass: self.closed }),
            ..PossibleOutcomes::default()
        })
    }

    fn is_settled(&self) -> bool {
        !self.caught.is_empty()
    }

    fn only_adds_failures(&self) -> bool {
        true
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        if !self.caught.is_empty() {
            let roles = self.openings.roles;
            let caught =
                FailureList::join_parts(view, std::iter::once(self.caught.clone()), |(caught, _)| caught.hit.step);
            return caught.explain_places(view, |view, (caught, close)| {
                Some(in_window(view, &caught.hit, roles, ForbiddenWindow::Between(caught.edge, *close)))
            });
        }
        let inside = self.inside.groups().iter().filter_map(|group| group.data.first());
        match inside.min_by_key(|caught| caught.hit.step) {
            Some(caught) => in_window(view, &caught.hit, self.openings.roles, ForbiddenWindow::Unclosed(caught.edge)),
            None => VerdictReason::default(),
        }
    }
}
