//! `sequence A -> B -> C`: steps in this order under one environment, gaps allowed.
//!
//! For each beginning of the sequence those environments are kept under which it has occurred, and of each only what later
//! steps can tell apart: where it last ended.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operand, to_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::Decision;
use crate::vm::temporal::explain::{reason_with, window_end, within_words};
use crate::vm::temporal::numbers::EnvNumbers;
use crate::vm::temporal::recent_occurrences::{Occurrence, RecentOccurrences, step_measure};
use crate::vm::temporal::search::Search;
use crate::vm::temporal::states::{KEPT, PartialMatch};
use crate::vm::temporal::step_lists::Certainty;
use crate::vm::temporal::timeline::{Env, to_index};
use crate::vm::temporal::view::{BindingNames, Hit, PairFit, WindowView, env_key, merge_envs, same_values};
use crate::vm::temporal::window_events::{PossibleOutcomes, VerdictReason, event_hit, operand_hits};
use crate::vm::temporal::window_hits::WindowHits;
use averment_checker::ir::StepDistance;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub(super) fn sequence_statement(steps: &[PatternId], within: Option<StepDistance>) -> StatementDefinition {
    StatementDefinition::new(to_operands(steps, helping_operand), ExerciseRule::Always, SequenceSemantics { within })
        .in_order()
        .with_bound(within)
}

#[derive(Debug)]
struct SequenceSemantics {
    within: Option<StepDistance>,
}

impl StatementSemantics for SequenceSemantics {
    fn is_closed(&self, unbound: bool) -> bool {
        unbound && self.within.is_none()
    }

    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let within = self.within;
        let (sure, possible) = match search.window() {
            Some((view, hits)) => view.ask_both(&hits, |view, certainty| {
                SequenceReach::new(view, within, certainty).follow_hits(&hits, view)
            })?,
            None => {
                let reached = first_in_order(search)?;
                (reached.clone(), reached)
            }
        };
        let stands = PossibleOutcomes {
            may_fail: !sure.complete,
            may_hold: possible.complete,
            passed_for_good: sure.complete,
            ..PossibleOutcomes::default()
        };
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

struct SequenceReach {
    within: Option<StepDistance>,
    certainty: Certainty,
    levels: Vec<PrefixSet>,
    reached: ReachedSteps,
}

#[derive(Default)]
struct PrefixSet {
    beginnings: Vec<(PartialMatch, RecentOccurrences)>,
    known: EnvNumbers,
    waiting: FxHashMap<PartialMatch, u32>,
    exact: EnvNumbers,
    lists: Vec<SmallVec<[u32; 2]>>,
    loose: Vec<u32>,
    shared: BindingNames,
    live: BindingNames,
    /// The next step binds nothing, so that an extended prefix is done.
    once: bool,
}

impl SequenceReach {
    fn new(view: &WindowView<'_, '_>, within: Option<StepDistance>, certainty: Certainty) -> Self {
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
            PrefixSet { once: within.is_none() && !adds && !tests, shared, live, ..PrefixSet::default() }
        };
        Self { within, certainty, levels: (0..count).map(level).collect(), reached: ReachedSteps::default() }
    }

    fn follow_hits(mut self, hits: &WindowHits, view: &mut WindowView<'_, '_>) -> Result<ReachedSteps, Fault> {
        for step in hits.steps() {
            // From the end, so that one step does not stand for two.
            for operand in (0..view.operands.len()).rev() {
                for hit in operand_hits(step, operand) {
                    if !self.reached.complete && self.certainty.counts_hit(hit) {
                        self.extend_with(operand, hit, view)?;
                    }
                }
            }
            if self.reached.complete {
                break;
            }
        }
        Ok(self.reached)
    }

