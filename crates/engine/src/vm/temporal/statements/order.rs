//! `before A -> B, C` and `after A -> B, C`: every B has an earlier A that was known (with `starts` an earlier one is enough), every A has a
//! later B. With `each` none of its own kind stands between; with `immediately` it is the call just beside it.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operands, hurting_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::{Role, VerdictEvidence};
use crate::vm::temporal::call_knowledge::UnknownCause;
use crate::vm::temporal::decision::{Decision, FailingPlace, PlaceTally};
use crate::vm::temporal::explain::{JoinMismatch, list_words, reason_with, within_words};
use crate::vm::temporal::keys::GroupKeys;
use crate::vm::temporal::search::{FoundMatch, Search, is_by_place};
use crate::vm::temporal::step_lists::{Certainty, StepSpan, bound_limit, measure_of};
use crate::vm::temporal::timeline::to_index;
use crate::vm::temporal::view::{Hit, PairFit, WindowView, same_values};
use crate::vm::temporal::window_events::{VerdictReason, call_position, event_hit};
use averment_checker::ir::StepDistance;
use rustc_hash::FxHashSet;

pub(super) fn order_statement(step: PatternId, targets: &[PatternId], sense: OrderSemantics) -> StatementDefinition {
    let (operands, exercise) = match sense.after {
        true => ([hurting_operands(&[step]), helping_operands(targets)].concat(), 0..1),
        false => ([helping_operands(&[step]), hurting_operands(targets)].concat(), 1..targets.len() + 1),
    };
    let statement = StatementDefinition::new(operands, ExerciseRule::AnyOf(exercise), sense).in_order(sense.within);
    StatementDefinition {
        calls: sense.immediately,
        is_timed: !sense.starts && !sense.immediately,
        is_by_first: !sense.after && sense.is_plain(),
        ..statement.closed_if(is_by_place(sense.within) && !sense.immediately)
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct OrderSemantics {
    /// True where each A needs a later match, false where each target needs an earlier one.
    pub(super) after: bool,
    pub(super) each: bool,
    /// True where it does not matter whether the earlier step was known to the later one.
    pub(super) starts: bool,
    pub(super) immediately: bool,
    pub(super) within: Option<StepDistance>,
}

impl StatementSemantics for OrderSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let (mut tally, sense) = (PlaceTally::new(search), *self);
        // Without values every A before the first B is before the later ones, and every A before the last B has one.
        let is_in_order = self.starts || search.is_sequential();
        let decisive = (self.is_plain() && is_in_order).then_some(self.after);
        for target in SOURCE + 1..search.operand_count() {
            let (own, wanted) = sense.sides(target);
            search.judge_matches(&mut tally, own, decisive, |search, own, certainty| {
                sense.unmet_place(search, own, wanted, certainty)
            })?;
        }
        let mut for_good = !tally.sure.is_empty();
        if let Some(view) = search.view().filter(|view| self.after && !view.context.window.closed) {
            let late = self.late_places(view, &tally);
            for_good = !late.is_empty();
            if for_good {
                tally.sure = late;
            }
        }
        let decision = tally.decide(move |view, place| {
            let (own, wanted) = sense.sides(place.operand);
            let hit = event_hit(own, place.event, view)?;
            Some(match sense.immediately {
                true => neighbor_reason(view, &hit, wanted, sense),
                false => unmet_reason(view, &hit, wanted, place.others.0, sense),
            })
        });
        let decision = decision.fails_for_good(for_good);
        Ok(Some(if self.after || self.immediately { decision } else { decision.with_state(sources_so_far) }))
    }
}

const SOURCE: usize = 0;

impl OrderSemantics {
    /// True if any match on the right side will do.
    fn is_plain(&self) -> bool {
        !self.each && !self.immediately && self.within.is_none()
    }

    /// The operand each match of which needs another one, and the operand of that one.
    fn sides(&self, target: usize) -> (usize, usize) {
        if self.after { (SOURCE, target) } else { (target, SOURCE) }
    }

