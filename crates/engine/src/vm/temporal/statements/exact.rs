//! `sequence only A -> B -> C` and `sequence exactly A -> B -> C`: nothing else among the steps that match, or among the calls.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operand, to_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::Decision;
use crate::vm::temporal::explain::{count_words, for_which, reason_with};
use crate::vm::temporal::recent_occurrences::{Occurrence, RecentOccurrences, step_measure};
use crate::vm::temporal::search::Search;
use crate::vm::temporal::states::{PartialMatch, under_any};
use crate::vm::temporal::step_lists::Certainty;
use crate::vm::temporal::timeline::{Env, ValueId, to_index};
use crate::vm::temporal::view::{Hit, PairFit, WindowView, merge_envs, same_values};
use crate::vm::temporal::window_events::{PossibleOutcomes, VerdictReason, operand_hits};
use crate::vm::temporal::window_hits::WindowHits;
use averment_checker::ir::StepDistance;
use averment_syntax::ast::SequenceMode;
use rustc_hash::FxHashMap;

pub(super) fn exact_statement(
    mode: SequenceMode,
    steps: &[PatternId],
    within: Option<StepDistance>,
) -> StatementDefinition {
    let calls = mode == SequenceMode::Exactly;
    let statement = StatementDefinition::new(
        to_operands(steps, helping_operand),
        ExerciseRule::Always,
        ExactSemantics { calls, within },
    );
    StatementDefinition { calls, ..statement }.in_order().with_bound(within)
}

#[derive(Debug)]
struct ExactSemantics {
    /// True for `exactly`.
    calls: bool,
    within: Option<StepDistance>,
}

impl StatementSemantics for ExactSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let Some((view, hits)) = search.window() else { return Ok(None) };
        let (sure, possible) =
            view.ask_both(&hits, |view, certainty| ExactReach::new(view, self, certainty).follow_hits(&hits, view))?;
        let stands = PossibleOutcomes {
            may_fail: !sure.holds,
            may_hold: possible.holds,
            failed_for_good: possible.is_lost,
            ..PossibleOutcomes::default()
        };
        let failing = if possible.holds { sure } else { possible };
        Ok(Some(Decision::new(stands).failing(move |view| match failing.wrong {
            Some((step, taken)) => wrong_step(view, step, taken),
            None => too_short(view, failing.taken),
        })))
    }
}

/// How the steps of a run fit a sequence.
#[derive(Clone, Default)]
struct FittingSteps {
    holds: bool,
    /// No further step can make it hold.
    is_lost: bool,
    taken: usize,
    /// The step that stands wrong, and how many are before it.
    wrong: Option<(u32, usize)>,
}

struct ExactReach {
    certainty: Certainty,
    calls: bool,
    within: Option<StepDistance>,
    levels: Vec<FxHashMap<PartialMatch, RecentOccurrences>>,
    /// For `exactly`: consecutive calls taken so far.
    taken: usize,
    stopped: Option<(u32, usize)>,
}

impl ExactReach {
    fn new(view: &WindowView<'_, '_>, statement: &ExactSemantics, certainty: Certainty) -> Self {
        let mut levels = vec![FxHashMap::default(); view.operands.len() + 1];
        if let Some(start) = levels.first_mut() {
            start.insert(PartialMatch::empty_match(view), RecentOccurrences::default());
        }
        let ExactSemantics { calls, within } = *statement;
        Self { certainty, calls, within, levels, taken: 0, stopped: None }
    }

    fn extend_words(
        &self,
        length: usize,
        hits: &[Hit],
        view: &mut WindowView<'_, '_>,
    ) -> Result<FxHashMap<PartialMatch, RecentOccurrences>, Fault> {
        let mut grown: FxHashMap<PartialMatch, RecentOccurrences> = FxHashMap::default();
        let Some(before) = length.checked_sub(1).and_then(|before| self.levels.get(before)) else { return Ok(grown) };
        for hit in operand_hits(hits, length - 1) {
            if !self.certainty.counts_hit(hit) {
                continue;
            }
            let now = view.step(hit.step).and_then(|step| step_measure(self.within, step));
            for (partial, recent) in before {
                let found = recent.find_occurrence(None, self.within, now);
                let near = length == 1 || found.counts(self.certainty);
                if let (true, Some(next)) = (near, partial.extended_with(hit, self.certainty, view)?) {
                    grown.entry(next).or_default().push_occurrence(Occurrence { step: hit.step, measure: now });
                }
            }
        }
        Ok(grown)
    }

    fn is_dead(&self) -> bool {
        self.levels.iter().all(FxHashMap::is_empty)
    }

    fn stop_word(&mut self, step: u32, taken: usize) {
        self.levels.iter_mut().for_each(FxHashMap::clear);
        if self.stopped.is_none() {
            self.stopped = Some((step, taken));
        }
    }

    /// A step that matches a pattern must be taken, unless the match is uncertain.
    fn among_matching(&mut self, step: u32, hits: &[Hit], view: &mut WindowView<'_, '_>) -> Result<(), Fault> {
        let hits = matching_hits(hits, view)?;
        if hits.is_empty() {
            return Ok(());
        }
        let sure = hits.iter().any(|hit| hit.sure);
        let taken = self.levels.iter().rposition(|level| !level.is_empty()).unwrap_or(0);
        if !sure && self.certainty == Certainty::Sure {
            // Taken or not, one of both gives the wrong number of steps.
            self.stop_word(step, taken);
            return Ok(());
        }
        for length in (1..self.levels.len()).rev() {
            let grown = self.extend_words(length, &hits, view)?;
            let Some(level) = self.levels.get_mut(length) else { continue };
            if sure {
                *level = grown;
            } else {
                for (partial, recent) in grown {
                    level.entry(partial).or_default().extend(&recent);
                }
            }
        }
        if let (true, Some(start)) = (sure, self.levels.first_mut()) {
            start.clear();
        }
        if self.is_dead() {
            self.stop_word(step, taken);
        }
        Ok(())
    }

