//! `before A -> B, C` and `before each A -> B`: every B has an earlier A that was known; with `starts` an earlier one is enough.

use super::{
    ExerciseRule, Polarity, StatementDefinition, StatementSemantics, helping_operand, hurting_operand, in_front,
};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::{Role, VerdictEvidence};
use crate::vm::temporal::call_knowledge::UnknownCause;
use crate::vm::temporal::closed_form::{
    ClosedVerdict, ConditionOracle, FailingPlace, OccurrenceLookup, Occurrences, is_by_place,
};
use crate::vm::temporal::explain::{list_words, reason_with, within_words};
use crate::vm::temporal::failures::FailureList;
use crate::vm::temporal::keys::GroupKeys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Monitor, PossibleOutcomes, VerdictReason, event_hit, operand_hits};
use crate::vm::temporal::recent_occurrences::{
    FoundOccurrence, Occurrence, RecentOccurrences, bound_holds, step_measure,
};
use crate::vm::temporal::view::{Hit, MonitorView};
use averment_checker::ir::StepDistance;
use smallvec::SmallVec;
use std::ops::ControlFlow;

pub(super) fn before_statement(step: PatternId, targets: &[PatternId], sense: BeforeSemantics) -> StatementDefinition {
    let operands = in_front(helping_operand(step), targets, hurting_operand);
    let exercise = ExerciseRule::AnyOf(1..operands.len());
    let within = sense.within;
    StatementDefinition::new(operands, exercise, sense).in_order().with_bound(within)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct BeforeSemantics {
    pub(super) each: bool,
    pub(super) starts: bool,
    pub(super) within: Option<StepDistance>,
}

impl StatementSemantics for BeforeSemantics {
    fn is_closed(&self, _: bool) -> bool {
        is_by_place(self.within)
    }

    fn closed_form(
        &self,
        search: &OccurrenceLookup<'_, '_>,
        asks: &mut dyn ConditionOracle,
    ) -> Result<Option<ClosedVerdict>, Fault> {
        let Some(source) = search.operand_occurrences(SOURCE) else { return Ok(None) };
        let mut places = Vec::new();
        for (operand, target) in search.occurrences_from(SOURCE + 1) {
            let Some(unmet) = self.unmet_targets(search, source, target, asks)? else { return Ok(None) };
            places.extend(unmet.into_iter().map(|event| FailingPlace {
                others: (self.previous_target(target, event), None),
                ..FailingPlace::new(operand, target, event)
            }));
        }
        let (places, sense) = (search.list_places(places.into_iter()), *self);
        Ok(Some(search.fails_at(places, move |view, place| {
            Some(no_earlier_reason(view, &event_hit(place.operand, place.event, view)?, place.others.0, sense))
        })))
    }

    fn is_timed(&self) -> bool {
        !self.starts
    }

    fn build_monitor<'run>(&self, view: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(BeforeMonitor::new(view, *self)))
    }
}

impl BeforeSemantics {
    /// B's without an A, only the first unless more are listed; `None` if undecidable here.
    fn unmet_targets<'s>(
        &self,
        search: &OccurrenceLookup<'s, '_>,
        source: Occurrences<'s>,
        target: Occurrences<'s>,
        asks: &mut dyn ConditionOracle,
    ) -> Result<Option<SmallVec<[u32; 2]>>, Fault> {
        // Without values every A before the first B is before the later ones.
        let first =
            self.starts && !search.lists_failures() && !self.each && self.within.is_none() && search.is_unbound();
        let mut unmet = SmallVec::new();
        for event in target.event_numbers().take(if first { 1 } else { usize::MAX }) {
            match self.is_met(search, source, target, event, asks)? {
                Some(true) => {}
                Some(false) => unmet.push(event),
                None => return Ok(None),
            }
            if !unmet.is_empty() && !search.lists_failures() {
                break;
            }
        }
        Ok(Some(unmet))
    }

    /// True if an A precedes a B, within the bound, known, and after the previous B if each needs its own.
    fn is_met<'s>(
        &self,
        search: &OccurrenceLookup<'s, '_>,
        source: Occurrences<'s>,
        target: Occurrences<'s>,
        event: u32,
        asks: &mut dyn ConditionOracle,
    ) -> Result<Option<bool>, Fault> {
        let (key, step) = (target.event_key(event), target.event_step(event));
        if !self.each && self.within.is_none() {
            // The first one is most likely to be known.
            let first = source.first_of(key).map(|first| source.event_step(first)).filter(|first| *first < step);
            let Some(first) = first else { return Ok(Some(false)) };
            if self.starts || search.is_known(first, step) == Some(true) {
                return Ok(Some(true));
            }
        }
        let since = self.previous_target(target, event);
        let (mut at, mut met) = (step, Some(false));
        while let Some(near) = source.last_before(key, at).map(|near| source.event_step(near)) {
            asks.spend_fuel(1)?;
            if since.is_some_and(|since| near <= since) || !search.is_within(self.within, near, step) {
                break;
            }
            match if self.starts { Some(true) } else { search.is_known(near, step) } {
                Some(true) => return Ok(Some(true)),
                Some(false) => {}
                None => met = None,
            }
            at = near;
        }
        Ok(met)
    }

    /// The previous B with the same values, if each B needs its own A.
    fn previous_target(&self, target: Occurrences<'_>, event: u32) -> Option<u32> {
        let previous =
            if self.each { target.last_before(target.event_key(event), target.event_step(event)) } else { None };
        previous.map(|previous| target.event_step(previous))
    }
}

