//! `sequence A -> B -> C`: steps in this order under one environment, gaps allowed.
//!
//! For each beginning of the sequence those environments are kept under which it has occurred, and of each only what later
//! steps can tell apart: where it last ended.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::Decision;
use crate::vm::temporal::explain::{reason_with, within_words};
use crate::vm::temporal::search::Search;
use crate::vm::temporal::states::{KEPT, PartialMatch, under_any};
use crate::vm::temporal::step_lists::{Certainty, Occurrence, RecentOccurrences, measure_of};
use crate::vm::temporal::timeline::{Env, to_index};
use crate::vm::temporal::view::{BindingNames, Hit, PairFit, WindowView, env_key, merge_envs, same_values};
use crate::vm::temporal::window_events::{PossibleOutcomes, VerdictReason, WindowHits, event_hit, operand_hits};
use averment_checker::ir::StepDistance;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub(super) fn sequence_statement(steps: &[PatternId], within: Option<StepDistance>) -> StatementDefinition {
    let meaning = SequenceSemantics { within };
    let statement = StatementDefinition::new(helping_operands(steps), ExerciseRule::Always, meaning).in_order(within);
    if within.is_none() { statement.closed_if_unbound() } else { statement }
}

#[derive(Debug)]
struct SequenceSemantics {
    within: Option<StepDistance>,
}

impl StatementSemantics for SequenceSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let within = self.within;
        let (sure, possible) = match search.window() {
            Some((view, hits)) => view.ask_both(&hits, |view, certainty| {
                Ok(SequenceReach::new(view, within, false, certainty).follow_hits(&hits, view)?.reached)
            })?,
            None => {
                let reached = first_in_order(search)?;
                (reached.clone(), reached)
            }
        };
        let stands = PossibleOutcomes::wanted(sure.complete, possible.complete);
        let stands = PossibleOutcomes { passed_for_good: sure.complete, ..stands };
        let failing = if possible.complete { sure.clone() } else { possible };
        let decision = Decision::new(stands).failing(move |view| incomplete_reason(view, &failing.hits(view), within));
        Ok(Some(decision.passing(move |view| order_reason(view, &sure.hits(view)))))
    }
}

/// How far a sequence goes: the events of its first steps, by operand.
#[derive(Clone, Default)]
struct ReachedSteps {
    events: SmallVec<[u32; 3]>,
    complete: bool,
}

impl ReachedSteps {
    fn hits(&self, view: &WindowView<'_, '_>) -> Vec<Hit> {
        let hits = self.events.iter().enumerate().filter_map(|(operand, event)| event_hit(operand, *event, view));
        hits.collect()
    }
}

/// Where nothing but the order counts, each step is the first one after the previous.
fn first_in_order(search: &mut Search<'_, '_, '_>) -> Result<ReachedSteps, Fault> {
    let mut reached = ReachedSteps { complete: true, ..ReachedSteps::default() };
    let mut last: Option<u32> = None;
    for operand in 0..search.operand_count() {
        let next = search.first_after(operand, last);
        let Some(next) = next else {
            reached.complete = false;
            break;
        };
        last = Some(next.step);
        reached.events.push(next.event);
    }
    Ok(reached)
}

/// The beginnings of a sequence that the steps so far may have gone through.
pub(super) struct SequenceReach {
    within: Option<StepDistance>,
    certainty: Certainty,
    /// True if no other match may stand between.
    only: bool,
    /// False once a step had to be taken.
    may_begin: bool,
    /// By the number of steps, without the empty one.
    levels: Vec<PrefixSet>,
    reached: ReachedSteps,
    /// For `only`: the step that fits nowhere, and how many are before it.
    pub(super) stopped: Option<(u32, usize)>,
}

/// Beginnings of one length, found by the values that the next step has in common with them.
#[derive(Default)]
struct PrefixSet {
    beginnings: Vec<(PartialMatch, RecentOccurrences)>,
    known: FxHashMap<PartialMatch, u32>,
    by_values: FxHashMap<Env, SmallVec<[u32; 2]>>,
    /// Those that lack one of these values.
    loose: Vec<u32>,
    shared: BindingNames,
    live: BindingNames,
    /// The next step binds nothing, so that an extended prefix is done.
    once: bool,
}

