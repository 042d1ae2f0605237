//! Partial matches of a sequence of patterns (words): what they have bound so far, extended by one step at a time.

use super::step_lists::Certainty;
use super::timeline::{Env, ValueId};
use super::view::{Hit, PairFit, WindowView, merge_envs, same_values};
use crate::vm::fault::Fault;

/// True under some environment: free names take any value that occurs, a new one, or, unfinished, any later one.
pub(super) fn under_any(hit: &Hit, view: &mut WindowView<'_, '_>) -> Result<PairFit, Fault> {
    let open = |name: &u32| hit.env.get(*name as usize) == Some(&ValueId::OPEN);
    let wanted: Vec<u32> = view.asked_names(hit.operand).into_iter().filter(open).collect();
    let mut envs = vec![hit.env.clone()];
    for name in wanted {
        let mut values = view.values_of(name);
        view.spend_fuel(values.len())?;
        if !view.context.window.closed {
            values.push(ValueId::ABSENT);
        }
        envs = envs.iter().flat_map(|env| values.iter().map(|value| with_value(env, name, *value))).collect();
        view.spend_fuel(envs.len())?;
    }
    let mut best = PairFit::No;
    for env in &envs {
        match view.joins_of(hit.operand, hit.event, env)? {
            PairFit::Yes => return Ok(PairFit::Yes),
            PairFit::Unknown => best = PairFit::Unknown,
            PairFit::No => {}
        }
    }
    Ok(best)
}

fn with_value(env: &Env, name: u32, value: ValueId) -> Env {
    let mut env = env.clone();
    if let Some(cell) = env.get_mut(name as usize) {
        *cell = value;
    }
    env
}

/// Fuel per step taken and per prefix kept, which bounds the memory.
const WORD: usize = 8;
pub(super) const KEPT: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct PartialMatch {
    pub(super) env: Env,
    pub(super) later: Vec<(usize, u32)>,
    /// True if the prefix may end with a test's value unbound; the test is then ignored.
    may_stay_open: bool,
}

impl PartialMatch {
    pub(super) fn empty_match(view: &WindowView<'_, '_>) -> Self {
        Self { env: smallvec::smallvec![ValueId::OPEN; view.header.len()], later: Vec::new(), may_stay_open: false }
    }

    pub(super) fn start_of_some(view: &WindowView<'_, '_>) -> Self {
        Self { may_stay_open: true, ..Self::empty_match(view) }
    }

    /// `None` if no environment fits both.
    pub(super) fn extended_with(
        &self,
        hit: &Hit,
        certainty: Certainty,
        view: &mut WindowView<'_, '_>,
    ) -> Result<Option<Self>, Fault> {
        view.spend_fuel(WORD + self.later.len())?;
        if !certainty.counts_fit(same_values(&self.env, &hit.env)) {
            return Ok(None);
        }
        let mut next = Self { env: merge_envs(&self.env, &hit.env), later: self.later.clone(), ..*self };
        if view.has_joins(hit.operand) {
            next.later.push((hit.operand, hit.event));
        }
        Ok(if next.settle_tests(certainty, false, view)? { Some(next) } else { None })
    }

    /// Tests on unbound values are ignored.
    pub(super) fn can_end(&self, certainty: Certainty, view: &mut WindowView<'_, '_>) -> Result<bool, Fault> {
        self.clone().settle_tests(certainty, true, view)
    }

    /// Evaluates tests whose values are bound (or `all`); false if one fails.
    fn settle_tests(&mut self, certainty: Certainty, all: bool, view: &mut WindowView<'_, '_>) -> Result<bool, Fault> {
        let mut open = Vec::new();
        for (operand, event) in std::mem::take(&mut self.later) {
            let bound = |name: &u32| self.env.get(*name as usize).is_some_and(|id| *id != ValueId::OPEN);
            if !all && !view.asked_names(operand).iter().all(bound) {
                // No value can make a test true that fails whatever the value is.
                let any = self.env.iter().map(|id| if *id == ValueId::OPEN { ValueId::ABSENT } else { *id }).collect();
                if !self.may_stay_open && view.joins_of(operand, event, &any)? == PairFit::No {
                    return Ok(false);
                }
                open.push((operand, event));
                continue;
            }
            if !certainty.counts_fit(view.joins_of(operand, event, &self.env)?) {
                return Ok(false);
            }
        }
        self.later = open;
        Ok(true)
    }

    pub(super) fn keep_names(&mut self, names: &[u32]) {
        if self.later.is_empty() {
            for (name, id) in (0..).zip(self.env.iter_mut()) {
                if !names.contains(&name) {
                    *id = ValueId::OPEN;
                }
            }
        }
    }
}
