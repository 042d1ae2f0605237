//! `never B between A and C`: no B in a window that an A opens and that a C closes.

use super::windows::{ForbiddenWindow, WindowOpenings, WindowRoles, in_window};
use super::{ExerciseRule, StatementDefinition, StatementSemantics, hurting_operands, mixed_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::temporal::decision::{Decision, FailingPlace, FailureList};
use crate::vm::temporal::keys::GroupKeys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::search::Search;
use crate::vm::temporal::step_lists::{Certainty, StepSpan};
use crate::vm::temporal::view::{Hit, WindowView};
use crate::vm::temporal::window_events::{KnownPresence, PossibleOutcomes, WindowHits, event_hit};
use averment_checker::ir::StepDistance;
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

pub(super) fn never_between_statement(
    steps: &[PatternId],
    open: PatternId,
    close: PatternId,
    within: Option<StepDistance>,
) -> StatementDefinition {
    let operands = [hurting_operands(steps), hurting_operands(&[open]), mixed_operands(&[close])].concat();
    let meaning = NeverBetweenSemantics { steps: steps.len(), within };
    StatementDefinition::new(operands, ExerciseRule::Own, meaning).in_order(within).closed_if(within.is_none())
}

#[derive(Debug)]
struct NeverBetweenSemantics {
    steps: usize,
    within: Option<StepDistance>,
}

impl StatementSemantics for NeverBetweenSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let (steps, listed) = (self.steps, search.listed);
        let (best, worst) = match search.window() {
            Some((view, hits)) => view.ask_both(&hits, |view, certainty| self.find_inside(&hits, certainty, view))?,
            None => {
                let found = self.find_sorted(search)?;
                (found.clone(), found)
            }
        };
        let outcomes = best.outcomes().merge_with(worst.outcomes());
        let exercised =
            Some(KnownPresence { sure: best.closes && worst.closes, possible: best.closes || worst.closes });
        let fails = !best.inside.is_empty();
        let stands = PossibleOutcomes { failed_for_good: fails, exercised, ..outcomes };
        let found = if fails { best } else { worst };
        Ok(Some(Decision::new(stands).failing(move |view| {
            let mut places = FailureList::new(listed);
            // Beside one that fails, a window that never closes is no violation.
            places.extend(if found.inside.is_empty() { &found.unclosed } else { &found.inside }.iter().copied());
            places.explain_places(view, |view, place| {
                let roles = WindowRoles { step: place.operand, edge: steps, close: Some(steps + 1) };
                let window = match place.others {
                    (Some(edge), Some(end)) => ForbiddenWindow::Between(edge, end),
                    (edge, _) => ForbiddenWindow::Unclosed(edge?),
                };
                Some(in_window(view, &event_hit(place.operand, place.event, view)?, roles, window))
            })
        })))
    }

    fn vacuous_reason(&self, view: &mut WindowView<'_, '_>) -> String {
        format!("no {} is followed by {}", view.pattern_words(self.steps), view.pattern_words(self.steps + 1))
    }
}

/// B's in windows that close, and in those that never do, in step order.
#[derive(Debug, Clone, Default)]
struct WindowTally {
    inside: Vec<FailingPlace>,
    unclosed: Vec<FailingPlace>,
    /// Whether some window closes.
    closes: bool,
}

impl WindowTally {
    fn outcomes(&self) -> PossibleOutcomes {
        let fails = !self.inside.is_empty();
        let hangs = !fails && !self.unclosed.is_empty();
        PossibleOutcomes { may_fail: fails, may_hold: !fails && !hangs, may_hang: hangs, ..PossibleOutcomes::default() }
    }
}

impl NeverBetweenSemantics {
    fn find_sorted(&self, search: &mut Search<'_, '_, '_>) -> Result<WindowTally, Fault> {
        let mut found = WindowTally::default();
        let (open, close) = (self.steps, self.steps + 1);
        for step in 0..self.steps {
            for number in search.numbers(step) {
                let Some(own) = search.match_at(step, number) else { continue };
                let edge = search.find(own, open, &StepSpan::before(own.step), Certainty::Sure)?;
                let Some(edge) = edge else { continue };
                let end = search.find(own, close, &StepSpan::after(edge), Certainty::Sure)?;
                if end.is_none_or(|end| end > own.step) {
                    let of_kind = if end.is_some() { &mut found.inside } else { &mut found.unclosed };
                    of_kind.push(FailingPlace { others: (Some(edge), end), ..own.place() });
                }
            }
        }
        found.closes = !found.inside.is_empty() || !found.unclosed.is_empty();
        for number in search.numbers(open) {
            let Some(edge) = search.match_at(open, number).filter(|_| !found.closes) else { continue };
            let end = search.find(edge, close, &StepSpan::after(edge.step).any(), Certainty::Sure)?;
            found.closes |= end.is_some();
        }
        found.inside.sort_unstable();
        found.unclosed.sort_unstable();
        Ok(found)
    }

