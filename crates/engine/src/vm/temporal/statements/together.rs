//! `together A, B` and `apart A, B`: steps in one turn, or overlapping in time.

use super::{Exercise, Meaning, Needed, Polarity, Statement, helps, hurts};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::{Evidence, Role};
use crate::vm::temporal::explain::{MOST_COMPARED, why};
use crate::vm::temporal::failures::Failures;
use crate::vm::temporal::keys::Keys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Judged, Monitor, Why};
use crate::vm::temporal::numbers::NumberedWords;
use crate::vm::temporal::view::{Fit, Hit, View, same_values};
use averment_runs::run::Step;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// `together A, B`.
pub(super) fn together(left: PatternId, right: PatternId) -> Statement {
    Statement::new(vec![helps(left), helps(right)], Exercise::Always, Together { wanted: true })
}

/// `apart A, B`.
pub(super) fn apart(left: PatternId, right: PatternId) -> Statement {
    Statement::new(vec![hurts(left), hurts(right)], Exercise::AllOf(0..2), Together { wanted: false })
}

/// Steps are wanted together, or apart.
#[derive(Debug)]
struct Together {
    wanted: bool,
}

impl Meaning for Together {
    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(TogetherMonitor::new(view, self.wanted)))
    }

    fn needs(&self) -> Option<Needed> {
        let lacks = |step: &Step<'_>| step.turn.is_none() || step.start.is_none() || step.end.is_none();
        Some(Needed { words: "turn, start and end", lacks })
    }
}

/// The monitor.
struct TogetherMonitor {
    wanted: bool,
    /// The matches of each side, for the other.
    sides: [MatchIndex<Times>; 2],
    /// A step with another one that it is together with; where they should be apart, each that came later.
    found: Failures<(Hit, u32)>,
}

impl TogetherMonitor {
    /// A monitor that wants steps together, or apart.
    fn new(view: &View<'_, '_>, wanted: bool) -> Self {
        Self {
            wanted,
            sides: [MatchIndex::new(Keys::between(view, 0, 1)), MatchIndex::new(Keys::between(view, 1, 0))],
            found: Failures::of(view),
        }
    }

    fn polarity(&self) -> Polarity {
        if self.wanted { Polarity::Helps } else { Polarity::Hurts }
    }
}

