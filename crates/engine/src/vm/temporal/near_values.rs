//! Values that `==` calls unfit: `"Bob@x"` and `"bob@x"`, `7` and `"7"` are two values of a binding, and nearly one.
//!
//! A statement that holds is judged once more as if such values were equal, and as if tests on bindings that something unfit decides were
//! unknown. Where that could change what is said, the steps were not judged.

use super::explain;
use super::statements::{Polarity, StatementDefinition};
use super::timeline::{Env, Timeline, ValueId};
use super::verdict;
use super::view::{WindowView, merge_envs};
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::outcome::UnjudgedRecord;
use crate::vm::value_equality::equality_truth;
use averment_base::truth::Truth;
use averment_base::value::Value;
use averment_base::value::compare::values_equal;
use averment_base::value::json::to_json;
use std::collections::BTreeSet;

/// Pairs of steps whose tests on bindings are evaluated again.
const MOST_PAIRS: usize = 4_096;

/// Whether two values are equal but for their type or their writing.
pub(in crate::vm) fn are_near<'v>(a: &Value<'v>, b: &Value<'v>) -> bool {
    equality_truth(a, b, values_equal) == Truth::FalseByMissing
}

/// A remark on two patterns of a statement that bind nearly the same value; `apart` is how far apart they are at least: one alone may group its
/// steps by value.
pub(super) fn near_words(view: &WindowView<'_, '_>, apart: usize) -> Option<Box<str>> {
    // The groups are made when the first statement asks for them.
    if view.operands.iter().all(|operand| operand.names.is_empty()) {
        return None;
    }
    let near = view.timeline.values.near_values();
    if near.is_empty() {
        return None;
    }
    let bound = |operand: usize, name: u32| {
        let of_name = near_events(view, operand).into_iter().filter(move |event| event.name == name);
        of_name.collect::<Vec<_>>()
    };
    for first in 0..view.operands.len() {
        for second in first + apart..view.operands.len() {
            for name in view.shared_names(first, second) {
                let (one, two) = (bound(first, name), bound(second, name));
                let twins = one.iter().find_map(|a| {
                    let is_near = |b: &&NearEvent| b.id != a.id && near.first_like(b.id) == near.first_like(a.id);
                    Some((a, two.iter().find(is_near)?))
                });
                if let Some((a, b)) = twins {
                    return twin_words(view, name, a, b);
                }
            }
        }
    }
    None
}

/// A remark on a pattern that binds nearly the value that the block around it has bound.
fn header_words(view: &WindowView<'_, '_>) -> Option<Box<str>> {
    let near = view.timeline.values.near_values();
    let mut events = (0..view.operands.len()).flat_map(|operand| near_events(view, operand));
    let (id, event) = events.find_map(|event| {
        let id = view.header.get(event.name as usize).filter(|id| id.is_value() && **id != event.id)?;
        (near.first_like(*id) == near.first_like(event.id)).then_some((*id, event))
    })?;
    let (of_block, of_step) = (value_words(view, id)?, value_words(view, event.id)?);
    let (name, step) = (binding_name(view, event.name), view.describe_step(event.step));
    Some(format!("`${name}` is {of_block} in the block and {of_step} in {step}: these are two values").into())
}

fn binding_name<'v>(view: &WindowView<'v, '_>, name: u32) -> &'v str {
    view.entry.and_then(|entry| entry.binding_names.get(name as usize)).map_or("", String::as_str)
}

fn value_words(view: &WindowView<'_, '_>, id: ValueId) -> Option<String> {
    let node = view.timeline.values.value_node(id)?;
    Some(match node.value {
        Value::Text(text) => format!("the text \"{}\"", explain::short_text(text.as_str())),
        value @ Value::Number(_) => format!("the number {}", explain::short_text(&to_json(&value))),
        value => explain::short_text(&to_json(&value)).into_owned(),
    })
}

fn twin_words(view: &WindowView<'_, '_>, name: u32, a: &NearEvent, b: &NearEvent) -> Option<Box<str>> {
    let value = |event: &NearEvent| {
        let (words, step) = (value_words(view, event.id)?, view.describe_step(event.step));
        Some(format!("{words} in {step}"))
    };
    let (a, b) = if a.step <= b.step { (a, b) } else { (b, a) };
    let name = binding_name(view, name);
    Some(format!("`${name}` is {} and {}: these are two values", value(a)?, value(b)?).into())
}

struct NearEvent {
    name: u32,
    id: ValueId,
    step: u32,
}

