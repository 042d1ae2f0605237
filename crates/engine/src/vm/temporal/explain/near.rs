//! What came nearest: a step that would have made the statement hold, had it only had another value, met a condition, or come in time.

use super::super::step_lists::{bound_holds, measure_of};
use super::super::timeline::{Env, to_index};
use super::super::view::{Hit, PairFit, WindowView, merge_envs, same_values};
use super::super::window_events;
use super::values_differ;
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::nearest::equal_otherwise;
use crate::vm::outcome::{Role, VerdictEvidence};
use averment_base::value::Value;
use averment_checker::ir::{PatternAlternative, StepDistance};
use averment_runs::run::Step;

/// Steps examined for a near miss.
const MOST_LOOKED: usize = 10_000;
/// Steps whose values or tests are compared.
pub(in super::super) const MOST_COMPARED: usize = 200;
/// Longer texts are not compared for similarities.
const LONGEST: usize = 1_000;

impl<'run> WindowView<'_, 'run> {
    pub(in super::super) fn near_miss(
        &mut self,
        operand: usize,
        env: &Env,
        from: u32,
        before: bool,
    ) -> Option<VerdictEvidence> {
        self.other_value(operand, env, from, before)
            .or_else(|| self.refused_evidence(operand, env, from, before))
            .or_else(|| self.unmet_condition(operand, from, before))
    }

    /// The nearest miss before the end of the window.
    pub(in super::super) fn near_in_window(&mut self, operand: usize) -> Option<VerdictEvidence> {
        let (header, end) = (self.header.clone(), to_index(self.context.window.end));
        self.near_miss(operand, &header, end, true)
    }

    /// What came nearest to a match where there is none.
    pub(in super::super) fn absent_evidence(&mut self, operand: usize) -> Option<VerdictEvidence> {
        self.near_in_window(operand).or_else(|| self.misspelled_name(operand))
    }

    fn refused_evidence(&mut self, operand: usize, env: &Env, from: u32, before: bool) -> Option<VerdictEvidence> {
        if !self.has_joins(operand) {
            return None;
        }
        let nearest = self.hits_near(operand, from, before).next()?;
        let (alternative, step) = self.matched_alternative(operand, nearest.event)?;
        let bindings = self.binding_values(&merge_envs(&nearest.env, env));
        let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
        for code in &alternative.joins {
            if self.machine.evaluate_truth(*code, &scope).is_ok_and(|truth| truth.plain_answer() == Some(false)) {
                let reason = self.machine.explain_condition(*code, &scope).reason;
                let label = format!("{} does not fit: {reason}", self.describe_step(nearest.step));
                return Some(self.step_proof(nearest.step, operand, Role::NearMiss, label));
            }
        }
        None
    }

    /// The nearest miss: a step that nearly matches, one on the wrong side, or one with a similar name.
    pub(in super::super) fn nearest_evidence(
        &mut self,
        operand: usize,
        hit: &Hit,
        before: bool,
    ) -> Vec<VerdictEvidence> {
        let refusing = self.refusing_match(operand, hit, before).map(|(_, near)| near);
        let near = refusing.or_else(|| self.near_miss(operand, &hit.env, hit.step, before));
        let mut found: Vec<VerdictEvidence> = near.into_iter().collect();
        found.extend(self.other_side(operand, hit, before));
        if found.is_empty() {
            found.extend(self.misspelled_name(operand));
        }
        found
    }

    fn other_side(&mut self, operand: usize, hit: &Hit, before: bool) -> Option<VerdictEvidence> {
        let hits: Vec<Hit> = self.hits_near(operand, hit.step, !before).take(MOST_COMPARED).collect();
        for near in hits {
            let values = same_values(&near.env, &hit.env) == PairFit::Yes && near.step != hit.step;
            if values && self.is_pair(&near, hit) {
                let side = if before { "comes only after" } else { "comes before" };
                let label = [&self.describe_step(near.step), " ", side, " ", &self.describe_step(hit.step)].concat();
                return Some(self.step_proof(near.step, operand, Role::NearMiss, label));
            }
        }
        None
    }

    /// A match with another value: one that differs only in type, case or spelling, otherwise the nearest.
    fn other_value(&mut self, operand: usize, env: &Env, from: u32, before: bool) -> Option<VerdictEvidence> {
        let names = &self.unique_pattern(operand)?.names;
        if names.is_empty() {
            return None;
        }
        let env = &merge_envs(&self.header, env);
        let differs = |hit: &Hit| names.iter().any(|name| values_differ(&hit.env, env, *name));
        let like = |hit: &Hit| names.iter().any(|name| self.value_difference(&hit.env, env, *name).is_some());
        let found = self.any_near(operand, from, before).take(MOST_COMPARED).find(like);
        let nearest = found.or_else(|| self.any_near(operand, from, before).find(differs))?;
        let alternatives = self.written_of(&nearest).map_or(&[][..], std::slice::from_ref);
        let differing: Vec<String> = names
            .iter()
            .filter(|name| values_differ(&nearest.env, env, **name))
            .filter_map(|name| {
                let value = self.binding_words(*name, alternatives, &nearest.env)?;
                let like = self
                    .value_difference(&nearest.env, env, *name)
                    .map_or_else(String::new, |like| format!(" ({like})"));
                Some(value + &like)
            })
            .collect();
        let label = [&self.describe_step(nearest.step), " has ", &differing.join(" and ")].concat();
        // The value itself shows best what differs.
        let first = self.bound_nodes(&nearest).next();
        Some(match first {
            Some((_, node)) => {
                let value = self.machine.evidence_text(&node.value);
                VerdictEvidence { label, ..self.value_proof(nearest.step, &node, value, Role::NearMiss) }
            }
            None => self.step_proof(nearest.step, operand, Role::NearMiss, label),
        })
    }

    fn value_difference(&self, a: &Env, b: &Env, name: u32) -> Option<String> {
        if !values_differ(a, b, name) {
            return None;
        }
        let node = |env: &Env| self.timeline.values.value_node(*env.get(name as usize)?);
        let long = |value: &Value<'_>| matches!(value, Value::Text(text) if text.as_str().len() > LONGEST);
        let (a, b) = (node(a)?.value, node(b)?.value);
        if long(&a) || long(&b) { None } else { equal_otherwise(&a, &b) }
    }

    pub(in super::super) fn hits_near(
        &self,
        operand: usize,
        from: u32,
        before: bool,
    ) -> impl Iterator<Item = Hit> + '_ {
        self.events_near(operand, from, before).filter_map(move |event| window_events::event_hit(operand, event, self))
    }

    fn any_near(&self, operand: usize, from: u32, before: bool) -> impl Iterator<Item = Hit> + '_ {
        self.events_near(operand, from, before).filter_map(move |event| window_events::any_hit(operand, event, self))
    }

    fn events_near(&self, operand: usize, from: u32, before: bool) -> impl Iterator<Item = u32> + '_ {
        let (window, from) = (self.context.window, from as usize);
        let range = self.matches_of(operand).map_or(0..0, |matches| match before {
            true => matches.events_between(window.start, from),
            false => matches.events_between(from + 1, window.end),
        });
        let (behind, ahead) = if before { (range, 0..0) } else { (0..0, range) };
        behind.rev().chain(ahead).take(MOST_LOOKED)
    }

    pub(in super::super) fn first_hit(&self, operand: usize) -> Option<Hit> {
        self.hits_of(operand).next()
    }

    pub(in super::super) fn hits_of(&self, operand: usize) -> impl Iterator<Item = Hit> + '_ {
        let window = self.context.window;
        let events = self
            .matches_of(operand)
            .into_iter()
            .flat_map(move |matches| matches.events_between(window.start, window.end));
        events.filter_map(move |event| window_events::event_hit(operand, event, self))
    }

    pub(in super::super) fn unmet_condition(
        &mut self,
        operand: usize,
        from: u32,
        before: bool,
    ) -> Option<VerdictEvidence> {
        let (id, written) = (self.operands.get(operand)?.unique, self.written_alternatives(operand));
        let (matches, from) = (self.matches_of(operand)?, from as usize);
        let (behind, ahead) = match before {
            true => (matches.looked_at(0, from), &[][..]),
            false => (&[][..], matches.looked_at(from.saturating_add(1), self.context.window.end)),
        };
        for looked in behind.iter().rev().chain(ahead).filter(|looked| !looked.matches).take(MOST_LOOKED) {
            let step = self.step(looked.step)?;
            let candidates = self.plan.name_index().matching_alternatives(step.kind, step.name, self.machine.prepared);
            let own = candidates.iter().find(|at| at.unique == id);
            let Some(alternative) = own.and_then(|at| written.get(usize::from(at.alternative))) else {
                continue;
            };
            if let Some(words) = self.mismatch_reason(alternative, step) {
                let label = format!("{} does not fit: {words}", self.describe_step(looked.step));
                return Some(self.step_proof(looked.step, operand, Role::NearMiss, label));
            }
        }
        None
    }

    /// Why a step of the right name does not match; `None` if it does.
    pub(in super::super) fn mismatch_reason(
        &mut self,
        alternative: &PatternAlternative<CodeId>,
        step: &'run Step<'run>,
    ) -> Option<String> {
        use averment_runs::run::StepStatus;
        if alternative.proposed == step.status.is_executed() {
            let status = match step.status {
                StepStatus::Denied => "it was denied",
                StepStatus::Pending => "it is still pending",
                _ => "it was executed",
            };
            return Some(status.to_owned());
        }
        match (alternative.succeeded, step.status) {
            (Some(true), StepStatus::Failed) => return Some("it failed".to_owned()),
            (Some(false), StepStatus::Ok) => return Some("it did not fail".to_owned()),
            _ => {}
        }
        let scope = ExpressionScope::of_step(step);
        if let Some(condition) = alternative.condition {
            let truth = self.machine.evaluate_truth(condition, &scope).ok()?;
            if truth.plain_answer() != Some(true) {
                let reason = self.machine.explain_condition(condition, &scope).reason;
                return Some(if reason.is_empty() { "its condition is not met".to_owned() } else { reason });
            }
        }
        alternative.binds.iter().find_map(|(_, path)| self.machine.missing_path_words(*path, &scope))
    }
}

