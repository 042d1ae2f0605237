//! Steps that a statement says nothing of although it passes: one step that is judged must not hide another one that cannot be.

use super::explain;
use super::statements::{Polarity, StatementDefinition};
use super::timeline::{DecidedBy, Timeline};
use super::verdict;
use super::view::WindowView;
use super::window_events::PossibleOutcomes;
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::outcome::UnjudgedRecord;
use averment_base::truth::Truth;
use averment_runs::run::{Step, StepKind};
use std::collections::BTreeSet;

/// Steps decided by something missing whose other answer could change the result; `holds` is the result.
pub(super) fn unjudged_steps(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    judged: PossibleOutcomes,
    holds: bool,
) -> Result<Option<Box<UnjudgedRecord>>, Fault> {
    let mut found = UnjudgedSteps::default();
    let mut doubts: Vec<DoubtedStep> = Vec::new();
    for operand in 0..view.operands.len() {
        let steps = doubtful_steps(view, operand, statement.either, holds).into_iter();
        doubts.extend(steps.map(|step| DoubtedStep { operand, step }));
    }
    let doubts = decisive_steps(view, statement, doubts, holds);
    for of_one in doubts.chunk_by(|one, other| one.operand == other.operand) {
        add_pattern_steps(view, of_one, &mut found);
    }
    if let Some(code) = statement.condition.filter(|_| judged.by_missing) {
        add_condition_steps(view, code, &mut found)?;
    }
    if found.steps.is_empty() {
        return Ok(None);
    }
    let things = count_steps(found.all.iter().filter_map(|step| view.step(*step)));
    let (steps, all) = (found.steps.into_iter().collect(), found.all.into_iter().collect());
    Ok(Some(Box::new(UnjudgedRecord { things, why: found.why, steps, all })))
}

#[derive(Debug, Clone, Copy)]
struct DoubtedStep {
    operand: usize,
    step: u32,
}

/// More steps are not examined individually.
const ONE_BY_ONE: usize = 32;

/// Steps whose other answer would change the result, each by itself, or all if only several together do.
fn decisive_steps(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    doubts: Vec<DoubtedStep>,
    holds: bool,
) -> Vec<DoubtedStep> {
    // A match of one of these hurts wherever it stands.
    if doubts.is_empty() || statement.hurts_each() {
        return doubts;
    }
    let mut could_change = |doubts: &[DoubtedStep]| {
        let (timeline, header) = (doubted_timeline(view, doubts), view.header.clone());
        verdict::could_differ(view, statement, timeline, header, false, holds)
    };
    if !could_change(&doubts) {
        Vec::new()
    } else if doubts.len() == 1 || doubts.len() > ONE_BY_ONE {
        doubts
    } else {
        let alone: Vec<DoubtedStep> = doubts.iter().filter(|one| could_change(&[**one])).copied().collect();
        if alone.is_empty() { doubts } else { alone }
    }
}

/// The same run with these matches unknown.
fn doubted_timeline<'run>(view: &WindowView<'_, 'run>, doubts: &[DoubtedStep]) -> Timeline<'run> {
    let window = view.context.window;
    let unique_patterns = view.operands.iter().map(|operand| operand.unique);
    view.timeline.with_matches(unique_patterns, |unique, known| {
        let names = view.plan.unique_pattern(unique).map_or(0, |unique| unique.names.len());
        let is_of = |doubt: &&DoubtedStep| view.operands.get(doubt.operand).is_some_and(|other| other.unique == unique);
        let kind = |step: u32| view.step(step).map_or(StepKind::Call, |step| step.kind);
        let mut steps: Vec<(u32, StepKind)> =
            doubts.iter().filter(is_of).map(|doubt| (doubt.step, kind(doubt.step))).collect();
        steps.sort_unstable_by_key(|(step, _)| *step);
        steps.dedup_by_key(|(step, _)| *step);
        known.with_doubts(&steps, names, window.start..window.end)
    })
}

#[derive(Default)]
struct UnjudgedSteps {
    steps: BTreeSet<u32>,
    all: BTreeSet<u32>,
    why: String,
}

impl UnjudgedSteps {
    fn add_steps(&mut self, steps: Vec<(u32, String)>, all: impl IntoIterator<Item = u32>) {
        let Some((first, why)) = steps.first().cloned() else { return };
        if self.steps.first().is_none_or(|known| first < *known) {
            self.why = why;
        }
        self.steps.extend(steps.into_iter().map(|(step, _)| step));
        self.all.extend(all);
    }
}

