//! `together A, B` and `apart A, B`: steps in one turn, or overlapping in time.

use super::{
    ExerciseRule, StatementDefinition, StatementSemantics, StepRequirement, helping_operands, hurting_operands,
};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::{Decision, FailureList};
use crate::vm::temporal::explain::{MOST_COMPARED, reason_with};
use crate::vm::temporal::keys::GroupKeys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::search::Search;
use crate::vm::temporal::step_lists::Certainty;
use crate::vm::temporal::view::{Hit, PairFit, WindowView, same_values};
use crate::vm::temporal::window_events::{PossibleOutcomes, VerdictReason, WindowHits};
use averment_runs::run::Step;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// `together A, B`, or `apart A, B` where that is not wanted.
pub(super) fn together_statement(left: PatternId, right: PatternId, wanted: bool) -> StatementDefinition {
    let (operands, exercise) = match wanted {
        true => (helping_operands(&[left, right]), ExerciseRule::Always),
        false => (hurting_operands(&[left, right]), ExerciseRule::AllOf(0..2)),
    };
    let lacks = |step: &Step<'_>| step.turn.is_none() || step.start.is_none() || step.end.is_none();
    let step_requirement = Some(StepRequirement { words: "turn, start and end", lacks });
    let statement = StatementDefinition::new(operands, exercise, TogetherSemantics { wanted });
    StatementDefinition { step_requirement, ..statement }
}

#[derive(Debug)]
struct TogetherSemantics {
    wanted: bool,
}

impl StatementSemantics for TogetherSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let Some((view, hits)) = search.window() else { return Ok(None) };
        let wanted = self.wanted;
        let first = if wanted { Certainty::Sure } else { Certainty::Possible };
        let found = find_together(&hits, first, wanted, view)?;
        let is_settled = found.is_empty() != wanted;
        let other = if is_settled { found.clone() } else { find_together(&hits, first.opposite(), wanted, view)? };
        let (sure, possible) = if wanted { (found, other) } else { (other, found) };
        let (is_sure, is_possible) = (!sure.is_empty(), !possible.is_empty());
        let stands = match wanted {
            true => PossibleOutcomes { passed_for_good: is_sure, ..PossibleOutcomes::wanted(is_sure, is_possible) },
            false => PossibleOutcomes::unwanted(is_sure, is_possible),
        };
        let caught = if is_sure { sure.clone() } else { possible };
        let decision = Decision::new(stands).failing(move |view| match wanted {
            true => never_together(view),
            false => caught.explain_places(view, |view, (hit, other)| Some(are_together(view, hit, *other))),
        });
        Ok(Some(decision.passing(move |view| match sure.first() {
            Some((hit, other)) => are_together(view, hit, *other),
            None => never_together(view),
        })))
    }
}

type TogetherPairs = FailureList<(Hit, u32)>;