    fn extend_with(&mut self, length: usize, hit: &Hit, view: &mut WindowView<'_, '_>) -> Result<(), Fault> {
        let now = view.step(hit.step).and_then(|step| step_measure(self.within, step));
        let grown = match length.checked_sub(1) {
            None => PartialMatch::empty_match(view)
                .extended_with(hit, self.certainty, view)?
                .into_iter()
                .collect::<SmallVec<[PartialMatch; 1]>>(),
            Some(before) => match self.levels.get_mut(before) {
                Some(level) => {
                    level.extend_prefixes(hit, PrefixReach { within: self.within, now }, self.certainty, view)?
                }
                None => SmallVec::new(),
            },
        };
        if !grown.is_empty() && self.reached.events.len() == length {
            self.reached.events.push(hit.event);
        }
        let last = length + 1 == view.operands.len();
        for mut partial in grown {
            if last && partial.can_end(self.certainty, view)? {
                self.reached.complete = true;
            }
            if let (Some(level), false) = (self.levels.get_mut(length), last) {
                partial.keep_names(&level.live);
                if level.add_prefix(partial, Occurrence { step: hit.step, measure: now }) {
                    view.spend_fuel(KEPT)?;
                }
            }
        }
        Ok(())
    }
}

/// How far back a beginning may lie, and from where.
#[derive(Clone, Copy)]
struct PrefixReach {
    within: Option<StepDistance>,
    now: Option<f64>,
}

impl PrefixSet {
    fn extend_prefixes(
        &mut self,
        hit: &Hit,
        reach: PrefixReach,
        certainty: Certainty,
        view: &mut WindowView<'_, '_>,
    ) -> Result<SmallVec<[PartialMatch; 1]>, Fault> {
        let shared = env_key(&hit.env, &self.shared);
        let all_values = shared.iter().all(|id| id.is_value());
        let fitting = if all_values {
            let list = self.exact.get(&shared).and_then(|list| self.lists.get_mut(list as usize));
            let exact = list.map(|list| if self.once { std::mem::take(list) } else { list.clone() });
            let mut fitting = exact.unwrap_or_default();
            fitting.extend(self.loose.iter().copied());
            fitting
        } else {
            (0..to_index(self.beginnings.len())).collect()
        };
        let mut grown = SmallVec::new();
        for number in fitting {
            let Some((partial, recent)) = self.beginnings.get(number as usize) else { continue };
            let found = recent.find_occurrence(None, reach.within, reach.now);
            if !found.counts(certainty) {
                view.spend_fuel(1)?;
                continue;
            }
            grown.extend(partial.extended_with(hit, certainty, view)?);
        }
        Ok(grown)
    }

    fn add_prefix(&mut self, partial: PartialMatch, occurrence: Occurrence) -> bool {
        let next = to_index(self.beginnings.len());
        let number = match partial.later.is_empty() {
            true => self.known.get_or_insert(&partial.env, next),
            false => *self.waiting.entry(partial.clone()).or_insert(next),
        };
        if number == next {
            let shared = env_key(&partial.env, &self.shared);
            if shared.iter().all(|id| id.is_value()) {
                let list = self.exact.get_or_insert(&shared, to_index(self.lists.len())) as usize;
                if list == self.lists.len() {
                    self.lists.push(SmallVec::new());
                }
                self.lists.get_mut(list).into_iter().for_each(|list| list.push(number));
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

fn incomplete_reason(view: &mut WindowView<'_, '_>, reached: &[Hit], within: Option<StepDistance>) -> VerdictReason {
    let Some(last) = reached.last() else {
        let thing = view.pattern_words(0);
        let evidence =
            view.near_miss(0, &view.header.clone(), window_end(view), true).or_else(|| view.misspelled_name(0));
        return reason_with(format!("there is no {thing}"), evidence.into_iter().collect());
    };
    let (before, env) = nearest_prefix(view, last);
    let wanted = view.describe_wanted(reached.len(), last, &env, false);
    let reason = format!("{} has no later {wanted}{}", view.describe_step(last.step), within_words(within));
    let mut evidence = Vec::new();
    for hit in &before {
        evidence.push(view.step_proof(hit.step, hit.operand, Role::Value, String::new()));
    }
    evidence.extend(view.decisive_evidence(last, "the sequence goes no further than this".to_owned()));
    match view.too_late(last, reached.len(), within) {
        Some(late) => evidence.push(late),
        None => evidence.extend(view.nearest_evidence(reached.len(), last, &env, false)),
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
