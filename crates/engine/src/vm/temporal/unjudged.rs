//! Steps that a statement says nothing of although it passes: one step that is judged must not hide another one that cannot be.

use super::doubted::{self, Doubt};
use super::explain;
use super::monitor::Judged;
use super::statements::{Polarity, Statement};
use super::timeline::DecidedBy;
use super::view::View;
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::outcome::Unjudged;
use averment_base::truth::Truth;
use averment_runs::run::{Kind, Step};
use std::collections::BTreeSet;

/// The steps whose answer something missing decided, where another answer could have changed what is said; `holds` says whether the
/// statement does.
pub(super) fn of(
    view: &mut View<'_, '_>,
    statement: &Statement,
    judged: Judged,
    holds: bool,
) -> Result<Option<Box<Unjudged>>, Fault> {
    let mut found = Found::default();
    let mut doubts: Vec<Doubt> = Vec::new();
    for operand in 0..view.operands.len() {
        let steps = doubtful(view, operand, statement.either, holds).into_iter();
        doubts.extend(steps.map(|step| Doubt { operand, step }));
    }
    let doubts = doubted::decisive(view, statement, doubts, holds);
    for of_one in doubts.chunk_by(|one, other| one.operand == other.operand) {
        of_pattern(view, of_one, &mut found);
    }
    if let Some(code) = statement.meaning.condition().filter(|_| judged.by_missing) {
        of_condition(view, code, &mut found)?;
    }
    if found.steps.is_empty() {
        return Ok(None);
    }
    let things = things(found.all.iter().filter_map(|step| view.step(*step)));
    let (steps, all) = (found.steps.into_iter().collect(), found.all.into_iter().collect());
    Ok(Some(Box::new(Unjudged { things, why: found.why, steps, all })))
}

/// What was found of all patterns.
#[derive(Default)]
struct Found {
    steps: BTreeSet<u32>,
    all: BTreeSet<u32>,
    why: String,
}

impl Found {
    /// Adds the steps of a pattern or condition, where some cannot be judged; `why` is that of the first of them.
    fn add(&mut self, steps: Vec<(u32, String)>, all: impl IntoIterator<Item = u32>) {
        let Some((first, why)) = steps.first().cloned() else { return };
        if self.steps.first().is_none_or(|known| first < *known) {
            self.why = why;
        }
        self.steps.extend(steps.into_iter().map(|(step, _)| step));
        self.all.extend(all);
    }
}

/// The steps of a pattern in the window that something missing decided, where the other answer may hurt.
fn doubtful(view: &View<'_, '_>, operand: usize, either: bool, holds: bool) -> Vec<u32> {
    let (timeline, window) = (view.timeline, view.context.window);
    let Some(own) = view.operands.get(operand) else { return Vec::new() };
    let Some(matches) = timeline.of(own.unique) else { return Vec::new() };
    let hides = match (own.polarity, holds) {
        (Polarity::Mixed, _) => [true, true],
        // One that does not match could have hurt.
        (Polarity::Hurts, true) | (Polarity::Helps, false) => [true, false],
        // One that matches has helped.
        (Polarity::Helps, true) | (Polarity::Hurts, false) => [false, !either],
    };
    let looked_at = matches.looked_at(window.start, window.end);
    let by_missing = looked_at.iter().filter(|looked| looked.decided == DecidedBy::ByMissing);
    by_missing
        .filter(|looked| hides.get(usize::from(looked.matches)).is_some_and(|hides| *hides))
        .map(|looked| looked.step)
        .collect()
}

/// Adds the steps of one pattern.
fn of_pattern(view: &mut View<'_, '_>, doubts: &[Doubt], found: &mut Found) {
    let (timeline, window) = (view.timeline, view.context.window);
    let Some(operand) = doubts.first().map(|one| one.operand) else { return };
    let unique = view.operands.get(operand).map(|own| own.unique);
    let Some(matches) = unique.and_then(|unique| timeline.of(unique)) else { return };
    let looked_at = matches.looked_at(window.start, window.end);
    let events = matches.between(window.start, window.end).filter_map(|event| matches.events.get(event as usize));
    let judged = looked_at.iter().filter(|looked| looked.decided != DecidedBy::Before).map(|looked| looked.step);
    let lacks = |one: &Doubt| Some((one.step, explain::lacks(view, operand, one.step)?));
    let steps = doubts.iter().filter_map(lacks).collect();
    found.add(steps, events.map(|event| event.step).chain(judged));
}