/// Steps that are together with an earlier one; only the first where one is wanted, or where failures are not listed.
fn find_together(
    hits: &WindowHits,
    certainty: Certainty,
    wanted: bool,
    view: &mut WindowView<'_, '_>,
) -> Result<TogetherPairs, Fault> {
    let side = |own, other, view: &WindowView<'_, '_>| {
        MatchIndex::<StepTimes>::new(GroupKeys::between_operands(view, own, other))
    };
    let mut sides = [side(0, 1, view), side(1, 0, view)];
    let (mut found, is_listed) = (FailureList::new(view.listed), !wanted && view.listed > 0);
    for step in hits.steps() {
        let counted: SmallVec<[&Hit; 2]> = step.iter().filter(|hit| certainty.counts_hit(hit)).collect();
        for hit in &counted {
            let (Some(others), Some(step)) = (sides.get_mut(1 - hit.operand.min(1)), view.step(hit.step)) else {
                continue;
            };
            let mut partner = None;
            others.visit_groups(view, hit.as_side(), |group, fit, _| {
                if certainty.counts_fit(fit) {
                    partner = group.data.find_partner(step, certainty);
                }
                Ok(if partner.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            if let Some(other) = partner {
                // A step fails it once, whatever it matches.
                found.push_with(|| ((*hit).clone(), other));
                break;
            }
        }
        if !is_listed && !found.is_empty() {
            break;
        }
        for hit in counted {
            if let (Some(side), Some(step)) = (sides.get_mut(hit.operand), view.step(hit.step)) {
                side.add_match(view, hit, &hit.env, |times| times.add_step(hit.step, step))?;
            }
        }
    }
    Ok(found)
}

#[derive(Debug, Default)]
struct StepTimes {
    turns: FxHashMap<u32, u32>,
    starts: FxHashMap<u64, u32>,
    /// Time spans, none inside another: later starts have later ends.
    spans: Vec<TimeSpan>,
    /// The first step that lacks a turn, a time or both: by `[turn recorded][time recorded]`.
    lacking: [[Option<u32>; 2]; 2],
}

#[derive(Debug, Clone, Copy)]
struct TimeSpan {
    start: f64,
    end: f64,
    step: u32,
}

impl StepTimes {
    fn add_step(&mut self, number: u32, step: &Step<'_>) {
        if let Some(turn) = step.turn {
            self.turns.entry(turn).or_insert(number);
        }
        if let Some(start) = step.start {
            self.starts.entry(start_bits(start)).or_insert(number);
        }
        let timed = step.start.zip(step.end);
        if let Some((start, end)) = timed {
            self.add_span(TimeSpan { start, end, step: number });
        }
        let lacking = self.lacking.get_mut(usize::from(step.turn.is_some()));
        if let Some(first) = lacking.and_then(|row| row.get_mut(usize::from(timed.is_some()))) {
            first.get_or_insert(number);
        }
    }

    /// A span inside another one adds no overlaps.
    fn add_span(&mut self, span: TimeSpan) {
        let at = self.spans.partition_point(|known| known.start <= span.start);
        let contained = at.checked_sub(1).and_then(|at| self.spans.get(at)).is_some_and(|known| known.end >= span.end);
        if contained {
            return;
        }
        let covered = self.spans.get(at..).unwrap_or(&[]).partition_point(|known| known.end <= span.end);
        let from = self.spans.get(..at).unwrap_or(&[]).partition_point(|known| known.start < span.start);
        self.spans.splice(from..at + covered, [span]);
    }

    /// A step in the same turn or overlapping; otherwise, if that counts, one for which the run does not tell.
    fn find_partner(&self, step: &Step<'_>, certainty: Certainty) -> Option<u32> {
        let by_turn = step.turn.and_then(|turn| self.turns.get(&turn));
        let by_start = step.start.and_then(|start| self.starts.get(&start_bits(start)));
        let sure = by_turn.or(by_start).copied().or_else(|| self.overlapping_step(step));
        sure.or_else(|| self.may_be(step).filter(|_| certainty == Certainty::Possible))
    }

    fn overlapping_step(&self, step: &Step<'_>) -> Option<u32> {
        let (start, end) = step.start.zip(step.end)?;
        let before = self.spans.partition_point(|known| known.start < end);
        let last = self.spans.get(before.checked_sub(1)?)?;
        (start < last.end).then_some(last.step)
    }

    /// A pair is unknown if one of them lacks a turn and one lacks a time.
    fn may_be(&self, step: &Step<'_>) -> Option<u32> {
        let (turn, timed) = (step.turn.is_some(), step.start.is_some() && step.end.is_some());
        let known = |a: usize, b: usize| self.lacking.get(a).and_then(|row| row.get(b)).copied().flatten();
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter();
        let lacks = |&(a, b): &(usize, usize)| (a == 0 || !turn) && (b == 0 || !timed);
        pairs.filter(lacks).filter_map(|(a, b)| known(a, b)).min()
    }
}

/// Equal starts have equal bits, because -0 becomes 0.
fn start_bits(start: f64) -> u64 {
    (start + 0.0).to_bits()
}

fn are_together(view: &mut WindowView<'_, '_>, hit: &Hit, other: u32) -> VerdictReason {
    let how = overlap_words(view, hit.step, other).unwrap_or(OVERLAPPING);
    let reason = format!("{} and {} are {how}", view.describe_step(other), view.describe_step(hit.step));
    view.pair_reason(reason, hit, other)
}

fn never_together(view: &mut WindowView<'_, '_>) -> VerdictReason {
    for operand in 0..view.operands.len().min(2) {
        if view.first_hit(operand).is_none() {
            let near = view.misspelled_name(operand).into_iter().collect();
            return reason_with(format!("there is no {}", view.pattern_words(operand)), near);
        }
    }
    let (left, right) = (view.pattern_words(0), view.pattern_words(1));
    let same = same_names(view);
    let mut reason = format!("no {left} and {right}{same} are in one turn or overlap in time");
    let pairs = nearest_pairs(view);
    let proof =
        |hit: &Hit, view: &WindowView<'_, '_>| view.step_proof(hit.step, hit.operand, Role::NearMiss, String::new());
    let evidence = |(a, b): &(Hit, Hit), view: &WindowView<'_, '_>| vec![proof(a, view), proof(b, view)];
    let fitting = |(a, b): &&(Hit, Hit)| same_values(&a.env, &b.env) == PairFit::Yes;
    if let Some(pair) = pairs.iter().filter(fitting).take(MOST_COMPARED).find(|(a, b)| view.is_pair(a, b)) {
        reason.push_str(&format!("; nearest are {} and {}", placed_words(view, &pair.0), placed_words(view, &pair.1)));
        return reason_with(reason, evidence(pair, view));
    }
    for pair @ (a, b) in pairs.iter().take(MOST_COMPARED) {
        if let Some(words) = overlap_words(view, a.step, b.step).and_then(|how| pair_mismatch(view, a, b, how)) {
            reason.push_str(&words);
            return reason_with(reason, evidence(pair, view));
        }
    }
    reason_with(reason, Vec::new())
}

fn placed_words(view: &WindowView<'_, '_>, hit: &Hit) -> String {
    let turn = view.step(hit.step).and_then(|step| step.turn);
    view.describe_step(hit.step) + &turn.map_or_else(String::new, |turn| format!(" in turn {turn}"))
}

const OVERLAPPING: &str = "overlapping in time";

fn overlap_words(view: &WindowView<'_, '_>, a: u32, b: u32) -> Option<&'static str> {
    let (a, b) = (view.step(a)?, view.step(b)?);
    if a.turn.is_some() && a.turn == b.turn {
        return Some("in one turn");
    }
    let starts = a.start.zip(b.start).is_some_and(|(a, b)| a.total_cmp(&b).is_eq());
    let ends = a.start.zip(a.end).zip(b.start.zip(b.end));
    let overlap = ends.is_some_and(|((start, end), (from, to))| start < to && from < end);
    (starts || overlap).then_some(OVERLAPPING)
}

fn pair_mismatch(view: &mut WindowView<'_, '_>, a: &Hit, b: &Hit, how: &str) -> Option<String> {
    let join_mismatch = view.join_mismatch(b, &a.env, std::slice::from_ref(a))?;
    let (first, second) = (view.describe_step(a.step), view.describe_step(b.step));
    if same_values(&a.env, &b.env) == PairFit::No {
        let (of_first, of_second) = (view.value_words(a.operand, &a.env), view.value_words(b.operand, &b.env));
        return Some(format!("; nearest are {first}{of_first} and {second}{of_second}, {how}"));
    }
    Some(format!("; nearest are {first} and {second}, {how}: {}", join_mismatch.words))
}

/// `` with the same `$c` ``: what both patterns of a statement bind.
fn same_names(view: &WindowView<'_, '_>) -> String {
    let names = view.entry.map_or(&[][..], |entry| entry.binding_names.as_slice());
    let shared = view.shared_names(0, 1);
    let known = shared.iter().filter_map(|name| names.get(*name as usize));
    let words: Vec<String> = known.map(|name| format!("`${name}`")).collect();
    if words.is_empty() { String::new() } else { format!(" with the same {}", words.join(" and ")) }
}

/// Steps of each side examined for the nearest pair.
const MOST_PAIRED: usize = 200;

/// Pairs of different steps, nearest first: by turn if both have one, then by order.
fn nearest_pairs(view: &WindowView<'_, '_>) -> Vec<(Hit, Hit)> {
    let turn = |hit: &Hit| view.step(hit.step).and_then(|step| step.turn);
    let left: Vec<Hit> = view.hits_of(0).take(MOST_PAIRED).collect();
    let right: Vec<Hit> = view.hits_of(1).take(MOST_PAIRED).collect();
    let apart = |(a, b): &(&Hit, &Hit)| {
        let turns = turn(a).zip(turn(b)).map_or(u32::MAX, |(a, b)| a.abs_diff(b));
        (turns, a.step.abs_diff(b.step))
    };
    let pairs = left.iter().flat_map(|a| right.iter().map(move |b| (a, b)));
    let mut pairs: Vec<(&Hit, &Hit)> = pairs.filter(|(a, b)| a.step != b.step).collect();
    pairs.sort_by_cached_key(apart);
    pairs.into_iter().map(|(a, b)| (a.clone(), b.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_others_contain_are_not_kept_and_overlaps_are_found() {
        let all =
            [(0.0, 10.0), (5.0, 8.0), (5.0, 20.0), (1.0, 3.0), (30.0, 31.0), (4.0, 40.0), (50.0, 50.0), (2.0, 2.5)];
        let mut times = StepTimes::default();
        let mut added: Vec<(f64, f64)> = Vec::new();
        for (number, (start, end)) in (0..).zip(all) {
            times.add_span(TimeSpan { start, end, step: number });
            added.push((start, end));
            for from in 0..52 {
                for length in 0..6 {
                    let (start, end) = (f64::from(from), f64::from(from + length));
                    let expected = added.iter().any(|(a, b)| *a < end && start < *b);
                    let before = times.spans.partition_point(|known| known.start < end);
                    let found = before.checked_sub(1).is_some_and(|at| start < times.spans[at].end);
                    assert_eq!(found, expected, "{start}..{end} among {added:?}");
                }
            }
        }
    }
}