impl SequenceReach {
    pub(super) fn new(
        view: &WindowView<'_, '_>,
        within: Option<StepDistance>,
        only: bool,
        certainty: Certainty,
    ) -> Self {
        let count = view.operands.len();
        let level = |at: usize| {
            let bound: BindingNames =
                (0..=at).flat_map(|operand| view.operand_names(operand).iter().copied()).collect();
            let later = at + 1..count;
            let live: BindingNames = later
                .flat_map(|operand| view.operand_names(operand).iter().copied().chain(view.asked_names(operand)))
                .collect();
            let next = view.operand_names(at + 1);
            let shared: BindingNames = next.iter().copied().filter(|name| bound.contains(name)).collect();
            let adds = next.iter().any(|name| !bound.contains(name));
            let tests = (0..count).any(|operand| view.has_joins(operand));
            let once = within.is_none() && !adds && !tests && !only;
            PrefixSet { once, shared, live, ..PrefixSet::default() }
        };
        let (levels, reached) = ((0..count).map(level).collect(), ReachedSteps::default());
        Self { within, certainty, only, may_begin: true, levels, reached, stopped: None }
    }

    /// How many steps the longest beginning has.
    pub(super) fn taken(&self) -> usize {
        self.levels.iter().rposition(|level| !level.beginnings.is_empty()).map_or(0, |last| last + 1)
    }

    pub(super) fn follow_hits(mut self, hits: &WindowHits, view: &mut WindowView<'_, '_>) -> Result<Self, Fault> {
        for step in hits.steps() {
            if self.only {
                self.take_step(&matching_hits(step, view)?, view)?;
            } else {
                self.extend_with(step, false, view)?;
            }
            if self.stopped.is_some() || self.reached.complete {
                break;
            }
        }
        Ok(self)
    }

    /// A step that matches a pattern must be taken, unless the match is uncertain.
    fn take_step(&mut self, hits: &[Hit], view: &mut WindowView<'_, '_>) -> Result<(), Fault> {
        let Some(step) = hits.first().map(|hit| hit.step) else { return Ok(()) };
        let (sure, taken) = (hits.iter().any(|hit| hit.sure), self.taken());
        // Where it may be taken or not, one of both gives the wrong number of steps.
        if sure || self.certainty == Certainty::Possible {
            self.extend_with(hits, sure, view)?;
        } else {
            self.levels.iter_mut().for_each(PrefixSet::clear);
        }
        self.may_begin &= !sure && self.certainty == Certainty::Possible;
        if !self.may_begin && self.taken() == 0 {
            self.stopped = Some((step, taken));
        }
        Ok(())
    }

    /// `taken` tells that no beginning stays as it is.
    fn extend_with(&mut self, hits: &[Hit], taken: bool, view: &mut WindowView<'_, '_>) -> Result<(), Fault> {
        // From the end, so that one step does not stand for two.
        for operand in (0..view.operands.len()).rev() {
            let mut grown: SmallVec<[(PartialMatch, Occurrence); 1]> = SmallVec::new();
            let certainty = self.certainty;
            for hit in operand_hits(hits, operand).filter(|hit| certainty.counts_hit(hit)) {
                let occurrence = Occurrence { step: hit.step, measure: measure_of(view, self.within, hit.step) };
                let before = grown.len();
                grown.extend(
                    self.grow_prefixes(hit, occurrence.measure, view)?.into_iter().map(|one| (one, occurrence)),
                );
                if grown.len() > before && self.reached.events.len() == operand {
                    self.reached.events.push(hit.event);
                }
            }
            let Some(level) = self.levels.get_mut(operand) else { continue };
            if taken {
                level.clear();
            }
            let ends = !self.only && operand + 1 == view.operands.len();
            for (mut partial, occurrence) in grown {
                if ends {
                    self.reached.complete = self.reached.complete || partial.can_end(self.certainty, view)?;
                    continue;
                }
                partial.keep_names(&level.live);
                if level.add_prefix(partial, occurrence) {
                    view.spend_fuel(KEPT)?;
                }
            }
        }
        Ok(())
    }

    /// The beginnings that this match makes longer by one; `now` is what the bound compares.
    fn grow_prefixes(
        &mut self,
        hit: &Hit,
        now: Option<f64>,
        view: &mut WindowView<'_, '_>,
    ) -> Result<SmallVec<[PartialMatch; 1]>, Fault> {
        let Some(before) = hit.operand.checked_sub(1) else {
            let first = PartialMatch::empty_match(view).extended_with(hit, self.certainty, view)?;
            return Ok(first.filter(|_| self.may_begin).into_iter().collect());
        };
        let mut grown = SmallVec::new();
        let Some(level) = self.levels.get_mut(before) else { return Ok(grown) };
        for number in level.fitting_prefixes(hit) {
            let Some((partial, recent)) = level.beginnings.get(number as usize) else { continue };
            if recent.find_occurrence(None, self.within, now, self.certainty).is_none() {
                view.spend_fuel(1)?;
                continue;
            }
            grown.extend(partial.extended_with(hit, self.certainty, view)?);
        }
        Ok(grown)
    }