    /// A match without another one on its side, known if that counts, within the bound and, if each needs its own, not beyond the next of its
    /// kind.
    fn unmet_place(
        &self,
        search: &mut Search<'_, '_, '_>,
        own: FoundMatch,
        wanted: usize,
        certainty: Certainty,
    ) -> Result<Option<FailingPlace>, Fault> {
        let side = if self.after { StepSpan::after(own.step) } else { StepSpan::before(own.step) };
        let mut place = FailingPlace { operand: if self.after { wanted } else { own.operand }, ..own.place() };
        let span = if self.immediately {
            match search.view().and_then(|view| self.neighbor_of(own.step, view)) {
                None => return Ok(Some(place)),
                Some(neighbor) => side.since(Some(neighbor)).until(neighbor.checked_add(1)),
            }
        } else if self.each {
            let next = search.find(own, own.operand, &side, certainty)?;
            place.others.0 = next;
            if self.after { side.until(next) } else { side.since(next.map(|next| next.saturating_add(1))) }
        } else {
            side
        };
        let known_to = if self.starts { None } else { Some(own.step) };
        let span = span.within(self.within).known_to(known_to).any().fresh();
        let met = search.find(own, wanted, &span, certainty.opposite())?;
        Ok(if met.is_some() { None } else { Some(place) })
    }

    /// The call just beside a step in the call list.
    fn neighbor_of(&self, step: u32, view: &WindowView<'_, '_>) -> Option<u32> {
        let call = call_position(step, view)?;
        let place = if self.after { call.checked_add(1) } else { call.checked_sub(1) };
        view.calls.get(place? as usize).copied()
    }

    /// The places for which no later step can be the B: another call or the next A came, or the bound has passed.
    fn late_places(&self, view: &WindowView<'_, '_>, tally: &PlaceTally) -> Vec<FailingPlace> {
        let now = latest_measure(self.within, view);
        let is_late = |place: &&FailingPlace| {
            let from = measure_of(view, self.within, place.step);
            let passed = || now.zip(from).is_some_and(|(now, from)| now - from > bound_limit(self.within));
            match self.immediately {
                true => view.calls.last() != Some(&place.step),
                false => place.others.0.is_some() || passed(),
            }
        };
        tally.sure.iter().filter(is_late).copied().collect()
    }
}

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

/// The A's that came so far, once for the values that the first B's share.
fn sources_so_far(view: &WindowView<'_, '_>) -> String {
    let keys = GroupKeys::between_operands(view, SOURCE, SOURCE + 1);
    let mut seen = FxHashSet::default();
    let sources = view.hits_of(SOURCE).filter(|hit| seen.insert(keys.tell_apart(&hit.env, hit.event)));
    let came: Vec<String> = sources.map(|hit| view.describe_operand(SOURCE, &hit.env)).collect();
    if came.is_empty() { String::new() } else { format!("{} came", list_words(came)) }
}

/// `edge` is the step of its own kind beyond which it may not look for another one.
fn unmet_reason(
    view: &mut WindowView<'_, '_>,
    hit: &Hit,
    wanted: usize,
    edge: Option<u32>,
    sense: OrderSemantics,
) -> VerdictReason {
    let thing = view.describe_wanted(wanted, hit, !sense.after);
    // Where it is open whether the next A is one, it is named nevertheless.
    let next = || view.hits_near(hit.operand, hit.step, false).find(|next| next.env == hit.env).map(|next| next.step);
    let edge = if sense.after && sense.each { next() } else { edge.filter(|_| !sense.after) };
    let near = match sense.after {
        true if sense.each => None,
        true => view.too_late(hit, wanted, sense.within).map(RejectedSource::without_words),
        false => too_far_source(view, hit, edge, sense),
    };
    let side = if sense.after { "later" } else { "earlier" };
    let since = if sense.after { "before" } else { "since" };
    let edge_words = edge.map(|edge| format!(" {since} {}", view.describe_step(edge))).unwrap_or_default();
    let because = near.as_ref().map_or("", |near| near.words.as_str());
    let within = within_words(sense.within);
    let lacks = [" has no ", side, " ", &thing].concat();
    let reason = [&view.describe_step(hit.step), &lacks, &within, &edge_words, because].concat();
    let mut evidence = view.decisive_evidence(hit, ["this", &lacks].concat());
    evidence.extend(edge.map(|edge| match sense.after {
        true => view.step_proof(edge, hit.operand, Role::Closing, format!("this comes before any {thing}")),
        false => view.step_proof(edge, hit.operand, Role::Opening, format!("{thing} was needed behind this")),
    }));
    match near {
        Some(near) => evidence.push(near.evidence),
        None => evidence.extend(view.nearest_evidence(wanted, hit, !sense.after)),
    }
    reason_with(reason, evidence)
}

