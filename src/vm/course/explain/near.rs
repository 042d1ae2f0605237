//! What came nearest: a step that would have made the statement hold, had it only had another value, met a condition, or come in time.

use super::super::monitor;
use super::super::timeline::Env;
use super::super::view::{Hit, Names, View, merge};
use super::differ;
use crate::bytecode::program::CodeId;
use crate::ir::Alternative;
use crate::trace::run::Step;
use crate::value::json::to_json;
use crate::vm::context::Scope;
use crate::vm::outcome::{Evidence, Role};

/// Steps that are looked at for a near miss.
const MOST_LOOKED: usize = 10_000;

impl<'run> View<'_, 'run> {
    /// The step nearest to `from` (before it, or behind it) that nearly matches a slot under an environment.
    pub(super) fn near_miss(&mut self, slot: usize, env: &Env, from: u32, before: bool) -> Option<Evidence> {
        self.other_value(slot, env, from, before)
            .or_else(|| self.refused(slot, env, from, before))
            .or_else(|| self.unmet(slot, from, before))
    }

    /// A match whose tests on the other step's values fail.
    fn refused(&mut self, slot: usize, env: &Env, from: u32, before: bool) -> Option<Evidence> {
        if !self.joined(slot) {
            return None;
        }
        let plan = self.plan;
        let nearest = self.hits_near(slot, from, before).next()?;
        let (alternative, step) = self.alternative(plan, slot, nearest.event)?;
        let bindings = self.bindings(&merge(&nearest.env, env));
        let scope = Scope::of_step(step).with_bindings(&bindings);
        for code in &alternative.joins {
            if self.machine.truth(*code, &scope).is_ok_and(|truth| truth.plain() == Some(false)) {
                let reason = self.machine.explain(*code, &scope).reason;
                let label = format!("{} does not fit: {reason}", self.say(nearest.step));
                return Some(self.step_proof(nearest.step, slot, Role::NearMiss, label));
            }
        }
        None
    }

    /// A match with another value.
    fn other_value(&mut self, slot: usize, env: &Env, from: u32, before: bool) -> Option<Evidence> {
        let names = Names::from_slice(self.names(slot));
        if names.is_empty() {
            return None;
        }
        let differs = |hit: &Hit| names.iter().any(|name| differ(&hit.env, env, *name));
        let nearest = self.hits_near(slot, from, before).find(differs)?;
        let alternatives = self.written_of(&nearest).map_or(&[][..], std::slice::from_ref);
        let differing: Vec<String> = names
            .iter()
            .filter(|name| differ(&nearest.env, env, **name))
            .filter_map(|name| self.value(*name, alternatives, &nearest.env))
            .collect();
        let label = [&self.say(nearest.step), " has ", &differing.join(" and ")].concat();
        // The value itself shows best what differs.
        let first = self.bound(&nearest).next();
        Some(match first {
            Some((_, node)) => {
                let value = to_json(&node.value);
                Evidence { label, ..self.value_proof(nearest.step, &node, value, Role::NearMiss) }
            }
            None => self.step_proof(nearest.step, slot, Role::NearMiss, label),
        })
    }

    /// The matches of a slot before or behind a step, nearest first.
    pub(super) fn hits_near(&self, slot: usize, from: u32, before: bool) -> impl Iterator<Item = Hit> + '_ {
        let matches = self.slots.get(slot).and_then(|slot| self.timeline.of(slot.shape));
        let window = self.context.window;
        let from = from as usize;
        let range = matches.map_or(0..0, |matches| match before {
            true => matches.between(window.start, from),
            false => matches.between(from + 1, window.end),
        });
        let (behind, ahead) = if before { (range, 0..0) } else { (0..0, range) };
        behind.rev().chain(ahead).take(MOST_LOOKED).filter_map(move |event| monitor::hit(slot, event, self))
    }

    /// The first match of a slot in the window.
    pub(super) fn first_hit(&self, slot: usize) -> Option<Hit> {
        self.hits_of(slot).next()
    }

    /// The matches of a slot in the window, in order.
    pub(in super::super) fn hits_of(&self, slot: usize) -> impl Iterator<Item = Hit> + '_ {
        let matches = self.slots.get(slot).and_then(|slot| self.timeline.of(slot.shape));
        let window = self.context.window;
        let events = matches.into_iter().flat_map(move |matches| matches.between(window.start, window.end));
        events.filter_map(move |event| monitor::hit(slot, event, self))
    }

    /// A step of the right name that does not meet the pattern's condition.
    fn unmet(&mut self, slot: usize, from: u32, before: bool) -> Option<Evidence> {
        let (plan, timeline) = (self.plan, self.timeline);
        let id = self.slots.get(slot)?.shape;
        let written = self.written(slot);
        let (matches, from) = (timeline.of(id)?, from as usize);
        let (behind, ahead) = match before {
            true => (matches.looked_at(0, from), &[][..]),
            false => (&[][..], matches.looked_at(from.saturating_add(1), self.context.window.end)),
        };
        for looked in behind.iter().rev().chain(ahead).filter(|looked| !looked.matches).take(MOST_LOOKED) {
            let step = self.step(looked.step)?;
            let candidates = plan.table().candidates(step.kind, step.name, self.machine.prepared);
            let own = candidates.iter().find(|at| at.shape == id);
            let Some(alternative) = own.and_then(|at| written.get(usize::from(at.alternative))) else {
                continue;
            };
            if let Some(words) = self.misses(alternative, step) {
                let label = format!("{} does not fit: {words}", self.say(looked.step));
                return Some(self.step_proof(looked.step, slot, Role::NearMiss, label));
            }
        }
        None
    }

    /// Why a step of the right name is no match; `None` when it is one.
    pub(super) fn misses(&mut self, alternative: &Alternative<CodeId>, step: &'run Step<'run>) -> Option<String> {
        use crate::trace::run::Status;
        if alternative.proposed == step.status.executed() {
            return Some(if alternative.proposed { "it was executed" } else { "it was not executed" }.to_owned());
        }
        match (alternative.succeeded, step.status) {
            (Some(true), Status::Failed) => return Some("it failed".to_owned()),
            (Some(false), Status::Ok) => return Some("it did not fail".to_owned()),
            _ => {}
        }
        let scope = Scope::of_step(step);
        let condition = alternative.condition?;
        let truth = self.machine.truth(condition, &scope).ok()?;
        if truth.plain() == Some(true) {
            return None;
        }
        let reason = self.machine.explain(condition, &scope).reason;
        Some(if reason.is_empty() { "its condition is not met".to_owned() } else { reason })
    }
}