    /// A C shields and confirms: what only may be one confirms where all that is possible counts, and shields where only what is sure does.
    fn find_inside(
        &self,
        hits: &WindowHits,
        certainty: Certainty,
        view: &mut WindowView<'_, '_>,
    ) -> Result<WindowTally, Fault> {
        let mut found = WindowTally::default();
        // What matches no step cannot be in a window; one of them is kept to say whether a window closes.
        let occurs = (0..self.steps).filter(|step| hits.count(*step) > 0);
        let mut wanted: Vec<usize> = occurs.collect();
        if wanted.is_empty() {
            wanted.push(0);
        }
        for step in wanted {
            let roles = WindowRoles { step, edge: self.steps, close: Some(self.steps + 1) };
            let mut windows = OpenWindows::new(view, roles, self.within, certainty);
            for step in hits.steps() {
                windows.add_step(step, view)?;
            }
            let inside = windows.inside.groups().iter().filter_map(|group| group.data.first().copied());
            found.unclosed.extend(inside.min());
            found.inside.extend(windows.caught);
            found.closes |= windows.closes;
        }
        found.inside.sort_unstable();
        found.unclosed.sort_unstable();
        Ok(found)
    }
}

struct OpenWindows {
    openings: WindowOpenings,
    opened: MatchIndex<Option<u32>>,
    /// B's in open windows: all if each is listed, otherwise the first.
    inside: MatchIndex<Vec<FailingPlace>>,
    caught: Vec<FailingPlace>,
    counted: FxHashSet<u32>,
    closes: bool,
}

impl OpenWindows {
    fn new(view: &WindowView<'_, '_>, roles: WindowRoles, within: Option<StepDistance>, certainty: Certainty) -> Self {
        let close = roles.close.unwrap_or(roles.edge);
        Self {
            openings: WindowOpenings::new(view, roles, within, certainty),
            opened: MatchIndex::new(GroupKeys::between_operands(view, roles.edge, close)),
            inside: MatchIndex::new(GroupKeys::of_pairs(view, close)),
            caught: Vec::new(),
            counted: FxHashSet::default(),
            closes: false,
        }
    }

    fn add_step(&mut self, step: &[Hit], view: &mut WindowView<'_, '_>) -> Result<(), Fault> {
        let WindowRoles { step: inner, edge, close } = self.openings.roles;
        for hit in step.iter().filter(|hit| Some(hit.operand) == close) {
            if self.openings.certainty.counts_hit(hit) {
                self.close_windows(hit, view)?;
            }
            if self.openings.is_closing(hit) {
                self.openings.add_shield(hit, view)?;
            }
        }
        for hit in self.openings.hits_of(step, inner) {
            for hit in &view.spread_open(hit)? {
                if self.caught.is_empty() || view.listed > 0 {
                    self.enter_windows(hit, view)?;
                }
            }
        }
        for hit in self.openings.hits_of(step, edge) {
            // One that leaves a name open opens a window for each value, and each closes by itself.
            for hit in &view.spread_open(hit)? {
                self.openings.add_opening(hit, view)?;
                self.opened.add_match(view, hit, &hit.env, |first| *first = first.or(Some(hit.step)))?;
            }
        }
        Ok(())
    }

    fn close_windows(&mut self, hit: &Hit, view: &mut WindowView<'_, '_>) -> Result<(), Fault> {
        let (mut closes, certainty) = (false, self.openings.certainty);
        self.opened.visit_groups(view, hit.as_side(), |_, fit, _| {
            closes |= certainty.counts_fit(fit);
            Ok(if closes { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        self.closes |= closes;
        let (caught, counted) = (&mut self.caught, &mut self.counted);
        self.inside.visit_groups(view, hit.as_side(), |group, fit, _| {
            if certainty.counts_fit(fit) {
                // One that stands in several windows fails it once.
                let inside = group.data.drain(..).filter(|inside| counted.insert(inside.step));
                caught
                    .extend(inside.map(|inside| FailingPlace { others: (inside.others.0, Some(hit.step)), ..inside }));
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    fn enter_windows(&mut self, hit: &Hit, view: &mut WindowView<'_, '_>) -> Result<(), Fault> {
        for (edge, env) in self.openings.opening_steps(hit, true, view)? {
            let lists = view.listed > 0;
            self.inside.add_match(view, hit, &env, |inside| {
                if inside.is_empty() || lists {
                    inside.push(FailingPlace::of_hit(hit, (Some(edge), None)));
                }
            })?;
        }
        Ok(())
    }
}
