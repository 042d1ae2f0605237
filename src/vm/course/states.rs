//! Words of several patterns under one environment: what has been bound so far, and the next step.

use super::statement::Polarity;
use super::timeline::{Env, Part};
use super::view::{Fit, Hit, View, merge, same_values};
use crate::vm::fault::Fault;

/// What a beginning of a word has bound.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Partial {
    /// The values.
    pub(super) env: Env,
    /// Slot and event of steps whose tests need a value that is bound later.
    pub(super) later: Vec<(usize, u32)>,
}

impl Partial {
    /// Nothing bound.
    pub(super) fn start(view: &View<'_, '_>) -> Self {
        Self { env: smallvec::smallvec![Part::OPEN; view.header.len()], later: Vec::new() }
    }

    /// The word with one more step; `None` when no environment fits both.
    pub(super) fn with(&self, hit: &Hit, view: &mut View<'_, '_>) -> Result<Option<Self>, Fault> {
        view.spend(1 + self.later.len())?;
        let fit = same_values(&self.env, &hit.env);
        if !view.accepts(fit, Polarity::Helps) {
            return Ok(None);
        }
        let mut next = Self { env: merge(&self.env, &hit.env), later: self.later.clone() };
        if view.joined(hit.slot) {
            next.later.push((hit.slot, hit.event));
        }
        Ok(if next.settle(view, false)? { Some(next) } else { None })
    }

    /// Whether the word can end here: tests on what nothing in it binds are left aside.
    pub(super) fn ends(&self, view: &mut View<'_, '_>) -> Result<bool, Fault> {
        self.clone().settle(view, true)
    }

    /// Evaluates the tests whose values are there (or all); false when one is not met.
    fn settle(&mut self, view: &mut View<'_, '_>, all: bool) -> Result<bool, Fault> {
        let mut open = Vec::new();
        for (slot, event) in std::mem::take(&mut self.later) {
            let bound = |name: &u32| self.env.get(*name as usize).is_some_and(|part| *part != Part::OPEN);
            if !all && !view.asks(slot).iter().all(bound) {
                // No value can make a test true that fails whatever the value is.
                let any = self.env.iter().map(|part| if *part == Part::OPEN { Part::ABSENT } else { *part }).collect();
                if view.joins_of(slot, event, &any)? == Fit::No {
                    return Ok(false);
                }
                open.push((slot, event));
                continue;
            }
            let fit = view.joins_of(slot, event, &self.env)?;
            if !view.accepts(fit, Polarity::Helps) {
                return Ok(false);
            }
        }
        self.later = open;
        Ok(true)
    }

    /// Forgets the values of names that are not needed any more.
    pub(super) fn keep(&mut self, names: &[u32]) {
        if self.later.is_empty() {
            for (name, part) in (0..).zip(self.env.iter_mut()) {
                if !names.contains(&name) {
                    *part = Part::OPEN;
                }
            }
        }
    }
}
