//! `immediately before A -> B` and `immediately after A -> B`: what stands beside a step in the call list.

use super::before::unknown_cause_words;
use super::{
    ExerciseRule, Polarity, StatementDefinition, StatementSemantics, helping_operand, hurting_operand, in_front,
};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::explain::{for_which, reason_with};
use crate::vm::temporal::failures::FailureList;
use crate::vm::temporal::monitor::{Monitor, PossibleOutcomes, VerdictReason, operand_hits};
use crate::vm::temporal::recent_occurrences::{bound_holds, step_measure};
use crate::vm::temporal::timeline::to_index;
use crate::vm::temporal::view::{Hit, MonitorView, PairFit, same_values};
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
    fn build_monitor<'run>(&self, view: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(ImmediateMonitor::new(self.after, self.within, view.listed)))
    }
}

struct ImmediateMonitor {
    after: bool,
    within: Option<StepDistance>,
    /// The previous call's hits with its position: A's for `before`, waiting A's for `after`.
    latest: Vec<Hit>,
    failures: FailureList<WrongNeighbor>,
}

#[derive(Clone)]
struct WrongNeighbor {
    hit: Hit,
    wanted: usize,
}

const SOURCE: usize = 0;

impl ImmediateMonitor {
    fn new(after: bool, within: Option<StepDistance>, listed: usize) -> Self {
        Self { after, within, latest: Vec::new(), failures: FailureList::new(listed) }
    }

    fn are_neighbors(&self, earlier: &Hit, later: &Hit, view: &mut MonitorView<'_, '_>) -> Result<bool, Fault> {
        let of_step = |hit: &Hit, view: &MonitorView<'_, '_>| {
            view.step(hit.step).and_then(|step| step_measure(self.within, step))
        };
        let near = bound_holds(self.within, of_step(earlier, view), of_step(later, view));
        if !near.unwrap_or_else(|| view.assume_answer(Polarity::Helps)) {
            return Ok(false);
        }
        if !self.after && view.unknown_cause(earlier.step, later.step).is_some() {
            return Ok(false);
        }
        let (quantified, other) = if self.after { (earlier, later) } else { (later, earlier) };
        let fresh = Hit { env: quantified.fresh_env(), ..quantified.clone() };
        let fit = view.pair_fit(fresh.as_side(), other.as_side())?;
        Ok(view.accepts_fit(fit, Polarity::Helps))
    }

    fn add_failure(&mut self, hit: &Hit, wanted: usize) {
        self.failures.push_with(|| WrongNeighbor { hit: hit.clone(), wanted });
    }

    /// A's whose B never comes, because the window closed or another call came.
    fn missed_neighbors(&self, view: &MonitorView<'_, '_>) -> FailureList<WrongNeighbor> {
        let count = to_index(view.calls.len());
        let next = |hit: &Hit| view.context.window.closed || hit.call.is_some_and(|call| call + 1 < count);
        let mut missed = FailureList::for_view(view);
        for hit in self.latest.iter().filter(|hit| self.after && next(hit)) {
            missed.extend((1..view.operands.len()).map(|wanted| WrongNeighbor { hit: hit.clone(), wanted }));
        }
        missed
    }

    /// Every B of this step needs an A just before it.
    fn look_back(&mut self, hits: &[Hit], view: &mut MonitorView<'_, '_>) -> Result<(), Fault> {
        for hit in hits.iter().filter(|hit| hit.operand != SOURCE) {
            if !view.counts_match(hit) {
                continue;
            }
            let before = hit.call.and_then(|call| call.checked_sub(1));
            let neighbours: Vec<Hit> =
                self.latest.iter().filter(|a| before.is_some() && a.call == before).cloned().collect();
            let mut met = false;
            for neighbour in &neighbours {
                met = met || self.are_neighbors(neighbour, hit, view)?;
            }
            if !met {
                self.add_failure(hit, SOURCE);
            }
        }
        self.remember_hits(hits, view);
        Ok(())
    }

    /// Every waiting A needs each B among the hits of the next call.
    fn look_ahead(&mut self, hits: &[Hit], view: &mut MonitorView<'_, '_>) -> Result<(), Fault> {
        if hits.iter().all(|hit| hit.call.is_none()) {
            let outside: Vec<&Hit> = operand_hits(hits, SOURCE).filter(|hit| view.counts_match(hit)).collect();
            for hit in outside {
                (1..view.operands.len()).for_each(|wanted| self.add_failure(hit, wanted));
            }
            return Ok(());
        }
        for waiting in std::mem::take(&mut self.latest) {
            for wanted in 1..view.operands.len() {
                let next = waiting.call.map(|call| call + 1);
                let mut met = false;
                for hit in operand_hits(hits, wanted) {
                    met = met
                        || (hit.call == next && view.counts_match(hit) && self.are_neighbors(&waiting, hit, view)?);
                }
                if !met {
                    self.add_failure(&waiting, wanted);
                }
            }
        }
        self.remember_hits(hits, view);
        Ok(())
    }

    fn remember_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, '_>) {
        let sources: Vec<Hit> =
            operand_hits(hits, SOURCE).filter(|hit| hit.call.is_some() && view.counts_match(hit)).cloned().collect();
        if hits.iter().any(|hit| hit.call.is_some()) {
            self.latest = sources;
        }
    }
}

impl<'run> Monitor<'run> for ImmediateMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        if self.after { self.look_ahead(hits, view) } else { self.look_back(hits, view) }
    }

    fn possible_outcomes(&mut self, view: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        let count = to_index(view.calls.len());
        let waiting = self.after.then(|| self.latest.first()).flatten();
        // The next call has come, and it matches nothing.
        let missed = waiting.is_some_and(|hit| hit.call.is_some_and(|call| call + 1 < count));
        let lost = !self.failures.is_empty() || missed;
        Ok(PossibleOutcomes { failed_for_good: lost, ..PossibleOutcomes::from_failure(lost || waiting.is_some()) })
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        let beside = if self.after { NeighborSide::After } else { NeighborSide::Before };
        let words = |view: &mut MonitorView<'_, '_>, one: &WrongNeighbor| {
            Some(neighbor_reason(view, &one.hit, one.wanted, beside))
        };
        let parts = [self.failures.clone(), self.missed_neighbors(view)];
        let failures = FailureList::join_parts(view, parts.into_iter(), |one| (one.hit.step, one.wanted));
        if !failures.is_empty() {
            return failures.explain_places(view, words);
        }
        let waiting = self.latest.first().filter(|_| self.after);
        let waiting = waiting.map(|hit| WrongNeighbor { hit: hit.clone(), wanted: 1 });
        waiting.and_then(|waiting| words(view, &waiting)).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NeighborSide {
    Before,
    After,
}

fn neighbor_reason(view: &mut MonitorView<'_, '_>, hit: &Hit, wanted: usize, beside: NeighborSide) -> VerdictReason {
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
