//! `together` and `apart`: steps in one turn, or overlapping in time.

use super::super::monitor::Why;
use super::super::view::{Fit, Hit, View, same_values};
use super::near::MOST_COMPARED;
use super::why;
use crate::vm::outcome::{Evidence, Role};

/// Two steps are together that should be apart.
pub(in super::super) fn are_together(view: &mut View<'_, '_>, hit: &Hit, other: u32) -> Why {
    let turn = |step: u32, view: &View<'_, '_>| view.step(step).and_then(|step| step.turn);
    let (a, b) = (turn(hit.step, view), turn(other, view));
    let how = if a.is_some() && a == b { "in one turn" } else { "overlapping in time" };
    let reason = format!("{} and {} are {how}", view.say(other), view.say(hit.step));
    let mut evidence = vec![view.step_proof(other, 1 - hit.slot.min(1), Role::Decisive, String::new())];
    evidence.extend(view.decisive(hit, String::new()));
    why(reason, evidence)
}

/// No two steps are together.
pub(in super::super) fn never_together(view: &mut View<'_, '_>) -> Why {
    for slot in 0..view.slots.len().min(2) {
        if view.first_hit(slot).is_none() {
            let near = view.misspelt(slot).into_iter().collect();
            return why(format!("there is no {}", view.pattern(slot)), near);
        }
    }
    let (left, right) = (view.pattern(0), view.pattern(1));
    let same = view.same_names();
    let mut reason = format!("no {left} and {right}{same} are in one turn or overlap in time");
    let pairs = pairs(view);
    let proof = |hit: &Hit, view: &View<'_, '_>| view.step_proof(hit.step, hit.slot, Role::NearMiss, String::new());
    let evidence = |(a, b): &(Hit, Hit), view: &View<'_, '_>| -> Vec<Evidence> { vec![proof(a, view), proof(b, view)] };
    let fitting = |(a, b): &&(Hit, Hit)| same_values(&a.env, &b.env) == Fit::Yes;
    if let Some(pair) = pairs.iter().filter(fitting).take(MOST_COMPARED).find(|(a, b)| view.is_pair(a, b, &b.env)) {
        reason.push_str(&format!("; nearest are {} and {}", placed(view, &pair.0), placed(view, &pair.1)));
        return why(reason, evidence(pair, view));
    }
    for pair in pairs.iter().take(MOST_COMPARED) {
        if let Some(words) = at_once(view, pair).and_then(|how| misfit(view, pair, how)) {
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
fn at_once(view: &View<'_, '_>, (a, b): &(Hit, Hit)) -> Option<&'static str> {
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
fn misfit(view: &mut View<'_, '_>, (a, b): &(Hit, Hit), how: &str) -> Option<String> {
    let clash = view.clash(b, &a.env, std::slice::from_ref(a))?;
    let (first, second) = (view.say(a.step), view.say(b.step));
    if same_values(&a.env, &b.env) == Fit::No {
        let (of_first, of_second) = (view.values(a.slot, &a.env), view.values(b.slot, &b.env));
        return Some(format!("; nearest are {first}{of_first} and {second}{of_second}, {how}"));
    }
    Some(format!("; nearest are {first} and {second}, {how}: {}", clash.words))
}

impl View<'_, '_> {
    /// `` with the same `$c` ``: what both patterns of a statement bind.
    fn same_names(&self) -> String {
        let names = self.entry.map_or(&[][..], |entry| entry.binding_names.as_slice());
        let shared = self.shared(0, 1);
        let known = shared.iter().filter_map(|name| names.get(*name as usize));
        let words: Vec<String> = known.map(|name| format!("`${name}`")).collect();
        if words.is_empty() { String::new() } else { format!(" with the same {}", words.join(" and ")) }
    }
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