    /// Whether it holds that there are these steps and no others.
    pub(super) fn may_end(&self, view: &mut WindowView<'_, '_>) -> Result<bool, Fault> {
        let mut ends = false;
        for (partial, _) in self.levels.last().into_iter().flat_map(|level| &level.beginnings) {
            ends = ends || partial.can_end(self.certainty, view)?;
        }
        Ok(ends)
    }
}

impl PrefixSet {
    fn clear(&mut self) {
        self.beginnings.clear();
        self.known.clear();
        self.by_values.clear();
        self.loose.clear();
    }

    fn fitting_prefixes(&mut self, hit: &Hit) -> SmallVec<[u32; 2]> {
        let shared = env_key(&hit.env, &self.shared);
        if !shared.iter().all(|id| id.is_value()) {
            return (0..to_index(self.beginnings.len())).collect();
        }
        let list = self.by_values.get_mut(&shared);
        let exact = list.map(|list| if self.once { std::mem::take(list) } else { list.clone() });
        let mut fitting = exact.unwrap_or_default();
        fitting.extend(self.loose.iter().copied());
        fitting
    }

    /// True if it is a new one.
    fn add_prefix(&mut self, partial: PartialMatch, occurrence: Occurrence) -> bool {
        let next = to_index(self.beginnings.len());
        let number = *self.known.entry(partial.clone()).or_insert(next);
        if number == next {
            let shared = env_key(&partial.env, &self.shared);
            if shared.iter().all(|id| id.is_value()) {
                self.by_values.entry(shared).or_default().push(number);
            } else {
                self.loose.push(number);
            }
            self.beginnings.push((partial, RecentOccurrences::default()));
        }
        if let Some((_, recent)) = self.beginnings.get_mut(number as usize) {
            recent.push_occurrence(occurrence);
        }
        number == next
    }
}

/// The matches of a step whose tests hold under some environment.
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

fn incomplete_reason(view: &mut WindowView<'_, '_>, reached: &[Hit], within: Option<StepDistance>) -> VerdictReason {
    let Some(last) = reached.last() else {
        let thing = view.pattern_words(0);
        return reason_with(format!("there is no {thing}"), view.absent_evidence(0).into_iter().collect());
    };
    let (before, env) = nearest_prefix(view, last);
    let prefix = Hit { env, ..last.clone() };
    let wanted = view.describe_wanted(reached.len(), &prefix, false);
    let reason = format!("{} has no later {wanted}{}", view.describe_step(last.step), within_words(within));
    let mut evidence = Vec::new();
    for hit in &before {
        evidence.push(view.step_proof(hit.step, hit.operand, Role::Value, String::new()));
    }
    evidence.extend(view.decisive_evidence(last, "the sequence goes no further than this".to_owned()));
    match view.too_late(last, reached.len(), within) {
        Some(late) => evidence.push(late),
        None => evidence.extend(view.nearest_evidence(reached.len(), &prefix, false)),
    }
    reason_with(reason, evidence)
}

fn order_reason(view: &mut WindowView<'_, '_>, reached: &[Hit]) -> VerdictReason {
    let Some(last) = reached.last() else { return VerdictReason::default() };
    let mut steps = nearest_prefix(view, last).0;
    steps.push(last.clone());
    let names: Vec<String> = steps.iter().map(|hit| view.describe_step(hit.step)).collect();
    let proof = |hit: &Hit| view.step_proof(hit.step, hit.operand, Role::Decisive, String::new());
    let evidence = steps.iter().map(proof).collect();
    reason_with(format!("{} come in this order", names.join(", ")), evidence)
}

/// The steps before the last one and their values; for each the nearest that fits.
fn nearest_prefix(view: &WindowView<'_, '_>, last: &Hit) -> (Vec<Hit>, Env) {
    let (mut hits, mut env, mut from) = (Vec::new(), last.env.clone(), last.step);
    for operand in (0..last.operand).rev() {
        let fits = |hit: &Hit| same_values(&hit.env, &env) == PairFit::Yes;
        let Some(hit) = view.hits_near(operand, from, true).find(fits) else { break };
        (env, from) = (merge_envs(&env, &hit.env), hit.step);
        hits.push(hit);
    }
    hits.reverse();
    (hits, env)
}