/// The steps of which a statement asks a condition.
fn of_condition(view: &mut View<'_, '_>, code: CodeId, found: &mut Found) -> Result<(), Fault> {
    let (timeline, window) = (view.timeline, view.context.window);
    let Some(matches) = view.operands.first().and_then(|operand| timeline.of(operand.unique)) else { return Ok(()) };
    let (mut steps, mut all) = (Vec::new(), Vec::new());
    for event in matches.between(window.start, window.end) {
        let Some(hit) = super::monitor::hit(0, event, view) else { continue };
        all.push(hit.step);
        if view.condition_of(code, &hit)?.is_some_and(Truth::by_missing)
            && let Some(step) = view.step(hit.step)
        {
            let bindings = view.bindings(&hit.env);
            let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
            steps.extend(view.machine.lacks(code, &scope).map(|why| (hit.step, why)));
        }
    }
    found.add(steps, all);
    Ok(())
}

/// What the steps are, in words.
pub(in crate::vm) fn things<'s, 'run: 's>(mut steps: impl Iterator<Item = &'s Step<'run>> + Clone) -> String {
    let Some(first) = steps.next() else { return String::new() };
    let is_like = |other: &Step<'_>| other.kind == first.kind;
    match first.kind {
        _ if !steps.clone().all(is_like) => "steps".to_owned(),
        Kind::Call if steps.all(|other| other.name == first.name) => plural(first.name),
        kind => kind.list_key().to_owned(),
    }
}

/// `refunds`; ``calls of `update_order` `` where a name has no plain plural.
fn plural(name: &str) -> String {
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase()) && (3..=24).contains(&name.len());
    if plain && !name.ends_with(['s', 'x', 'y', 'z', 'h']) {
        return format!("{name}s");
    }
    format!("calls of `{}`", explain::short(name))
}

impl<'run> crate::vm::machine::Machine<'run> {
    /// ``no `amount` ``: what an expression that something missing or unfit has decided lacks; `None` where the catalogue says of all of it
    /// that it need not be there.
    pub(super) fn lacks(&mut self, code: CodeId, scope: &ExpressionScope<'_, 'run>) -> Option<String> {
        let parts = self.missing_parts(code, scope);
        if parts.is_empty() {
            let reason = self.explain(code, scope).reason;
            return Some(if reason.is_empty() { "something is missing".to_owned() } else { reason });
        }
        let needed = parts.into_iter().find(|(_, key)| {
            let (Some(step), Some(key)) = (scope.step, key) else { return true };
            !self.is_optional(step.name, key)
        });
        needed.map(|(text, _)| format!("no `{text}`"))
    }

    /// Whether the catalogue declares an argument of a tool and does not require it.
    pub(in crate::vm) fn is_optional(&self, tool: &str, key: &str) -> bool {
        let declared = self.program.tools.iter().find(|one| one.name == tool).and_then(|one| one.arguments);
        let schema = declared.and_then(|schema| self.program.schemas.get(schema as usize));
        let schema: Option<serde_json::Value> = schema.and_then(|schema| serde_json::from_str(&schema.json).ok());
        let Some(schema) = schema else { return false };
        let is_there = schema.get("properties").is_some_and(|all| all.get(key).is_some());
        let required = schema.get("required").and_then(serde_json::Value::as_array);
        is_there && !required.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(key)))
    }

    /// The same for a path whose value a pattern binds.
    pub(super) fn lacks_binding(&self, path: CodeId, scope: &ExpressionScope<'_, 'run>) -> Option<String> {
        let text = self.rule_text(self.code_span(path));
        Some(format!("no `{text}`")).filter(|_| scope.step.is_none_or(|step| !self.is_optional(step.name, &text)))
    }
}
