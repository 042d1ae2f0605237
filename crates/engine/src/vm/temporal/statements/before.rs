//! `before A -> B, C` and `before each A -> B`: every B has an earlier A that was known; with `starts` an earlier one is enough.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operand, hurting_operand, in_front};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::{Role, VerdictEvidence};
use crate::vm::temporal::call_knowledge::UnknownCause;
use crate::vm::temporal::decision::{Decision, FailingPlace, PlaceTally};
use crate::vm::temporal::explain::{list_words, reason_with, within_words};
use crate::vm::temporal::keys::GroupKeys;
use crate::vm::temporal::search::{FoundMatch, OwnValues, Search, is_by_place};
use crate::vm::temporal::step_lists::{Certainty, StepSpan};
use crate::vm::temporal::view::{Hit, WindowView};
use crate::vm::temporal::window_events::{VerdictReason, event_hit};
use averment_checker::ir::StepDistance;
use rustc_hash::FxHashSet;

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

    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let (mut tally, sense) = (PlaceTally::new(search), *self);
        // Without values every A before the first B is before the later ones.
        let is_in_order = self.starts || search.is_sequential();
        let decisive = (is_in_order && self.is_by_first()).then_some(false);
        for target in SOURCE + 1..search.operand_count() {
            search.judge_matches(&mut tally, target, decisive, |search, own, certainty| {
                sense.unmet_target(search, own, certainty)
            })?;
        }
        let decision = tally.decide(move |view, place| {
            Some(no_earlier_reason(view, &event_hit(place.operand, place.event, view)?, place.others.0, sense))
        });
        Ok(Some(decision.with_state(sources_so_far)))
    }

    fn is_timed(&self) -> bool {
        !self.starts
    }

    fn is_by_first(&self) -> bool {
        !self.each && self.within.is_none()
    }
}

impl BeforeSemantics {
    /// A B without an earlier A that was known, within the bound, and behind the previous B if each needs its own.
    fn unmet_target(
        &self,
        search: &mut Search<'_, '_, '_>,
        own: FoundMatch,
        certainty: Certainty,
    ) -> Result<Option<FailingPlace>, Fault> {
        let earlier = StepSpan::before(own.step);
        let since =
            if self.each { search.find(own, own.operand, &earlier, OwnValues::Recorded, certainty)? } else { None };
        let known_to = if self.starts { None } else { Some(own.step) };
        let span = earlier.since(since.map(|since| since.saturating_add(1))).within(self.within).known_to(known_to);
        let met = search.find(own, SOURCE, &span.any(), OwnValues::Fresh, certainty.opposite())?;
        Ok(if met.is_some() { None } else { Some(FailingPlace { others: (since, None), ..own.place() }) })
    }
}

const SOURCE: usize = 0;

/// The A's that came so far, once for the values that the first B's share.
fn sources_so_far(view: &WindowView<'_, '_>) -> String {
    let keys = GroupKeys::between_operands(view, SOURCE, SOURCE + 1);
    let mut seen = FxHashSet::default();
    let sources = view.hits_of(SOURCE).filter(|hit| seen.insert(keys.tell_apart(&hit.env, hit.event)));
    let came: Vec<String> = sources.map(|hit| view.describe_operand(SOURCE, &hit.env)).collect();
    if came.is_empty() { String::new() } else { format!("{} came", list_words(came)) }
}

fn no_earlier_reason(
    view: &mut WindowView<'_, '_>,
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
    view: &mut WindowView<'_, '_>,
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

pub(super) fn unknown_cause_words(view: &WindowView<'_, '_>, near: u32, said: UnknownCause) -> String {
    match said {
        UnknownCause::Running => format!("{} had not ended when it started", view.describe_step(near)),
        UnknownCause::SameTurn => format!("{} was asked for in the same turn", view.describe_step(near)),
    }
}

fn not_known_label(view: &WindowView<'_, '_>, near: u32, step: u32, said: UnknownCause) -> String {
    match said {
        UnknownCause::Running => {
            format!("{} had not ended when {} started", view.describe_step(near), view.describe_step(step))
        }
        UnknownCause::SameTurn => {
            format!("{} and {} were asked for in one turn", view.describe_step(near), view.describe_step(step))
        }
    }
}