impl WindowView<'_, '_> {
    pub(in super::super) fn too_late(
        &mut self,
        hit: &Hit,
        wanted: usize,
        within: Option<StepDistance>,
    ) -> Option<VerdictEvidence> {
        let near = self.fitting_match(wanted, hit, false)?;
        let label = self.distance_words(&near, hit.step, near.step, within)?;
        Some(self.step_proof(near.step, wanted, Role::NearMiss, label))
    }

    /// A step's distance, if it exceeds the bound or is unknown.
    pub(in super::super) fn distance_words(
        &self,
        near: &Hit,
        from: u32,
        to: u32,
        within: Option<StepDistance>,
    ) -> Option<String> {
        let name = self.describe_step(near.step);
        let of = |step: u32| measure_of(self, within, step);
        match bound_holds(within, of(from), of(to)) {
            Some(true) => None,
            Some(false) => {
                let away = of(to).zip(of(from)).map_or(0.0, |(to, from)| to - from);
                Some(format!("{name} is {} away", distance_in_unit(within, away)))
            }
            None => Some(format!("the run does not record how far away {name} is")),
        }
    }
}

/// A distance in the bound's unit: `7 calls`, `1 turn`, `6.5s`.
fn distance_in_unit(within: Option<StepDistance>, away: f64) -> String {
    let counted = |thing: &str| format!("{away} {thing}{}", if away == 1.0 { "" } else { "s" });
    match within {
        Some(StepDistance::Turns(_)) => counted("turn"),
        Some(StepDistance::Time(_)) if away >= 1000.0 => format!("{}s", away / 1000.0),
        Some(StepDistance::Time(_)) => format!("{away}ms"),
        Some(StepDistance::Calls(_)) | None => counted("call"),
    }
}
