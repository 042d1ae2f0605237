//! Statements about places in the call list: `first`, `last`, `only`, `immediately`, exact sequences, flows.

use super::super::flow::Expected;
use super::super::monitor::{self, Why};
use super::super::timeline::{Env, Part};
use super::super::view::{Fit, Hit, View, merge, same_values};
use super::clash::for_which;
use super::{amount, why};
use crate::vm::outcome::Role;

/// The first or last call is something else.
pub(in super::super) fn edge(view: &mut View<'_, '_>, last: bool) -> Why {
    let place = if last { "last" } else { "first" };
    let wanted = view.pattern(0);
    let call = if last { view.calls.last() } else { view.calls.first() };
    match call.copied() {
        None => why(format!("there are no calls, so the {place} one is not {wanted}"), Vec::new()),
        Some(call) => {
            let reason = format!("the {place} call is {}, not {wanted}", view.say(call));
            why(reason, vec![view.step_proof(call, 0, Role::Decisive, view.alike(call, 0..1))])
        }
    }
}

/// The first or last call is what it should not be.
pub(in super::super) fn at_edge(view: &mut View<'_, '_>, last: bool) -> Why {
    let place = if last { "last" } else { "first" };
    let call = if last { view.calls.last() } else { view.calls.first() };
    call.copied().map_or_else(Why::default, |call| {
        let proof = view.step_proof(call, 0, Role::Decisive, String::new());
        why(format!("the {place} call is {}", view.say(call)), vec![proof])
    })
}

/// A call that nothing in an `only` names.
pub(in super::super) fn stray(view: &mut View<'_, '_>, place: u32) -> Why {
    let Some(&call) = view.calls.get(place as usize) else { return Why::default() };
    let allowed: Vec<String> = (0..view.slots.len()).map(|slot| view.pattern(slot)).collect();
    let allowed = match allowed.as_slice() {
        [one] => format!("not {one}"),
        many => format!("none of {}", many.join(", ")),
    };
    let reason = format!("{} is {allowed}", view.say(call));
    why(reason, vec![view.step_proof(call, 0, Role::Decisive, view.alike(call, 0..view.slots.len()))])
}

/// On which side of a step its neighbour is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Beside {
    /// The call just before it.
    Before,
    /// The call just after it.
    After,
}

/// A step whose neighbour in the call list is something else.
pub(in super::super) fn neighbour(view: &mut View<'_, '_>, hit: &Hit, wanted: usize, beside: Beside) -> Why {
    let side = if beside == Beside::Before { "before" } else { "after" };
    let thing = view.thing(wanted, &hit.env);
    let step = view.say(hit.step);
    let place = match beside {
        Beside::Before => hit.call.and_then(|call| call.checked_sub(1)),
        Beside::After => hit.call.map(|call| call + 1),
    };
    let other = place.and_then(|place| view.calls.get(place as usize)).copied();
    let near = other.and_then(|other| view.hits_of(wanted).find(|near| near.step == other));
    let clash = near.and_then(|near| view.clash(&near, &hit.env, std::slice::from_ref(hit)));
    let test = clash.as_ref().and_then(|clash| clash.test.as_deref()).map(for_which).unwrap_or_default();
    let because = clash.map_or_else(String::new, |clash| [": ", &clash.words].concat());
    let reason = match other {
        Some(other) => format!("the call just {side} {step} is {}, not {thing}{test}{because}", view.say(other)),
        None => format!("there is no call just {side} {step}, where {thing} should be"),
    };
    let mut evidence = view.decisive(hit, String::new());
    let like = |other: u32| view.alike(other, std::iter::once(wanted));
    evidence.extend(other.map(|other| view.step_proof(other, wanted, Role::NearMiss, like(other))));
    why(reason, evidence)
}

/// A step that is not the next one of a sequence; `taken` steps of it have come.
pub(in super::super) fn wrong_step(view: &mut View<'_, '_>, step: u32, taken: usize) -> Why {
    let found = view.say(step);
    let (before, env) = view.first_steps(taken);
    let reason = if taken < view.slots.len() {
        let near = view.hits_of(taken).find(|near| near.step == step);
        let clash = near.and_then(|near| view.clash(&near, &env, &before));
        let test = clash.as_ref().and_then(|clash| clash.test.as_deref()).map(for_which).unwrap_or_default();
        let because = clash.map_or_else(String::new, |clash| [": ", &clash.words].concat());
        format!("{found} stands where {}{test} should be{because}", view.thing(taken, &env))
    } else {
        format!("{found} comes behind the end of the sequence")
    };
    let like = view.alike(step, std::iter::once(taken));
    why(reason, vec![view.step_proof(step, taken.min(view.slots.len().saturating_sub(1)), Role::Decisive, like)])
}

