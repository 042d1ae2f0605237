//! `after A -> B, C` and `after each A -> B`: every A has a later B.

use super::{
    ExerciseRule, Polarity, StatementDefinition, StatementSemantics, helping_operand, hurting_operand, in_front,
};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed_form::{
    ClosedVerdict, ConditionOracle, FailingPlace, OccurrenceLookup, Occurrences, is_by_place,
};
use crate::vm::temporal::explain::{reason_with, within_words};
use crate::vm::temporal::failures::FailureList;
use crate::vm::temporal::keys::GroupKeys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Monitor, PossibleOutcomes, VerdictReason, event_hit, operand_hits, own_key};
use crate::vm::temporal::recent_occurrences::{bound_holds, bound_limit, step_measure};
use crate::vm::temporal::timeline::{Env, to_index};
use crate::vm::temporal::view::{Hit, MonitorView, same_values};
use averment_checker::ir::StepDistance;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::ControlFlow;

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

#[derive(Debug)]
struct AfterSemantics {
    each: bool,
    within: Option<StepDistance>,
}

impl StatementSemantics for AfterSemantics {
    fn is_closed(&self, _: bool) -> bool {
        is_by_place(self.within)
    }

    fn closed_form(
        &self,
        search: &OccurrenceLookup<'_, '_>,
        _: &mut dyn ConditionOracle,
    ) -> Result<Option<ClosedVerdict>, Fault> {
        let Some(source) = search.operand_occurrences(SOURCE) else { return Ok(None) };
        let places = search.list_places(search.occurrences_from(SOURCE + 1).flat_map(|(operand, target)| {
            let unmet = self.unmet_sources(search, source, target);
            unmet.map(move |event| FailingPlace { operand, ..FailingPlace::new(SOURCE, source, event) })
        }));
        let (each, within) = (self.each, self.within);
        Ok(Some(search.fails_at(places, move |view, place| {
            Some(no_later_reason(view, &event_hit(SOURCE, place.event, view)?, place.operand, each, within))
        })))
    }

    fn build_monitor<'run>(&self, view: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(AfterMonitor::new(view, self.each, self.within)))
    }
}

impl AfterSemantics {
    /// A's without a B; only the first unless more are listed.
    fn unmet_sources<'s>(
        &'s self,
        search: &'s OccurrenceLookup<'_, '_>,
        source: Occurrences<'s>,
        target: Occurrences<'s>,
    ) -> impl Iterator<Item = u32> + 's {
        let alone = !search.lists_failures() && !self.each && self.within.is_none() && search.is_unbound();
        // Without values every A before the last B has one.
        let first = alone.then(|| match target.last_event().and_then(|last| target.event_step(last).checked_sub(1)) {
            Some(before) => source.first_after(&[], before),
            None => source.first_event(),
        });
        let most = if alone {
            0
        } else if search.lists_failures() {
            usize::MAX
        } else {
            1
        };
        let unmet = source.event_numbers().filter(move |event| !self.is_met(search, source, target, *event));
        first.flatten().into_iter().chain(unmet.take(most))
    }

    /// True if a B follows an A within the bound and, if each needs its own, before the next A.
    fn is_met(
        &self,
        search: &OccurrenceLookup<'_, '_>,
        source: Occurrences<'_>,
        target: Occurrences<'_>,
        event: u32,
    ) -> bool {
        let (key, step) = (source.event_key(event), source.event_step(event));
        if !self.each && self.within.is_none() {
            return target.is_after(key, step);
        }
        let next = if self.each { source.first_after(key, step).map(|next| source.event_step(next)) } else { None };
        let near = target.first_after(key, step).map(|near| target.event_step(near));
        near.is_some_and(|near| next.is_none_or(|next| near < next) && search.is_within(self.within, step, near))
    }
}

const SOURCE: usize = 0;

struct AfterMonitor {
    targets: Vec<AfterTarget>,
}

struct AfterTarget {
    operand: usize,
    within: Option<StepDistance>,
    each: bool,
    obligations: Vec<Obligation>,
    /// Waiting A's by group, sorted by measure; those without one come first.
    waiting: MatchIndex<SmallVec<[u32; 2]>>,
    by_value: FxHashMap<Env, Vec<u32>>,
    loose: bool,
    open: usize,
    lost: bool,
}

struct Obligation {
    hit: Hit,
    measure: Option<f64>,
    waits: bool,
    lost: bool,
}

#[derive(Clone)]
struct UnmetSource {
    hit: Hit,
    operand: usize,
}

impl AfterMonitor {
    fn new(view: &MonitorView<'_, '_>, each: bool, within: Option<StepDistance>) -> Self {
        let target = |operand| AfterTarget {
            operand,
            within,
            each,
            obligations: Vec::new(),
            waiting: MatchIndex::new(GroupKeys::between_operands(view, SOURCE, operand)),
            by_value: FxHashMap::default(),
            loose: false,
            open: 0,
            lost: false,
        };
        Self { targets: (1..view.operands.len()).map(target).collect() }
    }
}

impl AfterTarget {
    /// With `each`: an A with the same values ends the wait of earlier ones.
    fn end_earlier(&mut self, hit: &Hit, view: &mut MonitorView<'_, '_>) {
        let own = own_key(hit, view);
        let mut cut = Vec::new();
        if own.iter().all(|id| id.is_value()) {
            cut.extend(self.by_value.remove(&own).unwrap_or_default());
        }
        // Values that are open or not recorded may be the same as any.
        if self.loose || own.iter().any(|id| !id.is_value()) {
            for (known, waiting) in &mut self.by_value {
                if view.accepts_fit(same_values(known, &own), Polarity::Hurts) {
                    cut.append(waiting);
                }
            }
        }
        cut.sort_unstable();
        for number in cut {
            if self.settle_source(number)
                && let Some(obligation) = self.obligations.get_mut(number as usize)
            {
                (obligation.lost, self.lost) = (true, true);
            }
        }
    }