    /// A call is the next step of the sequence or ends it.
    fn among_calls(&mut self, step: u32, hits: &[Hit], view: &mut WindowView<'_, '_>) -> Result<(), Fault> {
        let place = hits.first().and_then(|hit| hit.call);
        let Some(place) = place else { return Ok(()) };
        let grown = if to_index(self.taken) == place {
            self.extend_words(self.taken + 1, hits, view)?
        } else {
            FxHashMap::default()
        };
        let taken = self.taken;
        if let Some(level) = self.levels.get_mut(taken) {
            level.clear();
        }
        match self.levels.get_mut(taken + 1) {
            Some(level) => *level = grown,
            None => self.stop_word(step, taken),
        }
        if self.is_dead() {
            self.stop_word(step, taken);
        } else {
            self.taken += 1;
        }
        Ok(())
    }
}

fn matching_hits(hits: &[Hit], view: &mut WindowView<'_, '_>) -> Result<Vec<Hit>, Fault> {
    let mut matching = Vec::new();
    for hit in hits {
        match if view.has_joins(hit.operand) { under_any(hit, view)? } else { PairFit::Yes } {
            PairFit::Yes => matching.push(hit.clone()),
            PairFit::Unknown => matching.push(Hit { sure: false, ..hit.clone() }),
            PairFit::No => {}
        }
    }
    Ok(matching)
}

impl ExactReach {
    fn follow_hits(mut self, hits: &WindowHits, view: &mut WindowView<'_, '_>) -> Result<FittingSteps, Fault> {
        for hits in hits.steps() {
            let Some(step) = hits.first().map(|hit| hit.step).filter(|_| self.stopped.is_none()) else { break };
            if self.calls { self.among_calls(step, hits, view)? } else { self.among_matching(step, hits, view)? }
        }
        let (count, wanted) = (view.calls.len(), view.operands.len());
        let ended: Vec<PartialMatch> = self.levels.last().into_iter().flat_map(|level| level.keys().cloned()).collect();
        let mut holds = false;
        for partial in &ended {
            holds = holds || partial.can_end(self.certainty, view)?;
        }
        // Among all calls the step that is wrong is the first that was not taken, whether it matches something or nothing.
        let missed = view.calls.get(self.taken).filter(|_| self.calls).map(|step| (*step, self.taken));
        Ok(FittingSteps {
            holds: holds && (!self.calls || count == wanted),
            is_lost: self.stopped.is_some() || missed.is_some(),
            taken: self.levels.iter().rposition(|level| !level.is_empty()).unwrap_or(0),
            wrong: missed.or(self.stopped),
        })
    }
}

fn wrong_step(view: &mut WindowView<'_, '_>, step: u32, taken: usize) -> VerdictReason {
    let found = view.describe_step(step);
    let (before, env) = first_steps(view, taken);
    let reason = if taken < view.operands.len() {
        let near = view.hits_of(taken).find(|near| near.step == step);
        let join_mismatch = near.and_then(|near| view.join_mismatch(&near, &env, &before));
        let test = join_mismatch
            .as_ref()
            .and_then(|join_mismatch| join_mismatch.test.as_deref())
            .map(for_which)
            .unwrap_or_default();
        let because = join_mismatch.map_or_else(String::new, |join_mismatch| [": ", &join_mismatch.words].concat());
        format!("{found} stands where {}{test} should be{because}", view.describe_operand(taken, &env))
    } else {
        format!("{found} comes behind the end of the sequence")
    };
    let like = view.similar_name(step, std::iter::once(taken));
    reason_with(
        reason,
        vec![view.step_proof(step, taken.min(view.operands.len().saturating_sub(1)), Role::Decisive, like)],
    )
}

fn first_steps(view: &WindowView<'_, '_>, count: usize) -> (Vec<Hit>, Env) {
    let mut env: Env = view.header.iter().map(|_| ValueId::OPEN).collect();
    let mut hits: Vec<Hit> = Vec::new();
    for operand in 0..count.min(view.operands.len()) {
        let behind = hits.last().map(|last| last.step);
        let fits =
            |hit: &Hit| behind.is_none_or(|behind| hit.step > behind) && same_values(&hit.env, &env) == PairFit::Yes;
        let Some(hit) = view.hits_of(operand).find(fits) else { break };
        env = merge_envs(&env, &hit.env);
        hits.push(hit);
    }
    (hits, env)
}

fn too_short(view: &mut WindowView<'_, '_>, taken: usize) -> VerdictReason {
    let wanted = view.pattern_words(taken.min(view.operands.len().saturating_sub(1)));
    if taken == 0 {
        let near = view.misspelled_name(0).into_iter().collect();
        return reason_with(format!("there is no {wanted}"), near);
    }
    reason_with(
        format!("the run ends behind {} of the sequence, before {wanted}", count_words(taken as u64, "step")),
        Vec::new(),
    )
}