impl View<'_, '_> {
    /// The first steps of a sequence, for each the first one that fits, and the values that they have.
    fn first_steps(&self, count: usize) -> (Vec<Hit>, Env) {
        let mut env: Env = self.header.iter().map(|_| Part::OPEN).collect();
        let mut hits: Vec<Hit> = Vec::new();
        for slot in 0..count.min(self.slots.len()) {
            let behind = hits.last().map(|last| last.step);
            let fits =
                |hit: &Hit| behind.is_none_or(|behind| hit.step > behind) && same_values(&hit.env, &env) == Fit::Yes;
            let Some(hit) = self.hits_of(slot).find(fits) else { break };
            env = merge(&env, &hit.env);
            hits.push(hit);
        }
        (hits, env)
    }

    /// Why a call does not go on with a flow though a pattern that could come matches it.
    fn not_next(&mut self, call: u32, expected: &Expected) -> Option<String> {
        for slot in &expected.slots {
            let Some(near) = self.hits_of(*slot).find(|near| near.step == call) else { continue };
            for (env, waiting) in &expected.bound {
                let waiting: Vec<Hit> =
                    waiting.iter().filter_map(|(slot, event)| monitor::hit(*slot, *event, self)).collect();
                if let Some(clash) = self.clash(&near, env, &waiting) {
                    return Some(clash.words);
                }
            }
        }
        None
    }
}

/// A sequence that ends too early.
pub(in super::super) fn too_short(view: &mut View<'_, '_>, taken: usize) -> Why {
    let wanted = view.pattern(taken.min(view.slots.len().saturating_sub(1)));
    if taken == 0 {
        let near = view.misspelt(0).into_iter().collect();
        return why(format!("there is no {wanted}"), near);
    }
    why(format!("the run ends behind {} of the sequence, before {wanted}", amount(taken as u64, "step")), Vec::new())
}

/// Where a run left a flow, and what could have come.
pub(in super::super) fn left_flow(view: &mut View<'_, '_>, taken: u32, expected: &Expected) -> Why {
    // Where the calls can be read in several ways, no value is the one that is wanted.
    let env = match expected.bound.as_slice() {
        [(env, _)] => env.clone(),
        _ => view.header.clone(),
    };
    let mut could: Vec<String> = expected.slots.iter().map(|slot| view.thing(*slot, &env)).collect();
    could.dedup();
    let goes_on = match could.split_last() {
        None if expected.end && taken == 0 => "has no calls".to_owned(),
        None => "is at its end here".to_owned(),
        Some((last, [])) => format!("goes on here with {last}"),
        Some((last, others)) => format!("goes on here with {} or {last}", others.join(", ")),
    };
    let or_ends = if expected.end && !could.is_empty() { " or ends" } else { "" };
    match view.calls.get(taken as usize).copied() {
        Some(call) => {
            let because = view.not_next(call, expected).map_or_else(String::new, |words| [": ", &words].concat());
            let reason = format!("{} leaves the flow, which {goes_on}{or_ends}{because}", view.say(call));
            let like = view.alike(call, expected.slots.iter().copied());
            let mut evidence = vec![view.step_proof(call, usize::MAX, Role::Decisive, like)];
            let before = taken.checked_sub(1).and_then(|before| view.calls.get(before as usize)).copied();
            let label = "up to here the calls fit";
            evidence.extend(before.map(|step| view.step_proof(step, usize::MAX, Role::Value, label.to_owned())));
            why(reason, evidence)
        }
        None => {
            let last = view.calls.last().copied();
            let behind = last.map_or_else(|| "without calls".to_owned(), |last| format!("behind {}", view.say(last)));
            let evidence = last.map(|last| view.step_proof(last, usize::MAX, Role::Decisive, String::new()));
            let reason = format!("the run ends {behind} inside the flow, which {goes_on}");
            why(reason, evidence.into_iter().collect())
        }
    }
}