const SOURCE: usize = 0;

struct BeforeMonitor {
    sense: BeforeSemantics,
    targets: Vec<BeforeTarget>,
    failures: FailureList<UnmetTarget>,
}

struct BeforeTarget {
    operand: usize,
    sources: MatchIndex<SourceGroup>,
    /// With `each`: the latest B by value; earlier A's no longer count.
    latest: MatchIndex<Option<u32>>,
}

#[derive(Default)]
struct SourceGroup {
    /// Those that a bound leaves relevant.
    recent: RecentOccurrences,
    all: Vec<Occurrence>,
}

#[derive(Clone)]
struct UnmetTarget {
    hit: Hit,
    since: Option<u32>,
}

impl BeforeMonitor {
    fn new(view: &MonitorView<'_, '_>, sense: BeforeSemantics) -> Self {
        let target = |operand| BeforeTarget {
            operand,
            sources: MatchIndex::new(GroupKeys::between_operands(view, SOURCE, operand)),
            latest: MatchIndex::new(GroupKeys::of_values(view, operand)),
        };
        let targets = (1..view.operands.len()).map(target).collect();
        Self { sense, targets, failures: FailureList::for_view(view) }
    }
}

impl BeforeTarget {
    fn previous_target(&mut self, hit: &Hit, view: &mut MonitorView<'_, '_>) -> Result<Option<u32>, Fault> {
        let mut latest = None;
        self.latest.visit_groups(view, hit.as_side(), |group, fit, view| {
            if view.accepts_fit(fit, Polarity::Hurts) {
                latest = latest.max(group.data);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(latest)
    }

    /// True if an A lies between step `since` and this B and is known to it.
    fn is_met(
        &mut self,
        hit: &Hit,
        since: Option<u32>,
        sense: BeforeSemantics,
        view: &mut MonitorView<'_, '_>,
    ) -> Result<bool, Fault> {
        let now = view.step(hit.step).and_then(|step| step_measure(sense.within, step));
        let fresh = Hit { env: hit.fresh_env(), ..hit.clone() };
        let mut met = false;
        self.sources.visit_groups(view, fresh.as_side(), |group, fit, view| {
            if view.accepts_fit(fit, Polarity::Helps) {
                let found = group.data.find_source(hit.step, since, sense, now, view)?;
                met = found.sure.is_some() || (found.unknown.is_some() && view.assume_answer(Polarity::Helps));
            }
            Ok(if met { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(met)
    }
}

impl SourceGroup {
    fn find_source(
        &self,
        step: u32,
        since: Option<u32>,
        sense: BeforeSemantics,
        now: Option<f64>,
        view: &mut MonitorView<'_, '_>,
    ) -> Result<FoundOccurrence, Fault> {
        let near = self.recent.find_occurrence(since, sense.within, now);
        let is_known = |view: &MonitorView<'_, '_>, one: &Occurrence| view.unknown_cause(one.step, step).is_none();
        let nothing = near.sure.is_none() && near.unknown.is_none();
        if sense.starts || nothing || near.sure.is_some_and(|near| is_known(view, &near)) {
            return Ok(near);
        }
        let mut found = FoundOccurrence::default();
        for one in self.all.iter().rev().take_while(|one| since.is_none_or(|since| one.step > since)) {
            view.spend_fuel(1)?;
            match bound_holds(sense.within, one.measure, now) {
                Some(true) if is_known(view, one) => return Ok(FoundOccurrence { sure: Some(*one), unknown: None }),
                None if found.unknown.is_none() && is_known(view, one) => found.unknown = Some(*one),
                // Positions only grow apart.
                Some(false) if is_by_place(sense.within) => break,
                _ => {}
            }
        }
        Ok(found)
    }
}

impl<'run> Monitor<'run> for BeforeMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        for target in &mut self.targets {
            let now: SmallVec<[&Hit; 2]> =
                operand_hits(hits, target.operand).filter(|hit| view.counts_match(hit)).collect();
            for hit in &now {
                let since = if self.sense.each { target.previous_target(hit, view)? } else { None };
                if (self.failures.is_empty() || view.listed > 0) && !target.is_met(hit, since, self.sense, view)? {
                    self.failures.push_with(|| UnmetTarget { hit: (*hit).clone(), since });
                }
            }
            if self.sense.each {
                for hit in &now {
                    target.latest.add_match(view, hit, &hit.env, |latest| *latest = Some(hit.step))?;
                }
            }
        }
        for hit in operand_hits(hits, SOURCE) {
            if !view.counts_match(hit) {
                continue;
            }
            let measure = view.step(hit.step).and_then(|step| step_measure(self.sense.within, step));
            let (one, starts) = (Occurrence { step: hit.step, measure }, self.sense.starts);
            for target in &mut self.targets {
                target.sources.add_match(view, hit, &hit.env, |sources| {
                    sources.recent.push_occurrence(one);
                    if !starts {
                        sources.all.push(one);
                    }
                })?;
            }
        }
        Ok(())
    }

    fn possible_outcomes(&mut self, _: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        Ok(PossibleOutcomes::fails_for_good(!self.failures.is_empty()))
    }

    fn is_settled(&self) -> bool {
        !self.failures.is_empty()
    }

    fn only_adds_failures(&self) -> bool {
        true
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        let sense = self.sense;
        self.failures
            .explain_places(view, |view, failure| Some(no_earlier_reason(view, &failure.hit, failure.since, sense)))
    }

    fn describe_state(&self, view: &mut MonitorView<'_, 'run>) -> String {
        let Some(target) = self.targets.first() else { return String::new() };
        let came =
            target.sources.groups().iter().map(|group| view.describe_operand(SOURCE, &group.env)).collect::<Vec<_>>();
        if came.is_empty() { String::new() } else { format!("{} came", list_words(came)) }
    }
}

fn no_earlier_reason(
    view: &mut MonitorView<'_, '_>,
    hit: &Hit,
    since: Option<u32>,
    sense: BeforeSemantics,
) -> VerdictReason {
    let wanted = view.describe_wanted(SOURCE, hit, &hit.env, true);
    let since_words = since.map(|since| format!(" since {}", view.describe_step(since))).unwrap_or_default();
    let near = too_far_source(view, hit, since, sense);
    let because =
        near.as_ref().and_then(|near| near.words.as_deref()).map_or_else(String::new, |words| [": ", words].concat());
    let within = within_words(sense.within);
    let reason = [&view.describe_step(hit.step), " has no earlier ", &wanted, &within, &since_words, &because].concat();
    let mut evidence = view.decisive_evidence(hit, ["this has no earlier ", &wanted].concat());
    let behind = |since| view.step_proof(since, hit.operand, Role::Opening, format!("{wanted} was needed behind this"));
    evidence.extend(since.map(behind));
    match near {
        Some(near) => evidence.push(near.evidence),
        None => evidence.extend(view.nearest_evidence(SOURCE, hit, &hit.env, true)),
    }
    reason_with(reason, evidence)
}

struct RejectedSource {
    evidence: VerdictEvidence,
    words: Option<String>,
}

/// The nearest A that does not count: used up, too far, at an unknown distance, or not known.
fn too_far_source(
    view: &mut MonitorView<'_, '_>,
    hit: &Hit,
    since: Option<u32>,
    sense: BeforeSemantics,
) -> Option<RejectedSource> {
    let near = view.fitting_match(SOURCE, hit, true)?;
    let mut words = None;
    let label = match since.filter(|since| near.step <= *since) {
        Some(since) => format!("{} stands before {}", view.describe_step(near.step), view.describe_step(since)),
        None => match view.distance_words(&near, near.step, hit.step, sense.within) {
            Some(far) => far,
            None => {
                let said = view.unknown_cause(near.step, hit.step).filter(|_| !sense.starts)?;
                words = Some(unknown_cause_words(view, near.step, said));
                not_known_label(view, near.step, hit.step, said)
            }
        },
    };
    Some(RejectedSource { evidence: view.step_proof(near.step, SOURCE, Role::NearMiss, label), words })
}

pub(super) fn unknown_cause_words(view: &MonitorView<'_, '_>, near: u32, said: UnknownCause) -> String {
    match said {
        UnknownCause::Running => format!("{} had not ended when it started", view.describe_step(near)),
        UnknownCause::SameTurn => format!("{} was asked for in the same turn", view.describe_step(near)),
    }
}

fn not_known_label(view: &MonitorView<'_, '_>, near: u32, step: u32, said: UnknownCause) -> String {
    match said {
        UnknownCause::Running => {
            format!("{} had not ended when {} started", view.describe_step(near), view.describe_step(step))
        }
        UnknownCause::SameTurn => {
            format!("{} and {} were asked for in one turn", view.describe_step(near), view.describe_step(step))
        }
    }
}