struct RejectedSource {
    evidence: VerdictEvidence,
    words: String,
}

impl RejectedSource {
    fn without_words(evidence: VerdictEvidence) -> Self {
        Self { evidence, words: String::new() }
    }
}

/// The nearest A that does not count: used up, too far, at an unknown distance, or not known.
fn too_far_source(
    view: &mut WindowView<'_, '_>,
    hit: &Hit,
    since: Option<u32>,
    sense: OrderSemantics,
) -> Option<RejectedSource> {
    let near = view.fitting_match(SOURCE, hit, true)?;
    let (own, earlier) = (view.describe_step(hit.step), view.describe_step(near.step));
    let mut words = String::new();
    let label = match since.filter(|since| near.step <= *since) {
        Some(since) => format!("{earlier} stands before {}", view.describe_step(since)),
        None => match view.distance_words(&near, near.step, hit.step, sense.within) {
            Some(far) => far,
            None => {
                let cause = view.unknown_cause(near.step, hit.step).filter(|_| !sense.starts)?;
                words = [": ", &unknown_cause_words(view, near.step, cause)].concat();
                match cause {
                    UnknownCause::Running => format!("{earlier} had not ended when {own} started"),
                    UnknownCause::SameTurn => format!("{earlier} and {own} were asked for in one turn"),
                }
            }
        },
    };
    Some(RejectedSource { evidence: view.step_proof(near.step, SOURCE, Role::NearMiss, label), words })
}

fn unknown_cause_words(view: &WindowView<'_, '_>, near: u32, cause: UnknownCause) -> String {
    let near = view.describe_step(near);
    match cause {
        UnknownCause::Running => near + " had not ended when it started",
        UnknownCause::SameTurn => near + " was asked for in the same turn",
    }
}

fn neighbor_reason(view: &mut WindowView<'_, '_>, hit: &Hit, wanted: usize, sense: OrderSemantics) -> VerdictReason {
    let side = if sense.after { "after" } else { "before" };
    let (thing, step) = (view.describe_operand(wanted, &hit.env), view.describe_step(hit.step));
    let mut evidence = view.decisive_evidence(hit, String::new());
    let Some(other) = sense.neighbor_of(hit.step, view) else {
        return reason_with(format!("there is no call just {side} {step}, where {thing} should be"), evidence);
    };
    let near = view.hits_of(wanted).find(|near| near.step == other);
    let fits =
        near.as_ref().is_some_and(|near| same_values(&near.env, &hit.env) == PairFit::Yes && view.is_pair(near, hit));
    let unknown = view.unknown_cause(other, hit.step).filter(|_| fits && !sense.after);
    let (reason, label) = match unknown {
        Some(cause) => {
            let words = unknown_cause_words(view, other, cause);
            ([&step, " has no ", &thing, " just before it: ", &words].concat(), String::new())
        }
        None => {
            let mismatch = near.and_then(|near| view.join_mismatch(&near, &hit.env, std::slice::from_ref(hit)));
            let (test, because) = JoinMismatch::to_words(mismatch);
            let name = view.describe_step(other);
            let like = view.similar_name(other, std::iter::once(wanted));
            (format!("the call just {side} {step} is {name}, not {thing}{test}{because}"), like)
        }
    };
    evidence.push(view.step_proof(other, wanted, Role::NearMiss, label));
    reason_with(reason, evidence)
}