fn doubtful_steps(view: &WindowView<'_, '_>, operand: usize, either: bool, holds: bool) -> Vec<u32> {
    let window = view.context.window;
    let (Some(own), Some(matches)) = (view.operands.get(operand), view.matches_of(operand)) else { return Vec::new() };
    let hides = match (own.polarity, holds) {
        (Polarity::Mixed, _) => [true, true],
        // One that does not match could have hurt.
        (Polarity::Hurts, true) | (Polarity::Helps, false) => [true, false],
        // One that matches has helped.
        (Polarity::Helps, true) | (Polarity::Hurts, false) => [false, !either],
    };
    let looked_at = matches.looked_at(window.start, window.end);
    let by_missing = looked_at.iter().filter(|looked| looked.decided == DecidedBy::MissingValue);
    by_missing
        .filter(|looked| hides.get(usize::from(looked.matches)).is_some_and(|hides| *hides))
        .map(|looked| looked.step)
        .collect()
}

fn add_pattern_steps(view: &mut WindowView<'_, '_>, doubts: &[DoubtedStep], found: &mut UnjudgedSteps) {
    let window = view.context.window;
    let Some(operand) = doubts.first().map(|one| one.operand) else { return };
    let Some(matches) = view.matches_of(operand) else { return };
    let looked_at = matches.looked_at(window.start, window.end);
    let events =
        matches.events_between(window.start, window.end).filter_map(|event| matches.events.get(event as usize));
    let judged = looked_at.iter().filter(|looked| looked.decided != DecidedBy::EarlierTest).map(|looked| looked.step);
    let lacks = |one: &DoubtedStep| Some((one.step, explain::lacking_fields(view, operand, one.step)?));
    let steps = doubts.iter().filter_map(lacks).collect();
    found.add_steps(steps, events.map(|event| event.step).chain(judged));
}

fn add_condition_steps(view: &mut WindowView<'_, '_>, code: CodeId, found: &mut UnjudgedSteps) -> Result<(), Fault> {
    let window = view.context.window;
    let Some(matches) = view.matches_of(0) else { return Ok(()) };
    let (mut steps, mut all) = (Vec::new(), Vec::new());
    for event in matches.events_between(window.start, window.end) {
        let Some(hit) = super::window_events::event_hit(0, event, view) else { continue };
        all.push(hit.step);
        if view.condition_of(code, &hit)?.is_some_and(Truth::by_missing)
            && let Some(step) = view.step(hit.step)
        {
            let bindings = view.binding_values(&hit.env);
            let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
            steps.extend(view.machine.lacking_fields(code, &scope).map(|why| (hit.step, why)));
        }
    }
    found.add_steps(steps, all);
    Ok(())
}

pub(in crate::vm) fn count_steps<'s, 'run: 's>(mut steps: impl Iterator<Item = &'s Step<'run>> + Clone) -> String {
    let Some(first) = steps.next() else { return String::new() };
    let is_like = |other: &Step<'_>| other.kind == first.kind;
    match first.kind {
        _ if !steps.clone().all(is_like) => "steps".to_owned(),
        StepKind::Call if steps.all(|other| other.name == first.name) => plural_name(first.name),
        kind => kind.list_key().to_owned(),
    }
}

/// `refunds`, or ``calls of `update_order` `` for a name without a plain plural.
fn plural_name(name: &str) -> String {
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase()) && (3..=24).contains(&name.len());
    if plain && !name.ends_with(['s', 'x', 'y', 'z', 'h']) {
        return format!("{name}s");
    }
    format!("calls of `{}`", explain::short_text(name))
}

impl<'run> crate::vm::machine::Machine<'run> {
    /// ``no `amount` ``: what a doubtful expression lacks; `None` if the catalog declares all of it optional.
    pub(super) fn lacking_fields(&mut self, code: CodeId, scope: &ExpressionScope<'_, 'run>) -> Option<String> {
        let parts = self.missing_parts(code, scope);
        if parts.is_empty() {
            let reason = self.explain_condition(code, scope).reason;
            return Some(if reason.is_empty() { "something is missing".to_owned() } else { reason });
        }
        let needed = parts.into_iter().find(|(_, key)| {
            let (Some(step), Some(key)) = (scope.step, key) else { return true };
            !self.is_optional(step.name, key)
        });
        needed.map(|(text, _)| format!("no `{text}`"))
    }

    pub(in crate::vm) fn is_optional(&self, tool: &str, key: &str) -> bool {
        let declared = self.program.tools.iter().find(|one| one.name == tool).and_then(|one| one.arguments);
        let schema = declared.and_then(|schema| self.program.schemas.get(schema as usize));
        let schema: Option<serde_json::Value> = schema.and_then(|schema| serde_json::from_str(&schema.json).ok());
        let Some(schema) = schema else { return false };
        let is_there = schema.get("properties").is_some_and(|all| all.get(key).is_some());
        let required = schema.get("required").and_then(serde_json::Value::as_array);
        is_there && !required.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(key)))
    }

    pub(super) fn lacks_binding(&self, path: CodeId, scope: &ExpressionScope<'_, 'run>) -> Option<String> {
        let text = self.rule_text(self.code_span(path));
        Some(format!("no `{text}`")).filter(|_| scope.step.is_none_or(|step| !self.is_optional(step.name, &text)))
    }
}