impl<'run> Monitor<'run> for TogetherMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let polarity = self.polarity();
        let counted: SmallVec<[&Hit; 2]> = hits.iter().filter(|hit| view.counts(hit)).collect();
        let all = !self.wanted && view.listed > 0;
        for hit in &counted {
            let Some(step) = view.step(hit.step) else { continue };
            let wanted = all || self.found.is_empty();
            let (Some(others), true) = (self.sides.get_mut(1 - hit.operand.min(1)), wanted) else { continue };
            let mut found = None;
            others.visit(view, hit.side(), |group, fit, view| {
                if view.accepts(fit, polarity) {
                    let together = group.data.together(step);
                    found = together.sure.or_else(|| together.unknown.filter(|_| view.assume(polarity)));
                }
                Ok(if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            if let Some(other) = found {
                // A step fails it once, whatever it matches.
                self.found.add(|| ((*hit).clone(), other));
                break;
            }
        }
        for hit in counted {
            if let (Some(side), Some(step)) = (self.sides.get_mut(hit.operand), view.step(hit.step)) {
                side.add(view, hit, &hit.env, |times| times.add(hit.step, step))?;
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let found = !self.found.is_empty();
        Ok(if self.wanted { Judged::holds_for_good(found) } else { Judged::fails_for_good(found) })
    }

    fn is_settled(&self) -> bool {
        !self.found.is_empty()
    }

    fn only_adds_failures(&self) -> bool {
        !self.wanted
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        match (self.found.first(), self.wanted) {
            (None, _) => never_together(view),
            (Some((hit, other)), true) => are_together(view, hit, *other),
            (Some(_), false) => self.found.explain(view, |view, (hit, other)| Some(are_together(view, hit, *other))),
        }
    }

    fn prove(&self, view: &mut View<'_, 'run>) -> Why {
        self.explain(view)
    }
}

/// When the steps of a group happened.
#[derive(Debug, Default)]
struct Times {
    turns: NumberedWords,
    starts: NumberedWords,
    /// Spans of time that no other one contains: later starts have later ends.
    spans: Vec<Span>,
    /// The first step that lacks a turn, a time, or both: by `[turn recorded][time recorded]`.
    lacking: [[Option<u32>; 2]; 2],
}

#[derive(Debug, Clone, Copy)]
struct Span {
    start: f64,
    end: f64,
    step: u32,
}

/// A step that is together with another one.
#[derive(Default)]
struct Partner {
    sure: Option<u32>,
    unknown: Option<u32>,
}

impl Times {
    fn add(&mut self, number: u32, step: &Step<'_>) {
        if let Some(turn) = step.turn {
            self.turns.number(u64::from(turn), number);
        }
        if let Some(start) = step.start {
            self.starts.number(bits(start), number);
        }
        let timed = step.start.zip(step.end);
        if let Some((start, end)) = timed {
            self.add_span(Span { start, end, step: number });
        }
        let lacking = self.lacking.get_mut(usize::from(step.turn.is_some()));
        if let Some(first) = lacking.and_then(|row| row.get_mut(usize::from(timed.is_some()))) {
            first.get_or_insert(number);
        }
    }

    /// A span inside another one overlaps nothing that the other does not.
    fn add_span(&mut self, span: Span) {
        let at = self.spans.partition_point(|known| known.start <= span.start);
        let contained = at.checked_sub(1).and_then(|at| self.spans.get(at)).is_some_and(|known| known.end >= span.end);
        if contained {
            return;
        }
        let covered = self.spans.get(at..).unwrap_or(&[]).partition_point(|known| known.end <= span.end);
        let from = self.spans.get(..at).unwrap_or(&[]).partition_point(|known| known.start < span.start);
        self.spans.splice(from..at + covered, [span]);
    }

    /// A step of the group that is in one turn with a step, or overlaps it; otherwise one of which the run does not tell.
    fn together(&self, step: &Step<'_>) -> Partner {
        let by_turn = step.turn.and_then(|turn| self.turns.get(u64::from(turn)));
        let by_start = step.start.and_then(|start| self.starts.get(bits(start)));
        let sure = by_turn.or(by_start).or_else(|| self.overlapping(step));
        let unknown = if sure.is_none() { self.may_be(step) } else { None };
        Partner { sure, unknown }
    }

    fn overlapping(&self, step: &Step<'_>) -> Option<u32> {
        let (start, end) = step.start.zip(step.end)?;
        let before = self.spans.partition_point(|known| known.start < end);
        let last = self.spans.get(before.checked_sub(1)?)?;
        (start < last.end).then_some(last.step)
    }

    /// A pair is unknown when one of both lacks a turn and one of both lacks a time.
    fn may_be(&self, step: &Step<'_>) -> Option<u32> {
        let (turn, timed) = (step.turn.is_some(), step.start.is_some() && step.end.is_some());
        let known = |a: usize, b: usize| self.lacking.get(a).and_then(|row| row.get(b)).copied().flatten();
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter();
        let lacks = |&(a, b): &(usize, usize)| (a == 0 || !turn) && (b == 0 || !timed);
        pairs.filter(lacks).filter_map(|(a, b)| known(a, b)).min()
    }
}

/// Equal starts have equal bits; zero has two forms.
fn bits(start: f64) -> u64 {
    (start + 0.0).to_bits()
}

/// Two steps are together that should be apart.
fn are_together(view: &mut View<'_, '_>, hit: &Hit, other: u32) -> Why {
    let turn = |step: u32, view: &View<'_, '_>| view.step(step).and_then(|step| step.turn);
    let (a, b) = (turn(hit.step, view), turn(other, view));
    let how = if a.is_some() && a == b { "in one turn" } else { "overlapping in time" };
    let reason = format!("{} and {} are {how}", view.say(other), view.say(hit.step));
    let mut evidence = view.decisive(hit, String::new());
    evidence.push(view.step_proof(other, 1 - hit.operand.min(1), Role::Decisive, String::new()));
    why(reason, evidence)
}

/// No two steps are together.
fn never_together(view: &mut View<'_, '_>) -> Why {
    for operand in 0..view.operands.len().min(2) {
        if view.first_hit(operand).is_none() {
            let near = view.misspelt(operand).into_iter().collect();
            return why(format!("there is no {}", view.pattern(operand)), near);
        }
    }
    let (left, right) = (view.pattern(0), view.pattern(1));
    let same = same_names(view);
    let mut reason = format!("no {left} and {right}{same} are in one turn or overlap in time");
    let pairs = pairs(view);
    let proof = |hit: &Hit, view: &View<'_, '_>| view.step_proof(hit.step, hit.operand, Role::NearMiss, String::new());
    let evidence = |(a, b): &(Hit, Hit), view: &View<'_, '_>| -> Vec<Evidence> { vec![proof(a, view), proof(b, view)] };
    let fitting = |(a, b): &&(Hit, Hit)| same_values(&a.env, &b.env) == Fit::Yes;
    if let Some(pair) = pairs.iter().filter(fitting).take(MOST_COMPARED).find(|(a, b)| view.is_pair(a, b, &b.env)) {
        reason.push_str(&format!("; nearest are {} and {}", placed(view, &pair.0), placed(view, &pair.1)));
        return why(reason, evidence(pair, view));
    }
    for pair @ (a, b) in pairs.iter().take(MOST_COMPARED) {
        if let Some(words) = at_once(view, a, b).and_then(|how| misfit(view, a, b, how)) {
            reason.push_str(&words);
            return why(reason, evidence(pair, view));
        }
    }
    why(reason, Vec::new())
}

/// `search at call 1 in turn 1`.
fn placed(view: &View<'_, '_>, hit: &Hit) -> String {
    let turn = view.step(hit.step).and_then(|step| step.turn);
    view.say(hit.step) + &turn.map_or_else(String::new, |turn| format!(" in turn {turn}"))
}

/// How two steps are together: they may only have other values than each other.
fn at_once(view: &View<'_, '_>, a: &Hit, b: &Hit) -> Option<&'static str> {
    let (a, b) = (view.step(a.step)?, view.step(b.step)?);
    if a.turn.is_some() && a.turn == b.turn {
        return Some("in one turn");
    }
    let starts = a.start.zip(b.start).is_some_and(|(a, b)| a.total_cmp(&b).is_eq());
    let ends = a.start.zip(a.end).zip(b.start.zip(b.end));
    let overlap = ends.is_some_and(|((start, end), (from, to))| start < to && from < end);
    (starts || overlap).then_some("overlapping in time")
}

/// What keeps two steps that are together from being a pair.
fn misfit(view: &mut View<'_, '_>, a: &Hit, b: &Hit, how: &str) -> Option<String> {
    let join_mismatch = view.join_mismatch(b, &a.env, std::slice::from_ref(a))?;
    let (first, second) = (view.say(a.step), view.say(b.step));
    if same_values(&a.env, &b.env) == Fit::No {
        let (of_first, of_second) = (view.values(a.operand, &a.env), view.values(b.operand, &b.env));
        return Some(format!("; nearest are {first}{of_first} and {second}{of_second}, {how}"));
    }
    Some(format!("; nearest are {first} and {second}, {how}: {}", join_mismatch.words))
}

/// `` with the same `$c` ``: what both patterns of a statement bind.
fn same_names(view: &View<'_, '_>) -> String {
    let names = view.entry.map_or(&[][..], |entry| entry.binding_names.as_slice());
    let shared = view.shared(0, 1);
    let known = shared.iter().filter_map(|name| names.get(*name as usize));
    let words: Vec<String> = known.map(|name| format!("`${name}`")).collect();
    if words.is_empty() { String::new() } else { format!(" with the same {}", words.join(" and ")) }
}

/// Steps of each side that are looked at for the nearest pair.
const MOST_PAIRED: usize = 200;

/// The pairs of different steps of both patterns, nearest first: by turns where both have one, then by their order.
fn pairs(view: &View<'_, '_>) -> Vec<(Hit, Hit)> {
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
        let mut times = Times::default();
        let mut added: Vec<(f64, f64)> = Vec::new();
        for (number, (start, end)) in (0..).zip(all) {
            times.add_span(Span { start, end, step: number });
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