/// Matches of an operand with a value that is nearly another one of the run.
fn near_events(view: &WindowView<'_, '_>, operand: usize) -> Vec<NearEvent> {
    let near = view.timeline.values.near_values();
    let (Some(unique), Some(matches)) = (view.unique_pattern(operand), view.matches_of(operand)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (number, event) in (0..).zip(&matches.events) {
        for (name, id) in unique.names.iter().zip(matches.value_ids(number, unique.names.len())) {
            if near.first_like(*id).is_some() {
                found.push(NearEvent { name: *name, id: *id, step: event.step });
            }
        }
    }
    found
}

/// Steps that the statement says nothing of, because their values are only nearly those of others; `holds` is what is said.
pub(super) fn unjudged_values(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    holds: bool,
) -> Result<Option<Box<UnjudgedRecord>>, Fault> {
    let named =
        view.operands.iter().any(|operand| !operand.names.is_empty()) || view.header.iter().any(|id| id.is_value());
    let near: Vec<Vec<NearEvent>> = if named && !view.timeline.values.near_values().is_empty() {
        (0..view.operands.len()).map(|operand| near_events(view, operand)).collect()
    } else {
        Vec::new()
    };
    let unfit = unfit_tests(view)?;
    if near.iter().all(Vec::is_empty) && unfit.is_empty() || !could_change(view, statement, holds) {
        return Ok(None);
    }
    let helps = if holds { Polarity::Helps } else { Polarity::Hurts };
    let of_near =
        (0_usize..).zip(&near).flat_map(|(operand, events)| events.iter().map(move |one| (operand, one.step)));
    let steps: Vec<(usize, u32)> = of_near.chain(unfit.iter().map(|test| (test.operand, test.step))).collect();
    let hurts = |operand: usize| view.operands.get(operand).is_some_and(|own| own.polarity != helps);
    let mut named: BTreeSet<u32> = steps.iter().filter(|(operand, _)| hurts(*operand)).map(|(_, step)| *step).collect();
    if named.is_empty() {
        named = steps.iter().map(|(_, step)| *step).collect();
    }
    let mut all = named.clone();
    for operand in (0..view.operands.len()).filter(|operand| hurts(*operand)) {
        all.extend(view.hits_of(operand).map(|hit| hit.step));
    }
    let things = super::unjudged_steps::count_steps(all.iter().filter_map(|step| view.step(*step)));
    let why = match unfit.into_iter().next() {
        Some(test) => test.why,
        None => {
            let words = near_words(view, 1).or_else(|| header_words(view)).or_else(|| near_words(view, 0));
            words.map_or_else(String::new, String::from)
        }
    };
    let (steps, all) = (named.into_iter().collect(), all.into_iter().collect());
    Ok(Some(Box::new(UnjudgedRecord { things, why, steps, all })))
}

struct UnfitTest {
    operand: usize,
    step: u32,
    why: String,
}

/// Steps whose tests on bindings of other patterns something unfit or missing decides.
fn unfit_tests(view: &mut WindowView<'_, '_>) -> Result<Vec<UnfitTest>, Fault> {
    let mut found = Vec::new();
    for operand in (0..view.operands.len()).filter(|operand| view.has_joins(*operand)).collect::<Vec<_>>() {
        let own: Vec<_> = view.hits_of(operand).collect();
        let mut others: Vec<_> = Vec::new();
        for other in (0..view.operands.len()).filter(|other| *other != operand) {
            others.extend(view.hits_of(other).take(MOST_PAIRS));
        }
        if own.len().saturating_mul(others.len().max(1)) > MOST_PAIRS {
            continue;
        }
        for hit in own {
            let Some((alternative, _)) = view.matched_alternative(operand, hit.event) else { continue };
            let empty = std::iter::once(None).filter(|_| others.is_empty());
            let unfit = empty.chain(others.iter().map(Some)).map(|other| {
                let env = other.map_or_else(|| hit.env.clone(), |other| merge_envs(&hit.env, &other.env));
                unfit_test(view, operand, hit.event, &alternative.joins, &env)
            });
            let unfit: Vec<Option<String>> = unfit.collect::<Result<_, Fault>>()?;
            if let Some(why) = unfit.into_iter().flatten().next() {
                found.push(UnfitTest { operand, step: hit.step, why });
            }
        }
    }
    Ok(found)
}

fn unfit_test(
    view: &mut WindowView<'_, '_>,
    operand: usize,
    event: u32,
    joins: &[CodeId],
    env: &Env,
) -> Result<Option<String>, Fault> {
    let Some((_, step)) = view.matched_alternative(operand, event) else { return Ok(None) };
    let bindings = view.binding_values(env);
    let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
    for code in joins {
        if view.plan.is_answerable(*code, &bindings) && view.machine.evaluate_truth(*code, &scope)?.by_missing() {
            let reason = view.machine.explain_condition(*code, &scope).reason;
            return Ok(Some(if reason.is_empty() { "something is missing".to_owned() } else { reason }));
        }
    }
    Ok(None)
}

/// Whether something else could be said where values that are nearly equal were.
fn could_change(view: &mut WindowView<'_, '_>, statement: &StatementDefinition, holds: bool) -> bool {
    let (timeline, near) = (near_timeline(view), view.timeline.values.near_values());
    let header = view.header.iter().map(|id| near.first_like(*id).unwrap_or(*id)).collect();
    let before = view.machine.joins_near_values(true);
    let changes = verdict::could_differ(view, statement, timeline, header, true, holds);
    view.machine.joins_near_values(before);
    changes
}

/// The same matches, in which values that are nearly equal are one.
fn near_timeline<'run>(view: &WindowView<'_, 'run>) -> Timeline<'run> {
    let near = view.timeline.values.near_values();
    let unique_patterns = view.operands.iter().map(|operand| operand.unique);
    view.timeline.with_matches(unique_patterns, |_, known| known.with_values(|id| near.first_like(id).unwrap_or(id)))
}