    /// A B ends the wait of all A's with its values within the bound.
    fn meet_sources(&mut self, hit: &Hit, view: &mut MonitorView<'_, '_>) -> Result<(), Fault> {
        let now = view.step(hit.step).and_then(|step| step_measure(self.within, step));
        let (within, obligations) = (self.within, &self.obligations);
        let mut met: Vec<u32> = Vec::new();
        self.waiting.visit_groups(view, hit.as_side(), |group, fit, view| {
            if !view.accepts_fit(fit, Polarity::Helps) {
                return Ok(ControlFlow::Continue(()));
            }
            while let Some(&number) = group.data.last() {
                let from = obligations.get(number as usize).and_then(|obligation| obligation.measure);
                let near = bound_holds(within, from, now);
                if !near.unwrap_or_else(|| view.assume_answer(Polarity::Helps)) {
                    break;
                }
                view.spend_fuel(1)?;
                met.push(number);
                group.data.pop();
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for number in met {
            self.settle_source(number);
        }
        Ok(())
    }

    fn add_source(&mut self, hit: &Hit, view: &mut MonitorView<'_, '_>) -> Result<(), Fault> {
        let number = to_index(self.obligations.len());
        let measure = view.step(hit.step).and_then(|step| step_measure(self.within, step));
        let env = hit.fresh_env();
        let obligations = &self.obligations;
        let before = |other: &u32| {
            let known = obligations.get(*other as usize).and_then(|obligation| obligation.measure);
            known.unwrap_or(f64::NEG_INFINITY) <= measure.unwrap_or(f64::NEG_INFINITY)
        };
        self.waiting.add_match(view, hit, &env, |waiting| waiting.insert(waiting.partition_point(before), number))?;
        if self.each {
            let own = own_key(hit, view);
            self.loose |= own.iter().any(|id| !id.is_value());
            self.by_value.entry(own).or_default().push(number);
        }
        self.obligations.push(Obligation { hit: hit.clone(), measure, waits: true, lost: false });
        self.open += 1;
        Ok(())
    }

    /// Returns false if it had already ended.
    fn settle_source(&mut self, number: u32) -> bool {
        let Some(obligation) = self.obligations.get_mut(number as usize).filter(|obligation| obligation.waits) else {
            return false;
        };
        obligation.waits = false;
        self.open -= 1;
        true
    }

    /// A's without a B; in an unfinished window only those that are `lost`.
    fn unmet_sources(&self, lost: bool, view: &MonitorView<'_, '_>) -> FailureList<UnmetSource> {
        let all = view.context.window.closed || !lost;
        let horizon = least_measure(self.within, view).filter(|_| !all);
        let is_late = |obligation: &Obligation| {
            horizon.zip(obligation.measure).is_some_and(|(now, from)| now - from > bound_limit(self.within))
        };
        let is_lost = |obligation: &Obligation| obligation.lost || obligation.waits && (all || is_late(obligation));
        let mut unmet = FailureList::for_view(view);
        for obligation in self.obligations.iter().filter(|obligation| is_lost(obligation)) {
            unmet.push_with(|| UnmetSource { operand: self.operand, hit: obligation.hit.clone() });
        }
        unmet
    }

    /// True if the bound of some A has passed, so that no later step can be its B.
    fn is_late(&self, view: &MonitorView<'_, '_>) -> bool {
        let Some(horizon) = least_measure(self.within, view) else { return false };
        let waiting = self.obligations.iter().filter(|obligation| obligation.waits);
        waiting.filter_map(|obligation| obligation.measure).any(|from| horizon - from > bound_limit(self.within))
    }
}

fn least_measure(within: Option<StepDistance>, view: &MonitorView<'_, '_>) -> Option<f64> {
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

impl<'run> Monitor<'run> for AfterMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        let sources: SmallVec<[&Hit; 2]> = operand_hits(hits, SOURCE).filter(|hit| view.counts_match(hit)).collect();
        for target in &mut self.targets {
            if target.each {
                sources.iter().for_each(|hit| target.end_earlier(hit, view));
            }
            for hit in operand_hits(hits, target.operand) {
                if view.counts_match(hit) {
                    target.meet_sources(hit, view)?;
                }
            }
            sources.iter().try_for_each(|hit| target.add_source(hit, view))?;
        }
        Ok(())
    }

    fn possible_outcomes(&mut self, view: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        let fails = self.targets.iter().any(|target| target.open > 0 || target.lost);
        let lost = |target: &AfterTarget| target.lost || (!view.context.window.closed && target.is_late(view));
        Ok(PossibleOutcomes { failed_for_good: self.targets.iter().any(lost), ..PossibleOutcomes::from_failure(fails) })
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        let each = self.targets.iter().any(|target| target.each);
        let within = self.targets.first().and_then(|target| target.within);
        let lost = view.context.window.closed || self.targets.iter().any(|target| target.lost || target.is_late(view));
        let unmet = self.targets.iter().map(|target| target.unmet_sources(lost, view));
        let unmet = FailureList::join_parts(view, unmet, |one| (one.hit.step, one.operand));
        unmet.explain_places(view, |view, one| Some(no_later_reason(view, &one.hit, one.operand, each, within)))
    }
}

fn no_later_reason(
    view: &mut MonitorView<'_, '_>,
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
